package siren

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// variants are networks of all kinds, shapes and options.
var variants = []any{
	Config{In: 1, Hidden: 1, Out: 1, Layers: 2, Omega0: 3},
	Config{In: 2, Hidden: 7, Out: 5, Layers: 2, Omega0: 10},
	Config{In: 3, Hidden: 16, Out: 12, Layers: 3, Omega0: 10},
	Config{In: 3, Hidden: 9, Out: 33, Layers: 4, Omega0: -5},
	Config{In: 2, Hidden: 5, Out: 3, Layers: 3, Omega0: 6, LearnOmega: true}, // the sums of the first layer fill cache lines
	Config{In: 2, Hidden: 8, Out: 3, Layers: 3, Omega0: 6, WeightNorm: true},
	Config{In: 4, Hidden: 5, Out: 6, Layers: 4, Omega0: 4, WeightNorm: true, LearnOmega: true, Dims: 3},
	wide,
	FiltersConfig{In: 1, Hidden: 1, Out: 1, Layers: 1, InputScale: 3},
	FiltersConfig{Filter: Fourier, In: 2, Hidden: 7, Out: 5, Layers: 2, InputScale: 12},
	FiltersConfig{Filter: Gabor, In: 3, Hidden: 9, Out: 12, InputScale: 8},
	FiltersConfig{Filter: MAGNet, In: 3, Hidden: 16, Out: 33, InputScale: 8},
	FiltersConfig{Filter: Gabor, In: 4, Hidden: 5, Out: 6, Layers: 4, InputScale: 4, WeightNorm: true, Dims: 3},
	FiltersConfig{Filter: MAGNet, In: 9, Hidden: 6, Out: 2, Layers: 2, InputScale: 8, WeightNorm: true},
	wideFilters,
	MLPConfig{In: 1, Hidden: 1, Out: 1, Layers: 2, Activation: Swish},
	MLPConfig{In: 3, Hidden: 16, Out: 12},
	MLPConfig{In: 3, Hidden: 9, Out: 33, Layers: 4, Activation: LeakyReLU, WeightNorm: true, Dims: 3},
	MLPConfig{In: 2, Hidden: 8, Out: 3, Layers: 3, Activation: Swish, Norm: LayerNorm},
	MLPConfig{In: 2, Hidden: 7, Out: 3, Layers: 4, Activation: LeakyReLU, Norm: LayerNorm, WeightNorm: true},
	wideMLP,
}

// Networks whose last layer multiplies split matrices where those are fast.
var (
	wide        = Config{In: 3, Hidden: 32, Out: 70, Omega0: 10}
	wideFilters = FiltersConfig{In: 3, Hidden: 32, Out: 40, Layers: 2, InputScale: 8}
	wideMLP     = MLPConfig{In: 3, Hidden: 32, Out: 40, Norm: LayerNorm}
)

// TestGradients compares every gradient, that of the positions included, with
// float64 differences.
func TestGradients(t *testing.T) {
	for _, cfg := range variants {
		t.Run(fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			asmtest.EachLevel(t, func(t *testing.T) {
				eachDevice(t, cfg, 2, func(t *testing.T, dev tensor.Device) {
					positions := 19
					elements := 3
					if cfg == wide || cfg == wideFilters || cfg == wideMLP {
						positions = 43 // whole blocks and a rest
						elements = 1   // directions see all
					}
					n := build(t, "net", cfg, 5)
					for _, p := range n.Parameters() {
						if _, ok := cfg.(Config); ok && strings.HasSuffix(p.Name, "bias") { // they start at zero
							copy(p.Host, gradcheck.Normal(len(p.Host), 3))
							for i := range p.Host {
								p.Host[i] *= 0.05
							}
						}
					}
					h := newHarnessOn(t, dev, n, positions+2, false)
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
					// The float64 differences decide, not those of single precision.
					step, tolerance := 1.0/512, 2e-2
					switch cfg.(type) {
					case FiltersConfig:
						tolerance = -1 // single precision sees little of what a Gaussian makes small
					case MLPConfig:
						step, tolerance = 1.0/(1<<18), -1 // no kink lies as near
					}
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
						Step:      step,
						Elements:  elements,
						Tolerance: tolerance,
					})
				})
			})
		})
	}
}

// TestFrequencyZero covers the one place where the gradient of a learned
// frequency cannot be derived from dz.
func TestFrequencyZero(t *testing.T) {
	eachDevice(t, Config{}, 1, func(t *testing.T, dev tensor.Device) {
		n := mustNet(t, "", Config{In: 1, Hidden: 3, Out: 2, Layers: 2, LearnOmega: true}, 1)
		n.layers[0].omega.Host[0] = 0
		h := newHarnessOn(t, dev, n, 4, false)
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
		if !(math.Abs(float64(got)-want) <= 1e-6) || want == 0 {
			t.Errorf("gradient of the frequency is %v, must be %v", got, want)
		}
	})
}

// TestPositionsChange runs passes of different sizes through one plan, without
// the gradient of the positions, against a plan of the exact size.
func TestPositionsChange(t *testing.T) {
	for _, cfg := range []any{Config{In: 2, Hidden: 10, Out: 6}, FiltersConfig{In: 2, Hidden: 10, Out: 6}, MLPConfig{In: 2, Hidden: 10, Out: 6, Norm: LayerNorm}} {
		eachDevice(t, cfg, 2, func(t *testing.T, dev tensor.Device) { positionsChange(t, dev, cfg) })
	}
}

func positionsChange(t *testing.T, dev tensor.Device, cfg any) {
	many := newHarnessOn(t, dev, build(t, "", cfg, 2), 700, false)
	for _, p := range []int{40, 1, 700, 17, 40} {
		x, dy := gradcheck.Normal(2*p, uint64(p)), gradcheck.Normal(6*p, uint64(p)+1)
		run := func(h *harness) (y, grad []float32) {
			h.params.ZeroGrad()
			h.dev.Upload(h.x, x)
			h.dev.Upload(h.dy, dy)
			y = h.download(h.eval(h.x, p))
			h.Backward(h.dy, tensor.Buffer{})
			_, g := h.params.Class(nn.Weight)
			return y, h.download(g)
		}
		y, grad := run(many)
		wantY, wantGrad := run(newHarnessOn(t, another(t, dev, 1), build(t, "", cfg, 2), p, false))
		equal(t, fmt.Sprintf("%d positions: y", p), y, wantY)
		equal(t, fmt.Sprintf("%d positions: gradient", p), grad, wantGrad)
	}
}

// shapes are passes that divide their work in different ways: among blocks,
// among blocks and rows of the last layer, among segments of several blocks.
var shapes = []struct {
	positions int
	cfg       any
}{
	{1, Config{In: 3, Hidden: 5, Out: 1, Layers: 2}},
	{70, Config{In: 3, Hidden: 33, Out: 1100, Layers: 3}},
	{333, Config{In: 2, Hidden: 8, Out: 530, WeightNorm: true}},
	{300, Config{In: 3, Out: 1100}},
	{1500, Config{In: 3, Out: 50, LearnOmega: true}},
	{9000, Config{In: 3, Hidden: 6, Out: 9, Layers: 4}},
	{600, Config{In: 3, Out: 600}},
	{3000, Config{In: 3, Out: 40}},
	{17500, Config{In: 2, Out: 33}}, // blocks of a page where matrices are split
	{1, FiltersConfig{In: 3, Hidden: 5, Out: 1}},
	{333, FiltersConfig{Filter: Fourier, In: 2, Hidden: 8, Out: 530, WeightNorm: true}},
	{300, FiltersConfig{In: 3, Out: 1100}},
	{5000, FiltersConfig{Filter: Gabor, In: 3, Out: 50}},
	{333, MLPConfig{In: 2, Hidden: 8, Out: 530, Activation: Swish}},
	{300, MLPConfig{In: 3, Out: 1100, Norm: LayerNorm}},
	{5000, MLPConfig{In: 3, Out: 50, Layers: 4, Activation: LeakyReLU}},
}

// TestDivide wants blocks that are all positions, one after the other, none empty or wider than planned, in halves that
// are as long, give or take a step, and sums of any number of positions that fit what is reserved for the largest.
func TestDivide(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, out := range []int{9, 600, 1100, 2048, 2100, 5000} {
			n := build(t, "", Config{In: 3, Out: out}, 2).(*Net)
			for _, most := range []int{1, 40, 447, 460, 1700, 3136, 9000, 17500, 40000} {
				n.Plan(&nn.Plan{Arena: new(tensor.Arena), Device: newDevice(t, 1), Batch: 1}, most)
				c := &n.cpu
				need := c.sumsOf(most)
				for positions := 1; positions <= most; positions += 1 + positions/500 {
					if got := c.divide(positions); got > need {
						t.Fatalf("%d results: %d positions need %d values, of at most %d are planned %d", out, positions, got, most, need)
					}
					checkBlocks(t, c)
				}
			}
		}
	})
}

func checkBlocks(t *testing.T, c *cpu) {
	t.Helper()
	at, half := 0, 0
	for b := range c.blocks {
		col, n := c.block(b)
		if col != at || n < 1 || n > c.width || c.width > c.most {
			t.Fatalf("%d positions: block %d is %d+%d after %d, of width %d, planned %d", c.positions, b, col, n, at, c.width, c.most)
		}
		if at += n; b < c.blocks/2 {
			half = at
		}
	}
	if at != c.positions {
		t.Fatalf("%d positions: blocks have %d", c.positions, at)
	}
	if apart := c.positions - 2*half; max(apart, -apart) > c.step {
		t.Errorf("%d positions: halves of %d blocks are %d apart", c.positions, c.blocks, apart)
	}
}

// pass runs one forward and backward pass at fixed positions and gradients and
// returns everything that it computes.
func (h *harness) pass(positions int) map[string][]float32 {
	h.dev.Upload(h.x, gradcheck.Normal(h.In()*positions, 1))
	h.dev.Upload(h.dy, gradcheck.Normal(h.Out()*positions, 2))
	all := map[string][]float32{"y": h.download(h.eval(h.x, positions))}
	h.Backward(h.dy, h.dx)
	all["dx"] = h.download(h.dx)
	for _, p := range h.Parameters() {
		if p.Trained() {
			all[p.Name] = h.download(p.Grad)
		}
	}
	return all
}

// TestThreads wants the same bits from one, two and three threads.
func TestThreads(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, s := range shapes {
			want := newHarness(t, build(t, "", s.cfg, 2), s.positions, 1, false).pass(s.positions)
			for threads := 2; threads <= 3; threads++ {
				got := newHarness(t, build(t, "", s.cfg, 2), s.positions, threads, false).pass(s.positions)
				for name := range want {
					equal(t, fmt.Sprintf("%d positions, %d threads: %s", s.positions, threads, name), got[name], want[name])
				}
			}
		}
	})
}

// TestDevices compares the passes of a CPU, block of positions by block, with
// those of another device, operation by operation.
func TestDevices(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, s := range shapes {
			if _, ok := s.cfg.(Config); !ok {
				continue
			}
			got := newHarness(t, build(t, "", s.cfg, 2), s.positions, 2, false).pass(s.positions)
			other := otherDevice{newDevice(t, 1)}
			want := newHarnessOn(t, other, build(t, "", s.cfg, 2), s.positions, false).pass(s.positions)
			for name := range want {
				diff, size := 0.0, 0.0
				for i, w := range want[name] {
					d := float64(got[name][i]) - float64(w)
					diff, size = diff+d*d, size+float64(w)*float64(w)
				}
				if !(math.Sqrt(diff) <= 2e-6*math.Sqrt(size)) || size == 0 {
					t.Errorf("%d positions, %+v: %s is off by %.2g of its norm", s.positions, s.cfg, name, math.Sqrt(diff/size))
				}
			}
		}
	})
}

// TestInference wants the values of training without the buffers of a backward
// pass: the same bits from a CPU; from another device they may differ in the
// last ones, for there sines alone are computed differently from sines with
// cosines.
func TestInference(t *testing.T) {
	for _, cfg := range []any{
		Config{In: 3, Out: 5, LearnOmega: true, WeightNorm: true},
		FiltersConfig{In: 3, Out: 5, WeightNorm: true}, FiltersConfig{Filter: Fourier, In: 3, Out: 5},
		MLPConfig{In: 3, Out: 5, Activation: Swish}, MLPConfig{In: 3, Out: 5, Norm: LayerNorm, Activation: LeakyReLU},
	} {
		eachDevice(t, cfg, 1, func(t *testing.T, dev tensor.Device) { inference(t, dev, cfg) })
	}
}

func inference(t *testing.T, dev tensor.Device, cfg any) {
	train := newHarnessOn(t, dev, build(t, "", cfg, 3), 30, false)
	x := gradcheck.Normal(90, 4)
	train.dev.Upload(train.x, x)
	a := train.download(train.eval(train.x, 30))

	infer := newHarnessOn(t, another(t, dev, 1), build(t, "", cfg, 3), 30, true)
	infer.dev.Upload(infer.x, x)
	b := infer.download(infer.eval(infer.x, 30))
	if _, ok := dev.(*tensor.CPU); ok {
		equal(t, "y", a, b)
	}
	for i := range a {
		if !(math.Abs(float64(a[i]-b[i])) <= 1e-6) {
			t.Fatalf("value %d is %v in training, %v in inference", i, a[i], b[i])
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, cfg := range []any{
		Config{In: 3, Out: 20}, Config{In: 3, Out: 600, LearnOmega: true, WeightNorm: true},
		FiltersConfig{In: 3, Out: 20}, FiltersConfig{Filter: Gabor, In: 3, Out: 600, WeightNorm: true},
		MLPConfig{In: 3, Out: 20, Activation: Swish}, MLPConfig{In: 3, Out: 600, Norm: LayerNorm, WeightNorm: true},
	} {
		eachDevice(t, cfg, 2, func(t *testing.T, dev tensor.Device) {
			h := newHarnessOn(t, dev, build(t, "", cfg, 3), 200, false)
			step := func() {
				h.Forward(h.y, h.x, 200)
				h.Backward(h.dy, h.dx)
			}
			step()
			if got := testing.AllocsPerRun(2, step); got != 0 {
				t.Errorf("%+v: a pass allocates %v times", cfg, got)
			}
		})
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
			if !(math.Abs(sum/count) <= 4*bound/math.Sqrt(3*count)) {
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
	unnormed := mustNet(t, "", cfg, 1)
	plain := newHarness(t, unnormed, 9, 1, false)
	// The weights of the two are drawn under different names: compare by copying.
	cfg.WeightNorm = true
	n := mustNet(t, "", cfg, 1)
	for i, l := range n.layers {
		w := unnormed.layers[i].weight.Host
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
		if !(math.Abs(float64(a[i]-b[i])) <= 1e-6) {
			t.Fatalf("value %d: %v and %v", i, a[i], b[i])
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  any
		want string
	}{
		{Config{Out: 1}, "Config.In is 0"},
		{Config{In: 1}, "Config.Out is 0"},
		{Config{In: 1, Out: 1, Hidden: -1}, "Config.Hidden is -1"},
		{Config{In: 1, Out: 1, Layers: 1}, "Config.Layers is 1; allowed are 2 to"},
		{Config{In: 1, Out: 1, Dims: -1}, "Config.Dims is -1"},
		{FiltersConfig{In: 1}, "FiltersConfig.Out is 0"},
		{FiltersConfig{In: 1, Out: 1, Layers: -1}, "FiltersConfig.Layers is -1; allowed are 1 to"},
		{FiltersConfig{In: 1, Out: 1, Filter: "sinc"}, `FiltersConfig.Filter is "sinc"; allowed are "MAGNet", "Gabor", "Fourier"`},
		{FiltersConfig{In: 1, Out: 1, InputScale: math.NaN()}, "FiltersConfig.InputScale is NaN"},
		{FiltersConfig{In: 1, Out: 1, InputScale: -1}, "FiltersConfig.InputScale is -1; allowed are 1e-6 to 1e6"},
		{MLPConfig{Out: 1}, "MLPConfig.In is 0"},
		{MLPConfig{In: 1, Out: 1, Layers: 1}, "MLPConfig.Layers is 1; allowed are 2 to"},
		{MLPConfig{In: 1, Out: 1, Activation: "GELU"}, `MLPConfig.Activation is "GELU"; allowed are "ReLU", "LeakyReLU", "Swish"`},
		{MLPConfig{In: 1, Out: 1, Norm: "Identity"}, `MLPConfig.Norm is "Identity"; allowed are "none", "LayerNorm"`},
		{Config{In: 1, Out: 1, Omega0: math.NaN()}, "Config.Omega0 is NaN"},
		{Config{In: 1, Out: 1, Omega0: math.Inf(1)}, "Config.Omega0 is +Inf"},
	} {
		_, err := create("blocks.0", c.cfg, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "siren: blocks.0: ") {
			t.Errorf("%+v: error %v, want %q", c.cfg, err, c.want)
		}
	}
}

// TestMisuse wants a typed panic from programmer errors that says what is wrong.
func TestMisuse(t *testing.T) {
	n := mustNet(t, "", Config{In: 2, Out: 1}, 1)
	h := newHarness(t, n, 5, 1, false)
	fresh := newHarness(t, mustNet(t, "", Config{In: 2, Out: 1}, 1), 5, 1, false)
	infer := newHarness(t, mustNet(t, "", Config{In: 2, Out: 1}, 1), 5, 1, true)
	hidden := n.Features()
	long := tensor.HostBuffer(make([]float32, 12)) // for more positions than planned
	features := func(dw, db, df int, dx tensor.Buffer) {
		back := tensor.HostBuffer(make([]float32, dw+db+df))
		n.ForwardFeatures(h.x, 5)
		n.BackwardFeatures(back.Slice(0, dw), back.Slice(dw, dw+db), back.Slice(dw+db, back.Len()), dx)
	}
	backward := func(dy, dx tensor.Buffer) {
		n.Forward(h.y, h.x, 5)
		n.Backward(dy, dx)
	}
	short := fmt.Sprintf("BackwardFeatures: gradients are too short for %d features at 5 positions", hidden)
	for _, c := range []struct {
		want string
		call func()
	}{
		{"Backward: no Forward before it", func() { fresh.Backward(fresh.dy, fresh.dx) }},
		{"Forward: 6 positions, planned are 1 to 5", func() { n.Forward(long, long, 6) }},
		{"Forward: 0 positions, planned are 1 to 5", func() { n.Forward(h.y, h.x, 0) }},
		{"ForwardFeatures: 6 positions, planned are 1 to 5", func() { n.ForwardFeatures(long, 6) }},
		{"Forward: 4 values have no place for 1 results at 5 positions", func() { n.Forward(h.y.Slice(0, 4), h.x, 5) }},
		{"Forward: 9 values are too few for 5 positions of 2 coordinates", func() { n.Forward(h.y, h.x.Slice(0, 9), 5) }},
		{"Backward: gradients are too short for 5 positions", func() { backward(h.dy.Slice(0, 4), h.dx) }},
		{"Backward: gradients are too short for 5 positions", func() { backward(h.dy, h.dx.Slice(0, 9)) }},
		{short, func() { features(hidden-1, 1, 5*hidden, h.dx) }},
		{short, func() { features(hidden, 0, 5*hidden, h.dx) }},
		{short, func() { features(hidden, 1, 5*hidden-1, h.dx) }},
		{short, func() { features(hidden, 1, 5*hidden, h.dx.Slice(0, 9)) }},
		{"Backward: planned for inference", func() { infer.Forward(infer.y, infer.x, 5); infer.Backward(infer.dy, infer.dx) }},
		{"Bind: planned for another kind of device", func() { n.Bind(otherDevice{h.dev}) }},
		{"Plan: this kind of kernel network runs on a CPU", func() { planOn(otherDevice{h.dev}, FiltersConfig{In: 1, Out: 1}) }},
		{"Plan: this kind of kernel network runs on a CPU", func() { planOn(otherDevice{h.dev}, MLPConfig{In: 1, Out: 1}) }},
		{"Plan: 0 positions; at least 1 is needed", func() { n.Plan(&nn.Plan{Arena: new(tensor.Arena)}, 0) }},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*Error); !ok || !strings.HasPrefix(e.Error(), "siren: "+c.want) {
					t.Errorf("%v, want %q", e, c.want)
				}
			}()
			c.call()
		}()
	}
}

// TestOrderOfCalls: a network says which call is missing, on each kind of device.
func TestOrderOfCalls(t *testing.T) {
	refuses := func(want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if e, ok := recover().(*Error); !ok || !strings.Contains(e.Error(), want) {
				t.Errorf("%v, want %q", e, want)
			}
		}()
		f()
	}
	for _, cfg := range []any{Config{In: 2, Out: 1}, FiltersConfig{In: 2, Out: 1}, MLPConfig{In: 2, Out: 1}} {
		eachDevice(t, cfg, 1, func(t *testing.T, dev tensor.Device) {
			defer dev.Close()
			n := build(t, "net", cfg, 1)
			x, y, dw := tensor.HostBuffer(make([]float32, 10)), tensor.HostBuffer(make([]float32, 5)), tensor.HostBuffer(make([]float32, 500))
			bind := func() { n.Bind(dev) }
			calls := []func(){
				func() { n.Forward(y, x, 5) },
				func() { n.ForwardFeatures(x, 5) },
			}
			back := []func(){
				func() { n.Backward(y, x) },
				func() { n.BackwardFeatures(dw, dw, dw, x) },
			}
			all := func(want string, calls ...func()) {
				t.Helper()
				for _, f := range calls {
					refuses(want, f)
				}
			}
			all("not planned; call Plan first", append(append(calls, back...), bind)...)
			refuses("the plan is nil", func() { n.Plan(nil, 5) })
			refuses("the plan is nil or has no arena", func() { n.Plan(&nn.Plan{Device: dev, Batch: 1}, 5) })
			p := &nn.Plan{Device: dev, Arena: new(tensor.Arena), Batch: 1}
			n.Plan(p, 5)
			all("arena is not bound to a device; call Arena.Bind first", append(calls, bind)...)
			if err := p.Arena.Bind(dev); err != nil {
				t.Fatal(err)
			}
			all("not bound to a device; call Bind first", calls...)
			refuses(`the parameter "`+n.Parameters()[0].Name+`" is not bound to a device; call Parameters.Bind first`, bind)
			var params nn.Parameters
			params.Add(n.Parameters()...)
			if err := params.Bind(dev); err != nil {
				t.Fatal(err)
			}
			refuses("the device is nil", func() { n.Bind(nil) })
			bind()
			all("before it", back...)
			n.Forward(y, x, 5)
			params.Release()
			all(`" is not bound to a device; call Parameters.Bind first`, append(calls, back[0])...)
			if err := params.Bind(dev); err != nil {
				t.Fatal(err)
			}
			n.Forward(y, x, 5)
			again := &nn.Plan{Device: dev, Arena: new(tensor.Arena), Batch: 1}
			n.Plan(again, 5)
			all("before it", back...)
			if err := again.Arena.Bind(dev); err != nil {
				t.Fatal(err)
			}
			all("not bound to a device; call Bind first", calls...)
			params.Release()
			p.Arena.Release()
			again.Arena.Release()
		})
	}
}

func planOn(dev tensor.Device, cfg any) {
	n, err := create("", cfg, 1)
	if err == nil {
		n.Plan(&nn.Plan{Device: dev, Arena: new(tensor.Arena), Batch: 1}, 5)
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

// TestWeightNormOfZeros wants a row of zeros to be a weight of zeros without a gradient,
// and the other rows to be what they are without it.
func TestWeightNormOfZeros(t *testing.T) {
	const positions, row = 9, 1
	asmtest.EachLevel(t, func(t *testing.T) {
		cfg := Config{In: 2, Hidden: 6, Out: 4, WeightNorm: true}
		eachDevice(t, cfg, 1, func(t *testing.T, dev tensor.Device) {
			n := mustNet(t, "net", cfg, 1)
			last := n.layers[len(n.layers)-1]
			clear(last.norm.row(last.norm.v.Host, row))
			h := newHarnessOn(t, dev, n, positions, false)
			dev.Upload(h.x, gradcheck.Normal(2*positions, 4))
			dev.Upload(h.dy, gradcheck.Normal(4*positions, 5))
			bias := last.bias.Host[row]
			forward := func(when string) {
				t.Helper()
				for i, y := range h.download(h.eval(h.x, positions)) {
					if y != y || i/positions == row && y != bias {
						t.Fatalf("%s, value %d is %v, the bias %v", when, i, y, bias)
					}
				}
			}
			forward("at first")
			h.params.ZeroGrad()
			h.Backward(h.dy, h.dx)
			for _, p := range h.params.All() {
				if p.Trained() && slices.ContainsFunc(h.download(p.Grad), func(g float32) bool { return g != g }) {
					t.Errorf("the gradient of %s is %v", p.Name, h.download(p.Grad))
				}
			}
			if g := last.norm.row(h.download(last.norm.v.Grad), row); slices.ContainsFunc(g, func(g float32) bool { return g != 0 }) {
				t.Errorf("the gradient of the row is %v", g)
			}
			if g := h.download(last.norm.g.Grad); g[row] != 0 || g[0] == 0 {
				t.Errorf("the gradient of the lengths is %v", g)
			}
			forward("behind a step back") // which used the memory of the weight
		})
	})
}
