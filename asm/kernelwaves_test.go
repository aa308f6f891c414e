package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// kernelPairs are the numbers of pairs that discs have.
var kernelPairs = []int{0, 2, 4, 6, 10, 12, 14, 18, 22, 24}

// kernelCase is a call of KernelWaves or KernelWavesGrad, in poisoned buffers with gaps. With y and x have
// the cosines of 0..3 and the sines of 1..3, whatever these are.
type kernelCase struct {
	n, pairs, m, mirrored int
	back, accumulate      bool
	y                     [7]float32
	x                     []float32 // [m-mirrored, 7]
	slots, re, im         *guarded
	before                []float32 // slots before the call
}

func newKernelCase(n, pairs, m, mirrored int, back, accumulate bool, value func() float32) *kernelCase {
	s := &kernelCase{n: n, pairs: pairs, m: m, mirrored: mirrored, back: back, accumulate: accumulate, x: make([]float32, 7*(m-mirrored))}
	for i := range s.y {
		s.y[i] = value()
	}
	for i := range s.x {
		s.x[i] = value()
	}
	if !back {
		s.y[0] = 1
		for f := range m - mirrored {
			s.x[7*f] = 1
		}
	}
	s.slots, s.re, s.im = newGuarded(2*pairs+1, n, n+5, 3), newGuarded(m, n, n+9, 7), newGuarded(m, n, n+9, 1)
	fill := func(x *guarded) { x.fill(func(int, int) float32 { return value() }) }
	if !back || accumulate {
		fill(s.slots)
		s.before = slices.Clone(s.slots.data())
	}
	if back {
		fill(s.re)
		fill(s.im)
	}
	return s
}

func (s *kernelCase) call() {
	ahead := s.slots.data()[min(s.n, 4):]
	if s.pairs == 0 {
		ahead = nil
	}
	if s.back {
		KernelWavesGrad(s.n, s.pairs, s.m, s.mirrored, &s.y, s.x, s.slots.data(), s.slots.ld, s.re.data(), s.im.data(), s.re.ld, s.accumulate, ahead)
		return
	}
	x := make([]float32, 0, 6*(s.m-s.mirrored))
	for f := range s.m - s.mirrored {
		x = append(x, s.x[7*f+1:7*f+7]...)
	}
	KernelWaves(s.n, s.pairs, s.m, s.mirrored, (*[6]float32)(s.y[1:]), x, s.slots.data(), s.slots.ld, s.re.data(), s.im.data(), s.re.ld, ahead)
}

// wave returns what a slot contributes to re (even slots) or im (odd ones) at a frequency.
func (s *kernelCase) wave(f, slot int) float64 {
	cos := func(table []float32, angle int) float64 { return float64(table[angle]) }
	sin := func(table []float32, angle int) float64 { return float64(table[3+angle]) }
	sign, x := 1.0, s.x
	if f >= s.m-s.mirrored {
		f, sign = s.m-f, -1
	}
	x = x[7*f:][:7]
	row, col := KernelTaps[(slot+1)/2][0], KernelTaps[(slot+1)/2][1]
	switch {
	case slot%2 == 0 && col < 0:
		return -sign * sin(s.y[:], row) * sin(x, -col)
	case slot%2 == 0:
		return cos(s.y[:], row) * cos(x, col)
	case col < 0 || row == 0:
		return sign * cos(s.y[:], row) * sin(x, max(col, -col))
	}
	return sin(s.y[:], row) * cos(x, col)
}

// check compares with float64, up to an error of so much of the sum of magnitudes.
func (s *kernelCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	count := 2*s.pairs + 1
	s.slots.intact(t, count, s.n)
	s.re.intact(t, s.m, s.n)
	s.im.intact(t, s.m, s.n)
	parts := [2]*guarded{s.re, s.im}
	compare := func(what string, got float32, want, size float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= tolerance*size) {
			t.Fatalf("n=%d pairs=%d m=%d mirrored=%d back=%v: %s is %v, want %v", s.n, s.pairs, s.m, s.mirrored, s.back, what, got, want)
		}
	}
	for j := range s.n {
		if s.back {
			for slot := range count {
				var want, size float64
				if s.accumulate {
					want = float64(s.before[slot*s.slots.ld+j])
					size = math.Abs(want)
				}
				for f := range s.m {
					x := s.wave(f, slot) * float64(parts[slot%2].at(f, j))
					want, size = want+x, size+math.Abs(x)
				}
				compare(fmt.Sprintf("slot %d of kernel %d", slot, j), s.slots.at(slot, j), want, size)
			}
			continue
		}
		for f := range s.m {
			for part, x := range parts {
				var want, size float64
				for slot := part; slot < count; slot += 2 {
					x := s.wave(f, slot) * float64(s.before[slot*s.slots.ld+j])
					want, size = want+x, size+math.Abs(x)
				}
				compare(fmt.Sprintf("part %d of frequency %d, kernel %d,", part, f, j), x.at(f, j), want, size)
			}
		}
	}
}

// TestKernelWaves takes all discs, vectors of kernels and around them, and kinds of rows of frequencies, there
// and back. Sums of integers are exact.
func TestKernelWaves(t *testing.T) {
	step := 1
	if raceEnabled {
		step = 5
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 1))
		integer := func() float32 { return float32(rng.IntN(9) - 4) }
		for _, pairs := range kernelPairs {
			for _, of := range [][2]int{{1, 0}, {2, 0}, {3, 1}, {4, 1}, {9, 0}, {10, 4}, {17, 8}} {
				for n := 1; n <= 35; n += step {
					newKernelCase(n, pairs, of[0], of[1], false, false, integer).check(t, 0)
					newKernelCase(n, pairs, of[0], of[1], true, (n+of[0])%2 == 0, integer).check(t, 0)
				}
			}
		}
		KernelWaves(0, 2, 5, 2, new([6]float32), nil, nil, 0, nil, nil, 0, nil)
		KernelWavesGrad(4, 2, 0, 0, new([7]float32), nil, nil, 4, nil, nil, 4, true, nil)
	})
}

// TestKernelWavesNeighbours cuts kernels in two, wherever that is: a kernel has the same bits beside any others.
func TestKernelWavesNeighbours(t *testing.T) {
	const n, m, mirrored = 27, 10, 4
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 3))
		normal := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			return x
		}
		for _, pairs := range kernelPairs {
			count := 2*pairs + 1
			y, x := [7]float32(normal(7)), normal(7*(m-mirrored))
			slots, re, im := normal(count*n), normal(m*n), normal(m*n)
			cut := func(back, accumulate bool, at int) (s, r, i []float32) {
				s, r, i = slices.Clone(slots), slices.Clone(re), slices.Clone(im)
				for _, of := range [][2]int{{0, at}, {at, n - at}} {
					switch from, n1 := of[0], of[1]; {
					case n1 == 0:
					case back:
						KernelWavesGrad(n1, pairs, m, mirrored, &y, x, s[from:], n, r[from:], i[from:], n, accumulate, nil)
					default:
						KernelWaves(n1, pairs, m, mirrored, (*[6]float32)(y[1:]), x, s[from:], n, r[from:], i[from:], n, nil)
					}
				}
				return s, r, i
			}
			for _, way := range [][2]bool{{false, false}, {true, false}, {true, true}} {
				s, r, i := cut(way[0], way[1], 0)
				for at := 1; at < n; at++ {
					gotS, gotR, gotI := cut(way[0], way[1], at)
					if !slices.Equal(gotS, s) || !slices.Equal(gotR, r) || !slices.Equal(gotI, i) {
						t.Fatalf("pairs=%d back=%v accumulate=%v: other bits when cut at %d", pairs, way[0], way[1], at)
					}
				}
			}
		}
	})
}

// TestKernelWavesTransform compares with the Fourier transform of kernels, whose taps are folded as
// KernelWaves says.
func TestKernelWavesTransform(t *testing.T) {
	const radius, side, periodH, periodW = 3, 7, 20, 17
	rng := rand.New(rand.NewPCG(7, 2))
	var kernel [side][side]float64
	tap := func(row, col int) float64 { return kernel[row+radius][col+radius] }
	for row := range kernel {
		for col := range kernel[row] {
			kernel[row][col] = float64(float32(rng.NormFloat64()))
		}
	}
	sign := func(x int, sine bool) float64 {
		if sine && x < 0 {
			return -1
		}
		return 1
	}
	slots := make([]float32, 2*len(KernelTaps)-1)
	for slot := range slots {
		row, col := KernelTaps[(slot+1)/2][0], KernelTaps[(slot+1)/2][1]
		even := slot%2 == 0
		sineRow := even && col < 0 || !even && col >= 0 && row > 0
		sineCol := even && col < 0 || !even && (col < 0 || row == 0)
		images := map[[2]int]bool{{row, col}: true, {-row, -col}: true, {row, -col}: true, {-row, col}: true}
		for at := range images {
			slots[slot] += float32(tap(at[0], at[1]) * sign(at[0], sineRow) * sign(at[1], sineCol))
		}
	}
	for fy := range periodH/2 + 1 {
		waves := func(f, period int) (w [6]float32) {
			for i := range 3 {
				s, c := math.Sincos(2 * math.Pi * float64(f*(i+1)) / float64(period))
				w[i], w[3+i] = float32(c), float32(s)
			}
			return w
		}
		y := waves(fy, periodH)
		var x []float32
		for fx := range periodW/2 + 1 {
			w := waves(fx, periodW)
			x = append(x, w[:]...)
		}
		re, im := make([]float32, periodW), make([]float32, periodW)
		KernelWaves(1, len(KernelTaps)-1, periodW, periodW/2, &y, x, slots, 1, re, im, 1, nil)
		for fx := range periodW {
			var wantRe, wantIm float64
			for row := -radius; row <= radius; row++ {
				for col := -radius; col <= radius; col++ {
					s, c := math.Sincos(2 * math.Pi * (float64(fy*row)/periodH + float64(fx*col)/periodW))
					wantRe += c * tap(row, col)
					wantIm += s * tap(row, col)
				}
			}
			if d := math.Hypot(float64(re[fx])-wantRe, float64(im[fx])-wantIm); !(d <= 2e-5) {
				t.Fatalf("frequency %d, %d is %v + %v i, want %v + %v i", fy, fx, re[fx], im[fx], wantRe, wantIm)
			}
		}
	}
}

// TestKernelWavesRefuses wants an error where a matrix is too short or would overlap itself, and for pairs that
// make no disc.
func TestKernelWavesRefuses(t *testing.T) {
	const n, pairs, m, mirrored = 4, 2, 5, 2
	x, slots, re, im := make([]float32, 21), make([]float32, 20), make([]float32, 20), make([]float32, 20)
	there := func(n, pairs, m, mirrored int, x, slots []float32, lds int, re, im []float32, ld int) func() {
		return func() { KernelWaves(n, pairs, m, mirrored, new([6]float32), x, slots, lds, re, im, ld, nil) }
	}
	back := func(n, pairs, m, mirrored int, x, slots []float32, lds int, re, im []float32, ld int) func() {
		return func() {
			KernelWavesGrad(n, pairs, m, mirrored, new([7]float32), x, slots, lds, re, im, ld, false, nil)
		}
	}
	there(n, pairs, m, mirrored, x[:18], slots, n, re, im, n)()
	back(n, pairs, m, mirrored, x, slots, n, re, im, n)()
	for name, f := range map[string]func(){
		"negative":         there(-1, pairs, m, mirrored, x, slots, n, re, im, n),
		"part of a circle": there(n, 1, m, mirrored, x, slots, n, re, im, n),
		"beyond all taps":  there(n, 25, m, mirrored, x, slots, n, re, im, n),
		"too few":          there(n, pairs, m, 3, x, slots, n, re, im, n),
		"short x":          there(n, pairs, m, mirrored, x[:17], slots, n, re, im, n),
		"short slots":      there(n, pairs, m, mirrored, x, slots[:19], n, re, im, n),
		"short re":         there(n, pairs, m, mirrored, x, slots, n, re[:19], im, n),
		"short im":         there(n, pairs, m, mirrored, x, slots, n, re, im[:19], n),
		"overlap":          there(n, pairs, m, mirrored, x, slots, n, re, im, n-1),
		"back, short x":    back(n, pairs, m, mirrored, x[:20], slots, n, re, im, n),
		"back, overlap":    back(n, pairs, m, mirrored, x, slots, n-1, re, im, n),
		"back, short re":   back(n, pairs, m, mirrored, x, slots, n, re[:19], im, n),
		"back, short im":   back(n, pairs, m, mirrored, x, slots, n, re, im[:19], n),
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

// FuzzKernelWaves takes any sizes, and values of all magnitudes, there and back.
func FuzzKernelWaves(f *testing.F) {
	f.Add(uint8(6), uint8(17), uint8(33), false, false, uint64(1))
	f.Add(uint8(9), uint8(10), uint8(16), true, true, uint64(2))
	f.Fuzz(func(t *testing.T, disc, m, n uint8, back, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		m = 1 + m%40
		mirrored := rng.IntN((int(m) + 1) / 2)
		eachLevel(t, func(t *testing.T) {
			newKernelCase(1+int(n), kernelPairs[int(disc)%len(kernelPairs)], int(m), mirrored, back, accumulate, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(30)-15))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkKernelWaves makes a row of the spectra of 64 x 128 kernels, of discs and of whole kernels.
func BenchmarkKernelWaves(b *testing.B) {
	const rows, n, m = 64, 128, 17
	const ld = n + 16
	const size = rows*ld + 16
	k, x := make([]float32, 2*m*size), make([]float32, 9*7)
	for _, pairs := range []int{14, 24} {
		count := 2*pairs + 1
		slots := make([]float32, (rows+1)*count*n)
		for _, back := range []bool{false, true} {
			// Operations are those of a product with the waves of both axes.
			benchProducts(b, fmt.Sprintf("back=%v/pairs=%d", back, pairs), float64(2*rows*n*m*count), func() {
				for row := range rows {
					k, s, ahead := k[row*ld:], slots[row*count*n:], slots[(row+1)*count*n:]
					if back {
						KernelWavesGrad(n, pairs, m, m/2, new([7]float32), x, s, n, k, k[size:], 2*size, true, ahead)
					} else {
						KernelWaves(n, pairs, m, m/2, new([6]float32), x, s, n, k, k[size:], 2*size, ahead)
					}
				}
			})
		}
	}
}
