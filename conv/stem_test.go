package conv

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// stemHarness is a lifting convolution and the normalisation behind it, as one layer or as two.
type stemHarness struct {
	*harness
	norm    *nn.BatchNorm
	whole   bool
	forward func(train bool)
	back    func()
}

type stemCase struct {
	cfg        Config
	z          sizes
	pool, relu bool
}

func (c stemCase) String() string {
	return fmt.Sprintf("%d-%dx%d/k=%d/plane=%dx%d/batch=%d/pool=%v/relu=%v", c.cfg.In, c.cfg.Out, c.z.maxOut, c.cfg.Side, c.z.h, c.z.w, c.z.b, c.pool, c.relu)
}

func newStemHarness(t testing.TB, c stemCase, threads int, together bool) *stemHarness {
	t.Helper()
	return planStem(t, c, threads, together, false)
}

func planStem(t testing.TB, c stemCase, threads int, together, inference bool) *stemHarness {
	t.Helper()
	c.cfg.Name, c.cfg.Hidden, c.cfg.Omega0 = "lift", 8, 4
	l, err := NewLifting(c.cfg, 11)
	if err != nil {
		t.Fatal(err)
	}
	norm, err := nn.NewBatchNorm("norm", c.cfg.Out)
	if err != nil {
		t.Fatal(err)
	}
	norm.Pool, norm.ReLU = c.pool, c.relu
	src := stream.New(5, "stem", 0)
	for _, p := range l.Parameters() {
		if p != l.bias && strings.HasSuffix(p.Name, "bias") { // with those of zero that they start with kernels are odd functions
			for k := range p.Host {
				p.Host[k] = float32(0.2 * src.Normal())
			}
		}
	}
	for o := range norm.Weight.Host {
		norm.Weight.Host[o], norm.Bias.Host[o] = float32(0.5+src.Float64()), float32(src.Normal())
		norm.RunningMean.Host[o], norm.RunningVar.Host[o] = float32(src.Normal()), float32(0.5+src.Float64())
		if c.cfg.Bias {
			l.bias.Host[o] = float32(src.Normal())
		}
	}
	norm.Weight.Host[0] *= -1
	h := &stemHarness{norm: norm, harness: &harness{layer: l.layer, dev: newCPU(t, threads)}}
	h.u = gumbel.NewLists(l.cfg.Group, c.z.maxOut, 1)
	p := &nn.Plan{Arena: &h.arena, Batch: c.z.b, Inference: inference}
	h.in = p.Map(c.cfg.In, 1, c.z.h, c.z.w)
	if together {
		h.out, h.whole = l.PlanNorm(p, h.in, h.u, norm)
	} else {
		h.out = l.Plan(p, h.in, h.u)
	}
	if !h.whole {
		h.out = norm.Plan(p, h.out)
	}
	h.params.Add(slices.Concat(l.Parameters(), norm.Parameters())...)
	if err := h.arena.Bind(h.dev); err != nil {
		t.Fatal(err)
	}
	if err := h.params.Bind(h.dev); err != nil {
		t.Fatal(err)
	}
	h.params.Upload()
	t.Cleanup(func() {
		h.arena.Release()
		h.params.Release()
	})
	l.Bind(h.dev)
	h.forward, h.back = l.Forward, l.Backward
	if !h.whole {
		norm.Bind(h.dev)
		h.forward = func(train bool) { l.Forward(train); norm.Forward(train) }
		h.back = func() { norm.Backward(); l.Backward() }
	}
	return h
}

// stemCases are taken as one layer.
var stemCases = []stemCase{
	{Config{In: 1, Out: 10, Side: 3}, sizes{1, 3, 4, 6, 16}, true, true},
	{Config{In: 1, Out: 7, Side: 3, Bias: true}, sizes{1, 4, 5, 5, 17}, true, true},
	{Config{In: 2, Out: 15, Side: 3, Bias: true}, sizes{1, 3, 3, 4, 16}, false, true},
	{Config{In: 1, Out: 5, Side: 3, Bias: true}, sizes{1, 5, 4, 4, 19}, false, false},
	{Config{In: 1, Out: 6, Side: 3}, sizes{1, 4, 3, 7, 16}, true, false},
	{Config{In: 1, Out: 18, Side: 3, Group: lie.RPlus, Bias: true}, sizes{1, 4, 5, 4, 16}, false, true},
	{Config{In: 1, Out: 18, Side: 3, Group: lie.Sim2, Bias: true}, sizes{1, 4, 5, 4, 16}, false, true},
}

// normalised is what BatchNorm, pooling and ReLU make of maps [channels, n, h, w, b] in float64.
func normalised(y, weight, bias []float64, n, h, w, b int, eps float64, pool, relu bool) []float64 {
	size := n * h * w * b
	y = slices.Clone(y)
	for o := range weight {
		of := y[o*size : (o+1)*size]
		mean, variance := 0.0, 0.0
		for _, v := range of {
			mean += v / float64(size)
		}
		for _, v := range of {
			variance += (v - mean) * (v - mean) / float64(size)
		}
		for i, v := range of {
			of[i] = (v-mean)/math.Sqrt(variance+eps)*weight[o] + bias[o]
		}
	}
	if pool {
		planes := len(y) / (h * w * b)
		var pooled []float64
		for p := range planes {
			for row := 0; row+1 < h; row += 2 {
				for col := 0; col+1 < w; col += 2 {
					for i := range b {
						at := func(r, c int) float64 { return y[((p*h+row+r)*w+col+c)*b+i] }
						pooled = append(pooled, max(at(0, 0), at(0, 1), at(1, 0), at(1, 1)))
					}
				}
			}
		}
		y = pooled
	}
	if relu {
		for i, v := range y {
			y[i] = max(v, 0)
		}
	}
	return y
}

// TestStemGradients compares the values and every gradient of a stem with those of its definition in float64.
func TestStemGradients(t *testing.T) {
	for i, c := range stemCases {
		if testing.Short() && i%2 > 0 {
			continue // slow under qemu and the race detector
		}
		t.Run(c.String(), func(t *testing.T) {
			h := newStemHarness(t, c, 2, true)
			if !h.whole {
				t.Fatal("two layers")
			}
			live := c.z.maxOut - 1
			h.place(stream.New(uint64(i), "test", 0), 1, live)
			if h.window != nil {
				slices.Reverse(h.u.G) // the first disc is not the largest then
			}
			h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), uint64(i)))
			params := slices.Concat(h.Parameters(), h.norm.Parameters())
			trained := 0
			for _, p := range params {
				if p.Trained() {
					trained++
				}
			}
			reference := func(x [][]float64) []float64 {
				u := moved(h.cfg.Group, h.u.G, x[trained])
				y := h.reference(x[:trained-2], widen(h.download(h.in.Live())), u, nil)
				return normalised(y, x[trained-2], x[trained-1], live, c.z.h, c.z.w, c.z.b, float64(h.norm.Eps), c.pool, c.relu)
			}
			proj := gradcheck.NewProjection(h.dev, c.cfg.Out*live*h.out.H*h.out.W*c.z.b, 3)
			// Steps are so small that hardly a value crosses a kink, which leaves no digits to float32.
			const step = 1e-6
			moves := elements("elements", h.cfg.Group, h.u)
			moves.Step = step
			gradcheck.Run(t, gradcheck.Case{
				Device: h.dev, Params: params, Variables: []gradcheck.Variable{moves},
				Loss: func() float64 {
					h.forward(true)
					return proj.Loss(h.out.Live())
				},
				Backward:  func() { proj.Seed(h.out); h.back() },
				Reference: func(x [][]float64) float64 { return proj.Of(reference(x)) },
				Step:      step, Tolerance: -1, Elements: 2,
				Floor: 10, // that of the convolution's bias is zero, and so are its differences but for rounding
			})
			var values [][]float64
			for _, p := range params {
				if p.Trained() {
					values = append(values, widen(h.download(p.Value)))
				}
			}
			values = append(values, moves.Base)
			h.forward(true)
			compareNormWithin(t, "values", h.download(h.out.Live()), reference(values), 1e-6)
		})
	}
}

// TestStemImages compares the values of a stem with those of its definition in float64 for images of many
// kinds: statistics are moments less their means, which leaves few digits where the means are large, and
// sums of few values are rounded the same way again and again.
func TestStemImages(t *testing.T) {
	c := stemCase{Config{In: 1, Out: 8, Side: 3}, sizes{1, 3, 9, 9, 64}, true, true}
	for _, images := range []struct {
		name  string
		value func(k int, noise float32) float32
	}{
		{"noise", func(_ int, noise float32) float32 { return noise }},
		{"an outlier first", func(k int, noise float32) float32 {
			if k == 0 {
				return 9
			}
			return noise
		}},
		{"noise on a level", func(_ int, noise float32) float32 { return 2 + 0.2*noise }},
		{"two values", func(_ int, noise float32) float32 {
			if noise > 0 {
				return 0.7
			}
			return 0.3
		}},
		{"digits", func(_ int, noise float32) float32 { return -0.4242 + min(3.2, 2.5*max(0, noise-0.9)) }},
		{"few levels", func(_ int, noise float32) float32 { return 0.5 + float32(math.Round(float64(2*noise)))/255 }},
	} {
		t.Run(images.name, func(t *testing.T) {
			h := newStemHarness(t, c, 1, true)
			if !h.whole {
				t.Fatal("two layers")
			}
			live := c.z.maxOut - 1
			h.place(stream.New(1, "test", 0), 1, live)
			x := gradcheck.Normal(h.in.Size(), 1)
			for k, noise := range x {
				x[k] = images.value(k, noise)
			}
			h.dev.Upload(h.in.Value, x)
			h.forward(true)
			var params [][]float64
			for _, p := range h.layer.Parameters() {
				if p.Trained() {
					params = append(params, widen(h.download(p.Value)))
				}
			}
			y := h.reference(params, widen(x), h.u.G[:live], nil)
			want := normalised(y, widen(h.norm.Weight.Host), widen(h.norm.Bias.Host), live, c.z.h, c.z.w, c.z.b, float64(h.norm.Eps), c.pool, c.relu)
			compareNormWithin(t, "values", h.download(h.out.Live()), want, 1e-6)
		})
	}
}

// TestStem compares a stem with the two layers that it stands for, at all levels and on one thread and two.
func TestStem(t *testing.T) {
	cases := slices.Concat(stemCases, []stemCase{
		{Config{In: 1, Out: 32, Bias: true}, sizes{1, 8, 28, 28, 64}, true, true},
		{Config{In: 3, Out: 64, Side: 3}, sizes{1, 4, 9, 11, 20}, false, true},
		{Config{In: 1, Out: 29, Group: lie.RPlus}, sizes{1, 8, 10, 13, 33}, true, true},
		{Config{In: 1, Out: 15, Side: 5}, sizes{1, 6, 4, 40, 300}, true, true},
	})
	asmtest.EachLevel(t, func(t *testing.T) {
		for i, c := range cases {
			if testing.Short() && c.z.b*c.z.h*c.z.w > 6000 {
				continue
			}
			t.Run(c.String(), func(t *testing.T) {
				evaluated := func(threads int, together, inference bool) *stemHarness {
					h := planStem(t, c, threads, together, inference)
					if h.whole != together {
						t.Fatalf("as one layer: %v", h.whole)
					}
					h.place(stream.New(uint64(i), "test", 0), 1, max(1, c.z.maxOut-i%2))
					if h.window != nil {
						slices.Reverse(h.u.G)
					}
					images := gradcheck.Normal(h.in.Size(), uint64(i))
					for k := range images { // a background far from zero, beside which the deviation is small
						images[k] = 0.1*max(0, images[k]-1) - 2
					}
					h.dev.Upload(h.in.Value, images)
					h.forward(false)
					return h
				}
				one, two, apart := evaluated(1, true, false), evaluated(2, true, false), evaluated(2, false, false)
				compareNormWithin(t, "values without train", one.download(one.out.Live()), widen(apart.download(apart.out.Live())), 2e-6)
				frozen := evaluated(2, true, true)
				equal(t, "values without train, planned for inference or not,", one.download(one.out.Live()), frozen.download(frozen.out.Live()))
				for _, h := range []*stemHarness{one, two, apart} {
					h.forward(true)
					h.dev.Upload(h.out.Grad, gradcheck.Normal(h.out.Size(), 7))
					h.params.ZeroGrad()
					h.out.Accumulate()
					h.back()
				}
				equal(t, "values", one.download(one.out.Live()), two.download(two.out.Live()))
				compareNormWithin(t, "values", one.download(one.out.Live()), widen(apart.download(apart.out.Live())), 4e-6)
				for k, p := range one.params.All() {
					q, r := two.params.All()[k], apart.params.All()[k]
					equal(t, p.Name, one.download(p.Value), two.download(q.Value))
					compareNormWithin(t, p.Name, one.download(p.Value), widen(apart.download(r.Value)), 1e-6)
					if !p.Trained() {
						continue
					}
					equal(t, p.Name+"'s gradient", one.download(p.Grad), two.download(q.Grad))
					if p != one.bias { // whose gradient is zero, and rounding where it is summed up
						compareNormWithin(t, p.Name+"'s gradient", one.download(p.Grad), widen(apart.download(r.Grad)), 1e-4)
					}
				}
			})
		}
	})
}

func equal(t *testing.T, what string, a, b []float32) {
	t.Helper()
	if !slices.Equal(a, b) {
		t.Errorf("%s differ between one thread and two", what)
	}
}

// TestStemApart plans as two layers what cannot be one, or would not gain.
func TestStemApart(t *testing.T) {
	for name, change := range map[string]func(*stemCase){
		"few targets":    func(c *stemCase) { c.cfg.Out = 6 },
		"thin batch":     func(c *stemCase) { c.z.b = 15 },
		"many sources":   func(c *stemCase) { c.cfg.In, c.cfg.Out = 8, 100 },
		"no border":      func(c *stemCase) { c.cfg.Padding = Valid },
		"input gradient": func(c *stemCase) { c.cfg.InputGrad = true },
		"frequency":      func(c *stemCase) { c.cfg.Algorithm = Frequency },
	} {
		t.Run(name, func(t *testing.T) {
			c := stemCases[0]
			change(&c)
			if h := newStemHarness(t, c, 1, true); h.whole {
				t.Error("one layer")
			}
		})
	}
}

// TestStemMisuse: what follows a layer is refused where it does not go with it, or has no memory.
func TestStemMisuse(t *testing.T) {
	c := stemCases[0]
	c.cfg.Name = "lift"
	l, err := NewLifting(c.cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	dev, u := newCPU(t, 1), gumbel.NewElements(lie.SE2, c.z.maxOut)
	plan := func(channels int) (arena *tensor.Arena) {
		n, err := nn.NewBatchNorm("norm", channels)
		if err != nil {
			t.Fatal(err)
		}
		p := &nn.Plan{Arena: new(tensor.Arena), Batch: c.z.b}
		if _, whole := l.PlanNorm(p, p.Map(c.cfg.In, 1, c.z.h, c.z.w), u, n); !whole {
			t.Fatal("two layers")
		}
		return p.Arena
	}
	for _, channels := range []int{1, c.cfg.Out + 1} {
		refuses(t, "channels", fmt.Sprintf("conv: PlanNorm: lift has 10 output channels, the normalisation behind it %d", channels), func() { plan(channels) })
	}
	arena := plan(c.cfg.Out)
	if err := arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer arena.Release()
	var params nn.Parameters
	params.Add(l.Parameters()...)
	if err := params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer params.Release()
	refuses(t, "parameters", `conv: Bind: lift: the parameter "norm.module.weight" is not bound to a device; call Parameters.Bind first`, func() { l.Bind(dev) })
}
