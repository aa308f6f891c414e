package nn_test

import (
	"math"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// doubling is a layer, y = 2x, that takes its maps plane by plane.
type doubling struct {
	in, out *nn.Map
	plane   []float32
}

func (l *doubling) Parameters() []*nn.Parameter { return nil }
func (l *doubling) Bind(tensor.Device)          {}

func (l *doubling) Plan(p *nn.Plan, in *nn.Map) *nn.Map {
	in.ReadPlanes()
	l.in, l.out = in, p.Like(in, in.C, in.H, in.W)
	l.out.TakePlanes()
	l.plane = make([]float32, in.H*in.W*in.B)
	return l.out
}

// read returns twice a plane that is computed or lies in memory.
func (l *doubling) read(of tensor.Buffer, computed func(dst []float32, plane int), i int) []float32 {
	if computed != nil {
		computed(l.plane, i)
	} else {
		copy(l.plane, of.Host()[i*len(l.plane):])
	}
	for k := range l.plane {
		l.plane[k] *= 2
	}
	return l.plane
}

func (l *doubling) Forward(bool) {
	l.out.Written(l.in.N)
	written := l.out.PlaneWritten()
	for i := range l.in.C * l.in.N {
		copy(l.out.Value.Host()[i*len(l.plane):], l.read(l.in.Value, l.in.Planes(), i))
		if written != nil {
			written(i)
		}
	}
}

func (l *doubling) Backward() {
	add := l.in.Accumulate()
	for i := range l.in.C * l.in.N {
		dx := l.in.Grad.Host()[i*len(l.plane):]
		for k, g := range l.read(l.out.Grad, l.out.GradPlanes(), i) {
			if add {
				g += dx[k]
			}
			dx[k] = g
		}
	}
}

// planeNet is a network that a test plans.
type planeNet struct {
	dev    *tensor.CPU
	plan   *nn.Plan
	params nn.Parameters
	end    bool
	in     *nn.Map
	out    *nn.Map
	passes []pass
}

// then plans a layer behind m, which another reads later if it is not done.
func (n *planeNet) then(l nn.Layer, m *nn.Map, done bool) *nn.Map {
	n.params.Add(l.Parameters()...)
	out := l.Plan(n.plan, m)
	if done {
		n.ended(l, out, m)
	} else {
		n.ended(l, out)
	}
	return out
}

// plus plans a sum.
func (n *planeNet) plus(a, b *nn.Map) *nn.Map {
	l := nn.NewAdd()
	out := l.Plan(n.plan, a, b)
	n.ended(l, out, a, b)
	return out
}

func (n *planeNet) ended(l pass, out *nn.Map, done ...*nn.Map) {
	n.passes = append(n.passes, l)
	if n.end {
		n.plan.Next(done...)
	}
}

// step returns the output and the gradient of the input, of so many live elements; with poison, NaN lies wherever nothing is alive.
func (n *planeNet) step(elements int, poison bool) [][]float32 {
	after := func(m tensor.Moment) {
		if poison {
			n.plan.Arena.Poison(m, float32(math.NaN()))
		}
	}
	after(tensor.End)
	n.in.Written(elements)
	n.dev.Upload(n.in.Live(), gradcheck.Normal(n.in.Size(), 1))
	for i, l := range n.passes {
		if d, ok := l.(*nn.Dropout); ok {
			d.Draw(stream.New(1, "dropout", 0))
		}
		l.Forward(true)
		after(tensor.ForwardOf(i))
	}
	get := func(b tensor.Buffer) []float32 {
		x := make([]float32, b.Len())
		n.dev.Download(x, b)
		return x
	}
	out := [][]float32{get(n.out.Live())}
	n.dev.Upload(n.out.Grad, gradcheck.Normal(n.out.Size(), 2))
	n.out.Accumulate()
	for i := len(n.passes) - 1; i >= 0; i-- {
		n.passes[i].Backward()
		if i > 0 {
			after(tensor.BackwardOf(i))
		}
	}
	return append(out, get(n.in.LiveGrad()))
}

// TestPlanes: what a Standardize makes, and the gradient that it passes on, is in memory only where some layer needs
// it there, and either way a step has the same bits.
func TestPlanes(t *testing.T) {
	for name, c := range map[string]struct {
		plan        func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map)
		value, grad bool // which are in memory
	}{
		"alone": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, true)
			return made, n.then(new(doubling), made, true)
		}, false, false},
		"two readers": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, true)
			a := n.then(new(doubling), made, false)
			return made, n.plus(n.then(new(doubling), made, true), a)
		}, false, false},
		"a reader of the value": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, true)
			a := n.then(new(doubling), made, false)
			return made, n.plus(a, made)
		}, true, false},
		"in place": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, true)
			return made, n.then(new(doubling), n.then(nn.NewReLU(), made, true), true)
		}, true, false},
		"in place before": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, n.then(nn.NewReLU(), raw, true), true)
			return made, n.then(new(doubling), made, true)
		}, false, true},
		"a sum in place": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			a := n.then(new(doubling), raw, false)
			made = n.then(std, raw, true)
			return made, n.then(new(doubling), n.plus(made, a), true)
		}, true, true},
		"dropout": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, true)
			return made, n.then(new(doubling), n.then(must(nn.NewDropout("dropout", 0.5)), made, true), true)
		}, true, false},
		"a reader of what is standardised": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			made = n.then(std, raw, false)
			a := n.then(new(doubling), made, true)
			return made, n.plus(a, raw)
		}, false, true},
		"standardised twice": {func(n *planeNet, std *nn.Standardize, raw *nn.Map) (made, out *nn.Map) {
			other := n.then(nn.NewStandardize(), raw, false)
			made = n.then(std, raw, true)
			return made, n.plus(n.then(new(doubling), made, true), n.then(new(doubling), other, true))
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var want [2][][]float32
			for _, end := range []bool{false, true} {
				dev := must(tensor.NewCPU(2))
				defer dev.Close()
				n := &planeNet{dev: dev, plan: &nn.Plan{Arena: new(tensor.Arena), Batch: 5}, end: end}
				n.in = n.plan.Map(3, 4, 6, 5)
				raw := n.then(new(doubling), n.in, false) // whose gradient is compared
				std := nn.NewStandardize()
				std.ReLU = true
				made, out := c.plan(n, std, raw)
				n.out = out
				if err := n.plan.Arena.Bind(dev); err != nil {
					t.Fatal(err)
				}
				for _, l := range n.passes {
					l.Bind(dev)
				}
				if got := [2]bool{!made.Value.IsZero(), !raw.Grad.IsZero()}; got != [2]bool{c.value || !end, c.grad || !end} {
					t.Errorf("end %v: in memory are value and gradient: %v", end, got)
				}
				for i, poison := range []bool{false, true} {
					got := n.step(2+i, poison && end)
					if !end {
						want[i] = got
					}
					for k := range want[i] {
						if j := firstOther(got[k], want[i][k]); j >= 0 {
							t.Fatalf("end %v, step %d, array %d, value %d: %v, else %v", end, i, k, j, got[k][j], want[i][k][j])
						}
					}
				}
			}
		})
	}
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

// TestRewrittenMap: planes that were measured count no more when somebody writes the map anew.
func TestRewrittenMap(t *testing.T) {
	dev := must(tensor.NewCPU(1))
	defer dev.Close()
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
	in := p.Map(1, 1, 3, 3)
	first, std, last := new(doubling), nn.NewStandardize(), new(doubling)
	raw := first.Plan(p, in)
	p.Next()
	made := std.Plan(p, raw)
	p.Next(raw)
	out := last.Plan(p, made)
	p.Next(made)
	if err := p.Arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	std.Bind(dev)
	if !made.Value.IsZero() {
		t.Fatal("what is standardised is in memory")
	}
	in.Written(1)
	dev.Upload(in.Value, gradcheck.Normal(in.Size(), 1))
	first.Forward(true)
	raw.Written(1)
	dev.Upload(raw.Value, gradcheck.Normal(raw.Size(), 2))
	std.Forward(true)
	last.Forward(true)
	sum := float32(0)
	for i := 0; i < out.Size(); i += 2 {
		sum += out.Value.Host()[i]
	}
	if math.Abs(float64(sum)) > 1e-5 {
		t.Errorf("the values of an image add up to %v", sum)
	}
}
