package data

import (
	"math"

	"github.com/noether-go/noether/internal/stream"
)

// LoaderConfig says which batches a Loader prepares.
type LoaderConfig struct {
	Batch   int    // images, at most those of the set's training part
	Seed    uint64 // of the order of the images and of what Augment draws
	Augment Augmentation
	First   int // step of the first batch
}

// Batch is what one training step takes.
type Batch struct {
	Images []float32 // [B, C, H, W], normalised
	Labels []float32 // [B], classes
}

// Loader prepares the batches of training steps in a goroutine of its own, one
// ahead of the step that is under way. Its memory does not grow: there are two
// batches, which take turns.
//
// The batch of a step is a function of (set, Batch, Seed, Augment, step) alone,
// whenever it is prepared and whichever step came First: in each pass through the
// training part, of Len()/Batch steps, images come in the Order of that pass, and
// Augment draws from the stream of (Seed, "augmentation", step).
//
// A Loader is for one goroutine at a time.
type Loader struct {
	set *Dataset
	cfg LoaderConfig

	free, ready chan *Batch // to the goroutine that prepares, and from it
	held        *Batch      // Next's last answer
	closed      bool

	// The rest is that goroutine's.
	perPass uint64 // steps
	order   []int  // of the images, in the pass under way
	pass    uint64 // that order is of; noPass: none yet
	changed Split  // the batch's images after augmentation
	whole   []int  // 0 .. Batch-1: all of changed
	room    []uint8
	source  stream.Stream
}

// noPass is the number of no pass: steps do not get there.
const noPass = math.MaxUint64

// NewLoader starts a loader of set's training part; Close ends it. It panics with
// *Error on a set whose sizes do not fit together and on a configuration that does
// not fit set, which must not change until then.
func NewLoader(set *Dataset, cfg LoaderConfig) *Loader {
	switch n := set.Train.Len(); {
	case cfg.Batch < 1 || cfg.Batch > n:
		failf("NewLoader", "batches of %d of %d images", cfg.Batch, n)
	case cfg.First < 0:
		failf("NewLoader", "a first step of %d", cfg.First)
	}
	set.requireSizes("NewLoader", &set.Train)
	if err := cfg.Augment.Validate(set); err != nil {
		failf("NewLoader", "%v", err)
	}
	pixels := set.Pixels()
	l := &Loader{
		set: set, cfg: cfg,
		free: make(chan *Batch, 2), ready: make(chan *Batch, 2),
		perPass: uint64(set.Train.Len() / cfg.Batch), order: make([]int, set.Train.Len()), pass: noPass,
	}
	if cfg.Augment != (Augmentation{}) {
		l.changed = Split{Images: make([]uint8, cfg.Batch*pixels), Labels: make([]uint8, cfg.Batch)}
		l.whole, l.room = upTo(cfg.Batch), make([]uint8, pixels)
	}
	for range cap(l.free) {
		l.free <- &Batch{Images: make([]float32, cfg.Batch*pixels), Labels: make([]float32, cfg.Batch)}
	}
	go l.run()
	return l
}

// Next returns the batch of the next step. It may be read until the next call of
// Next or Close. Next allocates nothing. It panics with *Error after Close.
func (l *Loader) Next() *Batch {
	if l.closed {
		failf("Loader.Next", "the loader is closed")
	}
	if l.held != nil {
		l.free <- l.held
	}
	l.held = <-l.ready
	return l.held
}

// Close ends the goroutine and waits for that. Closing again does nothing.
func (l *Loader) Close() {
	if l.closed {
		return
	}
	l.closed = true
	close(l.free)
	for range l.ready {
	}
}

// run prepares batches while there is one to write to. ready has room for both,
// so it never waits there.
func (l *Loader) run() {
	defer close(l.ready)
	step := uint64(l.cfg.First) // beyond what an int holds, too
	for b := range l.free {
		l.prepare(b, step)
		step++
		l.ready <- b
	}
}

// prepare fills b with the batch of that step.
func (l *Loader) prepare(b *Batch, step uint64) {
	if pass := step / l.perPass; pass != l.pass {
		Order(l.order, l.cfg.Seed, pass)
		l.pass = pass
	}
	train, index := &l.set.Train, l.order[int(step%l.perPass)*l.cfg.Batch:][:l.cfg.Batch]
	if l.cfg.Augment == (Augmentation{}) {
		l.set.Batch(b.Images, b.Labels, train, index)
		return
	}
	l.source.Seed(l.cfg.Seed, "augmentation", step)
	pixels := l.set.Pixels()
	for i, n := range index {
		l.changed.Labels[i] = train.Labels[n]
		l.cfg.Augment.apply(l.changed.Images[i*pixels:][:pixels], l.set.Image(train, n), l.room, l.set.Height, l.set.Width, &l.source)
	}
	l.set.Batch(b.Images, b.Labels, &l.changed, l.whole)
}
