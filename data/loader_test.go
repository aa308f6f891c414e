package data

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/stream"
)

// augmentations of every kind, of images of at least 3 x 4 pixels.
var augmentations = map[string]Augmentation{
	"none": {}, "flip": {Flip: true}, "crop": {Crop: 2}, "rotation": {Rotate: 1}, "all": {Rotate: .5, Flip: true, Crop: 1},
}

// Batches are those of Order and Batch, with a pass cut off where a whole batch is
// not left.
func TestLoader(t *testing.T) {
	d := colours(10)
	order := make([]int, 10)
	want, labels := make([]float32, 3*24), make([]float32, 3)
	for _, first := range []int{0, math.MaxInt - 1} { // what comes behind the largest int has a number, too
		l := NewLoader(d, LoaderConfig{Batch: 3, Seed: 7, First: first})
		for step := uint64(first); step < uint64(first)+10; step++ {
			Order(order, 7, step/3)
			d.Batch(want, labels, &d.Train, order[step%3*3:][:3])
			if b := l.Next(); !slices.Equal(b.Images, want) || !slices.Equal(b.Labels, labels) {
				t.Fatalf("step %d: another batch", step)
			}
		}
		l.Close()
	}
}

// An augmented batch has the images of Order, with their classes, as the step's own stream
// changes them.
func TestLoaderAugments(t *testing.T) {
	d := colours(10)
	order, room := make([]int, 10), make([]uint8, 24)
	changed := Split{Images: make([]uint8, 3*24), Labels: make([]uint8, 3)}
	want, labels := make([]float32, 3*24), make([]float32, 3)
	for name, a := range augmentations {
		l := NewLoader(d, LoaderConfig{Batch: 3, Seed: 7, Augment: a})
		for step := range 7 {
			Order(order, 7, uint64(step/3))
			s := stream.New(7, "augmentation", uint64(step))
			for i, n := range order[step%3*3:][:3] {
				changed.Labels[i] = d.Train.Labels[n]
				a.apply(changed.Images[i*24:][:24], d.Image(&d.Train, n), room, d.Height, d.Width, s)
			}
			d.Batch(want, labels, &changed, []int{0, 1, 2})
			if b := l.Next(); !slices.Equal(b.Images, want) || !slices.Equal(b.Labels, labels) {
				t.Errorf("%s, step %d: another batch", name, step)
			}
		}
		l.Close()
	}
}

// A batch depends on its step, not on the first one.
func TestLoaderFirst(t *testing.T) {
	d := colours(10)
	for name, a := range augmentations {
		t.Run(name, func(t *testing.T) {
			var images, labels [][]float32
			whole := NewLoader(d, LoaderConfig{Batch: 4, Seed: 1, Augment: a})
			defer whole.Close()
			for range 6 {
				b := whole.Next()
				images, labels = append(images, slices.Clone(b.Images)), append(labels, slices.Clone(b.Labels))
			}
			for first := range 6 {
				l := NewLoader(d, LoaderConfig{Batch: 4, Seed: 1, Augment: a, First: first})
				for step := first; step < 6; step++ {
					if b := l.Next(); !slices.Equal(b.Images, images[step]) || !slices.Equal(b.Labels, labels[step]) {
						t.Errorf("from step %d: step %d has another batch", first, step)
					}
				}
				l.Close()
			}
			other := NewLoader(d, LoaderConfig{Batch: 4, Seed: 2, Augment: a})
			defer other.Close()
			if slices.Equal(other.Next().Images, images[0]) {
				t.Error("another seed gives the same batch")
			}
		})
	}
}

// What Next returned stands while the next batch is being prepared.
func TestLoaderHolds(t *testing.T) {
	l := NewLoader(colours(10), LoaderConfig{Batch: 3})
	defer l.Close()
	for step := range 5 {
		b := l.Next()
		before := slices.Clone(b.Images)
		for deadline := time.Now().Add(time.Minute); len(l.ready) == 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatal("no batch is prepared ahead")
			}
		}
		if !slices.Equal(before, b.Images) {
			t.Fatalf("step %d: the batch was written to", step)
		}
	}
}

func TestLoaderCloses(t *testing.T) {
	before := runtime.NumGoroutine()
	for taken := range 4 {
		l := NewLoader(colours(10), LoaderConfig{Batch: 3, Augment: Augmentation{Flip: true}})
		for range taken {
			l.Next()
		}
		l.Close()
		l.Close()
		func() {
			defer func() {
				if e, ok := recover().(*Error); !ok || !strings.Contains(e.Error(), "closed") {
					t.Errorf("a batch after Close: %v", e)
				}
			}()
			l.Next()
		}()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left of %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestLoaderAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, a := range augmentations {
		l := NewLoader(colours(10), LoaderConfig{Batch: 3, Augment: a})
		l.Next()
		if n := testing.AllocsPerRun(100, func() { l.Next() }); n != 0 {
			t.Errorf("%s: a batch allocates %v times", name, n)
		}
		l.Close()
	}
}

func TestLoaderMisuse(t *testing.T) {
	d := colours(10)
	for say, cfg := range map[string]LoaderConfig{
		"batches of 0 of 10 images":  {},
		"batches of 11 of 10 images": {Batch: 11},
		"a first step of -1":         {Batch: 1, First: -1},
		"Crop is 3":                  {Batch: 1, Augment: Augmentation{Crop: 3}},
	} {
		wantPanic(t, say, func() { NewLoader(d, cfg) })
	}
	for _, a := range []Augmentation{{Rotate: -.1}, {Rotate: 4}, {Rotate: math.NaN()}, {Crop: -1}, {Crop: 3}} {
		if err := a.Validate(d); err == nil || !strings.Contains(err.Error(), "allowed") {
			t.Errorf("%+v: %v", a, err)
		}
	}
	for _, a := range []Augmentation{{}, {Rotate: math.Pi, Crop: 2, Flip: true}} {
		if err := a.Validate(d); err != nil {
			t.Error(err)
		}
	}
	for say, spoil := range map[string]func(d *Dataset){
		"pixel values":        func(d *Dataset) { d.Train.Images = d.Train.Images[1:] },
		"standard deviations": func(d *Dataset) { d.Std = nil },
		"means":               func(d *Dataset) { d.Mean = append(d.Mean, 0) },
	} {
		d := colours(10)
		spoil(d)
		wantPanic(t, say, func() { NewLoader(d, LoaderConfig{Batch: 3}) })
	}
}

// Flip and crop give every one of their outcomes, about equally often, and nothing
// else.
func TestFlipCrop(t *testing.T) {
	const height, width, crop = 3, 4, 2
	src := ramp(2 * height * width)
	outcomes := map[string]int{}
	for flip := range 2 {
		for dy := -crop; dy <= crop; dy++ {
			for dx := -crop; dx <= crop; dx++ {
				want := make([]uint8, len(src))
				for i := range want {
					k, r, c := i/12, i%12/width, i%width
					if flip == 1 {
						c = width - 1 - c
					}
					if r+dy >= 0 && r+dy < height && c+dx >= 0 && c+dx < width {
						want[i] = src[k*12+(r+dy)*width+c+dx]
					}
				}
				outcomes[string(want)] = 0
			}
		}
	}
	if len(outcomes) != 50 {
		t.Fatalf("%d outcomes", len(outcomes))
	}
	s := stream.New(1, "test", 0)
	dst, room := make([]uint8, len(src)), make([]uint8, len(src))
	const draws = 50 * 400
	for range draws {
		Augmentation{Flip: true, Crop: crop}.apply(dst, src, room, height, width, s)
		if _, ok := outcomes[string(dst)]; !ok {
			t.Fatalf("%v is no shifted or flipped copy of %v", dst, src)
		}
		outcomes[string(dst)]++
	}
	for _, n := range outcomes { // 400 expected, a standard deviation of 19
		if n < 300 || n > 500 {
			t.Errorf("an outcome came %d times of %d", n, draws)
		}
	}
}

// Angles fill the interval.
func TestRotation(t *testing.T) {
	const most = .7
	src := ramp(40)
	dst, room, want := make([]uint8, 40), make([]uint8, 40), make([]uint8, 40)
	s, again := stream.New(1, "test", 0), stream.New(1, "test", 0)
	low, high := 0., 0.
	for range 200 {
		Augmentation{Rotate: most}.apply(dst, src, room, 4, 5, s)
		angle := most * (2*again.Float64() - 1)
		low, high = min(low, angle), max(high, angle)
		sin, cos := sincos(angle)
		turn(want, src, 4, 5, sin, cos)
		if !slices.Equal(dst, want) {
			t.Fatalf("not turned by %v", angle)
		}
	}
	if low < -most || low > -.95*most || high > most || high < .95*most {
		t.Errorf("angles from %v to %v, want ±%v", low, high, most)
	}
}

func BenchmarkLoader(b *testing.B) {
	d := &Dataset{Channels: 3, Height: 32, Width: 32, Classes: 10, Mean: make([]float32, 3), Std: []float32{1, 1, 1}}
	d.Train = Split{Images: ramp(1000 * 3072), Labels: make([]uint8, 1000)}
	for _, c := range []struct {
		name string
		a    Augmentation
	}{{"none", Augmentation{}}, {"flip-crop", Augmentation{Flip: true, Crop: 4}}, {"rotation", Augmentation{Rotate: math.Pi}}} {
		b.Run("augment="+c.name+"/batch=64", func(b *testing.B) {
			l := NewLoader(d, LoaderConfig{Batch: 64, Augment: c.a})
			defer l.Close()
			for b.Loop() {
				l.Next()
			}
		})
	}
}
