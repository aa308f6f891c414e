package tensor

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
)

// A normalisation reads each value from memory once for its statistics and once,
// from the second-level cache if a channel fits there, for its results: mean and
// squared deviations are taken about a pivot, segment by segment, and joined. What
// follows in a network, pooling and ReLU, is done on the way, and done again in the
// backward pass, so that no normalised map is ever stored.
//
// The mean is subtracted before a value is scaled, so that a mean far from zero
// costs no accuracy.

// normPhase says what an item of a normalisation's task is. Most rows are
// normalised whole, by one worker after the other passes; the last few are shared
// out segment by segment, pass by pass. The sums are the same.
type normPhase uint8

const (
	wholeRows normPhase = iota
	segmentSums
	segmentOutputs
)

// streamValues is the size from which on a gradient is written past the caches:
// smaller ones are still in the last-level cache when the convolution before the
// normalisation reads them.
const streamValues = 4 << 20

// momentBlock is the number of values that are still in the first-level cache when a sum
// of two maps is looked at, and normBlock that of values whose gradient is on its way to
// more than one place.
const (
	momentBlock = 8 << 10
	normBlock   = 4 << 10
)

// whole returns how many of the rows, of segs segments each, are normalised row
// by row. The rest, one or two for each worker, keeps all of them busy to the
// end.
func (d *CPU) whole(rows, segs int) int {
	n := d.team.Size()
	if segs == 1 || n == 1 {
		return rows
	}
	return max(0, rows-rows%n-n)
}

// moments are the number of values, their sum, and the sum of their squared
// deviations from their mean. Of weighted values, all three are weighted sums.
type moments struct{ n, sum, squares float64 }

// join returns the moments of all values of a and b (Chan, Golub & LeVeque 1983).
func (a moments) join(b moments) moments {
	switch {
	case a.n == 0:
		return b
	case b.n == 0:
		return a
	}
	d := b.sum/b.n - a.sum/a.n
	n := a.n + b.n
	return moments{n, a.sum + b.sum, a.squares + b.squares + float64(float64(d*d)*(a.n*b.n/n))}
}

// off reports whether a pivot was so far from the mean of n values that the variance lost
// more than a digit by it. Then the moments are to be taken once more, about the mean.
func off(n, sum, squares float64) bool { return float64(sum*sum)/n > 0.9*squares }

// around returns the moments of n values from the sum of their distances to a pivot near
// their mean, and that of the squares of these.
func around(n, sum, squares float64, pivot float32) moments {
	if n == 0 {
		return moments{}
	}
	return moments{n, float64(n*float64(pivot)) + sum, max(0, squares-float64(sum*sum)/n)}
}

// momentsOf returns the moments of x, of up to a segment, after adding addend to it (nil:
// nothing). The pivot is the mean of the first block. That is an eighth of a segment, whose
// distances add up to nothing, so the pivot is never off.
func momentsOf(x, addend []float32) moments {
	var sum, squares float64
	var pivot float32
	for lo := 0; lo < len(x); lo += momentBlock {
		hi := min(lo+momentBlock, len(x))
		block := x[lo:hi]
		if addend != nil {
			asm.Add(block, block, addend[lo:hi])
		}
		if lo == 0 {
			pivot = asm.Sum(block) / float32(len(block))
		}
		s, q := asm.Moments(block, pivot)
		sum += s
		squares += q
	}
	return around(float64(len(x)), sum, squares, pivot)
}

// batchNormTask normalises the rows of x [rows, cols]. Its items are rows or,
// beyond the phase wholeRows, segments of the rows from base on.
type batchNormTask struct {
	phase      normPhase
	base       int
	grad       bool // backward
	train      bool
	rows, cols int
	eps        float32
	momentum   float32
	floor      float32 // of the results: 0 for a ReLU, else -Inf

	pool    bool
	h, w, b int // of the planes, for pool
	lines   int // rows of windows in one segment

	sumSegs, outSegs int // segments of a row for sums and for results, as many of each element

	x, addend         []float32 // [rows, cols]
	y, dy             []float32 // [rows, cols], or pooled
	dx, dAddend       []float32 // [rows, cols]
	addDX, addDAddend bool
	stream            bool      // the gradient is larger than the caches
	weight, bias      []float32 // [rows]; nil: one and zero
	measure           measure   // of the elements that a row is cut into
	count             float64   // of the values in the statistics of a row, backward
	mean, invStd      []float32 // [rows]
	runningMean       []float32 // [rows]; nil: not wanted
	runningVar        []float32
	dWeight, dBias    []float32 // [rows]; nil: not wanted

	stats         []moments // [rows, sumSegs, lists], forward
	first, second []float64 // [rows, sumSegs] sums of dy and of dy*(x-mean), backward
	scratch       [][]float32
}

func (t *batchNormTask) Do(lo, hi, worker int) {
	s := t.scratch[worker]
	for i := lo; i < hi; i++ {
		switch t.phase {
		case wholeRows:
			if t.grad || t.train {
				for k := range t.sumSegs {
					t.sum(i, k, s)
				}
				t.finish(i)
			}
			for k := t.outSegs - 1; k >= 0; k-- { // what was read last is in the cache
				t.output(i, k, s)
			}
		case segmentSums:
			t.sum(t.base+i/t.sumSegs, i%t.sumSegs, s)
		case segmentOutputs:
			t.output(t.base+i/t.outSegs, i%t.outSegs, s)
		}
	}
}

// segment returns where segment k of row r lies, if there are so many of them, and of which
// element it is.
func (t *batchNormTask) segment(r, k, segs int) (lo, hi, element int) {
	size, per := t.cols/t.measure.elements, segs/t.measure.elements
	element = k / per
	at := r*t.cols + element*size
	if t.measure.lists > 1 { // which a segment has to have all values of
		return at, at + size, element
	}
	lo = at + k%per*sumSegment
	return lo, min(lo+sumSegment, at+size), element
}

// segments returns the number of segments of a row.
func (t *batchNormTask) segments() int {
	if t.measure.lists > 1 {
		return t.measure.elements
	}
	return t.measure.elements * segments(t.cols/t.measure.elements)
}

// sum takes the sums of segment k of row r.
func (t *batchNormTask) sum(r, k int, scratch []float32) {
	i := r*t.sumSegs + k
	switch {
	case !t.grad:
		t.takeMoments(r, k, scratch)
	case t.pool:
		t.first[i], t.second[i] = t.pooledSums(r, k, scratch)
	default:
		lo, hi, _ := t.segment(r, k, t.sumSegs)
		m := t.normal(r)
		t.first[i], t.second[i] = asm.NormSums(t.dy[lo:hi], t.x[lo:hi], &m)
	}
}

// takeMoments takes the moments of segment k of row r.
func (t *batchNormTask) takeMoments(r, k int, scratch []float32) {
	lo, hi, _ := t.segment(r, k, t.sumSegs)
	i, lists := r*t.sumSegs+k, t.measure.lists
	var addend []float32
	if t.addend != nil {
		addend = t.addend[lo:hi]
	}
	if lists == 1 {
		t.stats[i] = momentsOf(t.x[lo:hi], addend)
		return
	}
	v, at, end := newListColumns(scratch, lists), i*lists, (i+1)*lists
	v.momentsByList(t.stats[at:end], t.x[lo:hi], addend, t.first[at:end], t.second[at:end])
}

// finish turns the sums of row r into mean and deviation or, backward, into the
// gradients of weight and bias. Backward, the first sums of the row become those
// of all its values.
func (t *batchNormTask) finish(r int) {
	if t.grad {
		at, end := r*t.sumSegs, (r+1)*t.sumSegs
		first, second := total(t.first[at:end]), total(t.second[at:end])
		t.first[at], t.second[at] = first, second
		if t.dBias != nil {
			t.dBias[r] = float32(float64(t.dBias[r]) + first)
		}
		if t.dWeight != nil {
			t.dWeight[r] = float32(float64(t.dWeight[r]) + float64(second*float64(t.invStd[r])))
		}
		return
	}
	var m moments
	for e := range t.measure.elements {
		for j := range t.measure.lists {
			m = m.join(t.elementMoments(r, e, j).weighted(t.measure.weight(e, j)))
		}
	}
	mean := m.sum / m.n
	t.mean[r] = float32(mean)
	t.keepMoments(r)
	t.invStd[r] = float32(1 / math.Sqrt(m.squares/m.n+float64(t.eps)))
	if t.runningMean == nil {
		return
	}
	k := float64(t.momentum)
	unbiased := m.squares / max(m.n-1, 1) // zero of a single value
	t.runningMean[r] = float32(float64((1-k)*float64(t.runningMean[r])) + float64(k*mean))
	t.runningVar[r] = float32(float64((1-k)*float64(t.runningVar[r])) + float64(k*unbiased))
}

// elementMoments returns those of the values of an element in row r, of list j.
func (t *batchNormTask) elementMoments(r, element, j int) moments {
	var m moments
	per, lists := t.sumSegs/t.measure.elements, t.measure.lists
	for k := range per {
		m = m.join(t.stats[(r*t.sumSegs+element*per+k)*lists+j])
	}
	return m
}

// keepMoments keeps what the gradient of the measure depends on in row r.
func (t *batchNormTask) keepMoments(r int) {
	if t.measure.first == nil {
		return
	}
	for e := range t.measure.elements {
		for j := range t.measure.lists {
			t.measure.keep((r*t.measure.elements+e)*t.measure.lists+j, t.elementMoments(r, e, j), t.mean[r])
		}
	}
}

// gradMeasure writes the gradient of the measure.
func (t *batchNormTask) gradMeasure() {
	m := &t.measure
	n := float64(t.cols / len(m.grad)) // values of an element, of a list
	for i := range m.grad {
		sum := 0.0
		for r := range t.rows {
			_, q, c := t.gradient(r)
			sum += m.weightGrad(r*len(m.grad)+i, float64(q), float64(c), n, variance(t.invStd[r], float64(t.eps)))
		}
		m.grad[i] = float32(sum)
	}
}

// normal returns what happens to the values of row r.
func (t *batchNormTask) normal(r int) asm.NormMap {
	m := asm.NormMap{Floor: t.floor}
	weight := float32(1)
	if t.weight != nil {
		weight = t.weight[r]
	}
	if t.bias != nil {
		m.Shift = t.bias[r]
	}
	if t.train || t.grad {
		m.Mean, m.Scale = t.mean[r], t.invStd[r]*weight
	} else {
		m.Mean = t.runningMean[r]
		m.Scale = float32(float64(weight) / math.Sqrt(float64(t.runningVar[r])+float64(t.eps)))
	}
	return m
}

// gradient returns a, b and c of dx = a*d + (b*(x-mean) + c) in row r, where d
// is what passes of dy. With h = (x-mean)*invstd and sums over the row, n values of
// which are in the statistics,
//
//	dx = weight*invstd*(d - sum(d)/n - h*sum(d*h)/n).
func (t *batchNormTask) gradient(r int) (a, b, c float32) {
	n, s := t.count, float64(t.invStd[r])
	scale := s
	if t.weight != nil {
		scale *= float64(t.weight[r])
	}
	first, second := t.first[r*t.sumSegs], t.second[r*t.sumSegs]
	return float32(scale), float32(-scale * s * s * second / n), float32(-scale * first / n)
}

// output writes segment k of row r of y or, backward, of dx.
func (t *batchNormTask) output(r, k int, scratch []float32) {
	switch {
	case t.pool:
		t.pooledOutput(r, k, scratch)
	case t.grad:
		t.rowOutput(r, k, scratch)
	default:
		lo, hi, _ := t.segment(r, k, t.outSegs)
		m := t.normal(r)
		for ; lo < hi; lo += normBlock {
			end := min(lo+normBlock, hi)
			x := t.x[lo:end]
			if t.addend != nil && !t.train {
				asm.Add(x, x, t.addend[lo:end])
			}
			asm.Norm(t.y[lo:end], x, &m)
		}
	}
}

// rowOutput writes segment k of row r of dx.
func (t *batchNormTask) rowOutput(r, k int, scratch []float32) {
	lo, hi, element := t.segment(r, k, t.outSegs)
	m := t.normal(r)
	p, q, c := t.gradient(r)
	w, lists := t.measure.list(element), t.measure.lists
	v, scratch := newListColumns(scratch, lists), scratch[t.measure.columnsSize():]
	for step := max(1, normBlock/lists) * lists; lo < hi; lo += step {
		end := min(lo+step, hi)
		g, dy, x := t.place(scratch, lo, end), t.dy[lo:end], t.x[lo:end]
		if lists == 1 {
			asm.NormGrad(g, dy, x, &m, p, w[0]*q, w[0]*c)
		} else {
			v.normGrad(g, dy, x, &m, w, p, q, c)
		}
		t.store(g, lo, end)
	}
}

// place returns where the gradient of the values lo to hi of x is computed:
// straight in dx, or in scratch if it is added to dx or written past the caches.
func (t *batchNormTask) place(scratch []float32, lo, hi int) []float32 {
	if t.addDX || t.stream {
		return scratch[:hi-lo]
	}
	return t.dx[lo:hi]
}

// store brings the gradient g of the values lo to hi of x from its place to dx
// and to the addend's.
func (t *batchNormTask) store(g []float32, lo, hi int) {
	if t.dAddend != nil {
		deliver(t.dAddend[lo:hi], g, t.addDAddend, t.stream)
	}
	if t.addDX || t.stream {
		deliver(t.dx[lo:hi], g, t.addDX, t.stream)
	}
}

// deliver adds g to dst, or copies it there, if need be past the caches.
func deliver(dst, g []float32, add, stream bool) {
	switch {
	case add:
		asm.Add(dst, dst, g)
	case stream:
		asm.Stream(dst, g)
	default:
		copy(dst, g)
	}
}

// windows calls f for each row of windows of segment k of row r: where its pixels
// begin and end in x, the end being that of the plane where a last row of pixels
// is left over, where its windows begin in y, and which element they are of.
func (t *batchNormTask) windows(r, k int, f func(lo, hi, at, element int)) {
	oh, line, out := t.h/2, t.w*t.b, t.w/2*t.b
	all := t.cols / (t.h * line) * oh
	for i := k * t.lines; i < min((k+1)*t.lines, all); i++ {
		lo := r*t.cols + (i/oh*t.h+i%oh*2)*line
		hi := lo + 2*line
		if i%oh == oh-1 {
			hi = lo + (t.h-2*(oh-1))*line
		}
		f(lo, hi, (r*all+i)*out, i*t.measure.elements/all)
	}
}

// pixels returns the two rows of pixels at the beginning of x for the kernels, and
// the number of values of a pixel. A pixel of a small batch would leave most of a
// vector empty: then left and right pixels are gathered in scratch as if each
// row were a single window.
func (t *batchNormTask) pixels(x, scratch []float32) (top, bottom []float32, b int) {
	line, out := t.w*t.b, t.w/2*t.b
	if t.b >= narrowBatch {
		return x[:line], x[line : 2*line], t.b
	}
	top, bottom = scratch[:2*out], scratch[2*out:4*out]
	p := poolTask{b: t.b}
	p.split(top[:out], top[out:], x)
	p.split(bottom[:out], bottom[out:], x[line:])
	return top, bottom, out
}

// pooledSums returns the two sums of segment k of row r.
func (t *batchNormTask) pooledSums(r, k int, scratch []float32) (first, second float64) {
	m := t.normal(r)
	out := t.w / 2 * t.b
	t.windows(r, k, func(lo, hi, at, _ int) {
		top, bottom, b := t.pixels(t.x[lo:hi], scratch)
		sum, dot := asm.NormPoolSums(t.dy[at:at+out], top, bottom, b, &m)
		first += sum
		second += dot
	})
	return first, second
}

// pooledOutput writes segment k of row r of y or, backward, of dx.
func (t *batchNormTask) pooledOutput(r, k int, scratch []float32) {
	m := t.normal(r)
	line, out := t.w*t.b, t.w/2*t.b
	if !t.grad {
		t.windows(r, k, func(lo, hi, at, _ int) {
			x := t.x[lo:hi]
			if t.addend != nil && !t.train {
				asm.Add(x, x, t.addend[lo:hi])
			}
			top, bottom, b := t.pixels(x, scratch)
			asm.NormPool(t.y[at:at+out], top, bottom, b, &m)
		})
		return
	}
	p, slope, shift := t.gradient(r)
	v := newListColumns(scratch[5*line:], t.measure.lists)
	t.windows(r, k, func(lo, hi, at, element int) {
		q, c := float32(0), float32(0) // with a list for each sample they are added below
		if t.measure.lists == 1 {
			w := float32(t.measure.weight(element, 0))
			q, c = w*slope, w*shift
		}
		x, g := t.x[lo:hi], t.place(scratch[4*out:], lo, hi)
		top, bottom, b := t.pixels(x, scratch)
		if t.b >= narrowBatch {
			asm.NormPoolGrad(g[:line], g[line:2*line], t.dy[at:at+out], top, bottom, b, &m, p, q, c)
		} else {
			asm.NormPoolGrad(top, bottom, t.dy[at:at+out], top, bottom, b, &m, p, q, c)
			pool := poolTask{b: t.b}
			pool.merge(g, top[:out], top[out:])
			pool.merge(g[line:], bottom[:out], bottom[out:])
		}
		// Pixels without a window have the gradient of the statistics alone.
		for at := 2 * out; at < 2*line && t.w%2 != 0; at += line {
			t.unpooled(g[at:at+t.b], x[at:at+t.b], m.Mean, q, c)
		}
		t.unpooled(g[2*line:], x[2*line:], m.Mean, q, c)
		if t.measure.lists > 1 {
			all := asm.NormMap{Mean: m.Mean, Floor: floor(false)} // which passes all of g
			v.normGrad(g, g, x, &all, t.measure.list(element), 1, slope, shift)
		}
		t.store(g, lo, hi)
	})
}

// unpooled writes the gradient of pixels that lie in no window.
func (t *batchNormTask) unpooled(g, x []float32, mean, q, c float32) {
	asm.Affine(g, x, 1, -mean)
	asm.Affine(g, g, q, c)
}

// normalize runs t.
func (d *CPU) normalize(t batchNormTask) {
	if t.rows == 0 || t.cols == 0 {
		return
	}
	t.sumSegs, t.outSegs = t.segments(), t.segments()
	values := max(normBlock, t.measure.lists)
	if t.pool {
		line := t.w * t.b
		t.lines = max(1, sumSegment/(2*line))
		t.outSegs = (t.cols/(t.h*line)*(t.h/2)-1)/t.lines + 1
		if t.grad {
			t.sumSegs = t.outSegs
		}
		values = 5 * line // gathered pixels, and two or three rows of gradients
	}
	values += t.measure.columnsSize()
	items := t.rows * t.sumSegs
	sums := items * t.measure.lists // lists have sums of their own only forward
	if t.grad {
		t.count = t.measure.count(t.cols)
		sums = items
	} else {
		if len(d.moments) < sums {
			d.moments = make([]moments, sums)
		}
		t.stats = d.moments[:sums]
	}
	d.reserve(2*sums, values)
	t.first, t.second = d.partial[:sums], d.partial[sums:2*sums]
	t.scratch = d.scratch
	whole := d.whole(t.rows, max(t.sumSegs, t.outSegs))
	d.batchNorm = t
	p := &d.batchNorm
	claim := perClaim(min(t.cols, sumSegment))
	d.team.For(whole, claim, p)
	if rest := t.rows - whole; rest > 0 {
		p.base = whole
		if t.grad || t.train {
			p.phase = segmentSums
			d.team.For(rest*t.sumSegs, claim, p)
			for r := whole; r < t.rows; r++ {
				p.finish(r)
			}
		}
		p.phase = segmentOutputs
		d.team.For(rest*t.outSegs, claim, p)
	}
	if t.grad && t.measure.grad != nil {
		p.gradMeasure()
	}
	d.batchNorm = batchNormTask{}
}

// prepare fills in what BatchNorm and BatchNormGrad have in common, and returns
// the number of values of X and of Y.
func (t *batchNormTask) prepare(op string, a *BatchNormArgs) (wide, narrow int) {
	wide = product(op, a.Rows, a.Cols)
	narrow = wide
	t.rows, t.cols = a.Rows, a.Cols
	t.floor = floor(a.ReLU)
	if a.Pool {
		plane := product(op, a.H, a.W, a.B)
		if a.H < 2 || a.W < 2 || a.B < 1 || a.Cols%plane != 0 {
			panic(&Error{op, fmt.Sprintf("rows of %d values are not planes of %d x %d x %d that have windows of 2x2", a.Cols, a.H, a.W, a.B)})
		}
		t.pool, t.h, t.w, t.b = true, a.H, a.W, a.B
		narrow = wide / plane * (a.H / 2) * (a.W / 2) * a.B
	}
	t.x = host(op, "X", a.X, wide)
	t.weight = host(op, "Weight", a.Weight, a.Rows)
	var m Measure // there is none where the running statistics are taken
	if t.grad || a.Train {
		m = a.Measure
	}
	t.measure = newMeasure(op, &m, a.Cols, a.B, a.Rows*m.Lists)
	if !t.grad || a.ReLU || a.Pool {
		t.bias = host(op, "Bias", a.Bias, a.Rows)
	}
	if planes := a.Cols / max(1, a.H*a.W*a.B); a.Pool && planes%t.measure.elements != 0 {
		panic(&Error{op, fmt.Sprintf("Measure has %d elements for %d planes", t.measure.elements, planes)})
	}
	return wide, narrow
}

// BatchNorm is batch normalisation forward, see BatchNormArgs. A row of a
// single value has unbiased variance zero.
func (d *CPU) BatchNorm(a *BatchNormArgs) {
	const op = "BatchNorm"
	t := batchNormTask{train: a.Train, eps: a.Eps, momentum: a.Momentum}
	wide, narrow := t.prepare(op, a)
	t.y = host(op, "Y", a.Y, narrow)
	t.runningMean = host(op, "RunningMean", a.RunningMean, a.Rows)
	t.runningVar = host(op, "RunningVar", a.RunningVar, a.Rows)
	t.addend = optional(op, "Addend", a.Addend, wide)
	if a.Train {
		t.mean = host(op, "Mean", a.Mean, a.Rows)
		t.invStd = host(op, "InvStd", a.InvStd, a.Rows)
	}
	if (a.Train || a.Pool) && narrow > 0 && address(t.x) == address(t.y) {
		panic(&Error{op, "Y is X while training or with Pool, which read X again"})
	}
	d.normalize(t)
}

// BatchNormGrad is batch normalisation backward, through the statistics of the
// batch, see BatchNormArgs.
func (d *CPU) BatchNormGrad(a *BatchNormArgs) {
	const op = "BatchNormGrad"
	t := batchNormTask{grad: true, eps: a.Eps, addDX: a.AddDX, addDAddend: a.AddDAddend}
	wide, narrow := t.prepare(op, a)
	t.dx = host(op, "DX", a.DX, wide)
	t.dy = host(op, "DY", a.DY, narrow)
	t.stream = wide >= streamValues
	t.dAddend = optional(op, "DAddend", a.DAddend, wide)
	t.mean = host(op, "Mean", a.Mean, a.Rows)
	t.invStd = host(op, "InvStd", a.InvStd, a.Rows)
	t.dWeight = host(op, "DWeight", a.DWeight, a.Rows)
	t.dBias = host(op, "DBias", a.DBias, a.Rows)
	d.normalize(t)
}
