package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// TestStandardization: plane by plane there are the bits of Standardize and StandardizeGrad, whether planes have been
// measured before or not.
func TestStandardization(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, z := range []struct{ c, n, s, b int }{{3, 2, 9, 2}, {4, 3, 1100, 19}, {5, 1, 70, 64}} {
			for _, weighted := range []int{0, 1, z.b} {
				for threads := 1; threads <= 3; threads++ {
					name := fmt.Sprintf("%v, weights in %d lists, %d threads", z, weighted, threads)
					want := planewise(newCPU(t, threads), z.c, z.n, z.s, z.b, weighted, "")
					for _, way := range []string{"planes", "measured planes"} {
						got := planewise(newCPU(t, threads), z.c, z.n, z.s, z.b, weighted, way)
						for k := range want {
							if i := firstOther(got[k], want[k]); i >= 0 {
								t.Errorf("%s, %s: array %d, value %d: %v, at once %v", name, way, k, i, got[k][i], want[k][i])
							}
						}
					}
				}
			}
		}
	})
}

// firstOther returns the first value with other bits, or -1.
func firstOther(got, want []float32) int {
	for i, v := range want {
		if math.Float32bits(v) != math.Float32bits(got[i]) {
			return i
		}
	}
	return -1
}

// planewise returns y, dx, statistics and the gradient of weights, computed in a way: "" is at once.
func planewise(dev *tensor.CPU, c, n, s, b, lists int, way string) [][]float32 {
	size := c * n * s * b
	v := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	x := gradcheck.Normal(size, 1)
	for i := 64 * b; i < s*b; i++ { // the first plane's pivot is off
		x[i] += 1000
	}
	a := &tensor.StandardizeArgs{C: c, N: n, S: n * s, B: b, Eps: 1e-5, ReLU: true, X: tensor.HostBuffer(x), Y: v(size),
		DX: v(size), DY: tensor.HostBuffer(gradcheck.Normal(size, 2)), Mean: v(c * b), InvStd: v(c * b)}
	if lists > 0 {
		weights := gradcheck.Normal(n*lists, 3)
		for i, w := range weights {
			weights[i] = 0.5 + w*w
		}
		a.Measure = tensor.Measure{Elements: n, Lists: lists, Weights: tensor.HostBuffer(weights), Moments: v(2 * c * n * b), Grad: v(n * lists)}
	}
	if way == "" {
		dev.Standardize(a)
		dev.StandardizeGrad(a)
	} else {
		inPlanes(dev.NewStandardization(c*n, s, b), a, way)
	}
	return [][]float32{a.Y.Host(), a.DX.Host(), a.Mean.Host(), a.InvStd.Host(), a.Measure.Grad.Host()}
}

// inPlanes computes y and dx in a way.
func inPlanes(p *tensor.Standardization, a *tensor.StandardizeArgs, way string) {
	planes, size := a.C*a.N, a.S/a.N*a.B
	x := slices.Clone(a.X.Host())
	p.Begin(a)
	if way == "planes" { // what is forgotten is not used
		p.Forget()
	} else {
		clear(a.X.Host())
		for i := planes - 1; i >= 0; i-- {
			copy(a.X.Host()[i*size:], x[i*size:][:size])
			p.Measure(i)
		}
	}
	p.Statistics(a)
	for i := range planes {
		p.Value(a.Y.Host()[i*size:][:size], i)
	}
	p.Slopes(a)
	for i := range planes {
		p.Gradient(a.DX.Host()[i*size:][:size], i)
	}
}

// TestStandardizationAgain: a map that is written anew without being measured is looked at.
func TestStandardizationAgain(t *testing.T) {
	dev := newCPU(t, 1)
	v := func(x ...float32) tensor.Buffer { return tensor.HostBuffer(x) }
	a := &tensor.StandardizeArgs{C: 1, N: 1, S: 2, B: 2, X: v(1, 2, 3, 4), Y: v(0, 0, 0, 0), Mean: v(0, 0), InvStd: v(0, 0)}
	p := dev.NewStandardization(1, 2, 2)
	p.Begin(a)
	p.Measure(0)
	for range 2 {
		p.Statistics(a)
		if x, mean := a.X.Host(), a.Mean.Host(); mean[0] != (x[0]+x[2])/2 || mean[1] != (x[1]+x[3])/2 {
			t.Errorf("the means of %v are %v", x, mean)
		}
		copy(a.X.Host(), []float32{5, 7, 9, 11})
	}
}
