package data

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestStrokesDefaults(t *testing.T) {
	d := Strokes6180(StrokesConfig{})
	if d.Name != "strokes6-180" || !d.Synthetic {
		t.Errorf("%q, synthetic %v", d.Name, d.Synthetic)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if d.Train.Len() != 4000 || d.Validation.Len() != 600 || d.Test.Len() != 1000 {
		t.Errorf("%d, %d, %d images", d.Train.Len(), d.Validation.Len(), d.Test.Len())
	}
}

// The same bytes on every architecture and with every compiler: the digest was
// taken on amd64 and holds on arm64, where Go fuses multiplications and
// additions unless told otherwise. A change of the generator changes it, and
// with it every result that was obtained on the set.
func TestStrokesDigest(t *testing.T) {
	d := Strokes6180(StrokesConfig{Train: 200, Validation: 20, Test: 20, Seed: 1})
	sum := sha256.New()
	for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
		sum.Write(s.Images)
		sum.Write(s.Labels)
	}
	const want = "902702f4bbf478f1cb524d9d5b4f5abed675a000a725054b83648471d7d8c5fc"
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != want {
		t.Errorf("SHA-256 of the images and labels is %s, want %s", got, want)
	}
}

func TestStrokesSeed(t *testing.T) {
	few := Strokes6180(StrokesConfig{Train: 10, Validation: 10, Test: 10, Seed: 3})
	more := Strokes6180(StrokesConfig{Train: 25, Validation: 10, Test: 20, Seed: 3})
	if !bytes.Equal(few.Train.Images, more.Train.Images[:len(few.Train.Images)]) ||
		!bytes.Equal(few.Test.Images, more.Test.Images[:len(few.Test.Images)]) ||
		!bytes.Equal(few.Validation.Images, more.Validation.Images) {
		t.Error("asking for more images changed others")
	}
	other := Strokes6180(StrokesConfig{Train: 10, Validation: 10, Test: 10, Seed: 4})
	if bytes.Equal(few.Train.Images, other.Train.Images) {
		t.Error("another seed gave the same images")
	}
	seen := map[string]bool{}
	for _, d := range []*Dataset{more, other} {
		for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
			for i := range s.Len() {
				img := string(d.Image(s, i))
				if seen[img] {
					t.Fatalf("image %d is there twice", i)
				}
				seen[img] = true
			}
		}
	}
}

func TestStrokesCopies(t *testing.T) {
	d := Strokes6180(StrokesConfig{Train: 50, Validation: 1, Test: 1})
	for i := 0; i < d.Train.Len(); i += 2 {
		six, turned := d.Image(&d.Train, i), d.Image(&d.Train, i+1)
		if d.Train.Labels[i] != 0 || d.Train.Labels[i+1] != 1 {
			t.Fatalf("labels %d, %d", d.Train.Labels[i], d.Train.Labels[i+1])
		}
		for r := range 28 {
			for c := range 28 {
				if turned[r*28+c] != six[(27-r)*28+27-c] {
					t.Fatalf("image %d is not image %d turned by 180 degrees at (%d, %d)", i+1, i, r, c)
				}
			}
		}
	}
}

// What makes a drawing a six: enough ink and not too much, none at the border,
// in one piece, and, with few exceptions (open or filled loops), one hole, which
// lies in the lower half.
func TestStrokesInk(t *testing.T) {
	d := Strokes6180(StrokesConfig{Train: 1000, Validation: 1, Test: 1, Seed: 5})
	const n = 1000
	var mean, square, holes, low float64
	var average [784]float64
	for i := range n {
		img := d.Image(&d.Train, 2*i)
		var sum float64
		peak := uint8(0)
		for p, v := range img {
			sum += float64(v) / 255
			peak = max(peak, v)
			average[p] += float64(v) / 255 / n
			if r, c := p/28, p%28; v > 0 && (r == 0 || r == 27 || c == 0 || c == 27) {
				t.Fatalf("six %d: ink at the border, (%d, %d)", i, r, c)
			}
		}
		// For comparison: the sixes of MNIST6180's training part (seed 0) have between
		// 39 and 245 pixels' worth of ink.
		if sum < 30 || sum > 260 || peak < 200 {
			t.Errorf("six %d: ink of %.1f pixels, peak %d", i, sum, peak)
		}
		mean += sum / 784 / n
		square += sum / 784 * (sum / 784) / n
		if pieces, _ := components(img, func(v uint8) bool { return v >= 64 }); pieces != 1 {
			t.Errorf("six %d: ink in %d pieces", i, pieces)
		}
		background, row := components(img, func(v uint8) bool { return v < 110 })
		if background == 2 {
			holes++
			if row > 13.5 {
				low++
			}
		}
	}
	// Theirs: mean .1372 per pixel, standard deviation between images .0373; one
	// hole in 75% of them, in the lower half in 99.5% of those.
	if deviation := math.Sqrt(square - mean*mean); mean < .11 || mean > .16 || deviation < .025 || deviation > .055 {
		t.Errorf("ink per pixel %.4f on average, standard deviation between images %.4f", mean, deviation)
	}
	if holes < .8*n || low < .99*holes {
		t.Errorf("%.0f of %d sixes have one hole, %.0f of them in the lower half", holes, n, low)
	}
	// Varied: no pixel is inked always, many are inked sometimes.
	sometimes := 0
	for p, v := range average {
		if v > .97 {
			t.Errorf("pixel %d is always inked (%.3f)", p, v)
		}
		if v > .02 {
			sometimes++
		}
	}
	if sometimes < 300 {
		t.Errorf("only %d pixels are ever inked", sometimes)
	}
	t.Logf("ink %.4f, one hole in %.0f of %d, %d pixels used", mean, holes, n, sometimes)
}

// components counts the 4-connected regions of pixels that satisfy in, ignoring
// single pixels, and returns the mean row of the last one found: the background
// is the first, a hole follows.
func components(img []uint8, in func(uint8) bool) (n int, row float64) {
	var seen [784]bool
	for start := range img {
		if seen[start] || !in(img[start]) {
			continue
		}
		size, rows := 0, 0
		stack := []int{start}
		seen[start] = true
		for len(stack) > 0 {
			p := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			r, c := p/28, p%28
			size++
			rows += r
			for _, q := range [4][2]int{{r - 1, c}, {r + 1, c}, {r, c - 1}, {r, c + 1}} {
				if q[0] < 0 || q[0] > 27 || q[1] < 0 || q[1] > 27 {
					continue
				}
				if k := q[0]*28 + q[1]; !seen[k] && in(img[k]) {
					seen[k] = true
					stack = append(stack, k)
				}
			}
		}
		if size > 1 {
			n++
			row = float64(rows) / float64(size)
		}
	}
	return n, row
}

func TestStrokesConfigBad(t *testing.T) {
	const huge = math.MaxInt/2 + 1
	for say, cfg := range map[string]StrokesConfig{
		"Train is -1":                 {Train: -1},
		"Validation is -5":            {Validation: -5},
		"Test is 1048577":             {Test: 1<<20 + 1},
		"asks for 1049376 sixes":      {Train: 1<<20 - 0, Validation: 300, Test: 500},
		fmt.Sprint("Train is ", huge): {Train: huge},
	} {
		err := cfg.Validate()
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%+v: %v, want %q", cfg, err, say)
		}
		wantPanic(t, say, func() { Strokes6180(cfg) })
	}
	if err := (StrokesConfig{}).Validate(); err != nil {
		t.Error(err)
	}
}

// wantPanic fails unless f panics with an *Error that says say.
func wantPanic(t *testing.T, say string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		v := recover()
		err, _ := v.(error)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), "data: ") || !strings.Contains(e.Error(), say) {
			t.Errorf("panic with %v, want a *Error that says %q", v, say)
		}
	}()
	f()
}

func BenchmarkStrokes6180(b *testing.B) {
	var p pen
	var img [strokeSide * strokeSide]uint8
	p.src.Seed(0, "benchmark", 0)
	for b.Loop() {
		p.six(img[:])
	}
}
