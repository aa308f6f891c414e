package model

import (
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// shares makes a network one on the whole group whose layers share their elements.
func shares(c *CKResNetConfig) { c.Partial, c.SharedElements = false, true }

// newTinyShared draws elements once for all layers, for every image.
func newTinyShared(t *testing.T) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) { shares(c); c.PerElement = true })
}

// counting counts the numbers that are taken from a source.
type counting struct {
	*stream.Stream
	n int
}

func (c *counting) Float64() float64 { c.n++; return c.Stream.Float64() }

// With SharedElements all layers have the list of the lifting convolution, or its lists, with
// the weights, and it is the one that this draws anyway; without, each layer draws its own.
func TestSharedElements(t *testing.T) {
	const batch = 3
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	residual := func(change func(c *CKResNetConfig)) func(shared bool) (*Network, error) {
		return func(shared bool) (*Network, error) {
			c := tiny()
			change(&c)
			c.Partial, c.SharedElements = false, shared
			return NewCKResNet(c)
		}
	}
	for name, newNet := range map[string]func(shared bool) (*Network, error){
		"SE(2)":        residual(func(*CKResNetConfig) {}),
		"per image":    residual(func(c *CKResNetConfig) { c.PerElement = true }),
		"comb":         residual(func(c *CKResNetConfig) { c.Jitter = gumbel.Comb }),
		"iid":          residual(func(c *CKResNetConfig) { c.Jitter = gumbel.IID }),
		"as published": residual(func(c *CKResNetConfig) { c.Compat = true }),
		"E(2), mean":   residual(func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = lie.E2, 4, gumbel.Mean }),
		"Sim(2), haar": residual(func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = lie.Sim2, 4, gumbel.Haar }),
		"separable":    residual(func(c *CKResNetConfig) { c.Separable, c.LastT2 = true, true }),
		"chain": func(shared bool) (*Network, error) {
			c := tinyGCNN()
			c.Partial, c.SharedElements = false, shared
			return NewGCNN(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var lifting [2][]lie.Element // of both networks
			for i, shared := range []bool{false, true} {
				net, err := newNet(shared)
				if err != nil {
					t.Fatal(err)
				}
				if err := net.Bind(dev, batch, false); err != nil {
					t.Fatal(err)
				}
				defer net.Release()
				draws := []func(){
					func() { net.Draw(1, Training, 5) },
					func() { net.DrawFrom(stream.New(2, "draw", 0), Evaluation) },
					func() { net.Draw(1, Evaluation, 5) },
				}
				var before []lie.Element
				for _, draw := range draws {
					draw()
					first := net.plan.elements[0]
					if slices.Equal(first.G, before) {
						t.Error("two draws are the same")
					}
					before = slices.Clone(first.G)
					for k, e := range net.plan.elements[1:] {
						if e == first || slices.Equal(e.G, first.G) != shared || !slices.Equal(e.Weight, first.Weight) {
							t.Errorf("layer %d has %v (%v), the lifting %v (%v)", k+1, e.G, e.Weight, first.G, first.Weight)
						}
					}
					if lists := first.Lists(); lists > 1 && slices.Equal(first.List(0), first.List(1)) {
						t.Error("two images have the same elements")
					}
				}
				lifting[i] = before
				source := &counting{Stream: stream.New(2, "draw", 0)}
				net.DrawFrom(source, Evaluation)
				alone := &counting{Stream: stream.New(2, "draw", 0)}
				net.samplers[0].Draw(net.plan.elements[0], alone, false)
				if want := map[bool]int{true: 1, false: len(net.samplers)}[shared] * alone.n; source.n != want {
					t.Errorf("shared %v: a draw takes %d numbers, want %d", shared, source.n, want)
				}
			}
			if !slices.Equal(lifting[0], lifting[1]) {
				t.Error("the lifting convolution draws other elements where they are shared")
			}
		})
	}
}

// A shortcut between maps on the same elements is the identity, as in the published
// program, unless widths differ.
func TestSharedElementsNeedNoShortcut(t *testing.T) {
	for shared, want := range map[bool][2]bool{false: {true, true}, true: {false, true}} {
		net := newTinyWith(t, func(c *CKResNetConfig) { c.Partial, c.SharedElements = false, shared })
		for i, name := range []string{"blocks.0.shortcut.0", "blocks.1.shortcut.0"} {
			if got := net.params.Lookup(name+".kernelnet.kernel_net.0.weight") != nil; got != want[i] {
				t.Errorf("shared %v: %s is there: %v", shared, name, got)
			}
		}
	}
}

// Kernels on a shared comb see angles that are multiples of 2 pi/n alone. On E(2) those between
// elements of which one mirrors are off by twice the jitter.
func TestAnglesOfASharedComb(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, g := range []lie.Group{lie.SE2, lie.E2} {
		for _, shared := range []bool{false, true} {
			const turns = 6
			net := newTinyWith(t, func(c *CKResNetConfig) {
				c.Group, c.Elements, c.Partial, c.SharedElements, c.Jitter = g, turns*g.Components(), false, shared, gumbel.Comb
			})
			if err := net.Bind(dev, 1, true); err != nil {
				t.Fatal(err)
			}
			defer net.Release()
			net.Draw(1, Evaluation, 0)
			jitter := net.plan.elements[0].G[0][0]
			off := func(angle float64) float64 { return math.Abs(math.Remainder(angle, 2*math.Pi/turns)) }
			if off(jitter) < 1e-3 || off(2*jitter) < 1e-3 {
				t.Fatalf("a jitter of %v shows nothing", jitter)
			}
			most := 0.0
			for _, u := range net.plan.elements[1].G {
				for _, v := range net.plan.elements[2].G {
					angle := g.Product(g.Inverse(u), v)[0]
					if u[1] != v[1] {
						angle -= 2 * jitter
					}
					most = max(most, off(angle))
				}
			}
			if shared != (most < 1e-12) {
				t.Errorf("%s, shared %v: angles are off a multiple by up to %v", g.Name(), shared, most)
			}
		}
	}
}

// Draws of a shared comb are closed under its steps: equivariance to those is exact, layer
// by layer. Other turns can be measured where no shortcut ties the layers, and at the end.
func TestEquivarianceOfSharedElements(t *testing.T) {
	net := fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { shares(c); c.Jitter = gumbel.Comb })
	cfg := EquivarianceConfig{Transformations: []Transformation{quarter, {Angle: 0.5}}, Draws: 2, Seed: 3}
	list := measured(t, net, cfg)
	if e := list[0]; len(e.Layers) != 6 || e.Changed != 0 {
		t.Errorf("%d layers, %v of the images change their class", len(e.Layers), e.Changed)
	}
	for name, p := range list[0].places() {
		if !(p.Total <= 5e-6) {
			t.Errorf("quarter turn, %s: %+v", name, p)
		}
	}
	if e := list[1]; len(e.Layers) != 1 || e.Layers[0].Layer != "lift_conv" || !(e.Pooled.Sampling > 1e-3) || e.Pooled.Subset != 0 {
		t.Errorf("%+v", e)
	}
	chain := tinyGCNN()
	chain.Partial, chain.SharedElements, chain.Elements, chain.Side, chain.Pools = false, true, 4, 13, []int{}
	net, err := NewGCNN(chain)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range measured(t, net, EquivarianceConfig{Transformations: []Transformation{quarter, {Angle: 0.5}}}) {
		if len(e.Layers) != 4 || (e.Pooled.Total <= 5e-6) != (i == 0) {
			t.Errorf("chain, %v: %d layers, %+v", e.Transformation, len(e.Layers), e.Pooled)
		}
	}
}
