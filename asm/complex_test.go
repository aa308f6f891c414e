package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// complexCase is a complex product, in poisoned buffers with gaps: real and imaginary parts.
type complexCase struct {
	order   order
	m, n, k int
	a, b, c [2]*guarded
	before  [2][]float32 // C, which is added to, or nil
	ahead   [4][]float32
	spare   *guarded
}

func newComplexCase(o order, m, n, k int, accumulate bool, value func() float32) *complexCase {
	s := &complexCase{order: o, m: m, n: n, k: k}
	for part := range 2 {
		s.a[part], s.b[part] = o.left(m, k, 1+part, value), o.right(k, n, 7+part, value)
		s.c[part] = newGuarded(m, n, n+9, 3+part)
		if accumulate {
			s.c[part].fill(func(int, int) float32 { return value() })
			s.before[part] = slices.Clone(s.c[part].data())
		}
	}
	s.spare = newGuarded(1, ComplexSpare, ComplexSpare, 5)
	s.ahead = [4][]float32{make([]float32, 40), nil, make([]float32, m*n*k), make([]float32, 7)}
	return s
}

// left and right return elements of A and B.
func (s *complexCase) left(i, p int) complex128 {
	return complex(float64(s.order.leftAt(s.a[0], i, p)), float64(s.order.leftAt(s.a[1], i, p)))
}

func (s *complexCase) right(p, j int) complex128 {
	return complex(float64(s.order.rightAt(s.b[0], s.k, p, j)), float64(s.order.rightAt(s.b[1], s.k, p, j)))
}

func (s *complexCase) call() {
	ar, ai, lda := s.a[0].data(), s.a[1].data(), s.a[0].ld
	br, bi, ldb := s.b[0].data(), s.b[1].data(), s.b[0].ld
	cr, ci, ldc, accumulate := s.c[0].data(), s.c[1].data(), s.c[0].ld, s.before[0] != nil
	switch s.order {
	case orderNN:
		GemmComplexNN(s.m, s.n, s.k, ar, ai, lda, br, bi, ldb, cr, ci, ldc, accumulate, s.ahead, s.spare.data())
	case orderTN:
		GemmComplexTN(s.m, s.n, s.k, ar, ai, lda, br, bi, ldb, cr, ci, ldc, accumulate, s.ahead, s.spare.data())
	case orderPanels:
		_, nr := GemmTile()
		GemmComplexPanelsNN(s.m, s.n, s.k, ar, ai, lda, br, bi, s.k*nr, cr, ci, ldc, accumulate, s.ahead, s.spare.data())
	}
}

// tiles is call by one real product after the other, which levels without a kernel take.
func (s *complexCase) tiles() {
	c := complexProduct{
		ar: s.a[0].data(), ai: s.a[1].data(), row: s.a[0].ld, step: 1,
		br: s.b[0].data(), bi: s.b[1].data(), ldb: s.b[0].ld,
		cr: s.c[0].data(), ci: s.c[1].data(), ldc: s.c[0].ld,
	}
	_, nr := GemmTile()
	c.distance = nr
	switch s.order {
	case orderTN:
		c.row, c.step = 1, s.a[0].ld
	case orderPanels:
		c.ldb, c.distance = nr, s.k*nr
	}
	c.tiles(s.m, s.n, s.k, s.before[0] != nil, s.spare.data())
}

// check multiplies and compares with complex128, up to an error of so much of the sum of magnitudes.
func (s *complexCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	for part := range 2 {
		s.c[part].intact(t, s.m, s.n)
	}
	s.spare.intact(t, 1, ComplexSpare)
	magnitude := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	for i := range s.m {
		for j := range s.n {
			want, size := complex128(0), 0.0
			if s.before[0] != nil {
				at := i*s.c[0].ld + j
				want = complex(float64(s.before[0][at]), float64(s.before[1][at]))
				size = magnitude(want)
			}
			for p := range s.k {
				x, y := s.left(i, p), s.right(p, j)
				want += x * y
				size += magnitude(x) * magnitude(y)
			}
			for part, want := range []float64{real(want), imag(want)} {
				if got := s.c[part].at(i, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("order %d, m=%d n=%d k=%d: part %d, row %d, column %d is %v, want %v", s.order, s.m, s.n, s.k, part, i, j, got, want)
				}
			}
		}
	}
}

// TestGemmComplex takes all numbers of rows of strips and around them, of columns of tiles and around
// them, of steps around those of a block, and more than one block of each. Sums of integers are exact.
func TestGemmComplex(t *testing.T) {
	eachComplex(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 1))
		columns := make([]int, 0, 80)
		for n := 1; n <= 70; n++ {
			columns = append(columns, n)
		}
		columns = append(columns, 128)
		if raceEnabled || testing.Short() {
			columns = []int{1, 16, 31, 64, 70}
		}
		for o := range orders {
			for m := 1; m <= 15; m++ {
				for _, n := range columns {
					for _, k := range []int{0, 1, 7} {
						newComplexCase(o, m, n, k, (m+n+k)%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
					}
				}
			}
			for _, k := range []int{complexSteps, complexSteps + 1, 2*complexSteps + 5} {
				newComplexCase(o, 37, 45, k, k%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
			}
			// All heights of strips, and remainders of the steps that are taken together.
			for m := 14; m <= 28; m++ {
				for k := 32; k < 36; k++ {
					for _, n := range []int{16, 102} {
						newComplexCase(o, m, n, k, (m+k)%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
					}
				}
			}
			// Several blocks of rows and of columns, the last of these narrower than a tile, or half of one.
			for _, n := range []int{complexTogether + 21, complexTogether + 16} {
				for _, accumulate := range []bool{false, true} {
					newComplexCase(o, 2*complexTogether+9, n, complexSteps+6, accumulate, func() float32 { return integer(rng) }).check(t, 0)
				}
			}
			newComplexCase(o, 80, 64, 200, true, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6)
		}
	})
}

// TestGemmComplexBits demands the same bits of tiles in registers and of products one after the other, and
// whatever columns are beside them.
func TestGemmComplexBits(t *testing.T) {
	eachComplex(t, func(t *testing.T) {
		for o := range orders {
			for _, n := range []int{1, 15, 16, 32, 75, 80, 100} {
				for _, accumulate := range []bool{false, true} {
					var cases [2]*complexCase
					for i := range cases {
						rng := rand.New(rand.NewPCG(5, 2))
						cases[i] = newComplexCase(o, 35, n, 150, accumulate, func() float32 { return float32(rng.NormFloat64()) })
					}
					cases[0].call()
					cases[1].tiles()
					alone := newComplexCase(orderNN, 1, 1, 150, accumulate, func() float32 { return 0 })
					for part := range 2 {
						for p := range alone.k {
							x, y := cases[0].left(34, p), cases[0].right(p, n-1)
							alone.a[part].set(0, p, float32([2]float64{real(x), imag(x)}[part]))
							alone.b[part].set(p, 0, float32([2]float64{real(y), imag(y)}[part]))
						}
						if accumulate {
							alone.c[part].set(0, 0, cases[0].before[part][34*cases[0].c[part].ld+n-1])
						}
					}
					alone.call()
					for part := range 2 {
						if got, want := alone.c[part].at(0, 0), cases[0].c[part].at(34, n-1); math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("order %d, n=%d: part %d of the last element is %v, alone %v", o, n, part, want, got)
						}
						for i := range cases[0].m * n {
							x, y := cases[0].c[part].at(i/n, i%n), cases[1].c[part].at(i/n, i%n)
							if math.Float32bits(x) != math.Float32bits(y) {
								t.Fatalf("order %d, n=%d: part %d, row %d, column %d is %v or %v", o, n, part, i/n, i%n, x, y)
							}
						}
					}
				}
			}
		}
	})
}

// TestGemmComplexOverlap takes rows of A that overlap, so that the distance of rows is that of steps: both are only read.
func TestGemmComplexOverlap(t *testing.T) {
	eachComplex(t, func(t *testing.T) {
		const m, n, k = 20, 112, 40 // columns of a tile of each width
		rng := rand.New(rand.NewPCG(5, 6))
		x := func(size int) []float32 {
			v := make([]float32, size)
			for i := range v {
				v[i] = integer(rng)
			}
			return v
		}
		ar, ai, br, bi, spare := x(m+k-1), x(m+k-1), x(k*n), x(k*n), make([]float32, ComplexSpare)
		for name, call := range map[string]func(m, n, k int, ar, ai []float32, lda int, br, bi []float32, ldb int, cr, ci []float32, ldc int, accumulate bool, ahead [4][]float32, spare []float32){
			"NN": GemmComplexNN, "TN": GemmComplexTN,
		} {
			cr, ci := x(m*n), x(m*n)
			call(m, n, k, ar, ai, 1, br, bi, n, cr, ci, n, false, [4][]float32{}, spare)
			for i := range m {
				for j := range n {
					var re, im float32
					for p := range k {
						re += ar[i+p]*br[p*n+j] - ai[i+p]*bi[p*n+j]
						im += ar[i+p]*bi[p*n+j] + ai[i+p]*br[p*n+j]
					}
					if cr[i*n+j] != re || ci[i*n+j] != im {
						t.Fatalf("%s: row %d, column %d is %v, %v, want %v, %v", name, i, j, cr[i*n+j], ci[i*n+j], re, im)
					}
				}
			}
		}
	})
}

func TestGemmComplexRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	var none [4][]float32
	_, nr := GemmTile()
	spare := v(ComplexSpare)
	for name, call := range map[string]func(){
		"negative size": func() { GemmComplexNN(2, 2, -1, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, none, spare) },
		"real A":        func() { GemmComplexNN(2, 2, 2, v(3), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, none, spare) },
		"imaginary A":   func() { GemmComplexNN(2, 2, 2, v(4), v(3), 2, v(4), v(4), 2, v(4), v(4), 2, false, none, spare) },
		"k-major A":     func() { GemmComplexTN(2, 2, 3, v(5), v(6), 2, v(6), v(6), 2, v(4), v(4), 2, false, none, spare) },
		"real B":        func() { GemmComplexNN(2, 2, 2, v(4), v(4), 2, v(3), v(4), 2, v(4), v(4), 2, false, none, spare) },
		"imaginary B":   func() { GemmComplexTN(2, 2, 2, v(4), v(4), 2, v(4), v(3), 2, v(4), v(4), 2, false, none, spare) },
		"real A of panels": func() {
			GemmComplexPanelsNN(2, 2, 2, v(3), v(4), 2, v(2*nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none, spare)
		},
		"imaginary A of panels": func() {
			GemmComplexPanelsNN(2, 2, 2, v(4), v(3), 2, v(2*nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none, spare)
		},
		"spare, k-major": func() {
			GemmComplexTN(2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, none, spare[1:])
		},
		"spare of panels": func() {
			GemmComplexPanelsNN(2, 2, 2, v(4), v(4), 2, v(2*nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none, spare[1:])
		},
		"real panel": func() {
			GemmComplexPanelsNN(2, 2, 2, v(4), v(4), 2, v(nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none, spare)
		},
		"imaginary panel": func() {
			GemmComplexPanelsNN(2, 2, 2, v(4), v(4), 2, v(2*nr), v(nr), 2*nr, v(4), v(4), 2, false, none, spare)
		},
		"real C":            func() { GemmComplexNN(2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(3), v(4), 2, false, none, spare) },
		"imaginary C":       func() { GemmComplexNN(2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(3), 2, false, none, spare) },
		"spare":             func() { GemmComplexNN(2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, none, spare[1:]) },
		"rows of C overlap": func() { GemmComplexNN(2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 1, false, none, spare) },
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

// FuzzGemmComplex takes any sizes and orders, and values of all magnitudes.
func FuzzGemmComplex(f *testing.F) {
	f.Add(uint8(0), uint8(7), uint16(33), uint16(14), true, uint64(1))
	f.Add(uint8(1), uint8(15), uint16(64), uint16(129), false, uint64(2))
	f.Add(uint8(2), uint8(4), uint16(17), uint16(64), false, uint64(3))
	f.Add(uint8(1), uint8(140), uint16(84), uint16(130), true, uint64(4))
	f.Fuzz(func(t *testing.T, o, m uint8, n, k uint16, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachComplex(t, func(t *testing.T) {
			newComplexCase(order(o)%orders, 1+int(m)%150, 1+int(n)%140, int(k)%300, accumulate, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmComplex multiplies the spectra of a kernel and of a map, for 64 rows, as many images and
// 128 columns.
func BenchmarkGemmComplex(b *testing.B) {
	const m, n, k = 64, 64, 128
	var x [6][]float32
	spare := make([]float32, ComplexSpare)
	for i, size := range []int{m * k, m * k, k * n, k * n, m * n, m * n} {
		x[i] = make([]float32, size)
		for j := range x[i] {
			x[i][j] = rand.Float32() - 0.5
		}
	}
	benchProducts(b, fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k), 6*m*n*k, func() {
		GemmComplexNN(m, n, k, x[0], x[1], k, x[2], x[3], n, x[4], x[5], n, false, [4][]float32{}, spare)
	})
	benchProducts(b, fmt.Sprintf("m=%d/n=%d/k=%d/trans=a", m, n, k), 6*m*n*k, func() {
		GemmComplexTN(m, n, k, x[0], x[1], m, x[2], x[3], n, x[4], x[5], n, false, [4][]float32{}, spare)
	})
}
