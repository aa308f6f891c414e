package devicetest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// checkGradient compares grad with central differences of f at x.
func checkGradient(t *testing.T, what string, f func(x []float64) float64, x, grad []float64) {
	t.Helper()
	const h = 1e-5
	for i := range x {
		at := append([]float64(nil), x...)
		at[i] = x[i] + h
		up := f(at)
		at[i] = x[i] - h
		want := (up - f(at)) / (2 * h)
		if math.Abs(grad[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%s: gradient %d is %v, central difference %v", what, i, grad[i], want)
		}
	}
}

func vector(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2 + r.NormFloat64()
	}
	return x
}

func TestNormalizeGrad(t *testing.T) {
	r := random("normalizeGrad")
	const eps = 1e-3
	for _, n := range []int{2, 3, 17} {
		x, dy, w := vector(r, n), vector(r, n), vector(r, n)
		for i := range w {
			w[i] = math.Abs(w[i])
		}
		f := func(x, w []float64) float64 {
			var s float64
			for i, y := range normalize(x, w, eps).y {
				s += dy[i] * y
			}
			return s
		}
		at := normalize(x, nil, eps)
		dx, _ := normalizeGrad(x, nil, dy, at.mean, at.invStd, eps)
		checkGradient(t, "normalize", func(x []float64) float64 { return f(x, nil) }, x, dx)
		at = normalize(x, w, eps)
		dx, dw := normalizeGrad(x, w, dy, at.mean, at.invStd, eps)
		checkGradient(t, "normalize, weighted", func(x []float64) float64 { return f(x, w) }, x, dx)
		checkGradient(t, "normalize, weights", func(w []float64) float64 { return f(x, w) }, w, dw)
	}
}

func TestSoftmaxGrad(t *testing.T) {
	r := random("softmaxGrad")
	for _, n := range []int{1, 2, 10} {
		x := vector(r, n)
		label := n / 2
		f := func(x []float64) float64 {
			_, loss := softmax(x, label)
			return loss
		}
		prob, _ := softmax(x, label)
		checkGradient(t, "softmax", f, x, softmaxGrad(prob, label))
	}
}

// The references of pooling and of the network's other operations are literal
// readings of their definitions; these two are not, nor is the difference
// between a wrong result and a right one that is checked too loosely.
func TestWithin(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want, allowed float64
		ok                 bool
	}{
		{1, 1, 0, true}, {1, 1.1, 0.2, true}, {1, 1.1, 0.05, false},
		{nan, nan, 0, true}, {1, nan, 1, false}, {nan, 1, inf, false},
		{inf, inf, 0, true}, {1, inf, inf, false}, {-inf, inf, inf, false}, {inf, 1, 1, false},
	} {
		if within(c.got, c.want, c.allowed) != c.ok {
			t.Errorf("within(%v, %v, %v) is %v", c.got, c.want, c.allowed, !c.ok)
		}
	}
}
