package model

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// logitsOf returns the logits of six images, with the draws of one step.
func logitsOf(t *testing.T, net *Network) []float32 {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 6, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	set := toySet()
	images, labels := make([]float32, 6*144), make([]float32, 6)
	set.Batch(images, labels, &set.Train, []int{0, 1, 2, 3, 4, 5})
	net.Draw(1, Evaluation, 0)
	net.Forward(images, false)
	logits := make([]float32, net.Logits().Size())
	dev.Download(logits, net.Logits().Live())
	return logits
}

// A mean over one element, the identity, and a convolution on the plane are the
// convolution on the group.
func TestLastT2OfOneElement(t *testing.T) {
	var want []float32
	for _, plane := range []bool{false, true} {
		net := newTinyWith(t, func(c *CKResNetConfig) {
			c.Elements, c.Partial, c.Sampling, c.LastT2 = 1, false, gumbel.Deterministic, plane
		})
		got := logitsOf(t, net)
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("logits %v, of the convolution on the group %v", got, want)
		}
	}
}

// With LastT2 the convolution comes after the mean: a network on a group of several
// components has the identity there, which is one element, whatever the group.
func TestLastT2OnE2(t *testing.T) {
	for _, g := range []lie.Group{lie.E2, lie.Dihedral(4)} {
		net := newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.Partial, c.LastT2 = g, 8, false, true })
		if n := len(net.Subsets()); n != 4 {
			t.Errorf("%s: subsets of %d layers, want 4", g.Name(), n)
		}
		in, got := lastMaps(t, net)
		want := onIdentity(t, net, in)
		if len(got) != len(want) {
			t.Fatalf("%s: the last map has %d values, on the identity %d", g.Name(), len(got), len(want))
		}
		for i, w := range want {
			if !(math.Abs(float64(got[i]-w)) <= 1e-5*(1+math.Abs(float64(w)))) {
				t.Fatalf("%s: value %d of the last map is %v, on the identity %v", g.Name(), i, got[i], w)
			}
		}
	}
}

// lastMaps returns what the last convolution of a network makes of two images, and what of.
func lastMaps(t *testing.T, net *Network) (in, out []float32) {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 2, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	last := layer(net.arch.(*ckResNet).last.whole)
	net.Draw(1, Evaluation, 0)
	net.upload(someImages(net, 2))
	for i, l := range net.plan.layers {
		step := net.plan.steps[i]
		if l == last {
			in = live(dev, step.in[0])
		}
		if l.Forward(false); l == last { // later layers write over it
			return in, live(dev, step.out)
		}
	}
	t.Fatal("the network has no last convolution")
	return nil, nil
}

// onIdentity is the last convolution of a network, of maps of two images, by one of the same
// weights that is planned by itself.
func onIdentity(t *testing.T, net *Network, in []float32) []float32 {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	cfg := net.convs[len(net.convs)-1].cfg
	l, err := conv.NewGroup(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	var params nn.Parameters
	params.Add(l.Parameters()...)
	for _, p := range params.All() {
		copy(p.Host, net.params.Lookup(p.Name).Host)
	}
	var arena tensor.Arena
	list := gumbel.NewLists(cfg.Group, cfg.Group.Components(), 1)
	list.SetLen(1)
	list.G[0] = lie.Element{}
	p := &nn.Plan{Device: dev, Arena: &arena, Batch: 2, Inference: true}
	side := net.cfg.lastSide()
	x := p.Map(cfg.In, list.Max(), side, side)
	y := l.Plan(p, x, list, list)
	if err := errors.Join(arena.Bind(dev), params.Bind(dev)); err != nil {
		t.Fatal(err)
	}
	defer params.Release()
	defer arena.Release()
	l.Bind(dev)
	x.Written(1)
	dev.Upload(x.Live(), in)
	l.Forward(false)
	return live(dev, y)
}

// live returns the values of a map.
func live(dev tensor.Device, m *nn.Map) []float32 {
	values := make([]float32, m.Size())
	dev.Download(values, m.Live())
	return values
}

// A learned pooling whose weights are all the same is the mean.
func TestLearnedPoolingOfEqualWeights(t *testing.T) {
	logits := func(p Pooling) []float32 {
		cfg := tinyGCNN()
		cfg.Partial, cfg.Pooling = false, p
		net, err := NewGCNN(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if w := net.Parameters().Lookup("final_pooling.weight"); w != nil {
			for i := range w.Host {
				w.Host[i] = 1 / float32(len(w.Host))
			}
			net.Parameters().Lookup("final_pooling.bias").Host[0] = 0
		}
		return logitsOf(t, net)
	}
	mean, learned, largest := logits(MeanPooling), logits(LearnedPooling), logits(MaxPooling)
	for i, want := range mean {
		if !(math.Abs(float64(learned[i]-want)) <= 1e-5*(1+math.Abs(float64(want)))) {
			t.Errorf("logit %d is %v, by the mean %v", i, learned[i], want)
		}
	}
	if slices.Equal(mean, largest) {
		t.Error("the maximum is the mean")
	}
}
