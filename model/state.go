package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/nn"
)

// Keys and prefixes of a saved training state.
const (
	stateKey     = "noether.training"
	weightPrefix = "weight/"
	momentPrefix = "optimizer/"
	bestPrefix   = "best/"
)

// stateJSON is what a training state holds besides arrays.
type stateJSON struct {
	Of            identity       `json:"of"`
	Data          digests        `json:"data,omitzero"` // earlier versions noted none
	Position      position       `json:"position"`
	OptimizerStep int            `json:"optimizer_step"`
	BestEpoch     int            `json:"best_epoch"`
	BestAccuracy  float64        `json:"best_accuracy"`
	BestLoss      float64        `json:"best_loss"`
	Epochs        []EpochMetrics `json:"epochs"`
	Levels        []string       `json:"levels,omitempty"` // earlier versions noted none
}

// identity is what must be the same for a saved state to be gone on with: all
// that the bits of a run depend on, except the level and the device.
type identity struct {
	Network   networkJSON        `json:"network"`
	Set       string             `json:"set"`
	Images    [3]int             `json:"images"` // in the three parts
	Epochs    int                `json:"epochs"`
	Batch     int                `json:"batch"`
	PerEpoch  int                `json:"steps_per_epoch"`
	Seed      uint64             `json:"seed"`
	Optimizer nn.OptimizerConfig `json:"optimizer"`
	Penalties Penalties          `json:"penalties,omitzero"`
	Augment   data.Augmentation  `json:"augment,omitzero"`
	Cosine    bool               `json:"cosine"`
	Steps     steps              `json:"steps,omitzero"`
	Warmup    int                `json:"warmup"`
	EvalDraws int                `json:"eval_draws"`
	Algorithm conv.Algorithm     `json:"algorithm"`
	Pixels    normalisation      `json:"normalisation,omitzero"` // earlier versions noted none
}

// normalisation is what a data set makes of its pixels: of the same bytes, other images.
type normalisation struct {
	Mean []float32 `json:"mean,omitempty"`
	Std  []float32 `json:"std,omitempty"`
}

// of takes the normalisation of the present run for that of a saved one which noted none.
func (saved identity) of(present identity) identity {
	if saved.Pixels.Mean == nil && saved.Pixels.Std == nil {
		saved.Pixels = present.Pixels
	}
	return saved
}

// digests are SHA-256 of the images and labels of the parts of a data set: to train on, to
// validate by, to test on.
type digests [3]string

// digestsOf computes the digests of a set.
func digestsOf(set *data.Dataset) (d digests) {
	for i, part := range []*data.Split{&set.Train, &set.Validation, &set.Test} {
		h := sha256.New()
		h.Write(part.Images)
		h.Write(part.Labels)
		d[i] = hex.EncodeToString(h.Sum(nil))
	}
	return d
}

// differs names the first part in which the data of a saved run are not the present ones.
func (d digests) differs(present digests) string {
	for i, name := range []string{"training", "validation", "test"} {
		if d != (digests{}) && d[i] != present[i] {
			return "its " + name + " images or their labels are not those here, though as many; take the data that it was begun with"
		}
	}
	return ""
}

// steps describes a schedule in steps.
type steps struct {
	Schedule Schedule `json:"schedule"`
	Decay
}

func identify(net *Network, set *data.Dataset, c TrainConfig) identity {
	var s steps
	if c.Schedule == MultiStepSchedule || c.Schedule == PlateauSchedule {
		s = steps{c.Schedule, c.Decay}
	}
	return identity{
		net.cfg.describe(), set.Name, [3]int{set.Train.Len(), set.Validation.Len(), set.Test.Len()},
		c.Epochs, c.Batch, c.StepsPerEpoch, c.Seed, c.Optimizer, c.Penalties, c.Augment, c.Schedule == CosineSchedule, s, c.Warmup, c.EvalDraws, net.cfg.Algorithm,
		normalisation{set.Mean, set.Std},
	}
}

// SaveState writes all that a run needs to go on as if it had never stopped:
// weights, moments, the best weights, the position and the metrics so far. The
// file is replaced as a whole or not at all; a run that diverged is refused.
func (t *Trainer) SaveState(path string) error {
	if t.closed {
		return errClosed
	}
	t.net.params.Download()
	var list []safetensors.Tensor
	for i, p := range t.net.params.All() {
		list = append(list, tensorOf(weightPrefix+p.Name, p, p.Host))
		if t.best.epoch > 0 {
			list = append(list, tensorOf(bestPrefix+p.Name, p, t.best.values[i]))
		}
	}
	for _, m := range t.optimizer.State() {
		list = append(list, safetensors.Tensor{Name: momentPrefix + m.Name, Shape: m.Shape, F32: m.Host})
	}
	if !finite(t.at.Loss) {
		return fmt.Errorf("model: %s is not written: training has diverged", path)
	}
	text, err := json.Marshal(stateJSON{
		identify(t.net, t.set, t.cfg), t.digests(), t.at, t.optimizer.Steps(),
		t.best.epoch, t.best.accuracy, t.best.loss, t.epochs, t.levels,
	})
	if err != nil {
		return fmt.Errorf("model: describing the training state: %w", err)
	}
	return writeUsable(path, list, map[string]string{stateKey: string(text)})
}

// LoadState makes the trainer go on from a state that SaveState wrote. The error
// says what in the file does not fit; the trainer must then be closed.
func (t *Trainer) LoadState(path string) error {
	if t.closed {
		return errClosed
	}
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	if _, ok := file.Metadata[stateKey]; !ok {
		return fmt.Errorf("model: %s has no %q in its metadata: it is no training state", path, stateKey)
	}
	var s stateJSON
	if err := decode(file, stateKey, &s); err != nil {
		return fmt.Errorf("model: %s: the description of the training state %w", path, err)
	}
	present := identify(t.net, t.set, t.cfg)
	if what := cmp.Or(differs(s.Of.of(present), present), s.Data.differs(t.digests())); what != "" {
		return fmt.Errorf("model: %s is the state of another run: %s", path, what)
	}
	if err := s.check(t); err != nil {
		return fmt.Errorf("model: %s: %w", path, err)
	}
	if name := t.foreign(file, s.BestEpoch > 0); name != "" {
		return fmt.Errorf("model: %s: tensor %q does not belong to the state of this run", path, name)
	}
	if err := t.net.setAll(path, file, weightPrefix); err != nil {
		return err
	}
	if s.BestEpoch > 0 {
		for i, p := range t.net.params.All() {
			if err := copyTensor(t.best.values[i], path, file, bestPrefix+p.Name, p); err != nil {
				return err
			}
		}
	}
	moments := make([]*nn.Parameter, 0, len(t.optimizer.State()))
	for _, m := range t.optimizer.State() {
		q := nn.NewParameter(m.Name, m.Class, m.Shape...)
		if err := copyTensor(q.Host, path, file, momentPrefix+m.Name, m); err != nil {
			return err
		}
		moments = append(moments, q)
	}
	if err := t.optimizer.Restore(moments, s.OptimizerStep); err != nil {
		return fmt.Errorf("model: %s: %w", path, err)
	}
	t.net.params.Upload()
	t.at, t.epochs, t.levels = s.Position, s.Epochs, s.Levels
	if err := t.beginSchedule(); err != nil { // the trainer may have completed other epochs
		return err
	}
	for _, m := range t.epochs {
		t.observe(m)
	}
	t.best.epoch, t.best.accuracy, t.best.loss = s.BestEpoch, s.BestAccuracy, s.BestLoss
	t.stopLoading()
	return nil
}

// foreign returns the name of a tensor of a file that is no part of this run's state, which has best weights or not,
// and "" where there is none.
func (t *Trainer) foreign(file *safetensors.File, best bool) string {
	known := map[string]bool{}
	for _, p := range t.net.params.All() {
		known[weightPrefix+p.Name], known[bestPrefix+p.Name] = true, best
	}
	for _, m := range t.optimizer.State() {
		known[momentPrefix+m.Name] = true
	}
	for i := range file.Tensors {
		if name := file.Tensors[i].Name; !known[name] {
			return name
		}
	}
	return ""
}

// check reports numbers that no run of this configuration can have.
func (s *stateJSON) check(t *Trainer) error {
	at, groups := s.Position, len(t.net.learners())
	first, last := at.Epoch*t.perEpoch, (at.Epoch+1)*t.perEpoch
	switch {
	case at.Epoch < 0 || at.Epoch > t.cfg.Epochs || at.Step < first || at.Step > last ||
		at.Epoch == t.cfg.Epochs && at.Step != first:
		return fmt.Errorf("step %d of epoch %d cannot be; an epoch has %d steps", at.Step, at.Epoch+1, t.perEpoch)
	case at.Correct < 0 || !plausible(at.Loss) || !(at.Seconds >= 1e-9*float64(at.Step)) || !plausible(at.Seconds):
		return fmt.Errorf("its sums cannot be those of %d steps: %d images put right, a loss of %v, %v seconds", at.Step, at.Correct, at.Loss, at.Seconds)
	case s.OptimizerStep != at.Step:
		return fmt.Errorf("the optimiser has taken %d steps, the run %d", s.OptimizerStep, at.Step)
	case s.BestEpoch < 0 || s.BestEpoch > at.Epoch || (s.BestEpoch == 0) != (at.Epoch == 0):
		return fmt.Errorf("the best of %d epochs is said to be number %d", at.Epoch, s.BestEpoch)
	case len(s.Epochs) != at.Epoch:
		return fmt.Errorf("metrics of %d epochs where %d are completed", len(s.Epochs), at.Epoch)
	}
	for i, m := range s.Epochs {
		if m.Epoch != i+1 || len(m.Learned) != groups || !plausible(m.TrainLoss) || !plausible(m.ValidationLoss) || !plausible(m.Seconds) {
			return fmt.Errorf("the metrics of epoch %d are damaged", i+1)
		}
	}
	return nil
}

// plausible reports whether a loss or a time is far enough from what a float64 holds for
// sums and quotients of it to be finite.
func plausible(v float64) bool { return math.Abs(v) < 1e100 }

// differs names the first thing in which the description of a saved run, or network, is not the
// present one.
func differs(saved, present any) string {
	a, b := flatten(saved), flatten(present)
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a[key] != b[key] {
			return fmt.Sprintf("its %s is %s, here it is %s", key, cmp.Or(a[key], "not given"), cmp.Or(b[key], "not given"))
		}
	}
	return ""
}

// flatten returns the leaves of a description, as JSON, by their path.
func flatten(of any) map[string]string {
	text, err := json.Marshal(of)
	var tree map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil { // every configuration that was accepted is finite
		panic(&nn.Error{Op: "Trainer.LoadState", Problem: err.Error()})
	}
	out := map[string]string{}
	for key, value := range tree {
		var sub map[string]json.RawMessage
		if json.Unmarshal(value, &sub) != nil {
			out[key] = string(value)
			continue
		}
		for k, v := range sub {
			out[key+"."+k] = string(v)
		}
	}
	return out
}
