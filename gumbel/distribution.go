package gumbel

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Distribution is a distribution of the elements of a group with a learned subset
// for its support (Romero & Lohit 2022, section 4): independent ones on each axis,
// whose product a list is.
//
// Random, a continuous axis has the uniform distribution over exp([-theta E,
// theta E]), where [-E, E] is the extent of the axis (pi for rotations) and theta a
// parameter. At theta = 1 that is the whole axis. It has n elements, with u_i uniform
// in [0, 1):
//
//	partial:      g_i = exp(theta E (2(i+u_i)/n - 1)),  n = max(1, min(N, ceil(N theta)))
//	not partial:  g_i = exp(2E (i+u_i)/n),              n = N
//
// with u_i in the place of (i+u_i)/n where they are IID.
// A line has -E added in the second exponent. N is the axis' part of Config.Max
// (lie.Group.Split).
//
// Any other axis has the N values of the grid. Partial, it always keeps the identity,
// and every other value with a probability of its own, sigmoid(2 rho), by a relaxed
// Bernoulli draw with straight-through gradient:
//
//	z = 1 if soft > 1/2, else 0,   soft = sigmoid((2 rho + log u - log(1-u)) / T),   dz/drho = dsoft/drho
//
// In training, dropped elements stay in the list with weight 0: their z has a
// gradient, by which they come back. Elsewhere nothing is drawn for them: the values
// that are kept more often than not are the axis, and the others are taken out. Drawn,
// they would now and then make a list at odds with what was learned, and wrong answers
// with it.
//
// Several lists (NewLists) are drawn independently. They have the same theta, and
// hence the same n. (Under Compat subsets are drawn in evaluation too; where lists
// keep different numbers then, the shorter ones keep some dropped elements with weight 0.)
type Distribution struct {
	cfg     Config
	axes    []axis
	values  []values      // of all axes, nil unless partial
	draws   *nn.Parameter // of training so far, nil where no temperature depends on them
	params  []*nn.Parameter
	dropped bool // whether anything can be
	moves   bool // whether anything is learned from the gradient of the elements
	dev     tensor.Device

	last []float32 // the values behind the last list
	sum  []float64 // their gradient
	host []float32 // what passes between host and device
	one  [1]float32
}

// values are some of those that are learned, at their place among all.
type values struct {
	*nn.Parameter
	first int
}

// axis is the distribution on one axis of the group.
type axis struct {
	lie.Axis
	kind     kind
	count    int       // of cells, at most
	grid     []float64 // its values, unless it is an interval
	identity int       // which of them is the identity
	first    int       // of its parameters
}

type kind uint8

const (
	whole    kind = iota // all values of the grid
	interval             // random elements
	subset               // values of the grid, some of which are dropped
)

// New returns the distribution. Every theta and every rho is 1. Errors name the
// field that cannot be used and what is allowed.
func New(cfg Config) (*Distribution, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	d := &Distribution{cfg: cfg}
	n := d.addAxes()
	d.moves = cfg.Partial && cfg.Compat
	for _, a := range d.axes {
		d.dropped = d.dropped || a.kind == subset
		d.moves = d.moves || cfg.Partial && a.kind == interval
	}
	if !cfg.Partial {
		return d, nil
	}
	sizes := d.intervals()
	if cfg.Compat {
		sizes = n
	}
	d.learn(cfg.Name, nn.Subset, sizes)
	d.learn(cfg.beside(keepName), nn.Keep, n-sizes)
	if d.dropped {
		d.draws = nn.NewParameter(cfg.beside(counterName), nn.Statistic, 1)
		d.params = append(d.params, d.draws)
	}
	if len(d.values) > 1 && d.values[0].Name == d.values[1].Name {
		return nil, fmt.Errorf("gumbel: Config.Name is %q, which another parameter of the distribution is named; allowed are names that do not end in %q", cfg.Name, keepName)
	}
	d.last, d.sum, d.host = make([]float32, n), make([]float64, n), make([]float32, n)
	return d, nil
}

// learn appends a parameter for n of the values, if any.
func (d *Distribution) learn(name string, class nn.Class, n int) {
	if n == 0 {
		return
	}
	p := nn.NewParameter(name, class, n)
	first := 0
	for _, v := range d.values {
		first += len(v.Host)
	}
	for i := range p.Host {
		p.Host[i] = 1
	}
	d.values = append(d.values, values{p, first})
	d.params = append(d.params, p)
}

// intervals returns the number of axes that are learned intervals.
func (d *Distribution) intervals() (n int) {
	for i := range d.axes {
		if d.axes[i].kind == interval {
			n++
		}
	}
	return n
}

// addAxes lays out the axes of the group and returns how many values they learn: first
// one of each interval, then those of the subsets.
func (d *Distribution) addAxes() (learned int) {
	counts, _ := d.cfg.Group.Split(d.cfg.Max)
	grid := d.cfg.Group.Grid(d.cfg.Max)
	distance := 1 // in the grid, of neighbours on the axis
	for i, of := range d.cfg.Group.Axes() {
		a := axis{Axis: of, count: counts[i]}
		if of.Continuous() && d.cfg.Method == Random {
			a.kind, a.first = interval, learned
			learned++
		} else {
			for k := range a.count {
				a.grid = append(a.grid, grid[k*distance][i])
				if a.grid[k] == 0 {
					a.identity = k
				}
			}
			if d.cfg.Partial && a.count > 1 {
				a.kind = subset
			}
		}
		distance *= a.count
		d.axes = append(d.axes, a)
	}
	for i := range d.axes {
		if a := &d.axes[i]; a.kind == subset {
			a.first = learned
			learned += a.count - 1
		}
	}
	return learned
}

// parameter returns the index of the parameter of value k of a subset, or -1 for the
// identity.
func (a *axis) parameter(k int) int {
	switch {
	case k == a.identity:
		return -1
	case k > a.identity:
		k--
	}
	return a.first + k
}

// Parameters returns what is learned: theta of each interval (nn.Subset), and rho of
// each element of a subset but the identity (nn.Keep, named "keep" beside the former).
// Under Compat all are one parameter. Where there is a rho, the count of draws of
// training follows, on which the temperature depends: shape [1], nn.Statistic, named
// "group.gumbel_iter_counter".
func (d *Distribution) Parameters() []*nn.Parameter { return d.params }

// Variables returns the number of values that are learned, or would be if the
// distribution were partial.
func (d *Distribution) Variables() int { return d.cfg.variables() }

// Bind names the device that the parameters live on. Call it after
// nn.Parameters.Bind; until then, and after nn.Parameters.Release, they are read from,
// and kept in, their Host values.
func (d *Distribution) Bind(dev tensor.Device) { d.dev = dev }

// NewLists returns lists of the distribution's size, one or as many as a batch has
// images, that know whether Draw gives them weights.
func (d *Distribution) NewLists(lists int) *Elements { return d.NewListsOf(d.cfg.Max, lists) }

// NewListsOf is NewLists for at most max elements each, for a distribution that has learned
// not to draw more. Draw panics where it does.
func (d *Distribution) NewListsOf(max, lists int) *Elements {
	e := NewLists(d.cfg.Group, max, lists)
	// Under Compat weights make up for lists that keep different numbers alone.
	e.Weighted = d.cfg.Measure != Counting || d.dropped && (!d.cfg.Compat || lists > 1)
	e.Rigid = !d.moves
	return e
}

// Cells returns how many elements a Draw has now if none is dropped.
func (d *Distribution) Cells() int {
	d.readValues(d.last)
	n := 1
	for i := range d.axes {
		n *= d.count(&d.axes[i])
	}
	return n
}

// Anneal begins a training run: it sets Config.Steps, which the run knows and a network does
// not, and the count of draws to 0, on the host and where the parameters are bound, so
// that what was trained before has the temperatures of a beginning. It panics with *Error
// for a number of steps that New would refuse, and as Draw does where the parameters are
// bound to a device but the distribution is not.
func (d *Distribution) Anneal(steps int) {
	if steps < 0 || steps > MaxSteps {
		panic(&Error{"Distribution.Anneal", fmt.Sprintf("%d steps; 0 to %d are allowed", steps, MaxSteps)})
	}
	d.cfg.Steps = steps
	if d.draws != nil {
		clear(d.draws.Host)
		d.write(d.draws, d.draws.Host)
	}
}

// read copies a parameter from where it lives: the device, while it is bound to one.
func (d *Distribution) read(to []float32, p *nn.Parameter) {
	if p.Value.IsZero() {
		copy(to, p.Host)
	} else {
		d.device(p).Download(to, p.Value)
	}
}

// device returns the device that a bound parameter lives on.
func (d *Distribution) device(p *nn.Parameter) tensor.Device {
	if d.dev == nil {
		panic(&Error{"Distribution", fmt.Sprintf("the parameter %q is bound to a device that the distribution does not know; call Distribution.Bind", p.Name)})
	}
	return d.dev
}

// readValues copies all that is learned.
func (d *Distribution) readValues(to []float32) {
	for _, v := range d.values {
		d.read(to[v.first:v.first+len(v.Host)], v.Parameter)
	}
}

// writeValues is the reverse of readValues.
func (d *Distribution) writeValues(from []float32) {
	for _, v := range d.values {
		d.write(v.Parameter, from[v.first:v.first+len(v.Host)])
	}
}

// write is the reverse of read.
func (d *Distribution) write(p *nn.Parameter, from []float32) {
	if p.Value.IsZero() {
		copy(p.Host, from)
	} else {
		d.device(p).Upload(p.Value, from)
	}
}

// Draw makes e a list drawn from the distribution as it is now. It takes numbers from
// src list by list, axis by axis: one for each element of an interval, or one in all
// for a comb, and, with train or under Compat, one for each element of a subset but the
// identity.
//
// With train set, it is a list that Backward may follow, and the temperature falls.
//
// So that the loss shows them, a theta that is not finite gives elements that are not, and
// a rho that is NaN gives weights that are, in a list of NewLists also without train. (Under
// Compat one list has no weights.) The number of elements stays within 1 and Max.
//
// Draw allocates nothing. It panics with *Error for a list of another group, of fewer
// elements than are drawn, or of Identity, and where the parameters are bound to a device
// but the distribution is not.
func (d *Distribution) Draw(e *Elements, src lie.Source, train bool) {
	d.size(e)
	for s := range e.lists {
		on := e.cellsOn(s)
		for i := range d.axes {
			d.axes[i].draw(on[i], src, d.cfg.Jitter == Comb, train || d.cfg.Compat)
		}
	}
	d.fill(e, train)
}

// Midpoints makes e the list whose every element is in the middle of its cell, u being
// 1/2, also where draws are IID: the one to use where results must not be random. Of a
// subset it has what is kept more often than not, also under Compat. Several lists are then
// equal.
func (d *Distribution) Midpoints(e *Elements) {
	d.size(e)
	for s := range e.lists {
		on := e.cellsOn(s)
		for i := range d.axes {
			for k := range on[i] {
				on[i][k].u = 0.5
				if d.axes[i].kind == interval && d.cfg.Jitter == IID {
					on[i][k].u = (float64(k) + 0.5) / float64(len(on[i]))
				}
			}
		}
	}
	d.fill(e, false)
}

// size reads the parameters and gives e its numbers of cells.
func (d *Distribution) size(e *Elements) {
	switch {
	case e.cells == nil:
		panic(&Error{"Distribution.Draw", "the list is of Identity, which is not drawn; NewLists makes one that is"})
	case e.Group.Name() != d.cfg.Group.Name():
		panic(&Error{"Distribution.Draw", fmt.Sprintf("a list of elements of %s cannot hold those of %s", e.Group.Name(), d.cfg.Group.Name())})
	}
	d.readValues(d.last)
	e.counts = lie.Counts{}
	n := 1
	for i := range d.axes {
		e.counts[i] = d.count(&d.axes[i])
		n *= e.counts[i]
	}
	if n > e.max {
		panic(&Error{"Distribution.Draw", fmt.Sprintf("%d elements do not fit a list of at most %d", n, e.max)})
	}
	e.Rigid = !d.moves
}

// draw takes the numbers behind the cells of an axis, those of a subset only where it is
// chance what is dropped.
func (a *axis) draw(cells []cell, src lie.Source, comb, chance bool) {
	for k := range cells {
		switch {
		case a.kind == whole || a.kind == subset && k == a.identity:
		case a.kind == subset && !chance:
			cells[k].u = 0.5 // kept where the probability of that is above one half
		case a.kind == interval && comb && k > 0:
			cells[k].u = cells[0].u
		default:
			cells[k].u = src.Float64()
		}
	}
}

// fill makes the elements of the draws in e's cells.
func (d *Distribution) fill(e *Elements, train bool) {
	at := float32(0) // draws so far
	if d.draws != nil {
		d.read(d.one[:], d.draws)
		at = d.one[0]
	}
	for i := range d.axes {
		a := &d.axes[i]
		t := 0.0
		if a.kind == subset {
			t = d.temperature(at)
			if train && d.cfg.Compat { // the published implementation counts every axis
				at++
			}
		}
		for s := range e.lists {
			d.place(a, e.cellsOn(s)[i], t)
		}
	}
	if train && d.draws != nil {
		if !d.cfg.Compat {
			at++
		}
		d.one[0] = at
		d.write(d.draws, d.one[:])
	}
	d.combine(e, train && !d.cfg.Compat)
}

// place computes the cells of one axis of a list, at a temperature.
func (d *Distribution) place(a *axis, cells []cell, temperature float64) {
	for k := range cells {
		c := &cells[k]
		c.mask, c.slope = 1, 0
		if a.kind == interval {
			d.placeInterval(a, c, k, len(cells))
			continue
		}
		c.at = a.grid[k]
		if p := a.parameter(k); a.kind == subset && p >= 0 {
			logit, outer := d.logit(d.last[p])
			soft, slope := relaxed(logit, c.u, temperature)
			c.mask, c.slope = hard(soft), slope*outer
		}
	}
	d.measure(a, cells)
}

// combine makes the lists the products of their axes. Without all, it leaves out
// what was dropped.
func (d *Distribution) combine(e *Elements, all bool) {
	n := 1
	for _, c := range e.counts[:len(d.axes)] {
		n *= c
	}
	cells := n
	weighted := d.cfg.Measure != Counting || d.dropped && all
	if d.dropped && !all {
		n = 0
		for s := range e.lists {
			kept := d.kept(e, s)
			weighted = weighted || s > 0 && kept != n || e.Weighted && d.spoilt(e, s)
			n = max(n, kept)
		}
	}
	e.SetLen(n)
	e.drawn = n
	if weighted {
		e.weigh()
	}
	for s := range e.lists {
		spare := n // places for elements that were dropped
		if n < cells {
			spare -= d.kept(e, s)
		}
		d.combineList(e, s, cells, spare)
	}
}

// kept returns the number of elements of list s that were not dropped.
func (d *Distribution) kept(e *Elements, s int) int {
	n := 1
	on := e.cellsOn(s)
	for i := range d.axes {
		kept := 0
		for k := range on[i] {
			if on[i][k].mask != 0 { // also NaN
				kept++
			}
		}
		n *= kept
	}
	return n
}

// spoilt reports whether what keeps a cell of list s is NaN.
func (d *Distribution) spoilt(e *Elements, s int) bool {
	on := e.cellsOn(s)
	for i := range d.axes {
		for k := range on[i] {
			if math.IsNaN(on[i][k].mask) {
				return true
			}
		}
	}
	return false
}

// combineList is combine for list s, whose axes have so many products, with places
// for spare elements that were dropped.
func (d *Distribution) combineList(e *Elements, s, products, spare int) {
	on := e.cellsOn(s)
	at := s * e.Len()
	for k := range products {
		var v lie.Vector
		var discrete lie.Element
		weight, gone, digits := 1.0, false, e.place(k)
		for i := range d.axes {
			c := &on[i][digits[i]]
			weight *= c.factor
			gone = gone || c.mask == 0
			if d.axes[i].Continuous() {
				v[i] = c.at
			} else {
				discrete[i] = c.at
			}
		}
		if gone {
			if spare == 0 {
				continue
			}
			spare--
		}
		g := d.cfg.Group.Exp(v)
		for i := range d.axes {
			if !d.axes[i].Continuous() {
				g[i] = discrete[i]
			}
		}
		e.G[at], e.origin[at] = g, int32(k)
		if e.Weight != nil {
			e.Weight[at] = weight
		}
		at++
	}
}

// null stands for the half-width of an interval that is a point (SetSize), which has no Haar measure: were all
// weights zero, what takes means by them would divide zero by zero.
const null = 0x1p-40

// measure sets the factors that the cells of an axis contribute to weights.
func (d *Distribution) measure(a *axis, cells []cell) {
	scale := 1.0
	switch d.cfg.Measure {
	case Mean:
		n := 0.0
		for k := range cells {
			n += cells[k].mask
		}
		scale = 1 / n
	case Haar:
		scale = 1 / float64(len(cells))
		if a.kind == interval && d.values != nil {
			scale *= max(float64(d.last[a.first]), null)
		}
	}
	for k := range cells {
		cells[k].factor = cells[k].mask * scale
	}
}

// Backward adds the gradient of the loss with respect to what is learned to the
// parameter's gradient, given the gradients e.Grad and e.WeightGrad with respect to the
// list that was drawn last, or to all lists. The number of elements counts as a
// constant. It allocates nothing.
//
// Under Compat it is the published implementation's: the spacing of a comb counts as a
// constant too, which leaves the slope E (2u/n - 1) for every element; and a subset's
// z multiplies not the weight of its elements but their angle, or their sign, the
// gradient of which lie.E2 puts in the place of the flip.
func (d *Distribution) Backward(e *Elements) {
	if d.values == nil {
		return
	}
	if d.dev == nil || d.values[0].Value.IsZero() {
		panic(&Error{"Distribution.Backward", "not bound to a device"})
	}
	if e.drawn != e.Len() {
		panic(&Error{"Distribution.Backward", "the list was not drawn by Draw, or its length was changed since"})
	}
	clear(d.sum)
	for s := range e.lists {
		d.backwardElements(e, s)
		if e.Weight != nil {
			d.backwardWeights(e, s)
		}
	}
	for _, v := range d.values {
		host := d.host[:len(v.Host)]
		d.dev.Download(host, v.Grad)
		for i := range host {
			host[i] += float32(d.sum[v.first+i])
		}
		d.dev.Upload(v.Grad, host)
	}
}

// backwardElements goes from the coordinates of the elements of list s to the
// parameters.
func (d *Distribution) backwardElements(e *Elements, s int) {
	on := e.cellsOn(s)
	first := s * e.Len()
	for j, grad := range e.ListGrad(s) {
		digits := e.place(int(e.origin[first+j]))
		for i := range d.axes {
			a, c := &d.axes[i], &on[i][digits[i]]
			switch {
			case a.kind == interval:
				d.sum[a.first] += float64(c.slope * grad[i])
			case a.kind == subset && d.cfg.Compat && digits[i] != a.identity:
				at := c.at
				if a.Kind == lie.Flip {
					at = -1 // the sign
				}
				d.sum[a.parameter(digits[i])] += float64(c.slope * grad[i] * at)
			}
		}
	}
}

// backwardWeights goes from the weights of list s to the parameters: first to the
// factors of the axes, then through Measure.
func (d *Distribution) backwardWeights(e *Elements, s int) {
	on := e.cellsOn(s)
	for i := range d.axes {
		for k := range on[i] {
			on[i][k].grad = 0
		}
	}
	for j := s * e.Len(); j < (s+1)*e.Len(); j++ {
		digits := e.place(int(e.origin[j]))
		for i := range d.axes {
			g := e.WeightGrad[j]
			for k := range d.axes {
				if k != i {
					g *= on[k][digits[k]].factor
				}
			}
			on[i][digits[i]].grad += float64(g)
		}
	}
	for i := range d.axes {
		d.backwardMeasure(&d.axes[i], on[i])
	}
}

// backwardMeasure goes from the factors of an axis to its parameters, the reverse of
// measure.
func (d *Distribution) backwardMeasure(a *axis, cells []cell) {
	if a.kind == whole {
		return
	}
	n, mean := 0.0, 0.0 // what was kept, and the mean of the gradient over it
	for k := range cells {
		n += cells[k].mask
		mean += float64(cells[k].grad * cells[k].mask)
	}
	mean /= n
	if a.kind == interval {
		if d.cfg.Measure == Haar {
			d.sum[a.first] += mean
		}
		return
	}
	for k := range cells {
		p := a.parameter(k)
		if p < 0 {
			continue
		}
		g := cells[k].grad
		switch d.cfg.Measure {
		case Mean:
			g = (g - mean) / n
		case Haar:
			g /= float64(len(cells))
		}
		d.sum[p] += float64(g * cells[k].slope)
	}
}
