package siren

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// variants are networks of all shapes and options.
var variants = []Config{
	{In: 1, Hidden: 1, Out: 1, Layers: 2, Omega0: 3},
	{In: 2, Hidden: 7, Out: 5, Layers: 2, Omega0: 10},
	{In: 3, Hidden: 16, Out: 12, Layers: 3, Omega0: 10},
	{In: 3, Hidden: 9, Out: 33, Layers: 4, Omega0: -5},
	{In: 2, Hidden: 8, Out: 3, Layers: 3, Omega0: 6, LearnOmega: true},
	{In: 2, Hidden: 8, Out: 3, Layers: 3, Omega0: 6, WeightNorm: true},
	{In: 4, Hidden: 5, Out: 6, Layers: 4, Omega0: 4, WeightNorm: true, LearnOmega: true, Dims: 3},
}

// TestGradients compares every gradient, that of the positions included, with
// float64 differences.
func TestGradients(t *testing.T) {
	for _, cfg := range variants {
		t.Run(fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			asmtest.EachLevel(t, func(t *testing.T) {
				const positions = 19
				n := mustNet(t, "net", cfg, 5)
				for _, p := range n.Parameters() {
					if strings.HasSuffix(p.Name, "bias") { // they start at zero
						copy(p.Host, gradcheck.Normal(len(p.Host), 3))
						for i := range p.Host {
							p.Host[i] *= 0.05
						}
					}
				}
				h := newHarness(t, n, positions+2, 2, false)
				proj := gradcheck.NewProjection(h.dev, n.Out()*positions, 7)
				x := h.x.Slice(0, n.In()*positions)
				dx := h.dx.Slice(0, n.In()*positions)
				dy := h.dy.Slice(0, n.Out()*positions)
				points := gradcheck.Normal(x.Len(), 9)
				for i := range points {
					points[i] *= 0.5
				}
				h.dev.Upload(x, points)
				proj.Gradient(dy)
				gradcheck.Run(t, gradcheck.Case{
					Device:    h.dev,
					Params:    n.Parameters(),
					Variables: []gradcheck.Variable{gradcheck.Buffer(h.dev, "x", x, dx)},
					Loss:      func() float64 { return proj.Loss(h.eval(x, positions)) },
					Backward:  func() { n.Backward(dy, dx) },
					Reference: func(v [][]float64) float64 {
						last := len(v) - 1
						return proj.Of(evaluate(n, v[:last], v[last]))
					},
					Step:      1.0 / 512,
					Elements:  3,
					Tolerance: 2e-2, // of single precision differences; the float64 ones decide
				})
			})
		})
	}
}

// TestFrequencyZero covers the one place where the gradient of a learned
// frequency cannot be derived from dz.
func TestFrequencyZero(t *testing.T) {
	n := mustNet(t, "", Config{In: 1, Hidden: 3, Out: 2, Layers: 2, LearnOmega: true}, 1)
	n.layers[0].omega.Host[0] = 0
	h := newHarness(t, n, 4, 1, false)
	h.dev.Upload(h.x, []float32{-1, -.5, .25, .75})
	for _, y := range h.download(h.eval(h.x, 4)) {
		if y != 0 {
			t.Fatalf("value %v with frequency and bias zero", y)
		}
	}
	h.dev.Fill(h.dy, 1)
	n.Backward(h.dy, h.dx)
	want := 0.0 // sum over hidden units j and positions of (sum_o W2_oj) z_j
	for j := range 3 {
		for _, x := range []float64{-1, -.5, .25, .75} {
			want += float64(n.layers[1].weight.Host[j]+n.layers[1].weight.Host[3+j]) * float64(n.layers[0].weight.Host[j]) * x
		}
	}
	got := h.download(n.layers[0].omega.Grad)[0]
	if math.Abs(float64(got)-want) > 1e-6 || want == 0 {
		t.Errorf("gradient of the frequency is %v, must be %v", got, want)
	}
}

// TestPositionsChange runs passes of different sizes through one plan, without
// the gradient of the positions, against a plan of the exact size.
func TestPositionsChange(t *testing.T) {
	cfg := Config{In: 2, Hidden: 10, Out: 6}
	many := newHarness(t, mustNet(t, "", cfg, 2), 40, 2, false)
	for _, p := range []int{40, 1, 17, 40} {
		one := newHarness(t, mustNet(t, "", cfg, 2), p, 1, false)
		x, dy := gradcheck.Normal(2*p, uint64(p)), gradcheck.Normal(6*p, uint64(p)+1)
		var y, grad [2][]float32
		for i, h := range []*harness{many, one} {
			h.params.ZeroGrad()
			h.dev.Upload(h.x, x)
			h.dev.Upload(h.dy, dy)
			y[i] = h.download(h.eval(h.x, p))
			h.Backward(h.dy, tensor.Buffer{})
			_, g := h.params.Class(nn.Weight)
			grad[i] = h.download(g)
		}
		equal(t, fmt.Sprintf("%d positions: y", p), y[0], y[1])
		equal(t, fmt.Sprintf("%d positions: gradient", p), grad[0], grad[1])
	}
}

// TestThreads wants the same bits from one and from two threads.
func TestThreads(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		const p = 1500
		cfg := Config{In: 3, Out: 50, LearnOmega: true}
		var y, grad, dx [2][]float32
		for i := range 2 {
			h := newHarness(t, mustNet(t, "", cfg, 2), p, i+1, false)
			h.dev.Upload(h.x, gradcheck.Normal(3*p, 1))
			h.dev.Upload(h.dy, gradcheck.Normal(50*p, 2))
			y[i] = h.download(h.eval(h.x, p))
			h.Backward(h.dy, h.dx)
			_, g := h.params.Class(nn.Weight)
			_, w := h.params.Class(nn.Frequency)
			grad[i] = append(h.download(g), h.download(w)...)
			dx[i] = h.download(h.dx)
		}
		equal(t, "y", y[0], y[1])
		equal(t, "gradients", grad[0], grad[1])
		equal(t, "dx", dx[0], dx[1])
	})
}

// TestInference wants the same values without the buffers of a backward pass, up
// to the last bits: sines alone are computed differently from sines with cosines.
func TestInference(t *testing.T) {
	cfg := Config{In: 3, Out: 5, LearnOmega: true, WeightNorm: true}
	train := newHarness(t, mustNet(t, "", cfg, 3), 30, 1, false)
	infer := newHarness(t, mustNet(t, "", cfg, 3), 30, 1, true)
	x := gradcheck.Normal(90, 4)
	train.dev.Upload(train.x, x)
	infer.dev.Upload(infer.x, x)
	a, b := train.download(train.eval(train.x, 30)), infer.download(infer.eval(infer.x, 30))
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-6 {
			t.Fatalf("value %d is %v in training, %v in inference", i, a[i], b[i])
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, cfg := range []Config{{In: 3, Out: 20}, {In: 3, Out: 20, LearnOmega: true, WeightNorm: true}} {
		h := newHarness(t, mustNet(t, "", cfg, 3), 200, 2, false)
		step := func() {
			h.Forward(h.y, h.x, 200)
			h.Backward(h.dy, h.dx)
		}
		step()
		if got := testing.AllocsPerRun(10, step); got != 0 {
			t.Errorf("%+v: a pass allocates %v times", cfg, got)
		}
	}
}

// TestInitialisation checks the bounds and the moments of the weights, and that
// streams depend on seed and name.
func TestInitialisation(t *testing.T) {
	cfg := Config{In: 3, Hidden: 64, Out: 256, Omega0: 10}
	n := mustNet(t, "a", cfg, 1)
	for i, p := range n.Parameters() {
		switch {
		case strings.HasSuffix(p.Name, "bias"):
			for _, v := range p.Host {
				if v != 0 {
					t.Fatalf("%s starts at %v", p.Name, v)
				}
			}
		case strings.HasSuffix(p.Name, "omega_0"):
			if p.Host[0] != 10 || p.Trained() {
				t.Errorf("%s: %v, trained %v", p.Name, p.Host[0], p.Trained())
			}
		default:
			bound := math.Sqrt(6.0/64) / 10
			if i == 0 {
				bound = 1.0 / 3
			}
			sum, squares, peak := 0.0, 0.0, 0.0
			for _, v := range p.Host {
				sum += float64(v)
				squares += float64(v) * float64(v)
				peak = max(peak, math.Abs(float64(v)))
			}
			count := float64(len(p.Host))
			deviation := math.Sqrt(squares / count)
			if peak > bound || peak < 0.9*bound {
				t.Errorf("%s: largest value %v, bound %v", p.Name, peak, bound)
			}
			// The standard error of the mean is bound/sqrt(3 count); a factor of
			// four and a third leaves no room for chance on a fixed seed.
			if math.Abs(sum/count) > 4*bound/math.Sqrt(3*count) {
				t.Errorf("%s: mean %v", p.Name, sum/count)
			}
			if r := deviation / (bound / math.Sqrt(3)); r < 0.9 || r > 1.1 {
				t.Errorf("%s: standard deviation %v, of a uniform number %v", p.Name, deviation, bound/math.Sqrt(3))
			}
		}
	}
	same := mustNet(t, "a", cfg, 1)
	equal(t, "same seed and name", n.params[0].Host, same.params[0].Host)
	for what, other := range map[string]*Net{"seed": mustNet(t, "a", cfg, 2), "name": mustNet(t, "b", cfg, 1)} {
		if other.params[0].Host[0] == n.params[0].Host[0] {
			t.Errorf("another %s gives the same weights", what)
		}
	}
}

// TestWeightNormStart wants the network with weight normalisation to start as
// the one without.
func TestWeightNormStart(t *testing.T) {
	cfg := Config{In: 2, Hidden: 6, Out: 4}
	plain := newHarness(t, mustNet(t, "", cfg, 1), 9, 1, false)
	// The weights of the two are drawn under different names: compare by copying.
	cfg.WeightNorm = true
	n := mustNet(t, "", cfg, 1)
	for i, l := range n.layers {
		w := plain.layers[i].weight.Host
		copy(l.norm.v.Host, w)
		for r := range l.norm.g.Host {
			l.norm.g.Host[r] = float32(norm(l.norm.row(w, r)))
		}
	}
	normed := newHarness(t, n, 9, 1, false)
	x := gradcheck.Normal(18, 4)
	plain.dev.Upload(plain.x, x)
	normed.dev.Upload(normed.x, x)
	a, b := plain.download(plain.eval(plain.x, 9)), normed.download(normed.eval(normed.x, 9))
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-6 {
			t.Fatalf("value %d: %v and %v", i, a[i], b[i])
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Out: 1}, "Config.In is 0"},
		{Config{In: 1}, "Config.Out is 0"},
		{Config{In: 1, Out: 1, Hidden: -1}, "Config.Hidden is -1"},
		{Config{In: 1, Out: 1, Layers: 1}, "Config.Layers is 1; allowed are 2 to"},
		{Config{In: 1, Out: 1, Dims: -1}, "Config.Dims is -1"},
		{Config{In: 1, Out: 1, Omega0: math.NaN()}, "Config.Omega0 is NaN"},
		{Config{In: 1, Out: 1, Omega0: math.Inf(1)}, "Config.Omega0 is +Inf"},
	} {
		_, err := New("blocks.0", c.cfg, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "siren: blocks.0: ") {
			t.Errorf("%+v: error %v, want %q", c.cfg, err, c.want)
		}
	}
}

// TestMisuse wants a typed panic from programmer errors.
func TestMisuse(t *testing.T) {
	n := mustNet(t, "", Config{In: 2, Out: 1}, 1)
	h := newHarness(t, n, 5, 1, false)
	fresh := newHarness(t, mustNet(t, "", Config{In: 2, Out: 1}, 1), 5, 1, false)
	infer := newHarness(t, mustNet(t, "", Config{In: 2, Out: 1}, 1), 5, 1, true)
	for what, f := range map[string]func(){
		"backward first":     func() { fresh.Backward(fresh.dy, fresh.dx) },
		"too many positions": func() { n.Forward(h.y, h.x, 6) },
		"no positions":       func() { n.Forward(h.y, h.x, 0) },
		"short y":            func() { n.Forward(h.y.Slice(0, 4), h.x, 5) },
		"short x":            func() { n.Forward(h.y, h.x.Slice(0, 9), 5) },
		"short dy":           func() { n.Forward(h.y, h.x, 5); n.Backward(h.dy.Slice(0, 4), h.dx) },
		"inference":          func() { infer.Forward(infer.y, infer.x, 5); infer.Backward(infer.dy, infer.dx) },
		"plan nothing":       func() { n.Plan(&nn.Plan{Arena: new(tensor.Arena)}, 0) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", what)
				}
			}()
			f()
		}()
	}
}

func equal(t *testing.T, what string, a, b []float32) {
	t.Helper()
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Errorf("%s: value %d is %v and %v", what, i, a[i], b[i])
			return
		}
	}
}
