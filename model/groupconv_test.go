package model

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

func newTinySeparable(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { c.Separable, c.Seed = true, 4 }) // without a kink where TestGradient looks
}

// Either part is computed in one way alone.
func TestSeparableRefusesAlgorithms(t *testing.T) {
	c := tinyGCNN()
	c.Separable, c.Algorithm = true, conv.LowRank
	var e *ConfigError
	if _, err := NewGCNN(c); !errors.As(err, &e) || e.Field != "GCNNConfig.Algorithm" {
		t.Errorf("error %v", err)
	}
}

// Networks of separable kernels are as equivariant as others, exactly where the group is.
func TestSeparableIsExact(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		has   []Transformation
	}{{lie.SE2, []Transformation{quarter, half}}, {lie.E2, []Transformation{quarter, flipped, both}}, {lie.Mirror, []Transformation{flipped}}} {
		net := fullNet(t, c.group, gumbel.Random, func(c *CKResNetConfig) { c.Separable = true })
		for _, e := range measured(t, net, EquivarianceConfig{Transformations: c.has}) {
			if !e.Element || len(e.Layers) != 6 {
				t.Errorf("%s, %v: element %v, %d layers", c.group.Name(), e.Transformation, e.Element, len(e.Layers))
			}
			for name, p := range e.places() {
				if !(p.Total <= 5e-6) {
					t.Errorf("%s, %v, %s: %+v", c.group.Name(), e.Transformation, name, p)
				}
			}
		}
	}
}

// What Kernels shows of a separable convolution is what an impulse comes out as.
func TestSeparableKernels(t *testing.T) {
	net := newTinySeparable(t)
	const layer, side = 1, 5
	at := lie.Element{0.7}
	got, err := net.Kernels(layer, []lie.Element{at})
	if err != nil {
		t.Fatal(err)
	}
	cfg := net.convs[layer].cfg
	g, err := newGroupConv(cfg, true, net.cfg.Seed)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var arena tensor.Arena
	var params nn.Parameters
	np := &nn.Plan{Arena: &arena, Batch: 1, Inference: true}
	u := gumbel.Identity(cfg.Group, 1)
	u.G[0] = at
	x := np.Map(cfg.In, 1, side, side)
	z := g.group.Plan(np, x, gumbel.Identity(cfg.Group, 1), u)
	y := g.plane.Plan(np, z, u)
	params.Add(g.Parameters()...)
	if err := params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer params.Release()
	if err := arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer arena.Release()
	g.group.Bind(dev)
	g.plane.Bind(dev)
	if k := got.Side; k != 3 || cfg.Side != k {
		t.Fatalf("kernels of side %d", k)
	}
	for c := range cfg.In {
		impulse := make([]float32, cfg.In*side*side)
		impulse[c*side*side+side*side/2] = 1
		x.Written(1)
		dev.Upload(x.Value, impulse)
		g.group.Forward(false)
		g.plane.Forward(false)
		out := make([]float32, cfg.Out*side*side)
		dev.Download(out, y.Live())
		for o := range cfg.Out {
			for row := range 3 {
				for col := range 3 { // a correlation shows its kernel turned by half a turn
					w := got.Weights[(o*cfg.In+c)*9+row*3+col]
					if v := out[(o*side+3-row)*side+3-col]; !(math.Abs(float64(v-w)) <= 1e-6) {
						t.Fatalf("channel %d to %d at (%d, %d): %v, and the impulse gives %v", c, o, row, col, w, v)
					}
				}
			}
		}
	}
	if !slices.ContainsFunc(got.Weights, func(w float32) bool { return w != 0 }) {
		t.Error("all kernels are zero")
	}
}

// A separable network of some width has fewer parameters, in two parts for each group
// convolution.
func TestSeparableParameters(t *testing.T) {
	count := func(net *Network) (n int) {
		for _, p := range net.Parameters().All() {
			n += len(p.Host)
		}
		return n
	}
	wide := func(separable bool) *Network {
		return newTinyWith(t, func(c *CKResNetConfig) { c.Width, c.Separable = 8, separable })
	}
	whole, separable := wide(false), wide(true)
	if count(separable) >= count(whole) {
		t.Errorf("%d parameters, without %d", count(separable), count(whole))
	}
	var names []string
	for _, p := range separable.Parameters().All() {
		names = append(names, p.Name)
	}
	all := strings.Join(names, " ")
	for _, want := range []string{"blocks.0.gconv1.group.kernelnet.", "blocks.0.gconv1.plane.bias", "blocks.0.gconv1.plane.kernelnet.", "last_gconv.group.", "lift_conv.kernelnet."} {
		if !strings.Contains(all, want) {
			t.Errorf("no parameter %s", want)
		}
	}
	if strings.Contains(all, "gconv1.kernelnet") {
		t.Error("there are whole kernels too")
	}
}

// The algorithm that a network is told is that of all its group convolutions, planned for training
// or not.
func TestAlgorithmOfLayers(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, a := range []conv.Algorithm{conv.Taps, conv.Frequency, conv.LowRank} {
		chain := tinyGCNN()
		chain.Algorithm = a
		gcnn, err := NewGCNN(chain)
		if err != nil {
			t.Fatal(err)
		}
		for _, net := range []*Network{newTinyWith(t, func(c *CKResNetConfig) { c.Algorithm = a }), gcnn} {
			for _, inference := range []bool{false, true} {
				if err := net.Bind(dev, 2, inference); err != nil {
					t.Fatal(err)
				}
				found := 0
				for _, l := range net.plan.layers {
					g, ok := l.(*conv.Group)
					if !ok {
						continue
					}
					if found++; g.Algorithm() != a {
						t.Errorf("%s: a group convolution is computed by %s, want %s", net.Architecture(), g.Algorithm(), a)
					}
				}
				if want := len(net.convs) - 1; found != want { // without the lifting
					t.Errorf("%s: %d group convolutions, want %d", net.Architecture(), found, want)
				}
				net.Release()
			}
		}
	}
}
