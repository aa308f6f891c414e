package asm

import (
	"math/rand/v2"
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

// onLine returns x from its first cache line on.
func onLine(x []float32) []float32 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 != 0 {
		x = x[1:]
	}
	return x
}
