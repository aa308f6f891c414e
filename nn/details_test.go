package nn_test

import (
	"errors"
	"fmt"
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
		if l.Batches.Host[0] != 2 || !(math.Abs(float64(l.RunningMean.Host[0])-mean[0]) <= 1e-6) {
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

// TestCrossEntropyPlannedAgain: of the plan before, neither labels nor results stay.
func TestCrossEntropyPlannedAgain(t *testing.T) {
	l := nn.NewCrossEntropy()
	for range 2 {
		s := newSmall(t, false)
		l.Plan(s.plan, s.plan.Map(2, 1, 1, 1))
		s.bind(t)
		l.Bind(s.dev)
		panics(t, "CrossEntropy.Forward: no SetLabels before it", func() { l.Forward(true) })
		panics(t, "CrossEntropy.Losses: no Forward since the last SetLabels", func() { l.Losses() })
		l.SetLabels([]float32{1})
		l.Forward(true)
		l.Losses()
	}
}

// TestBatchNormPlannedAgain: of the plan before, neither a summand nor weights of the elements stay.
func TestBatchNormPlannedAgain(t *testing.T) {
	l := must(nn.NewBatchNorm("n", 1))
	s := newSmall(t, false)
	a, b := s.plan.Map(1, 2, 1, 1), s.plan.Map(1, 2, 1, 1)
	a.On, b.On = newFactors(1, 2), newFactors(1, 2)
	l.PlanSum(s.plan, a, b)

	s = newSmall(t, false)
	in := s.plan.Map(1, 2, 1, 1)
	out := l.Plan(s.plan, in)
	s.bind(t, l)
	s.dev.Upload(in.Value, []float32{5, -3})
	l.Forward(true)
	y := make([]float32, 2)
	s.dev.Download(y, out.Live())
	within(t, "the first value", float64(y[0]), 1, 1e-5)
	within(t, "the second value", float64(y[1]), -1, 1e-5)
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

	s := newSmall(t, false)
	a, b, add := s.plan.Map(1, 4, 1, 1), s.plan.Map(1, 4, 1, 1), nn.NewAdd()
	add.Plan(s.plan, a, b)
	s.bind(t, add)
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
	for _, n := range []int{1<<28 + 1, math.MaxInt} {
		const want = ", allowed is at most 268435456"
		_, err = nn.NewBatchNorm("norm", n)
		refused(t, err, fmt.Sprintf("norm: channels is %d", n)+want)
		_, err = nn.NewLayerNorm("norm", n)
		refused(t, err, fmt.Sprintf("norm: channels is %d", n)+want)
		_, err = nn.NewLearnedPool("pool", n, 0)
		refused(t, err, fmt.Sprintf("values of a channel is %d", n)+want)
		_, err = nn.NewLinear("out", n, 1, 0)
		refused(t, err, fmt.Sprintf("input channels is %d", n)+want)
		_, err = nn.NewLinear("out", 1, n, 0)
		refused(t, err, fmt.Sprintf("output channels is %d", n)+want)
	}
	_, err = nn.NewLinear("out", 1<<14, 1<<14+1, 0)
	refused(t, err, "out: number of weights is 16385 x 16384, allowed is at most 268435456")
}

// stage is a layer with the name that its errors give it, and its Plan on a map [1 1 2 2 B].
type stage struct {
	pass
	name string
	plan func(p *nn.Plan, m *nn.Map)
}

// stages returns all layers.
func stages() []stage {
	of := func(name string, l nn.Layer) stage {
		return stage{l, name, func(p *nn.Plan, m *nn.Map) { l.Plan(p, m) }}
	}
	add := nn.NewAdd()
	return []stage{
		of("BatchNorm", must(nn.NewBatchNorm("n", 1))),
		of("LayerNorm", must(nn.NewLayerNorm("n", 1))),
		of("Standardize", nn.NewStandardize()),
		of("ReLU", nn.NewReLU()),
		of("MaxPool2", nn.NewMaxPool2()),
		of("Dropout", must(nn.NewDropout("d", 0.5))),
		of("GlobalMax", nn.NewGlobalMax()),
		of("GlobalMean", nn.NewGlobalMean()),
		of("GroupMean", nn.NewGroupMean()),
		of("LearnedPool", must(nn.NewLearnedPool("p", 4, 0))),
		of("Linear", scaled(1)),
		{add, "Add", func(p *nn.Plan, m *nn.Map) { add.Plan(p, m, p.Map(1, 1, 2, 2)) }},
	}
}

// TestBadMaps: every layer refuses to be planned without a plan or a map, or on a map of
// another batch.
func TestBadMaps(t *testing.T) {
	p, other := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}, &nn.Plan{Arena: new(tensor.Arena), Batch: 7}
	for _, l := range stages() {
		const batch = "planned for a batch of 7, the layer for one of 2"
		panicsWith(t, l.name+"/plan", "the plan is nil", func() { l.plan(nil, p.Map(1, 1, 2, 2)) })
		panicsWith(t, l.name+"/map", l.name+".Plan: the input map is nil", func() { l.plan(p, nil) })
		panicsWith(t, l.name+"/batch", l.name+".Plan: the input map is "+batch, func() { l.plan(p, other.Map(1, 1, 2, 2)) })
	}
	m, seven := p.Map(1, 1, 2, 2), other.Map(1, 1, 2, 2)
	for name, plan := range map[string]func(p *nn.Plan, a, b *nn.Map) *nn.Map{
		"Add.Plan":          nn.NewAdd().Plan,
		"BatchNorm.PlanSum": must(nn.NewBatchNorm("n", 1)).PlanSum,
		"LayerNorm.PlanSum": must(nn.NewLayerNorm("n", 1)).PlanSum,
	} {
		panicsWith(t, name+"/plan", name+": the plan is nil", func() { plan(nil, m, p.Map(1, 1, 2, 2)) })
		panicsWith(t, name+"/first", name+": the input map is nil", func() { plan(p, nil, m) })
		panicsWith(t, name+"/second", name+": the input map is nil", func() { plan(p, m, nil) })
		panicsWith(t, name+"/batch", name+": the input map is planned for a batch of 7", func() { plan(p, m, seven) })
	}
	panics(t, "CrossEntropy.Plan: the plan is nil", func() { nn.NewCrossEntropy().Plan(nil, m) })
	panics(t, "CrossEntropy.Plan: Plan.Arena is nil", func() { nn.NewCrossEntropy().Plan(&nn.Plan{Batch: 2}, m) })
	panics(t, "CrossEntropy.Plan: the logits are nil", func() { nn.NewCrossEntropy().Plan(p, nil) })
}

// TestOrderOfCalls: every layer says which call is missing, and which one a plan for
// inference has not.
func TestOrderOfCalls(t *testing.T) {
	inference := stages()
	for i, l := range stages() {
		refuses := func(method, want string, f func()) {
			t.Helper()
			panicsWith(t, l.name+"/"+method+"/"+want, l.name+"."+method+": "+want, f)
		}
		s := newSmall(t, false)
		forward, bind := func() { l.Forward(false) }, func() { l.Bind(s.dev) }
		refuses("Bind", "not planned; call Plan first", bind)
		refuses("Forward", "not planned; call Plan first", forward)
		refuses("Backward", "not planned; call Plan first", l.Backward)
		l.plan(s.plan, s.plan.Map(1, 1, 2, 2))
		const arena = "the plan's arena is not bound to a device; call Arena.Bind first"
		refuses("Bind", arena, bind)
		refuses("Forward", arena, forward)
		if err := s.plan.Arena.Bind(s.dev); err != nil {
			t.Fatal(err)
		}
		refuses("Forward", "not bound to a device; call Bind first", forward)
		refuses("Bind", "the device is nil", func() { l.Bind(nil) })
		s.params.Add(l.pass.(interface{ Parameters() []*nn.Parameter }).Parameters()...)
		if list := s.params.All(); len(list) > 0 {
			refuses("Bind", fmt.Sprintf("the parameter %q is not bound to a device; call Parameters.Bind first", list[0].Name), bind)
		}
		if err := s.params.Bind(s.dev); err != nil {
			t.Fatal(err)
		}
		bind()
		refuses("Backward", "no Forward(true) before it", l.Backward)
		forward()
		refuses("Backward", "no Forward(true) before it", l.Backward)
		if list := s.params.All(); len(list) > 0 {
			s.params.Release()
			refuses("Forward", fmt.Sprintf("the parameter %q is not bound to a device; call Parameters.Bind first", list[0].Name), forward)
		}
		s.plan.Arena.Release()
		refuses("Forward", arena, forward)

		l, s = inference[i], newSmall(t, true)
		l.plan(s.plan, s.plan.Map(1, 1, 2, 2))
		s.bind(t, l.pass)
		refuses("Forward", "planned for inference", func() { l.Forward(true) })
		refuses("Backward", "planned for inference", l.Backward)
		l.Forward(false)
	}
	panics(t, "Dropout.Draw: not planned; call Plan first", func() { must(nn.NewDropout("d", 0.5)).Draw(nil) })
}

// TestCrossEntropyOrder is TestOrderOfCalls for the loss, which hands out what the last
// Forward computed and nothing older.
func TestCrossEntropyOrder(t *testing.T) {
	s := newSmall(t, false)
	l := nn.NewCrossEntropy()
	calls := map[string]func(){
		"SetLabels":     func() { l.SetLabels([]float32{0}) },
		"Forward":       func() { l.Forward(true) },
		"Backward":      func() { l.Backward() },
		"Losses":        func() { l.Loss() },
		"Probabilities": func() { l.Correct() },
	}
	refuses := func(want string, methods ...string) {
		t.Helper()
		for _, m := range methods {
			panicsWith(t, m+"/"+want, "CrossEntropy."+m+": "+want, calls[m])
		}
	}
	all := []string{"SetLabels", "Forward", "Backward", "Losses", "Probabilities"}
	refuses("not planned; call Plan first", all...)
	m := s.plan.Map(2, 1, 1, 1)
	l.Plan(s.plan, m)
	if err := s.plan.Arena.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	refuses("not bound to a device; call Bind first", all...)
	l.Bind(s.dev)
	l.SetLabels([]float32{0})
	refuses("no Forward", "Backward", "Losses", "Probabilities")
	l.Forward(true)
	l.Backward()
	l.Forward(false)
	refuses("no Forward(true) before it", "Backward")
	l.Forward(true)
	l.SetLabels([]float32{1})
	refuses("no Forward", "Backward", "Losses", "Probabilities")

	s, l = newSmall(t, true), nn.NewCrossEntropy()
	l.Plan(s.plan, s.plan.Map(2, 1, 1, 1))
	if err := s.plan.Arena.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	l.Bind(s.dev)
	l.SetLabels([]float32{0})
	refuses("planned for inference", "Forward", "Backward")
}

// TestHugeBatch: a batch beyond all memory is the arena's error, not the end of the program.
func TestHugeBatch(t *testing.T) {
	for _, inference := range []bool{false, true} {
		s := newSmall(t, inference)
		s.plan.Batch = math.MaxInt / 16
		m := s.plan.Map(2, 1, 1, 1)
		m.On = &factors{lists: s.plan.Batch}
		m = nn.NewStandardize().Plan(s.plan, m)
		m = must(nn.NewDropout("d", 0.5)).Plan(s.plan, m)
		nn.NewCrossEntropy().Plan(s.plan, m)
		if err := s.plan.Arena.Bind(s.dev); err == nil {
			t.Errorf("inference %v: a batch of %d fits memory", inference, s.plan.Batch)
		}
	}
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
	for _, class := range []nn.Class{nn.Statistic, nn.Constant, 99} {
		panics(t, fmt.Sprintf("Parameters.Class: class %d is not trained", class), func() { ps.Class(class) })
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

// TestLearnedPoolWeights: the layer takes all elements, of one weight, and no others.
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
	w.value[1] = 0.5
	m.Written(1)
	panics(t, "1 of 2 group elements", func() { pool.Forward(true) })
}

// TestMapSizes: what was forgotten in a plan is found by the first map.
func TestMapSizes(t *testing.T) {
	p := &nn.Plan{Arena: new(tensor.Arena)}
	panics(t, "Plan.Batch is 0", func() { p.Map(1, 1, 1, 1) })
	panics(t, "Plan.Arena is nil", func() { (&nn.Plan{Batch: 1}).Map(1, 1, 1, 1) })
	panics(t, "the plan is nil", func() { (*nn.Plan)(nil).Map(1, 1, 1, 1) })
	p.Batch = 2
	panics(t, "[3 0 4 5 2]", func() { p.Map(3, 0, 4, 5) })
	const huge = 1 << 30
	panics(t, "[1073741824 1073741824 1073741824 1 2] has more than", func() { p.Map(huge, huge, huge, 1) })
	p.Batch = math.MaxInt
	panics(t, "which no memory has", func() { p.Map(1, 1, 1, 1) })
	panics(t, `"w" has shape [3 -1]; no length may be negative`, func() { nn.NewParameter("w", nn.Weight, 3, -1) })
	panics(t, `"w" has shape [1073741824 1073741824 16]`, func() { nn.NewParameter("w", nn.Weight, huge, huge, 16) })
	if n := len(nn.NewParameter("w", nn.Weight, 0, huge, huge, huge).Host); n != 0 {
		t.Errorf("%d values", n)
	}
}

// TestHostLength: no call copies part of a parameter.
func TestHostLength(t *testing.T) {
	dev := must(tensor.NewCPU(1))
	defer dev.Close()
	for _, n := range []int{0, 2, 9} {
		var ps nn.Parameters
		w := nn.NewParameter("w", nn.Weight, 2, 2)
		ps.Add(w, nn.NewParameter("statistic", nn.Statistic, 3))
		whole, other := w.Host, make([]float32, n)
		want := fmt.Sprintf(`"w" has shape [2 2], but Host has %d values; 4 are needed`, n)
		w.Host = other
		panics(t, "Parameters.Bind: "+want, func() { ps.Bind(dev) })
		w.Host = whole
		if err := ps.Bind(dev); err != nil {
			t.Fatal(err)
		}
		w.Host = other
		panics(t, "Parameters.Upload: "+want, ps.Upload)
		panics(t, "Parameters.Download: "+want, ps.Download)
		ps.Release()
	}
}

// meagre is a device that gives no memory at first, and notes how many values it is asked for.
type meagre struct {
	tensor.Device
	asked []int
}

func (m *meagre) Alloc(n int) (tensor.Buffer, error) {
	m.asked = append(m.asked, n)
	if len(m.asked) == 1 {
		return tensor.Buffer{}, errors.New("no memory")
	}
	return m.Device.Alloc(n)
}

// After an error Bind plans what it planned before.
func TestParametersBindAgain(t *testing.T) {
	dev := &meagre{Device: must(tensor.NewCPU(1))}
	defer dev.Close()
	var ps nn.Parameters
	ps.Add(nn.NewParameter("w", nn.Weight, 20, 3), nn.NewParameter("stat", nn.Statistic, 40))
	panics(t, "Parameters.Bind: the device is nil", func() { ps.Bind(nil) })
	if err := ps.Bind(dev); err == nil {
		t.Fatal("bound without memory")
	}
	if err := ps.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer ps.Release()
	if dev.asked[0] != dev.asked[1] {
		t.Errorf("%d values are allocated, %d are needed", dev.asked[1], dev.asked[0])
	}
}
