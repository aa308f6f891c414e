package asm

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// TestLinear wants the bits of GemmNN with the bias added, with and without
// streaming, around all edges of the tiles, and nothing else touched.
func TestLinear(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 1))
		mr, nr := GemmTile()
		random := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		for _, m := range []int{0, 1, mr - 1, mr, mr + 1, 3*mr + 2} {
			for _, n := range []int{0, 1, nr - 1, nr, nr + 5, 3 * nr, 3*nr + nr/2 + 1} {
				for _, k := range []int{0, 1, 3, 4, 5, 31, 32, 33} {
					for variant := range 4 { // leading dimension and alignment of C, streaming
						gap, shift, stream := 3, 1, variant&1 != 0
						if variant&2 != 0 {
							gap, shift = (n+15)&^15-n, 0
						}
						lda, ldb, ldc := k+2, n+1, n+gap
						a, b, bias := random(m*lda), random(k*ldb), random(m)
						memory := onLine(random(shift + m*ldc + 64))
						want := append([]float32(nil), memory...)
						for i := range m {
							for j := 0; j < n; j += nr {
								cols := min(nr, n-j)
								var row, panel []float32
								if k > 0 {
									row, panel = a[i*lda:], b[j:]
								}
								GemmNN(1, cols, k, row, lda, panel, ldb, want[shift+i*ldc+j:], ldc, false)
							}
							if n > 0 {
								v := want[shift+i*ldc:][:n]
								Affine(v, v, 1, bias[i])
							}
						}
						Linear(m, n, k, a, lda, b, ldb, bias, memory[shift:], ldc, stream)
						Fence()
						sameBits(t, "C and its gaps", memory, want)
						if t.Failed() {
							t.Fatalf("m=%d n=%d k=%d variant %d", m, n, k, variant)
						}
					}
				}
			}
		}
	})
}

// TestLinearGrad wants the bits of GemmTN around all edges of the tiles, whatever
// there is to fetch ahead, and nothing else touched.
func TestLinearGrad(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 1))
		_, nr := GemmTile()
		random := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		for _, m := range []int{0, 1, 7, 8, 9, 16, 32, 43} {
			for _, n := range []int{0, 1, nr - 1, nr, nr + 5, 3*nr + 1} {
				for _, k := range []int{0, 1, 2, 3, 70} {
					for _, accumulate := range []bool{false, true} {
						lda, ldb, ldc := m+1, n+2, n+3
						a, b, c := random(k*lda), random(k*ldb), random(m*ldc+9)
						want := append([]float32(nil), c...)
						for i := range m {
							for j := 0; j < n; j += nr {
								var col, panel []float32
								if k > 0 {
									col, panel = a[i:], b[j:]
								}
								GemmTN(1, min(nr, n-j), k, col, lda, panel, ldb, want[i*ldc+j:], ldc, accumulate)
							}
						}
						ahead := [][]float32{nil, random(1), random(k*(n+7) + 1)}[rng.IntN(3)]
						LinearGrad(m, n, k, a, lda, b, ldb, c, ldc, accumulate, ahead, n+7)
						sameBits(t, "C and its gaps", c, want)
						if t.Failed() {
							t.Fatalf("m=%d n=%d k=%d accumulate=%v, %d values ahead", m, n, k, accumulate, len(ahead))
						}
					}
				}
			}
		}
	})
}

// TestCopyRows wants copies, gaps left alone, and sums within the rounding of
// the longest chain of additions.
func TestCopyRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 1))
		for _, rows := range []int{0, 1, 3, 70} {
			for cols := 0; cols <= 210; cols++ {
				ldsrc, lddst := cols+rng.IntN(3), cols+rng.IntN(3)
				src, dst := make([]float32, rows*ldsrc), make([]float32, rows*lddst+4)
				for i := range src {
					src[i] = float32(rng.NormFloat64())
				}
				for i := range dst {
					dst[i] = -7
				}
				want := append([]float32(nil), dst...)
				sums := make([]float32, rows+1)
				CopyRows(dst, lddst, src, ldsrc, rows, cols, sums)
				for r := range rows {
					x := src[r*ldsrc:][:cols]
					copy(want[r*lddst:], x)
					sum, size := 0.0, 0.0
					for _, v := range x {
						sum, size = sum+float64(v), size+math.Abs(float64(v))
					}
					if !(math.Abs(float64(sums[r])-sum) <= float64(cols/16+8)*eps*size) {
						t.Fatalf("%d values: sum %v, want %v", cols, sums[r], sum)
					}
				}
				sameBits(t, "dst and its gaps", dst, want)
				if sums[rows] != 0 || t.Failed() {
					t.Fatalf("%d rows of %d: the sum behind the last is %v", rows, cols, sums[rows])
				}
			}
		}
		// A sum does not depend on the rows beside it nor on addresses.
		src, dst := make([]float32, 5*100+1), make([]float32, 500)
		ramp(src, 2)
		var all, one [5]float32
		CopyRows(dst, 100, src[1:], 100, 5, 100, all[:])
		for r := range one {
			CopyRows(dst, 100, append([]float32(nil), src[1+r*100:1+(r+1)*100]...), 100, 1, 100, one[r:])
		}
		sameBits(t, "sums one by one", one[:], all[:])
	})
}

// TestLinearErrors calls the functions with slices that do not fit.
func TestLinearErrors(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		name string
		call func()
	}{
		{"Linear: a", func() { Linear(2, 2, 2, v(3), 2, v(4), 2, v(2), v(4), 2, false) }},
		{"Linear: b", func() { Linear(2, 2, 2, v(4), 2, v(3), 2, v(2), v(4), 2, false) }},
		{"Linear: c", func() { Linear(2, 2, 2, v(4), 2, v(4), 2, v(2), v(3), 2, false) }},
		{"Linear: bias", func() { Linear(2, 2, 2, v(4), 2, v(4), 2, v(1), v(4), 2, false) }},
		{"Linear: k", func() { Linear(2, 2, -1, v(4), 2, v(4), 2, v(2), v(4), 2, false) }},
		{"LinearGrad: a", func() { LinearGrad(2, 2, 2, v(3), 2, v(4), 2, v(4), 2, false, nil, 0) }},
		{"LinearGrad: b", func() { LinearGrad(2, 2, 2, v(4), 2, v(3), 2, v(4), 2, false, nil, 0) }},
		{"LinearGrad: c", func() { LinearGrad(2, 2, 2, v(4), 2, v(4), 2, v(3), 2, false, nil, 0) }},
		{"LinearGrad: m", func() { LinearGrad(-1, 2, 2, v(4), 2, v(4), 2, v(4), 2, false, nil, 0) }},
		{"CopyRows: src", func() { CopyRows(v(4), 2, v(3), 2, 2, 2, v(2)) }},
		{"CopyRows: dst", func() { CopyRows(v(3), 2, v(4), 2, 2, 2, v(2)) }},
		{"CopyRows: sums", func() { CopyRows(v(4), 2, v(4), 2, 2, 2, v(1)) }},
		{"CopyRows: cols", func() { CopyRows(v(8200), 8200, v(8200), 8200, 1, 8193, v(1)) }},
	} {
		func() {
			defer func() {
				op, _, _ := strings.Cut(c.name, ":")
				if e, ok := recover().(*Error); !ok || e.Func != op {
					t.Errorf("%s: no *Error of %s", c.name, op)
				}
			}()
			c.call()
		}()
	}
}

// onLine returns x from its first cache line on.
func onLine(x []float32) []float32 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 != 0 {
		x = x[1:]
	}
	return x
}
