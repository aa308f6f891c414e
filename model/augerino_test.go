package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// shown is the definition of a copy in float64: what it shows of one image at pixel
// (row, col). It is scaled by the factor size, and turns by the formula of E(2), a angle
// and s sign of the element.
func shown(image []float32, side int, a, s, size, zoom float64, row, col int) float64 {
	c := float64(side-1) / 2
	y, x := (float64(row)-c)/size, s*(float64(col)-c)/size
	y, x = c+zoom*(math.Cos(a)*y-math.Sin(a)*x), c+zoom*(math.Sin(a)*y+math.Cos(a)*x)
	sum := 0.0
	for r := range side {
		for k := range side {
			w := max(0, 1-math.Abs(y-float64(r))) * max(0, 1-math.Abs(x-float64(k)))
			sum += w * float64(image[r*side+k])
		}
	}
	return sum
}

// TestWarp compares copies and the gradient of the elements with the definition and its
// differences.
func TestWarp(t *testing.T) {
	const channels, side, batch, live, copies = 2, 7, 5, 4, 4
	pixels := channels * side * side
	images := gradcheck.Normal(live*pixels, 1)
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, compat := range []bool{false, true} {
		for _, g := range []lie.Group{lie.SE2, lie.E2, lie.Sim2} {
			t.Run(fmt.Sprintf("%s/compat=%v", g.Name(), compat), func(t *testing.T) {
				u := []lie.Element{{0.3}, {2}, {5.1}}
				switch g {
				case lie.E2:
					u[1][1] = 1
				case lie.Sim2:
					u[0][1], u[1][1] = 0.2, -0.3 // logarithms of sizes
				}
				zoom := 1.0
				if compat {
					zoom = 7.0 / 6
				}
				at := func(u []lie.Element, c, row, col, s, b int) float64 {
					e, sign, size := u[s%len(u)], 1.0, 1.0
					switch g {
					case lie.E2:
						sign = 1 - 2*e[1]
					case lie.Sim2:
						size = math.Exp(e[1])
					}
					return shown(images[b*pixels+c*side*side:], side, e[0], sign, size, zoom, row, col)
				}
				w := newWarp(g, channels, side, batch, compat)
				w.alloc(copies)
				got := slices.Clone(w.forward(images, u, copies))
				if len(got) != pixels*copies*batch {
					t.Fatalf("%d values", len(got))
				}
				weight := gradcheck.Normal(len(got), 2)
				loss := func(u []lie.Element) (sum float64) {
					for i, v := range weight {
						p, s, b := i/batch/copies, i/batch%copies, i%batch
						if b < live {
							sum += float64(v) * at(u, p/side/side, p/side%side, p%side, s, b)
						}
					}
					return sum
				}
				for i, v := range got {
					p, s, b := i/batch/copies, i/batch%copies, i%batch
					want := 0.0 // beyond the images
					if b < live {
						want = at(u, p/side/side, p/side%side, p%side, s, b)
					}
					if !(math.Abs(float64(v)-want) <= 1e-5) {
						t.Fatalf("copy %d of image %d, pixel %d: %v, want %v", s, b, p, v, want)
					}
				}

				du := make([]lie.Vector, len(u))
				w.backward(dev, tensor.HostBuffer(weight), u, du, copies)
				for e := range u {
					for axis := range g.Dim() {
						const h = 1e-6
						moved := slices.Clone(u)
						moved[e][axis] = u[e][axis] + h
						right := loss(moved)
						moved[e][axis] = u[e][axis] - h
						want := (right - loss(moved)) / (2 * h)
						if !(math.Abs(du[e][axis]-want) <= 1e-4*(1+math.Abs(want))) {
							t.Errorf("gradient of element %d on axis %d is %v, differences give %v", e, axis, du[e][axis], want)
						}
					}
				}
			})
		}
	}
}

// TestWarpOfPixels: the identity's copy is the image, bit by bit, and a quarter turn
// moves pixels to pixels.
func TestWarpOfPixels(t *testing.T) {
	const side = 6
	image := gradcheck.Normal(side*side, 1)
	w := newWarp(lie.SE2, 1, side, 1, false)
	w.alloc(2)
	got := w.forward(image, []lie.Element{{}, {math.Pi / 2}}, 2)
	for p, v := range image {
		if got[2*p] != v {
			t.Fatalf("pixel %d of the identity's copy is %v, want %v", p, got[2*p], v)
		}
		row, col := p/side, p%side
		if d := got[2*p+1] - image[(side-1-col)*side+row]; !(math.Abs(float64(d)) <= 1e-6) {
			t.Fatalf("pixel %d of the turned copy is off by %v", p, d)
		}
	}
}

// TestCopyMean compares the mean over copies and the gradients of logits and weights with
// the definition and its differences.
func TestCopyMean(t *testing.T) {
	const classes, copies, kept, b = 3, 4, 3, 5
	for _, weighted := range []bool{false, true} {
		dev, err := tensor.NewCPU(1)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		list := gumbel.NewElements(lie.SE2, copies)
		list.SetLen(kept)
		if weighted {
			list.Weight, list.WeightGrad = []float64{0.9, 0, 0.4}, make([]float64, kept)
		}
		var arena tensor.Arena
		p := &nn.Plan{Arena: &arena, Batch: copies * b}
		in := p.Map(classes, 1, 1, 1)
		l := &copyMean{list: list, copies: copies}
		out := l.Plan(p, in, b)
		if p.Batch != copies*b || out.B != b {
			t.Fatalf("a plan of %d images, a result of %d", p.Batch, out.B)
		}
		if err := arena.Bind(dev); err != nil {
			t.Fatal(err)
		}
		l.Bind(dev)
		in.Written(1)
		dev.Upload(in.Value, gradcheck.Normal(in.Size(), 1))
		proj := gradcheck.NewProjection(dev, out.Size(), 2)
		c := gradcheck.Case{
			Device: dev, Inputs: []*nn.Map{in},
			Loss:     func() float64 { l.Forward(true); return proj.Loss(out.Live()) },
			Backward: func() { proj.Seed(out); l.Backward() },
			Reference: func(x [][]float64) float64 {
				w := []float64{1, 1, 1}
				if weighted {
					w = x[1]
				}
				y := make([]float64, classes*b)
				for i := range y {
					for s, v := range w {
						y[i] += v / (w[0] + w[1] + w[2]) * x[0][(i/b*copies+s)*b+i%b]
					}
				}
				return proj.Of(y)
			},
		}
		if weighted {
			c.Variables = []gradcheck.Variable{{
				Name: "weights", Base: slices.Clone(list.Weight), Adds: true, Step: 1.0 / 64,
				Set:  func(x []float64) { copy(list.Weight, x) },
				Zero: func() { clear(list.WeightGrad) },
				Grad: func(g []float64) { copy(g, list.WeightGrad) },
			}}
		}
		gradcheck.Run(t, c)
	}
}

// TestAugerinoIsTheMean: the logits are the mean of those of a network on T(2) with the
// same weights over copies of the images, as many as the learned half-width says.
func TestAugerinoIsTheMean(t *testing.T) {
	resNet := func(t *testing.T, group lie.Group, elements int, augerino, compat bool) *Network {
		return newTinyWith(t, func(c *CKResNetConfig) {
			c.Group, c.Elements, c.Partial, c.Augerino, c.Compat = group, elements, false, augerino, compat
		})
	}
	chain := func(t *testing.T, group lie.Group, elements int, augerino, compat bool) *Network {
		c := tinyGCNN()
		c.Group, c.Elements, c.Partial, c.Augerino, c.Compat = group, elements, false, augerino, compat
		net, err := NewGCNN(c)
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	for _, c := range []struct {
		newNet func(t *testing.T, group lie.Group, elements int, augerino, compat bool) *Network
		group  lie.Group
		compat bool
		theta  float64
		copies int
	}{
		{resNet, lie.Sim2, false, 1, 4}, {resNet, lie.SE2, false, 1, 8}, {resNet, lie.SE2, false, 0.3, 3}, {resNet, lie.SE2, true, 0.3, 3},
		{resNet, lie.E2, false, 0.6, 6}, {resNet, lie.E2, true, 0.6, 6}, {chain, lie.SE2, false, 0.3, 3}, {chain, lie.E2, false, 0.6, 6},
	} {
		net := c.newNet(t, c.group, 8, true, c.compat)
		t.Run(fmt.Sprintf("%s/%s/compat=%v/theta=%v", net.Architecture(), c.group.Name(), c.compat, c.theta), func(t *testing.T) {
			dev, err := tensor.NewCPU(1)
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			for _, p := range net.augerino.Parameters() {
				clear(p.Host) // one size; mirrored copies are there or not, as likely
			}
			net.augerino.Parameters()[0].Host[0] = float32(c.theta)
			plain := c.newNet(t, lie.T2, 1, false, c.compat)
			for _, p := range plain.params.All() {
				copy(p.Host, net.params.Lookup(p.Name).Host)
			}
			const batch = 4
			images := gradcheck.Normal(batch*144, 3)
			if err := net.Bind(dev, batch, true); err != nil {
				t.Fatal(err)
			}
			defer net.Release()
			dropped := false
			for step := range 6 {
				net.Draw(1, Evaluation, uint64(step))
				net.Forward(images, false)
				got := make([]float32, 2*batch)
				dev.Download(got, net.Logits().Live())
				a := net.augerino
				if a.copies != c.copies || a.list.Len() > c.copies {
					t.Fatalf("%d copies of %d elements, want %d", a.copies, a.list.Len(), c.copies)
				}
				dropped = dropped || a.list.Len() < c.copies

				n := a.list.Len()
				copies := slices.Clone(a.warp.forward(images, a.list.G, n)) // [C, H, W, n, B]
				turned := make([]float32, len(copies))
				for i := range turned {
					turned[i] = copies[i%144*n*batch+i/144]
				}
				if err := plain.Bind(dev, n*batch, true); err != nil {
					t.Fatal(err)
				}
				plain.Draw(1, Evaluation, 0)
				plain.Forward(turned, false)
				each := make([]float32, 2*n*batch)
				dev.Download(each, plain.Logits().Live())
				plain.Release()
				for i, v := range got {
					want := 0.0
					for s := range n {
						want += float64(each[(i/batch*n+s)*batch+i%batch]) / float64(n)
					}
					if !(math.Abs(float64(v)-want) <= 1e-5*(1+math.Abs(want))) {
						t.Errorf("step %d: logit %d is %v, want %v", step, i, v, want)
					}
				}
			}
			if dropped != (c.group == lie.E2) {
				t.Errorf("elements were dropped: %v", dropped)
			}
		})
	}
}

// TestAugerinoPlansAnew: a subset that needs fewer copies gives what a network bound at
// that size gives, in training too.
func TestAugerinoPlansAnew(t *testing.T) {
	set := toySet()
	images, labels := make([]float32, 6*144), make([]float32, 6)
	set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5})
	var want []float32
	for _, sizes := range [][]float64{{0.4}, {1, 0.7, 0.2, 0.4}} {
		dev, err := tensor.NewCPU(2)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		net := newTinyAugerino(t)
		if err := net.Bind(dev, 6, false); err != nil {
			t.Fatal(err)
		}
		defer net.Release()
		for _, theta := range sizes {
			net.SetSubsets(theta)
			net.Draw(1, Training, 7)
			for _, p := range net.params.All() { // running statistics move
				if p.Class == nn.Statistic {
					dev.Upload(p.Value, p.Host)
				}
			}
			net.Forward(images, true)
			net.Backward(labels)
		}
		if net.augerino.copies != 2 {
			t.Fatalf("%d copies, want 2", net.augerino.copies)
		}
		got := make([]float32, net.Logits().Size())
		dev.Download(got, net.Logits().Live())
		for _, p := range net.params.All() {
			g := make([]float32, p.Grad.Len())
			dev.Download(g, p.Grad)
			got = append(got, g...)
		}
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Error("a network that was planned anew computes something else")
		}
	}
}

// TestAugerinoLearns: training moves the half-width and, but for Compat, the probability
// of mirrored copies; a reward for width moves it outward.
func TestAugerinoLearns(t *testing.T) {
	for _, c := range []struct {
		group  lie.Group
		compat bool
		moves  []bool
	}{
		{lie.SE2, false, []bool{true}}, {lie.SE2, true, []bool{true}},
		{lie.E2, false, []bool{true, true}}, {lie.E2, true, []bool{true, false}}, {lie.Mirror, false, []bool{true}},
	} {
		elements := 4
		if c.group == lie.Mirror {
			elements = 2
		}
		net := newTinyWith(t, func(cfg *CKResNetConfig) {
			cfg.Group, cfg.Elements, cfg.Partial, cfg.Augerino, cfg.Compat = c.group, elements, false, true, c.compat
		})
		cfg := quick(1)
		cfg.Optimizer.WeightDecay = 0.5 // of weights alone
		tr := newTrainerOf(t, net, cfg)
		take(t, tr, 4)
		net.params.Download()
		var learned []float32
		for _, p := range net.augerino.Parameters() {
			if p.Trained() {
				learned = append(learned, p.Host...)
			}
		}
		for i, v := range learned {
			if (v != 1) != c.moves[i] {
				t.Errorf("%s, compat %v: value %d is %v", c.group.Name(), c.compat, i, v)
			}
		}
		if len(learned) != len(c.moves) {
			t.Errorf("%s, compat %v: %d values are learned", c.group.Name(), c.compat, len(learned))
		}
	}
	step := func(compat bool) (moved float64) {
		net := newTinyWith(t, func(cfg *CKResNetConfig) { cfg.Partial, cfg.Augerino, cfg.Compat = false, true, compat })
		net.augerino.Parameters()[0].Host[0] = 0.5
		cfg := quick(1)
		cfg.Schedule, cfg.Optimizer.LR, cfg.Optimizer.SubsetLR = ConstantSchedule, 1e-3, 2e-2
		take(t, newTrainerOf(t, net, cfg), 1)
		return math.Abs(net.Subsets()[0] - 0.5)
	}
	// Adam's first step is as long as the rate.
	for compat, want := range map[bool]float64{false: 2e-2, true: 1e-3} {
		if got := step(compat); !(math.Abs(got-want) <= 1e-3*want) {
			t.Errorf("compat %v: a step of %v, want %v", compat, got, want)
		}
	}
	width := func(reward float64) float64 {
		net := newTinyAugerino(t)
		net.augerino.Parameters()[0].Host[0] = 0.5
		cfg := quick(1)
		cfg.Schedule, cfg.Penalties.Width = ConstantSchedule, reward
		tr := newTrainerOf(t, net, cfg)
		take(t, tr, 10)
		if got, want := net.penalty(), -reward*net.Subsets()[0]; !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("the reward is %v, want %v", got, want)
		}
		return net.Subsets()[0]
	}
	if plain, rewarded := width(0), width(100); !(rewarded > 0.55 && rewarded > plain) {
		t.Errorf("a half-width of 0.5 becomes %v, with a reward %v", plain, rewarded)
	}
}

// The reward of half-widths ends with the run that has it.
func TestAugerinoRewardEnds(t *testing.T) {
	gradient := func(reward float64) float32 {
		net := newTinyAugerino(t)
		cfg := quick(1)
		cfg.Penalties.Width = reward
		newTrainerOf(t, net, cfg).Close()
		dev, err := tensor.NewCPU(1)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if err := net.Bind(dev, 2, false); err != nil {
			t.Fatal(err)
		}
		defer net.Release()
		net.Draw(1, Training, 0)
		net.Forward(make([]float32, 2*144), true)
		net.Backward([]float32{0, 1})
		return net.augerino.Parameters()[0].Grad.Host()[0]
	}
	if plain, after := gradient(0), gradient(100); after != plain {
		t.Errorf("a half-width has the gradient %v, after a run with a reward %v", plain, after)
	}
}

// TestAugerinoChain: the chain of convolutions goes on training, dropout and schedule
// included, when its subset has shrunk, and a plan that stays allocates nothing.
func TestAugerinoChain(t *testing.T) {
	cfg := tinyGCNN()
	cfg.Partial, cfg.Augerino = false, true
	net, err := NewGCNN(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := net.Architecture(); got != "AugerinoGCNN" {
		t.Errorf("the network is called %s", got)
	}
	long := quick(2)
	long.StepsPerEpoch = 100
	tr := newTrainerOf(t, net, long)
	for _, c := range []struct {
		theta  float64
		copies int
	}{{1, 3}, {0.6, 2}, {0.9, 3}} {
		net.SetSubsets(c.theta)
		step := func() {
			if _, err := tr.Step(); err != nil {
				t.Fatal(err)
			}
		}
		step()
		if net.augerino.copies != c.copies || net.plan.input.B != 8*c.copies {
			t.Errorf("at %v there are %d copies, want %d", c.theta, net.augerino.copies, c.copies)
		}
		if n := testing.AllocsPerRun(10, step); n != 0 && !race.Enabled {
			t.Errorf("a training step allocates %v times", n)
		}
	}
}

// TestAugerinoFrozen: predictions are the logits at the elements in the middle of their
// strata.
func TestAugerinoFrozen(t *testing.T) {
	net := newTinyAugerino(t)
	net.augerino.Parameters()[0].Host[0] = 0.5 // two of three elements
	frozen, err := net.Freeze(FreezeConfig{Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	src := stream.New(1, "images", 0)
	images := make([]float32, 6*144)
	for i := range images {
		images[i] = float32(src.Normal())
	}
	got, err := frozen.Predict(images)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 6, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	net.Midpoints()
	net.Forward(images, false)
	want := make([]float32, 12)
	dev.Download(want, net.Logits().Live())
	for i, v := range got {
		if w := want[i%2*6+i/2]; !(math.Abs(float64(v-w)) <= 1e-5*(1+math.Abs(float64(w)))) {
			t.Errorf("logit %d is %v, want %v", i, v, w)
		}
	}
	if net.augerino.copies != 2 {
		t.Errorf("%d copies, want 2", net.augerino.copies)
	}
}

func TestAugerinoRefuses(t *testing.T) {
	for field, change := range map[string]func(c *CKResNetConfig){
		"Partial":    func(c *CKResNetConfig) { c.Partial = true },
		"PerElement": func(c *CKResNetConfig) { c.PerElement = true },
		"Sampling":   func(c *CKResNetConfig) { c.Sampling = gumbel.Deterministic },
		"Measure":    func(c *CKResNetConfig) { c.Measure = gumbel.Haar },
		"LastT2":     func(c *CKResNetConfig) { c.LastT2 = true },
		"Group":      func(c *CKResNetConfig) { c.Group, c.Elements = lie.T2, 1 },
	} {
		c := tiny()
		c.Partial, c.Augerino = false, true
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	periodic := tiny()
	periodic.Partial, periodic.Augerino, periodic.Group = false, true, lie.Periodic(lie.SE2)
	var field *ConfigError
	if _, err := NewCKResNet(periodic); !errors.As(err, &field) || field.Field != "CKResNetConfig.Group" {
		t.Errorf("angles that nothing is fed: %v", err)
	}
	cfg := quick(1)
	cfg.Penalties.Width = 1
	var e *ConfigError
	if _, err := NewTrainer(newTiny(t), toySet(), cfg); !errors.As(err, &e) || e.Field != "TrainConfig.Penalties.Width" {
		t.Errorf("a reward for width without Augerino: %v", err)
	}
}
