package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// quadCase is a product of the conjugate of a complex matrix and one in quads, in poisoned buffers with gaps.
type quadCase struct {
	m, n, k int
	a, b, c [2]*guarded  // B is stored transposed
	quads   [2]*guarded  // of it
	before  [2][]float32 // C, which is added to, or nil
	ahead   [4][]float32
}

func newQuadCase(m, n, k int, accumulate bool, value func() float32) *quadCase {
	s := &quadCase{m: m, n: n, k: k, ahead: [4][]float32{make([]float32, 40), nil, make([]float32, m*n*k), make([]float32, 7)}}
	panels := (n + QuadColumns - 1) / QuadColumns
	for part := range 2 {
		s.a[part], s.b[part] = newGuarded(m, k, k+3, 1+part), newGuarded(n, k, k+5, 5+part)
		s.a[part].fill(func(int, int) float32 { return value() })
		s.b[part].fill(func(int, int) float32 { return value() })
		s.quads[part] = newGuarded(panels, k*QuadColumns, k*QuadColumns+16, 7+part)
		for j := 0; j < n && k > 0; j += QuadColumns {
			PackQuads(s.quads[part].data()[j/QuadColumns*s.quads[part].ld:], s.b[part].data()[j*s.b[part].ld:], s.b[part].ld, k, min(QuadColumns, n-j))
		}
		s.c[part] = newGuarded(m, n, n+9, 3+part)
		if accumulate {
			s.c[part].fill(func(int, int) float32 { return value() })
			s.before[part] = slices.Clone(s.c[part].data())
		}
	}
	return s
}

func (s *quadCase) call() {
	GemmComplexQuads(s.m, s.n, s.k, s.a[0].data(), s.a[1].data(), s.a[0].ld, s.quads[0].data(), s.quads[1].data(), s.quads[0].ld,
		s.c[0].data(), s.c[1].data(), s.c[0].ld, s.before[0] != nil, s.ahead)
}

// check multiplies and compares with complex128, up to an error of so much of the sum of magnitudes.
func (s *quadCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	for part := range 2 {
		s.c[part].intact(t, s.m, s.n)
	}
	for i := range s.m {
		for j := range s.n {
			want, size := [2]float64{}, 0.0
			if s.before[0] != nil {
				at := i*s.c[0].ld + j
				want = [2]float64{float64(s.before[0][at]), float64(s.before[1][at])}
				size = math.Abs(want[0]) + math.Abs(want[1])
			}
			for p := range s.k {
				ar, ai := float64(s.a[0].at(i, p)), float64(s.a[1].at(i, p))
				br, bi := float64(s.b[0].at(j, p)), float64(s.b[1].at(j, p))
				want[0] += ar*br + ai*bi
				want[1] += ar*bi - ai*br
				size += (math.Abs(ar) + math.Abs(ai)) * (math.Abs(br) + math.Abs(bi))
			}
			for part, want := range want {
				if got := s.c[part].at(i, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("m=%d n=%d k=%d: part %d, row %d, column %d is %v, want %v", s.m, s.n, s.k, part, i, j, got, want)
				}
			}
		}
	}
}

// TestGemmComplexQuads takes all numbers of rows of strips and around them, of columns of panels and around
// them, and of steps around those of a block. Sums of integers are exact.
func TestGemmComplexQuads(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 3))
		for m := 1; m <= 13; m++ {
			for n := 1; n <= 25; n++ {
				for _, k := range []int{0, 4, 12} {
					newQuadCase(m, n, k, (m+n+k/4)%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
				}
			}
		}
		for _, k := range []int{quadSteps, quadSteps + 4, 2*quadSteps + 20} {
			newQuadCase(11, 20, k, k%8 == 0, func() float32 { return integer(rng) }).check(t, 0)
		}
		newQuadCase(20, 20, 64, true, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6)
	})
}

// TestGemmComplexQuadsBits demands the same bits of an element whatever is beside it.
func TestGemmComplexQuadsBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 4))
		const m, n, k = 7, 20, quadSteps + 8
		all := newQuadCase(m, n, k, true, func() float32 { return float32(rng.NormFloat64()) })
		all.call()
		for i := range m {
			for j := range n {
				alone := newQuadCase(1, 1, k, true, func() float32 { return 0 })
				for part := range 2 {
					for p := range k {
						alone.a[part].set(0, p, all.a[part].at(i, p))
						alone.b[part].set(0, p, all.b[part].at(j, p))
					}
					PackQuads(alone.quads[part].data(), alone.b[part].data(), alone.b[part].ld, k, 1)
					alone.c[part].set(0, 0, all.before[part][i*all.c[part].ld+j])
				}
				alone.call()
				for part := range 2 {
					if got, want := alone.c[part].at(0, 0), all.c[part].at(i, j); math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("part %d of row %d, column %d is %v, alone %v", part, i, j, want, got)
					}
				}
			}
		}
	})
}

// TestPackQuads packs all numbers of columns, beside columns that must stay as they are.
func TestPackQuads(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 5))
		for first := range QuadColumns {
			for n := 0; first+n <= QuadColumns; n++ {
				for k := 0; k <= 44; k += 4 {
					src, dst := newGuarded(n, k, k+7, 3), newGuarded(k/4, 4*QuadColumns, 4*QuadColumns, 5)
					src.fill(func(int, int) float32 { return integer(rng) })
					dst.fill(func(int, int) float32 { return -1000 })
					if k > 0 {
						PackQuads(dst.data()[4*first:], src.data(), src.ld, k, n)
					}
					dst.intact(t, k/4, 4*QuadColumns)
					for p := range k {
						for j := range QuadColumns {
							want := float32(-1000)
							if j >= first && j < first+n {
								want = src.at(j-first, p)
							}
							if got := dst.at(p/4, 4*j+p%4); got != want {
								t.Fatalf("columns %d..%d, k=%d: step %d of column %d is %v, want %v", first, first+n, k, p, j, got, want)
							}
						}
					}
				}
			}
		}
	})
}

func TestGemmComplexQuadsRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	var none [4][]float32
	for name, call := range map[string]func(){
		"negative size":     func() { GemmComplexQuads(2, 2, -4, v(8), v(8), 4, v(32), v(32), 32, v(4), v(4), 2, false, none) },
		"three steps":       func() { GemmComplexQuads(2, 2, 3, v(8), v(8), 4, v(32), v(32), 32, v(4), v(4), 2, false, none) },
		"real A":            func() { GemmComplexQuads(2, 2, 4, v(7), v(8), 4, v(32), v(32), 32, v(4), v(4), 2, false, none) },
		"imaginary A":       func() { GemmComplexQuads(2, 2, 4, v(8), v(7), 4, v(32), v(32), 32, v(4), v(4), 2, false, none) },
		"real B":            func() { GemmComplexQuads(2, 9, 4, v(8), v(8), 4, v(35), v(36), 32, v(18), v(18), 9, false, none) },
		"imaginary B":       func() { GemmComplexQuads(2, 9, 4, v(8), v(8), 4, v(36), v(35), 32, v(18), v(18), 9, false, none) },
		"real C":            func() { GemmComplexQuads(2, 2, 4, v(8), v(8), 4, v(32), v(32), 32, v(3), v(4), 2, false, none) },
		"imaginary C":       func() { GemmComplexQuads(2, 2, 4, v(8), v(8), 4, v(32), v(32), 32, v(4), v(3), 2, false, none) },
		"rows of C overlap": func() { GemmComplexQuads(2, 2, 4, v(8), v(8), 4, v(32), v(32), 32, v(4), v(4), 1, false, none) },
		"pack three steps":  func() { PackQuads(v(32), v(8), 4, 3, 2) },
		"pack nine columns": func() { PackQuads(v(64), v(36), 4, 4, 9) },
		"pack src":          func() { PackQuads(v(32), v(7), 4, 4, 2) },
		"pack dst":          func() { PackQuads(v(39), v(16), 8, 8, 2) },
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

// FuzzGemmComplexQuads takes any sizes, and values of all magnitudes.
func FuzzGemmComplexQuads(f *testing.F) {
	f.Add(uint8(20), uint8(20), uint8(16), true, uint64(1))
	f.Add(uint8(3), uint8(5), uint8(140), false, uint64(2))
	f.Fuzz(func(t *testing.T, m, n, k uint8, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newQuadCase(1+int(m)%40, 1+int(n)%60, 4*int(k), accumulate, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmComplexQuads compares panels of quads with the wider ones, for the gradient of a layer of 20
// planes: what is multiplied, and what is packed before.
func BenchmarkGemmComplexQuads(b *testing.B) {
	const m, n, k = 20, 20, 64
	x := func(size int) []float32 {
		v := make([]float32, size)
		for i := range v {
			v[i] = rand.Float32() - 0.5
		}
		return v
	}
	_, nr := GemmTile()
	a, rows, c := [2][]float32{x(m * k), x(m * k)}, [2][]float32{x(n * k), x(n * k)}, [2][]float32{x(m * n), x(m * n)}
	panels, quads := [2][]float32{x(k * (n + nr)), x(k * (n + nr))}, [2][]float32{x(3 * k * QuadColumns), x(3 * k * QuadColumns)}
	spare, size := x(ComplexSpare), fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k)
	benchProducts(b, "layout=panels/"+size, 6*m*n*k, func() {
		for part := range 2 {
			for j := 0; j < n; j += nr {
				Transpose(panels[part][j*k:], nr, rows[part][j*k:], k, min(nr, n-j), k)
			}
		}
		GemmComplexPanelsNN(m, n, k, a[0], a[1], k, panels[0], panels[1], k*nr, c[0], c[1], n, false, [4][]float32{}, spare)
	})
	benchProducts(b, "layout=quads/"+size, 6*m*n*k, func() {
		for part := range 2 {
			for j := 0; j < n; j += QuadColumns {
				PackQuads(quads[part][j*k:], rows[part][j*k:], k, k, min(QuadColumns, n-j))
			}
		}
		GemmComplexQuads(m, n, k, a[0], a[1], k, quads[0], quads[1], k*QuadColumns, c[0], c[1], n, false, [4][]float32{})
	})
}
