package nn_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// pass is what runs of a layer.
type pass interface {
	binder
	Forward(train bool)
	Backward()
}

// small is a network of a few layers with one image, planned by hand.
type small struct {
	dev    *tensor.CPU
	plan   *nn.Plan
	params nn.Parameters
}

func newSmall(t *testing.T, inference bool) *small {
	t.Helper()
	dev := must(tensor.NewCPU(1))
	t.Cleanup(func() { dev.Close() })
	return &small{dev: dev, plan: &nn.Plan{Arena: new(tensor.Arena), Batch: 1, Inference: inference}}
}

// bind allocates everything.
func (s *small) bind(t *testing.T, layers ...binder) {
	t.Helper()
	for _, l := range layers {
		s.params.Add(l.(interface{ Parameters() []*nn.Parameter }).Parameters()...)
	}
	if err := s.plan.Arena.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	if err := s.params.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		l.Bind(s.dev)
	}
}

func (s *small) get(b tensor.Buffer) []float32 {
	x := make([]float32, b.Len())
	s.dev.Download(x, b)
	return x
}

// seed makes g every value of the gradient of m.
func (s *small) seed(m *nn.Map, g float32) {
	s.dev.Fill(m.LiveGrad(), g)
	m.Accumulate()
}

// scaled is a linear layer with one channel, w x.
func scaled(w float32) *nn.Linear {
	l := must(nn.NewLinear("scaled", 1, 1, 1))
	l.Weight.Host[0], l.Bias.Host[0] = w, 0
	return l
}

// poolings are the layers that find in their output where a gradient goes.
var poolings = map[string]func() nn.Layer{
	"MaxPool2": func() nn.Layer { return nn.NewMaxPool2() },
	"LayerNorm": func() nn.Layer {
		l := must(nn.NewLayerNorm("norm", 1))
		l.Pool = true
		return l
	},
	"BatchNorm": func() nn.Layer {
		l := must(nn.NewBatchNorm("norm", 1))
		l.Pool = true
		return l
	},
}

// readers are layers that keep no value of their input, and hand on a gradient where it
// is negative.
var readers = map[string]func(p *nn.Plan, m *nn.Map) (l binder, y *nn.Map){
	"GlobalMean": func(p *nn.Plan, m *nn.Map) (binder, *nn.Map) { l := nn.NewGlobalMean(); return l, l.Plan(p, m) },
	"GroupMean":  func(p *nn.Plan, m *nn.Map) (binder, *nn.Map) { l := nn.NewGroupMean(); return l, l.Plan(p, m) },
	"Dropout": func(p *nn.Plan, m *nn.Map) (binder, *nn.Map) {
		l := must(nn.NewDropout("d", 0))
		return l, l.Plan(p, m)
	},
	"second summand": func(p *nn.Plan, m *nn.Map) (binder, *nn.Map) {
		l := nn.NewAdd()
		return l, l.Plan(p, p.Like(m, m.C, m.H, m.W), m)
	},
}

// TestPooledGradient: a second reader of a pooled map gets the same gradient through the
// pool whether a ReLU reads the map too or not.
func TestPooledGradient(t *testing.T) {
	for pool, newPool := range poolings {
		for reader, plan := range readers {
			var want []float32
			for _, relu := range []bool{false, true} {
				s := newSmall(t, false)
				l, r := newPool(), nn.NewReLU()
				a := s.plan.Map(1, 1, 2, 4)
				m := l.Plan(s.plan, a)
				other, y := plan(s.plan, m)
				out, layers := m, []binder{l, other}
				if relu {
					out, layers = r.Plan(s.plan, m), append(layers, r)
				}
				s.bind(t, layers...)
				if d, ok := other.(*nn.Dropout); ok {
					d.Draw(stream.New(1, "mask", 0))
				}
				s.dev.Upload(a.Value, []float32{-4, -1, 5, 7, -3, -2, 9, 3})
				for _, l := range layers {
					l.(pass).Forward(true)
				}
				s.seed(y, 1)
				if relu {
					s.seed(out, 0)
				}
				for _, l := range slices.Backward(layers) {
					l.(pass).Backward()
				}
				got := s.get(a.LiveGrad())
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s read by %s and a ReLU: gradient %v, without the ReLU %v", pool, reader, got, want)
				}
				if pool == "MaxPool2" && reader == "GlobalMean" && !slices.Equal(got, []float32{0, 0.5, 0, 0, 0, 0, 0.5, 0}) {
					t.Errorf("gradient %v of a mean of maxima", got)
				}
			}
		}
	}
}

// TestSumOfPooled: a sum does not take the place of a pooled map, nor does a ReLU that is
// planned later, since the sum hands on a gradient where the maximum is negative.
func TestSumOfPooled(t *testing.T) {
	s := newSmall(t, false)
	pool, sum, relu := nn.NewMaxPool2(), nn.NewAdd(), nn.NewReLU()
	a := s.plan.Map(1, 1, 2, 4)
	m := pool.Plan(s.plan, a)
	y := sum.Plan(s.plan, m, s.plan.Map(1, 1, 1, 2))
	z := relu.Plan(s.plan, m)
	if y.Shares(m) || z.Shares(m) {
		t.Fatal("the pooled map is overwritten")
	}
	s.bind(t, pool, sum, relu)
	s.dev.Upload(a.Value, []float32{-4, -1, 5, 7, -3, -2, 9, 3})
	for _, l := range []pass{pool, sum, relu} {
		l.Forward(true)
	}
	s.seed(y, 1)
	s.seed(z, 2)
	for _, l := range []pass{relu, sum, pool} {
		l.Backward()
	}
	if got := s.get(a.LiveGrad()); !slices.Equal(got, []float32{0, 1, 0, 0, 0, 0, 3, 0}) {
		t.Errorf("gradient %v", got)
	}
}

// TestReLUBehindPool: the usual network has no map for the ReLU behind a pool, and nothing
// else may then read what was pooled.
func TestReLUBehindPool(t *testing.T) {
	for _, inference := range []bool{false, true} {
		s := newSmall(t, inference)
		m := nn.NewMaxPool2().Plan(s.plan, s.plan.Map(1, 1, 4, 4))
		before := s.plan.Arena.Size()
		y := nn.NewReLU().Plan(s.plan, m)
		if after := s.plan.Arena.Size(); after != before {
			t.Errorf("inference %v: the ReLU takes %d values", inference, after-before)
		}
		for reader, plan := range readers {
			panicsWith(t, reader, "overwrites the map", func() { plan(s.plan, m) })
		}
		nn.NewGlobalMean().Plan(s.plan, y)
	}
}

// panicsWith is panics, with a name for the case.
func panicsWith(t *testing.T, name, want string, f func()) {
	t.Helper()
	t.Run(name, func(t *testing.T) { panics(t, want, f) })
}

// TestOverwritten: every layer refuses a map that a layer before it overwrites, and one
// that no layer was to read any more, in plans of both kinds.
func TestOverwritten(t *testing.T) {
	for name, plan := range map[string]func(p *nn.Plan, m *nn.Map){
		"BatchNorm":    func(p *nn.Plan, m *nn.Map) { must(nn.NewBatchNorm("n", 1)).Plan(p, m) },
		"LayerNorm":    func(p *nn.Plan, m *nn.Map) { must(nn.NewLayerNorm("n", 1)).Plan(p, m) },
		"Standardize":  func(p *nn.Plan, m *nn.Map) { nn.NewStandardize().Plan(p, m) },
		"ReLU":         func(p *nn.Plan, m *nn.Map) { nn.NewReLU().Plan(p, m) },
		"MaxPool2":     func(p *nn.Plan, m *nn.Map) { nn.NewMaxPool2().Plan(p, m) },
		"GlobalMax":    func(p *nn.Plan, m *nn.Map) { nn.NewGlobalMax().Plan(p, m) },
		"GlobalMean":   func(p *nn.Plan, m *nn.Map) { nn.NewGlobalMean().Plan(p, m) },
		"GroupMean":    func(p *nn.Plan, m *nn.Map) { nn.NewGroupMean().Plan(p, m) },
		"LearnedPool":  func(p *nn.Plan, m *nn.Map) { must(nn.NewLearnedPool("p", 4, 0)).Plan(p, m) },
		"Dropout":      func(p *nn.Plan, m *nn.Map) { must(nn.NewDropout("d", 0.5)).Plan(p, m) },
		"Linear":       func(p *nn.Plan, m *nn.Map) { scaled(1).Plan(p, m) },
		"Add":          func(p *nn.Plan, m *nn.Map) { nn.NewAdd().Plan(p, m, p.Map(1, 1, 2, 2)) },
		"AddSecond":    func(p *nn.Plan, m *nn.Map) { nn.NewAdd().Plan(p, p.Map(1, 1, 2, 2), m) },
		"BatchNormSum": func(p *nn.Plan, m *nn.Map) { must(nn.NewBatchNorm("n", 1)).PlanSum(p, p.Map(1, 1, 2, 2), m) },
		"LayerNormSum": func(p *nn.Plan, m *nn.Map) { must(nn.NewLayerNorm("n", 1)).PlanSum(p, m, p.Map(1, 1, 2, 2)) },
	} {
		for _, inference := range []bool{false, true} {
			for _, end := range []struct {
				how, want string
				do        func(p *nn.Plan, m *nn.Map)
			}{
				{"ReLU", "overwrites the map", func(p *nn.Plan, m *nn.Map) { nn.NewReLU().Plan(p, m) }},
				{"PlanSum", "overwrites the map", func(p *nn.Plan, m *nn.Map) {
					must(nn.NewBatchNorm("sum", 1)).PlanSum(p, m, p.Map(1, 1, 2, 2))
				}},
				{"PlanSum of LayerNorm", "overwrites the map", func(p *nn.Plan, m *nn.Map) {
					must(nn.NewLayerNorm("sum", 1)).PlanSum(p, m, p.Map(1, 1, 2, 2))
				}},
				{"Next", "no layer was to read", func(p *nn.Plan, m *nn.Map) { p.Next(m) }},
			} {
				p := &nn.Plan{Arena: new(tensor.Arena), Batch: 1, Inference: inference}
				m := p.Map(1, 1, 2, 2)
				end.do(p, m)
				panicsWith(t, fmt.Sprintf("%s/inference=%v/%s", name, inference, end.how), end.want, func() { plan(p, m) })
			}
		}
	}
}

// TestInferenceOverwritesTheSame: networks whose maps have several readers compute the
// same in a plan for inference.
func TestInferenceOverwritesTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		plan func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map)
		want float32 // of -5
	}{
		"kept": {func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map) {
			relu, lin, add := nn.NewReLU(), scaled(1), nn.NewAdd()
			m.KeepValue()
			return []pass{relu, lin, add}, add.Plan(p, lin.Plan(p, relu.Plan(p, m)), m)
		}, -5},
		"kept by a layer": {func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map) {
			lin, relu, sum, add := scaled(1), nn.NewReLU(), nn.NewAdd(), nn.NewAdd()
			l := lin.Plan(p, m)
			return []pass{lin, relu, sum, add}, add.Plan(p, sum.Plan(p, l, relu.Plan(p, m)), m)
		}, -10},
		"sum": {func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map) {
			lin, other, sum, add := scaled(1), nn.NewGlobalMean(), nn.NewAdd(), nn.NewAdd()
			l := lin.Plan(p, m)
			sum.Plan(p, m, other.Plan(p, m))
			return []pass{lin, other, sum, add}, add.Plan(p, l, m)
		}, -10},
		"behind dropout": {func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map) {
			drop, relu, add := must(nn.NewDropout("d", 0.5)), nn.NewReLU(), nn.NewAdd()
			r := relu.Plan(p, drop.Plan(p, m))
			return []pass{drop, relu, add}, add.Plan(p, r, m)
		}, -5},
		"beside dropout": {func(p *nn.Plan, m *nn.Map) ([]pass, *nn.Map) {
			drop, relu, add := must(nn.NewDropout("d", 0.5)), nn.NewReLU(), nn.NewAdd()
			d := drop.Plan(p, m)
			return []pass{drop, relu, add}, add.Plan(p, relu.Plan(p, m), d)
		}, -5},
	} {
		for _, inference := range []bool{false, true} {
			s := newSmall(t, inference)
			m := s.plan.Map(1, 1, 1, 1)
			layers, y := c.plan(s.plan, m)
			binders := make([]binder, len(layers))
			for i, l := range layers {
				binders[i] = l
			}
			s.bind(t, binders...)
			s.dev.Upload(m.Value, []float32{-5})
			for _, l := range layers {
				l.Forward(false)
			}
			if got := s.get(y.Live())[0]; got != c.want {
				t.Errorf("%s, inference %v: %v, must be %v", name, inference, got, c.want)
			}
		}
	}
}

// TestDropoutEnds: the map that dropout has for inference stays when that before it ends.
func TestDropoutEnds(t *testing.T) {
	s := newSmall(t, true)
	drop, lin := must(nn.NewDropout("d", 0.5)), scaled(2)
	m := s.plan.Map(1, 1, 1, 4)
	d := drop.Plan(s.plan, m)
	s.plan.Next(m)
	s.plan.Next() // a layer on other maps
	y := lin.Plan(s.plan, d)
	s.bind(t, drop, lin)
	s.dev.Upload(m.Value, []float32{1, 2, 3, 4})
	drop.Forward(false)
	s.plan.Arena.Poison(tensor.ForwardOf(1), float32(math.NaN()))
	lin.Forward(false)
	if got := s.get(y.Live()); !slices.Equal(got, []float32{2, 4, 6, 8}) {
		t.Errorf("twice 1 to 4 are %v", got)
	}
}

// TestReplacedEnds: what a layer in place returns stays when its input ends, in a plan of
// either kind.
func TestReplacedEnds(t *testing.T) {
	for _, inference := range []bool{false, true} {
		s := newSmall(t, inference)
		add := nn.NewAdd()
		a, b := s.plan.Map(1, 1, 1, 2), s.plan.Map(1, 1, 1, 2)
		y := add.Plan(s.plan, a, b)
		s.plan.Next(a, b)
		s.plan.Next() // a layer on other maps
		s.bind(t, add)
		s.dev.Upload(a.Value, []float32{1, 2})
		s.dev.Upload(b.Value, []float32{3, 5})
		add.Forward(!inference)
		s.plan.Arena.Poison(tensor.ForwardOf(1), float32(math.NaN()))
		if got := s.get(y.Live()); !y.Shares(a) || !slices.Equal(got, []float32{4, 7}) {
			t.Errorf("inference %v: the sum of {1 2} and {3 5} is %v", inference, got)
		}
	}
}

// TestOthersMaps: a layer does not overwrite a map of another plan, or one that no plan made.
func TestOthersMaps(t *testing.T) {
	s, other := newSmall(t, false), newSmall(t, false)
	for what, m := range map[string]*nn.Map{
		"of another plan": other.plan.Map(1, 1, 1, 2),
		"of no plan":      {C: 1, MaxN: 1, N: 1, H: 1, W: 1, B: 1},
	} {
		if y := nn.NewReLU().Plan(s.plan, m); y.Shares(m) {
			t.Errorf("a map %s is overwritten", what)
		}
	}
}

// TestReadBeforeInPlace: a layer that reads a map before another one overwrites it adds to
// the gradient that the latter leaves.
func TestReadBeforeInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		plan func(s *small, m *nn.Map) (l pass, y *nn.Map)
		want []float32
	}{
		"ReLU": {func(s *small, m *nn.Map) (l pass, y *nn.Map) {
			relu := nn.NewReLU()
			return relu, relu.Plan(s.plan, m)
		}, []float32{0.5, 3.5}},
		"Add": {func(s *small, m *nn.Map) (l pass, y *nn.Map) {
			add := nn.NewAdd()
			return add, add.Plan(s.plan, m, s.plan.Map(1, 1, 1, 2))
		}, []float32{3.5, 3.5}},
	} {
		s := newSmall(t, false)
		m, mean := s.plan.Map(1, 1, 1, 2), nn.NewGlobalMean()
		first := mean.Plan(s.plan, m)
		l, y := c.plan(s, m)
		s.bind(t, mean, l)
		s.dev.Upload(m.Value, []float32{-1, 2})
		mean.Forward(true)
		l.Forward(true)
		s.seed(first, 1)
		s.seed(y, 3)
		l.Backward()
		mean.Backward()
		if got := s.get(m.LiveGrad()); !y.Shares(m) || !slices.Equal(got, c.want) {
			t.Errorf("%s: gradient %v, must be %v", name, got, c.want)
		}
	}
}

// TestDropoutUndrawn: in training, nothing stands in for a mask that was not drawn.
func TestDropoutUndrawn(t *testing.T) {
	s := newSmall(t, false)
	drop := must(nn.NewDropout("d", 0.5))
	m := s.plan.Map(2, 1, 1, 1)
	y := drop.Plan(s.plan, m)
	s.bind(t, drop)
	s.dev.Upload(m.Value, []float32{3, 9})
	drop.Forward(false)
	if got := s.get(y.Live()); !slices.Equal(got, []float32{3, 9}) {
		t.Errorf("%v in evaluation, must be 3 and 9", got)
	}
	panics(t, "call Draw before Forward(true)", func() { drop.Forward(true) })
}
