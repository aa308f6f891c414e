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

func TestSliceHalvesRefuses(t *testing.T) {
	x := make([]float32, 2048)
	for name, call := range map[string]func(){
		"negative steps":                func() { SliceHalves(x, x, 4, -1, 4) },
		"many negative steps":           func() { SliceHalves(x, x, 4, -8, 4) },
		"negative steps, transposed":    func() { SliceTransposedHalves(x, x, 4, -1, 4) },
		"negative steps, left":          func() { SliceLeftHalves(x, x, 4, 4, -3) },
		"short matrix":                  func() { SliceHalves(x, x[:15], 4, 4, 4) },
		"short matrix, odd":             func() { SliceHalves(x, x[:19], 4, 5, 4) },
		"short matrix, transposed":      func() { SliceTransposedHalves(x, x[:15], 4, 4, 4) },
		"short matrix, left":            func() { SliceLeftHalves(x, x[:15], 4, 4, 4) },
		"negative distance":             func() { SliceHalves(x, x, -4, 4, 4) },
		"negative distance, transposed": func() { SliceTransposedHalves(x, x, -4, 4, 4) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", name)
				}
			}()
			call()
		}()
	}
}
