package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSliceHalves checks by the product with a left operand cut in the same halves, of even
// and odd numbers of steps: that of the middle one must count once.
func TestSliceHalves(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 10))
		for _, k := range []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129} {
			for _, n := range []int{1, 16, 20} {
				const m = 18
				x, y := make([]float32, m*k), make([]float32, k*n)
				for i := range x {
					x[i] = float32(rng.IntN(7) - 3) // sums are exact
				}
				for i := range y {
					y[i] = float32(rng.IntN(7) - 3)
				}
				half := (k + 1) / 2
				a, b := make([]float32, SliceSize(m, half)), make([]float32, SliceSize(n, half))
				SliceLeftHalves(a, x, k, m, k)
				SliceHalves(b, y, n, k, n)
				turned, transposed := make([]float32, n*k), make([]float32, len(b))
				Transpose(turned, k, y, n, k, n)
				SliceTransposedHalves(transposed, turned, k, k, n)
				for i, v := range b {
					if math.Float32bits(v) != math.Float32bits(transposed[i]) {
						t.Fatalf("n=%d k=%d transposed: value %d is %#x, want %#x", n, k, i, math.Float32bits(transposed[i]), math.Float32bits(v))
					}
				}
				c := make([]float32, m*n)
				GemmSlices(m, n, half, [2][]float32{a}, b, [2][]float32{c}, n, false, [2][]float32{})
				for i := range m {
					for j := range n {
						var want float32
						for p := range k {
							want += x[i*k+p] * y[p*n+j]
						}
						if c[i*n+j] != want {
							t.Fatalf("n=%d k=%d: C[%d][%d] = %v, want %v", n, k, i, j, c[i*n+j], want)
						}
					}
				}
			}
		}
	})
}
