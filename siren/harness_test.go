package siren

import (
	"math"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// harness is a network alone on a device.
type harness struct {
	*Net
	dev    tensor.Device
	params nn.Parameters
	arena  tensor.Arena
	x, dx  tensor.Buffer // [In, max]
	y, dy  tensor.Buffer // [Out, max]
}

// otherDevice is a CPU that a network does not know for one: it runs the
// operations of tensor.Device.
type otherDevice struct{ tensor.Device }

func newDevice(t testing.TB, threads int) tensor.Device {
	t.Helper()
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// eachDevice runs f on a CPU and on another device.
func eachDevice(t *testing.T, threads int, f func(t *testing.T, dev tensor.Device)) {
	t.Helper()
	t.Run("device=cpu", func(t *testing.T) { f(t, newDevice(t, threads)) })
	t.Run("device=other", func(t *testing.T) { f(t, otherDevice{newDevice(t, threads)}) })
}

// another returns a new device of the kind of dev.
func another(t testing.TB, dev tensor.Device, threads int) tensor.Device {
	if _, ok := dev.(otherDevice); ok {
		return otherDevice{newDevice(t, threads)}
	}
	return newDevice(t, threads)
}

func newHarness(t testing.TB, n *Net, positions, threads int, inference bool) *harness {
	t.Helper()
	return newHarnessOn(t, newDevice(t, threads), n, positions, inference)
}

func newHarnessOn(t testing.TB, dev tensor.Device, n *Net, positions int, inference bool) *harness {
	t.Helper()
	h := &harness{Net: n, dev: dev}
	t.Cleanup(func() {
		h.arena.Release()
		h.params.Release()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	h.params.Add(n.Parameters()...)
	n.Plan(&nn.Plan{Device: dev, Arena: &h.arena, Batch: 1, Inference: inference}, positions)
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
	h, in := x, n.in
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
