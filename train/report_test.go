package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/internal/plots"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/tensor"
)

// sample returns the parts of a report of n epochs, with numbers made up.
func sample(t *testing.T, preset string, n int, partial bool) (*config.Config, *result, []model.EpochMetrics, *figures) {
	t.Helper()
	c, err := config.Lookup(preset)
	if err != nil {
		t.Fatal(err)
	}
	c.Train.Epochs, c.Conv.Partial = n, partial
	var epochs []model.EpochMetrics
	for i := 1; i <= n; i++ {
		left := 0.9 * math.Exp(-4*float64(i)/float64(n))
		epochs = append(epochs, model.EpochMetrics{
			Epoch: i, Step: 62 * i, LearningRate: c.Train.LR, TrainLoss: left, TrainAccuracy: 1 - left/2,
			ValidationLoss: left + 0.01, ValidationAccuracy: 0.99 - left/2, Best: i == n, Learned: []float64{1, 0.3 + 0.7*left, 0.5},
		})
	}
	_, f := turnedImages(data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 2}), 32, 15)
	f.draws, f.wholeDraws = 12, 2
	for _, a := range f.angles {
		f.learned = append(f.learned, 0.5+0.45*math.Cos(a*math.Pi/180))
	}
	f.crossings = crossings(f.angles, f.learned)
	r := &result{
		Preset: c.Preset, Dataset: c.Data.Set, Synthetic: strings.HasPrefix(c.Data.Set, "strokes"), Group: c.Group.Name, Elements: 8, Partial: partial,
		Kernel: "SIREN", Epochs: n, BestEpoch: n, EvalDraws: 5, TestAccuracy: 0.9875, TestAccuracyStd: 0.0021, Learned: []float64{1, 0.3, 0.5},
	}
	f.classes, f.confusion = []string{"6", "6 turned by 180 degrees"}, [][]int{{9, 1}, {0, 10}}
	f.sizes, f.begin = r.Learned, []float64{1, 1, 1}
	for _, theta := range f.sizes {
		f.subsets = append(f.subsets, []gumbel.Learned{{Theta: theta}})
	}
	f.turned = 4
	for a := 0; a <= 180; a += 45 {
		e := model.Equivariance{Transformation: model.Transformation{Angle: float64(a) * math.Pi / 180}, Element: true, Pooled: model.Parts{Total: 0.7, Subset: 0.5125, Sampling: 0.25}}
		for _, name := range []string{"lift_conv", "blocks.0.gconv1", "blocks.0.gconv2", "last_gconv"} {
			e.Layers = append(e.Layers, model.LayerParts{Layer: name, Parts: model.Parts{Total: 0.1, Grid: 0.1}})
		}
		f.equivariance = append(f.equivariance, e)
	}
	f.equivariance = append(f.equivariance, model.Equivariance{Transformation: model.Transformation{Flip: true}, Pooled: model.Parts{Total: 0.4375, Group: 0.4375}})
	f.kernels = []kernelFigure{{layer: "lift_conv", at: []string{"0°", "90°"}, side: 3, kernels: [][][]float32{{{0, 1, -1, 2, 0, 0, 0, -2, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}}}}}
	if partial {
		f.pass, f.wholePass, f.ratios, f.turns = 0.015, 0.02, []float64{0.7, 0.8}, 7
		f.memory = model.StepMemory{Learned: 3 << 20, Whole: 12 << 20}
		whole := 0.5031
		f.wholeGroup, r.WholeGroupAccuracy = &whole, &whole
		f.whole = slices.Repeat([]float64{0.6}, len(f.angles))
	}
	return &c, r, epochs, f
}

func render(t *testing.T, preset string, n int, partial bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), reportFile)
	c, r, epochs, f := sample(t, preset, n, partial)
	if err := writeReport(path, c, r, epochs, f); err != nil {
		t.Fatal(err)
	}
	return string(read(t, path))
}

var picture = regexp.MustCompile(`(?s)<svg .*?</svg>`)

func TestReport(t *testing.T) {
	for _, n := range []int{1, 2, 10, 300} {
		for _, partial := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d epochs, partial=%v", n, partial), func(t *testing.T) {
				html := render(t, "strokes6-180", n, partial)
				for _, s := range []string{"0.9875", "0.0021", "5 draws", "synthetic data", "0.512", "0.438", "rotation by 90°", "flip, left to right", "lift_conv", "6 turned by 180 degrees</li>", "go run ./train", "train.lr_subset", "prefers-color-scheme:dark"} {
					if !strings.Contains(html, s) {
						t.Errorf("the report lacks %q", s)
					}
				}
				if strings.Contains(html, "0.5031") != partial {
					t.Error("the accuracy on the whole group belongs to reports on learned subsets")
				}
				if strings.Contains(html, "15 ms on the learned subsets and 20 ms on the whole group: 25% less (ratio in the middle half of 7 turns: 0.70 to 0.80)") != partial {
					t.Error("the time of a pass belongs to reports on learned subsets")
				}
				if strings.Contains(html, "take 3.0 MiB when they are planned for the elements that the learned subsets draw, and 12.0 MiB for the whole group: 75% less") != partial {
					t.Error("the memory of a step belongs to reports on learned subsets")
				}
				// rotation (wide and narrow), kernels, equivariance (pooled and by layers), confusion,
				// loss, accuracy; subsets and a circle for each layer
				want := 8
				if partial {
					want += 1 + 3
				}
				pictures := picture.FindAllString(html, -1)
				if len(pictures) != want {
					t.Errorf("%d pictures, want %d", len(pictures), want)
				}
				for _, p := range pictures {
					checkPicture(t, p)
				}
				if len(html) > 400e3 {
					t.Errorf("the report has %d bytes", len(html))
				}
			})
		}
	}
}

// checkPicture asserts that a picture is well-formed XML with a title and a
// description that it refers to, and numbers in all its coordinates.
func checkPicture(t *testing.T, p string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(p))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %.200s", err, p)
		}
	}
	m := regexp.MustCompile(`role="img" aria-labelledby="(\S+) (\S+)"`).FindStringSubmatch(p)
	if m == nil || !strings.Contains(p, `<title id="`+m[1]+`">`) || !strings.Contains(p, `<desc id="`+m[2]+`">`) {
		t.Errorf("no title or description: %.200s", p)
	}
	if strings.Contains(p, "NaN") || strings.Contains(p, "Inf") || strings.Contains(p, "%!") {
		t.Errorf("not all coordinates are numbers: %s", p)
	}
}

// A report needs nothing but itself, and no identifier in it stands for two
// things.
func TestReportStandsAlone(t *testing.T) {
	html := render(t, "mnist6-180", 3, true)
	for _, s := range []string{"<script", "<link", "<iframe", "@import", "url(", "http:", "https:", "src="} {
		if strings.Contains(html, s) {
			t.Errorf("the report contains %q", s)
		}
	}
	if strings.Contains(html, "synthetic data") {
		t.Error("recorded data are called synthetic")
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if seen[m[1]] {
			t.Errorf("two things are called %s", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !seen[m[1]] {
			t.Errorf("nothing is called %s", m[1])
		}
	}
}

// A synthetic set is called so wherever it is named, but for keys and values
// that a user types.
func TestReportSaysSynthetic(t *testing.T) {
	html := render(t, "strokes6-180", 2, true)
	for _, m := range regexp.MustCompile(`strokes6-180(?:[^-a-z0-9][^<]{0,30}<?[^<>]{0,40}>?[^<]{0,20})`).FindAllString(html, -1) {
		if strings.HasPrefix(m, "strokes6-180</dd>") {
			continue
		}
		if !strings.Contains(m, "synthetic") {
			t.Errorf("the report names the set without saying that it is synthetic: %q", m)
		}
	}
}

func TestRotationPicture(t *testing.T) {
	_, r, _, f := sample(t, "strokes6-180", 1, true)
	path := filepath.Join(t.TempDir(), rotationFile)
	if err := writeRotation(path, r, f); err != nil {
		t.Fatal(err)
	}
	svg := string(read(t, path))
	checkPicture(t, svg)
	for _, s := range []string{`xmlns="http://www.w3.org/2000/svg"`, "strokes6-180 (synthetic)", "−90°", "learned subsets", "whole group", "<style>"} {
		if !strings.Contains(svg, s) {
			t.Errorf("the picture lacks %q", s)
		}
	}
}

func TestCrossings(t *testing.T) {
	x := []float64{-2, -1, 0, 1, 2}
	for _, c := range []struct{ y, want []float64 }{
		{[]float64{0, .25, 1, .25, 0}, []float64{-2. / 3, 2. / 3}},
		{[]float64{.5, 1, 1, 1, .5}, []float64{-2}}, // both ends are one place on the circle
		{[]float64{0, .5, 1, 1, 1}, []float64{-1}},
		{[]float64{1, 1, 1, 1, 1}, []float64{}},
		{[]float64{.5, .5, .5, .5, .5}, []float64{}},
		{[]float64{1, .5, .5, 0, 1}, []float64{0, 1.5}},
		{[]float64{.4, .6, .4, .6, .4}, []float64{-1.5, -.5, .5, 1.5}},
	} {
		got := crossings(x, c.y)
		if len(got) != len(c.want) || got == nil {
			t.Errorf("%v crosses 1/2 at %v, want %v", c.y, got, c.want)
			continue
		}
		for i := range got {
			if !(math.Abs(got[i]-c.want[i]) <= 1e-12) {
				t.Errorf("%v crosses 1/2 at %v, want %v", c.y, got, c.want)
			}
		}
	}
}

// The curve holds the mean probability of the first class, and ends where it
// begins: half a turn to the left is half a turn to the right.
func TestCurve(t *testing.T) {
	set := data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 3})
	net, err := model.NewCKResNet(model.CKResNetConfig{
		Elements: 2, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4, KernelLayers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 3, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	turned, f := turnedImages(set, 32, 15)
	got := f.curve(net, set, turned, 1, 7)
	if len(got) != len(f.angles) || got[0] != got[len(got)-1] {
		t.Fatalf("%d angles, %v at the first and %v at the last", len(got), got[0], got[len(got)-1])
	}
	p := net.Probabilities(turned, 1, 7)
	for i := range len(f.angles) - 1 {
		if want := (p[6*i] + p[6*i+2] + p[6*i+4]) / 3; !(math.Abs(got[i]-want) <= 1e-12) {
			t.Errorf("%v degrees: %v, want %v", f.angles[i], got[i], want)
		}
	}
}

// Equivariance is measured on so many test images, or on all where there are fewer, by rotations
// through half the circle and a flip.
func TestMeasuredEquivariance(t *testing.T) {
	set := data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 3})
	for most, want := range map[int]int{4: 4, 16: set.Test.Len()} {
		net, err := model.NewCKResNet(model.CKResNetConfig{
			Elements: 2, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4, KernelLayers: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		var f figures
		if err := f.measureEquivariance(t.Context(), net, set, 1, depth{turned: most, turns: 45}); err != nil {
			t.Fatal(err)
		}
		if f.turned != want || len(f.equivariance) != 6 {
			t.Fatalf("%d images, want %d; %d transformations", f.turned, want, len(f.equivariance))
		}
		for i, e := range f.equivariance {
			if e.Flip != (i == 5) || i < 5 && !(math.Abs(e.Angle-float64(i)*math.Pi/4) <= 1e-12) {
				t.Errorf("transformation %d is %v", i, e.Transformation)
			}
		}
	}
}

// On a group with scalings equivariance to these is measured too, as far below 1 as above.
func TestMeasuredScalings(t *testing.T) {
	set := data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 3})
	for group, want := range map[lie.Group]int{lie.SE2: 0, lie.Sim2: 5} {
		net, err := model.NewCKResNet(model.CKResNetConfig{
			Group: group, Elements: 2, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4, KernelLayers: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		var f figures
		if err := f.measureEquivariance(t.Context(), net, set, 1, depth{turned: 2, turns: 180, scales: 2}); err != nil {
			t.Fatal(err)
		}
		if len(f.equivariance) != 3+want {
			t.Fatalf("%s: %d transformations", group.Name(), len(f.equivariance))
		}
		for i, e := range f.equivariance[3:] {
			if !(math.Abs(math.Log2(e.Scale)-float64(i-2)/4) <= 1e-12) || e.Flip || e.Angle != 0 || !e.Element || (i == 2) != (e.Pooled == model.Parts{}) {
				t.Errorf("scaling %d is %v, element %v: %+v", i, e.Transformation, e.Element, e.Pooled)
			}
		}
		scaled := equivarianceChart(&f, rotations)
		if x := scaled.Lines[len(scaled.Lines)-1].X; len(x) != 2 || x[1] != 180 {
			t.Errorf("%s: the chart against the rotation has %v", group.Name(), x)
		}
		if want == 0 {
			continue
		}
		for _, ch := range []*plots.Chart{equivarianceChart(&f, scalings), perLayerChart(&f, scalings)} {
			for _, l := range ch.Lines {
				if len(l.X) != want || !(math.Abs(l.X[0]+0.5) <= 1e-12) || !(math.Abs(l.X[4]-0.5) <= 1e-12) {
					t.Errorf("%s: line %s at %v", ch.ID, l.Name, l.X)
				}
			}
			if ch.X.Label != "scale of the input" || ch.X.Format(-0.5) != "0.71" || !strings.HasPrefix(ch.ID, "scaled-") {
				t.Errorf("%s has the axis %+v", ch.ID, ch.X)
			}
		}
	}
}

// The images of the curve are those of the test set, turned.
func TestTurnedImages(t *testing.T) {
	set := data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 3})
	turned, f := turnedImages(set, 32, 15)
	pixels := set.Pixels()
	if f.images != 3 || len(turned) != (len(f.angles)-1)*3*pixels || f.class != "6" {
		t.Fatalf("%d images of class %q in %d values", f.images, f.class, len(turned))
	}
	want := make([]float32, pixels)
	labels := make([]float32, 1)
	if f.angles[0] != -180 || f.angles[len(f.angles)-1] != 180 {
		t.Errorf("the curve goes from %v to %v degrees", f.angles[0], f.angles[len(f.angles)-1])
	}
	for i, angle := range f.angles[:len(f.angles)-1] {
		row := 0 // the six itself, or its copy turned by 180 degrees
		switch angle {
		case 0:
		case -180:
			row = 1
		default:
			continue
		}
		for j := range 3 {
			set.Batch(want, labels, &set.Test, []int{2*j + row})
			if got := turned[(i*3+j)*pixels:][:pixels]; !slices.Equal(got, want) {
				t.Errorf("image %d at %v degrees is not the one of the test set", j, angle)
			}
		}
	}
}

// Of a set that turns its images, the curve begins with those of the first class as they were
// before; where these are not known, the page, the picture and what inspect prints say so.
func TestTurnedImagesOfTurnedSets(t *testing.T) {
	blank := func(centres ...uint8) []uint8 {
		images := make([]uint8, 9*len(centres))
		for i, v := range centres {
			images[9*i+4] = v // which no rotation moves
		}
		return images
	}
	set := &data.Dataset{
		Channels: 1, Height: 3, Width: 3, Classes: 2, ClassNames: []string{"a", "b"}, Mean: []float32{0}, Std: []float32{1},
		Test: data.Split{Images: blank(51, 102, 153), Labels: []uint8{0, 0, 1}}, Turned: true,
	}
	for _, c := range []struct {
		upright data.Split
		want    []float32 // the centres at 0 degrees
	}{
		{data.Split{Images: blank(204, 255, 0), Labels: []uint8{1, 0, 0}}, []float32{1, 0}},
		{data.Split{}, []float32{0.2, 0.4}},
	} {
		set.Upright = c.upright
		turned, f := turnedImages(set, 32, 90)
		var got []float32
		for i := range f.images {
			got = append(got, turned[(2*f.images+i)*9+4])
		}
		unknown := c.upright.Len() == 0
		if !slices.Equal(got, c.want) || f.alreadyTurned != unknown {
			t.Errorf("upright %v: the curve begins with %v, turned already %v", c.upright, got, f.alreadyTurned)
		}
		cfg, r, epochs, sampled := sample(t, "strokes6-180", 1, false)
		sampled.alreadyTurned = f.alreadyTurned
		path := filepath.Join(t.TempDir(), reportFile)
		if err := writeReport(path, cfg, r, epochs, sampled); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := new(inspection).print(&out, newInspectJSON("run", "best", cfg, model.Score{}, sampled), false); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(read(t, path)), rotationChart("rotation", "", sampled).Desc, out.String()} {
			if strings.Contains(text, "turned at random already") != unknown {
				t.Errorf("upright images unknown: %v, but it says %.200q", unknown, text)
			}
		}
	}
}

// What was learned shows in the pictures of layers, whatever the group.
func TestLayerReports(t *testing.T) {
	for _, c := range []struct {
		group, sampling string
		elements        int
		learned         []gumbel.Learned
		drawn, dots     int      // elements, and how many of them on the circle
		want            []string // in the picture
		note            string
	}{
		{"SE(2)", "random", 8, []gumbel.Learned{{Theta: 0.5}}, 4, 4, []string{"±90°", `class="arc"`}, ""},
		{"SE(2)", "deterministic", 4, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.5, 0, 0.5}}}, 4, 0, []string{"50%", `class="dot"`}, ""},
		{"E(2)", "random", 8, []gumbel.Learned{{Theta: 0.5}, {Theta: 1, Keep: []float64{1, 0.25}}}, 4, 2, []string{"±90°", `stroke-opacity="0.25"`}, "mirrored 25%"},
		{"mirror", "random", 2, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.75}}}, 2, 0, []string{"75%", `stroke-opacity="0.75"`}, "mirrored 75%"},
		{"C4", "random", 4, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.9, 0.9, 0.8}}}, 4, 0, []string{"90%", `class="dot"`}, ""},
		{"C3 x C2", "random", 6, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.8, 0.6}}, {Theta: 1, Keep: []float64{1, 0.5}}}, 6, 0, []string{
			"60%", `cx="0" cy="-40" r="4.5"`, `cx="34.6" cy="-20" r="2"`, `cx="34.6" cy="20" r="3.8"`, `cx="0" cy="40" r="2.8"`, // 0, 60, 120, 180 degrees
		}, ""},
		{"SO(2) x T(2)", "random", 8, []gumbel.Learned{{Theta: 0.5}, {Theta: 1, Keep: []float64{1}}}, 4, 4, []string{"±90°", `class="arc"`}, ""},
		{"R+(4)", "random", 4, []gumbel.Learned{{Theta: 0.5}}, 2, 0, []string{"50%"}, "scaled by 0.50 to 2.00"},
		{"R+(4)", "deterministic", 2, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.6}}}, 2, 0, []string{"50%", `class="dot" cx="0" cy="-40"`}, "scalings kept 80%"},
		{"SO(2) x R+(4)", "deterministic", 4, []gumbel.Learned{{Theta: 1, Keep: []float64{1, 0.2}}, {Theta: 1, Keep: []float64{0.5, 1}}}, 4, 0, []string{"60%", `cx="0" cy="40" r="1.7"`}, "scalings kept 75%"},
		{"SO(2) x R+(4)", "random", 16, []gumbel.Learned{{Theta: 0.5}, {Theta: 1}}, 8, 2, []string{"±90°", `class="arc"`}, "scaled by 0.25 to 4.00"},
	} {
		cfg, err := config.Lookup("strokes6-180")
		if err != nil {
			t.Fatal(err)
		}
		cfg.Group.Name, cfg.Group.Sampling, cfg.Group.Elements = c.group, c.sampling, c.elements
		f := &figures{subsets: [][]gumbel.Learned{c.learned}, sizes: []float64{0.5}}
		list := layerReports(&cfg, f)
		if len(list) != 1 || list[0].Elements != c.drawn || list[0].Note != c.note {
			t.Errorf("%s: %+v", c.group, list)
			continue
		}
		checkPicture(t, string(list[0].Circle))
		if dots := strings.Count(string(list[0].Circle), `class="element"`); dots != c.dots {
			t.Errorf("%s: %d dots, want %d", c.group, dots, c.dots)
		}
		for _, s := range c.want {
			if !strings.Contains(string(list[0].Circle), s) {
				t.Errorf("%s: no %s in %s", c.group, s, list[0].Circle)
			}
		}
	}
}

// What is said of the pictures is so of the group, and of the names of the layers.
func TestLayersLead(t *testing.T) {
	all := []string{"rotations of up to ±", "a rotation is kept", "mirrored elements are kept", "What is kept of the scalings", "2.1 is"}
	const turned, kept, mirrored, scaled, block = 0, 1, 2, 3, 4
	interval, one := gumbel.Learned{Theta: 0.5}, gumbel.Learned{Theta: 1, Keep: []float64{1}}
	two, four := gumbel.Learned{Theta: 1, Keep: []float64{1, 0.5}}, gumbel.Learned{Theta: 1, Keep: []float64{1, 0.5, 0.5, 0.5}}
	for _, c := range []struct {
		group, net string
		learned    []gumbel.Learned
		want       []int // of all
	}{
		{"SE(2)", "CKResNet", []gumbel.Learned{interval}, []int{turned, block}},
		{"SE(2)", "GCNN", []gumbel.Learned{interval}, []int{turned}},
		{"SE(2)", "CKResNet", []gumbel.Learned{two}, []int{kept, block}}, // a grid of two
		{"C2", "CKResNet", []gumbel.Learned{two}, []int{kept, block}},
		{"D4", "CKResNet", []gumbel.Learned{four, two}, []int{kept, mirrored, block}},
		{"E(2)", "AugerinoCKResNet", []gumbel.Learned{interval, two}, []int{turned, mirrored}},
		{"SO(2) x T(2)", "CKResNet", []gumbel.Learned{interval, one}, []int{turned, block}},
		{"R+", "CKResNet", []gumbel.Learned{interval}, []int{scaled, block}},
		{"R+", "GCNN", []gumbel.Learned{four}, []int{scaled}},
		{"Sim(2)", "CKResNet", []gumbel.Learned{interval, interval}, []int{turned, scaled, block}},
	} {
		var cfg config.Config
		cfg.Group.Name, cfg.Net.Type = c.group, c.net
		got := layersLead(&cfg, &figures{subsets: [][]gumbel.Learned{c.learned}})
		for i, text := range all {
			if strings.Contains(got, text) != slices.Contains(c.want, i) {
				t.Errorf("%s, %s, %v: %q of %q", c.net, c.group, c.learned, text, got)
			}
		}
	}
}

// Of the parts of a difference those are drawn that can be seen, on an axis that holds them.
func TestEquivarianceChart(t *testing.T) {
	f := &figures{equivariance: []model.Equivariance{
		{},
		{Transformation: model.Transformation{Angle: math.Pi / 2}, Pooled: model.Parts{Total: 0.25, Grid: 0.5, Boundary: 0.0005, Sampling: 0.125}},
		{Transformation: model.Transformation{Flip: true}, Pooled: model.Parts{Total: 9, Subset: 9}},
	}}
	ch := equivarianceChart(f, rotations)
	var lines []string
	for _, l := range ch.Lines {
		lines = append(lines, fmt.Sprintln(l.Name, l.X, l.Y))
	}
	if want := []string{"grid [0 90] [0 0.5]\n", "sampling [0 90] [0 0.125]\n", "total [0 90] [0 0.25]\n"}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
	if ch.Y.Max != 0.5 || !strings.Contains(ch.Desc, "at most 0.250") {
		t.Errorf("the axis ends at %v; %s", ch.Y.Max, ch.Desc)
	}
}

// Differences are drawn against degrees, one line for every layer.
func TestPerLayerChart(t *testing.T) {
	_, _, _, f := sample(t, "strokes6-180", 1, true)
	for i := range f.equivariance {
		for k := range f.equivariance[i].Layers {
			f.equivariance[i].Layers[k].Total = float64(10*k + i)
		}
	}
	got := perLayerChart(f, rotations)
	if len(got.Lines) != 4 {
		t.Fatalf("%d lines", len(got.Lines))
	}
	for k, l := range got.Lines {
		for i := range 5 { // the sixth is a flip
			if len(l.X) != 5 || !(math.Abs(l.X[i]-45*float64(i)) <= 1e-9) || l.Y[i] != float64(10*k+i) || got.Y.Max != 34 {
				t.Errorf("line %d: %v against %v, up to %v", k, l.Y, l.X, got.Y.Max)
			}
		}
	}
	if names := []string{got.Lines[0].Name, got.Lines[1].Name, got.Lines[3].Name}; !slices.Equal(names, []string{"lift", "1.1", "last"}) {
		t.Errorf("lines are called %v", names)
	}
	f.equivariance = f.equivariance[:2] // too few for a line
	if perLayerChart(f, rotations) != nil {
		t.Error("a chart of two points")
	}
}

// Lines of layers have the names of the pictures of subsets, of the convolution behind the mean
// over the group too, which has no subset, and of a chain, whose blocks count pools.
func TestLayerNames(t *testing.T) {
	base := model.CKResNetConfig{Elements: 2, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4, KernelLayers: 2, Partial: true}
	plain, lastT2 := base, base
	lastT2.LastT2 = true
	for _, v := range []struct {
		name string
		net  func() (*model.Network, error)
		want string
		last bool // has a subset
	}{
		{"residual", func() (*model.Network, error) { return model.NewCKResNet(plain) }, "lift 1.1 1.2 2.1 2.2 last", true},
		{"last on the plane", func() (*model.Network, error) { return model.NewCKResNet(lastT2) }, "lift 1.1 1.2 2.1 2.2 last", false},
		{"chain", func() (*model.Network, error) {
			return model.NewGCNN(model.GCNNConfig{Elements: 2, Channels: 1, Side: 16, Classes: 2, Width: 2, KernelSide: 3, KernelHidden: 4, KernelLayers: 2, Partial: true})
		}, "lift 1 2 3 4 5 6 7 8", true},
	} {
		net, err := v.net()
		if err != nil {
			t.Fatal(v.name, err)
		}
		channels, height, width := net.ImageShape()
		list, err := net.Equivariance(t.Context(), make([]float32, channels*height*width), model.EquivarianceConfig{
			Transformations: []model.Transformation{{}, {Angle: math.Pi / 2}, {Angle: math.Pi}},
		})
		if err != nil {
			t.Fatal(v.name, err)
		}
		var names, subsets []string
		for _, l := range perLayerChart(&figures{equivariance: list}, rotations).Lines {
			names = append(names, l.Name)
		}
		if got := strings.Join(names, " "); got != v.want {
			t.Errorf("%s: lines are called %s, want %s", v.name, got, v.want)
		}
		var cfg config.Config
		cfg.Net.Type, cfg.Net.LastT2 = map[bool]string{true: "GCNN", false: "CKResNet"}[v.name == "chain"], !v.last
		for i, n := 0, len(net.Subsets()); i < n; i++ {
			short, _ := layerName(&cfg, i, n)
			subsets = append(subsets, short)
		}
		if !v.last {
			names = names[:len(names)-1]
		}
		if !slices.Equal(names[1:], subsets) {
			t.Errorf("%s: lines are called %v, subsets %v", v.name, names, subsets)
		}
	}
}

// The elements that kernels are shown at are called by what they do to a picture:
// counter-clockwise rotations, and then mirrors.
func TestShownElements(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		want  string
	}{
		{lie.SE2, "0° 45° 90° 135° 180° 225° 270° 315°"},
		{lie.Cyclic(4), "0° 90° 180° 270°"},
		{lie.E2, "0° 90° 180° 270° 0° ⇋ 270° ⇋ 180° ⇋ 90° ⇋"},
		{lie.Mirror, "0° 0° ⇋"},
		{lie.T2, "0°"},
		{lie.DirectProduct(lie.Cyclic(3), lie.Cyclic(2)), "0° 120° 240° 180° 300° 60°"},
		{lie.DirectProduct(lie.Dihedral(3), lie.Cyclic(2)), "0° 120° 240° 0° ⇋ 240° ⇋ 120° ⇋ 180° 300°"},
		{lie.Scalings(4), "0° ×4 0° ×2.8 0° ×2 0° ×1.4 0° ×1 0° ×0.71 0° ×0.5 0° ×0.35"},
	} {
		elements, names := shownElements(c.group)
		if got := strings.Join(names, " "); got != c.want || len(elements) != len(names) {
			t.Errorf("%s: %s, want %s", c.group.Name(), got, c.want)
		}
		if name, ok := strings.CutPrefix(names[0], "0° ×"); ok {
			if m := c.group.Matrix(elements[0]); fmt.Sprint(math.Round(m[0][0])) != name {
				t.Errorf("%s are the matrix %v", names[0], m)
			}
		}
		for i, e := range elements {
			var angle int
			if _, err := fmt.Sscanf(names[i], "%d°", &angle); err != nil {
				t.Error(err)
			}
			m := c.group.Matrix(e) // 90 degrees take what lies to the right upwards, where rows begin
			sin, cos := math.Sincos(float64(angle) * math.Pi / 180)
			if scale := math.Hypot(m[0][0], m[0][1]); !(math.Abs(m[0][0]/scale-cos) <= 1e-12 && math.Abs(m[0][1]/scale+sin) <= 1e-12) {
				t.Errorf("%s: %s are the matrix %v", c.group.Name(), names[i], m)
			}
		}
	}
}

// Crossings are named on the side that the curve leaves free, unless there are too many.
func TestRotationChart(t *testing.T) {
	_, _, _, f := sample(t, "strokes6-180", 1, true)
	f.crossings = []float64{-90, 90}
	points := rotationChart("rotation", "", f).Points
	if desc := rotationChart("rotation", "", f).Desc; !strings.Contains(desc, " It crosses one half at \u221290° and 90°.") {
		t.Error(desc)
	}
	if len(points) != 2 || points[0].X != -90 || !points[0].Left || points[1].X != 90 || points[1].Left || points[1].Label != "90°" || points[1].Y != 0.5 {
		t.Errorf("%+v", points)
	}
	f.images, f.draws = 1, 1
	if desc := rotationChart("rotation", "", f).Desc; !strings.Contains(desc, " 1 test image and 1 draw ") {
		t.Error(desc)
	}
	f.crossings = make([]float64, 7)
	if points := rotationChart("rotation", "", f).Points; points != nil {
		t.Errorf("%d points of a curve that wavers", len(points))
	}
}

// Angles are listed in words, and in short where there are few.
func TestAngles(t *testing.T) {
	for _, c := range []struct {
		angles       []float64
		words, short string
	}{
		{nil, "", ""}, {[]float64{-0.4}, "0°", "0°"}, {[]float64{-91.6, 88}, "−92° and 88°", "−92°, 88°"},
		{[]float64{-90, 0, 45, 90}, "−90°, 0°, 45° and 90°", "−90°, 0°, 45°, 90°"}, {[]float64{1, 2, 3, 4, 5}, "1°, 2°, 3°, 4° and 5°", ""},
	} {
		if words, short := inWords(c.angles), inShort(c.angles); words != c.words || short != c.short {
			t.Errorf("%v: %q and %q, want %q and %q", c.angles, words, short, c.words, c.short)
		}
	}
}

// Subsets start as training did, and are all named where there is room.
func TestSubsetChart(t *testing.T) {
	for _, layers := range []int{16, 17} {
		c, err := config.Lookup("strokes6-180")
		if err != nil {
			t.Fatal(err)
		}
		learned := make([]float64, layers)
		learned[3] = 1.25
		begin := slices.Repeat([]float64{0.75}, layers)
		ch := subsetChart(&c, begin, []model.EpochMetrics{{Epoch: 1, Learned: make([]float64, layers)}, {Epoch: 2, Learned: learned}})
		named := 0
		for i, l := range ch.Lines {
			if l.Name != "" {
				named++
			}
			if !slices.Equal(l.X, []float64{0, 1, 2}) || !slices.Equal(l.Y, []float64{0.75, 0, learned[i]}) {
				t.Errorf("layer %d: %v at %v", i, l.Y, l.X)
			}
		}
		if want := map[int]int{16: 16, 17: 2}[layers]; named != want || ch.Lines[0].Name == "" || ch.Lines[layers-1].Name == "" {
			t.Errorf("%d of %d layers are named, want %d", named, layers, want)
		}
		if !strings.HasPrefix(ch.Desc, "All start at 0.75 of the group. After epoch 2: ") {
			t.Error(ch.Desc)
		}
		if ch.X.Min != 0 || ch.X.Max != 2 || ch.Y.Min != 0 || ch.Y.Max != 1.25 {
			t.Errorf("axes %+v, %+v", ch.X, ch.Y)
		}
	}
}

func TestEpochAxis(t *testing.T) {
	if a := epochAxis([]model.EpochMetrics{{Epoch: 3}}); a.Min != 2.5 || a.Max != 3.5 || !slices.Equal(a.Ticks, []float64{3}) || a.Format(3) != "3" {
		t.Errorf("of one epoch: %+v", a)
	}
	if a := epochAxis([]model.EpochMetrics{{Epoch: 1}, {Epoch: 2}, {Epoch: 3}}); a.Min != 1 || a.Max != 3 || a.Ticks != nil {
		t.Errorf("of three epochs: %+v", a)
	}
}

func TestShellQuote(t *testing.T) {
	for s, want := range map[string]string{
		"train.lr=0.001": "train.lr=0.001", "group.name=R+": "group.name=R+", "net.pools=[0]": "'net.pools=[0]'",
		"group.name=SE(2)": "'group.name=SE(2)'", "data.set=it's": `'data.set=it'\''s'`,
	} {
		if got := shellQuote(s); got != want {
			t.Errorf("%s is quoted as %s, want %s", s, got, want)
		}
	}
}

func TestSaved(t *testing.T) {
	c, err := config.Lookup("strokes6-180")
	if err != nil {
		t.Fatal(err)
	}
	timed := func(pass, wholePass, low, high float64) figures {
		return figures{pass: pass, wholePass: wholePass, ratios: []float64{low, high}, turns: 5}
	}
	augerino := c
	augerino.Net.Type = "AugerinoCKResNet"
	for _, v := range []struct {
		c        *config.Config
		f        figures
		fewer    bool
		contains string
		lacks    string
	}{
		{&c, figures{}, false, "", "takes"},
		{&c, timed(0.03, 0.02, 1.2, 1.6), false, "30 ms on the learned subsets and 20 ms on the whole group: 50% more (ratio in the middle half of 5 turns: 1.20 to 1.60). ", "MiB"},
		{&c, timed(0.01, 0.02, 0.4, 0.6), false, "whole group: 50% less (ratio", "no difference"},
		{&c, timed(0.0262, 0.02, 0.9, 1.6), false, "whole group: no difference was measured (ratio in the middle half of 5 turns: 0.90 to 1.60). ", "%"},
		{&c, timed(0.02, 0.02, 1, 1.1), false, "no difference was measured", "%"},
		{&c, timed(0.01, 0.02, 0.4, 1.1), true, "whole group: 50% less (ratio in the middle half of 5 turns: 0.40 to 1.10). ", "no difference"},
		{&c, timed(0.02, 0.02, 0.9, 1.1), true, "20 ms on the whole group (ratio", "%"},
		{&c, figures{memory: model.StepMemory{Learned: 1 << 19, Whole: 1 << 20}}, true, "take 0.5 MiB when", "batch"},
		{&c, figures{memory: model.StepMemory{Learned: 1 << 20, Whole: 1 << 20}}, false, "and 1.0 MiB for the whole group. Training plans for the whole group", "%"},
		{&augerino, figures{memory: model.StepMemory{Learned: 1 << 19, Whole: 1 << 20}}, true, "50% less.", "Training plans"},
	} {
		if got := saved(v.c, &v.f, v.fewer); !strings.Contains(got, v.contains) || strings.Contains(got, v.lacks) {
			t.Errorf("%q of %+v, want %q and not %q", got, v.f, v.contains, v.lacks)
		}
	}
}

// Turns in which the machine was busy change neither.
func TestPaired(t *testing.T) {
	for _, busy := range []float64{1, 10} {
		learned, whole := []float64{1, 1 * busy, 1, 8 * busy, 1}, []float64{2, 2 * busy, 2, 2, 2}
		if a, b, q := paired(learned, whole); a != 1 || b != 2 || !slices.Equal(q, []float64{0.5, 0.5}) {
			t.Errorf("%v and %v come to %g and %g with quartiles %v, want 1 and 2 with 0.5 twice", learned, whole, a, b, q)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x                   []float64
		first, median, last float64
	}{
		{[]float64{2}, 2, 2, 2},
		{[]float64{9, 1, 3}, 2, 3, 6},
		{[]float64{4, 1, 2, 3}, 1.75, 2.5, 3.25},
		{[]float64{5, 1, 4, 2, 3}, 2, 3, 4},
	} {
		if a, b, c2 := quantile(c.x, 0.25), quantile(c.x, 0.5), quantile(c.x, 0.75); a != c.first || b != c.median || c2 != c.last {
			t.Errorf("the quartiles of %v are %v, %v and %v", c.x, a, b, c2)
		}
	}
}

// Whether fewer elements are drawn than the whole group has decides what is said of a time.
func TestSavedByReports(t *testing.T) {
	const same, fewer = "no difference was measured", "31% more"
	grid := func(p float64) gumbel.Learned {
		return gumbel.Learned{Theta: 1, Keep: []float64{1, p, 1, 1, 1, 1, 1, 1}}
	}
	for _, v := range []struct {
		learned gumbel.Learned
		compat  bool
		want    string
	}{
		{gumbel.Learned{Theta: 1}, false, same},
		{gumbel.Learned{Theta: 0.5}, false, fewer},
		{grid(0.6), false, same}, // not dropped in evaluation
		{grid(0.4), false, fewer},
		{grid(0.6), true, fewer},
		{grid(1), true, same},
	} {
		c, r, epochs, f := sample(t, "strokes6-180", 1, true)
		c.Conv.Compat, f.pass, f.ratios = v.compat, 0.0262, []float64{0.9, 1.6}
		for _, s := range f.subsets {
			s[0] = v.learned
		}
		if text := newReport(c, r, epochs, f).Saved; !strings.Contains(text, v.want) {
			t.Errorf("%v, compat %v: %q lacks %q", v.learned, v.compat, text, v.want)
		}
	}
}
