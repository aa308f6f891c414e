package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// tiny is a network small enough for a test on every level and under qemu.
func tiny() CKResNetConfig {
	return CKResNetConfig{
		Group: lie.SE2, Elements: 3, Partial: true, Side: 12, Classes: 2,
		Width: 2, Factors: []int{1, 2}, KernelSide: 3, KernelHidden: 4, Seed: 3,
	}
}

// toySet holds 12 x 12 images of a bar that points up (0) or down (1).
func toySet() *data.Dataset {
	part := func(n int, name string) data.Split {
		src := stream.New(1, name, 0)
		s := data.Split{Images: make([]uint8, n*144), Labels: make([]uint8, n)}
		for i := range n {
			image := s.Images[i*144:][:144]
			for k := range image {
				image[k] = uint8(40 * src.Float64())
			}
			column := 4 + src.IntN(4)
			for row := range 6 {
				image[row*12+column] = 255
			}
			if i%2 == 1 {
				s.Labels[i] = 1
				slices.Reverse(image)
			}
		}
		return s
	}
	return &data.Dataset{
		Name: "bars", Synthetic: true, Channels: 1, Height: 12, Width: 12, Classes: 2,
		ClassNames: []string{"up", "down"}, Mean: []float32{0.1}, Std: []float32{0.3},
		Train: part(40, "train"), Validation: part(10, "validation"), Test: part(11, "test"),
	}
}

// tinyGCNN is the other architecture, with dropout.
func tinyGCNN() GCNNConfig {
	return GCNNConfig{
		Group: lie.SE2, Elements: 3, Partial: true, Channels: 1, Side: 12, Classes: 2,
		Width: 2, Factors: []int{1, 2, 2}, Pools: []int{1, 3}, Dropout: 0.25, Dropouts: []int{1, 2},
		KernelHidden: 4, Seed: 2,
	}
}

func newTiny(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(*CKResNetConfig) {})
}

func newTinyWith(t *testing.T, change func(*CKResNetConfig)) *Network {
	t.Helper()
	cfg := tiny()
	change(&cfg)
	net, err := NewCKResNet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func newTinyGCNN(t *testing.T) *Network {
	t.Helper()
	net, err := NewGCNN(tinyGCNN())
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// newTinyPerElement draws elements for every image.
func newTinyPerElement(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { c.PerElement = true })
}

// dropping are tiny networks that drop elements at random.
var dropping = []struct {
	name   string
	change func(*CKResNetConfig)
}{
	{"E2", func(c *CKResNetConfig) { c.Group, c.Elements = lie.E2, 4 }},
	{"E2PerElement", func(c *CKResNetConfig) { c.Group, c.Elements, c.PerElement = lie.E2, 4, true }},
	{"E2LastT2", func(c *CKResNetConfig) { c.Group, c.Elements, c.LastT2 = lie.E2, 4, true }},
	{"E2LayerNorm", func(c *CKResNetConfig) { c.Group, c.Elements, c.Norm = lie.E2, 4, LayerNorm }},
	{"E2Mean", func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = lie.E2, 4, gumbel.Mean }},
	{"Grid", func(c *CKResNetConfig) { c.Elements, c.Sampling = 4, gumbel.Deterministic }},
	{"Mirror", func(c *CKResNetConfig) { c.Group, c.Elements = lie.Mirror, 2 }},
	{"Dihedral", func(c *CKResNetConfig) { c.Group, c.Elements = lie.Dihedral(2), 4 }},
	{"CompatE2", func(c *CKResNetConfig) { c.Group, c.Elements, c.Compat = lie.E2, 4, true }},
	{"CompatGrid", func(c *CKResNetConfig) { c.Elements, c.Sampling, c.Compat = 4, gumbel.Deterministic, true }},
}

// eachDropping runs a test on all of dropping.
func eachDropping(t *testing.T, test func(t *testing.T, newNet func(*testing.T) *Network)) {
	for i, d := range dropping {
		if testing.Short() && i%4 > 0 {
			continue // slow under qemu and the race detector
		}
		t.Run(d.name, func(t *testing.T) {
			test(t, func(t *testing.T) *Network { t.Helper(); return newTinyWith(t, d.change) })
		})
	}
}

// newTinyHaar integrates over the subsets.
func newTinyHaar(t *testing.T) *Network {
	t.Helper()
	cfg := tiny()
	cfg.Measure = gumbel.Haar
	net, err := NewCKResNet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// newTinyLayerNorm normalises image by image.
func newTinyLayerNorm(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { c.Norm = LayerNorm })
}

// newTinyLastT2 ends in a convolution on the plane, with elements for every image.
func newTinyLastT2(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { c.PerElement, c.LastT2 = true, true })
}

// newTinyLearnedPooling ends in a learned pooling, on elements whose loss has no kink next to it.
func newTinyLearnedPooling(t *testing.T) *Network {
	t.Helper()
	cfg := tinyGCNN()
	cfg.Partial, cfg.Jitter, cfg.Pooling = false, gumbel.Stratified, LearnedPooling
	net, err := NewGCNN(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// newTinyAugerino learns one subset for the whole network.
func newTinyAugerino(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { c.Partial, c.Augerino = false, true })
}

// eachArchitecture runs a test on tiny networks of every kind. There is none under
// Compat, whose gradients are not those of its loss.
func eachArchitecture(t *testing.T, test func(t *testing.T, newNet func(*testing.T) *Network)) {
	t.Run("CKResNet", func(t *testing.T) { test(t, newTiny) })
	t.Run("GCNN", func(t *testing.T) { test(t, newTinyGCNN) })
	t.Run("PerElement", func(t *testing.T) { test(t, newTinyPerElement) })
	t.Run("Haar", func(t *testing.T) { test(t, newTinyHaar) })
	t.Run("Sim2", func(t *testing.T) {
		test(t, func(t *testing.T) *Network {
			t.Helper()
			return newTinyWith(t, func(c *CKResNetConfig) {
				c.Group, c.Elements, c.KernelSide, c.Pools = lie.DirectProduct(lie.SO2, lie.Scalings(1.25)), 4, 5, []int{0}
			})
		})
	})
	t.Run("Augerino", func(t *testing.T) { test(t, newTinyAugerino) })
	if testing.Short() {
		return // slow under qemu and the race detector
	}
	t.Run("Dropout", func(t *testing.T) {
		test(t, func(t *testing.T) *Network {
			t.Helper()
			return newTinyWith(t, func(c *CKResNetConfig) { c.Dropout = 0.25 })
		})
	})
	t.Run("LayerNorm", func(t *testing.T) { test(t, newTinyLayerNorm) })
	t.Run("Separable", func(t *testing.T) { test(t, newTinySeparable) })
	t.Run("Shared", func(t *testing.T) { test(t, newTinyShared) })
	t.Run("LastT2", func(t *testing.T) { test(t, newTinyLastT2) })
	t.Run("LearnedPooling", func(t *testing.T) { test(t, newTinyLearnedPooling) })
}

func newTrainer(t *testing.T, cfg TrainConfig) *Trainer {
	t.Helper()
	return newTrainerOf(t, newTiny(t), cfg)
}

func newTrainerOf(t *testing.T, net *Network, cfg TrainConfig) *Trainer {
	t.Helper()
	tr, err := NewTrainer(net, toySet(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func quick(threads int) TrainConfig {
	return TrainConfig{Epochs: 3, Batch: 8, Seed: 5, EvalDraws: 2, Threads: threads, Schedule: CosineSchedule}
}

// take takes n training steps, and ends the epochs on the way.
func take(t *testing.T, tr *Trainer, n int) {
	t.Helper()
	for range n {
		if tr.Left() == 0 {
			if _, err := tr.EndEpoch(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tr.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// bits returns all parameters of a network.
func bits(net *Network) []float32 {
	var all []float32
	if net.plan != nil {
		net.params.Download()
	}
	for _, p := range net.params.All() {
		all = append(all, p.Host...)
	}
	return all
}

func TestThreadsDoNotChangeBits(t *testing.T) {
	eachArchitecture(t, checkThreads)
	eachDropping(t, checkThreads)
}

func checkThreads(t *testing.T, newNet func(*testing.T) *Network) {
	asmtest.EachLevel(t, func(t *testing.T) {
		var want []float32
		for _, threads := range []int{1, 2, 3} {
			cfg := quick(threads)
			if testing.Short() {
				cfg.Epochs = 1 // slow under qemu and the race detector
			}
			tr := newTrainerOf(t, newNet(t), cfg)
			run, err := tr.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got := append(bits(tr.net), float32(run.TestAccuracy), float32(run.Test.Loss))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d threads end with other weights than 1", threads)
			}
		}
	})
}

func TestResumeIsBitIdentical(t *testing.T) {
	plain := func(t *testing.T, newNet func(*testing.T) *Network) { checkResume(t, newNet, quick) }
	eachArchitecture(t, plain)
	eachDropping(t, plain)
	t.Run("Augmented", func(t *testing.T) { checkResume(t, newTiny, augmented) })
}

// augmented is quick with training images that change.
func augmented(threads int) TrainConfig {
	c := quick(threads)
	c.Augment = data.Augmentation{Rotate: .3, Flip: true, Crop: 2}
	return c
}

func checkResume(t *testing.T, newNet func(*testing.T) *Network, quick func(threads int) TrainConfig) {
	whole := newTrainerOf(t, newNet(t), quick(1))
	want, err := whole.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.safetensors")
	stops := []int{0, 1, 4, 5, 7, 10, 14, 15} // an epoch has 5 steps
	if testing.Short() {
		stops = []int{0, 7}
	}
	for _, stop := range stops {
		t.Run(fmt.Sprintf("stop=%d", stop), func(t *testing.T) {
			cfg := quick(2)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			cfg.OnStep = func(p Progress) {
				if p.Step == stop {
					cancel()
				}
			}
			if stop == 0 {
				cancel()
			}
			first := newTrainerOf(t, newNet(t), cfg)
			if _, err := first.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("a cancelled run returned %v", err)
			}
			if err := first.SaveState(path); err != nil {
				t.Fatal(err)
			}
			second := newTrainerOf(t, newNet(t), quick(1))
			if err := second.LoadState(path); err != nil {
				t.Fatal(err)
			}
			got, err := second.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(second.net), bits(whole.net)) {
				t.Error("the resumed run ends with other weights")
			}
			if got.Test != want.Test || len(got.Epochs) != len(want.Epochs) {
				t.Errorf("the resumed run tests as %+v, the undisturbed one as %+v", got.Test, want.Test)
			}
			for i, m := range got.Epochs {
				w := want.Epochs[i]
				m.Seconds, w.Seconds = 0, 0
				if fmt.Sprint(m) != fmt.Sprint(w) {
					t.Errorf("epoch %d: %+v, undisturbed %+v", i+1, m, w)
				}
			}
		})
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	plain := func(t *testing.T, newNet func(*testing.T) *Network) { checkStepAllocates(t, newNet, quick) }
	eachArchitecture(t, plain)
	eachDropping(t, plain)
	t.Run("Augmented", func(t *testing.T) { checkStepAllocates(t, newTiny, augmented) })
}

func checkStepAllocates(t *testing.T, newNet func(*testing.T) *Network, quick func(threads int) TrainConfig) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, threads := range []int{1, 2} {
			cfg := quick(threads)
			cfg.StepsPerEpoch = 100
			cfg.Optimizer.Clip = 1
			tr := newTrainerOf(t, newNet(t), cfg)
			step := func() {
				if _, err := tr.Step(); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				step()
			}
			if n := testing.AllocsPerRun(2, step); n != 0 {
				t.Errorf("%d threads: a training step allocates %v times", threads, n)
			}
		}
	})
}

// TestGradient compares the directional derivatives of the whole network's loss
// with its gradient, for fixed draws, and the derivative by each half-width.
func TestGradient(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		images, labels := bindSix(t, net)
		for _, s := range net.distributions() { // away from where the count of elements changes
			for _, p := range s.Parameters() {
				p.Host[0] = 0.8
			}
		}
		net.params.Upload()
		loss := func() float64 {
			net.Draw(1, Training, 0)
			net.Forward(images, true)
			net.loss.SetLabels(labels)
			net.loss.Forward(true)
			return net.loss.Loss()
		}
		loss()
		net.Backward(labels)
		grads := map[string][]float32{}
		for _, p := range net.params.All() {
			if p.Trained() {
				g := make([]float32, len(p.Host))
				net.plan.dev.Download(g, p.Grad)
				grads[p.Name] = g
			}
		}
		src := stream.New(2, "direction", 0)
		for i, p := range net.params.All() {
			if !p.Trained() {
				continue
			}
			if testing.Short() && i%4 > 1 {
				continue // slow under qemu and the race detector
			}
			dir := make([]float64, len(p.Host))
			slope, norm := 0.0, 0.0
			for i := range dir {
				dir[i] = src.Normal()
				slope += dir[i] * float64(grads[p.Name][i])
				norm += dir[i] * dir[i]
			}
			start := slices.Clone(p.Host)
			at := func(h float64) float64 {
				for i := range p.Host {
					p.Host[i] = start[i] + float32(h*dir[i]/math.Sqrt(norm))
				}
				net.plan.dev.Upload(p.Value, p.Host)
				return loss()
			}
			// ReLU and the maxima have kinks, and one may lie closer than any step that
			// float32 resolves: the gradient is the slope on one of the two sides.
			got, here := slope/math.Sqrt(norm), at(0)
			var left, right float64
			steps := []float64{2e-5, 3e-5, 4e-5, 5e-5, 6e-5}
			for _, h := range steps {
				left += (here - at(-h)) / h / float64(len(steps))
				right += (at(h) - here) / h / float64(len(steps))
			}
			at(0)
			if off := min(math.Abs(got-left), math.Abs(got-right)); off > 0.05*math.Abs(got)+0.01 {
				t.Errorf("%s: gradient along a direction is %v, differences give %v and %v", p.Name, got, left, right)
			}
		}
	})
}

// bindSix binds a network for a training step of six images, which it returns with their labels.
func bindSix(t *testing.T, net *Network) (images, labels []float32) {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if err := net.Bind(dev, 6, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Release)
	set := toySet()
	images, labels = make([]float32, 6*144), make([]float32, 6)
	set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5})
	return images, labels
}

// Backward overwrites the gradients of the pass before it, those of learned subsets too,
// though both passes are on one draw.
func TestBackwardAgain(t *testing.T) {
	test := func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		images, labels := bindSix(t, net)
		net.Draw(1, Training, 0)
		pass := func() (grads []float32) {
			net.Forward(images, true)
			net.Backward(labels)
			for _, p := range net.params.All() {
				if p.Trained() {
					grads = append(grads, p.Grad.Host()...)
				}
			}
			return grads
		}
		first := pass()
		if !slices.Equal(pass(), first) {
			t.Error("a second pass on one draw has other gradients")
		}
	}
	eachArchitecture(t, test)
	eachDropping(t, test)
}

// TestWeightGradient compares the derivative of the loss by the weights of the elements
// of each layer with differences, at weights that an average of draws could have: what
// is learned of elements that are dropped or kept comes from there.
func TestWeightGradient(t *testing.T) {
	for _, d := range dropping {
		cfg := tiny()
		if d.change(&cfg); cfg.Compat { // takes elements out of the lists
			continue
		}
		t.Run(d.name, func(t *testing.T) { checkWeightGradient(t, newTinyWith(t, d.change)) })
	}
	gcnn := tinyGCNN()
	gcnn.Group, gcnn.Elements = lie.E2, 4
	net, err := NewGCNN(gcnn)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("GCNN", func(t *testing.T) { checkWeightGradient(t, net) })
}

func checkWeightGradient(t *testing.T, net *Network) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 6, false); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	set := toySet()
	images, labels := make([]float32, 6*144), make([]float32, 6)
	set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5})
	layer, shift := 0, 0.0 // weights of that layer are moved
	src := stream.New(4, "weights", 0)
	start, dir := make([][]float64, len(net.samplers)), make([][]float64, len(net.samplers))
	net.Draw(1, Training, 0)
	for i, el := range net.plan.elements {
		for range el.Weight {
			start[i] = append(start[i], 0.4+0.6*src.Float64())
			dir[i] = append(dir[i], src.Normal())
		}
	}
	loss := func() float64 {
		net.Draw(1, Training, 0)
		for i, el := range net.plan.elements {
			for j := range el.Weight {
				el.Weight[j] = start[i][j]
				if i == layer {
					el.Weight[j] += shift * dir[i][j]
				}
			}
		}
		net.Forward(images, true)
		net.loss.SetLabels(labels)
		net.loss.Forward(true)
		return net.loss.Loss()
	}
	weighted := 0
	for layer = range net.samplers {
		el := net.plan.elements[layer]
		if el.Weight == nil {
			continue
		}
		weighted++
		shift = 0
		here := loss()
		net.Backward(labels)
		got := 0.0
		for j, g := range el.WeightGrad {
			got += g * dir[layer][j]
		}
		// Kinks as in TestGradient.
		var left, right float64
		steps := []float64{2e-4, 3e-4, 4e-4, 5e-4}
		for _, h := range steps {
			shift = -h
			left += (here - loss()) / h / float64(len(steps))
			shift = h
			right += (loss() - here) / h / float64(len(steps))
		}
		t.Logf("%s: %.5f, differences %.5f and %.5f", net.samplers[layer].layer, got, left, right)
		if off := min(math.Abs(got-left), math.Abs(got-right)); off > 0.03*math.Abs(got)+0.003 {
			t.Errorf("%s: gradient along a direction is %v, differences give %v and %v", net.samplers[layer].layer, got, left, right)
		}
	}
	if weighted < 3 {
		t.Errorf("%d layers have weights", weighted)
	}
}

// A network on a group must give the same logits for an image and for what an element
// of the group makes of it, where that maps pixels to pixels and the elements of the
// layers to each other: the head takes the maximum over group and plane.
func TestFullNetworkIsEquivariant(t *testing.T) {
	quarter := func(dst, src []float32) { data.Rotate(dst, src, 13, 13, math.Pi/2) }
	mirror := func(dst, src []float32) {
		for i := range dst {
			dst[i] = src[i/13*13+12-i%13]
		}
	}
	for _, c := range []struct {
		group   lie.Group
		name    string
		move    func(dst, src []float32)
		changes bool // what the group does not have
	}{
		{lie.SE2, "quarter turn", quarter, false},
		{lie.SE2, "mirror", mirror, true},
		{lie.Cyclic(4), "quarter turn", quarter, false},
		{lie.Cyclic(4), "mirror", mirror, true},
		{lie.Dihedral(4), "quarter turn", quarter, false},
		{lie.Dihedral(4), "mirror", mirror, false},
		{lie.Mirror, "mirror", mirror, false},
		{lie.Mirror, "quarter turn", quarter, true},
		{lie.Periodic(lie.SE2), "quarter turn", quarter, false},
		{lie.E2, "quarter turn", quarter, false},
		{lie.E2, "mirror", mirror, false},
	} {
		t.Run(c.group.Name()+"/"+c.name, func(t *testing.T) { checkInvariance(t, c.group, c.move, c.changes) })
	}
}

func checkInvariance(t *testing.T, g lie.Group, move func(dst, src []float32), changes bool) {
	cfg := tiny()
	cfg.Group, cfg.Elements, cfg.Partial, cfg.Side = g, 0, false, 13
	if g.Dim() > 0 {
		cfg.Elements = 4 * g.Components()
	}
	cfg.Pools, cfg.KernelSide = []int{}, 5
	net, err := NewCKResNet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 2, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	src := stream.New(9, "image", 0)
	images := make([]float32, 2*169)
	for i := range 169 {
		images[i] = float32(src.Normal())
	}
	move(images[169:], images[:169])
	net.DrawFrom(zero{}, Evaluation)
	for i := range net.samplers { // the grid itself
		list := net.plan.elements[i]
		copy(list.G, g.Grid(list.Len()))
	}
	net.Forward(images, false)
	logits := make([]float32, 4)
	dev.Download(logits, net.Logits().Live())
	same := true
	for k := range 2 {
		a, b := float64(logits[2*k]), float64(logits[2*k+1])
		if !(math.Abs(a-b) <= 1e-5*(1+math.Abs(a))) {
			same = false
		}
	}
	if same == changes {
		t.Errorf("logits of the image and of the moved one, class by class: %v", logits)
	}
}

type zero struct{}

func (zero) Float64() float64 { return 0 }

func TestSaveAndLoad(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		twin, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bits(net), bits(twin)) || fmt.Sprint(net.cfg.describe()) != fmt.Sprint(twin.cfg.describe()) {
			t.Error("a network that was saved and loaded is another one")
		}
	})
}

// A checkpoint states its group by name, and with it what the name is made of.
func TestSaveAndLoadGroups(t *testing.T) {
	for _, g := range []lie.Group{lie.Dihedral(4), lie.Periodic(lie.SE2), lie.E2} {
		cfg := tiny()
		cfg.Group, cfg.Elements = g, 0
		net, err := NewCKResNet(cfg)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		twin, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := twin.cfg.Group; got.Name() != g.Name() || got.Coordinates() != g.Coordinates() {
			t.Errorf("a network on %s is loaded as one on %s", g.Name(), got.Name())
		}
		if !slices.Equal(bits(net), bits(twin)) {
			t.Errorf("%s: a network that was saved and loaded is another one", g.Name())
		}
	}
}

// TestKernelNets wants networks with every kind of kernel network to train, to be saved
// and loaded, and to be frozen.
func TestKernelNets(t *testing.T) {
	for _, kind := range conv.KernelNets() {
		t.Run(string(kind), func(t *testing.T) {
			cfg := tiny()
			cfg.KernelNet = kind
			if kind == conv.MLP {
				cfg.KernelActivation, cfg.KernelNorm = siren.Swish, siren.LayerNorm
			}
			net, err := NewCKResNet(cfg)
			if err != nil {
				t.Fatal(err)
			}
			before := bits(net)
			if _, err := Train(t.Context(), net, toySet(), quick(1)); err != nil {
				t.Fatal(err)
			}
			if slices.Equal(before, bits(net)) {
				t.Error("training changed nothing")
			}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			if err := net.Save(path); err != nil {
				t.Fatal(err)
			}
			twin, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(net), bits(twin)) || fmt.Sprint(net.cfg.describe()) != fmt.Sprint(twin.cfg.describe()) {
				t.Error("a network that was saved and loaded is another one")
			}
			frozen, err := twin.Freeze(FreezeConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer frozen.Close()
			logits, err := frozen.Predict(make([]float32, 2*144))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range logits {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("logits %v", logits)
				}
			}
		})
	}
}

// tamper writes a checkpoint after changing its contents.
func tamper(t *testing.T, change func(f *safetensors.File)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := newTiny(t).Save(path); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	if err := safetensors.WriteFile(path, f.Tensors, f.Metadata); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(f *safetensors.File)
		want   string
	}{
		{"no description", func(f *safetensors.File) { delete(f.Metadata, networkKey) }, "written by another program"},
		{"damaged description", func(f *safetensors.File) { f.Metadata[networkKey] = "{" }, "damaged"},
		{"two descriptions", func(f *safetensors.File) { f.Metadata[networkKey] += "{}" }, "damaged"},
		{"a setting of another version", func(f *safetensors.File) {
			f.Metadata[networkKey] = strings.Replace(f.Metadata[networkKey], `{`, `{"residual":true,`, 1)
		}, `unknown key "residual": the file was written by another version`},
		{"a setting that is not known for what it is", func(f *safetensors.File) {
			f.Metadata[networkKey] = strings.Replace(f.Metadata[networkKey], `"pools"`, `"pooms"`, 1)
		}, `unknown key "pooms"`},
		{"a description of another version", func(f *safetensors.File) { f.Metadata["noether.more"] = "{}" }, `"noether.more"`},
		{"unknown jitter", func(f *safetensors.File) {
			f.Metadata[networkKey] = strings.Replace(f.Metadata[networkKey], `"jitter":0`, `"jitter":255`, 1)
		}, "the jitter is 255; 0 to 2 are known"},
		{"unknown type", func(f *safetensors.File) { f.Metadata[networkKey] = `{"type":"LeNet"}` }, "LeNet"},
		{"another type", func(f *safetensors.File) {
			f.Metadata[networkKey] = strings.Replace(f.Metadata[networkKey], "CKResNet", "GCNN", 1)
		}, "does not belong to this network"},
		{"unknown group", func(f *safetensors.File) { f.Metadata[networkKey] = `{"type":"CKResNet","group":"E(9)"}` }, "E(9)"},
		{"absurd size", func(f *safetensors.File) {
			f.Metadata[networkKey] = strings.Replace(f.Metadata[networkKey], `"width":2`, `"width":-2`, 1)
		}, "Width"},
		{"missing tensor", func(f *safetensors.File) { f.Tensors = f.Tensors[1:] }, "missing"},
		{"extra tensor", func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "surplus", Shape: []int{1}, F32: []float32{1}})
		}, "surplus"},
		{"another shape", func(f *safetensors.File) {
			f.Lookup("out_layer.bias").Shape, f.Lookup("out_layer.bias").F32 = []int{1}, []float32{1}
		}, "out_layer.bias"},
		{"NaN", func(f *safetensors.File) { f.Lookup("out_layer.bias").F32[0] = float32(math.NaN()) }, "NaN"},
		{"integers", func(f *safetensors.File) {
			b := f.Lookup("out_layer.bias")
			b.F32, b.I64 = nil, make([]int64, 2)
		}, "integers"},
	} {
		path := tamper(t, c.change)
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v; it should name the file and %q", c.what, err, c.want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file gives %v", err)
	}
}

// saving is how a kind of file is written and read.
type saving struct{ save, load func(path string) error }

// savings are those of a trainer that quick(1) configures.
func savings(t *testing.T, tr *Trainer) map[string]saving {
	return map[string]saving{
		"checkpoint": {tr.net.Save, func(path string) error { return second(Load(path)) }},
		"state":      {tr.SaveState, func(path string) error { return newTrainer(t, quick(1)).LoadState(path) }},
	}
}

// TestDamageIsFound: a checkpoint and a state are refused whichever bit of theirs is another.
func TestDamageIsFound(t *testing.T) {
	tr := newTrainer(t, quick(1))
	if _, err := tr.Step(); err != nil {
		t.Fatal(err)
	}
	for name, c := range savings(t, tr) {
		path := filepath.Join(t.TempDir(), name)
		if err := c.save(path); err != nil {
			t.Fatal(err)
		}
		if err := c.load(path); err != nil {
			t.Fatalf("the %s as it was written: %v", name, err)
		}
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src, flips := stream.New(1, name, 0), 100
		if testing.Short() {
			flips = 20 // slow under qemu and the race detector
		}
		for range flips {
			damaged, at, bit := slices.Clone(good), src.IntN(len(good)), src.IntN(8)
			damaged[at] ^= 1 << bit
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := c.load(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("%s with another bit %d of byte %d of %d, in %q: %v", name, bit, at, len(good), good[max(0, at-20):min(len(good), at+20)], err)
			}
		}
	}
}

// TestFilesWithoutDigest: earlier versions, and programs that write the files anew, leave
// the digest out.
func TestFilesWithoutDigest(t *testing.T) {
	tr := newTrainer(t, quick(1))
	for name, c := range savings(t, tr) {
		path := filepath.Join(t.TempDir(), name)
		if err := c.save(path); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Metadata[formatKey] = "pt"
		var plain bytes.Buffer
		if err := safetensors.Write(&plain, f.Tensors, f.Metadata); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, plain.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := c.load(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadStateRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	tr := newTrainer(t, quick(1))
	if _, err := tr.Step(); err != nil {
		t.Fatal(err)
	}
	if err := tr.SaveState(path); err != nil {
		t.Fatal(err)
	}
	good, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := quick(1)
	other.Seed = 6
	if err := newTrainer(t, other).LoadState(path); err == nil || !strings.Contains(err.Error(), "seed is 5, here it is 6") {
		t.Errorf("the state of another seed gives %v", err)
	}
	other = quick(1)
	other.Augment.Crop = 2
	if err := newTrainer(t, other).LoadState(path); err == nil || !strings.Contains(err.Error(), "augment.crop is not given, here it is 2") {
		t.Errorf("the state of a run without augmentation gives %v", err)
	}
	// Of one block that is wider than its input, the parameters do not tell.
	draws := func(shared bool) *Network {
		return newTinyWith(t, func(c *CKResNetConfig) { c.Partial, c.SharedElements, c.Factors = false, shared, []int{2} })
	}
	apart := filepath.Join(t.TempDir(), "apart.safetensors")
	if err := newTrainerOf(t, draws(false), quick(1)).SaveState(apart); err != nil {
		t.Fatal(err)
	}
	if err := newTrainerOf(t, draws(true), quick(1)).LoadState(apart); err == nil || !strings.Contains(err.Error(), "network.shared_elements is not given, here it is true") {
		t.Errorf("the state of a run whose layers draw their own elements gives %v", err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"Step":1`, `"Step":77`, "step 77"},
		{`"optimizer_step":1`, `"optimizer_step":2`, "optimiser"},
		{`"best_epoch":0`, `"best_epoch":1`, "best"},
		{`"Loss":`, `"Loss":1e300,"Seconds":`, "1e+300"},
		{`},"optimizer_step"`, `,"Seconds":0},"optimizer_step"`, " 0 seconds"},
		{`"Correct":`, `"Correct":-1,"Loss":`, "-1 images"},
		{`"position"`, `"position":{},"x"`, `unknown key "x"`},
		{`{`, `[`, "damaged"},
	} {
		text := strings.Replace(good.Metadata[stateKey], c.old, c.new, 1)
		if err := safetensors.WriteFile(path, good.Tensors, map[string]string{stateKey: text}); err != nil {
			t.Fatal(err)
		}
		if err := newTrainer(t, quick(1)).LoadState(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, should tell about %q", c.new, err, c.want)
		}
	}
	for _, name := range []string{weightPrefix + "w", momentPrefix + "w", "w", bestPrefix + "out_layer.bias"} {
		more := append(slices.Clone(good.Tensors), safetensors.Tensor{Name: name, Shape: []int{1}, F32: []float32{0}})
		if err := safetensors.WriteFile(path, more, good.Metadata); err != nil {
			t.Fatal(err)
		}
		err := newTrainer(t, quick(1)).LoadState(path)
		if err == nil || !strings.Contains(err.Error(), `tensor "`+name+`" does not belong`) {
			t.Errorf("with a tensor %q: %v", name, err)
		}
	}
	if err := newTiny(t).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := newTrainer(t, quick(1)).LoadState(path); err == nil || !strings.Contains(err.Error(), "no training state") {
		t.Errorf("a checkpoint in place of a state gives %v", err)
	}
}

// TestLoadStateOfOtherData: sets of one name and size may hold other images.
func TestLoadStateOfOtherData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := newTrainer(t, quick(1)).SaveState(path); err != nil {
		t.Fatal(err)
	}
	load := func(set *data.Dataset) error {
		tr, err := NewTrainer(newTiny(t), set, quick(1))
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		return tr.LoadState(path)
	}
	changed := map[string]*data.Dataset{}
	for _, part := range []string{"training", "validation", "test"} {
		changed[part] = toySet()
	}
	changed["training"].Train.Images[7]++
	changed["validation"].Validation.Labels[9] ^= 1
	changed["test"].Test.Images[1583]++
	for part, set := range changed {
		if err := load(set); err == nil || !strings.Contains(err.Error(), "of another run: its "+part+" images") {
			t.Errorf("other %s images: %v", part, err)
		}
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from, to := strings.Index(f.Metadata[stateKey], `"data":[`), strings.Index(f.Metadata[stateKey], `"position"`)
	earlier := f.Metadata[stateKey][:from] + f.Metadata[stateKey][to:]
	if err := safetensors.WriteFile(path, f.Tensors, map[string]string{stateKey: earlier}); err != nil {
		t.Fatal(err)
	}
	if err := load(changed["test"]); err != nil {
		t.Errorf("a state that does not say of which data it is: %v", err)
	}
}

// TestLoadStateOfOtherPixels: the same bytes are other images with another normalisation.
func TestLoadStateOfOtherPixels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := newTrainer(t, quick(1)).SaveState(path); err != nil {
		t.Fatal(err)
	}
	load := func(mean, std float32) error {
		set := toySet()
		set.Mean, set.Std = []float32{mean}, []float32{std}
		tr, err := NewTrainer(newTiny(t), set, quick(1))
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		return tr.LoadState(path)
	}
	if err := load(0.1, 0.3); err != nil {
		t.Error(err)
	}
	if err := load(0.2, 0.3); err == nil || !strings.Contains(err.Error(), "normalisation.mean is [0.1], here it is [0.2]") {
		t.Errorf("another mean gives %v", err)
	}
	if err := load(0.1, 0.4); err == nil || !strings.Contains(err.Error(), "normalisation.std is [0.3], here it is [0.4]") {
		t.Errorf("another standard deviation gives %v", err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	earlier := strings.Replace(f.Metadata[stateKey], `,"normalisation":{"mean":[0.1],"std":[0.3]}`, "", 1)
	if earlier == f.Metadata[stateKey] {
		t.Fatalf("%s has no normalisation", earlier)
	}
	if err := safetensors.WriteFile(path, f.Tensors, map[string]string{stateKey: earlier}); err != nil {
		t.Fatal(err)
	}
	if err := load(0.2, 0.4); err != nil {
		t.Errorf("a state that does not say how its pixels are normalised: %v", err)
	}
}

// huge are weights that are finite, of answers that are not.
func huge(values []float32) {
	for i := range values {
		values[i] = float32(math.Copysign(3e38, float64(i%2)-0.5))
	}
}

func TestEvaluateRefusesNoNumbers(t *testing.T) {
	net, set := newTiny(t), toySet()
	huge(net.params.Lookup("out_layer.weight").Host)
	bindFor(t, net, 4)
	_, evaluated := net.Evaluate(t.Context(), set, &set.Test, 1, 1)
	_, _, confused := net.Confusion(t.Context(), set, &set.Test, 1, 1)
	for _, err := range []error{evaluated, confused} {
		var e *LossError
		if !errors.As(err, &e) || finite(e.Loss) {
			t.Errorf("the error is %v", err)
		}
	}
}

// The weights of the best epoch may answer to the test images alone with what is no number.
func TestTestLossThatDiverges(t *testing.T) {
	cfg := quick(1)
	cfg.Epochs, cfg.Schedule = 1, ConstantSchedule
	var tr *Trainer
	cfg.OnEpoch = func(EpochMetrics) {
		for i, p := range tr.net.params.All() {
			if p.Name == "out_layer.weight" {
				huge(tr.best.values[i])
			}
		}
	}
	tr = newTrainer(t, cfg)
	_, err := tr.Run(context.Background())
	var e *TrainError
	if !errors.As(err, &e) || e.Epoch != 1 || !strings.Contains(err.Error(), "the test loss is") {
		t.Errorf("the run ends with %v", err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for field, change := range map[string]func(c *CKResNetConfig){
		"Elements":        func(c *CKResNetConfig) { c.Elements = -1 },
		"Side":            func(c *CKResNetConfig) { c.Side = 8 },
		"Classes":         func(c *CKResNetConfig) { c.Classes = 1 },
		"KernelSide":      func(c *CKResNetConfig) { c.KernelSide = 4 },
		"KernelLayers":    func(c *CKResNetConfig) { c.KernelLayers = 1 },
		"Omega0":          func(c *CKResNetConfig) { c.Omega0 = math.NaN() },
		"KernelNet":       func(c *CKResNetConfig) { c.KernelNet = "RBF" },
		"PerElement":      func(c *CKResNetConfig) { c.Group, c.Elements, c.PerElement = lie.Sim2, 4, true },
		"Algorithm":       func(c *CKResNetConfig) { c.Algorithm = "winograd" },
		"Partial":         func(c *CKResNetConfig) { c.Group, c.Elements = lie.T2, 1 },
		"Factors":         func(c *CKResNetConfig) { c.Factors = []int{0} },
		"Measure":         func(c *CKResNetConfig) { c.Measure = 3 },
		"Sampling":        func(c *CKResNetConfig) { c.Sampling = 2 },
		"InitTemperature": func(c *CKResNetConfig) { c.InitTemperature = math.NaN() },
		"EndTemperature":  func(c *CKResNetConfig) { c.EndTemperature = 0.6 },
		"Pools":           func(c *CKResNetConfig) { c.Pools = []int{3} },
		"Dropout":         func(c *CKResNetConfig) { c.Dropout = 1 },
		"Norm":            func(c *CKResNetConfig) { c.Norm = "batchnorm" },
		"Pooling":         func(c *CKResNetConfig) { c.Pooling = LearnedPooling }, // of a varying number of elements
		"Separable":       func(c *CKResNetConfig) { c.Separable, c.KernelNet, c.KernelSide, c.Pools = true, conv.MLP, 1, []int{} },
		"LastT2":          func(c *CKResNetConfig) { c.Group, c.Elements, c.Compat, c.LastT2 = lie.E2, 4, true, true },
	} {
		c := tiny()
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig."+field {
			t.Errorf("%s out of range gives %v", field, err)
		}
	}
	for field, change := range map[string]func(c *GCNNConfig){
		"KernelActivation": func(c *GCNNConfig) { c.KernelActivation = siren.Swish },
		"KernelNorm":       func(c *GCNNConfig) { c.KernelNet, c.KernelNorm = conv.MLP, "BatchNorm" },
		"PerElement":       func(c *GCNNConfig) { c.Group, c.Partial, c.Elements, c.PerElement = lie.T2, false, 1, true },
		"Elements":         func(c *GCNNConfig) { c.Group, c.Partial, c.Elements = lie.Cyclic(4), false, 3 },
		"Algorithm":        func(c *GCNNConfig) { c.Algorithm = "magic" },
		"Side":             func(c *GCNNConfig) { c.Side, c.Pools = 4, []int{0, 1, 2} },
		"Pools":            func(c *GCNNConfig) { c.Pools = []int{4} },
		"Dropout":          func(c *GCNNConfig) { c.Dropout = 1 },
		"Dropouts":         func(c *GCNNConfig) { c.Dropouts = []int{0} },
		"Pooling":          func(c *GCNNConfig) { c.Pooling = "median" },
	} {
		c := tinyGCNN()
		change(&c)
		var e *ConfigError
		if _, err := NewGCNN(c); !errors.As(err, &e) || e.Field != "GCNNConfig."+field {
			t.Errorf("%s out of range gives %v", field, err)
		}
	}
	for what, change := range map[string]func(c *CKResNetConfig){
		"Elements":   func(c *CKResNetConfig) { c.Partial, c.Elements = false, 7 },
		"PerElement": func(c *CKResNetConfig) { c.Partial, c.Sampling, c.PerElement = false, gumbel.Deterministic, true },
	} {
		c := tiny()
		c.Group, c.Elements, c.Partial = lie.E2, 8, true
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig."+what {
			t.Errorf("E(2), %s out of range gives %v", what, err)
		}
	}
	for field, change := range map[string]func(c *GCNNConfig){
		"Omega0":   func(c *GCNNConfig) { c.KernelNet, c.Omega0 = conv.MAGNet, 10 },
		"Dropouts": func(c *GCNNConfig) { c.Dropout, c.Dropouts = 0, []int{1} },
		"Pools":    func(c *GCNNConfig) { c.Pools = []int{1, 1} },
		"Compat":   func(c *GCNNConfig) { c.Group, c.Elements, c.Partial, c.Compat = lie.Cyclic(4), 4, true, true },
	} {
		c := tinyGCNN()
		change(&c)
		var e *ConfigError
		if _, err := NewGCNN(c); !errors.As(err, &e) || e.Field != "GCNNConfig."+field {
			t.Errorf("%s that makes no sense gives %v", field, err)
		}
	}
	single := tiny()
	single.KernelSide = 1
	var one *ConfigError
	if _, err := NewCKResNet(single); !errors.As(err, &one) || one.Field != "CKResNetConfig.KernelSide" {
		t.Errorf("a SIREN of one pixel: %v", err)
	}
	for what, change := range map[string]func(c *CKResNetConfig){
		"behind the mean":           func(c *CKResNetConfig) { c.LastT2 = true },
		"of one element":            func(c *CKResNetConfig) { c.Partial, c.Sampling, c.Elements = false, gumbel.Deterministic, 1 },
		"of one element that stays": func(c *CKResNetConfig) { c.Partial, c.SharedElements, c.Elements = false, true, 1 },
	} {
		c := tiny()
		c.Group, c.Separable = lie.RPlus, true
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig.Separable" {
			t.Errorf("separable SIRENs on scalings, %s: %v", what, err)
		}
		c.KernelNet = conv.MAGNet
		if _, err := NewCKResNet(c); err != nil {
			t.Errorf("separable MAGNets on scalings, %s: %v", what, err)
		}
		c.KernelNet, c.Group = conv.SIREN, lie.Sim2
		if _, err := NewCKResNet(c); err != nil {
			t.Errorf("separable SIRENs on scalings and rotations, %s: %v", what, err)
		}
	}
	for _, dropouts := range [][]int{{}, {1, 1}} {
		c := tinyGCNN()
		c.Dropout, c.Dropouts = 0.5, dropouts
		var e *ConfigError
		if _, err := NewGCNN(c); !errors.As(err, &e) || e.Field != "GCNNConfig.Dropouts" {
			t.Errorf("dropout behind blocks %v gives %v", dropouts, err)
		}
	}
	for what, change := range map[string]func(c *CKResNetConfig){
		"mirrored elements for every image": func(c *CKResNetConfig) { c.Group, c.Elements = lie.E2, 8 },
		"a grid for every image":            func(c *CKResNetConfig) { c.Sampling = gumbel.Deterministic },
	} {
		c := tiny()
		c.Compat, c.PerElement = true, true
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig.PerElement" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(c *CKResNetConfig){
		"subsets that are learned":  func(c *CKResNetConfig) { c.Partial = true },
		"a grid":                    func(c *CKResNetConfig) { c.Sampling = gumbel.Deterministic },
		"a finite group":            func(c *CKResNetConfig) { c.Group, c.Elements = lie.Dihedral(2), 4 },
		"translations":              func(c *CKResNetConfig) { c.Group, c.Elements = lie.T2, 1 },
		"copies of the whole image": func(c *CKResNetConfig) { c.Augerino = true },
	} {
		c := tiny()
		shares(&c)
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig.SharedElements" {
			t.Errorf("shared elements of %s: %v", what, err)
		}
	}
	for what, change := range map[string]func(c *CKResNetConfig){
		"taps, elements for every image": func(c *CKResNetConfig) { c.PerElement, c.Algorithm = true, conv.Taps },
		"frequencies of a single tap":    func(c *CKResNetConfig) { c.KernelNet, c.KernelSide, c.Algorithm = conv.MAGNet, 1, conv.Frequency },
	} {
		c := tiny()
		change(&c)
		var e *ConfigError
		if _, err := NewCKResNet(c); !errors.As(err, &e) || e.Field != "CKResNetConfig.Algorithm" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for field, change := range map[string]func(c *TrainConfig){
		"Epochs":    func(c *TrainConfig) { c.Epochs = -1 },
		"Batch":     func(c *TrainConfig) { c.Batch = 41 },
		"Warmup":    func(c *TrainConfig) { c.Warmup = 3 },
		"EvalDraws": func(c *TrainConfig) { c.EvalDraws = -2 },
		"Threads":   func(c *TrainConfig) { c.Threads = -2 },
		"Augment":   func(c *TrainConfig) { c.Augment.Crop = 12 },
	} {
		c := quick(1)
		change(&c)
		var e *ConfigError
		if _, err := NewTrainer(newTiny(t), toySet(), c); !errors.As(err, &e) || e.Field != "TrainConfig."+field {
			t.Errorf("%s out of range gives %v", field, err)
		}
	}
	set := toySet()
	set.Classes, set.ClassNames = 3, []string{"a", "b", "c"}
	if _, err := NewTrainer(newTiny(t), set, quick(1)); err == nil {
		t.Error("a data set of other classes than the network's is accepted")
	}
}

func TestDivergenceStopsTheRun(t *testing.T) {
	cfg := quick(1)
	cfg.Optimizer = nn.OptimizerConfig{Algorithm: nn.SGD, LR: 1e30}
	cfg.Schedule = ConstantSchedule
	tr := newTrainer(t, cfg)
	_, err := tr.Run(context.Background())
	var e *TrainError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "learning rate") {
		t.Errorf("a run that diverges ends with %v", err)
	}
}

// TestFewerImages: the places of a batch that no image takes hold nothing of the batch before.
func TestFewerImages(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		bindFor(t, net, 4)
		net.Midpoints()
		images := someImages(net, 4)
		few := images[:3*net.cfg.pixels()]
		net.Forward(few, false)
		want := slices.Clone(net.Logits().Live().Host())
		net.Forward(images, false)
		net.Forward(few, false)
		if got := net.Logits().Live().Host(); !slices.Equal(got, want) {
			t.Errorf("logits %v after a batch, %v before it", got, want)
		}
	})
}

func TestFrozen(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		set := toySet()
		n := set.Test.Len()
		images := make([]float32, n*set.Pixels())
		index := make([]int, n)
		for i := range index {
			index[i] = i
		}
		set.Batch(images, nil, &set.Test, index)
		frozen, err := net.Freeze(FreezeConfig{Batch: 4})
		if err != nil {
			t.Fatal(err)
		}
		want, err := frozen.Predict(images)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != 2*n {
			t.Fatalf("%d logits for %d images", len(want), n)
		}
		kept, err := net.Freeze(FreezeConfig{Batch: 4, KeepSpectra: true})
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		for range 2 {
			if got, err := kept.Predict(images); err != nil || !slices.Equal(got, want) {
				t.Errorf("spectra kept: other logits, %v", err)
			}
		}
		// One image alone has the logits that it has among others.
		alone, err := frozen.Predict(images[3*set.Pixels() : 4*set.Pixels()])
		if err != nil || !slices.Equal(alone, want[6:8]) {
			t.Errorf("one image alone: %v, %v; among others %v", alone, err, want[6:8])
		}
		// The same elements in the network itself give the same logits.
		dev, err := tensor.NewCPU(1)
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if err := net.Bind(dev, n, true); err != nil {
			t.Fatal(err)
		}
		net.Midpoints()
		net.Forward(images, false)
		host := make([]float32, 2*n)
		dev.Download(host, net.Logits().Live())
		for i := range n {
			for k := range 2 {
				if d := math.Abs(float64(host[k*n+i] - want[2*i+k])); d > 1e-4 {
					t.Errorf("logit %d of image %d is off by %v", k, i, d)
				}
			}
		}
		net.Release()

		done := make(chan error)
		for range 4 {
			go func() {
				got, err := frozen.Predict(images)
				if err == nil && !slices.Equal(got, want) {
					err = errors.New("concurrent predictions differ")
				}
				done <- err
			}()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if _, err := frozen.Predict(images[:100]); err == nil {
			t.Error("a fraction of an image is accepted")
		}
		frozen.Close()
		if _, err := frozen.Predict(images); err == nil {
			t.Error("a closed network predicts")
		}
	})
}

// The lifting convolution learns no subset, whatever the group convolutions learn, and
// Subsets does not tell of it.
func TestLiftingIsWhole(t *testing.T) {
	for _, d := range dropping {
		net := newTinyWith(t, d.change)
		if n := len(net.samplers[0].Parameters()); n != 0 {
			t.Errorf("%s: the lifting convolution learns %d parameters of its elements", d.name, n)
		}
		if size := net.samplers[0].Size(); size != 1 {
			t.Errorf("%s: the lifting convolution has %v of the group", d.name, size)
		}
		if got, want := len(net.Subsets()), len(net.samplers)-1; got != want {
			t.Errorf("%s: %d subsets of %d group convolutions", d.name, got, want)
		}
		for _, s := range net.samplers[1:] {
			if len(s.Parameters()) == 0 {
				t.Errorf("%s: %s learns no subset", d.name, s.layer)
			}
		}
	}
}

func TestSubsets(t *testing.T) {
	net := newTiny(t)
	want := []float64{1, 1, 1, 1, 1}
	if got := net.Subsets(); !slices.Equal(got, want) {
		t.Errorf("a new network has subsets %v", got)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 1, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	net.SetSubsets(0.5)
	for _, v := range net.Subsets() {
		if v != 0.5 {
			t.Errorf("subsets are %v after SetSubsets(0.5)", net.Subsets())
		}
	}
	for i, l := range net.Learned() {
		if len(l) != 1 || l[0].Theta != 0.5 || l[0].Keep != nil {
			t.Errorf("convolution %d has learned %+v", i, l)
		}
	}
	net.Draw(1, Evaluation, 0)
	for i, e := range net.plan.elements {
		if n := len(e.G); i > 0 && n != 2 {
			t.Errorf("half the group has %d of 3 elements in layer %d, want 2", n, i)
		}
	}
}

// A deterministic network that is not partial lives on the grid of its group, whatever
// the draw, and so gives one answer; its shortcuts need no convolution.
func TestDeterministic(t *testing.T) {
	cfg := tiny()
	cfg.Elements, cfg.Partial, cfg.Sampling, cfg.Factors = 4, false, gumbel.Deterministic, []int{1, 1}
	net, err := NewCKResNet(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p := net.params.Lookup("blocks.0.shortcut.0.kernelnet.kernel_net.0.weight"); p != nil {
		t.Errorf("there is %s", p.Name)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 2, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	for seed := range uint64(3) {
		net.Draw(seed, Evaluation, seed)
		for i, e := range net.plan.elements {
			if want := cfg.Group.Grid(4); !slices.Equal(e.G, want) {
				t.Errorf("list %d is %v, want %v", i, e.G, want)
			}
		}
	}

	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	twin, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if twin.cfg.Sampling != gumbel.Deterministic {
		t.Errorf("a deterministic network is loaded as a %v one", twin.cfg.Sampling)
	}
}
