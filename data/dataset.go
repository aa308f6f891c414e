package data

import (
	"fmt"
	"math"
	"sync"

	"github.com/noether-go/noether/internal/stream"
)

// Dataset is a set of images with classes, held in memory as bytes, divided
// once and for all into what a network is trained on, what its training is
// judged by, and what it is tested on in the end.
type Dataset struct {
	// Name is the short name that presets and reports use, such as
	// "mnist6-180".
	Name string
	// Synthetic says that the images were generated, not recorded. Every output
	// about a synthetic set must say so.
	Synthetic bool

	Channels, Height, Width int // C, H, W of one image
	Classes                 int
	ClassNames              []string // [Classes]

	// Mean and Std [Channels] normalise pixels scaled to [0, 1].
	Mean, Std []float32

	Train, Validation, Test Split

	// Turned says that the images are turned at random.
	Turned bool
	// Upright holds, of a set that turns its images at random, those of Test as they
	// were before, with the labels that they would have: what an answer is shown against
	// the rotation for. It is empty for the other sets, and for one that was published
	// turned.
	Upright Split
}

// Split is one part of a Dataset.
type Split struct {
	Images []uint8 // [N, C, H, W], 0 to 255
	Labels []uint8 // [N], below Classes
}

// Len returns the number of images, N.
func (s *Split) Len() int { return len(s.Labels) }

// Pixels returns the number of values of one image, C*H*W.
func (d *Dataset) Pixels() int { return d.Channels * d.Height * d.Width }

// Image returns image i [C, H, W] of s, sharing its memory. It panics with
// *Error when i is outside s, or the images of s are not as many as its labels.
func (d *Dataset) Image(s *Split, i int) []uint8 {
	if i < 0 || i >= s.Len() {
		failf("Image", "index %d outside a split of %d images", i, s.Len())
	}
	d.requireImages("Image", s)
	p := d.Pixels()
	return s.Images[i*p : (i+1)*p : (i+1)*p]
}

// Validate returns an error that names the first thing about d that training
// could not work with: sizes that do not fit together, an empty part, a label
// that is no class. The sets that this package makes pass, unless they were made
// from files with too few images of a kind to leave each part one, such as a single six.
func (d *Dataset) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("data: set %q: "+format, append([]any{d.Name}, args...)...)
	}
	switch {
	case d.Channels < 1 || d.Height < 1 || d.Width < 1:
		return bad("images of %d x %d x %d values (channels, height, width); all must be at least 1", d.Channels, d.Height, d.Width)
	case d.Channels > math.MaxInt/d.Height/d.Width:
		return bad("images of %d x %d x %d values (channels, height, width); that is more than memory can hold", d.Channels, d.Height, d.Width)
	case d.Classes < 2 || d.Classes > 256:
		return bad("%d classes; between 2 and 256 are possible", d.Classes)
	case len(d.ClassNames) != d.Classes:
		return bad("%d class names for %d classes", len(d.ClassNames), d.Classes)
	case len(d.Mean) != d.Channels || len(d.Std) != d.Channels:
		return bad("%d means and %d standard deviations for %d channels", len(d.Mean), len(d.Std), d.Channels)
	}
	for c, v := range d.Std {
		if !(v > 0) || math.IsInf(float64(v), 0) {
			return bad("standard deviation %v of channel %d; it must be positive and finite", v, c)
		}
		if m := float64(d.Mean[c]); math.IsNaN(m) || math.IsInf(m, 0) {
			return bad("mean %v of channel %d; it must be finite", m, c)
		}
	}
	for _, part := range []struct {
		name string
		*Split
	}{{"training", &d.Train}, {"validation", &d.Validation}, {"test", &d.Test}} {
		if part.Len() == 0 {
			return bad("the %s part is empty", part.name)
		}
		if p := d.Pixels(); len(part.Images)/p != part.Len() || len(part.Images)%p != 0 { // their product need not be an int
			return bad("the %s part has %d labels but %d pixel values, of which an image has %d", part.name, part.Len(), len(part.Images), p)
		}
		for i, l := range part.Labels {
			if int(l) >= d.Classes {
				return bad("label %d of image %d of the %s part; the classes are 0 to %d", l, i, part.name, d.Classes-1)
			}
		}
	}
	return nil
}

// requireSizes panics with *Error, on behalf of op, when the sizes of s and of the normalisation do not fit the images.
func (d *Dataset) requireSizes(op string, s *Split) {
	d.requireImages(op, s)
	if len(d.Mean) != d.Channels || len(d.Std) != d.Channels {
		failf(op, "%d means and %d standard deviations for %d channels", len(d.Mean), len(d.Std), d.Channels)
	}
}

// requireImages is requireSizes for the images alone.
func (d *Dataset) requireImages(op string, s *Split) {
	if p := d.Pixels(); len(s.Images) != s.Len()*p {
		failf(op, "%d pixel values for %d images of %d", len(s.Images), s.Len(), p)
	}
}

// Batch gathers the images of s that index names into dst [len(index), C, H, W],
// normalised to (x/255 - mean) / std, and their classes into labels
// [len(index)], as float32. labels may be nil where they are not wanted; dst and
// labels may be longer than needed. Batch allocates nothing. It panics with
// *Error on an index outside s or a slice that is too short.
func (d *Dataset) Batch(dst, labels []float32, s *Split, index []int) {
	p := d.Pixels()
	d.requireSizes("Batch", s)
	if len(dst) < len(index)*p {
		failf("Batch", "dst holds %d values, %d images of %d need %d", len(dst), len(index), p, len(index)*p)
	}
	if labels != nil && len(labels) < len(index) {
		failf("Batch", "labels holds %d values, %d are needed", len(labels), len(index))
	}
	for _, n := range index {
		if n < 0 || n >= s.Len() {
			failf("Batch", "index %d outside a split of %d images", n, s.Len())
		}
	}
	plane := d.Height * d.Width
	var value [256]float32 // what each pixel value becomes: one division per value, not per pixel
	for c := range d.Channels {
		for v := range value {
			value[v] = (float32(v)/255 - d.Mean[c]) / d.Std[c]
		}
		for b, n := range index {
			src := s.Images[n*p+c*plane:][:plane]
			out := dst[b*p+c*plane:][:plane]
			for i, v := range src {
				out[i] = value[v]
			}
		}
	}
	if labels != nil {
		for b, n := range index {
			labels[b] = float32(s.Labels[n])
		}
	}
}

// Order fills index with a permutation of 0 .. len(index)-1: the order in which
// epoch number epoch of a run with this seed visits a split. It is a function of
// (seed, epoch, len(index)) alone and allocates nothing.
func Order(index []int, seed, epoch uint64) {
	for i := range index {
		index[i] = i
	}
	order.Lock()
	defer order.Unlock()
	order.Seed(seed, "data order", epoch)
	order.Shuffle(len(index), func(i, j int) { index[i], index[j] = index[j], index[i] })
}

// order is Order's generator. It is kept because a local one would be allocated
// on the heap: math/rand/v2's ChaCha8 escapes.
var order struct {
	sync.Mutex
	stream.Stream
}
