package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairCase is a call of GemmPair, in poisoned buffers with gaps.
type pairCase struct {
	n          int
	m, k       [2]int
	accumulate bool
	a, b, c    [2]*guarded
	before     [2][]float32 // C before the call
	ahead      []float32
}

func newPairCase(n int, m, k [2]int, accumulate bool, value func() float32) *pairCase {
	s := &pairCase{n: n, m: m, k: k, accumulate: accumulate}
	for part, k := range s.k {
		m := s.m[part]
		s.a[part], s.b[part] = newGuarded(m, k, k+3+part, 1+part), newGuarded(k, n, n+5, 7+part)
		s.a[part].fill(func(int, int) float32 { return value() })
		s.b[part].fill(func(int, int) float32 { return value() })
		s.c[part] = newGuarded(m, n, n+9, 3+part)
		s.before[part] = make([]float32, m*n)
		if accumulate {
			s.c[part].fill(func(i, j int) float32 {
				s.before[part][i*n+j] = value()
				return s.before[part][i*n+j]
			})
		}
	}
	s.ahead = make([]float32, m[0]*n*(k[0]+k[1])) // enough for few rows, or too short
	return s
}

func (s *pairCase) part(i int) *PairPart {
	return &PairPart{s.m[i], s.k[i], s.a[i].ld, s.a[i].data(), s.b[i].data(), s.c[i].data()}
}

func (s *pairCase) call() {
	GemmPair(s.n, s.part(0), s.part(1), s.b[0].ld, s.c[0].ld, s.accumulate, s.ahead)
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (s *pairCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	for part, k := range s.k {
		s.c[part].intact(t, s.m[part], s.n)
		for i := range s.m[part] {
			for j := range s.n {
				want := float64(s.before[part][i*s.n+j])
				size := math.Abs(want)
				for p := range k {
					x := float64(s.a[part].at(i, p)) * float64(s.b[part].at(p, j))
					want += x
					size += math.Abs(x)
				}
				if got := s.c[part].at(i, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("n=%d m=%v k=%v, accumulate %v: product %d, row %d, column %d is %v, want %v", s.n, s.m, s.k, s.accumulate, part, i, j, got, want)
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
					for _, accumulate := range []bool{false, true} {
						newPairCase(n, [2]int{m, max(0, m-1)}, k, accumulate, func() float32 { return integer(rng) }).check(t, 0)
					}
				}
			}
		}
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newPairCase(4500, [2]int{9, 9}, [2]int{14, 14}, false, normal).check(t, 1e-6) // in several calls
		newPairCase(257, [2]int{14, 14}, [2]int{40, 33}, false, normal).check(t, 1e-6)
		newPairCase(257, [2]int{30, 29}, [2]int{14, 14}, true, normal).check(t, 1e-6)
	})
}

// TestGemmPairBits demands the bits of GemmStripNN, whatever columns are beside them.
func TestGemmPairBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 2))
		for _, n := range []int{1, 15, 32, 75, 128} {
			for _, accumulate := range []bool{false, true} {
				s := newPairCase(n, [2]int{6, 5}, [2]int{25, 24}, accumulate, func() float32 { return float32(rng.NormFloat64()) })
				s.call()
				for part, want := range s.before {
					a, b := s.a[part], s.b[part]
					GemmStripNN(s.m[part], n, s.k[part], a.data(), a.ld, b.data(), b.ld, want, n, accumulate)
					for i, want := range want {
						if got := s.c[part].at(i/n, i%n); math.Float32bits(got) != math.Float32bits(want) {
							t.Fatalf("n=%d: product %d, row %d, column %d is %v, want %v", n, part, i/n, i%n, got, want)
						}
					}
				}
			}
		}
	})
}

func TestGemmPairRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	fits := func() *PairPart { return &PairPart{2, 2, 2, v(4), v(4), v(4)} }
	for name, call := range map[string]func(){
		"negative size":     func() { GemmPair(2, &PairPart{2, -1, 2, v(4), v(4), v(4)}, fits(), 2, 2, false, nil) },
		"first A":           func() { GemmPair(2, &PairPart{2, 2, 2, v(3), v(4), v(4)}, fits(), 2, 2, false, nil) },
		"second A":          func() { GemmPair(2, fits(), &PairPart{2, 2, 2, v(3), v(4), v(4)}, 2, 2, false, nil) },
		"first B":           func() { GemmPair(2, &PairPart{2, 2, 2, v(4), v(3), v(4)}, fits(), 2, 2, false, nil) },
		"second B":          func() { GemmPair(2, fits(), &PairPart{2, 2, 2, v(4), v(3), v(4)}, 2, 2, false, nil) },
		"first C":           func() { GemmPair(2, &PairPart{2, 2, 2, v(4), v(4), v(3)}, fits(), 2, 2, false, nil) },
		"second C":          func() { GemmPair(2, fits(), &PairPart{2, 2, 2, v(4), v(4), v(3)}, 2, 2, true, nil) },
		"rows of C overlap": func() { GemmPair(2, fits(), fits(), 2, 1, false, nil) },
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
			newPairCase(1+int(n)%300, [2]int{1 + int(m)%32, int(m) / 8}, [2]int{int(k0) % 40, int(k1) % 40}, seed%2 == 1, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmPair makes the spectrum of a row of kernels: 49 taps, 14 frequencies, 128 columns.
func BenchmarkGemmPair(b *testing.B) {
	const m, n, k0, k1, rows = 14, 128, 25, 24, 32
	const ld = n + 16          // no two rows of C and no two planes lie a multiple
	const plane = rows*ld + 16 // of 4 KiB apart
	a, x := make([]float32, m*(k0+k1)), make([]float32, rows*(k0+k1)*n)
	c := make([]float32, 2*m*plane)
	for _, s := range [][]float32{a, x} {
		for i := range s {
			s[i] = rand.Float32() - 0.5
		}
	}
	benchProducts(b, fmt.Sprintf("m=%d/n=%d/k0=%d/k1=%d", m, n, k0, k1), 2*rows*m*n*(k0+k1), func() {
		for r := range rows {
			slots, after := x[r*(k0+k1)*n:], x[(r+1)*(k0+k1)*n:]
			re, im := PairPart{m, k0, k0, a, slots, c[r*ld:]}, PairPart{m, k1, k1, a[m*k0:], slots[k0*n:], c[plane+r*ld:]}
			GemmPair(n, &re, &im, n, 2*plane, false, after)
		}
	})
}
