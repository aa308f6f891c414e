package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// order is how the operands of a product of any number of rows are stored.
type order uint8

const (
	orderNN order = iota
	orderTN
	orderPanels

	orders
)

// left returns A [m, k] in that order, and leftAt an element of it.
func (o order) left(m, k, off int, value func() float32) *guarded {
	rows, cols := m, k
	if o == orderTN {
		rows, cols = k, m
	}
	x := newGuarded(rows, cols, cols+3, off)
	x.fill(func(int, int) float32 { return value() })
	return x
}

func (o order) leftAt(x *guarded, i, p int) float32 {
	if o == orderTN {
		i, p = p, i
	}
	return x.at(i, p)
}

// right returns B [k, n] in that order, and rightAt an element of it.
func (o order) right(k, n, off int, value func() float32) *guarded {
	x := newGuarded(k, n, n+5, off)
	if o == orderPanels {
		_, nr := GemmTile()
		x = newGuarded(k*((n+nr-1)/nr), nr, nr, off)
	}
	x.fill(func(int, int) float32 { return value() })
	return x
}

func (o order) rightAt(x *guarded, k, p, j int) float32 {
	if o == orderPanels {
		_, nr := GemmTile()
		p, j = j/nr*k+p, j%nr
	}
	return x.at(p, j)
}

// twinCase is a product of one matrix and two, in poisoned buffers with gaps.
type twinCase struct {
	order   order
	m, n, k int
	a       *guarded
	b, c    [2]*guarded
	before  [2][]float32 // C, which is added to, or nil
	ahead   [4][]float32
}

func newTwinCase(o order, m, n, k int, accumulate bool, value func() float32) *twinCase {
	s := &twinCase{order: o, m: m, n: n, k: k, a: o.left(m, k, 1, value)}
	for i := range 2 {
		s.b[i], s.c[i] = o.right(k, n, 7+i, value), newGuarded(m, n, n+9, 3+i)
		if accumulate {
			s.c[i].fill(func(int, int) float32 { return value() })
			s.before[i] = slices.Clone(s.c[i].data())
		}
	}
	s.ahead = [4][]float32{make([]float32, 40), nil, make([]float32, m*n*k), make([]float32, 7)}
	return s
}

func (s *twinCase) call() {
	a, lda, ldb := s.a.data(), s.a.ld, s.b[0].ld
	b0, b1, c0, c1, ldc, accumulate := s.b[0].data(), s.b[1].data(), s.c[0].data(), s.c[1].data(), s.c[0].ld, s.before[0] != nil
	switch s.order {
	case orderNN:
		GemmTwinNN(s.m, s.n, s.k, a, lda, b0, b1, ldb, c0, c1, ldc, accumulate, s.ahead)
	case orderTN:
		GemmTwinTN(s.m, s.n, s.k, a, lda, b0, b1, ldb, c0, c1, ldc, accumulate, s.ahead)
	case orderPanels:
		GemmTwinPanelsNN(s.m, s.n, s.k, a, lda, b0, b1, s.k*ldb, c0, c1, ldc, accumulate, s.ahead)
	}
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (s *twinCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	for which := range 2 {
		s.c[which].intact(t, s.m, s.n)
		for i := range s.m {
			for j := range s.n {
				want := 0.0
				if s.before[which] != nil {
					want = float64(s.before[which][i*s.c[which].ld+j])
				}
				size := math.Abs(want)
				for p := range s.k {
					x := float64(s.order.leftAt(s.a, i, p)) * float64(s.order.rightAt(s.b[which], s.k, p, j))
					want += x
					size += math.Abs(x)
				}
				if got := s.c[which].at(i, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("order %d, m=%d n=%d k=%d: product %d, row %d, column %d is %v, want %v", s.order, s.m, s.n, s.k, which, i, j, got, want)
				}
			}
		}
	}
}

// TestGemmTwin takes all numbers of rows of strips and around them, and of columns of tiles and around
// them. Sums of integers are exact.
func TestGemmTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 1))
		columns := make([]int, 0, 80)
		for n := 1; n <= 70; n++ {
			columns = append(columns, n)
		}
		columns = append(columns, 128)
		if raceEnabled || testing.Short() {
			columns = []int{1, 16, 31, 70}
		}
		for o := range orders {
			for m := 1; m <= 15; m++ {
				for _, n := range columns {
					for _, k := range []int{0, 1, 4, 7} {
						newTwinCase(o, m, n, k, (m+n+k)%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
					}
				}
			}
			newTwinCase(o, 80, 64, 200, true, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6)
		}
	})
}

// TestGemmTwinBits demands the bits of GemmNN, whatever rows and columns are beside them.
func TestGemmTwinBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for o := range orders {
			for _, accumulate := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(6, 2))
				s := newTwinCase(o, 17, 75, 60, accumulate, func() float32 { return float32(rng.NormFloat64()) })
				s.call()
				a, b := make([]float32, s.k), make([]float32, s.k)
				for which := range 2 {
					for i := range s.m {
						for j := range s.n {
							for p := range s.k {
								a[p], b[p] = s.order.leftAt(s.a, i, p), s.order.rightAt(s.b[which], s.k, p, j)
							}
							want := []float32{0}
							if accumulate {
								want[0] = s.before[which][i*s.c[which].ld+j]
							}
							GemmNN(1, 1, s.k, a, s.k, b, 1, want, 1, accumulate)
							if got := s.c[which].at(i, j); math.Float32bits(got) != math.Float32bits(want[0]) {
								t.Fatalf("order %d: product %d, row %d, column %d is %v, want %v", o, which, i, j, got, want[0])
							}
						}
					}
				}
			}
		}
	})
}

func TestGemmTwinRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	var none [4][]float32
	_, nr := GemmTile()
	for name, call := range map[string]func(){
		"negative size":     func() { GemmTwinNN(2, 2, -1, v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, none) },
		"A":                 func() { GemmTwinNN(2, 2, 2, v(3), 2, v(4), v(4), 2, v(4), v(4), 2, false, none) },
		"k-major A":         func() { GemmTwinTN(2, 2, 3, v(5), 2, v(6), v(6), 2, v(4), v(4), 2, false, none) },
		"first B":           func() { GemmTwinNN(2, 2, 2, v(4), 2, v(3), v(4), 2, v(4), v(4), 2, false, none) },
		"second B":          func() { GemmTwinTN(2, 2, 2, v(4), 2, v(4), v(3), 2, v(4), v(4), 2, false, none) },
		"second B of rows":  func() { GemmTwinNN(2, 2, 2, v(4), 2, v(4), v(3), 2, v(4), v(4), 2, false, none) },
		"first k-major B":   func() { GemmTwinTN(2, 2, 2, v(4), 2, v(3), v(4), 2, v(4), v(4), 2, false, none) },
		"first panel":       func() { GemmTwinPanelsNN(2, 2, 2, v(4), 2, v(nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none) },
		"second panel":      func() { GemmTwinPanelsNN(2, 2, 2, v(4), 2, v(2*nr), v(nr), 2*nr, v(4), v(4), 2, false, none) },
		"first C":           func() { GemmTwinNN(2, 2, 2, v(4), 2, v(4), v(4), 2, v(3), v(4), 2, false, none) },
		"second C":          func() { GemmTwinNN(2, 2, 2, v(4), 2, v(4), v(4), 2, v(4), v(3), 2, false, none) },
		"rows of C overlap": func() { GemmTwinNN(2, 2, 2, v(4), 2, v(4), v(4), 2, v(4), v(4), 1, false, none) },
		"A of panels": func() {
			GemmTwinPanelsNN(2, 2, 2, v(3), 2, v(2*nr), v(2*nr), 2*nr, v(4), v(4), 2, false, none)
		},
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

// FuzzGemmTwin takes any sizes and orders, and values of all magnitudes.
func FuzzGemmTwin(f *testing.F) {
	f.Add(uint8(0), uint8(7), uint16(33), uint16(14), true, uint64(1))
	f.Add(uint8(1), uint8(15), uint16(64), uint16(129), false, uint64(2))
	f.Add(uint8(2), uint8(4), uint16(17), uint16(64), false, uint64(3))
	f.Fuzz(func(t *testing.T, o, m uint8, n, k uint16, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newTwinCase(order(o)%orders, 1+int(m)%40, 1+int(n)%100, int(k)%300, accumulate, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}
