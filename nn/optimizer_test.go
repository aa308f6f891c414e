package nn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// model is a handful of parameters of every class on a device.
type model struct {
	dev    *tensor.CPU
	params nn.Parameters
}

func newModel(t testing.TB, threads int) *model {
	t.Helper()
	m := &model{dev: must(tensor.NewCPU(threads))}
	t.Cleanup(func() { m.dev.Close() })
	m.params.Add(
		nn.NewParameter("a.weight", nn.Weight, 7, 5),
		nn.NewParameter("a.probs", nn.Subset, 1),
		nn.NewParameter("a.omega_0", nn.Frequency),
		nn.NewParameter("n.running_mean", nn.Statistic, 3),
		nn.NewParameter("b.weight", nn.Weight, 3),
		nn.NewParameter("b.probs", nn.Subset, 2),
		nn.NewParameter("b.keep", nn.Keep, 2),
	)
	for i, p := range m.params.All() {
		copy(p.Host, gradcheck.Normal(len(p.Host), uint64(i)))
	}
	if err := m.params.Bind(m.dev); err != nil {
		t.Fatal(err)
	}
	return m
}

// gradient uploads the gradient of a given step.
func (m *model) gradient(step int) {
	for i, p := range m.params.All() {
		if p.Trained() {
			m.dev.Upload(p.Grad, gradcheck.Normal(len(p.Host), uint64(1000*step+i)))
		}
	}
}

// values downloads all parameters.
func (m *model) values() map[string][]float32 {
	m.params.Download()
	out := make(map[string][]float32)
	for _, p := range m.params.All() {
		out[p.Name] = slices.Clone(p.Host)
	}
	return out
}

var configs = map[string]nn.OptimizerConfig{
	"Adam":        {LR: 1e-2},
	"AdamAll":     {LR: 1e-2, SubsetLR: 1e-1, KeepLR: 0.3, FrequencyLR: 1e-3, Beta1: 0.8, Beta2: 0.99, Eps: 1e-3, WeightDecay: 0.1, Clip: 2},
	"SGD":         {Algorithm: nn.SGD, LR: 1e-2},
	"SGDMomentum": {Algorithm: nn.SGD, LR: 1e-2, SubsetLR: 1e-1, Momentum: 0.9, WeightDecay: 0.1, Clip: 1000},
	"SGDNesterov": {Algorithm: nn.SGD, LR: 1e-2, FrequencyLR: 1, Momentum: 0.9, Nesterov: true, Clip: 0.5},
}

// reference is the textbook optimiser in float64 over the same parameters.
type reference struct {
	cfg     nn.OptimizerConfig
	p, m, v map[string][]float64
	steps   int
}

func newReference(cfg nn.OptimizerConfig, m *model) *reference {
	r := &reference{cfg: cfg, p: map[string][]float64{}, m: map[string][]float64{}, v: map[string][]float64{}}
	for _, p := range m.params.All() {
		n := len(p.Host)
		r.p[p.Name], r.m[p.Name], r.v[p.Name] = make([]float64, n), make([]float64, n), make([]float64, n)
		for i, x := range p.Host {
			r.p[p.Name][i] = float64(x)
		}
	}
	return r
}

func (r *reference) step(m *model, schedule nn.Schedule) {
	or := func(v, def float64) float64 {
		if v == 0 {
			return def
		}
		return v
	}
	cfg := r.cfg
	rate := map[nn.Class]float64{nn.Weight: cfg.LR, nn.Subset: or(cfg.SubsetLR, cfg.LR), nn.Keep: or(cfg.KeepLR, or(cfg.SubsetLR, cfg.LR)), nn.Frequency: or(cfg.FrequencyLR, cfg.LR)}
	b1, b2, eps := or(cfg.Beta1, 0.9), or(cfg.Beta2, 0.999), or(cfg.Eps, 1e-8)
	clip, sum := 1.0, 0.0
	grad := map[string][]float32{}
	for _, p := range m.params.All() {
		if p.Trained() {
			grad[p.Name] = make([]float32, len(p.Host))
			m.dev.Download(grad[p.Name], p.Grad)
			for _, g := range grad[p.Name] {
				sum += float64(g) * float64(g)
			}
		}
	}
	if norm := math.Sqrt(sum); cfg.Clip > 0 && norm > cfg.Clip {
		clip = cfg.Clip / norm
	}
	t := float64(r.steps + 1)
	for _, p := range m.params.All() {
		if !p.Trained() {
			continue
		}
		lr := schedule.LR(rate[p.Class], r.steps)
		x, mom, sq := r.p[p.Name], r.m[p.Name], r.v[p.Name]
		for i := range x {
			g := clip * float64(grad[p.Name][i])
			if p.Class == nn.Weight {
				x[i] -= lr * cfg.WeightDecay * x[i]
			}
			if cfg.Algorithm == nn.Adam {
				mom[i] = b1*mom[i] + (1-b1)*g
				sq[i] = b2*sq[i] + (1-b2)*g*g
				x[i] -= lr * mom[i] / (1 - math.Pow(b1, t)) / (math.Sqrt(sq[i]/(1-math.Pow(b2, t))) + eps)
				continue
			}
			mom[i] = cfg.Momentum*mom[i] + g
			if cfg.Nesterov {
				x[i] -= lr * (g + cfg.Momentum*mom[i])
			} else {
				x[i] -= lr * mom[i]
			}
		}
	}
	r.steps++
}

// TestOptimizer follows every configuration for some steps in float64.
func TestOptimizer(t *testing.T) {
	schedule := must(nn.NewCosineLR(20, 4, true)) // its first rate is 0
	asmtest.EachLevel(t, func(t *testing.T) {
		for name, cfg := range configs {
			t.Run(name, func(t *testing.T) {
				m := newModel(t, 1)
				o := must(nn.NewOptimizer(cfg, &m.params))
				defer o.Release()
				before := m.values()
				r := newReference(cfg, m)
				for step := range 12 {
					m.gradient(step)
					r.step(m, schedule)
					o.Step(schedule)
					after := m.values()
					for name, want := range r.p {
						for i, w := range want {
							if d := math.Abs(float64(after[name][i]) - w); !(d <= 2e-6*(1+math.Abs(w))) {
								t.Fatalf("step %d: %s[%d] is %v, must be %v", step, name, i, after[name][i], w)
							}
							if step == 0 && after[name][i] != before[name][i] {
								t.Fatalf("%s[%d] moved at rate 0", name, i)
							}
						}
					}
				}
				if o.Steps() != 12 {
					t.Errorf("%d steps counted", o.Steps())
				}
				after := m.values()
				for _, p := range m.params.All() {
					if moved := !slices.Equal(after[p.Name], before[p.Name]); moved != (p.Class != nn.Statistic) {
						t.Errorf("%s moved: %v", p.Name, moved)
					}
				}
			})
		}
	})
}

// TestAdamEps: a gradient as large as eps, by default 1e-8, gives a first step of half the
// rate, and no gradient no step.
func TestAdamEps(t *testing.T) {
	for eps, g := range map[float64]float32{0: 1e-8, 1e-4: 1e-4} {
		m := newModel(t, 1)
		o := must(nn.NewOptimizer(nn.OptimizerConfig{LR: 0.25, Eps: eps}, &m.params))
		defer o.Release()
		p := m.params.Lookup("b.weight")
		m.dev.Upload(p.Value, []float32{0, 0, 2})
		m.dev.Upload(p.Grad, []float32{g, -g, 0})
		o.Step(nn.ConstantLR{})
		for i, want := range []float64{-0.125, 0.125, 2} {
			within(t, "value", float64(m.values()["b.weight"][i]), want, 1e-6)
		}
	}
}

// TestResume: stopping, saving the parameters, the state and the step count, and
// going on in a fresh process gives the same bits.
func TestResume(t *testing.T) {
	schedule := must(nn.NewCosineLR(20, 4, false))
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			whole := newModel(t, 1)
			o := must(nn.NewOptimizer(cfg, &whole.params))
			defer o.Release()
			var saved map[string][]float32
			var state []*nn.Parameter
			for step := range 9 {
				if step == 5 {
					saved = whole.values()
					for _, s := range o.State() {
						c := nn.NewParameter(s.Name, s.Class, s.Shape...)
						copy(c.Host, s.Host)
						state = append(state, c)
					}
				}
				whole.gradient(step)
				o.Step(schedule)
			}
			slices.Reverse(state) // any order will do

			again := newModel(t, 2)
			for name, x := range saved {
				copy(again.params.Lookup(name).Host, x)
			}
			again.params.Upload()
			o2 := must(nn.NewOptimizer(cfg, &again.params))
			defer o2.Release()
			if err := o2.Restore(state, 5); err != nil {
				t.Fatal(err)
			}
			for step := 5; step < 9; step++ {
				again.gradient(step)
				o2.Step(schedule)
			}
			want := whole.values()
			for name, got := range again.values() {
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s: resumed %v, undisturbed %v", name, got, want[name])
				}
			}
			a, b := o.State(), o2.State()
			for i := range a {
				if a[i].Name != b[i].Name || !slices.Equal(a[i].Host, b[i].Host) {
					t.Errorf("state %s differs", a[i].Name)
				}
			}
		})
	}
}

// TestClipWithoutWeights: the bound is that of each step's gradient alone, also where the first class has no parameters.
func TestClipWithoutWeights(t *testing.T) {
	m := &model{dev: must(tensor.NewCPU(1))}
	t.Cleanup(func() { m.dev.Close() })
	probs, keep := nn.NewParameter("probs", nn.Subset, 1), nn.NewParameter("keep", nn.Keep, 1)
	m.params.Add(probs, keep)
	if err := m.params.Bind(m.dev); err != nil {
		t.Fatal(err)
	}
	o := must(nn.NewOptimizer(nn.OptimizerConfig{Algorithm: nn.SGD, LR: 1, Clip: 1}, &m.params))
	defer o.Release()
	m.dev.Upload(probs.Grad, []float32{30})
	m.dev.Upload(keep.Grad, []float32{40})
	o.Step(nn.ConstantLR{})
	m.dev.Upload(probs.Grad, []float32{0.3}) // within the bound
	m.dev.Upload(keep.Grad, []float32{-0.4})
	o.Step(nn.ConstantLR{})
	m.params.Download()
	within(t, "probs", float64(probs.Host[0]), -0.6-0.3, 1e-5)
	within(t, "keep", float64(keep.Host[0]), -0.8+0.4, 1e-5)
}

func TestRestoreRefuses(t *testing.T) {
	m := newModel(t, 1)
	o := must(nn.NewOptimizer(configs["Adam"], &m.params))
	defer o.Release()
	m.gradient(1)
	o.Step(nn.ConstantLR{})
	state := func() []*nn.Parameter {
		var list []*nn.Parameter
		for _, s := range o.State() {
			list = append(list, nn.NewParameter(s.Name, s.Class, s.Shape...)) // zeros
		}
		return list
	}
	good := state()
	before := slices.Clone(o.State()[0].Host)
	below := state()
	below[0].Host[3], below[1].Host[2] = -1, -1e-9 // a mean of gradients may be
	short := state()
	short[0].Host = short[0].Host[:34]
	if good[0].Name != "a.weight.exp_avg" || good[1].Name != "a.weight.exp_avg_sq" {
		t.Errorf("state begins with %s, %s", good[0].Name, good[1].Name)
	}
	for _, tc := range []struct {
		want  string
		state []*nn.Parameter
		steps int
	}{
		{"number of steps is -1", good, -1},
		{"array 1 is nil", []*nn.Parameter{good[0], nil}, 1},
		{"a.weight.exp_avg is missing", good[1:], 1},
		{"a.weight.exp_avg is there twice", append(state(), state()[0]), 1},
		{"value 2 of a.weight.exp_avg_sq is -1e-09, allowed is 0 or more", below, 1},
		{"number of values of a.weight.exp_avg is 34, allowed is 35", short, 1},
		{"x.exp_avg is unknown", append(state(), nn.NewParameter("x.exp_avg", nn.Statistic, 1)), 1},
		{"shape of a.weight.exp_avg is [5 7], allowed is [7 5]", append([]*nn.Parameter{nn.NewParameter("a.weight.exp_avg", nn.Statistic, 5, 7)}, good[1:]...), 1},
	} {
		refused(t, o.Restore(tc.state, tc.steps), tc.want)
	}
	if o.Steps() != 1 || !slices.Equal(before, o.State()[0].Host) {
		t.Error("a refused state has changed something")
	}
	if err := o.Restore(good, 0); err != nil || o.Steps() != 0 || o.State()[0].Host[0] != 0 {
		t.Errorf("a good state was not restored: %v", err)
	}
}

func TestOptimizerRefuses(t *testing.T) {
	m := newModel(t, 1)
	nan := math.NaN()
	for _, tc := range []struct {
		cfg  nn.OptimizerConfig
		want string
	}{
		{nn.OptimizerConfig{}, "Adam: learning rate is 0"},
		{nn.OptimizerConfig{LR: nan}, "learning rate is NaN"},
		{nn.OptimizerConfig{LR: math.Inf(1)}, "learning rate is +Inf"},
		{nn.OptimizerConfig{LR: 1, SubsetLR: -1}, "learning rate of subsets is -1"},
		{nn.OptimizerConfig{LR: 1, KeepLR: nan}, "learning rate of keeping elements is NaN"},
		{nn.OptimizerConfig{LR: 1, FrequencyLR: nan}, "learning rate of frequencies is NaN"},
		{nn.OptimizerConfig{LR: 1, Beta1: 1}, "beta1 is 1"},
		{nn.OptimizerConfig{LR: 1, Beta2: -0.5}, "beta2 is -0.5"},
		{nn.OptimizerConfig{LR: 1, Eps: -1}, "eps is -1"},
		{nn.OptimizerConfig{LR: 1, Algorithm: nn.SGD, Momentum: 1}, "SGD: momentum is 1"},
		{nn.OptimizerConfig{LR: 1, Algorithm: nn.SGD, Nesterov: true}, "momentum is 0, allowed is more than 0 with Nesterov"},
		{nn.OptimizerConfig{LR: 1, Momentum: 0.9}, "Adam: momentum is 0.9, allowed is 0; it is that of SGD"},
		{nn.OptimizerConfig{LR: 1, Nesterov: true}, "Adam: Nesterov's momentum is true"},
		{nn.OptimizerConfig{LR: 1, Algorithm: nn.SGD, Eps: 1e-3}, "SGD: beta1, beta2 and eps is [0 0 0.001]"},
		{nn.OptimizerConfig{LR: 1, WeightDecay: -1}, "weight decay is -1"},
		{nn.OptimizerConfig{LR: 1, Clip: nan}, "gradient clip is NaN"},
		{nn.OptimizerConfig{LR: 1e-46}, "learning rate is 1e-46"},
		{nn.OptimizerConfig{LR: 1e39}, "learning rate is 1e+39"},
		{nn.OptimizerConfig{LR: 1, Beta1: 1 - 1e-10}, "beta1 is 0.9999999999"},
		{nn.OptimizerConfig{LR: 1, Eps: 1e-40}, "eps is 1e-40"},
		{nn.OptimizerConfig{LR: 1, Algorithm: nn.SGD, Momentum: 1 - 1e-10}, "momentum is 0.9999999999"},
		{nn.OptimizerConfig{LR: 1, Algorithm: nn.SGD, Momentum: 1e-46}, "momentum is 1e-46"},
		{nn.OptimizerConfig{LR: 1, WeightDecay: 1e39}, "weight decay is 1e+39"},
		{nn.OptimizerConfig{LR: 1, Clip: 1e-46}, "gradient clip is 1e-46"},
		{nn.OptimizerConfig{LR: 1, Algorithm: 7}, "algorithm is Algorithm(7), allowed is Adam or SGD"},
	} {
		_, err := nn.NewOptimizer(tc.cfg, &m.params)
		refused(t, err, tc.want)
	}
	panics(t, "not bound", func() { nn.NewOptimizer(nn.OptimizerConfig{LR: 1}, new(nn.Parameters)) })
}

// TestOptimizerReleased: what a released optimiser would read and write is not its memory any more, and
// parameters without memory would not take the step that is counted.
func TestOptimizerReleased(t *testing.T) {
	for name, cfg := range configs {
		m := newModel(t, 1)
		o := must(nn.NewOptimizer(cfg, &m.params))
		state := o.State()
		o.Release()
		o.Release()
		panics(t, "Optimizer.Step: the optimiser was released", func() { o.Step(nn.ConstantLR{}) })
		panics(t, "Optimizer.State: the optimiser was released", func() { o.State() })
		panics(t, "Optimizer.Restore: the optimiser was released", func() { o.Restore(state, 1) })

		o = must(nn.NewOptimizer(cfg, &m.params))
		defer o.Release()
		m.params.Release()
		panics(t, "Optimizer.Step: not bound to a device", func() { o.Step(nn.ConstantLR{}) })
		if o.Steps() != 0 {
			t.Errorf("%s: a step without parameters was counted", name)
		}
	}
}

func TestOptimizerAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	schedule := must(nn.NewCosineLR(20, 4, false))
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, 2)
			o := must(nn.NewOptimizer(cfg, &m.params))
			defer o.Release()
			m.gradient(1)
			if n := testing.AllocsPerRun(50, func() { o.Step(schedule); m.params.ZeroGrad() }); n != 0 {
				t.Errorf("%v allocations in a step", n)
			}
		})
	}
}
