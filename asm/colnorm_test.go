package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// colNormCase is a matrix [rows, cols], what happens to its columns, and the results of
// the composition of other kernels.
type colNormCase struct {
	rows, cols          int
	m                   ColNormMap
	p, q, r, pivot      []float32 // [cols]
	x, dy               []float32 // [rows, cols]
	y, dx               []float32
	sum, dot            []float64 // [cols]
	sumSize, dotSize    []float64 // the sums of their terms' sizes
	moment, square      []float64
	momentSize, squares []float64
}

// newColNormCase draws values, some of them special if wild.
func newColNormCase(rng *rand.Rand, rows, cols int, floor float32, wild bool) *colNormCase {
	c := &colNormCase{rows: rows, cols: cols}
	draw := func(n int) []float32 {
		x, _ := guardedSlice(n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	c.m = ColNormMap{draw(cols), draw(cols), draw(cols), floor}
	c.p, c.q, c.r, c.pivot = draw(cols), draw(cols), draw(cols), draw(cols)
	c.x, c.dy = draw(rows*cols), draw(rows*cols)
	for i := range c.x {
		if rng.IntN(8) == 0 {
			c.x[i] = c.m.Mean[i%cols]
		}
		if wild && rng.IntN(20) == 0 {
			c.x[i] = specials[rng.IntN(len(specials))]
		}
	}
	c.compose()
	return c
}

// tile repeats v for every row.
func (c *colNormCase) tile(v []float32) []float32 { return slices.Repeat(v, c.rows) }

// compose computes the results by other kernels, and the sums in float64.
func (c *colNormCase) compose() {
	n := len(c.x)
	one, minus := make([]float32, c.cols), make([]float32, c.cols)
	Fill(one, 1)
	Affine(minus, c.m.Mean, -1, 0)
	t, z := make([]float32, n), make([]float32, n)
	ColAffine(t, c.x, one, minus)
	ColAffine(z, t, c.m.Scale, c.m.Shift)
	c.y = slices.Clone(z)
	d := slices.Clone(c.dy)
	if c.m.Floor == 0 {
		Relu(c.y, z)
		ReluGrad(d, c.dy, z)
	}
	c.dx = make([]float32, n)
	ColAffine(c.dx, t, c.q, c.r)
	MulAdd(c.dx, c.tile(c.p), d)
	for _, s := range []*[]float64{&c.sum, &c.dot, &c.sumSize, &c.dotSize, &c.moment, &c.square, &c.momentSize, &c.squares} {
		*s = make([]float64, c.cols)
	}
	for i := range c.x {
		j := i % c.cols
		g, t := float64(d[i]), float64(t[i])
		c.sum[j] += g
		c.sumSize[j] += math.Abs(g)
		c.dot[j] += g * t
		c.dotSize[j] += math.Abs(g * t)
		t = float64(c.x[i] - c.pivot[j])
		c.moment[j] += t
		c.momentSize[j] += math.Abs(t)
		c.square[j] += t * t
		c.squares[j] += t * t
	}
}

// near compares sums of up to 256 values in float32 that were added to some.
func near(t *testing.T, what string, got, want, size []float64, some float64) {
	t.Helper()
	const bound = 300 * eps
	for j := range want {
		if math.IsNaN(want[j]) && math.IsNaN(got[j]) || math.IsInf(size[j], 0) || size[j] > math.MaxFloat32 {
			continue
		}
		if !(math.Abs(got[j]-some-want[j]) <= bound*size[j]+some*1e-15) {
			t.Fatalf("%s: column %d: %v, want %v", what, j, got[j]-some, want[j])
		}
	}
}

// check compares the functions with the composition: maps bit by bit, sums within their
// roundings, all within guards and with what they read unchanged.
func (c *colNormCase) check(t *testing.T) {
	t.Helper()
	what := fmt.Sprintf("%dx%d floor=%v: ", c.rows, c.cols, c.m.Floor)
	x, dy := slices.Clone(c.x), slices.Clone(c.dy)
	dst, all := guardedSlice(len(c.x))
	ColNorm(dst, c.x, &c.m)
	diff(t, what+"y", dst, c.y)
	ColNormGrad(dst, c.dy, c.x, &c.m, c.p, c.q, c.r)
	diff(t, what+"dx", dst, c.dx)
	const before = 3.5
	sum, dot := make([]float64, c.cols), make([]float64, c.cols)
	for j := range sum {
		sum[j], dot[j] = before, before
	}
	ColNormSums(sum, dot, c.dy, c.x, &c.m)
	near(t, what+"sum of dy", sum, c.sum, c.sumSize, before)
	near(t, what+"sum of dy*(x-mean)", dot, c.dot, c.dotSize, before)
	clear(sum)
	clear(dot)
	ColMoments(sum, dot, c.x, c.pivot)
	near(t, what+"sum of x-pivot", sum, c.moment, c.momentSize, 0)
	near(t, what+"sum of squares", dot, c.square, c.squares, 0)
	diff(t, what+"x", c.x, x)
	diff(t, what+"dy", c.dy, dy)
	for i, v := range all {
		if (i < 17 || i >= len(all)-17) && v != poolGuard {
			t.Fatalf("%swritten outside, at %d of %d", what, i-17, len(dst))
		}
	}
	ColNormGrad(dy, dy, c.x, &c.m, c.p, c.q, c.r)
	diff(t, what+"dx in dy", dy, c.dx)
	ColNormGrad(x, c.dy, x, &c.m, c.p, c.q, c.r)
	diff(t, what+"dx in x", x, c.dx)
	copy(x, c.x)
	ColNorm(x, x, &c.m)
	diff(t, what+"y in x", x, c.y)
}

// TestColNorm compares with the composition of other kernels at every number of columns
// around the widths of the vectors and strips, and at numbers of rows around a block.
func TestColNorm(t *testing.T) {
	sizes := [][2]int{{255, 3}, {256, 17}, {257, 64}, {600, 65}, {3, 200}, {2, 2047}, {3, 2049}, {1, 4100}}
	for cols := 1; cols <= 70; cols++ {
		for _, rows := range []int{0, 1, 2, 5} {
			sizes = append(sizes, [2]int{rows, cols})
		}
	}
	if raceEnabled {
		sizes = [][2]int{{1, 1}, {3, 7}, {2, 16}, {2, 64}, {257, 66}} // reporting every access takes its time
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, s := range sizes {
			for _, floor := range []float32{0, noFloor} {
				for _, wild := range []bool{false, true} {
					newColNormCase(rng, s[0], s[1], floor, wild).check(t)
				}
			}
		}
	})
}

// constant returns the map with the values of column j for rows of so many columns.
func (c *colNormCase) constant() NormMap {
	m := NormMap{c.m.Mean[0], c.m.Scale[0], c.m.Shift[0], c.m.Floor}
	for _, v := range [][]float32{c.m.Mean, c.m.Scale, c.m.Shift, c.p, c.q, c.r, c.pivot} {
		for j := range v {
			v[j] = v[0]
		}
	}
	c.compose()
	return m
}

// TestNorm compares the functions of vectors with those of columns that all have the same
// map.
func TestNorm(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range edges(t) {
			if n == 0 {
				continue
			}
			for _, floor := range []float32{0, noFloor} {
				c := newColNormCase(rng, n, 1, floor, false)
				m := c.constant()
				what := fmt.Sprintf("n=%d floor=%v: ", n, floor)
				dst, all := guardedSlice(n)
				Norm(dst, c.x, &m)
				diff(t, what+"y", dst, c.y)
				NormGrad(dst, c.dy, c.x, &m, c.p[0], c.q[0], c.r[0])
				diff(t, what+"dx", dst, c.dx)
				sum, dot := NormSums(c.dy, c.x, &m)
				near(t, what+"sum of dy", []float64{sum}, c.sum, c.sumSize, 0)
				near(t, what+"sum of dy*(x-mean)", []float64{dot}, c.dot, c.dotSize, 0)
				sum, dot = Moments(c.x, c.pivot[0])
				near(t, what+"sum of x-pivot", []float64{sum}, c.moment, c.momentSize, 0)
				near(t, what+"sum of squares", []float64{dot}, c.square, c.squares, 0)
				for i, v := range all {
					if (i < 17 || i >= len(all)-17) && v != poolGuard {
						t.Fatalf("%swritten outside, at %d of %d", what, i-17, n)
					}
				}
			}
		}
	})
}

// TestColNormWithoutFloor holds that without a floor every gradient passes, also that of a
// result that is NaN or -Inf.
func TestColNormWithoutFloor(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	eachLevel(t, func(t *testing.T) {
		for _, cols := range []int{1, 9, 17, 64} {
			x, dy := make([]float32, 2*cols), make([]float32, 2*cols)
			one, zero := make([]float32, cols), make([]float32, cols)
			Fill(one, 1)
			Fill(x[:cols], nan)
			Fill(x[cols:], inf)
			Fill(dy, 1)
			for _, c := range []struct {
				floor float32
				want  float64
			}{{noFloor, 2}, {0, 0}} {
				sum, dot := make([]float64, cols), make([]float64, cols)
				ColNormSums(sum, dot, dy, x, &ColNormMap{zero, one, zero, c.floor})
				for j, s := range sum {
					if s != c.want {
						t.Fatalf("floor %v: the sum of column %d of %d is %v, want %v", c.floor, j, cols, s, c.want)
					}
				}
			}
		}
	})
}

func TestColNormRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	s := func(n int) []float64 { return make([]float64, n) }
	m := &ColNormMap{v(3), v(3), v(3), 0}
	short := &ColNormMap{v(3), v(2), v(3), 0}
	n := new(NormMap)
	for name, f := range map[string]func(){
		"rows":    func() { ColNorm(v(7), v(7), m) },
		"dst":     func() { ColNorm(v(5), v(6), m) },
		"Scale":   func() { ColNorm(v(6), v(6), short) },
		"sum":     func() { ColNormSums(s(2), s(3), v(6), v(6), m) },
		"dot":     func() { ColNormSums(s(3), s(2), v(6), v(6), m) },
		"dy":      func() { ColNormSums(s(3), s(3), v(5), v(6), m) },
		"Shift":   func() { ColNorm(v(6), v(6), &ColNormMap{v(3), v(3), v(2), 0}) },
		"x":       func() { ColNormSums(s(3), s(3), v(7), v(7), m) },
		"slope":   func() { ColNormGrad(v(6), v(5), v(6), m, v(3), v(3), v(3)) },
		"of rows": func() { ColNormGrad(v(7), v(7), v(7), m, v(3), v(3), v(3)) },
		"result":  func() { NormGrad(v(5), v(6), v(6), n, 1, 1, 1) },
		"p":       func() { ColNormGrad(v(6), v(6), v(6), m, v(2), v(3), v(3)) },
		"q":       func() { ColNormGrad(v(6), v(6), v(6), m, v(3), v(2), v(3)) },
		"r":       func() { ColNormGrad(v(6), v(6), v(6), m, v(3), v(3), v(2)) },
		"dx":      func() { ColNormGrad(v(5), v(6), v(6), m, v(3), v(3), v(3)) },
		"moments": func() { ColMoments(s(2), s(3), v(6), v(3)) },
		"squares": func() { ColMoments(s(3), s(2), v(6), v(3)) },
		"vector":  func() { Norm(v(5), v(6), n) },
		"vectors": func() { NormSums(v(5), v(6), n) },
		"slopes":  func() { NormGrad(v(6), v(5), v(6), n, 1, 1, 1) },
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

func TestColNormAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachLevel(t, func(t *testing.T) {
		c := newColNormCase(rand.New(rand.NewPCG(2, 2)), 5, 70, 0, false)
		m := NormMap{1, 2, 3, 0}
		if n := testing.AllocsPerRun(10, func() {
			ColNorm(c.y, c.x, &c.m)
			ColNormSums(c.sum, c.dot, c.dy, c.x, &c.m)
			ColNormGrad(c.dx, c.dy, c.x, &c.m, c.p, c.q, c.r)
			ColMoments(c.sum, c.dot, c.x, c.pivot)
			Norm(c.y, c.x, &m)
			NormSums(c.dy, c.x, &m)
			NormGrad(c.dx, c.dy, c.x, &m, 1, 2, 3)
			Moments(c.x, 1)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// FuzzColNorm compares with the composition at any size.
func FuzzColNorm(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(17), true)
	f.Add(uint64(2), uint16(300), uint16(64), false)
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols uint16, relu bool) {
		floor := noFloor
		if relu {
			floor = 0
		}
		eachLevel(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			newColNormCase(rng, int(rows%300), 1+int(cols%300), floor, true).check(t)
		})
	})
}

func BenchmarkColNorm(b *testing.B) {
	const rows, cols = 256, 64 // a part of a map with a batch of 64
	c := newColNormCase(rand.New(rand.NewPCG(1, 1)), rows, cols, 0, false)
	for name, f := range map[string]func(){
		"forward": func() { ColNorm(c.y, c.x, &c.m) },
		"sums":    func() { ColNormSums(c.sum, c.dot, c.dy, c.x, &c.m) },
		"grad":    func() { ColNormGrad(c.dx, c.dy, c.x, &c.m, c.p, c.q, c.r) },
		"moments": func() { ColMoments(c.sum, c.dot, c.x, c.pivot) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * rows * cols)
			for b.Loop() {
				f()
			}
		})
	}
}
