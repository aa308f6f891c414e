package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

var (
	quarter = Transformation{Angle: math.Pi / 2}
	half    = Transformation{Angle: math.Pi}
	back    = Transformation{Angle: -math.Pi / 2}
	flipped = Transformation{Flip: true}
	both    = Transformation{Angle: math.Pi / 2, Flip: true}
)

// noise returns n images of a network, of independent pixels.
func noise(net *Network, n int) []float32 {
	src := stream.New(9, "image", 0)
	images := make([]float32, n*net.cfg.pixels())
	for i := range images {
		images[i] = float32(src.Normal())
	}
	return images
}

// measured returns the measure of a network on three images, in batches of two.
func measured(t *testing.T, net *Network, cfg EquivarianceConfig) []Equivariance {
	t.Helper()
	cfg.Batch = 2
	list, err := net.Equivariance(t.Context(), noise(net, 3), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(cfg.Transformations) {
		t.Fatalf("%d measures of %d transformations", len(list), len(cfg.Transformations))
	}
	return list
}

// places returns the parts of all layers, and those at the end.
func (e *Equivariance) places() map[string]Parts {
	all := map[string]Parts{"pooled": e.Pooled, "logits": e.Logits}
	for _, l := range e.Layers {
		all[l.Layer] = l.Parts
	}
	return all
}

// fullNet is a network without learned subsets on a plane of odd side.
func fullNet(t *testing.T, g lie.Group, s gumbel.Method, change func(*CKResNetConfig)) *Network {
	t.Helper()
	return newTinyWith(t, func(c *CKResNetConfig) {
		c.Group, c.Elements, c.Partial, c.Side, c.Sampling = g, 0, false, 13, s
		if g.Dim() > 0 {
			c.Elements = 4 * g.Components()
		}
		c.Pools, c.KernelSide = []int{}, 5
		change(c)
	})
}

// Where a transformation maps pixels to pixels and the elements of the layers to each other,
// equivariance holds up to rounding, layer by layer and end to end. Where the group does
// not have it, all of the difference is the group's.
func TestEquivarianceIsExact(t *testing.T) {
	turns := []Transformation{quarter, half, back}
	all := append(slices.Clone(turns), flipped, both)
	for _, c := range []struct {
		group lie.Group
		has   []Transformation
		not   []Transformation
	}{
		{lie.SE2, turns, []Transformation{flipped, both}},
		{lie.Periodic(lie.SE2), turns, []Transformation{flipped}},
		{lie.E2, all, []Transformation{}},
		{lie.Cyclic(4), turns, []Transformation{flipped, {Angle: 0.5}}},
		{lie.Cyclic(8), turns, []Transformation{flipped}},
		{lie.Dihedral(4), all, []Transformation{{Angle: 0.5}}},
		{lie.Mirror, []Transformation{flipped}, []Transformation{quarter, half, both}},
		{lie.T2, []Transformation{{}}, []Transformation{quarter, flipped}},
	} {
		if testing.Short() { // slow under qemu and the race detector
			if c.group != lie.E2 && c.group != lie.Mirror {
				continue
			}
			c.has = slices.DeleteFunc(slices.Clone(c.has), func(m Transformation) bool { return m == half || m == back })
		}
		for _, s := range []gumbel.Method{gumbel.Random, gumbel.Deterministic} {
			t.Run(fmt.Sprintf("%s/%v", c.group.Name(), s), func(t *testing.T) {
				net := fullNet(t, c.group, s, func(*CKResNetConfig) {})
				for _, e := range measured(t, net, EquivarianceConfig{Transformations: c.has}) {
					if !e.Element || len(e.Layers) != 6 || e.Changed != 0 {
						t.Errorf("%v: element %v, %d layers, %v of the images change their class", e.Transformation, e.Element, len(e.Layers), e.Changed)
					}
					for name, p := range e.places() {
						for _, v := range []float64{p.Total, p.Grid, p.Boundary, p.Pooling, p.Sampling, p.Subset, p.Group} {
							if !(v <= 5e-6) {
								t.Errorf("%v, %s: %+v", e.Transformation, name, p)
								break
							}
						}
					}
				}
				for _, e := range measured(t, net, EquivarianceConfig{Transformations: c.not}) {
					if e.Element || len(e.Layers) != 0 || e.Pooled.Total < 0.01 || e.Pooled != (Parts{Total: e.Pooled.Total, Group: e.Pooled.Total}) {
						t.Errorf("%v is not in the group: element %v, %d layers, %+v", e.Transformation, e.Element, len(e.Layers), e.Pooled)
					}
				}
			})
		}
	}
}

// A network whose outputs are all zero has no relative difference, and one that is zero for the
// images as they are alone has one that is a number.
func TestEquivarianceOfZeros(t *testing.T) {
	net := fullNet(t, lie.SE2, gumbel.Deterministic, func(*CKResNetConfig) {})
	for _, p := range net.params.All() {
		if p.Class == nn.Weight {
			clear(p.Host)
		}
	}
	for _, e := range measured(t, net, EquivarianceConfig{Transformations: []Transformation{quarter, {Angle: 0.5}}}) {
		for name, p := range e.places() {
			if p != (Parts{}) {
				t.Errorf("%v, %s: %+v", e.Transformation, name, p)
			}
		}
	}
	s := sums{squares: [][causes]float64{{total: 4, byGrid: 9, byBoundary: 1}}, element: true}
	if got, want := s.parts(0), (Parts{Total: 2. / 3, Grid: 1, Boundary: 1. / 3}); !(math.Abs(got.Total-want.Total)+math.Abs(got.Grid-want.Grid)+math.Abs(got.Boundary-want.Boundary) <= 1e-12) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Networks on the whole group draw what is closed under its turns, unless they are told otherwise,
// and their checkpoints say so; those with subsets to learn draw strata.
func TestJitterOfTheWholeGroup(t *testing.T) {
	for _, c := range []struct {
		partial      bool
		jitter, want gumbel.Jitter
	}{
		{false, gumbel.AutoJitter, gumbel.Comb},
		{false, gumbel.Stratified, gumbel.Stratified},
		{true, gumbel.AutoJitter, gumbel.Stratified},
		{true, gumbel.Comb, gumbel.Comb},
	} {
		net := fullNet(t, lie.SE2, gumbel.Random, func(cfg *CKResNetConfig) { cfg.Partial, cfg.Jitter = c.partial, c.jitter })
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if net.cfg.Jitter != c.want || loaded.cfg.Jitter != c.want {
			t.Errorf("partial %v, jitter %d: %d, and %d in the checkpoint, want %d", c.partial, c.jitter, net.cfg.Jitter, loaded.cfg.Jitter, c.want)
		}
		if c.partial {
			continue
		}
		e := measured(t, net, EquivarianceConfig{Transformations: []Transformation{quarter}, Draws: 2})[0]
		if exact := e.Pooled.Total <= 5e-6; exact != (c.want == gumbel.Comb) {
			t.Errorf("jitter %d: a quarter turn changes the features by %v", c.jitter, e.Pooled.Total)
		}
	}
}

// Angles of a grid that add up to a whole turn but for rounding are the identity to kernels, so
// that the number of elements does not matter.
func TestEquivarianceOfManyElements(t *testing.T) {
	if testing.Short() {
		t.Skip("48 elements take a while without assembly, under qemu and the race detector")
	}
	net := fullNet(t, lie.E2, gumbel.Deterministic, func(c *CKResNetConfig) { c.Elements = 48 })
	for _, e := range measured(t, net, EquivarianceConfig{Transformations: []Transformation{quarter, flipped, both}}) {
		for name, p := range e.places() {
			if !(p.Total <= 5e-6) {
				t.Errorf("%v, %s: %+v", e.Transformation, name, p)
			}
		}
	}
}

// What breaks equivariance shows in its own part, and in no other.
func TestEquivarianceParts(t *testing.T) {
	pools := func(side int) func(*CKResNetConfig) {
		return func(c *CKResNetConfig) { c.Side, c.KernelSide, c.Pools = side, 3, []int{0, 1} }
	}
	for _, c := range []struct {
		name   string
		net    *Network
		move   Transformation
		causes []string
	}{
		{"even pools", fullNet(t, lie.SE2, gumbel.Random, pools(16)), quarter, nil},
		{"odd pool", fullNet(t, lie.SE2, gumbel.Random, pools(14)), quarter, []string{"pooling"}},
		{"odd pool, flipped", fullNet(t, lie.E2, gumbel.Random, pools(14)), flipped, []string{"pooling"}},
		{"odd pool, LayerNorm", fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { pools(14)(c); c.Norm = LayerNorm }), quarter, []string{"pooling"}},
		{"learned pooling", fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { c.Pooling = LearnedPooling }), quarter, []string{"pooling", "sampling"}},
		{"too few elements", fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { c.Elements = 3 }), quarter, []string{"sampling"}},
		{"a grid of too few", fullNet(t, lie.SE2, gumbel.Deterministic, func(c *CKResNetConfig) { c.Elements = 3 }), quarter, []string{"sampling"}},
		{"half the group", halved(t, 4), quarter, []string{"subset"}},
		{"half the group, between its elements", halved(t, 3), quarter, []string{"sampling", "subset"}},
		{"without the mirror", mirrorless(t, lie.Mirror), flipped, []string{"subset"}},
		{"without the mirrors of E(2)", mirrorless(t, lie.E2), flipped, []string{"subset"}},
		{"half of the scalings", fewerScalings(t), quarter, nil},
		{"plane at the end", fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { c.LastT2 = true }), quarter, []string{"subset"}},
		{"by any angle", fullNet(t, lie.SE2, gumbel.Random, func(*CKResNetConfig) {}), Transformation{Angle: 0.5}, []string{"grid", "boundary", "sampling"}},
		{"by one eighth", fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { c.Elements = 8 }), Transformation{Angle: math.Pi / 4}, []string{"grid", "boundary"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := measured(t, c.net, EquivarianceConfig{Transformations: []Transformation{c.move}})[0].Pooled
			for name, v := range map[string]float64{
				"grid": p.Grid, "boundary": p.Boundary, "pooling": p.Pooling, "sampling": p.Sampling, "subset": p.Subset, "group": p.Group,
			} {
				if want := slices.Contains(c.causes, name); want && !(v > 1e-3) || !want && !(v < 1e-5) {
					t.Errorf("%s: %v", name, v)
				}
			}
			if (p.Total > 1e-3) != (c.causes != nil) {
				t.Errorf("in all: %v", p.Total)
			}
		})
	}
}

// halved is a network whose subsets are half of the group, of so many elements; the
// eight or six elements of the whole stand 45 or 60 degrees apart.
func halved(t *testing.T, elements int) *Network {
	t.Helper()
	net := fullNet(t, lie.SE2, gumbel.Random, func(c *CKResNetConfig) { c.Partial, c.Elements = true, 2*elements })
	for i := range net.samplers {
		net.samplers[i].SetSize(0.5)
	}
	return net
}

// mirrorless is a network that has given up the reflections of a group.
func mirrorless(t *testing.T, g lie.Group) *Network {
	t.Helper()
	net := fullNet(t, g, gumbel.Random, func(c *CKResNetConfig) { c.Partial = true })
	for i, s := range net.samplers {
		for _, p := range s.Parameters() {
			if i > 0 && p.Class == nn.Keep {
				p.Host[0] = -1 // of the flip
			}
		}
	}
	return net
}

// fewerScalings is a network that has all rotations and a part of the scalings, which no
// rotation moves.
func fewerScalings(t *testing.T) *Network {
	t.Helper()
	net := fullNet(t, lie.DirectProduct(lie.SO2, lie.Scalings(1.25)), gumbel.Random, func(c *CKResNetConfig) { c.Partial, c.Elements = true, 16 })
	for _, s := range net.samplers[1:] {
		s.Parameters()[0].Host[1] = 0.5
	}
	return net
}

// The difference that a learned subset makes begins behind the first convolution that sums
// over one.
func TestEquivarianceOfSubsetLayers(t *testing.T) {
	e := measured(t, halved(t, 4), EquivarianceConfig{Transformations: []Transformation{quarter}})[0]
	for i, l := range e.Layers {
		if i <= 1 && l.Subset != 0 || i > 1 && l.Subset < 1e-3 || l.Sampling > 1e-5 || l.Grid+l.Boundary+l.Pooling > 1e-5 {
			t.Errorf("%s: %+v", l.Layer, l.Parts)
		}
	}
}

// The part of the subset is that of the interval: one that has turned round, as under Compat, is the
// same, and of half-width zero it is the point that shorter and shorter ones come to.
func TestEquivarianceOfHalfWidths(t *testing.T) {
	for _, c := range []struct {
		group lie.Group // whose kernels do not jump at the identity
		move  Transformation
	}{{lie.Periodic(lie.SE2), Transformation{Angle: 0.5}}, {lie.RPlus, Transformation{Scale: 1.2}}} {
		of := func(theta float32) Parts {
			net := newTinyWith(t, func(cfg *CKResNetConfig) { cfg.Group, cfg.Elements, cfg.Compat = c.group, 4, true })
			for _, s := range net.samplers[1:] {
				s.Parameters()[0].Host[0] = theta
			}
			return measured(t, net, EquivarianceConfig{Transformations: []Transformation{c.move}})[0].Layers[2].Parts
		}
		for _, theta := range [][2]float32{{0.5, -0.5}, {1.25, -1.25}, {1e-5, 0}} {
			p, q := of(theta[0]), of(theta[1])
			if math.Abs(p.Subset-q.Subset) > 1e-3 || math.Abs(p.Sampling-q.Sampling) > 1e-3 {
				t.Errorf("%s, half-width %v: %+v, and %v: %+v", c.group.Name(), theta[0], p, theta[1], q)
			}
		}
	}
}

// Random draws of the whole group are no grid: the maps differ for the elements alone,
// and less the more there are.
func TestEquivarianceOfDraws(t *testing.T) {
	if testing.Short() {
		t.Skip("32 elements take a while without assembly, under qemu and the race detector")
	}
	var before float64
	for _, n := range []int{4, 32} {
		net := fullNet(t, lie.Periodic(lie.SE2), gumbel.Random, func(c *CKResNetConfig) { c.Elements, c.KernelHidden = n, 2 })
		p := measured(t, net, EquivarianceConfig{Transformations: []Transformation{{Angle: 2 * math.Pi / float64(4*n)}}, Draws: 2})[0].Pooled
		if p.Subset != 0 || p.Sampling == 0 {
			t.Errorf("%d elements: %+v", n, p)
		}
		if before != 0 && p.Sampling > before/2 {
			t.Errorf("with %d elements a part of %v is the sampling's, with a few %v", n, p.Sampling, before)
		}
		before = p.Sampling
	}
}

// With Augerino the copies of the image are to the mean of the logits what elements are
// to the pooled map: closed under a turn they make it invariant, and half the circle
// does not.
func TestEquivarianceOfAugerino(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		theta float64
		move  Transformation
		cause string
	}{
		{lie.SE2, 1, quarter, ""},
		{lie.SE2, 1, Transformation{Angle: 0.3}, "sampling"},
		{lie.SE2, 0.5, quarter, "subset"},
		{lie.SE2, 1, flipped, "group"},
		{lie.E2, 1, flipped, ""},
		{lie.E2, 1, both, ""},
	} {
		net := fullNet(t, c.group, gumbel.Random, func(cfg *CKResNetConfig) { cfg.Augerino, cfg.Elements = true, 8*c.group.Components() })
		net.augerino.SetSize(c.theta)
		e := measured(t, net, EquivarianceConfig{Transformations: []Transformation{c.move}})[0]
		p := e.Logits
		if e.Pooled != p || len(e.Layers) != 0 || e.Element != (c.cause != "group") {
			t.Errorf("%s: %+v", c.group.Name(), e)
		}
		for name, v := range map[string]float64{"sampling": p.Sampling, "subset": p.Subset, "group": p.Group} {
			if want := name == c.cause; want && !(v > 1e-3) || !want && !(v < 1e-5) {
				t.Errorf("%s, half-width %v, %v: %s %v", c.group.Name(), c.theta, c.move, name, v)
			}
		}
		if p.Boundary != 0 || p.Pooling != 0 || (p.Total > 1e-3) != (c.cause != "") || (p.Grid > 1e-3) != !c.move.exact() {
			t.Errorf("%s, half-width %v, %v: %+v", c.group.Name(), c.theta, c.move, p)
		}
	}
}

// bound returns a meter of a network on a device, with elements, images and a
// transformation.
func bound(t *testing.T, net *Network, move Transformation) (m *meter, w lists) {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if err := net.Bind(dev, 2, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Release)
	net.Midpoints()
	m = newMeter(net, &EquivarianceConfig{Batch: 2})
	m.move, m.planes, m.u, m.images, m.live = move, map[[2]int]*resampling{}, m.drawn(), noise(net, 2), 2
	h, ok := move.element(net.cfg.Group)
	if !ok {
		t.Fatalf("%v is not in the group", move)
	}
	return m, m.u.moved(net.cfg.Group, h)
}

// The parts of the plane add up to the difference, place by place and value by value.
func TestEquivarianceAddsUp(t *testing.T) {
	check := func(t *testing.T, newNet func(*testing.T) *Network) {
		net := newNet(t)
		if net.augerino != nil { // it has no chain
			return
		}
		net.cfg.PerElement = false
		var move Transformation
		for _, move = range []Transformation{{Angle: 0.4}, flipped, half} {
			if _, ok := move.element(net.cfg.Group); ok {
				break
			}
		}
		addsUp(t, net, move)
	}
	eachArchitecture(t, check)
	eachDropping(t, check)
}

// addsUp asserts that the parts of the plane add up to the difference.
func addsUp(t *testing.T, net *Network, move Transformation) {
	t.Helper()
	m, w := bound(t, net, move)
	moved, c := m.plane(w)
	for i := range m.taps {
		if c.start[i] == nil || len(c.start[i]) != len(moved[i]) {
			t.Fatalf("place %d: %d and %d values", i, len(c.start[i]), len(moved[i]))
		}
		worst, peak := 0.0, 0.0
		for k := range moved[i] {
			sum := 0.0
			for _, part := range c.parts {
				if part[i] != nil {
					sum += float64(part[i][k])
				}
			}
			worst = max(worst, math.Abs(float64(c.start[i][k]-moved[i][k])-sum))
			peak = max(peak, math.Abs(float64(c.start[i][k])))
		}
		if !(worst <= 1e-5*peak) || peak == 0 {
			t.Errorf("place %d: the parts are off by %v of %v", i, worst, peak)
		}
	}
}

// The maps at elements that are on the list anyway are those that the network computes
// there: out'(theta) = turn(out(theta + pi/2)) reads them off the list, in another order.
func TestEquivarianceOffTheList(t *testing.T) {
	m, w := bound(t, fullNet(t, lie.SE2, gumbel.Random, func(*CKResNetConfig) {}), quarter)
	listed := m.onMoved(m.u, w)
	m.set(m.u)
	plain := m.run(m.images, nil)
	for i := range m.list {
		of := m.taps[i].of
		if at := permutation(m.u[i], w[i]); !slices.Equal(at, []int{1, 2, 3, 0}) {
			t.Errorf("element i is moved to element %v", at)
		}
		cut := -1
		for k, c := range m.cuts {
			if m.opens(c.after+1) && m.net.plan.steps[c.after+1].list == i {
				cut = k
			}
		}
		var rendered []float32
		m.set(m.u)
		m.run(m.images, func(j int) {
			if cut >= 0 && m.cuts[cut].after == j {
				rendered = m.layerAt(&m.cuts[cut], i, w[i])
				copy(m.list[i].G, m.u[i])
			}
		})
		if cut < 0 {
			rendered = m.layerAt(nil, i, w[i])
		}
		worst, peak := 0.0, 0.0
		for c := range of.C {
			for u := range of.N {
				for row := range of.H {
					for col := range of.W {
						for b := range of.B {
							index := func(u, row, col int) int { return (((c*of.N+u)*of.H+row)*of.W+col)*of.B + b }
							want := float64(plain[i][index((u+1)%4, col, of.H-1-row)])
							worst = max(worst, math.Abs(float64(listed[i][index(u, row, col)])-want))
							worst = max(worst, math.Abs(float64(rendered[index(u, col, of.H-1-row)])-want))
							peak = max(peak, math.Abs(want))
						}
					}
				}
			}
		}
		if !(worst <= 1e-5*peak) {
			t.Errorf("layer %d: off by %v of %v", i, worst, peak)
		}
	}
}

// Resampling is what data.Rotate does, on maps and with other values around them.
func TestResampling(t *testing.T) {
	const side = 9
	src := stream.New(1, "plane", 0)
	plane, want, got := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	for i := range plane {
		plane[i] = float32(src.Normal())
	}
	for _, angle := range []float64{0, 0.3, math.Pi / 2, math.Pi, -2, 4} {
		data.Rotate(want, plane, side, side, angle)
		r := newResampling(Transformation{Angle: angle}, side, side)
		r.apply(got, plane, 1, func(int) float32 { return 0 })
		if d := distance(got, want); !(d <= 1e-6) {
			t.Errorf("%v radians: off by %v", angle, d)
		}
		// Grey on grey stays grey.
		grey := slices.Repeat([]float32{2.5}, side*side)
		r.apply(got, grey, 1, func(int) float32 { return 2.5 })
		if d := distance(got, grey); !(d <= 1e-6) {
			t.Errorf("%v radians: grey is off by %v", angle, d)
		}
	}
	mirrored := make([]float32, side*side)
	for i, v := range plane {
		mirrored[i/side*side+side-1-i%side] = v
	}
	newResampling(flipped, side, side).apply(got, plane, 1, nothing)
	if !slices.Equal(got, mirrored) {
		t.Error("a flip is none")
	}
	data.Rotate(want, mirrored, side, side, 0.7)
	newResampling(Transformation{Angle: 0.7, Flip: true}, side, side).apply(got, plane, 1, nothing)
	if d := distance(got, want); !(d <= 1e-6) {
		t.Errorf("the flip before the rotation: off by %v", d)
	}
	// Two planes of two images each, innermost.
	two := make([]float32, 4*side*side)
	out := make([]float32, len(two))
	for i, v := range plane {
		for k := range 4 {
			two[(k/2*side*side+i)*2+k%2] = float32(k) * v
		}
	}
	newResampling(quarter, side, side).apply(out, two, 2, nothing)
	data.Rotate(want, plane, side, side, math.Pi/2)
	for i, v := range want {
		for k := range 4 {
			if out[(k/2*side*side+i)*2+k%2] != float32(k)*v {
				t.Fatalf("plane and image %d, pixel %d", k, i)
			}
		}
	}
}

func nothing(int) float32 { return 0 }

func distance(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

// Changed counts the images that the network puts into another class than their half turns, in the group or not,
// and not what a batch holds besides.
func TestEquivarianceCountsClasses(t *testing.T) {
	const n = 9
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, c := range []struct {
		group   lie.Group
		element bool
	}{{lie.T2, false}, {lie.SE2, true}} {
		net := fullNet(t, c.group, gumbel.Deterministic, func(k *CKResNetConfig) {
			if c.element {
				k.Elements = 3 // which half a turn does not map to each other
			}
		})
		images := noise(net, n)
		turned := slices.Clone(images)
		for image := range slices.Chunk(turned, net.cfg.pixels()) {
			slices.Reverse(image)
		}
		if err := net.Bind(dev, n, true); err != nil {
			t.Fatal(err)
		}
		defer net.Release()
		net.Midpoints()
		net.Forward(images, false)
		logits, bias := net.Logits().Value.Host(), net.params.Lookup("out_layer.bias").Value.Host()
		for k := range bias { // so that images are of either class
			for _, v := range logits[k*n:][:n] {
				bias[k] -= v / n
			}
		}
		list, err := net.Equivariance(t.Context(), images, EquivarianceConfig{Transformations: []Transformation{half}, Batch: 4})
		if err != nil {
			t.Fatal(err)
		}
		p, q := net.Probabilities(images, 1, 1), net.Probabilities(turned, 1, 1)
		changed := 0
		for i := 0; i < len(p); i += net.cfg.Classes {
			if (p[i] > 0.5) != (q[i] > 0.5) { // of two classes
				changed++
			}
		}
		if changed == 0 || changed == n {
			t.Fatalf("%s: %d of %d images change their class", c.group.Name(), changed, n)
		}
		if got := list[0]; got.Element != c.element || got.Changed != float64(changed)/n {
			t.Errorf("%s: element %v, %v of the images change their class; %d of %d do", c.group.Name(), got.Element, got.Changed, changed, n)
		}
	}
}

// Fill surrounds the images, and the measure is that of the images alone: not of what a
// batch holds besides.
func TestEquivarianceOfImages(t *testing.T) {
	net := fullNet(t, lie.SE2, gumbel.Random, func(*CKResNetConfig) {})
	images := noise(net, 3)
	measure := func(batch int, fill float32) Equivariance {
		t.Helper()
		list, err := net.Equivariance(t.Context(), images, EquivarianceConfig{Transformations: []Transformation{{Angle: 0.4}}, Batch: batch, Fill: []float32{fill}})
		if err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
	one, two, all, grey := measure(1, 0), measure(2, 0), measure(3, 0), measure(3, 1)
	for _, e := range []Equivariance{two, all} {
		if !(math.Abs(e.Pooled.Total-one.Pooled.Total) <= 1e-5) || !(math.Abs(e.Layers[2].Grid-one.Layers[2].Grid) <= 1e-5) {
			t.Errorf("%+v by twos or threes, %+v by ones", e.Pooled, one.Pooled)
		}
	}
	if math.Abs(grey.Pooled.Total-all.Pooled.Total) < 1e-3 {
		t.Error("what lies outside the images does not matter")
	}
}

// A measurement leaves the network as it is, and gives the same bits again.
func TestEquivarianceLeavesTheNetwork(t *testing.T) {
	net := newTinyPerElement(t)
	before := bits(net)
	cfg := EquivarianceConfig{Transformations: []Transformation{quarter, {Angle: 1}}, Draws: 1, Threads: 2}
	first := measured(t, net, cfg)
	cfg.Threads = 1
	if again := measured(t, net, cfg); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("with another number of threads the measure is another one")
	}
	if !slices.Equal(before, bits(net)) || net.plan != nil {
		t.Error("the network is not as it was")
	}
	m, _ := bound(t, newTiny(t), quarter)
	elements := m.drawn()
	if _, err := m.net.Equivariance(t.Context(), m.images, EquivarianceConfig{Transformations: []Transformation{quarter}}); err != nil {
		t.Fatal(err)
	}
	if !m.drawn().equal(elements) {
		t.Error("the elements of a bound network have changed")
	}
}

// What is measured of a bound network are the weights that its device has, as training leaves them.
func TestEquivarianceOfTheDevice(t *testing.T) {
	net := newTiny(t)
	cfg := EquivarianceConfig{Transformations: []Transformation{quarter}}
	bound(t, net, quarter)
	before := measured(t, net, cfg)
	for _, p := range net.params.All() {
		if p.Class == nn.Weight {
			p.Value.Host()[0] += 1
		}
	}
	if after := measured(t, net, cfg); fmt.Sprint(after) == fmt.Sprint(before) {
		t.Error("other weights on the device make no difference")
	}
}

func TestEquivarianceRefuses(t *testing.T) {
	net := newTiny(t)
	images := noise(net, 1)
	for want, cfg := range map[string]EquivarianceConfig{
		"EquivarianceConfig.Fill is [1 2]; allowed: 1 values": {Fill: []float32{1, 2}},
		"EquivarianceConfig.Draws is -1; allowed: 0 to 10000": {Draws: -1},
		"EquivarianceConfig.Batch is -2; allowed: 1 to 65536": {Batch: -2},
		"EquivarianceConfig.Threads is -1; allowed: 1":        {Threads: -1},
		"EquivarianceConfig.Transformations is NaN; allowed":  {Transformations: []Transformation{{Angle: math.NaN()}}},
		"EquivarianceConfig.Transformations is -1; allowed":   {Transformations: []Transformation{{Scale: -1}}},
		"Transformations is 101; allowed: scales of 1/100 to": {Transformations: []Transformation{{Scale: 101}}},
		"Transformations is 0.009; allowed: scales of 1/100":  {Transformations: []Transformation{{Scale: 0.009}}},
	} {
		_, err := net.Equivariance(t.Context(), images, cfg)
		var e *ConfigError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := net.Equivariance(t.Context(), images[1:], EquivarianceConfig{}); err == nil || !strings.Contains(err.Error(), "143 values are not a whole number of images of 1 x 12 x 12") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := net.Equivariance(ctx, images, EquivarianceConfig{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInterior wants exactly the pixels whose disc of the kernel's radius, and whose disc where they are moved to, lie
// within the plane that is read. Interpolation reaches a pixel further there.
func TestInterior(t *testing.T) {
	draw := func(inside []bool, w int) string {
		var b strings.Builder
		for i, in := range inside {
			if i > 0 && i%w == 0 {
				b.WriteByte('/')
			}
			b.WriteByte(".#"[map[bool]int{true: 1}[in]])
		}
		return b.String()
	}
	for _, c := range []struct {
		name                 string
		h, w, radius, margin int
		move                 Transformation
		want                 string
	}{
		{"a square, turned exactly", 5, 5, 1, 0, Transformation{Angle: math.Pi / 2}, "...../.###./.###./.###./....."},
		{"flipped", 4, 6, 1, 0, Transformation{Flip: true}, "....../.####./.####./......"},
		{"as far as the plane that is read", 3, 3, 1, 1, Transformation{Angle: math.Pi}, "###/###/###"},
		{"a radius too many", 3, 3, 2, 1, Transformation{Angle: math.Pi}, ".../.#./..."},
		{"moved out of a wide plane", 3, 7, 1, 0, Transformation{Angle: math.Pi / 2}, "......./...#.../......."},
		{"between pixels", 7, 7, 1, 0, Transformation{Angle: math.Pi / 4}, "......./......./...#.../..###../...#.../......./......."},
		{"enlarged", 7, 7, 1, 0, Transformation{Scale: 2}, "......./.#####./.#####./.#####./.#####./.#####./......."},
		{"shrunk", 9, 9, 1, 0, Transformation{Scale: 0.5}, "........./........./........./........./....#..../........./........./........./........."},
		{"pixels alone, between pixels", 3, 3, 0, 0, Transformation{Angle: math.Pi / 4}, ".../.#./..."},
	} {
		m := &meter{move: c.move}
		got := m.interior(&cut{radius: c.radius, margin: c.margin, out: &nn.Map{H: c.h, W: c.w}})
		if s := draw(got, c.w); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
