package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/npz"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// sequence yields stored uniform numbers in order.
type sequence struct {
	t      *testing.T
	values []float64
}

func (s *sequence) Float64() float64 {
	if len(s.values) == 0 {
		s.t.Fatal("the network draws more numbers than the reference did")
	}
	v := s.values[0]
	s.values = s.values[1:]
	return v
}

func uniforms(t *testing.T, a npz.Archive, prefix string) *sequence {
	s := &sequence{t: t}
	for i := 0; a.Has(fmt.Sprintf("%s_u%02d", prefix, i)); i++ {
		v, _ := golden.Float64(t, a, fmt.Sprintf("%s_u%02d", prefix, i))
		s.values = append(s.values, v...)
	}
	return s
}

// TestGoldenNetworks runs the reference's networks: one training pass with its
// activations, gradients and running statistics, one evaluation pass, one step of Adam;
// and all of it again with the gradient of the images, which training leaves out.
func TestGoldenNetworks(t *testing.T) {
	residual, err := NewCKResNet(CKResNetConfig{
		Group: lie.SE2, Elements: 4, Partial: true, Channels: 1, Side: 14, Classes: 10,
		Width: 4, Factors: []int{1, 2}, Pools: []int{0}, KernelSide: 5, KernelHidden: 8, Compat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	mirrored, err := NewCKResNet(CKResNetConfig{
		Group: lie.E2, Elements: 4, Partial: true, Channels: 3, Side: 14, Classes: 10,
		Width: 4, Factors: []int{1, 2}, Pools: []int{0}, KernelSide: 5, KernelHidden: 8, Compat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := NewGCNN(GCNNConfig{
		Group: lie.SE2, Elements: 4, Partial: true, Channels: 3, Side: 14, Classes: 10,
		Width: 4, Factors: []int{1, 2, 2}, Pools: []int{1}, KernelSide: 3, KernelHidden: 8, Compat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	perElement, err := NewCKResNet(CKResNetConfig{
		Group: lie.SE2, Elements: 4, Partial: true, PerElement: true, Channels: 1, Side: 14, Classes: 2,
		Width: 4, Factors: []int{1, 2}, Pools: []int{1}, KernelNet: conv.MAGNet, KernelSide: 5, KernelHidden: 8, Compat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	layered, err := NewCKResNet(CKResNetConfig{
		Group: lie.SE2, Elements: 4, Channels: 1, Side: 14, Classes: 10, Norm: LayerNorm,
		Width: 4, Factors: []int{1, 2}, Pools: []int{0}, KernelSide: 5, KernelHidden: 8, Compat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file  string
		net   *Network
		moved int // parameters whose step of Adam is known, see goldenNetwork
	}{
		{"ckresnet_se2_partial_siren_bn.npz", residual, 2812},
		{"ckresnet_e2_partial_siren_bn.npz", mirrored, 2941},
		{"gcnn_se2_partial_siren_bn.npz", chain, 1662},
		{"ckresnet_se2_partial_magnet_perbatch.npz", perElement, 3847},
		{"ckresnet_se2_full_siren_ln.npz", layered, 2824},
	} {
		t.Run(c.file, func(t *testing.T) {
			a := golden.Open(t, c.file)
			asmtest.EachLevel(t, func(t *testing.T) {
				for _, images := range []bool{false, true} {
					net, err := c.net.clone()
					if err != nil {
						t.Fatal(err)
					}
					if images {
						withImageGrad(t, net)
					}
					goldenNetwork(t, a, net, images, c.moved)
				}
			})
		})
	}
}

// withImageGrad gives a network a lifting convolution that computes the gradient of the
// images.
func withImageGrad(t *testing.T, net *Network) {
	t.Helper()
	cfg := net.convs[0].cfg
	cfg.InputGrad = true
	lift, err := conv.NewLifting(cfg, net.cfg.Seed)
	if err != nil {
		t.Fatal(err)
	}
	switch a := net.arch.(type) {
	case *ckResNet:
		a.lift = lift
	case *gcnn:
		a.lift = lift
	}
	others := net.params.All()[len(lift.Parameters()):] // the lifting convolution's come first
	net.params = nn.Parameters{}
	net.params.Add(lift.Parameters()...)
	net.params.Add(others...)
}

func goldenNetwork(t *testing.T, a npz.Archive, net *Network, imageGrad bool, moved int) {
	for _, p := range net.Parameters().All() {
		if p.Trained() {
			setBefore(t, a, p)
		}
	}
	dev, err := tensor.NewCPU(2)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	images, shape := golden.Float32(t, a, "x")
	if err := net.Bind(dev, shape[0], false); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	labels, _ := golden.Float32(t, a, "labels")
	optimizer, err := nn.NewOptimizer(nn.OptimizerConfig{LR: 1e-3}, net.Parameters())
	if err != nil {
		t.Fatal(err)
	}
	defer optimizer.Release()

	source := uniforms(t, a, "train")
	net.DrawFrom(source, Training)
	if len(source.values) > 0 {
		t.Errorf("the reference draws %d more numbers", len(source.values))
	}
	for i, s := range net.samplers {
		want, _ := golden.Float64(t, a, "act."+s.layer+".g")
		got := make([]float64, 0, 4)
		for _, g := range net.plan.elements[i].G {
			got = append(got, g[0])
			if net.cfg.Group == lie.E2 {
				got = append(got, 1-2*g[1])
			}
		}
		golden.Close(t, "elements of "+s.layer, got, want, 0, 1e-12)
	}
	compareActivations(t, net, a, images)
	compareLogits(t, net, a, "logits_train")
	net.Backward(labels)
	if imageGrad {
		want, _ := golden.Float32(t, a, "grad_x")
		golden.Close(t, "grad_x", batchFirst(net, net.plan.input.LiveGrad()), want, 1e-4, 1e-4*golden.MaxAbs(want))
	}
	loss, _ := golden.Float64(t, a, "loss")
	golden.Close(t, "loss", []float64{net.Loss().Loss()}, loss, 1e-5, 0)

	// Adam's first step is lr g/(|g| + eps), with lr = 1e-3 and eps = 1e-8: nearly lr and the
	// sign of g. It is known where the tolerance leaves no doubt about the sign, and g is so
	// far above eps that twice or half of it gives the same step.
	known := map[string][]bool{}
	for _, p := range net.Parameters().All() {
		if !p.Trained() {
			continue
		}
		want, _ := golden.Float32(t, a, "g."+p.Name)
		got := make([]float32, len(want))
		dev.Download(got, p.Grad)
		floor := 2e-7
		if net.cfg.Group == lie.E2 {
			floor = 4e-7 // the gradient of a bias in front of a normalisation is rounding alone
		}
		tolerance := 1e-4*golden.MaxAbs(want) + floor
		golden.Close(t, "gradient of "+p.Name, got, want, 1e-4, tolerance)
		known[p.Name] = make([]bool, len(want))
		for i, v := range want {
			known[p.Name][i] = math.Abs(float64(v)) > 2*tolerance+1e-5
		}
	}
	net.Parameters().Download()
	for _, p := range net.Parameters().All() {
		if p.Class == nn.Statistic && a.Has("buf_after."+p.Name) { // the last layer's count of draws is not stored
			want, _ := golden.Float32(t, a, "buf_after."+p.Name)
			golden.Close(t, p.Name, p.Host, want, 1e-5, 1e-6)
		}
	}

	net.DrawFrom(uniforms(t, a, "eval"), Evaluation)
	net.Forward(images, false)
	compareLogits(t, net, a, "logits_eval")

	optimizer.Step(nn.ConstantLR{})
	net.Parameters().Download()
	compared := 0
	for _, p := range net.Parameters().All() {
		if !p.Trained() || !a.Has("adam1."+p.Name) {
			continue
		}
		want, _ := golden.Float32(t, a, "adam1."+p.Name)
		for i := range want {
			if known[p.Name][i] {
				compared++
			} else {
				want[i] = p.Host[i]
			}
		}
		golden.Close(t, "after Adam: "+p.Name, p.Host, want, 1e-5, 2e-6)
	}
	if compared != moved {
		t.Errorf("%d of %d parameters could be compared after Adam's step, want %d", compared, net.Parameters().Count(), moved)
	}
}

// setBefore sets a parameter to what it was before the reference's training pass.
// The stored parameters are those after the one step of Adam, which is undone
// here: a first step moves by lr g/(|g| + eps) whatever the betas are. (The
// stored statistics are those after the pass as well; before it they had their
// initial values.)
func setBefore(t *testing.T, a npz.Archive, p *nn.Parameter) {
	t.Helper()
	v, shape := golden.Float64(t, a, "p."+p.Name)
	if fmt.Sprint(shape) != fmt.Sprint(p.Shape) {
		t.Fatalf("%s has shape %v, the reference %v", p.Name, p.Shape, shape)
	}
	g, _ := golden.Float64(t, a, "g."+p.Name)
	for i := range v {
		p.Host[i] = float32(v[i] + 1e-3*g[i]/(math.Abs(g[i])+1e-8))
	}
}

// compareActivations is Forward for training. It compares what every convolution puts out,
// as soon as it is there: layers behind it may overwrite it.
func compareActivations(t *testing.T, net *Network, a npz.Archive, images []float32) {
	t.Helper()
	left := map[string]bool{}
	for _, name := range a.Names() {
		if strings.HasPrefix(name, "act.") && strings.HasSuffix(name, ".y") {
			left[name] = true
		}
	}
	net.upload(images)
	for i, l := range net.plan.layers {
		l.Forward(true)
		switch l.(type) {
		default:
			continue
		case *conv.Lifting, *conv.Group, *conv.Pointwise:
		}
		layer, _, _ := strings.Cut(l.Parameters()[0].Name, ".kernelnet.")
		name := "act." + strings.TrimSuffix(layer, ".bias") + ".y"
		want, _ := golden.Float32(t, a, name)
		golden.Close(t, name, batchFirst(net, net.plan.steps[i].out.Live()), want, 1e-5, 1e-5*golden.MaxAbs(want))
		delete(left, name)
	}
	net.plan.trained = true
	if len(left) > 0 {
		t.Errorf("not compared: %v", slices.Sorted(maps.Keys(left)))
	}
}

// batchFirst returns the values of a map [C, n, H, W, B] as [B, C, n, H, W].
func batchFirst(net *Network, of tensor.Buffer) []float32 {
	host := make([]float32, of.Len())
	net.plan.dev.Download(host, of)
	batch := net.plan.batch
	out := make([]float32, 0, len(host))
	for b := range batch {
		for i := b; i < len(host); i += batch {
			out = append(out, host[i])
		}
	}
	return out
}

func compareLogits(t *testing.T, net *Network, a npz.Archive, name string) {
	t.Helper()
	want, _ := golden.Float32(t, a, name)
	golden.Close(t, name, batchFirst(net, net.Logits().Live()), want, 1e-4, 1e-4*golden.MaxAbs(want))
}

// TestParameterCount holds the networks of the paper's size against the counts
// that the reference has.
func TestParameterCount(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  CKResNetConfig
		want int
	}{
		{"RotMNIST SE(2)", CKResNetConfig{}, 467786},
		{"RotMNIST SE(2), partial", CKResNetConfig{Partial: true}, 467791},
		{"RotMNIST E(2)", CKResNetConfig{Group: lie.E2}, 467978},
		{"RotMNIST E(2), partial", CKResNetConfig{Group: lie.E2, Partial: true}, 467988},
		{"RotMNIST T(2)", CKResNetConfig{Group: lie.T2}, 450074},
		{"CIFAR-10 SE(2)", CKResNetConfig{Channels: 3, Side: 32, Pools: []int{1, 2}}, 469898},
		{"CIFAR-100 SE(2)", CKResNetConfig{Channels: 3, Side: 32, Pools: []int{1, 2}, Classes: 100}, 475748},
	} {
		net, err := NewCKResNet(c.cfg)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := net.Parameters().Count(); got != c.want {
			t.Errorf("%s has %d parameters, want %d", c.name, got, c.want)
		}
	}
}
