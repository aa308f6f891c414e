package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSliceRows compares with the portable code, over all numbers of steps and columns
// around the blocks, with gaps between the rows.
func TestSliceRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 7))
		for k := 0; k <= 66; k++ {
			for n := 1; n <= 50; n += 1 + k%3 {
				x0, x1 := newGuarded(k, n, n+k%4, 5), newGuarded(k, n, n+k%4, 5)
				x0.fill(func(int, int) float32 { return float32(rng.NormFloat64()) })
				x1.fill(func(int, int) float32 { return float32(rng.NormFloat64()) })
				rows := SliceRowsCount(k)
				got, want := newGuarded(rows, n, n+3, 7), newGuarded(rows, n, n+3, 7)
				SliceRows(got.data(), got.ld, x0.data(), x1.data(), x0.ld, k, n)
				for j := 0; j < n; j += sliceTile {
					sliceRowsGeneric(want.data()[j:], want.ld, from(x0.data(), j), from(x1.data(), j), x0.ld, k, min(sliceTile, n-j))
				}
				sameBits(t, fmt.Sprintf("%d steps and %d columns", k, n), got.buf, want.buf)
			}
		}
	})
}

// TestSliceHalves checks by the product with a right operand cut in the same halves, of even
// and odd numbers of steps: that of the middle one must count once.
func TestSliceHalves(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 10))
		for _, k := range []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129} {
			for _, m := range []int{1, 16, 20} {
				const n = 18
				x, y := make([]float32, m*k), make([]float32, k*n)
				for i := range x {
					x[i] = float32(rng.IntN(7) - 3) // sums are exact
				}
				for i := range y {
					y[i] = float32(rng.IntN(7) - 3)
				}
				half := (k + 1) / 2
				a, b := make([]float32, SliceSize(m, half)), make([]float32, SliceSize(n, half))
				SliceHalves(a, x, k, m, k)
				SliceRight(b, y, y[(k-half)*n:], n, half, n)
				c := [2][]float32{make([]float32, m*n), make([]float32, m*n)}
				GemmSlices(m, n, half, [2][]float32{a, a}, b, c, n, false, [2][]float32{})
				for i := range m {
					for j := range n {
						var want float32
						for p := range k {
							want += x[i*k+p] * y[p*n+j]
						}
						if c[0][i*n+j] != want {
							t.Fatalf("m=%d k=%d: C[%d][%d] = %v, want %v", m, k, i, j, c[0][i*n+j], want)
						}
					}
				}
			}
		}
	})
}

// sliceRowsCase is a sum of products of left operands with shifts of a matrix that is sliced in
// rows, and the same shifts as right operands.
type sliceRowsCase struct {
	n, k, operands int
	a, b           []float32
	ldb            int
	at             []int
	right          [][]float32
}

func newSliceRowsCase(rng *rand.Rand, n, k, operands int, value func() float32) *sliceRowsCase {
	const shifts = 9
	width := n + shifts
	s := &sliceRowsCase{n: n, k: k, operands: operands, ldb: width + 4}
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	y0, y1 := random(k*width), random(k*width)
	s.b = make([]float32, SliceRowsCount(k)*s.ldb)
	SliceRows(s.b, s.ldb, y0, y1, width, k, width)
	size := SliceSize(2*sliceTile, k)
	s.a = make([]float32, operands*size)
	for e := range operands {
		x := random(2 * sliceTile * 2 * k)
		SliceLeft(s.a[e*size:], x, from(x, k), 2*k, 2*sliceTile, k)
		shift := rng.IntN(shifts + 1)
		s.at = append(s.at, shift)
		right := make([]float32, SliceSize(n, k))
		SliceRight(right, from(y0, shift), from(y1, shift), width, k, n)
		s.right = append(s.right, right)
	}
	return s
}

// products adds the products to c by GemmSlices, one after the other.
func (s *sliceRowsCase) products(c []float32, ldc int, accumulate bool) {
	strip := sliceStrip(s.k)
	for e, right := range s.right {
		a := s.a[e*2*strip:]
		left := [2][]float32{a[:strip], a[strip : 2*strip]}
		GemmSlices(sliceTile, s.n, s.k, left, right, [2][]float32{c, c[sliceTile*ldc:]}, ldc, accumulate || e > 0, [2][]float32{})
	}
}

// TestGemmSliceRows compares with GemmSlices of the shifted operands bit by bit, in one and in
// several calls.
func TestGemmSliceRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		sizes := []int{16, 32, 48, 240}
		if raceEnabled || testing.Short() || !FastSplit() {
			sizes = []int{16, 32}
		}
		rng := rand.New(rand.NewPCG(6, 8))
		for _, n := range append(sizes, 130*sliceTile) {
			for _, k := range []int{1, 32, 33, 128} {
				for _, operands := range []int{1, 2, 7} {
					if n > 1000 && (operands != 2 || k != 33 || !FastSplit()) {
						continue // wide ones show that columns are cut into calls
					}
					s := newSliceRowsCase(rng, n, k, operands, func() float32 { return float32(rng.NormFloat64()) })
					for _, accumulate := range []bool{false, true} {
						got, want := newGuarded(2*sliceTile, n, n+5, 7), newGuarded(2*sliceTile, n, n+5, 7)
						if accumulate {
							got.fill(func(i, j int) float32 { return float32(i-j) / 7 })
							copy(want.buf, got.buf)
						}
						GemmSliceRows(n, k, s.a, s.b, s.ldb, s.at, got.data(), got.ld, accumulate, s.b[:min(len(s.b), operands*3)])
						s.products(want.data(), want.ld, accumulate)
						sameBits(t, fmt.Sprintf("n=%d k=%d operands=%d accumulate=%v", n, k, operands, accumulate), got.buf, want.buf)
					}
				}
			}
		}
		for _, accumulate := range []bool{false, true} { // sums of nothing
			for _, at := range [][]int{nil, {0}} {
				c := make([]float32, 2*sliceTile*sliceTile)
				Fill(c, 3)
				GemmSliceRows(sliceTile, 0, make([]float32, SliceSize(2*sliceTile, 0)), make([]float32, sliceTile), sliceTile, at, c, sliceTile, accumulate, nil)
				want := float32(0)
				if accumulate {
					want = 3
				}
				for i, v := range c {
					if v != want {
						t.Fatalf("a sum of nothing, accumulate=%v: C[%d] = %v", accumulate, i, v)
					}
				}
			}
		}
	})
}

func TestSliceRowsErrors(t *testing.T) {
	size := SliceSize(2*sliceTile, 8)
	x := make([]float32, 4*size)
	for name, call := range map[string]func(){
		"rows of dst":    func() { SliceRows(x[:48*9], 9, x, x, 9, 9, 9) },
		"rows of x0":     func() { SliceRows(x, 9, x[:79], x, 9, 9, 9) },
		"rows of x1":     func() { SliceRows(x, 9, x, x[:79], 9, 9, 9) },
		"negative steps": func() { SliceRows(x, 9, x, x, 9, -9, 9) },
		"halves":         func() { SliceHalves(x, x[:30], 8, 4, 8) },
		"columns":        func() { GemmSliceRows(24, 8, x, x, 32, []int{0}, x, 32, false, nil) },
		"operands":       func() { GemmSliceRows(16, 8, x[:size], x, 16, []int{0, 0}, x, 16, false, nil) },
		"shift":          func() { GemmSliceRows(16, 8, x, x[:49*16], 16, []int{1}, x, 16, false, nil) },
		"negative at":    func() { GemmSliceRows(16, 8, x, x, 16, []int{-1}, x, 16, false, nil) },
		"rows of c":      func() { GemmSliceRows(16, 8, x, x, 16, []int{0}, x[:511], 16, false, nil) },
		"many steps":     func() { GemmSliceRows(16, MaxSliceSteps+1, x, x, 16, nil, x, 16, false, nil) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no panic with *Error", name)
				}
			}()
			call()
		}()
	}
}

func FuzzGemmSliceRows(f *testing.F) {
	f.Add(uint8(3), uint8(5), uint8(40), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(1), uint8(2), uint8(33), []byte("000a000a000\xec")) // products above the largest number
	f.Fuzz(func(t *testing.T, panels, operands, k uint8, data []byte) {
		values := floats(data)
		if len(values) == 0 {
			return
		}
		at := 0
		s := newSliceRowsCase(rand.New(rand.NewPCG(1, uint64(operands))), int(panels%8)*sliceTile, int(k%70), int(operands%5), func() float32 { at++; return values[at%len(values)] })
		got, want := make([]float32, 2*sliceTile*s.n), make([]float32, 2*sliceTile*s.n)
		GemmSliceRows(s.n, s.k, s.a, s.b, s.ldb, s.at, got, s.n, true, nil)
		for e, shift := range s.at {
			gemmSliceRowsGeneric(s.n, (s.k+sliceSteps-1)/sliceSteps, s.a[e*SliceSize(2*sliceTile, s.k):], s.b[shift:], s.ldb, want, s.n, true)
		}
		for i, v := range want {
			if math.Float32bits(v) != math.Float32bits(got[i]) && (v == v || got[i] == got[i]) {
				t.Fatalf("n=%d k=%d operands=%d: C[%d] = %v, want %v", s.n, s.k, s.operands, i, got[i], v)
			}
		}
	})
}

// BenchmarkGemmSliceRows multiplies the taps of a strip of a kernel by a long row: all operands in
// the second-level cache, or one strip after the other from memory.
func BenchmarkGemmSliceRows(b *testing.B) {
	for _, size := range [][3]int{{240, 256, 29}, {80, 512, 29}, {48, 512, 21}} {
		n, sources, taps := size[0], size[1], size[2]
		k, ldb := sources/2, n+2*sliceTile
		piece := SliceSize(2*sliceTile, k)
		right, c := make([]float32, SliceRowsCount(k)*ldb), make([]float32, 2*sliceTile*n)
		x := make([]float32, 2*sliceTile*sources+sources*ldb)
		for i := range x {
			x[i] = rand.Float32() - 0.5
		}
		SliceRows(right, ldb, x, x[k*ldb:], ldb, k, ldb)
		at := make([]int, taps)
		for t := range at {
			at[t] = t
		}
		for _, strips := range []int{1, 16} {
			left := make([]float32, strips*taps*piece)
			for at := 0; at < len(left); at += piece {
				SliceHalves(left[at:], x, sources, 2*sliceTile, sources)
			}
			strip := 0
			b.Run(fmt.Sprintf("n=%d/sources=%d/taps=%d/strips=%d", n, sources, taps, strips), func(b *testing.B) {
				for b.Loop() {
					next := (strip + 1) % strips
					GemmSliceRows(n, k, left[strip*taps*piece:], right, ldb, at, c, n, true, left[next*taps*piece:])
					strip = next
				}
				b.ReportMetric(2*float64(n*2*sliceTile*sources*taps)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
			})
		}
	}
}
