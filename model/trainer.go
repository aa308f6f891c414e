package model

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// TrainConfig describes a training run. Zero values stand for the defaults that
// the fields state.
type TrainConfig struct {
	Epochs int // 0: 10
	Batch  int // 0: 64
	Seed   uint64

	// StepsPerEpoch is the number of training steps between two validations; 0:
	// as many as go through the training images once. Images come in a new order
	// in each pass through them, wherever epochs end.
	StepsPerEpoch int

	// Optimizer is Adam with a learning rate of 1e-3, of 1e-2 for the learned subset
	// sizes, and of 0.3 for the logits of keeping elements, where its fields are zero.
	Optimizer nn.OptimizerConfig
	Penalties Penalties         // that the loss has besides
	Augment   data.Augmentation // of the training images
	Schedule  Schedule          // of the learning rates; "": ConstantSchedule
	Warmup    int               // epochs of linear warm-up, with CosineSchedule
	Decay     Decay             // of schedules in steps

	EvalDraws int // draws of the group elements in the final test; 0: 5

	Device  tensor.Device // open until the Trainer is closed; nil: a CPU device of Threads threads, closed then
	Threads int           // 0: as many as the Go runtime uses

	OnStep  func(Progress)     // called after every training step; may be nil
	OnEpoch func(EpochMetrics) // called after every epoch; may be nil
}

// Progress is the state of a run after a step.
type Progress struct {
	Epoch, Epochs int // Epoch counts from 1
	Step, Steps   int // of the whole run
	Loss          float64
}

// EpochMetrics is what one epoch came to.
type EpochMetrics struct {
	Epoch              int       `json:"epoch"` // counts from 1
	Step               int       `json:"step"`  // training steps so far
	LearningRate       float64   `json:"learning_rate"`
	TrainLoss          float64   `json:"train_loss"`
	TrainAccuracy      float64   `json:"train_accuracy"`
	ValidationLoss     float64   `json:"validation_loss"`
	ValidationAccuracy float64   `json:"validation_accuracy"`
	ValidationStd      float64   `json:"validation_std"`
	Learned            []float64 `json:"learned"` // subset size of each group convolution
	Best               bool      `json:"best"`    // the weights were kept
	// Subsets says more than Learned where subsets are not single intervals: see Network.Learned.
	Subsets [][]gumbel.Learned `json:"subsets,omitempty"`
	Seconds float64            `json:"seconds"` // spent in training steps, so far
}

// Run is the outcome of a training run.
type Run struct {
	TestAccuracy float64
	Test         Score
	Confusion    [][]int // of the test images, over all draws: how many of each class (row) were put into each
	Epochs       []EpochMetrics
	Steps        int
	Seconds      float64 // spent in training steps
}

// TrainError reports that a run cannot go on, and where it stood.
type TrainError struct {
	Epoch, Step int
	Problem     string
}

func (e *TrainError) Error() string {
	return fmt.Sprintf("model: training stopped in epoch %d, step %d: %s", e.Epoch, e.Step, e.Problem)
}

func (c TrainConfig) withDefaults() TrainConfig {
	orDefault(&c.Epochs, 10)
	orDefault(&c.Batch, 64)
	orDefault(&c.EvalDraws, 5)
	if c.Schedule == "" {
		c.Schedule = ConstantSchedule
	}
	if c.Decay.Factor == 0 && (c.Schedule == MultiStepSchedule || c.Schedule == PlateauSchedule) {
		c.Decay.Factor = 10
	}
	if c.Threads == 0 && c.Device == nil {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Optimizer.LR == 0 {
		c.Optimizer.LR = 1e-3
	}
	if c.Optimizer.SubsetLR == 0 {
		c.Optimizer.SubsetLR = 1e-2
	}
	if c.Optimizer.KeepLR == 0 {
		c.Optimizer.KeepLR = 0.3
	}
	return c
}

// Check reports what NewTrainer refuses of c for the network whatever the data are, but for
// the rates of the optimiser. The error names the field that is out of range.
func (c TrainConfig) Check(net *Network) error {
	c = c.withDefaults()
	return c.check(net)
}

// check is Check. It expects defaults to be filled in.
func (c *TrainConfig) check(net *Network) error {
	for _, b := range []struct {
		field         string
		value, lo, hi int
	}{
		{"Epochs", c.Epochs, 1, 1e6},
		{"Batch", c.Batch, 1, maxBatch},
		{"StepsPerEpoch", c.StepsPerEpoch, 0, 1e9},
		{"Warmup", c.Warmup, 0, c.Epochs - 1},
		{"EvalDraws", c.EvalDraws, 1, 1e4},
	} {
		if b.value < b.lo || b.value > b.hi {
			return &ConfigError{"TrainConfig." + b.field, b.value, fmt.Sprintf("%d to %d", b.lo, b.hi)}
		}
	}
	if c.Device == nil && c.Threads < 1 {
		return &ConfigError{"TrainConfig.Threads", c.Threads, "1 or more"}
	}
	if err := c.checkSchedule(); err != nil {
		return err
	}
	if err := c.Penalties.check(net); err != nil {
		return err
	}
	side := net.cfg.Side
	if c.Augment.Validate(&data.Dataset{Height: side, Width: side}) != nil {
		return &ConfigError{"TrainConfig.Augment", c.Augment, fmt.Sprintf("Rotate 0 to pi, Crop 0 to %d", side-1)}
	}
	return nil
}

// checkSet reports a data set that c or the network is not for.
func (c *TrainConfig) checkSet(net *Network, set *data.Dataset) error {
	if err := set.Validate(); err != nil {
		return err
	}
	if err := net.cfg.checkSet(set); err != nil {
		return err
	}
	if set.Train.Len() < c.Batch {
		return &ConfigError{"TrainConfig.Batch", c.Batch,
			fmt.Sprintf("at most the %d training images of %s", set.Train.Len(), set.Name)}
	}
	return nil
}

// checkSet reports a data set of other images or classes than the network is for.
func (s *settings) checkSet(set *data.Dataset) error {
	if set.Channels == s.Channels && set.Height == s.Side && set.Width == s.Side && set.Classes == s.Classes {
		return nil
	}
	return &ConfigError{"data set " + set.Name,
		fmt.Sprintf("%d channels of %d x %d pixels in %d classes", set.Channels, set.Height, set.Width, set.Classes),
		fmt.Sprintf("what the network was built for: %d channels of %d x %d pixels in %d classes", s.Channels, s.Side, s.Side, s.Classes)}
}

// Trainer trains a network on a data set, step by step: Run does it all, Step and EndEpoch
// a part each. All its randomness is a
// function of (seed, epoch, step), so a trainer restored from a saved state goes
// on as the undisturbed one would have, bit by bit.
type Trainer struct {
	net *Network
	set *data.Dataset
	cfg TrainConfig
	dev tensor.Device
	own bool // dev was made here

	optimizer *nn.Optimizer
	schedule  nn.Schedule
	eval      *evaluator

	loader   *data.Loader // nil until the first step
	closed   bool
	perEpoch int // steps between validations
	at       position
	best     bestWeights
	epochs   []EpochMetrics
	levels   []string // of the kernels that steps were taken with, see Levels

	digests func() digests // of the data, computed once
}

// position is how far a run has come, and the sums of the epoch under way.
type position struct {
	Epoch   int     // epochs completed
	Step    int     // steps completed, in all
	Loss    float64 // sum over the steps of this epoch
	Correct int     // images, in this epoch
	Seconds float64 // in training steps, in all
}

// ValidationDraws is the number of draws of the group elements after each epoch:
// enough to choose between epochs, at little cost beside the training steps.
const ValidationDraws = 2

// bestWeights are the parameters of the best epoch so far, by validation.
type bestWeights struct {
	epoch    int // 0: none yet
	accuracy float64
	loss     float64
	values   [][]float32 // in the order of Parameters.All
}

// NewTrainer binds the network, which must not be bound, to the configured device and
// prepares a run. Close the trainer when done. The error names the field that is out of
// range.
func NewTrainer(net *Network, set *data.Dataset, cfg TrainConfig) (*Trainer, error) {
	cfg = cfg.withDefaults()
	if net.plan != nil {
		return nil, errors.New("model: NewTrainer: the network is bound already; call its Release first")
	}
	if err := cfg.check(net); err != nil {
		return nil, err
	}
	if err := cfg.checkSet(net, set); err != nil {
		return nil, err
	}
	t := &Trainer{net: net, set: set, cfg: cfg, dev: cfg.Device}
	t.digests = sync.OnceValue(func() digests { return digestsOf(set) })
	if t.dev == nil {
		cpu, err := tensor.NewCPU(cfg.Threads)
		if err != nil {
			return nil, err
		}
		t.dev, t.own = cpu, true
	}
	if err := t.prepare(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Trainer) prepare() (err error) {
	t.perEpoch = t.cfg.StepsPerEpoch
	orDefault(&t.perEpoch, t.set.Train.Len()/t.cfg.Batch)
	if err = t.net.bind(t.dev, nn.Plan{Batch: t.cfg.Batch, NormPenalty: t.cfg.Penalties.Norms}); err != nil {
		return err
	}
	t.net.plan.monotonic = newMonotonic(t.net, t.cfg.Penalties)
	if t.net.augerino != nil {
		t.net.augerino.width.weight = t.cfg.Penalties.Width
	}
	if t.optimizer, err = nn.NewOptimizer(t.rates(), &t.net.params); err != nil {
		return err
	}
	if err = t.beginSchedule(); err != nil {
		return err
	}
	for _, s := range t.net.distributions() { // whose counts of draws LoadState puts back
		s.Anneal(min(t.cfg.Epochs*t.planned(), gumbel.MaxSteps))
	}
	t.eval = newEvaluator(t.net, t.set)
	for _, p := range t.net.params.All() {
		t.best.values = append(t.best.values, make([]float32, len(p.Host)))
	}
	return nil
}

// planned returns the steps that an epoch is planned to have.
func (t *Trainer) planned() int {
	if t.net.cfg.Compat && t.cfg.StepsPerEpoch == 0 { // the published program plans for a last partial batch that it then drops
		return (t.set.Train.Len() + t.cfg.Batch - 1) / t.cfg.Batch
	}
	return t.perEpoch
}

// beginSchedule makes the schedule, which has observed no epoch yet.
func (t *Trainer) beginSchedule() (err error) {
	t.schedule, err = t.cfg.newSchedule(t.perEpoch, t.planned(), t.net.cfg.Compat)
	return err
}

// Close releases the network's buffers, keeping its parameters on the host. Closing again
// does nothing.
func (t *Trainer) Close() {
	if t.closed {
		return
	}
	t.closed = true
	t.stopLoading()
	if t.net.plan != nil {
		t.net.params.Download()
		if t.optimizer != nil {
			t.optimizer.Release()
		}
		t.net.Release()
	}
	if t.own {
		t.dev.Close()
	}
}

// Step takes one training step of the epoch under way and returns its loss. The batch of
// the next one is prepared meanwhile. From the second step on it allocates nothing. When
// the steps of the epoch are taken (Left), it returns an error until EndEpoch was called.
func (t *Trainer) Step() (loss float64, err error) {
	switch {
	case t.closed:
		return 0, errClosed
	case t.Left() == 0:
		return 0, t.stopped("its steps are taken; call EndEpoch, which validates, or Run")
	}
	start := time.Now()
	t.noteLevel()
	if t.loader == nil {
		t.loader = data.NewLoader(t.set, data.LoaderConfig{Batch: t.cfg.Batch, Seed: t.cfg.Seed, Augment: t.cfg.Augment, First: t.at.Step})
	}
	batch := t.loader.Next()
	t.net.Draw(t.cfg.Seed, Training, uint64(t.at.Step))
	t.net.Forward(batch.Images, true)
	t.net.Backward(batch.Labels)
	t.optimizer.Step(t.schedule)
	t.net.ClampSubsets()
	loss = t.net.loss.Loss()
	t.at.Loss += loss
	t.at.Correct += t.net.loss.Correct()
	t.at.Step++
	t.at.Seconds += time.Since(start).Seconds()
	if err := t.dev.Sync(); err != nil {
		return loss, err
	}
	return loss, t.diverged("loss", loss)
}

// diverged reports a loss that is no number.
func (t *Trainer) diverged(what string, loss float64) error {
	if !finite(loss) {
		return t.stopped(fmt.Sprintf("the %s is %v; a smaller learning rate or gradients of bounded norm (nn.OptimizerConfig.Clip, train.clip_norm) may help", what, loss))
	}
	return nil
}

func (t *Trainer) stopped(problem string) error {
	return &TrainError{min(t.at.Epoch+1, t.cfg.Epochs), t.at.Step, problem}
}

var errClosed = errors.New("model: the trainer is closed")

// stopLoading ends the preparation of batches; the next step starts it anew.
func (t *Trainer) stopLoading() {
	if t.loader != nil {
		t.loader.Close()
		t.loader = nil
	}
}

// Steps returns the number of steps of the whole run and those completed.
func (t *Trainer) Steps() (total, done int) { return t.cfg.Epochs * t.perEpoch, t.at.Step }

// Left returns the number of steps that the epoch under way still has: 0 when EndEpoch is
// to be called, and at the end of the run.
func (t *Trainer) Left() int {
	return min(t.at.Epoch+1, t.cfg.Epochs)*t.perEpoch - t.at.Step
}

// Epochs returns the metrics of the completed epochs.
func (t *Trainer) Epochs() []EpochMetrics { return t.epochs }

// Levels returns the levels of the kernels that the steps of the run so far were taken with
// (asm.Active), in the order of their first use. There are several where a run was resumed at
// another level, such as on another machine: then it has the bits of no run that was never
// stopped, though it is as good.
func (t *Trainer) Levels() []string { return slices.Clone(t.levels) }

func (t *Trainer) noteLevel() {
	if l := asm.Active().String(); !slices.Contains(t.levels, l) {
		t.levels = append(t.levels, l)
	}
}

// Run trains to the end of the last epoch, then tests the best weights once.
// When ctx ends it finishes the step under way and returns ctx's error; the
// trainer can then be saved, and Run called again.
func (t *Trainer) Run(ctx context.Context) (*Run, error) {
	if t.closed {
		return nil, errClosed
	}
	for t.at.Epoch < t.cfg.Epochs {
		if err := t.epoch(ctx); err != nil {
			return nil, err
		}
	}
	if t.closed { // by OnEpoch
		return nil, errClosed
	}
	t.RestoreBest()
	test, err := t.score(ctx, "test loss", &t.set.Test, t.cfg.EvalDraws)
	if err != nil {
		return nil, err
	}
	return &Run{
		TestAccuracy: test.Accuracy, Test: test, Confusion: t.eval.confusion(t.net), Epochs: t.epochs,
		Steps: t.at.Step, Seconds: t.at.Seconds,
	}, nil
}

// score evaluates the network. A loss that is no number ends the run.
func (t *Trainer) score(ctx context.Context, what string, split *data.Split, draws int) (Score, error) {
	s, err := t.eval.score(ctx, t.net, t.set, split, draws, t.cfg.Seed)
	var e *LossError
	if errors.As(err, &e) {
		return s, t.diverged(what, e.Loss)
	}
	return s, err
}

// epoch completes the epoch under way.
func (t *Trainer) epoch(ctx context.Context) error {
	for t.Left() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		loss, err := t.Step()
		if err != nil {
			return err
		}
		if t.cfg.OnStep != nil {
			t.cfg.OnStep(Progress{t.at.Epoch + 1, t.cfg.Epochs, t.at.Step, t.cfg.Epochs * t.perEpoch, loss})
		}
	}
	_, err := t.EndEpoch(ctx)
	return err
}

// EndEpoch validates the network after the steps of an epoch, keeps its weights if they
// are the best so far, and returns the metrics of the epoch, which Epochs has from then
// on. It returns an error while steps are left, at the end of the run, and when ctx ends.
func (t *Trainer) EndEpoch(ctx context.Context) (EpochMetrics, error) {
	switch {
	case t.closed:
		return EpochMetrics{}, errClosed
	case t.at.Epoch == t.cfg.Epochs:
		return EpochMetrics{}, t.stopped("it was the last one, and has ended")
	case t.Left() > 0:
		return EpochMetrics{}, t.stopped(fmt.Sprintf("%d of its steps are left; call Step", t.Left()))
	}
	score, err := t.score(ctx, "validation loss", &t.set.Validation, ValidationDraws)
	if err != nil {
		return EpochMetrics{}, err
	}
	penalty := t.net.penalty() // at the last draw
	if err := t.diverged("validation loss", score.Loss+penalty); err != nil {
		return EpochMetrics{}, err
	}
	m := EpochMetrics{
		Epoch: t.at.Epoch + 1, Step: t.at.Step,
		LearningRate:   t.schedule.LR(t.cfg.Optimizer.LR, t.at.Step-1),
		TrainLoss:      t.at.Loss / float64(t.perEpoch),
		TrainAccuracy:  float64(t.at.Correct) / float64(t.perEpoch*t.cfg.Batch),
		ValidationLoss: score.Loss, ValidationAccuracy: score.Accuracy, ValidationStd: score.Std,
		Learned: t.net.Subsets(),
		Subsets: t.net.keeps(),
		Seconds: t.at.Seconds,
	}
	score.Loss += penalty // it breaks ties
	if m.Best = t.best.improvedBy(score); m.Best {
		t.keepBest(m.Epoch, score)
	}
	t.epochs = append(t.epochs, m)
	t.observe(m)
	t.at.Epoch++
	t.at.Loss, t.at.Correct = 0, 0
	if t.cfg.OnEpoch != nil {
		t.cfg.OnEpoch(m)
	}
	return m, nil
}

// improvedBy reports whether a score is better than the best so far: more
// accurate, or as accurate with a loss that is not higher.
func (b *bestWeights) improvedBy(s Score) bool {
	return b.epoch == 0 || s.Accuracy > b.accuracy || s.Accuracy == b.accuracy && s.Loss <= b.loss
}

func (t *Trainer) keepBest(epoch int, s Score) {
	t.net.params.Download()
	for i, p := range t.net.params.All() {
		copy(t.best.values[i], p.Host)
	}
	t.best.epoch, t.best.accuracy, t.best.loss = epoch, s.Accuracy, s.Loss
}

// RestoreBest puts the weights and statistics of the best epoch back into the network, also after Close.
// Without a completed epoch it does nothing. The count of draws that temperatures fall by is among them; the
// optimiser and the learning rates stay where they are, for steps that are taken then.
func (t *Trainer) RestoreBest() {
	if t.best.epoch == 0 {
		return
	}
	for i, p := range t.net.params.All() {
		copy(p.Host, t.best.values[i])
	}
	if t.net.plan != nil {
		t.net.params.Upload()
	}
}

// Train trains net on a data set and leaves the weights of the best epoch in it.
// It is NewTrainer, Run and Close in one.
func Train(ctx context.Context, net *Network, set *data.Dataset, cfg TrainConfig) (*Run, error) {
	t, err := NewTrainer(net, set, cfg)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Run(ctx)
}
