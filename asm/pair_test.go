package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairCase is a call of GemmPair, in poisoned buffers with gaps.
type pairCase struct {
	m, n    int
	k       [2]int
	a, b, c [2]*guarded
	ahead   []float32
}

func newPairCase(m, n, k0, k1 int, value func() float32) *pairCase {
	s := &pairCase{m: m, n: n, k: [2]int{k0, k1}}
	for part, k := range s.k {
		s.a[part], s.b[part] = newGuarded(m, k, k+3+part, 1+part), newGuarded(k, n, n+5, 7+part)
		s.a[part].fill(func(int, int) float32 { return value() })
		s.b[part].fill(func(int, int) float32 { return value() })
		s.c[part] = newGuarded(m, n, n+9, 3+part)
	}
	s.ahead = make([]float32, m*n*(k0+k1)) // enough for few rows, or too short
	return s
}

func (s *pairCase) call() {
	GemmPair(s.m, s.n, s.k[0], s.k[1], s.a[0].data(), s.a[0].ld, s.a[1].data(), s.a[1].ld, s.b[0].data(), s.b[1].data(), s.b[0].ld, s.c[0].data(), s.c[1].data(), s.c[0].ld, s.ahead)
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (s *pairCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	for part, k := range s.k {
		s.c[part].intact(t, s.m, s.n)
		for i := range s.m {
			for j := range s.n {
				want, size := 0.0, 0.0
				for p := range k {
					x := float64(s.a[part].at(i, p)) * float64(s.b[part].at(p, j))
					want += x
					size += math.Abs(x)
				}
				if got := s.c[part].at(i, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("m=%d n=%d k0=%d k1=%d: product %d, row %d, column %d is %v, want %v", s.m, s.n, s.k[0], s.k[1], part, i, j, got, want)
				}
			}
		}
	}
}

// TestGemmPair takes all numbers of rows of strips and around them, of columns of tiles and
// around them, and of steps with none of either part. Sums of integers are exact.
func TestGemmPair(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 1))
		columns := make([]int, 0, 140)
		for n := 1; n <= 70; n++ {
			columns = append(columns, n)
		}
		columns = append(columns, 100, 128, 130)
		if raceEnabled || testing.Short() {
			columns = []int{1, 16, 31, 70}
		}
		for m := 1; m <= 16; m++ {
			for _, n := range columns {
				for _, k := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {5, 4}, {25, 24}} {
					newPairCase(m, n, k[0], k[1], func() float32 { return integer(rng) }).check(t, 0)
				}
			}
		}
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newPairCase(9, 4500, 14, 14, normal).check(t, 1e-6) // in several calls
		newPairCase(14, 257, 40, 33, normal).check(t, 1e-6)
	})
}

// TestGemmPairBits demands the bits of GemmNN, whatever columns are beside them.
func TestGemmPairBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 2))
		for _, n := range []int{1, 15, 32, 75, 128} {
			s := newPairCase(6, n, 25, 24, func() float32 { return float32(rng.NormFloat64()) })
			s.call()
			_, nr := GemmTile()
			for part := range s.k {
				want := make([]float32, s.m*n)
				for j := 0; j < n; j += nr {
					GemmNN(s.m, min(nr, n-j), s.k[part], s.a[part].data(), s.a[part].ld, s.b[part].data()[j:], s.b[part].ld, want[j:], n, false)
				}
				for i := range s.m * n {
					if got := s.c[part].at(i/n, i%n); math.Float32bits(got) != math.Float32bits(want[i]) {
						t.Fatalf("n=%d: product %d, row %d, column %d is %v, want %v", n, part, i/n, i%n, got, want[i])
					}
				}
			}
		}
	})
}

func TestGemmPairRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"negative size":     func() { GemmPair(2, 2, -1, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(4), v(4), 2, nil) },
		"first A":           func() { GemmPair(2, 2, 2, 2, v(3), 2, v(4), 2, v(4), v(4), 2, v(4), v(4), 2, nil) },
		"second A":          func() { GemmPair(2, 2, 2, 2, v(4), 2, v(3), 2, v(4), v(4), 2, v(4), v(4), 2, nil) },
		"first B":           func() { GemmPair(2, 2, 2, 2, v(4), 2, v(4), 2, v(3), v(4), 2, v(4), v(4), 2, nil) },
		"second B":          func() { GemmPair(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(3), 2, v(4), v(4), 2, nil) },
		"first C":           func() { GemmPair(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(3), v(4), 2, nil) },
		"second C":          func() { GemmPair(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(4), v(3), 2, nil) },
		"rows of C overlap": func() { GemmPair(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(4), v(4), 1, nil) },
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

// FuzzGemmPair takes any sizes, and values of all magnitudes.
func FuzzGemmPair(f *testing.F) {
	f.Add(uint8(7), uint16(33), uint8(14), uint8(13), uint64(1))
	f.Add(uint8(15), uint16(64), uint8(0), uint8(5), uint64(2))
	f.Fuzz(func(t *testing.T, m uint8, n uint16, k0, k1 uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newPairCase(1+int(m)%32, 1+int(n)%300, int(k0)%40, int(k1)%40, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmPair makes the spectrum of a row of kernels: 49 taps, 14 frequencies, 128 columns.
func BenchmarkGemmPair(b *testing.B) {
	const m, n, k0, k1, rows = 14, 128, 25, 24, 32
	a, x := make([]float32, m*(k0+k1)), make([]float32, rows*(k0+k1)*n)
	c := make([]float32, 2*m*rows*n)
	for _, s := range [][]float32{a, x} {
		for i := range s {
			s[i] = rand.Float32() - 0.5
		}
	}
	benchProducts(b, fmt.Sprintf("m=%d/n=%d/k0=%d/k1=%d", m, n, k0, k1), 2*rows*m*n*(k0+k1), func() {
		for r := range rows {
			slots, after := x[r*(k0+k1)*n:], x[(r+1)*(k0+k1)*n:]
			GemmPair(m, n, k0, k1, a, k0, a[m*k0:], k1, slots, slots[k0*n:], n, c[r*n:], c[m*rows*n+r*n:], rows*n, after)
		}
	})
}
