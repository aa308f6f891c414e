package nn_test

import (
	"math"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// chain is a residual network whose plan says where maps end.
type chain struct {
	dev    *tensor.CPU
	plan   *nn.Plan
	params nn.Parameters
	in     *nn.Map
	out    *nn.Map
	loss   *nn.CrossEntropy
	layers []interface {
		Forward(train bool)
		Backward()
	}
}

// newChain plans the network; with end, it tells the plan which maps no later
// layer reads.
func newChain(t *testing.T, end, inference bool) *chain {
	t.Helper()
	dev, err := tensor.NewCPU(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	n := &chain{dev: dev, plan: &nn.Plan{Arena: new(tensor.Arena), Batch: 8, Inference: inference}}
	var binders []binder
	next := func(done ...*nn.Map) {
		if end {
			n.plan.Next(done...)
		}
	}
	add := func(l nn.Layer, in *nn.Map, done bool) *nn.Map {
		n.layers, binders = append(n.layers, l), append(binders, l)
		n.params.Add(l.Parameters()...)
		out := l.Plan(n.plan, in)
		if done {
			next(in)
		} else {
			next()
		}
		return out
	}
	n.in = n.plan.Map(3, 4, 10, 9)
	x := add(must(nn.NewLinear("first", 3, 6, 1)), n.in, true)
	for _, name := range []string{"a", "b"} {
		skip := x
		x = add(must(nn.NewBatchNorm(name, 6)), x, false) // skip is read below
		x = add(nn.NewReLU(), x, true)
		x = add(must(nn.NewLinear(name+".linear", 6, 6, 2)), x, true)
		x = add(nn.NewStandardize(), x, true)
		x = add(nn.NewReLU(), x, true)
		sum := nn.NewAdd()
		n.layers, binders = append(n.layers, sum), append(binders, sum)
		out := sum.Plan(n.plan, x, skip) // in place on x where that is not kept
		next(x, skip)
		x = out
	}
	x = add(nn.NewMaxPool2(), x, true)
	x = add(nn.NewReLU(), x, true)
	x = add(nn.NewGlobalMax(), x, true)
	n.out = add(must(nn.NewLinear("last", 6, 4, 3)), x, true)
	n.loss = nn.NewCrossEntropy()
	n.loss.Plan(n.plan, n.out)
	if err := n.plan.Arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	if err := n.params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	for _, l := range binders {
		l.Bind(dev)
	}
	n.loss.Bind(dev)
	return n
}

// step runs a step and returns all that it computes; with poison, NaN lies
// wherever nothing is alive.
func (n *chain) step(poison bool) [][]float32 {
	after := func(m tensor.Moment) {
		if poison {
			n.plan.Arena.Poison(m, float32(math.NaN()))
		}
	}
	after(tensor.End)
	n.in.Written(3)
	n.dev.Upload(n.in.Live(), gradcheck.Normal(n.in.Size(), 1))
	for i, l := range n.layers {
		l.Forward(!n.plan.Inference)
		after(tensor.ForwardOf(i))
	}
	out := [][]float32{make([]float32, n.out.Size())}
	n.dev.Download(out[0], n.out.Live())
	if n.plan.Inference {
		return out
	}
	n.params.ZeroGrad()
	n.loss.SetLabels(labels(4, 8))
	n.loss.Forward(true)
	n.loss.Backward()
	after(tensor.BackwardOf(len(n.layers))) // the loss is the last layer
	for i := len(n.layers) - 1; i >= 0; i-- {
		n.layers[i].Backward()
		after(tensor.BackwardOf(i))
	}
	for _, p := range n.params.All() {
		for _, b := range []tensor.Buffer{p.Value, p.Grad} {
			out = append(out, make([]float32, b.Len()))
			n.dev.Download(out[len(out)-1], b)
		}
	}
	return out
}

// TestLifetimes: a step gives the same bits when maps share memory, and when
// everything dead is overwritten between the layers.
func TestLifetimes(t *testing.T) {
	for _, inference := range []bool{false, true} {
		apart, shared := newChain(t, false, inference), newChain(t, true, inference)
		want := apart.step(false)
		for step, poison := range []bool{false, true, true, false} {
			if step > 0 && !inference { // statistics go on from step to step
				want = apart.step(false)
			}
			got := shared.step(poison)
			for i := range want {
				for j := range want[i] {
					if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
						t.Fatalf("inference %v, step %d, array %d, value %d: %v, without sharing %v",
							inference, step, i, j, got[i][j], want[i][j])
					}
				}
			}
		}
		size, live, before := shared.plan.Arena.Size(), shared.plan.Arena.Live(), apart.plan.Arena.Size()
		t.Logf("inference %v: %d values apart, %d shared, of which %d are alive at once", inference, before, size, live)
		if size > before*3/4 || inference && size > before/2 {
			t.Errorf("inference %v: %d values shared, %d apart", inference, size, before)
		}
	}
}

// TestPoisonFinds: overwriting what is alive would show.
func TestPoisonFinds(t *testing.T) {
	n := newChain(t, true, false)
	n.step(false)
	n.plan.Arena.Poison(tensor.BackwardOf(0), float32(math.NaN())) // the step is over
	n.layers[0].Backward()
	got := make([]float32, len(n.params.All()[0].Host))
	n.dev.Download(got, n.params.All()[0].Grad)
	if got[0] == got[0] {
		t.Errorf("a gradient computed of overwritten values is %v", got[0])
	}
}

func TestNextRefuses(t *testing.T) {
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 1}
	m := p.Map(1, 1, 2, 2)
	p.Next(m)
	panics(t, "done before", func() { p.Next(m) })
	panics(t, "another plan", func() { p.Next(&nn.Map{}) })
	panics(t, "no layer was to read", m.KeepValue)
}
