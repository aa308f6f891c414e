package model

import (
	"fmt"
	"math"
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

// TestGoldenNetworks runs the reference's networks: one training pass with
// its gradients and running statistics, one evaluation pass, one step of Adam.
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
		file string
		net  *Network
	}{
		{"ckresnet_se2_partial_siren_bn.npz", residual},
		{"ckresnet_e2_partial_siren_bn.npz", mirrored},
		{"gcnn_se2_partial_siren_bn.npz", chain},
		{"ckresnet_se2_partial_magnet_perbatch.npz", perElement},
		{"ckresnet_se2_full_siren_ln.npz", layered},
	} {
		t.Run(c.file, func(t *testing.T) {
			a := golden.Open(t, c.file)
			asmtest.EachLevel(t, func(t *testing.T) {
				net, err := c.net.clone()
				if err != nil {
					t.Fatal(err)
				}
				goldenNetwork(t, a, net)
			})
		})
	}
}

func goldenNetwork(t *testing.T, a npz.Archive, net *Network) {
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
	net.Forward(images, true)
	compareLogits(t, net, a, "logits_train")
	net.Backward(labels)
	loss, _ := golden.Float64(t, a, "loss")
	golden.Close(t, "loss", []float64{net.Loss().Loss()}, loss, 1e-5, 0)

	small := map[string][]bool{} // gradients too small to have a direction
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
		golden.Close(t, "gradient of "+p.Name, got, want, 1e-4, 1e-4*golden.MaxAbs(want)+floor)
		small[p.Name] = make([]bool, len(want))
		for i, v := range want {
			small[p.Name][i] = math.Abs(float64(v)) < 1e-3*golden.MaxAbs(want)+2e-5
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
			if small[p.Name][i] { // Adam's first step follows the sign of rounding errors there
				want[i] = p.Host[i]
			} else {
				compared++
			}
		}
		golden.Close(t, "after Adam: "+p.Name, p.Host, want, 1e-5, 2e-6)
	}
	if compared < net.Parameters().Count()/2 {
		t.Errorf("only %d of %d parameters could be compared after Adam's step", compared, net.Parameters().Count())
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

func compareLogits(t *testing.T, net *Network, a npz.Archive, name string) {
	t.Helper()
	want, shape := golden.Float32(t, a, name)
	b, classes := shape[0], shape[1]
	host := make([]float32, b*classes)
	net.plan.dev.Download(host, net.Logits().Live())
	got := make([]float32, b*classes)
	for i := range b {
		for k := range classes {
			got[i*classes+k] = host[k*b+i]
		}
	}
	golden.Close(t, name, got, want, 1e-4, 1e-4*golden.MaxAbs(want))
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
