package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// foldedCase is a call of FoldedWaves, in poisoned buffers with gaps.
type foldedCase struct {
	m, h, w, n int
	c, s       *guarded    // [(h+1)/2, m], [h/2, m]
	plane      *guarded    // [h, (w, n)]
	out        [2]*guarded // one and other, [(frequency, column), n]
}

func newFoldedCase(m, h, w, n int, value func() float32) *foldedCase {
	f := &foldedCase{m: m, h: h, w: w, n: n, c: newGuarded((h+1)/2, m, m+3, 1), s: newGuarded(h/2, m, m+3, 2), plane: newGuarded(h, w*n, w*n, 5)}
	for _, x := range []*guarded{f.c, f.s, f.plane} {
		x.fill(func(int, int) float32 { return value() })
	}
	gap := n % 3 // none, or some
	for i := range f.out {
		f.out[i] = newGuarded(m*w, n, n+gap, 3+i)
	}
	return f
}

func (f *foldedCase) call() {
	FoldedWaves(f.m, f.h, f.w, f.n, f.c.data(), f.s.data(), f.c.ld, f.plane.data(), f.out[0].data(), f.out[1].data(), f.out[0].ld, f.w*f.out[0].ld, make([]float32, (f.h+2)*f.w*f.n))
}

// row returns the real or the imaginary row of a frequency at a column, and the sum of magnitudes.
func (f *foldedCase) row(g, x, b, part int) (sum, size float64) {
	for y := range f.h {
		q, sign := y, 1.0
		if part == 1 {
			sign = -1
		}
		if y >= f.h/2 {
			q, sign = f.h-1-y, 1
		}
		if part == 1 && q == f.h/2 {
			continue // the middle row
		}
		wave := f.c
		if part == 1 {
			wave = f.s
		}
		term := sign * float64(wave.at(q, g)) * float64(f.plane.at(y, x*f.n+b))
		sum += term
		size += math.Abs(term)
	}
	return sum, size
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (f *foldedCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	f.call()
	ahead := (f.w + 1) / 2
	for i := range f.out {
		f.out[i].intact(t, f.m*f.w, f.n)
	}
	for g := range f.m {
		for q := range f.w {
			for b := range f.n {
				for i := range f.out {
					x, sign, part := q, 1.0, i
					if q >= ahead { // the odd part of the other row
						x, sign, part = q-ahead, -1, 1-i
					}
					want, size := f.row(g, f.w-1-x, b, part)
					if 2*x != f.w-1 {
						early, more := f.row(g, x, b, part)
						want, size = want+sign*early, size+more
					}
					if got := f.out[i].at(g*f.w+q, b); !(math.Abs(float64(got)-want) <= tolerance*size) {
						t.Fatalf("m=%d h=%d w=%d n=%d: result %d, frequency %d, column %d, value %d is %v, want %v", f.m, f.h, f.w, f.n, i, g, q, b, got, want)
					}
				}
			}
		}
	}
}

// TestFoldedWaves takes all numbers of frequencies of strips and around them, of values of tiles and around
// them, and even and odd sides. Sums of integers are exact.
func TestFoldedWaves(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 1))
		values := make([]int, 0, 40)
		for n := 1; n <= 34; n++ {
			values = append(values, n)
		}
		values = append(values, 47, 48, 49, 64, 70)
		if raceEnabled || testing.Short() {
			values = []int{1, 7, 9, 16, 31}
		}
		for m := 1; m <= 14; m++ {
			for _, n := range values {
				for _, side := range [][2]int{{1, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 5}, {1, 4}, {6, 1}} {
					newFoldedCase(m, side[0], side[1], n, func() float32 { return integer(rng) }).check(t, 0)
				}
			}
		}
		newFoldedCase(16, 28, 28, 64, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6)
	})
}

// TestFoldedWavesCut cuts the values of a plane in two: that changes no bit, wherever they lie in a tile and whichever
// code takes the rest.
func TestFoldedWavesCut(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 2))
		for _, size := range [][4]int{{1, 1, 1, 9}, {7, 5, 4, 25}, {9, 4, 3, 40}} {
			m, h, w, n := size[0], size[1], size[2], size[3]
			whole := newFoldedCase(m, h, w, n, func() float32 { return float32(rng.NormFloat64()) })
			whole.call()
			for first := range n {
				for _, end := range []int{first + 1, (first + n + 1) / 2, n} {
					part := newFoldedCase(m, h, w, end-first, func() float32 { return 0 })
					part.c.fill(whole.c.at)
					part.s.fill(whole.s.at)
					part.plane.fill(func(y, i int) float32 { return whole.plane.at(y, i/part.n*n+first+i%part.n) })
					part.call()
					for i := range part.out {
						for row := range m * w {
							for b := range part.n {
								if got, want := part.out[i].at(row, b), whole.out[i].at(row, first+b); math.Float32bits(got) != math.Float32bits(want) {
									t.Fatalf("m=%d h=%d w=%d: value %d of %d is %v alone with those up to %d, and %v among all", m, h, w, first+b, n, got, end, want)
								}
							}
						}
					}
				}
			}
		}
	})
}

func TestFoldedWavesRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"negative size":       func() { FoldedWaves(2, 4, 3, -1, v(4), v(4), 2, v(24), v(12), v(12), 2, 6, v(36)) },
		"no plane":            func() { FoldedWaves(2, 0, 3, 2, v(4), v(4), 2, v(24), v(12), v(12), 2, 6, v(36)) },
		"cosines":             func() { FoldedWaves(2, 4, 3, 2, v(3), v(4), 2, v(24), v(12), v(12), 2, 6, v(36)) },
		"sines":               func() { FoldedWaves(2, 4, 3, 2, v(4), v(3), 2, v(24), v(12), v(12), 2, 6, v(36)) },
		"plane":               func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(23), v(12), v(12), 2, 6, v(36)) },
		"one":                 func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(24), v(11), v(12), 2, 6, v(36)) },
		"other":               func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(24), v(12), v(11), 2, 6, v(36)) },
		"columns overlap":     func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(24), v(12), v(12), 1, 6, v(36)) },
		"frequencies overlap": func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(24), v(12), v(12), 2, 5, v(36)) },
		"spare":               func() { FoldedWaves(2, 4, 3, 2, v(4), v(4), 2, v(24), v(12), v(12), 2, 6, v(35)) },
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

// FuzzFoldedWaves takes any sizes, and values of all magnitudes.
func FuzzFoldedWaves(f *testing.F) {
	f.Add(uint8(9), uint8(14), uint8(14), uint8(64), uint64(1))
	f.Add(uint8(5), uint8(7), uint8(7), uint8(33), uint64(2))
	f.Fuzz(func(t *testing.T, m, h, w, n uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newFoldedCase(1+int(m)%20, 1+int(h)%20, 1+int(w)%12, 1+int(n)%70, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkFoldedWaves transforms planes of 64 images.
func BenchmarkFoldedWaves(b *testing.B) {
	for _, size := range [][2]int{{16, 28}, {9, 14}, {6, 7}} {
		const n = 64
		m, h, w := size[0], size[1], size[1]
		f := newFoldedCase(m, h, w, n, func() float32 { return rand.Float32() - 0.5 })
		spare := make([]float32, (h+2)*w*n)
		benchProducts(b, fmt.Sprintf("m=%d/h=%d/w=%d/n=%d", m, h, w, n), float64(2*m*h*w*n), func() {
			FoldedWaves(m, h, w, n, f.c.data(), f.s.data(), f.c.ld, f.plane.data(), f.out[0].data(), f.out[1].data(), f.out[0].ld, w*f.out[0].ld, spare)
		})
	}
}
