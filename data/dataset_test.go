package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// colours returns a valid set of 2-channel images of 3 x 4 pixels.
func colours(n int) *Dataset {
	split := Split{Images: ramp(n * 24), Labels: make([]uint8, n)}
	for i := range split.Labels {
		split.Labels[i] = uint8(i % 3)
	}
	return &Dataset{
		Name: "colours", Channels: 2, Height: 3, Width: 4,
		Classes: 3, ClassNames: []string{"a", "b", "c"},
		Mean: []float32{.1307, .5}, Std: []float32{.3081, .25},
		Train: split, Validation: split, Test: split,
	}
}

func TestBatch(t *testing.T) {
	d := colours(10)
	for _, index := range [][]int{{}, {0}, {9}, {3, 3, 0}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}} {
		dst := slices.Repeat([]float32{-99}, len(index)*24+5)
		labels := slices.Repeat([]float32{-99}, len(index)+3)
		d.Batch(dst, labels, &d.Train, index)
		for b, n := range index {
			for c := range 2 {
				for p := range 12 {
					x := float64(d.Train.Images[n*24+c*12+p])
					want := (x/255 - float64(d.Mean[c])) / float64(d.Std[c])
					got := float64(dst[b*24+c*12+p])
					if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
						t.Fatalf("image %d, channel %d, pixel %d: %v, want %v", n, c, p, got, want)
					}
				}
			}
			if labels[b] != float32(n%3) {
				t.Fatalf("label of image %d is %v", n, labels[b])
			}
		}
		for _, v := range append(dst[len(index)*24:], labels[len(index):]...) {
			if v != -99 {
				t.Fatalf("a batch of %d wrote beyond its end", len(index))
			}
		}
		d.Batch(dst, nil, &d.Train, index)
	}
}

func TestBatchMisuse(t *testing.T) {
	d := colours(4)
	buf := make([]float32, 100)
	for say, f := range map[string]func(){
		"index -1 outside a split of 4": func() { d.Batch(buf, buf, &d.Train, []int{0, -1}) },
		"index 4 outside a split of 4":  func() { d.Batch(buf, buf, &d.Train, []int{4}) },
		"dst holds 47 values":           func() { d.Batch(buf[:47], buf, &d.Train, []int{0, 1}) },
		"labels holds 1 values":         func() { d.Batch(buf, buf[:1], &d.Train, []int{0, 1}) },
		"95 pixel values for 4 images":  func() { d.Batch(buf, buf, &Split{ramp(95), d.Train.Labels}, nil) },
		"1 means":                       func() { e := *d; e.Mean = e.Mean[:1]; e.Batch(buf, buf, &d.Train, []int{0}) },
		"Image: index 4":                func() { d.Image(&d.Train, 4) },
		"Image: index -2":               func() { d.Image(&d.Train, -2) },
		"Image: 95 pixel values for 4":  func() { d.Image(&Split{ramp(95), d.Train.Labels}, 3) },
	} {
		wantPanic(t, say, f)
	}
}

func TestValidate(t *testing.T) {
	if err := colours(5).Validate(); err != nil {
		t.Fatal(err)
	}
	d := colours(5)
	if d.Classes, d.ClassNames = 256, make([]string, 256); d.Validate() != nil {
		t.Error(d.Validate())
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	huge := func(d *Dataset, height, width int) { // four images, whose values are none as an int
		d.Height, d.Width = height, width
		d.Train = Split{Labels: make([]uint8, 4)}
		d.Validation, d.Test = d.Train, d.Train
	}
	for say, damage := range map[string]func(*Dataset){
		"images of 0 x 3 x 4":                 func(d *Dataset) { d.Channels, d.Mean, d.Std = 0, nil, nil },
		"images of 2 x 0 x 4":                 func(d *Dataset) { d.Height = 0 },
		"images of 2 x 3 x 0":                 func(d *Dataset) { d.Width = 0 },
		"more than memory can hold":           func(d *Dataset) { huge(d, math.MaxInt/4+1, 4) },
		"1 classes; between":                  func(d *Dataset) { d.Classes = 1 },
		"257 classes; between":                func(d *Dataset) { d.Classes = 257 },
		"2 class names for 3":                 func(d *Dataset) { d.ClassNames = d.ClassNames[:2] },
		"1 means":                             func(d *Dataset) { d.Mean = d.Mean[:1] },
		"deviation 0 of channel 1":            func(d *Dataset) { d.Std = []float32{1, 0} },
		"deviation NaN of channel 0":          func(d *Dataset) { d.Std = []float32{nan, 1} },
		"deviation +Inf of channel 1":         func(d *Dataset) { d.Std = []float32{1, inf} },
		"mean +Inf of channel 0":              func(d *Dataset) { d.Mean = []float32{inf, 0} },
		"mean -Inf of channel 1":              func(d *Dataset) { d.Mean = []float32{0, -inf} },
		"mean NaN of channel 1":               func(d *Dataset) { d.Mean = []float32{0, nan} },
		"the validation part is empty":        func(d *Dataset) { d.Validation = Split{} },
		"the test part has 5 labels":          func(d *Dataset) { d.Test.Images = d.Test.Images[1:] },
		"the training part has 5 labels":      func(d *Dataset) { d.Train.Images = append(slices.Clone(d.Train.Images), 0) },
		"pixel values, of which an image has": func(d *Dataset) { huge(d, math.MaxInt/4+1, 1) },
		"label 3 of image 1 of the training ": func(d *Dataset) { d.Train.Labels = []uint8{0, 3, 0, 0, 0} },
	} {
		d := colours(5)
		damage(d)
		err := d.Validate()
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), `"colours"`) {
			t.Errorf("%v, want %q", err, say)
		}
	}
}

func TestOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 17, 1000} {
		a, b := make([]int, n), slices.Repeat([]int{-1}, n)
		Order(a, 5, 3)
		Order(b, 5, 3)
		if !slices.Equal(a, b) {
			t.Fatalf("n = %d: two orders of one epoch differ", n)
		}
		slices.Sort(b)
		for i, v := range b {
			if i != v {
				t.Fatalf("n = %d: no permutation", n)
			}
		}
		if n < 10 {
			continue
		}
		for _, c := range [][2]uint64{{5, 4}, {6, 3}, {3, 5}} {
			Order(b, c[0], c[1])
			if slices.Equal(a, b) {
				t.Errorf("seed and epoch %v give the order of 5, 3", c)
			}
		}
	}
	// Each of 4! orders comes with probability 1/24: over 24000 epochs 1000 times,
	// with a standard deviation of 31.
	count := map[string]int{}
	index := make([]int, 4)
	for epoch := range uint64(24000) {
		Order(index, 1, epoch)
		count[fmt.Sprint(index)]++
	}
	for o, n := range count {
		if n < 850 || n > 1150 {
			t.Errorf("order %s came %d times of 24000", o, n)
		}
	}
	if len(count) != 24 {
		t.Errorf("%d orders of 24", len(count))
	}
}

func TestNoAllocation(t *testing.T) {
	d := colours(64)
	index := make([]int, 64)
	dst, labels := make([]float32, 64*24), make([]float32, 64)
	turned := make([]uint8, 24)
	for name, f := range map[string]func(){
		"Order":  func() { Order(index, 1, 2) },
		"Batch":  func() { d.Batch(dst, labels, &d.Train, index) },
		"Rotate": func() { Rotate(turned, d.Image(&d.Train, 3), 3, 4, .3) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	d := Strokes6180(StrokesConfig{Train: 500, Validation: 1, Test: 1})
	index := make([]int, 64)
	Order(index, 0, 0)
	dst, labels := make([]float32, 64*784), make([]float32, 64)
	b.SetBytes(4 * 64 * 784)
	for b.Loop() {
		d.Batch(dst, labels, &d.Train, index)
	}
}
