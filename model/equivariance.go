package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// EquivarianceConfig describes a measurement of equivariance. Its zero value is of use.
type EquivarianceConfig struct {
	// Transformations of the images; nil: the rotations by multiples of 15 degrees.
	Transformations []Transformation
	// Fill is what lies outside the images, [channels], normalised as they are; nil: zeros.
	Fill []float32
	// Draws is how often elements are drawn, with Seed; 0: the elements in the middle of
	// their strata, as those of a frozen network.
	Draws int
	Seed  uint64

	Batch   int // images that one pass takes; 0: 16
	Threads int // CPU threads; 0: 1
}

// Parts is a difference between what a network makes of transformed images and what
// equivariance would have it make of them, and what it comes of. All are Euclidean norms
// over all images, relative to that of the latter or, where that is zero, to the largest of
// them. The parts are those of vectors whose
// sum is the difference: where causes cancel each other, Total is less than their sum.
type Parts struct {
	Total float64 `json:"total"`

	// Grid comes of images, maps and kernels being sampled in pixels. Of turns by right
	// angles and of flips it is rounding alone; of scalings it is also what kernels lose whose
	// disc is larger than their grid.
	Grid float64 `json:"grid"`
	// Boundary comes of the zeros that a convolution sees around a map, and of what a
	// transformation moves out of it.
	Boundary float64 `json:"boundary"`
	// Pooling comes of the windows of pooling layers, of what those drop at the edge of a map
	// with an odd number of pixels, and of LearnedPooling, whose weights do not move; of
	// scalings also of a mean over the plane.
	Pooling float64 `json:"pooling"`
	// Sampling comes of the elements, which stand for a subset of the group in sums and
	// maxima and stay where they are when the image moves.
	Sampling float64 `json:"sampling"`
	// Subset comes of the learned subsets that a transformation does not map to themselves
	// (Romero & Lohit 2022, the equivariance difference of a partial group convolution). Of a
	// layer it is what the subsets of the layers before it cause; its own shows in what
	// follows it. A last convolution on T(2) has the identity alone for its subset.
	Subset float64 `json:"subset"`
	// Truncation comes of a group that is not compact being sampled on an interval: a scaling
	// moves elements out of it at one end. It is 0 of other transformations.
	Truncation float64 `json:"truncation"`
	// Group is all of the difference where no element of the group does what the
	// transformation does.
	Group float64 `json:"group"`
}

// LayerParts is the difference in the output of a lifting or group convolution, the
// normalisation, pooling and ReLU behind it included.
type LayerParts struct {
	Layer string `json:"layer"` // the name of the convolution
	Parts
}

// Equivariance is how far a network is from being equivariant to one transformation.
type Equivariance struct {
	Transformation
	// Element says whether an element of the group does what the transformation does.
	Element bool
	// Layers are those whose output can be compared as a function on plane and group: none
	// without Element. Where shortcuts without a convolution tie the elements of layers
	// together, it can be for transformations that map the list of elements to itself.
	Layers []LayerParts
	// Pooled is the difference in the maxima, or means, over plane and group, which
	// full equivariance makes invariant, means to all but scalings, and Logits that in the logits, less their mean over the
	// classes. With Augerino, whose layers are on T(2), there are no Layers and Pooled is Logits:
	// its copies of the image have the parts that elements have elsewhere.
	Pooled, Logits Parts
	// Changed is the fraction of the images whose class is another one.
	Changed float64
}

// Equivariance measures how far the network is from being equivariant to
// transformations T of images [n, C, H, W], normalised as those it was trained on,
// layer by layer and end to end. Where the element h of the group acts as T does, a map F
// on the group is to become
//
//	(T F)(x, g) = F(T^-1 x, h^-1 g)
//
// Maps are functions on the group, of which a network computes the values at the elements u of
// its lists. They are compared there: the network's maps of T f at u with those of
// f at h^-1 u, for which the kernels are rendered there, so nothing is
// interpolated on the group. On the plane maps are, bilinearly.
//
// With W for the lists h^-1 U, and V for lists that sample the same subsets as U at the
// points of W as far as these lie in them (what W has beyond one end enters at the other), the
// difference is taken apart in steps from the one to the other: T f on U, where one
// operation after the other is done before T rather than after it (Grid, Boundary, Pooling); f on
// W; of a scaling, f on the lists whose elements are those of W as far as they lie in what is
// sampled of the group (Truncation); f on V (Subset); f on U (Sampling).
//
// The network is left as it is. The error names the field that is out of range, or is
// ctx's.
func (net *Network) Equivariance(ctx context.Context, images []float32, cfg EquivarianceConfig) ([]Equivariance, error) {
	if cfg.Transformations == nil {
		cfg.Transformations = Rotations(24)
	}
	orDefault(&cfg.Batch, 16)
	orDefault(&cfg.Threads, 1)
	if err := net.checkEquivariance(images, &cfg); err != nil {
		return nil, err
	}
	if net.plan != nil {
		net.params.Download()
	}
	twin, err := net.clone()
	if err != nil {
		return nil, err
	}
	twin.cfg.PerElement = false // all images of a pass have the same elements
	dev, err := tensor.NewCPU(cfg.Threads)
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	cfg.Batch = min(cfg.Batch, len(images)/net.cfg.pixels())
	if err := twin.Bind(dev, cfg.Batch, true); err != nil {
		return nil, err
	}
	defer twin.Release()
	return newMeter(twin, &cfg).measure(ctx, images)
}

// maxScaling bounds the factors that images are scaled by either way.
const maxScaling = 100

func (net *Network) checkEquivariance(images []float32, cfg *EquivarianceConfig) error {
	bad := func(field string, value any, allowed string) error {
		return &ConfigError{"EquivarianceConfig." + field, value, allowed}
	}
	c := net.cfg
	switch {
	case len(images) == 0 || len(images)%c.pixels() != 0:
		return fmt.Errorf("model: Equivariance: %d values are not a whole number of images of %d x %d x %d", len(images), c.Channels, c.Side, c.Side)
	case cfg.Fill != nil && len(cfg.Fill) != c.Channels:
		return bad("Fill", cfg.Fill, fmt.Sprintf("%d values, one for each channel, or none", c.Channels))
	case cfg.Draws < 0 || cfg.Draws > 1e4:
		return bad("Draws", cfg.Draws, "0 to 10000")
	case cfg.Batch < 1 || cfg.Batch > 1<<16:
		return bad("Batch", cfg.Batch, "1 to 65536, or 0 for 16")
	case cfg.Threads < 1:
		return bad("Threads", cfg.Threads, "1 or more, or 0 for 1")
	}
	for _, t := range cfg.Transformations {
		if math.IsNaN(t.Angle) || math.Abs(t.Angle) > 1e6 {
			return bad("Transformations", t.Angle, "angles of at most a million radians either way")
		}
		if t.Scale != 0 && !(t.Scale >= 1.0/maxScaling && t.Scale <= maxScaling) {
			return bad("Transformations", t.Scale, fmt.Sprintf("scales of 1/%d to %[1]d, or 0 for 1", maxScaling))
		}
	}
	return nil
}

// measure goes through the images, batch by batch.
func (m *meter) measure(ctx context.Context, images []float32) ([]Equivariance, error) {
	list := make([]Equivariance, len(m.cfg.Transformations))
	for i, t := range m.cfg.Transformations {
		sums := m.newSums()
		for draw := range max(m.cfg.Draws, 1) {
			step := uint64(draw)
			for batch := range slices.Chunk(images, m.cfg.Batch*m.net.cfg.pixels()) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if m.cfg.Draws == 0 {
					m.net.Midpoints()
				} else {
					m.net.Draw(m.cfg.Seed, Evaluation, step)
				}
				m.compare(t, batch, sums)
			}
		}
		list[i] = sums.equivariance(t, m)
	}
	return list, nil
}

// cause is an entry of Parts.
type cause int

const (
	total cause = iota
	byGrid
	byBoundary
	byPooling
	bySampling
	bySubset
	byTruncation
	reference // the norm that the others are relative to
	causes
)

// sums are the squares of the norms at every place where outputs are compared.
type sums struct {
	squares         [][causes]float64
	measured        []bool
	element         bool
	changed, images int
}

func (m *meter) newSums() *sums {
	return &sums{squares: make([][causes]float64, len(m.taps)), measured: make([]bool, len(m.taps))}
}

// parts returns what the squares at a place come to.
func (s *sums) parts(at int) Parts {
	q := s.squares[at]
	square := q[reference]
	if square == 0 { // outputs that are zero have no relative difference
		square = max(slices.Max(q[:]), math.SmallestNonzeroFloat64)
	}
	part := func(c cause) float64 { return math.Sqrt(q[c] / square) }
	p := Parts{
		Total: part(total), Grid: part(byGrid), Boundary: part(byBoundary), Pooling: part(byPooling),
		Sampling: part(bySampling), Subset: part(bySubset), Truncation: part(byTruncation),
	}
	if !s.element {
		p = Parts{Total: p.Total, Group: p.Total}
	}
	return p
}

func (s *sums) equivariance(t Transformation, m *meter) Equivariance {
	e := Equivariance{
		Transformation: t, Element: s.element, Changed: float64(s.changed) / float64(s.images),
		Pooled: s.parts(m.pooled()), Logits: s.parts(m.logits()),
	}
	for i := range m.list { // none with Augerino
		if !s.measured[i] {
			continue
		}
		name := lastConvolution
		if i < len(m.net.samplers) {
			name = m.net.samplers[i].layer
		}
		e.Layers = append(e.Layers, LayerParts{name, s.parts(i)})
	}
	return e
}

// lists are the elements of all layers.
type lists [][]lie.Element

// moved returns h^-1 u for all elements u of the lists. One that is an element of some
// list up to rounding becomes that element: kernel networks are fed relative angles
// that jump at the identity.
func (u lists) moved(g lie.Group, h lie.Element) lists {
	back := g.Inverse(h)
	w := make(lists, len(u))
	for i, list := range u {
		for _, e := range list {
			w[i] = append(w[i], u.snapped(g, g.Product(back, e)))
		}
	}
	return w
}

// snapped returns the element of the lists that e is up to rounding, or e.
func (u lists) snapped(g lie.Group, e lie.Element) lie.Element {
	for _, list := range u {
		for _, known := range list {
			if same(g, e, known) {
				return known
			}
		}
	}
	return e
}

// same reports whether two elements are one up to rounding.
func same(g lie.Group, a, b lie.Element) bool {
	for i, axis := range g.Axes() {
		d := math.Abs(a[i] - b[i])
		if axis.Kind == lie.Circle {
			d = min(d, 2*math.Pi-d)
		}
		if d > 1e-9 {
			return false
		}
	}
	return true
}

// equal reports whether the elements of all lists are the same, in the same order.
func (u lists) equal(v lists) bool {
	return slices.EqualFunc(u, v, slices.Equal[[]lie.Element])
}

// permutation returns where in list u each element of w stands, or nil where one of them
// does not.
func permutation(u, w []lie.Element) []int {
	at := make([]int, len(w))
	for j, e := range w {
		if at[j] = slices.Index(u, e); at[j] < 0 {
			return nil
		}
	}
	return at
}

// coordinates returns how many different coordinates the elements of a list have on an axis.
func coordinates(list []lie.Element, axis int) int {
	seen := map[float64]bool{}
	for _, e := range list {
		seen[e[axis]] = true
	}
	return len(seen)
}

// truncated returns the elements w that u is moved to, those on a line as far as they lie in
// what is sampled of it: what lies beyond one end enters at the other. A grid has the lower end
// and not the upper one.
func truncated(g lie.Group, samplers []sampler, u, w lists, grid bool) lists {
	v := make(lists, len(w))
	for i := range w {
		if i == len(samplers) { // not drawn
			v[i] = w[i]
			break
		}
		learned := samplers[i].Learned()
		for j, e := range w[i] {
			for k, axis := range g.Axes() {
				if axis.Kind == lie.Line && e[k] != u[i][j][k] {
					// Under Compat a subset may have grown beyond the extent.
					e[k] = wrapped(e[k], 2*axis.Extent*max(1, math.Abs(learned[k].Theta)), !grid)
				}
			}
			v[i] = append(v[i], u.snapped(g, e))
		}
	}
	return v
}

// within returns lists that sample the subsets of u at the elements w that u is moved to,
// as far as these lie in them: on an interval, what lies beyond one end enters
// at the other; of a grid some values of which are dropped, it is the moved comb to within
// half a step.
func within(g lie.Group, samplers []sampler, u, w lists) lists {
	v := make(lists, len(u))
	axes := g.Axes()
	for i := range u {
		if i == len(samplers) { // the identity alone, which does not move
			v[i] = u[i]
			break
		}
		learned := samplers[i].Learned()
		var dropped [lie.MaxAxes]bool
		for k := range axes {
			dropped[k] = coordinates(u[i], k) < len(learned[k].Keep)
		}
		for j, e := range w[i] {
			for k, axis := range axes {
				// Under Compat an interval may have turned round.
				theta, keep := math.Abs(learned[k].Theta), learned[k].Keep
				switch {
				case theta == 0: // a point, see SetSubsets
					e[k] = 0
				case axis.Kind == lie.Line && e[k] == u[i][j][k]: // as no rotation or flip moves it
				case axis.Kind == lie.Line && keep == nil && theta < 1:
					e[k] = wrapped(e[k], 2*theta*axis.Extent, true)
				case axis.Kind == lie.Line && dropped[k]:
					e[k] = u[i][j][k] + math.Remainder(e[k]-u[i][j][k], 2*axis.Extent/float64(len(keep)))
				case axis.Kind == lie.Line:
				case keep == nil && theta < 1:
					width := 2 * theta * axis.Extent
					at := math.Mod(e[k], 2*math.Pi)
					if at >= math.Pi {
						at -= 2 * math.Pi
					}
					e[k] = modulo(modulo(at+width/2, width)-width/2, 2*math.Pi)
				case dropped[k] && axis.Continuous():
					step := 2 * axis.Extent / float64(len(keep))
					e[k] = modulo(u[i][j][k]+math.Remainder(e[k]-u[i][j][k], step), 2*math.Pi)
				case dropped[k]:
					e[k] = u[i][j][k]
				}
			}
			v[i] = append(v[i], u.snapped(g, e))
		}
	}
	return v
}
