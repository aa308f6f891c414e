package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkGauss calls GaussFactors, in poisoned buffers with gaps, and compares with float64, up to an
// error of so much of the sum of magnitudes.
func checkGauss(t *testing.T, m, n, e int, value func() float32, tolerance float64) {
	t.Helper()
	count := 2*e + 1
	a, b := make([]float32, m*count), newGuarded(count, n, n+5, 7)
	for i := range a {
		a[i] = value()
	}
	b.fill(func(int, int) float32 { return value() })
	const planes = 4 // of a frequency: three, and one that must stay as it is
	c := newGuarded(planes*m, n, n+9, 3)
	GaussFactors(m, n, e, a, b.data(), b.ld, c.data(), c.ld, planes*c.ld)
	c.intact(t, planes*m, n)
	for f := range m {
		for j := range n {
			var re, im, size float64
			for r := range count {
				x := float64(a[f*count+r]) * float64(b.at(r, j))
				if size += math.Abs(x); r <= e {
					re += x
				} else {
					im += x
				}
			}
			for plane, want := range []float64{re + im, im, re} {
				if got := c.at(planes*f+plane, j); !(math.Abs(float64(got)-want) <= tolerance*size) {
					t.Fatalf("m=%d n=%d e=%d: plane %d of frequency %d, column %d is %v, want %v", m, n, e, plane, f, j, got, want)
				}
			}
			if got := c.at(planes*f+3, j); math.Float32bits(got) != math.Float32bits(poison) {
				t.Fatalf("m=%d n=%d e=%d: written between frequencies", m, n, e)
			}
		}
	}
}

// TestGaussFactors takes all columns of tiles and around them, and more taps than registers hold.
// Sums of integers are exact.
func TestGaussFactors(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 1))
		integer := func() float32 { return float32(rng.IntN(17) - 8) }
		for e := range 7 {
			for _, m := range []int{1, 2, 3, 13, 14, 15, 29} {
				for n := 1; n <= 70; n++ {
					checkGauss(t, m, n, e, integer, 0)
				}
			}
		}
		GaussFactors(0, 5, 1, nil, nil, 5, nil, 5, 15)
		GaussFactors(5, 0, 1, nil, nil, 0, nil, 0, 0)
	})
}

// TestGaussFactorsRefuses wants an error where a matrix is too short or would overlap itself.
func TestGaussFactorsRefuses(t *testing.T) {
	a, b, c := make([]float32, 10), make([]float32, 20), make([]float32, 24)
	for name, f := range map[string]func(){
		"negative":     func() { GaussFactors(2, 4, -1, a, b, 4, c, 4, 12) },
		"short a":      func() { GaussFactors(2, 4, 2, a[:9], b, 4, c, 4, 12) },
		"short b":      func() { GaussFactors(2, 4, 2, a, b[:19], 4, c, 4, 12) },
		"short c":      func() { GaussFactors(2, 4, 2, a, b, 4, c[:23], 4, 12) },
		"planes meet":  func() { GaussFactors(2, 4, 2, a, b, 4, c, 3, 12) },
		"rows overlap": func() { GaussFactors(2, 4, 2, a, b, 4, c, 4, 11) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", name)
				}
			}()
			f()
		}()
	}
}

// FuzzGaussFactors takes any sizes, and values of all magnitudes.
func FuzzGaussFactors(f *testing.F) {
	f.Add(uint8(7), uint16(33), uint8(2), uint64(1))
	f.Add(uint8(15), uint16(64), uint8(3), uint64(2))
	f.Fuzz(func(t *testing.T, m uint8, n uint16, e uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			checkGauss(t, 1+int(m)%32, 1+int(n)%300, int(e)%9, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}, 1e-5)
		})
	})
}

// BenchmarkGaussFactors makes a column of five taps of the spectra of 1024 kernels.
func BenchmarkGaussFactors(b *testing.B) {
	const m, n, e = 8, 1024, 2
	a, x, c := make([]float32, m*(2*e+1)), make([]float32, (2*e+1)*n), make([]float32, 3*m*(n+16))
	benchProducts(b, "m=8/n=1024/e=2", 2*m*n*(2*e+1), func() {
		GaussFactors(m, n, e, a, x, n, c, n+16, 3*(n+16))
	})
}
