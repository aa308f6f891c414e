package nn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// panics checks that f panics with an *nn.Error that mentions want.
func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(*nn.Error)
		if !ok || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "nn: ") {
			t.Errorf("panic with %v, want %q", err, want)
		}
	}()
	f()
}

// refused checks that err is an *nn.ConfigError that mentions want.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	var ce *nn.ConfigError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want %q", err, want)
	}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %v, must be %v", what, got, want)
	}
}

// TestBatchNormStatistics follows the running statistics through two training
// passes with different element counts, then evaluates with them.
func TestBatchNormStatistics(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		sh := shape{c: 3, n: 4, live: 4, h: 5, w: 3, b: 2}
		s := newSubject(t, 1, sh)
		in := s.input()
		l := must(nn.NewBatchNorm("lift_norm", sh.c))
		out := l.Plan(s.plan, in)
		s.use(l)
		s.bind(t)
		if got, want := l.Weight.Name, "lift_norm.module.weight"; got != want {
			t.Errorf("weight is named %q", got)
		}

		mean, variance := make([]float64, sh.c), []float64{1, 1, 1}
		var x []float32
		for pass, n := range []int{4, 3} {
			in.Written(n)
			x = gradcheck.Normal(in.Size(), uint64(pass+10))
			s.dev.Upload(in.Live(), x)
			l.Forward(true)
			if out.N != n {
				t.Errorf("output has %d elements, must have %d", out.N, n)
			}
			per := in.PerChannel()
			for c := range sh.c {
				var m, v float64
				for _, e := range x[c*per : (c+1)*per] {
					m += float64(e) / float64(per)
				}
				for _, e := range x[c*per : (c+1)*per] {
					v += (float64(e) - m) * (float64(e) - m) / float64(per-1)
				}
				mean[c] += 0.1 * (m - mean[c])
				variance[c] += 0.1 * (v - variance[c])
			}
		}
		s.params.Download()
		for c := range sh.c {
			within(t, "running mean", float64(l.RunningMean.Host[c]), mean[c], 1e-6)
			within(t, "running variance", float64(l.RunningVar.Host[c]), variance[c], 1e-6)
		}
		if l.Batches.Host[0] != 2 {
			t.Errorf("%v batches tracked, must be 2", l.Batches.Host[0])
		}

		l.Forward(false)
		got := make([]float32, out.Size())
		s.dev.Download(got, out.Live())
		for i, y := range got {
			c := i / out.PerChannel()
			within(t, "evaluated output", float64(y), (float64(x[i])-mean[c])/math.Sqrt(variance[c]+1e-5), 1e-5)
		}
		s.params.Download()
		if l.Batches.Host[0] != 2 || math.Abs(float64(l.RunningMean.Host[0])-mean[0]) > 1e-6 {
			t.Error("an evaluation changed the running statistics")
		}
		panics(t, "no Forward(true)", l.Backward)
	})
}

// TestLinearInit: the initial values are those of the named streams, fill
// +-1/sqrt(in) and change with the seed.
func TestLinearInit(t *testing.T) {
	l, same, other := must(nn.NewLinear("out_layer", 64, 32, 1)), must(nn.NewLinear("out_layer", 64, 32, 1)), must(nn.NewLinear("out_layer", 64, 32, 2))
	bound, largest, squares := 1.0/8, 0.0, 0.0
	for i, w := range l.Weight.Host {
		if w != same.Weight.Host[i] {
			t.Fatal("the same seed gives other weights")
		}
		largest = max(largest, math.Abs(float64(w)))
		squares += float64(w) * float64(w)
	}
	if largest > bound || largest < 0.99*bound {
		t.Errorf("largest weight %v, bound %v", largest, bound)
	}
	within(t, "variance", squares/float64(len(l.Weight.Host)), bound*bound/3, 1e-3)
	if l.Weight.Host[0] == other.Weight.Host[0] || l.Weight.Host[0] == l.Bias.Host[0] {
		t.Error("streams are not told apart")
	}
	if got := l.Weight.Shape; len(got) != 4 || got[0] != 32 || got[1] != 64 || got[2]*got[3] != 1 {
		t.Errorf("weight has shape %v", got)
	}
}

// TestCrossEntropyOutputs checks losses, probabilities and the count of correct
// answers, for a partial batch too.
func TestCrossEntropyOutputs(t *testing.T) {
	s := newSubject(t, 1, shape{c: 3, n: 1, live: 1, h: 1, w: 1, b: 4})
	in, l := s.input(), nn.NewCrossEntropy()
	l.Plan(s.plan, in)
	s.use(l)
	s.bind(t)
	nan := float32(math.NaN())
	s.dev.Upload(in.Live(), []float32{
		2, 0, 100, nan,
		1, 0, -100, nan,
		0, 3, 0, nan,
	})
	panics(t, "no SetLabels", func() { l.Forward(true) })
	for _, bad := range [][]float32{{}, {0, 0, 0, 0, 0}, {3}, {-1}, {0.5}, {nan}} {
		panics(t, "label", func() { l.SetLabels(bad) })
	}

	l.SetLabels([]float32{0, 1, 0})
	l.Forward(true)
	if n := l.Correct(); n != 2 || l.Live() != 3 {
		t.Errorf("%d of %d correct, must be 2 of 3", n, l.Live())
	}
	z := math.Exp(2) + math.Exp(1) + 1
	losses := l.Losses()
	within(t, "loss 0", float64(losses[0]), math.Log(z)-2, 1e-6)
	within(t, "loss 1", float64(losses[1]), math.Log(math.Exp(3)+2), 1e-6)
	within(t, "loss 2", float64(losses[2]), 0, 1e-6)
	within(t, "mean loss", l.Loss(), (math.Log(z)-2+math.Log(math.Exp(3)+2))/3, 1e-6)
	within(t, "probability", float64(l.Probabilities()[4]), math.Exp(1)/z, 1e-6)
	l.Backward()
	grad := make([]float32, 12)
	s.dev.Download(grad, in.LiveGrad())
	for k := range 3 {
		if g := grad[4*k+3]; g != 0 {
			t.Errorf("padding has gradient %v", g)
		}
	}

	// A network that has diverged is never right.
	l.SetLabels([]float32{0, 1, 0, 0})
	l.Forward(false)
	if n := l.Correct(); n != 2 {
		t.Errorf("%d correct, must be 2: NaN is no answer", n)
	}
	if !math.IsNaN(l.Loss()) {
		t.Errorf("loss of NaN logits is %v", l.Loss())
	}
}

// TestBadPlans: mistakes in putting layers together are found while planning.
func TestBadPlans(t *testing.T) {
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
	m := p.Map(3, 4, 5, 5)
	panics(t, "2 channels, its input 3", func() { must(nn.NewBatchNorm("n", 2)).Plan(p, m) })
	panics(t, "2 channels, its input 3", func() { must(nn.NewLayerNorm("n", 2)).Plan(p, m) })
	panics(t, "2 channels, its input 3", func() { must(nn.NewLinear("l", 2, 2, 0)).Plan(p, m) })
	panics(t, "1x5", func() { nn.NewMaxPool2().Plan(p, p.Map(3, 4, 1, 5)) })
	panics(t, "[3 4 5 5 2] and [3 3 5 5 2]", func() { nn.NewAdd().Plan(p, m, p.Map(3, 3, 5, 5)) })
	panics(t, "takes 99 values of a channel, its input has 100", func() { must(nn.NewLearnedPool("l", 99, 0)).Plan(p, m) })
	panics(t, "same map", func() { nn.NewAdd().Plan(p, m, m) })
	panics(t, "3x4x5x5", func() { nn.NewCrossEntropy().Plan(p, m) })
	panics(t, "5 elements, allowed are 1 to 4", func() { m.Written(5) })
	panics(t, "0 elements, allowed are 1 to 4", func() { m.Written(0) })

	a, b, add := p.Map(1, 4, 1, 1), p.Map(1, 4, 1, 1), nn.NewAdd()
	add.Plan(p, a, b)
	a.N, b.N = 3, 4
	panics(t, "3 and 4 elements", func() { add.Forward(true) })

	_, err := nn.NewBatchNorm("norm", 0)
	refused(t, err, "norm: channels is 0, allowed is at least 1")
	_, err = nn.NewLayerNorm("norm", 0)
	refused(t, err, "norm: channels is 0, allowed is at least 1")
	_, err = nn.NewLearnedPool("pool", 0, 0)
	refused(t, err, "pool: values of a channel is 0, allowed is at least 1")
	_, err = nn.NewLinear("out", -1, 2, 0)
	refused(t, err, "input channels is -1")
	_, err = nn.NewLinear("out", 1, 0, 0)
	refused(t, err, "output channels is 0")
}

// refuses reports whether a call panics with the package's error.
func refuses(call func()) (refused bool) {
	defer func() { _, refused = recover().(*nn.Error) }()
	call()
	return false
}

// TestKeptValues: whether a residual sum or a ReLU planned after a layer may
// overwrite the layer's input and output follows from what its Backward reads.
func TestKeptValues(t *testing.T) {
	const sum, relu, gone = 1, 2, 4 // what is allowed in place, or that nothing may read it
	for name, tc := range map[string]struct {
		layer   nn.Layer
		in, out int
	}{
		"BatchNorm":   {must(nn.NewBatchNorm("n", 2)), 0, sum | relu},
		"LayerNorm":   {must(nn.NewLayerNorm("n", 2)), 0, sum | relu},
		"Standardize": {nn.NewStandardize(), 0, sum | relu},
		"ReLU":        {nn.NewReLU(), gone, 0},
		"MaxPool2":    {nn.NewMaxPool2(), 0, relu},
		"Dropout":     {must(nn.NewDropout("d", 0.5)), 0, sum | relu},
		"GroupMean":   {nn.NewGroupMean(), sum | relu, sum | relu},
		"LearnedPool": {must(nn.NewLearnedPool("p", 32, 0)), 0, sum | relu},
		"GlobalMax":   {nn.NewGlobalMax(), sum | relu, sum | relu},
		"Linear":      {must(nn.NewLinear("l", 2, 2, 0)), 0, sum | relu},
	} {
		allowed := func(of func(in, out *nn.Map) *nn.Map) (got int) {
			for _, mode := range []int{sum, relu} {
				p := &nn.Plan{Arena: new(tensor.Arena), Batch: 1}
				in := p.Map(2, 2, 4, 4)
				m := of(in, tc.layer.Plan(p, in))
				var after *nn.Map
				plan := func() { after = nn.NewReLU().Plan(p, m) }
				if mode == sum {
					plan = func() { after = nn.NewAdd().Plan(p, m, p.Map(m.C, m.MaxN, m.H, m.W)) }
				}
				if refuses(plan) {
					return gone
				}
				if after.Shares(m) {
					got |= mode
				}
			}
			return got
		}
		if got := allowed(func(in, _ *nn.Map) *nn.Map { return in }); got != tc.in {
			t.Errorf("%s: input may be overwritten by %b, must be %b", name, got, tc.in)
		}
		if got := allowed(func(_, out *nn.Map) *nn.Map { return out }); got != tc.out {
			t.Errorf("%s: output may be overwritten by %b, must be %b", name, got, tc.out)
		}
	}
}

// TestInference: a plan without gradients runs forward and is smaller.
func TestInference(t *testing.T) {
	size := func(inference bool) int {
		dev := must(tensor.NewCPU(1))
		defer dev.Close()
		p := &nn.Plan{Arena: new(tensor.Arena), Batch: 1, Inference: inference}
		in := p.Map(2, 2, 4, 4)
		pool, relu, top, loss := nn.NewMaxPool2(), nn.NewReLU(), nn.NewGlobalMax(), nn.NewCrossEntropy()
		out := top.Plan(p, relu.Plan(p, pool.Plan(p, in)))
		loss.Plan(p, out)
		if err := p.Arena.Bind(dev); err != nil {
			t.Fatal(err)
		}
		for _, l := range []nn.Layer{pool, relu, top} {
			l.Bind(dev)
		}
		loss.Bind(dev)
		x := make([]float32, in.Size())
		x[5], x[40] = 3, 4
		dev.Upload(in.Value, x)
		pool.Forward(false)
		relu.Forward(false)
		top.Forward(false)
		loss.SetLabels([]float32{1})
		loss.Forward(false)
		got := make([]float32, 2)
		dev.Download(got, out.Live())
		if got[0] != 3 || got[1] != 4 || loss.Correct() != 1 {
			t.Errorf("maxima %v", got)
		}
		return p.Arena.Size()
	}
	if train, infer := size(false), size(true); infer >= train {
		t.Errorf("%d values for inference, %d for training", infer, train)
	}
}

func TestParameters(t *testing.T) {
	dev := must(tensor.NewCPU(1))
	defer dev.Close()
	var ps nn.Parameters
	w, theta, stat, w2 := nn.NewParameter("w", nn.Weight, 2, 3), nn.NewParameter("theta", nn.Subset, 1), nn.NewParameter("stat", nn.Statistic), nn.NewParameter("w2", nn.Weight, 2)
	for i := range w.Host {
		w.Host[i] = float32(i)
	}
	w2.Host[1], stat.Host[0] = 9, 5
	ps.Add(w, theta, stat, w2)
	panics(t, `two parameters are named "w"`, func() { ps.Add(nn.NewParameter("w", nn.Weight)) })
	if err := ps.Bind(dev); err != nil {
		t.Fatal(err)
	}
	panics(t, "already bound", func() { ps.Add(nn.NewParameter("late", nn.Weight)) })
	if ps.Count() != 9 || ps.Lookup("theta") != theta || ps.Lookup("none") != nil {
		t.Errorf("%d scalars", ps.Count())
	}
	value, grad := ps.Class(nn.Weight)
	if value.Len() != 8 || grad.Len() != 8 || w2.Value.Host()[1] != 9 || value.Host()[7] != 9 {
		t.Errorf("weights do not lie side by side: %v", value.Host())
	}
	w.Grad.Host()[0] = 1
	ps.ZeroGrad()
	if grad.Host()[0] != 0 {
		t.Error("gradient not cleared")
	}
	value.Host()[0] = 42
	ps.Download()
	if w.Host[0] != 42 || stat.Host[0] != 5 {
		t.Errorf("downloaded %v, %v", w.Host, stat.Host)
	}
	ps.Release()
	ps.Release()
	for what, call := range map[string]func(){"ZeroGrad": ps.ZeroGrad, "Upload": ps.Upload, "Download": ps.Download} {
		panics(t, "Parameters."+what+": not bound", call)
	}
	if !w.Value.IsZero() {
		t.Error("still bound after Release")
	}
	if err := ps.Bind(dev); err != nil || w.Value.Host()[0] != 42 {
		t.Errorf("bound again: %v", err)
	}
	ps.Release()
}

// TestLearnedPoolWeights: the layer takes elements of one weight, and no others.
func TestLearnedPoolWeights(t *testing.T) {
	s := newSmall(t, false)
	pool := must(nn.NewLearnedPool("p", 2, 1))
	copy(pool.Weight.Host, []float32{1, 1})
	pool.Bias.Host[0] = 0
	w := &factors{lists: 1, value: []float64{0.5, 0.5}, grad: make([]float64, 2)}
	m := s.plan.Map(1, 2, 1, 1)
	m.On = w
	y := pool.Plan(s.plan, m)
	s.bind(t, pool)
	s.dev.Upload(m.Value, []float32{3, 900})
	pool.Forward(true)
	if got := s.get(y.Live())[0]; got != 903 {
		t.Errorf("the sum of 3 and 900 is %v", got)
	}
	w.value[1] = 0
	panics(t, "different weights", func() { pool.Forward(true) })
}

// TestMapSizes: what was forgotten in a plan is found by the first map.
func TestMapSizes(t *testing.T) {
	p := &nn.Plan{Arena: new(tensor.Arena)}
	panics(t, "Plan.Batch is 0", func() { p.Map(1, 1, 1, 1) })
	panics(t, "Plan.Arena is nil", func() { (&nn.Plan{Batch: 1}).Map(1, 1, 1, 1) })
	p.Batch = 2
	panics(t, "[3 0 4 5 2]", func() { p.Map(3, 0, 4, 5) })
}
