package model

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// TestMonotonic holds penalty and gradient to the formula, in both orders.
func TestMonotonic(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	net := newTiny(t)
	if err := net.Bind(dev, 2, false); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	subsets := net.learnedSubsets()
	for i, theta := range []float32{0.75, 0.5, 0.625, 1, 1} {
		dev.Upload(subsets[i][0].Value, []float32{theta})
	}
	for _, c := range []struct {
		increasing bool
		want       float64
		grads      []float64
	}{
		{false, 2 * 0.5, []float64{0, -2, 0, 2, 0}},
		{true, 2 * 0.25, []float64{2, -2, 0, 0, 0}},
	} {
		m := newMonotonic(net, Penalties{Monotonic: 2, Increasing: c.increasing})
		if got := m.evaluate(); got != c.want {
			t.Errorf("increasing %v: penalty %v, want %v", c.increasing, got, c.want)
		}
		net.params.ZeroGrad()
		m.backward()
		m.backward() // adds
		for i, s := range subsets {
			got := make([]float32, 1)
			dev.Download(got, s[0].Grad)
			if float64(got[0]) != 2*c.grads[i] {
				t.Errorf("increasing %v: gradient %d is %v, want %v", c.increasing, i, got[0], 2*c.grads[i])
			}
		}
	}
}

// TestMonotonicOfProbabilities: layers that learn several values are compared value by
// value.
func TestMonotonicOfProbabilities(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	net := newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements = lie.E2, 4 })
	if err := net.Bind(dev, 2, false); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	for i, s := range net.learnedSubsets() {
		dev.Upload(s[0].Value, []float32{1 - float32(i)/8})
		dev.Upload(s[1].Value, []float32{float32(i) / 4})
	}
	m := newMonotonic(net, Penalties{Monotonic: 1})
	if got := m.evaluate(); got != 1 {
		t.Errorf("penalty %v, want that of the second values, 1", got)
	}
	net.params.ZeroGrad()
	m.backward()
	for class, want := range [][]float32{{0, 0, 0, 0, 0}, {-1, 0, 0, 0, 1}} {
		for i, s := range net.learnedSubsets() {
			got := make([]float32, 1)
			if dev.Download(got, s[class].Grad); got[0] != want[i] {
				t.Errorf("layer %d: gradient of %s is %v, want %v", i, s[class].Name, got[0], want[i])
			}
		}
	}
	if got := newMonotonic(net, Penalties{Monotonic: 1, Increasing: true}).evaluate(); got != 0.5 {
		t.Errorf("penalty %v, want that of the first values, 0.5", got)
	}
}

// TestPenaltyGradient compares what penalties add to the gradient of a whole network with
// differences of what they add to its loss.
func TestPenaltyGradient(t *testing.T) {
	for name, newNet := range map[string]func(*testing.T) *Network{"CKResNet": newTiny, "PerElement": newTinyPerElement, "GCNN": newTinyGCNN} {
		t.Run(name, func(t *testing.T) {
			set := toySet()
			images, labels := make([]float32, 8*144), make([]float32, 8)
			set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5, 6, 7})
			gradients := func(p Penalties) (*Trainer, map[string][]float32) {
				cfg := quick(1)
				cfg.Penalties = p
				tr := newTrainerOf(t, newNet(t), cfg)
				net := tr.net
				for i, s := range net.learnedSubsets() {
					s[0].Host[0] = []float32{0.8, 0.9, 0.75, 0.95, 0.85}[i]
				}
				net.params.Upload()
				net.Draw(1, Training, 0)
				net.Forward(images, true)
				net.Backward(labels)
				grads := map[string][]float32{}
				for _, p := range net.params.All() {
					if p.Trained() {
						grads[p.Name] = make([]float32, len(p.Host))
						tr.dev.Download(grads[p.Name], p.Grad)
					}
				}
				return tr, grads
			}
			_, without := gradients(Penalties{})
			tr, with := gradients(Penalties{Norms: 8, Monotonic: 4})
			net := tr.net
			src := stream.New(2, "direction", 0)
			penalised := 0
			for _, p := range net.params.All() {
				if !p.Trained() {
					continue
				}
				dir, slope, norm := make([]float64, len(p.Host)), 0.0, 0.0
				for i := range dir {
					dir[i] = src.Normal()
					slope += dir[i] * float64(with[p.Name][i]-without[p.Name][i])
					norm += dir[i] * dir[i]
				}
				start, h := slices.Clone(p.Host), 0.003/math.Sqrt(norm)
				at := func(h float64) float64 {
					for i := range p.Host {
						p.Host[i] = start[i] + float32(h*dir[i])
					}
					tr.dev.Upload(p.Value, p.Host)
					net.Draw(1, Training, 0)
					net.Forward(images, true)
					return net.penalty()
				}
				difference := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				at(0)
				if !(math.Abs(difference-slope) <= 0.01*math.Abs(difference)+0.02*math.Sqrt(norm)) {
					t.Errorf("%s: gradient along a direction is %v, differences give %v", p.Name, slope, difference)
				}
				if !(math.Abs(slope) <= 0.1*math.Sqrt(norm)) {
					penalised++
				}
			}
			if penalised < 10 {
				t.Errorf("the penalties have a gradient for %d parameters", penalised)
			}
		})
	}
}

// TestPenaltiesInTraining: a heavy penalty makes kernels and biases smaller than they get
// without, a step with penalties allocates nothing, and a resumed run is the same run.
func TestPenaltiesInTraining(t *testing.T) {
	cfg := quick(2)
	cfg.StepsPerEpoch = 100
	norms := func(p Penalties) float64 {
		cfg.Penalties = p
		tr := newTrainer(t, cfg)
		for range 30 {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if p != (Penalties{}) && !race.Enabled {
			if n := testing.AllocsPerRun(10, func() {
				if _, err := tr.Step(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("a training step allocates %v times", n)
			}
		}
		sum := 0.0
		tr.net.params.Download()
		for _, p := range tr.net.params.All() {
			if strings.HasSuffix(p.Name, "kernel_net.4.weight") {
				for _, v := range p.Host {
					sum += float64(v) * float64(v)
				}
			}
		}
		return sum
	}
	plain, heavy := norms(Penalties{}), norms(Penalties{Norms: 1, Monotonic: 1e-3})
	if !(heavy < 0.9*plain) {
		t.Errorf("last maps have squares of %v, with a penalty of kernels %v", plain, heavy)
	}

	var whole [][]float32
	for _, stop := range []bool{false, true} {
		tr := newTrainer(t, cfg)
		for i := range 8 {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
			if path := filepath.Join(t.TempDir(), "state"); stop && i == 3 {
				if err := tr.SaveState(path); err != nil {
					t.Fatal(err)
				}
				other := cfg
				other.Penalties.Norms = 2
				if err := newTrainer(t, other).LoadState(path); err == nil || !strings.Contains(err.Error(), "penalties.norms") {
					t.Errorf("the state of another penalty: %v", err)
				}
				tr = newTrainer(t, cfg)
				if err := tr.LoadState(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		whole = append(whole, bits(tr.net))
	}
	if !slices.Equal(whole[0], whole[1]) {
		t.Error("a resumed run with penalties is another one")
	}
}

// TestPenaltyBreaksTies: of epochs whose answers are the same that is kept whose penalty is
// smallest, here because its subsets grow least.
func TestPenaltyBreaksTies(t *testing.T) {
	cfg := quick(1)
	cfg.StepsPerEpoch, cfg.Penalties.Monotonic = 1, 1
	tr := newTrainer(t, cfg)
	for epoch, last := range []float32{0.75, 0.625, 0.875} {
		take(t, tr, 1)
		tr.net.params.Download()
		clear(tr.net.params.Lookup("out_layer.weight").Host) // the answers are those of the bias
		copy(tr.net.params.Lookup("out_layer.bias").Host, []float32{1, 0})
		subsets := tr.net.learnedSubsets()
		for i, s := range subsets {
			s[0].Host[0] = 0.5
			if i == len(subsets)-1 {
				s[0].Host[0] = last
			}
		}
		tr.net.params.Upload()
		m, err := tr.EndEpoch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first := tr.Epochs()[0]; m.ValidationLoss != first.ValidationLoss || m.ValidationAccuracy != first.ValidationAccuracy {
			t.Fatalf("epoch %d has other answers than the first", epoch+1)
		}
		if want := epoch < 2; m.Best != want {
			t.Errorf("epoch %d is the best: %v, want %v", epoch+1, m.Best, want)
		}
	}
	tr.RestoreBest()
	sizes := tr.net.Subsets()
	if got := sizes[len(sizes)-1]; got != 0.625 {
		t.Errorf("the last subset of the best epoch is %v, want 0.625", got)
	}
}

func TestPenaltiesRefuse(t *testing.T) {
	full := func() *Network {
		return newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.Partial = lie.SE2, 3, false })
	}
	for _, c := range []struct {
		field     string
		net       *Network
		penalties Penalties
	}{
		{"Norms", newTiny(t), Penalties{Norms: -1}},
		{"Norms", newTiny(t), Penalties{Norms: math.NaN()}},
		{"Monotonic", newTiny(t), Penalties{Monotonic: math.Inf(1)}},
		{"Monotonic", full(), Penalties{Monotonic: 1}},
	} {
		cfg := quick(1)
		cfg.Penalties = c.penalties
		var e *ConfigError
		if _, err := NewTrainer(c.net, toySet(), cfg); !errors.As(err, &e) || e.Field != "TrainConfig.Penalties."+c.field {
			t.Errorf("%+v: %v", c.penalties, err)
		}
	}
}
