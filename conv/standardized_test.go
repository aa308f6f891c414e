package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// standardizedPair is two group convolutions, each with a standardisation behind it.
type standardizedPair struct {
	dev     *tensor.CPU
	plan    *nn.Plan
	params  nn.Parameters
	in, out *nn.Map
	convs   [2]*Group
	norms   [2]*nn.Standardize
	list    *gumbel.Elements
}

// pairCase says what they are like.
type pairCase struct {
	group       lie.Group
	algorithm   Algorithm
	channels    int
	elements    int
	rigid       bool // elements come in pairs
	weighted    bool
	budget      int // of spectra, or 0 for the usual one, with that of x kept
	side, batch int
}

// newStandardizedPair plans them; with end, the plan knows which maps no later layer reads.
func newStandardizedPair(t *testing.T, c pairCase, threads int, end, inference bool) *standardizedPair {
	t.Helper()
	n := &standardizedPair{dev: newCPU(t, threads), plan: &nn.Plan{Arena: new(tensor.Arena), Batch: c.batch, Inference: inference}}
	n.list = gumbel.NewElements(c.group, c.elements)
	n.list.Rigid, n.list.Weighted = c.rigid, c.weighted
	n.in = n.plan.Map(c.channels, c.elements, c.side+1, c.side)
	n.in.KeepValue()
	x := n.in
	next := func(done *nn.Map) {
		if end {
			n.plan.Next(done)
		}
	}
	for i := range n.convs {
		l, err := NewGroup(Config{Name: fmt.Sprint("conv", i), Group: c.group, In: c.channels, Out: c.channels, Side: 5, Bias: true, Hidden: 8, Algorithm: c.algorithm}, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		n.convs[i], n.norms[i] = l, nn.NewStandardize()
		n.norms[i].ReLU = true
		n.params.Add(l.Parameters()...)
		raw := l.Plan(n.plan, x, n.list, n.list)
		if i > 0 {
			next(x)
		} else if end {
			n.plan.Next() // the gradient of the input is compared
		}
		x = n.norms[i].Plan(n.plan, raw)
		next(raw)
	}
	n.out = x
	if err := n.plan.Arena.Bind(n.dev); err != nil {
		t.Fatal(err)
	}
	if err := n.params.Bind(n.dev); err != nil {
		t.Fatal(err)
	}
	for i := range n.convs {
		n.convs[i].Bind(n.dev)
		n.norms[i].Bind(n.dev)
		if f, ok := n.convs[i].factored.(*frequency); ok && c.budget > 0 {
			f.lattice.budget, f.keptMap = c.budget, keptMap{} // so that the gradient reads x again
		}
	}
	return n
}

// step returns what a step computes; with poison, NaN lies wherever nothing is alive. With apart, nothing is measured
// while convolutions write it.
func (n *standardizedPair) step(c pairCase, poison, apart bool) [][]float32 {
	after := func(m tensor.Moment) {
		if poison {
			n.plan.Arena.Poison(m, float32(math.NaN()))
		}
	}
	get := func(b tensor.Buffer) []float32 {
		x := make([]float32, b.Len())
		n.dev.Download(x, b)
		return x
	}
	src := stream.New(1, "step", 0)
	n.params.ZeroGrad()
	n.list.ZeroGrad()
	if c.rigid || c.group.Dim() == 0 {
		copy(n.list.G, c.group.Grid(c.elements))
	} else {
		for i := range n.list.G {
			n.list.G[i] = c.group.Haar(src)
		}
	}
	if c.weighted {
		n.list.Weight, n.list.WeightGrad = make([]float64, len(n.list.G)), make([]float64, len(n.list.G))
		for i := range n.list.Weight {
			n.list.Weight[i] = 1 + float64(i%3)
		}
	}
	after(tensor.End)
	n.in.Written(c.elements)
	n.dev.Upload(n.in.Value, normal(src, n.in.Size()))
	layers := []interface {
		Forward(train bool)
		Backward()
	}{n.convs[0], n.norms[0], n.convs[1], n.norms[1]}
	for i, l := range layers {
		l.Forward(!n.plan.Inference)
		if i%2 == 0 && apart {
			n.convs[i/2].out.Written(c.elements)
		}
		after(tensor.ForwardOf(i))
	}
	out := [][]float32{get(n.out.Live())}
	if n.plan.Inference {
		return out
	}
	n.dev.Upload(n.out.Grad, normal(src, n.out.Size()))
	n.out.Accumulate()
	for i := len(layers) - 1; i >= 0; i-- {
		layers[i].Backward()
		if i > 0 {
			after(tensor.BackwardOf(i))
		}
	}
	out = append(out, get(n.in.LiveGrad()))
	for _, p := range n.params.All() {
		out = append(out, get(p.Grad))
	}
	out = append(out, angles(n.list.Grad))
	var weights []float32
	for _, g := range n.list.WeightGrad {
		weights = append(weights, float32(g))
	}
	return append(out, weights)
}

// TestStandardizedMaps: maps between convolutions by frequencies and standardisations have no memory where a plan
// knows that nobody else needs them, and all bits of a step are those of one with all maps in memory.
func TestStandardizedMaps(t *testing.T) {
	for name, c := range map[string]pairCase{
		"SE(2)":                {group: lie.SE2, algorithm: Frequency, channels: 3, elements: 3, side: 7, batch: 19},
		"SE(2), pairs":         {group: lie.SE2, algorithm: Frequency, channels: 3, elements: 4, rigid: true, side: 7, batch: 5},
		"SE(2), bands":         {group: lie.SE2, algorithm: Frequency, channels: 3, elements: 3, budget: 1, side: 7, batch: 4},
		"mirror, weights":      {group: lie.Mirror, algorithm: Frequency, channels: 3, elements: 2, rigid: true, weighted: true, side: 7, batch: 16},
		"D2, weights":          {group: lie.Dihedral(2), algorithm: Frequency, channels: 3, elements: 4, rigid: true, weighted: true, side: 7, batch: 5},
		"SE(2), many pairs":    {group: lie.SE2, algorithm: Frequency, channels: 16, elements: 2, rigid: true, side: 20, batch: 24},
		"SE(2), taps":          {group: lie.SE2, algorithm: Taps, channels: 3, elements: 3, side: 7, batch: 19},
		"SE(2), single images": {group: lie.SE2, algorithm: Frequency, channels: 3, elements: 3, side: 7, batch: 1},
	} {
		t.Run(name, func(t *testing.T) {
			asmtest.EachLevel(t, func(t *testing.T) {
				want := newStandardizedPair(t, c, 1, false, false).step(c, false, true)
				for _, inference := range []bool{false, true} {
					checkStandardizedMaps(t, c, inference, want)
				}
			})
		})
	}
}

// checkStandardizedMaps runs steps, or forward passes, with as little in memory as can be.
func checkStandardizedMaps(t *testing.T, c pairCase, inference bool, want [][]float32) {
	t.Helper()
	for threads := 1; threads <= 2; threads++ {
		n := newStandardizedPair(t, c, threads, true, inference)
		grad := c.algorithm == Taps || c.batch == 1
		value := grad || n.convs[1].weights != nil // which multiply what is in memory
		if inference {                             // where whoever looks at maps between the layers finds them
			value, grad = true, false
		}
		if got := [2]bool{!n.convs[1].in.Value.IsZero(), !n.convs[0].out.Grad.IsZero()}; got != [2]bool{value, grad} {
			t.Errorf("inference %v: in memory are value and gradient: %v, want %v", inference, got, [2]bool{value, grad})
		}
		for step, poison := range []bool{false, true} {
			got := n.step(c, poison, false)
			for k := range got { // in inference the output alone
				same(t, fmt.Sprintf("inference %v, %d threads, step %d, array %d", inference, threads, step, k), got[k], want[k], true)
			}
		}
	}
}
