package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// waveCase is a call of GemmWaves, in poisoned buffers with gaps.
type waveCase struct {
	w, n, groups, period int
	turned               bool
	waves                []float32
	x, y, re, im         *guarded // [period, (group, n)], [group, (w, n)]
}

func newWaveCase(w, n, groups, period int, turned bool, value func() float32) *waveCase {
	s := &waveCase{w: w, n: n, groups: groups, period: period, turned: turned, waves: make([]float32, period*((w+1)/2))}
	for i := range s.waves {
		s.waves[i] = value()
	}
	part := groups * n
	s.x, s.y = newGuarded(period, part, part+5, 1), newGuarded(period, part, part+5, 2)
	s.re, s.im = newGuarded(groups, w*n, w*n+9, 3), newGuarded(groups, w*n, w*n+9, 4)
	for _, x := range []*guarded{s.x, s.y} {
		x.fill(func(int, int) float32 { return value() })
	}
	return s
}

func (s *waveCase) call() {
	GemmWaves(s.w, s.n, s.groups, s.period, s.waves, s.x.data(), s.y.data(), s.x.ld, s.re.data(), s.im.data(), s.re.ld, s.turned, make([]float32, 2*s.period*s.groups*s.n))
}

// wave returns the wave of a frequency at a position.
func (s *waveCase) wave(f, p int) complex128 {
	m, half := (s.w+1)/2, s.period/2
	i, sign := p-s.w/2, 1.0
	if i < 0 {
		i, sign = m-1-p, -1
	}
	if f > half {
		f, sign = s.period-f, -sign
	}
	sine := 0.0
	if f > 0 && 2*f < s.period {
		sine = sign * float64(s.waves[(half+f)*m+i])
	}
	return complex(float64(s.waves[f*m+i]), sine)
}

// check multiplies and compares with complex128, up to an error of so much of the sum of magnitudes.
func (s *waveCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	s.re.intact(t, s.groups, s.w*s.n)
	s.im.intact(t, s.groups, s.w*s.n)
	for g := range s.groups {
		for p := range s.w {
			for b := range s.n {
				want, size := complex128(0), 0.0
				for f := range s.period {
					x := complex(float64(s.x.at(f, g*s.n+b)), float64(s.y.at(f, g*s.n+b)))
					v := s.wave(f, p)
					want += x * v
					size += (math.Abs(real(x)) + math.Abs(imag(x))) * (math.Abs(real(v)) + math.Abs(imag(v)))
				}
				if s.turned {
					want *= -1i
				}
				got := [2]float32{s.re.at(g, p*s.n+b), s.im.at(g, p*s.n+b)}
				for part, want := range []float64{real(want), imag(want)} {
					if !(math.Abs(float64(got[part])-want) <= tolerance*size) {
						t.Fatalf("w=%d n=%d period=%d turned=%v: part %d of group %d, position %d, column %d is %v, want %v", s.w, s.n, s.period, s.turned, part, g, p, b, got[part], want)
					}
				}
			}
		}
	}
}

// TestGemmWaves takes all numbers of positions of strips and around them, of columns of tiles and around them,
// and even and odd periods. Sums of integers are exact.
func TestGemmWaves(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 1))
		columns := make([]int, 0, 40)
		for n := 1; n <= 34; n++ {
			columns = append(columns, n)
		}
		columns = append(columns, 64, 70)
		if raceEnabled || testing.Short() {
			columns = []int{1, 16, 31}
		}
		for w := 1; w <= 28; w++ {
			for _, n := range columns {
				for _, period := range []int{1, 2, 3, 4, 9, 10} {
					newWaveCase(w, n, 1+w%3, period, (w+n+period)%2 == 0, func() float32 { return integer(rng) }).check(t, 0)
				}
			}
		}
		single := newWaveCase(5, 9, 1, 1, true, func() float32 { return integer(rng) })
		single.x.ld, single.y.ld = 0, 0 // of a single row
		single.check(t, 0)
		newWaveCase(28, 64, 2, 31, false, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6)
		newWaveCase(50, 2900, 1, 17, true, func() float32 { return float32(rng.NormFloat64()) }).check(t, 1e-6) // in several calls
	})
}

// TestGemmWavesOfPlanes compares with the Fourier series of waves at half and at whole numbers.
func TestGemmWavesOfPlanes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, w := range []int{7, 14} {
			const period, n = 17, 5
			s := newWaveCase(w, n, 1, period, false, func() float32 { return rand.Float32() - 0.5 })
			m := (w + 1) / 2
			phase := func(f, p int) (sin, cos float64) { // at half numbers, period-f is not -f
				if 2*f > period {
					f -= period
				}
				return math.Sincos(2 * math.Pi * float64(f) * (float64(p) - float64(w-1)/2) / period)
			}
			for f := range period/2 + 1 {
				for i := range m {
					sin, cos := phase(f, w/2+i)
					s.waves[f*m+i] = float32(cos)
					if f > 0 {
						s.waves[(period/2+f)*m+i] = float32(sin)
					}
				}
			}
			s.call()
			for p := range w {
				for b := range n {
					want := complex128(0)
					for f := range period {
						sin, cos := phase(f, p)
						want += complex(float64(s.x.at(f, b)), float64(s.y.at(f, b))) * complex(cos, sin)
					}
					if !(math.Abs(float64(s.re.at(0, p*n+b))-real(want)) <= 1e-5) || !(math.Abs(float64(s.im.at(0, p*n+b))-imag(want)) <= 1e-5) {
						t.Fatalf("w=%d: position %d, column %d is %v + %vi, want %v", w, p, b, s.re.at(0, p*n+b), s.im.at(0, p*n+b), want)
					}
				}
			}
		}
	})
}

// TestGemmWavesBits demands that the values do not depend on the columns beside them, nor do the signs of zeros: every
// fifth column is so small that products underflow.
func TestGemmWavesBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 2))
		const n = 43
		for _, w := range []int{5, 6, 13, 14} {
			for period := 1; period <= 10; period++ {
				turned := period%3 == 0
				s := newWaveCase(w, n, 1, period, turned, func() float32 { return float32(rng.NormFloat64()) })
				for f := range period {
					for b := 0; b < n; b += 5 {
						s.x.set(f, b, float32(math.Ldexp(rng.NormFloat64(), -150)))
						s.y.set(f, b, float32(math.Ldexp(rng.NormFloat64(), -150)))
					}
				}
				s.call()
				for from, size := 0, 1; from < n; from, size = from+size, size+3 {
					cols := min(size, n-from)
					re, im := make([]float32, w*cols), make([]float32, w*cols)
					GemmWaves(w, cols, 1, period, s.waves, s.x.data()[from:], s.y.data()[from:], s.x.ld, re, im, w*cols, turned, make([]float32, 2*period*cols))
					for p := range w {
						what := fmt.Sprintf("w=%d period=%d turned=%v, position %d", w, period, turned, p)
						sameBits(t, "real part, "+what, re[p*cols:][:cols], s.re.data()[p*n+from:][:cols])
						sameBits(t, "imaginary part, "+what, im[p*cols:][:cols], s.im.data()[p*n+from:][:cols])
					}
				}
			}
		}
	})
}

func TestGemmWavesRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"negative size":  func() { GemmWaves(2, -1, 1, 3, v(3), v(6), v(6), 2, v(4), v(4), 4, false, v(12)) },
		"no frequency":   func() { GemmWaves(2, 2, 1, 0, v(3), v(6), v(6), 2, v(4), v(4), 4, false, v(12)) },
		"waves":          func() { GemmWaves(2, 2, 1, 3, v(2), v(6), v(6), 2, v(4), v(4), 4, false, v(12)) },
		"X":              func() { GemmWaves(2, 2, 1, 3, v(3), v(5), v(6), 2, v(4), v(4), 4, false, v(12)) },
		"Y":              func() { GemmWaves(2, 2, 1, 3, v(3), v(6), v(5), 2, v(4), v(4), 4, false, v(12)) },
		"real part":      func() { GemmWaves(2, 2, 1, 3, v(3), v(6), v(6), 2, v(3), v(4), 4, false, v(12)) },
		"imaginary part": func() { GemmWaves(2, 2, 1, 3, v(3), v(6), v(6), 2, v(4), v(3), 4, false, v(12)) },
		"groups overlap": func() { GemmWaves(2, 2, 2, 3, v(3), v(12), v(12), 4, v(8), v(8), 3, false, v(24)) },
		"spare":          func() { GemmWaves(2, 2, 1, 3, v(3), v(6), v(6), 2, v(4), v(4), 4, false, v(11)) },
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

// FuzzGemmWaves takes any sizes, and values of all magnitudes.
func FuzzGemmWaves(f *testing.F) {
	f.Add(uint8(14), uint8(33), uint8(17), true, uint64(1))
	f.Add(uint8(7), uint8(64), uint8(10), false, uint64(2))
	f.Fuzz(func(t *testing.T, w, n, period uint8, turned bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newWaveCase(1+int(w)%40, 1+int(n)%80, 2, 1+int(period)%40, turned, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmWaves makes the lines of 16 planes of 28, 14 and 7 pixels, of 64 images. Frequencies are no multiple of 4 KiB
// apart, which would have them share few lines of the cache.
func BenchmarkGemmWaves(b *testing.B) {
	const n, groups, plane = 64, 16, 64*32 + 16
	for _, s := range []struct{ w, period int }{{28, 31}, {14, 17}, {7, 10}} {
		x, waves := make([]float32, 2*s.period*plane), make([]float32, s.period*((s.w+1)/2))
		for _, x := range [][]float32{x, waves} {
			for i := range x {
				x[i] = rand.Float32() - 0.5
			}
		}
		line := s.w * n
		re, im, spare := make([]float32, groups*line), make([]float32, groups*line), make([]float32, 2*s.period*groups*n)
		benchProducts(b, fmt.Sprintf("w=%d/n=%d/groups=%d/period=%d", s.w, n, groups, s.period), float64(2*s.w*s.period*n*groups), func() {
			GemmWaves(s.w, n, groups, s.period, waves, x, x[plane:], 2*plane, re, im, line, false, spare)
		})
	}
}
