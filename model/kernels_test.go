package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
)

// Kernels are those that the network convolves with, laid out on the grid.
func TestKernels(t *testing.T) {
	net := fullNet(t, lie.SE2, 0, func(c *CKResNetConfig) { c.Algorithm = conv.Taps })
	m, _ := bound(t, net, quarter)
	elements := m.u[0]
	for _, p := range net.params.All() { // what counts are the values on the device
		if strings.HasPrefix(p.Name, "lift_conv.kernelnet") {
			values := slices.Clone(p.Host)
			values[0] += 0.1
			net.plan.dev.Upload(p.Value, values)
		}
	}
	got, err := net.Kernels(0, elements)
	if err != nil {
		t.Fatal(err)
	}
	if got.Layer != "lift_conv" || got.In != 1 || got.Out != 2 || got.Side != 5 || len(got.Weights) != 4*2*25 {
		t.Fatalf("%s: %d to %d channels, side %d, %d weights", got.Layer, got.In, got.Out, got.Side, len(got.Weights))
	}
	l := net.plan.layers[0].(*conv.Lifting)
	l.Render()
	taps := l.Taps()
	want := make([]float32, 2*len(elements)*len(taps)) // [Out*In, elements, taps]
	net.plan.dev.Download(want, l.Kernel())
	for i := range elements {
		for o := range 2 {
			var kernel [25]float32 // zero outside the disc
			for k, tap := range taps {
				kernel[(tap.Row+2)*5+tap.Col+2] = want[(o*len(elements)+i)*len(taps)+k]
			}
			if d := distance(got.Weights[(i*2+o)*25:][:25], kernel[:]); !(d <= 1e-6) {
				t.Errorf("element %d, output %d: off by %v", i, o, d)
			}
		}
	}
}

// A lifting kernel at a quarter turn is the one at the identity, turned. A group
// convolution's changes with the element besides.
func TestKernelsTurn(t *testing.T) {
	net := newTiny(t)
	list, err := net.Kernels(0, []lie.Element{{}, {math.Pi / 2}})
	if err != nil {
		t.Fatal(err)
	}
	side := list.Side
	n := list.Out * list.In * side * side
	upright, turned := list.Weights[:n], list.Weights[n:]
	for i := range list.Out * list.In {
		for row := range side {
			for col := range side { // a positive angle turns clockwise as it is seen
				a, b := upright[(i*side+row)*side+col], turned[(i*side+col)*side+side-1-row]
				if !(math.Abs(float64(a-b)) <= 1e-6) {
					t.Fatalf("kernel %d at (%d, %d): %v, and %v where that is turned to", i, row, col, a, b)
				}
			}
		}
	}
	for layer := 1; layer < net.Convolutions(); layer++ {
		k, err := net.Kernels(layer, []lie.Element{{}, {1}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(k.Weights) / 2; k.Layer != net.samplers[layer].layer || slices.Equal(k.Weights[:n], k.Weights[n:]) || n != k.Out*k.In*k.Side*k.Side {
			t.Errorf("convolution %d, %s: %d weights", layer, k.Layer, n)
		}
	}
	if n := newTinyWith(t, func(c *CKResNetConfig) { c.LastT2 = true }).Convolutions(); n != net.Convolutions() {
		t.Errorf("%d convolutions with the last on T(2), %d without", n, net.Convolutions())
	}
	for want, err := range map[string]error{
		"convolution 9 of 6":    second(net.Kernels(9, []lie.Element{{}})),
		"convolution -1 of 6":   second(net.Kernels(-1, []lie.Element{{}})),
		"no elements are given": second(net.Kernels(0, nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Every image is counted once in each draw, in the row of its class, and those on the
// diagonal make the accuracy.
func TestConfusion(t *testing.T) {
	tr := newTrainer(t, quick(1))
	run, err := tr.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	score, counts, err := tr.net.Confusion(t.Context(), tr.set, &tr.set.Test, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	if score != run.Test || !slices.EqualFunc(counts, run.Confusion, slices.Equal) {
		t.Errorf("%+v, %v; the run found %+v, %v", score, counts, run.Test, run.Confusion)
	}
	of := [2]int{}
	for _, l := range tr.set.Test.Labels {
		of[l]++
	}
	if len(counts) != 2 || counts[0][0]+counts[0][1] != 2*of[0] || counts[1][0]+counts[1][1] != 2*of[1] {
		t.Errorf("%v of %v images, twice", counts, of)
	}
	if got := float64(counts[0][0]+counts[1][1]) / float64(2*tr.set.Test.Len()); !(math.Abs(got-score.Accuracy) <= 1e-12) {
		t.Errorf("%v on the diagonal, the accuracy is %v", got, score.Accuracy)
	}
}

func TestOnSubsets(t *testing.T) {
	net := newTiny(t)
	net.samplers[2].SetSize(0.7)
	bound(t, net, Transformation{})
	before, weights := net.Subsets(), bits(net)
	err := net.OnSubsets(0.25, func() error {
		for i, v := range net.Subsets() {
			if v != 0.25 {
				t.Errorf("subset %d is %v", i, v)
			}
		}
		return nil
	})
	if after := net.Subsets(); err != nil || !slices.Equal(before, after) || !(math.Abs(after[1]-0.7) <= 1e-6) || !slices.Equal(weights, bits(net)) {
		t.Errorf("%v, then %v; %v", before, after, err)
	}
}

// On subsets that are points a network gives numbers, whatever its sums stand for.
func TestPointSubsets(t *testing.T) {
	set := toySet()
	images := make([]float32, 4*144)
	set.Batch(images, make([]float32, 4), &set.Train, []int{0, 1, 2, 3})
	for _, group := range []lie.Group{lie.SE2, lie.E2} {
		for measure := range gumbel.Haar + 1 {
			net := bindFor(t, newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = group, 4, measure }), 4)
			net.SetSubsets(0)
			for i, p := range net.Probabilities(images, 1, 1) {
				if !finite(p) {
					t.Fatalf("%s, measure %v: probability %d is %v", group.Name(), measure, i, p)
				}
			}
		}
	}
}

// The metrics of an epoch have what was learned of reflections, also of the copies of an Augerino
// network, and nothing besides the sizes of intervals.
func TestMetricsOfSubsets(t *testing.T) {
	for name, set := range map[string]func(*CKResNetConfig){
		"SE2":      func(*CKResNetConfig) {},
		"Mirror":   func(c *CKResNetConfig) { c.Group, c.Elements = lie.Mirror, 2 },
		"Augerino": func(c *CKResNetConfig) { c.Group, c.Elements, c.Partial, c.Augerino = lie.E2, 4, false, true },
	} {
		tr := newTrainerOf(t, newTinyWith(t, set), TrainConfig{Epochs: 1, Batch: 8, Threads: 1, EvalDraws: 1})
		run, err := tr.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := run.Epochs[0]
		if name == "SE2" {
			if m.Subsets != nil {
				t.Errorf("%s: %v", name, m.Subsets)
			}
			continue
		}
		for i, l := range m.Subsets {
			flip := l[len(l)-1]
			if keep := flip.Keep; len(keep) != 2 || keep[0] != 1 || !(math.Abs(l[0].Theta*(1+keep[1])/2-m.Learned[i]) <= 1e-12) {
				t.Errorf("%s: layer %d has %v, in all %v", name, i, l, m.Learned[i])
			}
		}
		if len(m.Subsets) != len(m.Learned) {
			t.Errorf("%s: %d layers of %d", name, len(m.Subsets), len(m.Learned))
		}
	}
}

// Draws that agree have no deviation.
func TestMeanStd(t *testing.T) {
	if mean, std := meanStd([]float64{0.965, 0.965, 0.965, 0.965, 0.965}); mean != 0.965 || std != 0 {
		t.Errorf("%v ± %v", mean, std)
	}
	if mean, std := meanStd([]float64{1, 2, 3}); mean != 2 || std != 1 {
		t.Errorf("%v ± %v", mean, std)
	}
	if mean, std := meanStd([]float64{0.5}); mean != 0.5 || std != 0 {
		t.Errorf("%v ± %v", mean, std)
	}
}
