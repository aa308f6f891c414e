package model

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/lie"
)

// TestSchedules runs a network by each schedule in steps and looks at the rates of its
// epochs, also where the run is stopped and resumed between them.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		schedule Schedule
		decay    Decay
		check    func(epochs []EpochMetrics) bool
	}{
		{MultiStepSchedule, Decay{Epochs: []int{1, 3}, Factor: 4}, func(e []EpochMetrics) bool {
			return e[0].LearningRate == 1e-3 && e[1].LearningRate == 1e-3/4 && e[2].LearningRate == 1e-3/4 && e[3].LearningRate == 1e-3/16
		}},
		{CosineSchedule, Decay{}, func(e []EpochMetrics) bool { // two epochs of five steps to warm up
			return math.Abs(e[0].LearningRate-1e-3*5/10) < 1e-15 && math.Abs(e[1].LearningRate-1e-3) < 1e-15 && e[2].LearningRate < 1e-3
		}},
		{PlateauSchedule, Decay{}, func(e []EpochMetrics) bool {
			best, rate := 0.0, 1e-3
			for i, m := range e {
				if !(math.Abs(m.LearningRate-rate) <= 1e-18) {
					return false
				}
				if i > 0 && m.ValidationAccuracy <= best*(1+1e-4) {
					rate /= 10
				}
				best = max(best, m.ValidationAccuracy)
			}
			return rate < 1e-3
		}},
	} {
		t.Run(string(c.schedule), func(t *testing.T) {
			cfg := quick(1)
			cfg.Epochs, cfg.Schedule, cfg.Decay = 6, c.schedule, c.decay
			if c.schedule == CosineSchedule {
				cfg.Warmup = 2
			}
			whole := newTrainer(t, cfg)
			run, err := whole.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(run.Epochs) {
				for _, m := range run.Epochs {
					t.Logf("epoch %d: rate %v, accuracy %v", m.Epoch, m.LearningRate, m.ValidationAccuracy)
				}
				t.Error("these are other rates than the schedule says")
			}

			path := filepath.Join(t.TempDir(), "state")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			first := cfg
			first.OnStep = func(p Progress) {
				if p.Step == 23 {
					cancel()
				}
			}
			tr := newTrainer(t, first)
			if _, err := tr.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := tr.SaveState(path); err != nil {
				t.Fatal(err)
			}
			tr = newTrainer(t, cfg)
			if err := tr.LoadState(path); err != nil {
				t.Fatal(err)
			}
			if _, err := tr.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(whole.net), bits(tr.net)) {
				t.Error("a resumed run is another one")
			}
			if err := whole.LoadState(path); err != nil { // after all of its epochs
				t.Fatal(err)
			}
			again, err := whole.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(whole.net), bits(tr.net)) {
				t.Error("a trainer that was put back goes on with other weights")
			}
			for i, m := range again.Epochs {
				if want := run.Epochs[i].LearningRate; m.LearningRate != want {
					t.Errorf("a trainer that was put back has a rate of %v in epoch %d, at first %v", m.LearningRate, m.Epoch, want)
				}
			}
			cfg.Schedule, cfg.Decay, cfg.Warmup = ConstantSchedule, Decay{}, 0
			if err := newTrainer(t, cfg).LoadState(path); err == nil {
				t.Error("the state of a run with another schedule is accepted")
			}
		})
	}
}

// TestStepsPerEpoch: epochs end where they are told to, wherever that is in a pass
// through the images, and training is the same.
func TestStepsPerEpoch(t *testing.T) {
	weights := map[int][]float32{} // after eight steps, by the number of epochs
	for _, epochs := range []int{1, 2, 4} {
		cfg := quick(1)
		cfg.Epochs, cfg.StepsPerEpoch = epochs, 8/epochs
		var tr *Trainer
		cfg.OnEpoch = func(m EpochMetrics) {
			if m.Step != m.Epoch*8/epochs {
				t.Errorf("%d epochs: step %d after epoch %d", epochs, m.Step, m.Epoch)
			}
			weights[epochs] = bits(tr.net)
		}
		tr = newTrainer(t, cfg)
		if tr.set.Train.Len()/cfg.Batch != 5 {
			t.Fatal("a pass is to end between epochs")
		}
		run, err := tr.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if total, done := tr.Steps(); total != 8 || done != 8 || run.Steps != 8 || len(run.Epochs) != epochs {
			t.Errorf("%d epochs: %d of %d steps, metrics of %d epochs", epochs, done, total, len(run.Epochs))
		}
		if !slices.Equal(weights[epochs], weights[1]) {
			t.Errorf("%d epochs lead to other weights than one", epochs)
		}
	}
	cfg := quick(1)
	cfg.StepsPerEpoch = -1
	var e *ConfigError
	if _, err := NewTrainer(newTiny(t), toySet(), cfg); !errors.As(err, &e) || e.Field != "TrainConfig.StepsPerEpoch" {
		t.Errorf("-1 steps per epoch: %v", err)
	}
}

func TestScheduleRefuses(t *testing.T) {
	for field, change := range map[string]func(c *TrainConfig){
		"Schedule":       func(c *TrainConfig) { c.Schedule = "linear" },
		"Decay.Epochs":   func(c *TrainConfig) { c.Schedule = MultiStepSchedule },
		"Decay.Patience": func(c *TrainConfig) { c.Schedule, c.Decay.Patience = PlateauSchedule, -1 },
		"Decay.Factor":   func(c *TrainConfig) { c.Schedule, c.Decay.Factor = PlateauSchedule, 0.5 },
	} {
		cfg := quick(1)
		change(&cfg)
		var e *ConfigError
		if _, err := NewTrainer(newTiny(t), toySet(), cfg); !errors.As(err, &e) || e.Field != "TrainConfig."+field {
			t.Errorf("%s out of range gives %v", field, err)
		}
	}
	for field, change := range map[string]func(c *TrainConfig){
		"Warmup":         func(c *TrainConfig) { c.Warmup = 1 },
		"Decay.Patience": func(c *TrainConfig) { c.Schedule, c.Decay.Epochs, c.Decay.Patience = MultiStepSchedule, []int{1}, 1 },
		"Decay.Factor":   func(c *TrainConfig) { c.Schedule, c.Decay.Factor = CosineSchedule, 10 },
	} {
		cfg := quick(2)
		cfg.Schedule, cfg.Warmup = ConstantSchedule, 0
		change(&cfg)
		var e *ConfigError
		if _, err := NewTrainer(newTiny(t), toySet(), cfg); !errors.As(err, &e) || e.Field != "TrainConfig."+field {
			t.Errorf("%s of another schedule gives %v", field, err)
		}
	}
	for _, epochs := range [][]int{{0}, {2, 2}, {3, 1}, {1, 1e6 + 1}, {math.MaxInt / 2}} {
		cfg := quick(1)
		cfg.Schedule, cfg.Decay.Epochs = MultiStepSchedule, epochs
		if _, err := NewTrainer(newTiny(t), toySet(), cfg); err == nil {
			t.Errorf("rates that fall after epochs %v are accepted", epochs)
		}
	}
	cfg := quick(1)
	cfg.Decay.Epochs = []int{1}
	if _, err := NewTrainer(newTiny(t), toySet(), cfg); err == nil {
		t.Error("a cosine with epochs to fall after is accepted")
	}
}

// TestLearnedFrequencies: frequencies are trained, at a rate of their own, and saved.
func TestLearnedFrequencies(t *testing.T) {
	omega := func(rate float64) float64 {
		net := newTinyWith(t, func(c *CKResNetConfig) { c.LearnOmega0 = true })
		cfg := quick(1)
		cfg.Schedule, cfg.Optimizer.FrequencyLR = ConstantSchedule, rate
		tr := newTrainerOf(t, net, cfg)
		if _, err := tr.Step(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "net")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		twin, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bits(net), bits(twin)) {
			t.Error("a network that was saved and loaded is another one")
		}
		return float64(twin.params.Lookup("blocks.0.gconv1.kernelnet.kernel_net.0.omega_0").Host[0])
	}
	for _, c := range []struct{ rate, moved float64 }{{0, 1e-3}, {0.25, 0.25}} { // Adam's first step has the rate's length
		if got := math.Abs(omega(c.rate) - 10); !(math.Abs(got-c.moved) <= 0.01*c.moved) {
			t.Errorf("at rate %v a frequency moved by %v, want %v", c.rate, got, c.moved)
		}
	}
}

// TestWeightNorm: every kernel network has lengths and directions, under Compat only
// those of lifting and shortcuts, and the network starts from the same values as without.
func TestWeightNorm(t *testing.T) {
	for _, compat := range []bool{false, true} {
		cfg := func(norm bool) func(c *CKResNetConfig) {
			return func(c *CKResNetConfig) { c.WeightNorm, c.Compat = norm, compat }
		}
		net := newTinyWith(t, cfg(true))
		for name, want := range map[string]bool{
			"lift_conv": true, "blocks.0.gconv1": !compat, "last_gconv": !compat, "blocks.0.shortcut.0": true,
		} {
			if got := net.params.Lookup(name+".kernelnet.kernel_net.2.weight_g") != nil; got != want {
				t.Errorf("compat %v: weight normalisation in %s is %v, want %v", compat, name, got, want)
			}
		}
		got, want := logitsOf(t, net), logitsOf(t, newTinyWith(t, cfg(false)))
		for i := range want {
			if !(math.Abs(float64(got[i]-want[i])) <= 1e-3*(1+math.Abs(float64(want[i])))) {
				t.Errorf("compat %v: logit %d is %v, without weight normalisation %v", compat, i, got[i], want[i])
			}
		}
	}
	if _, err := Train(t.Context(), newTinyWith(t, func(c *CKResNetConfig) { c.WeightNorm = true }), toySet(), quick(1)); err != nil {
		t.Fatal(err)
	}
	var e *ConfigError
	c := tiny()
	c.Group, c.KernelNet, c.LearnOmega0 = lie.SE2, conv.MAGNet, true
	if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig.LearnOmega0" {
		t.Errorf("frequencies of a MAGNet: %v", err)
	}
}
