package siren

import (
	"math"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// harness is a network alone on a CPU.
type harness struct {
	*Net
	dev    *tensor.CPU
	params nn.Parameters
	arena  tensor.Arena
	x, dx  tensor.Buffer // [In, max]
	y, dy  tensor.Buffer // [Out, max]
}

func newHarness(t testing.TB, n *Net, positions, threads int, inference bool) *harness {
	t.Helper()
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{Net: n, dev: dev}
	t.Cleanup(func() {
		h.arena.Release()
		h.params.Release()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	h.params.Add(n.Parameters()...)
	n.Plan(&nn.Plan{Arena: &h.arena, Batch: 1, Inference: inference}, positions)
	h.arena.Reserve(&h.x, n.In()*positions)
	h.arena.Reserve(&h.dx, n.In()*positions)
	h.arena.Reserve(&h.y, n.Out()*positions)
	h.arena.Reserve(&h.dy, n.Out()*positions)
	if err := h.arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	if err := h.params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	n.Bind(dev)
	return h
}

func mustNet(t testing.TB, name string, cfg Config, seed uint64) *Net {
	t.Helper()
	n, err := New(name, cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// eval evaluates the network at the first positions x [In, positions].
func (h *harness) eval(x tensor.Buffer, positions int) tensor.Buffer {
	h.Forward(h.y, x, positions)
	return h.y.Slice(0, h.Out()*positions)
}

// download returns a copy of a buffer.
func (h *harness) download(b tensor.Buffer) []float32 {
	x := make([]float32, b.Len())
	h.dev.Download(x, b)
	return x
}

// evaluate is the network in float64, as its definition has it: x [In, P] to
// [Out, P]. The values of the parameters are given in the order of Parameters,
// those of constant frequencies left out.
func evaluate(n *Net, values [][]float64, x []float64) []float64 {
	h, in := x, n.cfg.In
	positions := len(x) / in
	next := func() []float64 {
		v := values[0]
		values = values[1:]
		return v
	}
	for _, l := range n.layers {
		w := next()
		if l.norm != nil {
			g, v := w, next()
			w = make([]float64, len(v))
			for o := range l.out {
				length := 0.0
				for _, e := range v[o*in : (o+1)*in] {
					length += e * e
				}
				for i := range in {
					w[o*in+i] = g[o] * v[o*in+i] / math.Sqrt(length)
				}
			}
		}
		b := next()
		y := make([]float64, l.out*positions)
		for o := range l.out {
			for p := range positions {
				s := b[o]
				for i := range in {
					s += w[o*in+i] * h[i*positions+p]
				}
				y[o*positions+p] = s
			}
		}
		if l.omega != nil {
			omega := float64(l.omega.Host[0])
			if l.omega.Class == nn.Frequency {
				omega = next()[0]
			}
			for i := range y {
				y[i] = math.Sin(omega * y[i])
			}
		}
		h, in = y, l.out
	}
	return h
}
