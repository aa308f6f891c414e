package model

import (
	"math"
	"slices"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// meter measures the equivariance of a bound network. It runs the network from the
// images, or from maps that it exchanges between two layers, and compares outputs at
// the same places.
type meter struct {
	net  *Network
	cfg  *EquivarianceConfig
	list []*gumbel.Elements // of all layers
	taps []tap              // the last map of each list of elements, the pooled map, the logits
	cuts []cut              // in order
	// tied says that shortcuts without a convolution add maps of different lists.
	tied bool

	u      lists // as drawn
	images []float32
	live   int // images of the batch
	planes map[[2]int]*resampling
	move   Transformation
}

// tap is a place where outputs are compared: the map as it is after that layer.
type tap struct {
	after int
	of    *nn.Map
}

// cut is a place between two layers where the maps that later layers read can be
// exchanged.
type cut struct {
	after int
	live  []*nn.Map
	// The operation that ends here: a pooling, or a convolution with kernels of that radius, on
	// planes that its output begins so far inside of.
	pooling        bool
	radius, margin int
	out            *nn.Map
}

// outputs are the values at the taps, nil where a run did not come by.
type outputs [][]float32

// state are the values of the maps of a cut, and their numbers of elements.
type state struct {
	values [][]float32
	n      []int
}

func newMeter(net *Network, cfg *EquivarianceConfig) *meter {
	m := &meter{net: net, cfg: cfg, list: net.plan.lists()}
	steps, layers := net.plan.steps, net.plan.layers
	if net.augerino != nil {
		m.list, m.taps = nil, make([]tap, 2) // of which only the logits are used, see copies
		return m
	}
	last := len(layers) - 1 // the linear classifier
	pool := last - 1
	made := map[*nn.Map]int{} // the list that a map lives on
	for j := range layers[:pool] {
		s := &steps[j]
		if !m.averages(j) && (m.averages(j+1) || j+1 == pool || steps[j+1].list > s.list) {
			m.taps = append(m.taps, tap{j, s.out})
		}
		if _, ok := convolution(layers[j]); !ok {
			m.tied = m.tied || slices.ContainsFunc(s.in, func(in *nn.Map) bool { return made[in] != s.list })
		}
		made[s.out] = s.list
		if m.ends(j, pool) {
			m.cuts = append(m.cuts, m.newCut(j))
		}
	}
	m.taps = append(m.taps, tap{pool, steps[pool].out}, tap{last, steps[last].out})
	return m
}

// pooled and logits are the taps at the end.
func (m *meter) pooled() int { return len(m.taps) - 2 }
func (m *meter) logits() int { return len(m.taps) - 1 }

// convolution returns the kernel's side of a layer that mixes pixels, or false. What
// takes maps from one list of elements to another is one too, of a single pixel.
func convolution(l layer) (side int, ok bool) {
	switch l := l.(type) {
	case *conv.Lifting:
		return l.Side(), true
	case *conv.Group:
		return l.Side(), true
	case *conv.Depthwise:
		return l.Side(), true
	case *conv.Pointwise:
		return 1, true
	}
	return 0, false
}

// opens reports whether layer j begins an operation: a lifting or group convolution, of a
// separable one the sum over the group.
func (m *meter) opens(j int) bool {
	switch m.net.plan.layers[j].(type) {
	case *conv.Lifting, *conv.Group:
		return true
	}
	return m.separable(j)
}

// separable reports whether layers j and j+1 are a separable convolution.
func (m *meter) separable(j int) bool {
	layers := m.net.plan.layers
	if _, ok := layers[j].(*conv.Pointwise); !ok || j+1 == len(layers) {
		return false
	}
	_, ok := layers[j+1].(*conv.Depthwise)
	return ok
}

// halves reports whether layer j pools.
func (m *meter) halves(j int) bool {
	s := &m.net.plan.steps[j]
	_, ok := convolution(m.net.plan.layers[j])
	return !ok && s.out.H < s.in[0].H
}

// averages reports whether layer j takes the mean over the group.
func (m *meter) averages(j int) bool {
	_, ok := m.net.plan.layers[j].(*nn.GroupMean)
	return ok
}

// ends reports whether an operation ends with layer j.
func (m *meter) ends(j, pool int) bool {
	return j+1 == pool || m.opens(j+1) || m.averages(j+1) || m.halves(j) || m.halves(j+1)
}

// newCut returns the cut behind layer j, whose operation began behind the last cut.
func (m *meter) newCut(j int) cut {
	first := 0
	if n := len(m.cuts); n > 0 {
		first = m.cuts[n-1].after + 1
	}
	steps := m.net.plan.steps
	c := cut{after: j, pooling: m.halves(j), out: steps[j].out}
	plane := first // the layer that mixes pixels
	if m.separable(first) {
		plane++
	}
	if side, ok := convolution(m.net.plan.layers[plane]); ok {
		c.radius = side / 2
		c.margin = (steps[plane].in[0].H - steps[plane].out.H) / 2
	}
	written := map[*nn.Map]bool{}
	for _, s := range steps[:j+1] {
		written[s.out] = true
	}
	for _, s := range steps[j+1:] {
		for _, in := range s.in {
			if written[in] && !slices.Contains(c.live, in) {
				c.live = append(c.live, in)
			}
		}
		delete(written, s.out)
	}
	return c
}

// set gives the layers their elements.
func (m *meter) set(to lists) {
	for i, list := range to {
		copy(m.list[i].G, list)
	}
}

// drawn returns the elements that the layers have.
func (m *meter) drawn() lists {
	u := make(lists, len(m.list))
	for i, e := range m.list {
		u[i] = slices.Clone(e.G)
	}
	return u
}

// save returns the values of maps.
func (m *meter) save(maps []*nn.Map) state {
	var s state
	for _, of := range maps {
		v := make([]float32, of.Size())
		m.net.plan.dev.Download(v, of.Live())
		s.values, s.n = append(s.values, v), append(s.n, of.N)
	}
	return s
}

// restore gives maps the values of a state.
func (m *meter) restore(maps []*nn.Map, s state) {
	for i, of := range maps {
		of.Written(s.n[i])
		m.net.plan.dev.Upload(of.Value, s.values[i])
	}
}

// planeOf returns the resampling of planes of that size.
func (m *meter) planeOf(h, w int) *resampling {
	r, ok := m.planes[[2]int{h, w}]
	if !ok {
		r = newResampling(m.move, h, w)
		m.planes[[2]int{h, w}] = r
	}
	return r
}

// transformed returns the values of a map on its plane transformed. Outside are the zeros that
// a convolution sees there too.
func (m *meter) transformed(of *nn.Map, values []float32) []float32 {
	out := make([]float32, len(values))
	m.planeOf(of.H, of.W).apply(out, values, of.B, func(int) float32 { return 0 })
	return out
}

func (m *meter) transformedState(maps []*nn.Map, s state) state {
	t := state{n: s.n}
	for i, of := range maps {
		t.values = append(t.values, m.transformed(of, s.values[i]))
	}
	return t
}

// transformedImages returns the images of the batch, transformed.
func (m *meter) transformedImages() []float32 {
	c := m.net.cfg
	out := make([]float32, len(m.images))
	m.planeOf(c.Side, c.Side).apply(out, m.images, 1, func(plane int) float32 {
		if m.cfg.Fill == nil {
			return 0
		}
		return m.cfg.Fill[plane%c.Channels]
	})
	return out
}

// record notes the output after layer j, if it is compared there.
func (m *meter) record(j int, out outputs) {
	for i, t := range m.taps {
		if t.after == j {
			out[i] = m.save([]*nn.Map{t.of}).values[0]
		}
	}
}

// run runs the network from images.
func (m *meter) run(images []float32, at func(after int)) outputs {
	m.net.upload(images)
	return m.runFrom(-1, at)
}

// runFrom runs what comes after a layer, and calls at behind every layer.
func (m *meter) runFrom(after int, at func(after int)) outputs {
	out := make(outputs, len(m.taps))
	m.record(after, out)
	for j := after + 1; j < len(m.net.plan.layers); j++ {
		m.net.plan.layers[j].Forward(false)
		m.record(j, out)
		if at != nil {
			at(j)
		}
	}
	return out
}

// cutAfter returns the number of the cut behind layer j, or -1.
func (m *meter) cutAfter(j int) int {
	return slices.IndexFunc(m.cuts, func(c cut) bool { return c.after == j })
}

// compare adds to sums what one batch of images comes to on the elements drawn last.
func (m *meter) compare(move Transformation, images []float32, to *sums) {
	m.move, m.planes, m.u = move, map[[2]int]*resampling{}, m.drawn()
	m.images, m.live = images, len(images)/m.net.cfg.pixels()
	to.images += m.live
	h, ok := move.element(m.net.cfg.Group)
	to.element = ok
	d := differences{m, to}
	if m.net.augerino != nil {
		m.copies(h, d)
		return
	}
	if !ok {
		of := m.run(m.transformedImages(), nil)
		d.addEnds(total, of, m.run(m.images, nil))
		return
	}
	w := m.u.moved(m.net.cfg.Group, h)
	moved, chain := m.plane(w)
	onT, onV, onU := moved, moved, moved
	t := truncated(m.net.cfg.Group, m.net.samplers, m.u, w, m.onGrid())
	if !t.equal(w) {
		onT = m.onMoved(t, w)
		onV = onT
	}
	if v := within(m.net.cfg.Group, m.net.samplers, m.u, t); !v.equal(t) {
		onV = m.onMoved(v, w)
	}
	if !m.u.equal(w) {
		onU = m.onMoved(m.u, w)
	}
	for i := range m.taps {
		if onU[i] == nil || onV[i] == nil || onT[i] == nil {
			continue
		}
		to.measured[i] = true
		for _, c := range []cause{byGrid, byBoundary, byPooling} {
			d.add(c, i, chain.parts[c][i], nil)
		}
		d.add(byTruncation, i, moved[i], onT[i])
		d.add(bySubset, i, onT[i], onV[i])
		d.add(bySampling, i, onV[i], onU[i])
		d.add(total, i, chain.start[i], onU[i])
		d.add(reference, i, onU[i], nil)
	}
	d.countChanged(chain.start, onU)
	m.set(m.u)
}

// onGrid reports whether elements are those of a grid.
func (m *meter) onGrid() bool { return m.net.cfg.Sampling == gumbel.Deterministic }

// copies is compare for a network with Augerino: of the transformed image, the copy of the
// element u is that of u h of the image.
func (m *meter) copies(h lie.Element, d differences) {
	g, list := m.net.cfg.Group, m.net.augerino.list
	u := lists{slices.Clone(list.G)}
	run := func(images []float32, at lists) outputs {
		copy(list.G, at[0])
		m.net.Forward(images, false)
		logits := m.save([]*nn.Map{m.net.plan.logits}).values[0]
		return outputs{logits, logits}
	}
	onU, moved := run(m.images, u), run(m.transformedImages(), u)
	if !d.to.element {
		d.addEnds(total, moved, onU)
		return
	}
	w := lists{make([]lie.Element, len(u[0]))}
	for i, e := range u[0] {
		w[0][i] = u.snapped(g, g.Product(e, h))
	}
	samplers := []sampler{m.net.augerino.sampler}
	t := truncated(g, samplers, u, w, m.onGrid())
	onW, onT, onV := run(m.images, w), run(m.images, t), run(m.images, within(g, samplers, u, t))
	for i := range m.taps {
		d.add(byGrid, i, moved[i], onW[i])
		d.add(byTruncation, i, onW[i], onT[i])
		d.add(bySubset, i, onT[i], onV[i])
		d.add(bySampling, i, onV[i], onU[i])
	}
	d.addEnds(total, moved, onU)
	copy(list.G, u[0])
}

// chain is what the steps on the plane come to: the outputs for the transformed images, and
// the sums of the steps of each cause.
type chain struct {
	start outputs
	parts [causes]outputs
}

func (c *chain) step(of cause, a, b outputs) {
	for i := range a {
		if a[i] == nil || b[i] == nil {
			continue
		}
		if c.parts[of][i] == nil {
			c.parts[of][i] = make([]float32, len(a[i]))
		}
		for k := range a[i] {
			c.parts[of][i][k] += a[i][k] - b[i][k]
		}
	}
}

// plane takes the difference apart between the outputs for the transformed images on the
// lists as drawn and the transformed outputs for the images on the moved lists w, which it
// returns too: between them stand the runs that begin with the transformed maps of a
// cut, and, of a convolution, those that begin with these where the boundary
// is out of reach.
func (m *meter) plane(w lists) (moved outputs, c *chain) {
	c = new(chain)
	for i := range c.parts {
		c.parts[i] = make(outputs, len(m.taps))
	}
	want := make([]state, len(m.cuts)) // the transformed maps
	var last state                     // of the last cut, not transformed
	m.set(w)
	moved = m.run(m.images, func(j int) {
		if k := m.cutAfter(j); k >= 0 {
			last = m.save(m.cuts[k].live)
			want[k] = m.transformedState(m.cuts[k].live, last)
		}
	})
	m.transformOutputs(moved)
	m.set(m.u)
	var got state // the maps at the next cut
	catch := func(next int) func(int) {
		return func(j int) {
			if next < len(m.cuts) && m.cuts[next].after == j {
				got = m.save(m.cuts[next].live)
			}
		}
	}
	before := m.run(m.transformedImages(), catch(0))
	c.start = before
	for k := range m.cuts {
		cut := &m.cuts[k]
		from := got
		m.restore(cut.live, want[k])
		after := m.runFrom(cut.after, catch(k+1))
		switch mixed, both := m.mixed(cut, from, want[k]); {
		case cut.pooling:
			c.step(byPooling, before, after)
		case both:
			m.restore(cut.live, mixed)
			between := m.runFrom(cut.after, nil)
			c.step(byGrid, before, between)
			c.step(byBoundary, between, after)
		case mixed.n == nil: // the boundary is nowhere within reach
			c.step(byGrid, before, after)
		default:
			c.step(byBoundary, before, after)
		}
		before = after
	}
	switch pooling := m.net.cfg.Pooling; {
	case pooling == LearnedPooling, pooling == MeanPooling && m.move.scale() != 1: // what it covers counts for more or less of the mean
		c.step(byPooling, before, moved)
	case m.move.scale() > 1:
		m.restoreShown(m.cuts[len(m.cuts)-1].live, last)
		between := m.runFrom(m.cuts[len(m.cuts)-1].after, nil)
		c.step(byGrid, before, between)
		c.step(byBoundary, between, moved)
	default:
		c.step(byGrid, before, moved)
	}
	return moved, c
}

// restoreShown gives maps the values of a state, but zeros where the transformation moves
// pixels out of the plane.
func (m *meter) restoreShown(maps []*nn.Map, s state) {
	shown := state{n: s.n}
	for i, of := range maps {
		v, size := slices.Clone(s.values[i]), of.H*of.W*of.B
		for k, in := range m.planeOf(of.H, of.W).read() {
			for p := 0; !in && p*size < len(v); p++ {
				clear(v[p*size+k*of.B:][:of.B])
			}
		}
		shown.values = append(shown.values, v)
	}
	m.restore(maps, shown)
}

// mixed returns the maps of a cut as got, and as wanted where the operation before it
// reads no pixel from outside the plane, and nothing that came from there. both says that there
// are places of both kinds; a state without maps that there are none where it does.
func (m *meter) mixed(c *cut, got, want state) (mixed state, both bool) {
	inside := m.interior(c)
	if !slices.Contains(inside, false) {
		return state{}, false
	}
	mixed = state{n: want.n}
	for i, of := range c.live {
		v := slices.Clone(got.values[i])
		if of.H == c.out.H && of.W == c.out.W {
			size := of.H * of.W * of.B
			for p := 0; p*size < len(v); p++ {
				for k, in := range inside {
					if in {
						copy(v[p*size+k*of.B:][:of.B], want.values[i][p*size+k*of.B:])
					}
				}
			}
		}
		mixed.values = append(mixed.values, v)
	}
	return mixed, slices.Contains(inside, true)
}

// interior reports of each pixel of a cut's planes whether the kernel's disc about it, and the
// one about the pixel that is moved to it, lie within the plane that the operation
// reads. Interpolation reaches a pixel further.
func (m *meter) interior(c *cut) []bool {
	h, w := c.out.H, c.out.W
	inside := make([]bool, h*w)
	back := m.move.back()
	reach := float64(float64(c.radius) * max(1, 1/m.move.scale())) // the disc is larger where the transformation shrinks
	if !m.move.exact() {
		reach++
	}
	cy, cx := float64(h-1)/2, float64(w-1)/2
	within := func(y, x, reach float64) bool { // from the centre
		return math.Abs(y)+reach <= cy+float64(c.margin)+1e-9 && math.Abs(x)+reach <= cx+float64(c.margin)+1e-9
	}
	for i := range inside {
		y, x := float64(i/w)-cy, float64(i%w)-cx
		inside[i] = within(y, x, float64(c.radius)) && within(float64(back[0][0]*y)+float64(back[0][1]*x), float64(back[1][0]*y)+float64(back[1][1]*x), reach)
	}
	return inside
}

// transformOutputs transforms the planes of the layers' outputs.
func (m *meter) transformOutputs(out outputs) {
	for i := range m.list {
		if out[i] != nil {
			out[i] = m.transformed(m.taps[i].of, out[i])
		}
	}
}

// onMoved returns the transformed outputs for the images where all layers have the elements
// of base, but those of each layer in turn are taken at its moved elements w.
func (m *meter) onMoved(base, w lists) outputs {
	perms := make([][]int, len(base))
	closed := true
	for i := range base {
		perms[i] = permutation(base[i], w[i])
		closed = closed && perms[i] != nil
	}
	m.set(base)
	aside := make(outputs, len(m.taps))
	out := m.run(m.images, func(j int) {
		k := m.cutAfter(j)
		if k < 0 || j+1 >= len(m.net.plan.layers) || !m.opens(j+1) || m.tied {
			return
		}
		i := m.net.plan.steps[j+1].list
		if perms[i] == nil {
			aside[i] = m.layerAt(&m.cuts[k], i, w[i])
			copy(m.list[i].G, base[i])
		}
	})
	for i := range m.list {
		switch {
		case perms[i] != nil && (closed || !m.tied):
			out[i] = permuted(m.taps[i].of, out[i], perms[i])
		case i == 0: // reads no list
			aside[0] = m.layerAt(nil, 0, w[0])
			out[0] = aside[0]
		default:
			out[i] = aside[i]
		}
	}
	m.transformOutputs(out)
	return out
}

// layerAt returns the output of layer i on other elements than its own, from a cut on, or
// from the images. The maps of the cut are left as they were.
func (m *meter) layerAt(c *cut, i int, elements []lie.Element) []float32 {
	copy(m.list[i].G, elements)
	first := 0
	var s state
	if c == nil {
		m.net.upload(m.images)
	} else {
		s, first = m.save(c.live), c.after+1
	}
	for j := first; j <= m.taps[i].after; j++ {
		m.net.plan.layers[j].Forward(false)
	}
	out := m.save([]*nn.Map{m.taps[i].of}).values[0]
	if c != nil {
		m.restore(c.live, s)
	}
	return out
}

// permuted returns a map whose element j is element at[j] of values.
func permuted(of *nn.Map, values []float32, at []int) []float32 {
	plane := of.H * of.W * of.B
	out := make([]float32, len(values))
	for c := range of.C {
		for j, from := range at {
			copy(out[(c*len(at)+j)*plane:][:plane], values[(c*len(at)+from)*plane:])
		}
	}
	return out
}

// differences adds to sums.
type differences struct {
	*meter
	to *sums
}

// add adds the square of |a - b| at a tap, over the images that are there. A nil b is
// zero, and a nil a adds nothing.
func (d differences) add(of cause, at int, a, b []float32) {
	if a == nil {
		return
	}
	width := d.cfg.Batch
	rows := len(a) / width
	sum := 0.0
	for i := range d.live {
		mean := 0.0
		value := func(r int) float64 {
			v := float64(a[r*width+i])
			if b != nil {
				v -= float64(b[r*width+i])
			}
			return v
		}
		if at == d.logits() || d.net.augerino != nil { // what all classes have in common does not count
			for r := range rows {
				mean += value(r) / float64(rows)
			}
		}
		for r := range rows {
			v := value(r) - mean
			sum += float64(v * v)
		}
	}
	d.to.squares[at][of] += sum
}

// addEnds adds the differences at the end, where nothing is known of what lies before.
func (d differences) addEnds(of cause, a, b outputs) {
	for _, i := range []int{d.pooled(), d.logits()} {
		d.add(of, i, a[i], b[i])
		d.add(reference, i, b[i], nil)
	}
	d.countChanged(a, b)
}

// countChanged counts the images that a and b put into different classes.
func (d differences) countChanged(a, b outputs) {
	class := func(logits []float32, i int) (best int) {
		for k := range d.net.cfg.Classes {
			if logits[k*d.cfg.Batch+i] > logits[best*d.cfg.Batch+i] {
				best = k
			}
		}
		return best
	}
	for i := range d.live {
		if class(a[d.logits()], i) != class(b[d.logits()], i) {
			d.to.changed++
		}
	}
}
