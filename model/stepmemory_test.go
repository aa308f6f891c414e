package model

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// TestStepMemory: the memory of the whole group is what a trainer's plan takes; with
// every subset at 1 that of what is drawn is the same, and with smaller ones it is less where
// intervals are learned.
func TestStepMemory(t *testing.T) {
	check := func(t *testing.T, newNet func(*testing.T) *Network) {
		net, cfg := newNet(t), quick(1)
		if net.cfg.Group.Dim() == 1 {
			cfg.Penalties.Norms = 1e-3
		}
		newTrainerOf(t, net, cfg)
		planned := 4 * int64(net.plan.arena.Size())
		for _, theta := range []float64{1, 0.3} {
			net.SetSubsets(theta)
			got, err := net.StepMemory(cfg)
			if err != nil {
				t.Fatal(err)
			}
			less := false
			for _, s := range net.learners() {
				less = less || s.Cells() < net.cfg.Elements
			}
			if got.Whole != planned || less != (got.Learned < planned) || got.Learned > planned {
				t.Errorf("subsets of %g: %+v, a trainer plans %d bytes; fewer elements: %v", theta, got, planned, less)
			}
		}
	}
	eachArchitecture(t, check)
	eachDropping(t, check)
}

// TestStepMemoryAllocates: a batch that no memory has room for is counted without any
// memory that grows with it.
func TestStepMemoryAllocates(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		if net.cfg.PerElement {
			t.Skip("a list of elements for each image")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		step, err := net.StepMemory(TrainConfig{Batch: maxBatch})
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if err != nil || took > 1<<22 || took > step.Whole/1000 {
			t.Errorf("%+v, %v, with %d bytes allocated", step, err, took)
		}
	})
}

// TestStepMemoryRefuses: penalties that no run of the network can have are errors, as of NewTrainer.
func TestStepMemoryRefuses(t *testing.T) {
	scaled, err := NewCKResNet(CKResNetConfig{Group: lie.RPlus, Elements: 2, Side: 12, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		net   *Network
		norms float64
	}{
		"norms on scalings": {scaled, 1e-4},
		"norms not numbers": {newTiny(t), math.NaN()},
	} {
		cfg := TrainConfig{Penalties: Penalties{Norms: c.norms}}
		var bad *ConfigError
		if _, err := c.net.StepMemory(cfg); !errors.As(err, &bad) || bad.Field != "TrainConfig.Penalties.Norms" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestStepMemorySuffices: a plan of that size for what the learned subsets draw computes
// what the plan for the whole group does.
func TestStepMemorySuffices(t *testing.T) {
	const batch = 6
	set := toySet()
	images, labels := make([]float32, batch*144), make([]float32, batch)
	set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5})
	check := func(t *testing.T, newNet func(*testing.T) *Network) {
		var want []float32
		var sizes [2]int64
		for i, drawn := range []bool{false, true} {
			dev, err := tensor.NewCPU(2)
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			net := newNet(t)
			if net.augerino != nil {
				t.Skip("planned anew by every Draw: see TestAugerinoPlansAnew")
			}
			if err := net.params.Bind(dev); err != nil {
				t.Fatal(err)
			}
			for _, s := range net.distributions() {
				s.Bind(dev)
				s.SetSize(0.3)
			}
			p := &plan{dev: dev, batch: batch}
			for _, s := range net.samplers {
				if drawn {
					p.most = append(p.most, s.Cells())
				}
			}
			if err := net.layOut(p, nn.Plan{Batch: batch}); err != nil {
				t.Fatal(err)
			}
			net.plan = p
			defer net.Release()
			sizes[i] = 4 * int64(p.arena.Size())
			if drawn {
				got, err := net.StepMemory(TrainConfig{Batch: batch})
				if err != nil || got != (StepMemory{sizes[1], sizes[0]}) {
					t.Errorf("%+v, %v; the plans take %d", got, err, sizes)
				}
			}
			net.Draw(1, Training, 7)
			net.Forward(images, true)
			got := make([]float32, net.Logits().Size())
			dev.Download(got, net.Logits().Live())
			net.Backward(labels)
			for _, p := range net.params.All() {
				g := make([]float32, p.Grad.Len())
				dev.Download(g, p.Grad)
				got = append(got, g...)
			}
			if want == nil {
				want = got
			}
			scale := 0.0
			for _, v := range want {
				scale = max(scale, math.Abs(float64(v)))
			}
			for i, v := range got {
				if d := math.Abs(float64(v - want[i])); !(d <= 1e-4*scale) {
					t.Fatalf("value %d is %v, on the larger plan %v", i, v, want[i])
				}
			}
		}
	}
	eachArchitecture(t, check)
	eachDropping(t, check)
}
