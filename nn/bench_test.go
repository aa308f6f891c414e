package nn_test

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// BenchmarkNorms runs all that lies between the convolutions of the RotMNIST
// network on SE(2) with 8 elements, batch 64: normalisation, sums, pooling, ReLU.
// The bytes are those of the convolutions' results; a copy of as many bytes,
// which reads and writes them, is the yardstick.
func BenchmarkNorms(b *testing.B) {
	for _, threads := range []int{1, 2} {
		n := newNorms(b, threads)
		size := 0
		for _, m := range n.inputs {
			size += m.Size()
		}
		run := func(pass string, f func()) {
			b.Run(fmt.Sprintf("pass=%s/threads=%d", pass, threads), func(b *testing.B) {
				b.SetBytes(int64(4 * size))
				for b.Loop() {
					f()
				}
			})
		}
		run("forward", n.forward)
		run("backward", n.backward)
		from, err := n.dev.Alloc(size)
		if err != nil {
			b.Fatal(err)
		}
		to, err := n.dev.Alloc(size)
		if err != nil {
			b.Fatal(err)
		}
		run("copy", func() { n.dev.Copy(to, from) })
	}
}

// norms are the layers between convolutions.
type norms struct {
	dev    *tensor.CPU
	layers []nn.Layer
	inputs []*nn.Map
	plan   *nn.Plan
	params nn.Parameters
}

func newNorms(b *testing.B, threads int) *norms {
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Close() })
	n := &norms{dev: dev, plan: &nn.Plan{Arena: new(tensor.Arena), Batch: 64}}
	outputs := []*nn.Map{n.norm(32, 28, true, false)}
	for _, s := range [][2]int{{32, 14}, {64, 7}} {
		outputs = append(outputs, n.standardize(n.input(s[0], s[1])), n.norm(s[0], s[1], s[1] == 14, true))
	}
	if err := n.plan.Arena.Bind(dev); err != nil {
		b.Fatal(err)
	}
	if err := n.params.Bind(dev); err != nil {
		b.Fatal(err)
	}
	for _, l := range n.layers {
		l.Bind(dev)
	}
	x := make([]float32, n.inputs[0].Size()) // the largest
	for i, some := 0, gradcheck.Normal(99991, 1); i < len(x); {
		i += copy(x[i:], some)
	}
	for _, m := range append(n.inputs, outputs...) {
		m.Written(m.N)
		dev.Upload(m.Live(), x[:m.Size()])
		dev.Upload(m.LiveGrad(), x[:m.Size()])
	}
	n.forward()
	return n
}

// input is what a convolution computes.
func (n *norms) input(c, side int) *nn.Map {
	m := n.plan.Map(c, 8, side, side)
	n.inputs = append(n.inputs, m)
	return m
}

func (n *norms) standardize(in *nn.Map) *nn.Map {
	l := nn.NewStandardize()
	l.ReLU = true
	n.layers = append(n.layers, l)
	return l.Plan(n.plan, in)
}

// norm is batch normalisation, of the sum of a shortcut and a standardised map
// if sum is set.
func (n *norms) norm(c, side int, pool, sum bool) *nn.Map {
	l := must(nn.NewBatchNorm(fmt.Sprint("norm", len(n.layers)), c))
	l.Pool, l.ReLU = pool, true
	n.params.Add(l.Parameters()...)
	var out *nn.Map
	if sum {
		out = l.PlanSum(n.plan, n.standardize(n.input(c, side)), n.input(c, side))
	} else {
		out = l.Plan(n.plan, n.input(c, side))
	}
	n.layers = append(n.layers, l)
	return out
}

func (n *norms) forward() {
	for _, l := range n.layers {
		l.Forward(true)
	}
}

func (n *norms) backward() {
	for _, m := range n.inputs {
		m.Written(m.N) // no gradient has come yet
	}
	for i := len(n.layers) - 1; i >= 0; i-- {
		n.layers[i].Backward()
	}
}
