package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// gaussCase is a call of GemmGauss, in poisoned buffers with gaps.
type gaussCase struct {
	m, n       int
	k          [2]int
	a, b       [2]*guarded
	c          *guarded // [3 m, n]: the planes of a row one after the other
	plane, ldc int
	ahead      []float32
}

func newGaussCase(m, n, k0, k1 int, value func() float32) *gaussCase {
	s := &gaussCase{m: m, n: n, k: [2]int{k0, k1}, plane: n + 9, ldc: 3 * (n + 9)}
	for part, k := range s.k {
		s.a[part], s.b[part] = newGuarded(m, k, k+3+part, 1+part), newGuarded(k, n, n+5, 7+part)
		s.a[part].fill(func(int, int) float32 { return value() })
		s.b[part].fill(func(int, int) float32 { return value() })
	}
	s.c = newGuarded(3*m, n, s.plane, 3)
	s.ahead = make([]float32, m*n*(k0+k1)) // enough for few rows, or too short
	return s
}

func (s *gaussCase) call() {
	GemmGauss(s.m, s.n, s.k[0], s.k[1], s.a[0].data(), s.a[0].ld, s.a[1].data(), s.a[1].ld, s.b[0].data(), s.b[1].data(), s.b[0].ld, s.c.data(), s.plane, s.ldc, s.ahead)
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (s *gaussCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	s.c.intact(t, 3*s.m, s.n)
	for i := range s.m {
		for j := range s.n {
			var sums [2]float64
			size := 0.0
			for part, k := range s.k {
				for p := range k {
					x := float64(s.a[part].at(i, p)) * float64(s.b[part].at(p, j))
					sums[part] += x
					size += math.Abs(x)
				}
			}
			for plane, want := range []float64{sums[0], sums[0] + sums[1], sums[0] - sums[1]} {
				if got := s.c.at(3*i+plane, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("m=%d n=%d k0=%d k1=%d: plane %d, row %d, column %d is %v, want %v", s.m, s.n, s.k[0], s.k[1], plane, i, j, got, want)
				}
			}
		}
	}
}

// TestGemmGauss takes all numbers of rows of strips and around them, of columns of tiles and
// around them, and of steps with none of either part. Sums of integers are exact.
func TestGemmGauss(t *testing.T) {
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
					newGaussCase(m, n, k[0], k[1], func() float32 { return integer(rng) }).check(t, 0)
				}
			}
		}
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newGaussCase(9, 4500, 14, 14, normal).check(t, 1e-6) // in several calls
		newGaussCase(14, 257, 40, 33, normal).check(t, 1e-6)
	})
}

// TestGemmGaussBits demands the bits of the products of GemmNN, of their sum and of their
// difference, whatever columns are beside them.
func TestGemmGaussBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 2))
		for _, n := range []int{1, 15, 32, 75, 128} {
			s := newGaussCase(6, n, 25, 24, func() float32 { return float32(rng.NormFloat64()) })
			s.call()
			_, nr := GemmTile()
			var part [2][]float32
			for i := range part {
				part[i] = make([]float32, s.m*n)
				for j := 0; j < n; j += nr {
					GemmNN(s.m, min(nr, n-j), s.k[i], s.a[i].data(), s.a[i].ld, s.b[i].data()[j:], s.b[i].ld, part[i][j:], n, false)
				}
			}
			for i := range s.m * n {
				r, q := part[0][i], part[1][i]
				for plane, want := range []float32{r, r + q, r - q} {
					if got := s.c.at(3*(i/n)+plane, i%n); math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("n=%d: plane %d, row %d, column %d is %v, want %v", n, plane, i/n, i%n, got, want)
					}
				}
			}
		}
	})
}

func TestGemmGaussRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"negative size":     func() { GemmGauss(2, 2, -1, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(12), 2, 6, nil) },
		"real A":            func() { GemmGauss(2, 2, 2, 2, v(3), 2, v(4), 2, v(4), v(4), 2, v(12), 2, 6, nil) },
		"imaginary A":       func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(3), 2, v(4), v(4), 2, v(12), 2, 6, nil) },
		"real B":            func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(4), 2, v(3), v(4), 2, v(12), 2, 6, nil) },
		"imaginary B":       func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(3), 2, v(12), 2, 6, nil) },
		"c":                 func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(11), 2, 6, nil) },
		"planes overlap":    func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(12), 1, 6, nil) },
		"rows of c overlap": func() { GemmGauss(2, 2, 2, 2, v(4), 2, v(4), 2, v(4), v(4), 2, v(12), 2, 5, nil) },
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

// FuzzGemmGauss takes any sizes, and values of all magnitudes.
func FuzzGemmGauss(f *testing.F) {
	f.Add(uint8(7), uint16(33), uint8(14), uint8(13), uint64(1))
	f.Add(uint8(15), uint16(64), uint8(0), uint8(5), uint64(2))
	f.Fuzz(func(t *testing.T, m uint8, n uint16, k0, k1 uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newGaussCase(1+int(m)%32, 1+int(n)%300, int(k0)%40, int(k1)%40, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmGauss makes the spectrum of a row of kernels: 49 taps, 14 frequencies, 128 columns.
func BenchmarkGemmGauss(b *testing.B) {
	const m, n, k0, k1, rows = 14, 128, 25, 24, 32
	const plane = rows*n + 16
	a, x := make([]float32, m*(k0+k1)), make([]float32, rows*(k0+k1)*n)
	c := make([]float32, m*3*plane)
	for _, s := range [][]float32{a, x} {
		for i := range s {
			s[i] = rand.Float32() - 0.5
		}
	}
	benchProducts(b, fmt.Sprintf("m=%d/n=%d/k0=%d/k1=%d", m, n, k0, k1), 2*rows*m*n*(k0+k1), func() {
		for r := range rows {
			slots, after := x[r*(k0+k1)*n:], x[(r+1)*(k0+k1)*n:]
			GemmGauss(m, n, k0, k1, a, k0, a[m*k0:], k1, slots, slots[k0*n:], n, c[r*n:], plane, 3*plane, after)
		}
	})
}
