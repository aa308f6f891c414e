package model

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/tensor"
)

// A run taken step by step is the one that Run takes, and its state can be saved and loaded
// after each of them.
func TestStepByStep(t *testing.T) {
	whole := newTrainer(t, quick(1))
	want, err := whole.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrainer(t, quick(1))
	path := filepath.Join(t.TempDir(), "state.safetensors")
	restart := func() {
		if err := tr.SaveState(path); err != nil {
			t.Fatal(err)
		}
		tr = newTrainer(t, quick(1))
		if err := tr.LoadState(path); err != nil {
			t.Fatal(err)
		}
	}
	total, _ := tr.Steps()
	for i := range total {
		if _, err := tr.EndEpoch(t.Context()); err == nil {
			t.Fatalf("an epoch ends before step %d", i+1)
		}
		if _, err := tr.Step(); err != nil {
			t.Fatal(err)
		}
		restart()
		if tr.Left() > 0 {
			continue
		}
		if _, err := tr.Step(); err == nil || !strings.Contains(err.Error(), "EndEpoch") {
			t.Fatalf("a step beyond the epoch: %v", err)
		}
		restart()
		m, err := tr.EndEpoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(tr.Epochs()); m.Step != i+1 || m.Epoch != n || m.TrainAccuracy > 1 {
			t.Errorf("after %d steps and %d epochs: %+v", i+1, n, m)
		}
		restart()
	}
	if _, err := tr.EndEpoch(t.Context()); err == nil {
		t.Error("an epoch after the last one")
	}
	if _, done := tr.Steps(); done != total || tr.Left() != 0 {
		t.Errorf("%d of %d steps, %d left", done, total, tr.Left())
	}
	got, err := tr.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Test != want.Test || got.Steps != want.Steps || !slices.Equal(bits(tr.net), bits(whole.net)) {
		t.Errorf("step by step %+v after %d steps, at once %+v after %d", got.Test, got.Steps, want.Test, want.Steps)
	}
}

func TestClosedTrainer(t *testing.T) {
	tr := newTrainer(t, quick(1))
	take(t, tr, 1)
	tr.Close()
	tr.Close()
	path := filepath.Join(t.TempDir(), "state.safetensors")
	_, step := tr.Step()
	_, end := tr.EndEpoch(t.Context())
	_, run := tr.Run(t.Context())
	for i, err := range []error{step, end, run, tr.SaveState(path), tr.LoadState(path)} {
		if !errors.Is(err, errClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// The best weights can be had after Close too.
func TestRestoreBestAfterClose(t *testing.T) {
	cfg := quick(1)
	cfg.StepsPerEpoch = 1
	tr := newTrainer(t, cfg)
	take(t, tr, 1)
	if _, err := tr.EndEpoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	tr.net.params.Download()
	best := slices.Clone(tr.net.params.All()[0].Host)
	take(t, tr, 1)
	tr.Close()
	if slices.Equal(best, tr.net.params.All()[0].Host) {
		t.Fatal("the second step moved no weight")
	}
	tr.RestoreBest()
	if !slices.Equal(best, tr.net.params.All()[0].Host) {
		t.Error("the closed trainer's network has other weights than those of the best epoch")
	}
}

// A run ends with an error where it is closed on the way.
func TestClosedOnTheWay(t *testing.T) {
	var tr *Trainer
	for what, change := range map[string]func(*TrainConfig){
		"step":  func(c *TrainConfig) { c.OnStep = func(Progress) { tr.Close() } },
		"epoch": func(c *TrainConfig) { c.OnEpoch = func(EpochMetrics) { tr.Close() } },
	} {
		cfg := quick(1)
		cfg.Epochs, cfg.StepsPerEpoch, cfg.Schedule = 1, 1, ConstantSchedule
		change(&cfg)
		tr = newTrainer(t, cfg)
		if _, err := tr.Run(t.Context()); err != errClosed {
			t.Errorf("closed after a %s: %v", what, err)
		}
	}
}

// Check knows without data what NewTrainer refuses, and changes nothing in what it checks.
func TestCheckWithoutData(t *testing.T) {
	net := newTiny(t)
	for field, change := range map[string]func(c *TrainConfig){
		"Epochs":              func(c *TrainConfig) { c.Epochs = -1 },
		"Batch":               func(c *TrainConfig) { c.Batch = maxBatch + 1 },
		"Warmup":              func(c *TrainConfig) { c.Warmup = c.Epochs },
		"Schedule":            func(c *TrainConfig) { c.Schedule = "linear" },
		"Penalties.Norms":     func(c *TrainConfig) { c.Penalties.Norms = -1 },
		"Penalties.Width":     func(c *TrainConfig) { c.Penalties.Width = 1 },
		"Augment":             func(c *TrainConfig) { c.Augment.Crop = net.cfg.Side },
		"Penalties.Monotonic": func(c *TrainConfig) { c.Penalties.Monotonic = 1e7 },
	} {
		cfg := quick(1)
		change(&cfg)
		var e, same *ConfigError
		if err := cfg.Check(net); !errors.As(err, &e) || e.Field != "TrainConfig."+field {
			t.Errorf("%s out of range gives %v", field, err)
		} else if _, err := NewTrainer(net, toySet(), cfg); !errors.As(err, &same) || same.Error() != e.Error() {
			t.Errorf("%s: NewTrainer says %v, Check %v", field, err, e)
		}
	}
	if err := (TrainConfig{}).Check(net); err != nil {
		t.Error(err)
	}
}

func TestTrainerOfBoundNetwork(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	net := newTiny(t)
	if err := net.Bind(dev, 4, false); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	if _, err := NewTrainer(net, toySet(), quick(1)); err == nil || !strings.Contains(err.Error(), "Release") {
		t.Errorf("a bound network is trained: %v", err)
	}
}

// Images to train on alone are changed at random: what an epoch says of those to validate by
// does not know of it, where the weights do not move.
func TestAugmentationLeavesValidation(t *testing.T) {
	epoch := func(change func(c *TrainConfig)) EpochMetrics {
		cfg := quick(1)
		cfg.Schedule, cfg.StepsPerEpoch = ConstantSchedule, 1
		cfg.Optimizer.LR, cfg.Optimizer.SubsetLR = 1e-30, 1e-30
		change(&cfg)
		tr := newTrainerOf(t, newTinyLayerNorm(t), cfg)
		take(t, tr, 1)
		m, err := tr.EndEpoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := epoch(func(*TrainConfig) {})
	for name, change := range map[string]func(c *TrainConfig){
		"rotation": func(c *TrainConfig) { c.Augment.Rotate = math.Pi }, "crop": func(c *TrainConfig) { c.Augment.Crop = 5 },
	} {
		changed := epoch(change)
		if math.Abs(changed.TrainLoss-plain.TrainLoss) < 1e-4 {
			t.Errorf("%s: a training loss of %v, without %v", name, changed.TrainLoss, plain.TrainLoss)
		}
		if !(math.Abs(changed.ValidationLoss-plain.ValidationLoss) <= 1e-7) || changed.ValidationAccuracy != plain.ValidationAccuracy {
			t.Errorf("%s: a validation loss of %v, without %v", name, changed.ValidationLoss, plain.ValidationLoss)
		}
	}
}
