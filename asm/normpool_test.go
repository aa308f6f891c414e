package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var noFloor = float32(math.Inf(-1))

// poolCase is one row of windows.
type poolCase struct {
	w, b                                         int
	m                                            NormMap
	p, q, r                                      float32
	top, bottom, dy, dst, dtop, dbottom          []float32
	wantDst, wantTop, wantBottom                 []float32
	sum, dot, sumSize, dotSize                   float64
	t, z, g                                      [4][]float32
	max, guardedDst, guardedDtop, guardedDbottom []float32
}

const poolGuard = 12345

// guardedSlice returns n values between guards, from a misaligned start on.
func guardedSlice(n int) (inside, all []float32) {
	const margin = 17
	all = make([]float32, n+2*margin)
	for i := range all {
		all[i] = poolGuard
	}
	return all[margin : margin+n : margin+n], all
}

// newPoolCase draws values of which many are equal, and some NaN if wild.
func newPoolCase(rng *rand.Rand, w, b int, m NormMap, wild bool) *poolCase {
	c := &poolCase{w: w, b: b, m: m, p: 0.7, q: -0.3, r: 0.11}
	extra := rng.IntN(2) * b // an odd last pixel
	draw := func(n int) []float32 {
		x, _ := guardedSlice(n)
		for i := range x {
			x[i] = float32(rng.NormFloat64()) + 1.5
			if rng.IntN(2) == 0 {
				x[i] = float32(rng.IntN(4))
			}
			if wild && rng.IntN(20) == 0 {
				x[i] = specials[rng.IntN(len(specials))]
			}
		}
		return x
	}
	c.top, c.bottom = draw(2*w*b+extra), draw(2*w*b+extra)
	c.dy, _ = guardedSlice(w * b)
	for i := range c.dy {
		c.dy[i] = float32(rng.NormFloat64())
	}
	c.dst, c.guardedDst = guardedSlice(w * b)
	c.dtop, c.guardedDtop = guardedSlice(2*w*b + extra)
	c.dbottom, c.guardedDbottom = guardedSlice(2*w*b + extra)
	return c
}

// compose computes the results by Affine, Max4, Relu and their gradients.
func (c *poolCase) compose() {
	n := c.w * c.b
	for k := range 4 {
		row := c.top
		if k > 1 {
			row = c.bottom
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = row[(2*(i/c.b)+k%2)*c.b+i%c.b]
		}
		c.t[k], c.z[k], c.g[k] = make([]float32, n), make([]float32, n), make([]float32, n)
		Affine(c.t[k], x, 1, -c.m.Mean)
		Affine(c.z[k], c.t[k], c.m.Scale, c.m.Shift)
	}
	z, g := c.z, c.g
	c.max = make([]float32, n)
	Max4(c.max, z[0], z[1], z[2], z[3])
	c.wantDst = append([]float32(nil), c.max...)
	d := append([]float32(nil), c.dy...)
	if c.m.Floor == 0 {
		Relu(c.wantDst, c.max)
		ReluGrad(d, c.dy, c.max)
	}
	Max4Grad(g[0], g[1], g[2], g[3], d, c.max, z[0], z[1], z[2], z[3])
	c.wantTop, _ = guardedSlice(len(c.top))
	c.wantBottom, _ = guardedSlice(len(c.top))
	c.sum, c.dot, c.sumSize, c.dotSize = 0, 0, 0, 0
	for k := range 4 {
		dx := make([]float32, n)
		Combine(dx, g[k], c.t[k], c.p, c.q, c.r)
		to := c.wantTop
		if k > 1 {
			to = c.wantBottom
		}
		for i, v := range dx {
			to[(2*(i/c.b)+k%2)*c.b+i%c.b] = v
			d, t := float64(g[k][i]), float64(c.t[k][i])
			if d == 0 {
				continue
			}
			c.sum += d
			c.sumSize += math.Abs(d)
			c.dot += d * t
			c.dotSize += math.Abs(d * t)
		}
	}
}

// check compares NormPool and its gradient with the composition, bit by bit.
func (c *poolCase) check(t *testing.T, wild bool) {
	t.Helper()
	c.compose()
	what := fmt.Sprintf("w=%d b=%d %+v: ", c.w, c.b, c.m)
	top, bottom := append([]float32(nil), c.top...), append([]float32(nil), c.bottom...)
	NormPool(c.dst, c.top, c.bottom, c.b, &c.m)
	diff(t, what+"y", c.dst, c.wantDst)
	NormPoolGrad(c.dtop, c.dbottom, c.dy, c.top, c.bottom, c.b, &c.m, c.p, c.q, c.r)
	diff(t, what+"gradient of the upper row", c.dtop, c.wantTop)
	diff(t, what+"gradient of the lower row", c.dbottom, c.wantBottom)
	sum, dot := NormPoolSums(c.dy, c.top, c.bottom, c.b, &c.m)
	const bound = 600 * eps
	if !(math.Abs(sum-c.sum) <= bound*c.sumSize) || !wild && !(math.Abs(dot-c.dot) <= bound*c.dotSize) {
		t.Fatalf("%ssums %v and %v, want %v and %v", what, sum, dot, c.sum, c.dot)
	}
	diff(t, what+"upper row", c.top, top)
	diff(t, what+"lower row", c.bottom, bottom)
	for _, x := range [][]float32{c.guardedDst, c.guardedDtop, c.guardedDbottom} {
		for i, v := range x {
			if (i < 17 || i >= len(x)-17) && v != poolGuard {
				t.Fatalf("%swritten outside, at %d of %d", what, i-17, len(x)-34)
			}
		}
	}
	NormPoolGrad(c.top, c.bottom, c.dy, c.top, c.bottom, c.b, &c.m, c.p, c.q, c.r) // in place
	diff(t, what+"gradient in place, upper row", c.top[:2*c.w*c.b], c.wantTop[:2*c.w*c.b])
	diff(t, what+"gradient in place, lower row", c.bottom[:2*c.w*c.b], c.wantBottom[:2*c.w*c.b])
}

var poolMaps = []NormMap{
	{1.5, 2, -0.25, 0}, {1.5, -2, 0.25, 0}, {-100, 0.5, -50, 0}, {0.5, 1, 1, noFloor}, {0, 0, 0, 0}, {2, -3, 0, noFloor},
}

// TestNormPool compares with the composition of other kernels at every number of
// values around the widths of the vectors and pieces, for 0 to 3 windows.
func TestNormPool(t *testing.T) {
	var sizes []int
	for b := 1; b <= 70; b++ {
		sizes = append(sizes, b)
	}
	sizes = append(sizes, 255, 256, 257, 600, 1027, 2051)
	if raceEnabled {
		sizes = []int{1, 7, 16, 17, 64} // reporting every access takes its time
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, b := range sizes {
			for w := range 4 {
				for _, wild := range []bool{false, true} {
					newPoolCase(rng, w, b, poolMaps[rng.IntN(len(poolMaps))], wild).check(t, wild)
				}
			}
		}
		newPoolCase(rng, 300, 64, poolMaps[0], false).check(t, false) // more than one call of the kernel
	})
}

// TestNormPoolLevels holds AVX2 and AVX-512, whose bits are the same, to the
// portable code within its roundings.
func TestNormPoolLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, m := range poolMaps {
		c := newPoolCase(rng, 5, 37, m, false)
		var portable []float32
		eachLevel(t, func(t *testing.T) {
			NormPool(c.dst, c.top, c.bottom, c.b, &c.m)
			if Active() == Generic {
				portable = append([]float32(nil), c.dst...)
				return
			}
			for i, y := range c.dst {
				size := math.Abs(float64(m.Scale))*(math.Abs(float64(m.Mean))+8) + math.Abs(float64(m.Shift))
				if !(math.Abs(float64(y)-float64(portable[i])) <= 4*eps*size) {
					t.Fatalf("%+v: %v, portable %v", m, y, portable[i])
				}
			}
		})
	}
}

func TestNormPoolRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	m := new(NormMap)
	for name, f := range map[string]func(){
		"dst":     func() { NormPool(v(5), v(20), v(20), 2, m) },
		"top":     func() { NormPool(v(4), v(7), v(8), 2, m) },
		"bottom":  func() { NormPoolSums(v(4), v(8), v(7), 2, m) },
		"b":       func() { NormPool(v(4), v(8), v(8), 0, m) },
		"dtop":    func() { NormPoolGrad(v(7), v(8), v(4), v(8), v(8), 2, m, 1, 1, 1) },
		"dbottom": func() { NormPoolGrad(v(8), v(7), v(4), v(8), v(8), 2, m, 1, 1, 1) },
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

func TestNormPoolAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachLevel(t, func(t *testing.T) {
		c := newPoolCase(rand.New(rand.NewPCG(2, 2)), 3, 21, poolMaps[0], false)
		if n := testing.AllocsPerRun(10, func() {
			NormPool(c.dst, c.top, c.bottom, c.b, &c.m)
			NormPoolSums(c.dy, c.top, c.bottom, c.b, &c.m)
			NormPoolGrad(c.dtop, c.dbottom, c.dy, c.top, c.bottom, c.b, &c.m, c.p, c.q, c.r)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// FuzzNormPool compares with the composition at any size and map.
func FuzzNormPool(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(17), float32(1), float32(2), float32(-1), true)
	f.Fuzz(func(t *testing.T, seed uint64, w, b uint8, mean, scale, shift float32, relu bool) {
		m := NormMap{mean, scale, shift, noFloor}
		if relu {
			m.Floor = 0
		}
		eachLevel(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			newPoolCase(rng, int(w%9), 1+int(b), m, true).checkFinite(t)
		})
	})
}

// checkFinite is check where the sums need not be finite.
func (c *poolCase) checkFinite(t *testing.T) {
	t.Helper()
	c.compose()
	NormPool(c.dst, c.top, c.bottom, c.b, &c.m)
	diff(t, "y", c.dst, c.wantDst)
	NormPoolGrad(c.dtop, c.dbottom, c.dy, c.top, c.bottom, c.b, &c.m, c.p, c.q, c.r)
	diff(t, "gradient of the upper row", c.dtop, c.wantTop)
	diff(t, "gradient of the lower row", c.dbottom, c.wantBottom)
	if sum, _ := NormPoolSums(c.dy, c.top, c.bottom, c.b, &c.m); !(math.Abs(sum-c.sum) <= 600*eps*c.sumSize) {
		t.Fatalf("sum %v, want %v", sum, c.sum)
	}
}

func BenchmarkNormPool(b *testing.B) {
	const w, batch = 14, 64 // a row of a map of 28x28 pixels
	c := newPoolCase(rand.New(rand.NewPCG(1, 1)), w, batch, poolMaps[0], false)
	for name, f := range map[string]func(){
		"forward": func() { NormPool(c.dst, c.top, c.bottom, c.b, &c.m) },
		"sums":    func() { NormPoolSums(c.dy, c.top, c.bottom, c.b, &c.m) },
		"grad":    func() { NormPoolGrad(c.dtop, c.dbottom, c.dy, c.top, c.bottom, c.b, &c.m, c.p, c.q, c.r) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(4 * 4 * w * batch))
			for b.Loop() {
				f()
			}
		})
	}
}
