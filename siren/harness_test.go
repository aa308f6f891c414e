package siren

import (
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// harness is a network alone on a device.
type harness struct {
	LowRank
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

// eachDevice runs f on a CPU and on another device, if networks of that
// configuration run there.
func eachDevice(t *testing.T, cfg any, threads int, f func(t *testing.T, dev tensor.Device)) {
	t.Helper()
	t.Run("device=cpu", func(t *testing.T) { f(t, newDevice(t, threads)) })
	if _, ok := cfg.(Config); !ok {
		return
	}
	t.Run("device=other", func(t *testing.T) { f(t, otherDevice{newDevice(t, threads)}) })
}

// another returns a new device of the kind of dev.
func another(t testing.TB, dev tensor.Device, threads int) tensor.Device {
	if _, ok := dev.(otherDevice); ok {
		return otherDevice{newDevice(t, threads)}
	}
	return newDevice(t, threads)
}

func newHarness(t testing.TB, n LowRank, positions, threads int, inference bool) *harness {
	t.Helper()
	return newHarnessOn(t, newDevice(t, threads), n, positions, inference)
}

func newHarnessOn(t testing.TB, dev tensor.Device, n LowRank, positions int, inference bool) *harness {
	t.Helper()
	h := &harness{LowRank: n, dev: dev}
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

// create returns a network of any kind: cfg is its configuration.
func create(name string, cfg any, seed uint64) (LowRank, error) {
	switch cfg := cfg.(type) {
	case FiltersConfig:
		return NewFilters(name, cfg, seed)
	case MLPConfig:
		return NewMLP(name, cfg, seed)
	}
	return New(name, cfg.(Config), seed)
}

// build is create for configurations without mistakes.
func build(t testing.TB, name string, cfg any, seed uint64) LowRank {
	t.Helper()
	n, err := create(name, cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return n
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
