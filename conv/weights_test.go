package conv

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// weighted calls test for both kinds of layer that sum over elements, all ways to
// compute them, and lists for all images or one for each.
func weighted(t *testing.T, test func(t *testing.T, k kind, cfg Config, lists int)) {
	for _, k := range []kind{groupwise, pointwise} {
		for _, g := range []lie.Group{lie.SE2, lie.Dihedral(2), lie.Mirror, lie.RPlus} {
			for _, a := range append(Algorithms(), "per element") {
				cfg := Config{Name: "conv", Group: g, In: 3, Out: 2, Side: 3, Bias: k == groupwise, Hidden: 12, Algorithm: a}
				lists := 1
				if a == "per element" {
					cfg.Algorithm, lists = Auto, weightedSizes.b
				}
				if k == pointwise && a == Frequency {
					continue // a single tap has no frequencies
				}
				if ChangesLengths(g) && lists > 1 {
					continue // refused
				}
				t.Run(fmt.Sprintf("%v/%s/algorithm=%s", k, g.Name(), a), func(t *testing.T) { test(t, k, cfg, lists) })
			}
		}
	}
}

var weightedSizes = sizes{maxIn: 4, maxOut: 4, h: 4, w: 5, b: 5}

// weightedOn returns these sizes, with all elements of a finite group.
func weightedOn(g lie.Group) sizes {
	z := weightedSizes
	if g.Dim() == 0 {
		z.maxIn, z.maxOut = g.Components(), g.Components()
	}
	return z
}

// weigh gives the input elements weights, zeros among them.
func (h *harness) weigh(src *stream.Stream) {
	h.v.Weight, h.v.WeightGrad = make([]float64, len(h.v.G)), make([]float64, len(h.v.G))
	for i := range h.v.Weight {
		if i%3 > 0 {
			h.v.Weight[i] = float64(float32(2*src.Float64() - 1))
		}
	}
}

// pass runs both directions from random input, weights and output gradient, and
// returns everything that the layer computes. before changes the input once it is
// there; accumulate leaves a gradient of ones at the input.
func (h *harness) pass(seed uint64, accumulate bool, before func()) (y, dx []float32, grads [][]float32) {
	src := stream.New(seed, "weights", 0)
	h.params.ZeroGrad()
	if n := h.cfg.Group.Components(); h.cfg.Group.Dim() > 0 {
		h.place(src, 3, 2)
	} else {
		h.place(src, n, n)
		for s := range h.v.Lists() {
			copy(h.v.List(s), h.cfg.Group.Grid(n))
			copy(h.u.List(s), h.cfg.Group.Grid(n))
		}
	}
	h.dev.Upload(h.in.Value, normal(src, h.in.Size()))
	h.weigh(src)
	before()
	h.Forward(true)
	y = h.download(h.out.Live())
	h.dev.Upload(h.out.Grad, normal(src, h.out.Size()))
	h.out.Accumulate()
	if accumulate {
		h.dev.Fill(h.in.LiveGrad(), 1)
		h.in.Accumulate()
	}
	h.Backward()
	for _, p := range h.Parameters() {
		if p.Trained() {
			grads = append(grads, h.download(p.Grad))
		}
	}
	return y, h.download(h.in.LiveGrad()), grads
}

func normal(src *stream.Stream, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(src.Normal())
	}
	return x
}

// A layer with weights computes what the same layer does with its input multiplied by
// them, bit for bit where it weights the input too; from the gradient of that follow those
// of the input and of the weights.
func TestWeights(t *testing.T) {
	weighted(t, func(t *testing.T, k kind, cfg Config, lists int) {
		asmtest.EachLevel(t, func(t *testing.T) {
			h := newWeightedHarness(t, k, cfg, weightedOn(cfg.Group), 2, false, lists, true)
			plain := newListsHarness(t, k, cfg, weightedOn(cfg.Group), 2, false, lists)
			var x []float32
			y, dx, grads := h.pass(1, false, func() { x = h.download(h.in.Live()) })
			weight := func(i int) float64 { // of value i of the map
				n, plane := h.in.N, h.in.H*h.in.W*h.in.B
				j := i / plane % n
				if lists > 1 {
					j += i % h.in.B * n
				}
				return h.v.Weight[j]
			}
			wantY, raw, wantGrads := plain.pass(1, false, func() {
				scaled := slices.Clone(x)
				for i := range scaled {
					scaled[i] *= float32(weight(i))
				}
				plain.dev.Upload(plain.in.Value, scaled)
				plain.v.Weight, plain.v.WeightGrad = nil, nil
			})
			exact := h.kernelWeights == nil
			if exact != (lists > 1 || cfg.Group.Name() == "D2") {
				t.Errorf("the input is weighted: %v", exact)
			}
			same(t, "output", y, wantY, exact)
			for i := range grads {
				same(t, fmt.Sprintf("gradient %d", i), grads[i], wantGrads[i], exact)
			}
			for s, e := range []struct{ got, want []lie.Vector }{{h.u.Grad, plain.u.Grad}, {h.v.Grad, plain.v.Grad}} {
				same(t, fmt.Sprintf("gradient of list %d", s), angles(e.got), angles(e.want), exact)
			}
			want, scaled := make([]float64, len(h.v.Weight)), make([]float32, len(raw))
			size := 0.0
			for i := range raw {
				scaled[i] = float32(weight(i)) * raw[i]
				j := i / (h.in.H * h.in.W * h.in.B) % h.in.N
				if lists > 1 {
					j += i % h.in.B * h.in.N
				}
				term := float64(x[i]) * float64(raw[i])
				want[j] += term
				size += math.Abs(term)
			}
			same(t, "gradient of the input", dx, scaled, exact)
			golden.Close(t, "gradient of the weights", h.v.WeightGrad, want, 0, 1e-6*size)

			_, more, _ := h.pass(1, true, func() {})
			for i := range more {
				if d := math.Abs(float64(more[i] - dx[i] - 1)); d > 1e-6*(1+math.Abs(float64(dx[i]))) {
					t.Fatalf("gradient of input value %d is %v where 1 was there, want %v", i, more[i], 1+dx[i])
				}
			}
		})
	})
}

// same compares results: bit for bit, or up to a few roundings of their norm.
func same(t *testing.T, what string, got, want []float32, exact bool) {
	t.Helper()
	if exact {
		if !slices.Equal(got, want) {
			t.Errorf("%s: not the same bits", what)
		}
		return
	}
	compareNormWithin(t, what, got, widen(want), 3e-6)
}

// angles returns the gradients of angles.
func angles(v []lie.Vector) []float32 {
	var list []float32
	for _, g := range v {
		list = append(list, float32(g[0]))
	}
	return list
}

// TestScaleLeavesMaps: the gradient of a rendered kernel's scale, in whose memory the weighted input and its gradient were,
// changes neither that of the input nor those of the weights.
func TestScaleLeavesMaps(t *testing.T) {
	gradients := func(a Algorithm) (dx []float32, weights []float64) {
		cfg := Config{Name: "conv", Group: lie.Sim2, In: 2, Out: 2, Side: 5, Hidden: 64, Algorithm: a}
		h := newHarness(t, groupwise, cfg, sizes{4, 4, 3, 3, 3}, 1, false)
		h.v.Weighted, h.v.Rigid = true, true // with half a turn between some, so that it is not the kernel that is weighted
		h.arena.Release()
		p := &nn.Plan{Arena: &h.arena, Batch: h.in.B}
		h.in = p.Map(h.in.C, h.in.MaxN, h.in.H, h.in.W)
		h.out = h.plan(p, h.in, h.v, h.u)
		if err := h.arena.Bind(h.dev); err != nil {
			t.Fatal(err)
		}
		h.Bind(h.dev)
		_, dx, _ = h.pass(1, false, func() {})
		if h.weights == nil || h.window == nil {
			t.Fatal("no weighted input, or no scale")
		}
		return dx, h.v.WeightGrad
	}
	dx, weights := gradients(Taps)
	wantDX, wantWeights := gradients(LowRank)
	compareNormWithin(t, "gradient of the input", dx, widen(wantDX), 1e-5)
	for j, want := range wantWeights {
		if d := math.Abs(weights[j] - want); !(d <= 1e-4*math.Abs(want)) {
			t.Errorf("gradient of weight %d is %v, want %v", j, weights[j], want)
		}
	}
}

// Elements of weight zero might as well not be there.
func TestWeightZero(t *testing.T) {
	cfg := Config{Name: "conv", In: 3, Out: 2, Side: 3, Bias: true, Hidden: 12}
	h := newWeightedHarness(t, groupwise, cfg, weightedSizes, 1, false, 1, true)
	few := newHarness(t, groupwise, cfg, weightedSizes, 1, false)
	src := stream.New(1, "zero", 0)
	h.place(src, 4, 3)
	x := normal(src, h.in.Size())
	h.dev.Upload(h.in.Value, x)
	h.v.Weight, h.v.WeightGrad = []float64{1, 0, 1, 0}, make([]float64, 4)
	h.Forward(false)

	few.place(src, 2, 3)
	copy(few.u.G, h.u.G)
	few.v.G[0], few.v.G[1] = h.v.G[0], h.v.G[2]
	plane := h.in.H * h.in.W * h.in.B
	var kept []float32
	for i, v := range x {
		if i/plane%2 == 0 {
			kept = append(kept, v)
		}
	}
	few.dev.Upload(few.in.Value, kept)
	few.Forward(false)
	want := make([]float64, 0, few.out.Size())
	for _, v := range few.download(few.out.Live()) {
		want = append(want, float64(v))
	}
	closeTo(t, "y", h.download(h.out.Live()), want, 1e-5)
}

func TestWeightsAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	weighted(t, func(t *testing.T, k kind, cfg Config, lists int) {
		h := newWeightedHarness(t, k, cfg, weightedOn(cfg.Group), 1, false, lists, true)
		h.pass(1, false, func() {})
		if n := testing.AllocsPerRun(10, func() {
			h.Forward(true)
			h.out.Accumulate()
			h.Backward()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// A layer planned for inference applies weights, and one that was not told of them
// refuses.
func TestWeightsPlanned(t *testing.T) {
	cfg := Config{Name: "conv", In: 3, Out: 2, Side: 3, Hidden: 12}
	h := newWeightedHarness(t, groupwise, cfg, weightedSizes, 1, true, 1, true)
	full := newWeightedHarness(t, groupwise, cfg, weightedSizes, 1, false, 1, true)
	var y [2][]float32
	for i, h := range []*harness{h, full} {
		src := stream.New(1, "planned", 0)
		h.place(src, 3, 2)
		h.dev.Upload(h.in.Value, normal(src, h.in.Size()))
		h.weigh(src)
		h.Forward(false)
		y[i] = h.download(h.out.Live())
	}
	golden.Close(t, "y", y[0], y[1], 1e-5, 1e-5)

	unaware := newHarness(t, groupwise, cfg, weightedSizes, 1, false)
	unaware.place(stream.New(1, "planned", 0), 3, 2)
	unaware.v.Weight = make([]float64, 3)
	defer func() {
		if err, ok := recover().(*Error); !ok || !strings.Contains(err.Error(), "Weighted") {
			t.Errorf("weights that nobody planned for give %v", err)
		}
	}()
	unaware.Forward(false)
}
