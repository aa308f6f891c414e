package model

import (
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
)

// A transformation that scales is the element of the group that does the same with offsets, and one
// behind the other are the product of their elements.
func TestScalingIsTheGroups(t *testing.T) {
	c4 := lie.DirectProduct(lie.Cyclic(4), lie.Scalings(1.5))
	o2 := lie.DirectProduct(lie.O2, lie.RPlus)
	for _, c := range []struct {
		group      lie.Group
		turn, flip Transformation
	}{
		{lie.RPlus, Transformation{}, Transformation{}},
		{lie.Sim2, Transformation{Angle: 0.4}, Transformation{}},
		{c4, quarter, Transformation{}},
		{o2, Transformation{Angle: 0.4}, flipped},
	} {
		for _, scale := range []float64{0.5, 0.9, 1, 1.3, 8} {
			first, second := c.flip, c.turn
			second.Scale = scale
			whole := Transformation{Angle: c.turn.Angle, Flip: c.flip.Flip, Scale: scale}
			h1, ok1 := first.element(c.group)
			h2, ok2 := second.element(c.group)
			h, ok := whole.element(c.group)
			if !ok1 || !ok2 || !ok || !same(c.group, h, c.group.Product(h2, h1)) {
				t.Errorf("%s, %v: %v (%v), and %v behind %v", c.group.Name(), whole, h, ok, h2, h1)
			}
			q := [2]float64{2, -3}
			b, moved := whole.back(), lie.Act(c.group, h, q)
			for r := range 2 {
				if v := float64(b[r][0]*moved[0]) + float64(b[r][1]*moved[1]); !(math.Abs(v-q[r]) <= 1e-9) {
					t.Errorf("%s, %v: %v is moved to %v, and back to %v in coordinate %d", c.group.Name(), whole, q, moved, v, r)
				}
			}
			turned := Transformation{Angle: c.turn.Angle, Scale: 1}
			if h, ok := turned.element(c.group); !ok || scale == 1 && h != h2 {
				t.Errorf("%s: a scale of one is element %v", c.group.Name(), h)
			}
		}
	}
	for _, g := range []lie.Group{lie.T2, lie.SE2, lie.E2, lie.Mirror} {
		if h, ok := (Transformation{Scale: 1.2}).element(g); ok {
			t.Errorf("%s has an element %v that scales", g.Name(), h)
		}
	}
}

// The turns of factors of a product add up: C3 x C4 has all that C12 has, and C2 x D3 all of D6.
func TestElementsOfProducts(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		turns int
		flips bool
	}{
		{lie.DirectProduct(lie.Cyclic(3), lie.Cyclic(4)), 12, false},
		{lie.DirectProduct(lie.DirectProduct(lie.Cyclic(2), lie.Cyclic(3)), lie.Cyclic(5)), 30, false},
		{lie.DirectProduct(lie.Cyclic(2), lie.Dihedral(3)), 6, true},
		{lie.Periodic(lie.DirectProduct(lie.Dihedral(3), lie.Cyclic(2))), 6, true},
	} {
		for _, move := range Rotations(c.turns) {
			for _, move.Flip = range []bool{false, true} {
				h, ok := move.element(c.group)
				if ok != (c.flips || !move.Flip) {
					t.Errorf("%s: %+v is an element: %v", c.group.Name(), move, ok)
				}
				b, q := move.back(), [2]float64{2, -3}
				moved := lie.Act(c.group, h, q)
				for r := range 2 {
					if v := float64(b[r][0]*moved[0]) + float64(b[r][1]*moved[1]); ok && !(math.Abs(v-q[r]) <= 1e-9) {
						t.Errorf("%s, %+v: %v is moved to %v, and back to %v in coordinate %d", c.group.Name(), move, q, moved, v, r)
					}
				}
			}
		}
		if h, ok := (Transformation{Angle: math.Pi / float64(c.turns)}).element(c.group); ok {
			t.Errorf("%s has half a turn of its smallest: %v", c.group.Name(), h)
		}
	}
}

// blob is an image of that side, of a bump of that width at an offset from the centre.
func blob(side int, row, col, width float64) []float32 {
	image := make([]float32, side*side)
	for i := range image {
		y, x := float64(i/side)-float64(side-1)/2-row, float64(i%side)-float64(side-1)/2-col
		image[i] = float32(math.Exp(-(float64(y*y) + float64(x*x)) / (2 * width * width)))
	}
	return image
}

// Resampling moves what is at an offset to where the element takes it, makes it so much larger, and
// one after another comes to the same as both at once.
func TestResamplingScales(t *testing.T) {
	const side = 41
	image, got, want := blob(side, 4, -2, 4), make([]float32, side*side), make([]float32, side*side)
	for _, scale := range []float64{0.7, 1, 1.4} {
		newResampling(Transformation{Scale: scale}, side, side).apply(got, image, 1, nothing)
		if d := distance(got, blob(side, 4*scale, -2*scale, 4*scale)); d > 0.05 {
			t.Errorf("scaled by %v: off by %v", scale, d)
		}
		if scale == 1 && !slices.Equal(got, image) {
			t.Error("a scale of one changes the image")
		}
		const angle = 0.8 // counter-clockwise, with rows that grow downwards
		newResampling(Transformation{Angle: angle}, side, side).apply(want, got, 1, nothing)
		newResampling(Transformation{Angle: angle, Scale: scale}, side, side).apply(got, image, 1, nothing)
		if d := distance(got, want); d > 0.05 {
			t.Errorf("scaled by %v, then turned: off by %v", scale, d)
		}
	}
	newResampling(Transformation{Scale: 0.5}, side, side).apply(got, image, 1, func(int) float32 { return 7 })
	if got[0] != 7 || got[side*side/2] != image[side*side/2] {
		t.Errorf("a shrunken image has %v in its corner, and %v for %v in its middle", got[0], got[side*side/2], image[side*side/2])
	}
}

// scaled returns the measure of a network on bumps.
func scaled(t *testing.T, net *Network, moves ...Transformation) []Equivariance {
	t.Helper()
	images := append(blob(net.cfg.Side, 2, -1, 1.5), blob(net.cfg.Side, -1, -2, 2)...)
	list, err := net.Equivariance(t.Context(), images, EquivarianceConfig{Transformations: moves, Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// scalingNet is a network on a group with scalings, with kernels large enough to be scaled.
func scalingNet(t *testing.T, g lie.Group, change func(*CKResNetConfig)) *Network {
	t.Helper()
	return fullNet(t, g, gumbel.Random, func(c *CKResNetConfig) {
		c.Side, c.KernelSide, c.Elements = 25, 7, 4
		change(c)
	})
}

// The farther a scaling is from one, the farther the layers of a network on the whole of R+ are
// from being equivariant to it. One that moves the elements to each other, but for those at the ends,
// has no part of sampling, and none leaves a subset.
func TestEquivarianceOfScalings(t *testing.T) {
	net := scalingNet(t, lie.RPlus, func(*CKResNetConfig) {})
	for _, way := range []float64{1, -1} {
		var moves []Transformation
		for _, k := range []float64{0, 1, 2, 4} {
			moves = append(moves, Transformation{Scale: math.Exp2(way * k / 8)})
		}
		before := 0.0
		for i, e := range scaled(t, net, moves...) {
			mean := 0.0
			for _, l := range e.Layers {
				mean += l.Total / 6
			}
			if !e.Element || len(e.Layers) != 6 || i == 0 && mean != 0 || i > 0 && !(mean > before+0.05) || e.Pooled.Subset != 0 || e.Pooled.Group != 0 {
				t.Errorf("scaled by %v: element %v, a mean of %v over %d layers, after %v; %+v", e.Scale, e.Element, mean, len(e.Layers), before, e.Pooled)
			}
			for name, p := range e.places() {
				if i == 0 && p != (Parts{}) {
					t.Errorf("scaled by one, %s: %+v", name, p)
				}
				if first := name == "lift_conv"; i == 3 && (!(p.Sampling < 1e-5) || (p.Truncation > 1e-3) == first) { // by the step of four elements
					t.Errorf("scaled by %v, %s: %+v", e.Scale, name, p)
				}
			}
			before = mean
		}
	}
}

// Maps are where the element takes them, not where its inverse does: at an element whose disc the kernel's
// grid does not cut off, a kernel makes nearly the same of a scaled image if it is scaled with it.
func TestScalingIsNotItsInverse(t *testing.T) {
	for _, g := range []lie.Group{lie.Scalings(1.5), lie.DirectProduct(lie.SO2, lie.Scalings(1.5))} {
		net := scalingNet(t, g, func(c *CKResNetConfig) { c.KernelSide = 17 })
		move := Transformation{Scale: 1.25}
		m, w := bound(t, net, move)
		m.images = append(blob(25, 2, -1, 2), blob(25, -1, -2, 3)...)
		h, _ := move.element(g)
		difference := func(w lists) (relative float64) {
			moved, c := m.plane(w)
			of := m.taps[0].of
			line := len(g.Axes()) - 1
			var sum, size float64
			for k, v := range moved[0] {
				if u := m.u[0][k/(of.H*of.W*of.B)%of.N]; u[line] < -0.15 {
					d := float64(c.start[0][k] - v)
					sum, size = sum+float64(d*d), size+float64(v*v)
				}
			}
			return math.Sqrt(sum / size)
		}
		right, still, wrong := difference(w), difference(m.u), difference(m.u.moved(g, g.Inverse(h)))
		if !(right < 0.3*wrong && right < 0.6*still) {
			t.Errorf("%s: at the elements that are moved the maps differ by %v, at the others by %v, at those that are moved the wrong way by %v", g.Name(), right, still, wrong)
		}
	}
}

// What breaks equivariance to a scaling shows in its own part.
func TestScalingParts(t *testing.T) {
	smaller := func(t *testing.T) *Network { // a quarter of the scales, but in the lifting convolution
		net := scalingNet(t, lie.RPlus, func(c *CKResNetConfig) { c.Partial, c.Elements = true, 16 })
		for i := range net.samplers {
			net.samplers[i].SetSize(0.25)
		}
		return net
	}
	grown, shrunk := Transformation{Scale: math.Exp2(0.5)}, Transformation{Scale: math.Exp2(-0.5)}
	augerino := func(c *CKResNetConfig) { c.Augerino = true }
	for _, c := range []struct {
		name   string
		net    *Network
		move   Transformation
		causes []string
	}{
		{"the whole group", scalingNet(t, lie.RPlus, func(*CKResNetConfig) {}), grown, []string{"grid", "boundary", "truncation"}},
		{"its mean", scalingNet(t, lie.RPlus, func(c *CKResNetConfig) { c.Pooling = MeanPooling }), shrunk, []string{"grid", "boundary", "pooling", "truncation"}},
		{"a grid", fullNet(t, lie.RPlus, gumbel.Deterministic, func(c *CKResNetConfig) { c.KernelSide = 7 }), shrunk, []string{"grid", "boundary", "truncation"}},
		{"a part of it", smaller(t), shrunk, []string{"grid", "boundary", "subset", "truncation"}},
		{"with rotations", scalingNet(t, lie.Sim2, func(c *CKResNetConfig) { c.Elements = 16 }), shrunk, []string{"grid", "boundary", "truncation"}},
		{"turned too", scalingNet(t, lie.Sim2, func(c *CKResNetConfig) { c.Elements = 16 }), Transformation{Angle: math.Pi / 2, Scale: shrunk.Scale}, []string{"grid", "boundary", "truncation"}},
		{"turned only", scalingNet(t, lie.Sim2, func(c *CKResNetConfig) { c.Elements = 16 }), quarter, nil},
		{"copies", scalingNet(t, lie.RPlus, augerino), shrunk, []string{"grid", "truncation"}},
		{"without scales", fullNet(t, lie.SE2, gumbel.Random, func(*CKResNetConfig) {}), shrunk, []string{"group"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := scaled(t, c.net, c.move)[0].Pooled
			for name, v := range map[string]float64{
				"grid": p.Grid, "boundary": p.Boundary, "pooling": p.Pooling, "sampling": p.Sampling, "subset": p.Subset, "truncation": p.Truncation, "group": p.Group,
			} {
				if want := slices.Contains(c.causes, name); want && !(v > 1e-3) || !want && !(v < 1e-5) {
					t.Errorf("%s: %v", name, v)
				}
			}
		})
	}
}

// The parts of the plane add up, of what is moved out of it too.
func TestScalingAddsUp(t *testing.T) {
	for _, pooling := range Poolings() {
		for _, scale := range []float64{0.8, 1.3} {
			addsUp(t, scalingNet(t, lie.Sim2, func(c *CKResNetConfig) { c.Pooling, c.Side = pooling, 13 }), Transformation{Angle: 0.3, Scale: scale})
		}
	}
}

// Elements on a line stay within what is sampled, and then within the subset, as they enter at one end what
// they leave at the other; those that no transformation moves stay where they are.
func TestElementsOfScalings(t *testing.T) {
	net := scalingNet(t, lie.RPlus, func(c *CKResNetConfig) { c.Partial, c.Elements = true, 8 })
	for i := range net.samplers {
		net.samplers[i].SetSize(0.5)
	}
	g, e := net.cfg.Group, math.Log(2)
	for _, c := range []struct {
		at, shift, sampled, subset float64 // in units of the extent
		grid                       bool
	}{
		{0.25, 0, 0.25, 0.25, false},
		{0.25, 0.125, 0.375, 0.375, false},
		{0.25, 0.25, 0.5, 0.5, false},
		{0.25, 0.625, 0.875, -0.125, false},
		{0.25, 0.75, 1, 0, false},
		{0.25, 0.75, -1, 0, true},
		{0.25, 1, -0.75, 0.25, false},
		{0.25, 1, -0.75, 0.25, true},
		{-0.25, -0.5, -0.75, 0.25, false},
		{-0.25, -0.75, -1, 0, false},
		{-0.25, -0.75, -1, 0, true},
		{-0.25, -1, 0.75, -0.25, false},
		{1.5, 0, 1.5, 1.5, false},
	} {
		u, w := lists{{{c.at * e}}}, lists{{{(c.at + c.shift) * e}}}
		sampled := truncated(g, net.samplers[1:2], u, w, c.grid)
		subset := within(g, net.samplers[1:2], u, sampled)
		if a, b := sampled[0][0][0]/e, subset[0][0][0]/e; !(math.Abs(a-c.sampled) <= 1e-8) || !(math.Abs(b-c.subset) <= 1e-8) {
			t.Errorf("%v moved by %v: %v of what is sampled, %v of the subset; want %v and %v", c.at, c.shift, a, b, c.sampled, c.subset)
		}
	}
}

// A grid of which values are dropped stays on these values, but for what is left of the shift by whole steps; one
// that is complete moves on.
func TestElementsOfGrids(t *testing.T) {
	for _, g := range []lie.Group{lie.SE2, lie.RPlus} {
		axis := g.Axes()[0]
		step := axis.Extent / 2 // of four values
		net := newTinyWith(t, func(c *CKResNetConfig) {
			c.Group, c.Elements, c.Partial, c.Sampling = g, 4, true, gumbel.Deterministic
		})
		if n := len(net.samplers[1].Learned()[0].Keep); n != 4 {
			t.Fatalf("%s: %d values to keep", g.Name(), n)
		}
		for _, c := range []struct{ shift, within float64 }{ // in steps
			{0, 0}, {0.25, 0.25}, {0.75, -0.25}, {1, 0}, {1.25, 0.25}, {-0.75, 0.25}, {-1.25, -0.25},
		} {
			for kept := 3; kept <= 4; kept++ {
				want := c.within
				if kept == 4 {
					want = c.shift
				}
				u, w := lists{nil}, lists{nil}
				for i := range kept {
					if axis.Kind == lie.Line {
						i-- // of both signs
					}
					at := float64(i) * step
					u[0] = append(u[0], lie.Element{at})
					w[0] = append(w[0], g.Product(lie.Element{at}, lie.Element{c.shift * step}))
				}
				for i, e := range within(g, net.samplers[1:2], u, w)[0] {
					d := (e[0]-u[0][i][0])/step - want
					if axis.Kind == lie.Circle {
						d = math.Remainder(d, 4)
					}
					if !(math.Abs(d) <= 1e-8) {
						t.Errorf("%s, %d of 4 values, moved by %v steps: value %d is off by %v", g.Name(), kept, c.shift, i, d)
					}
				}
			}
		}
	}
}
