package tensor

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
)

// Column sums are taken like the others: a kernel adds up to 256 rows in float32 and
// their sums in float64, and segments are joined in order.
const (
	columnBlock   = 64
	columnSegment = 16 * columnBlock

	// A pivot is the mean of 1/pivotShare of a segment's rows, but of leastPivot at least: there may be a segment
	// for each small plane, which is not to be read twice.
	pivotShare = 16
	leastPivot = 16
)

// standardizeTask normalises each column b of each channel of x [c, s, b]. Its
// items are channels or, beyond the phase wholeRows, the segments of the channels
// from base on.
type standardizeTask struct {
	phase    normPhase
	base     int
	grad     bool // backward
	relu     bool
	addDX    bool
	stream   bool // the gradient is larger than the caches
	alone    bool // statistics or, backward, slopes are all that is wanted
	measured bool // alone, forward: the sums are there
	c, s, b  int
	parts    int // that s is cut into, those of the elements
	segs     int // of one channel, as many of each part
	eps      float64

	x, y, dx, dy []float32 // [c, s, b]
	mean, invStd []float32 // [c, b]
	measure      measure

	// first and second hold two sums for each segment [c, segs, b]: of x and of
	// the squared deviations from the segment's mean; backward, of dy and of
	// dy*(x-mean). Those of a channel's first segment become the channel's, and then r
	// and q of dx = invstd*d + w*(q*(x-mean) + r).
	first, second []float64
	counts        []float64 // [b], of the values of a channel that are in statistics
	scratch       [][]float32

	slopeQ, slopeR []float32 // [c, measure.elements, b]: w*q and w*r, if they are wanted
}

func (t *standardizeTask) Do(lo, hi, worker int) {
	v := columns(t.scratch[worker], t.b)
	for i := lo; i < hi; i++ {
		switch t.phase {
		case wholeRows:
			t.channel(i, &v)
		case segmentSums:
			t.sum(t.base*t.segs+i, &v)
		case segmentOutputs:
			t.output(t.base*t.segs+i, &v)
		}
	}
}

// columnScratch is the memory of one worker.
type columnScratch struct {
	zeros        []float32 // [b]
	pivot        []float32 // [b]
	scale, shift []float32 // [b]
	q, r         []float32 // [b]
	block        []float32 // [columnBlock, b]
	m            asm.ColNormMap
}

// columnScratchSize is the number of values that columns lays out.
func columnScratchSize(b int) int { return (6 + columnBlock) * b }

func columns(mem []float32, b int) columnScratch {
	next := func(rows int) []float32 {
		s := mem[: rows*b : rows*b]
		mem = mem[rows*b:]
		return s
	}
	v := columnScratch{
		zeros: next(1), pivot: next(1), scale: next(1), shift: next(1), q: next(1), r: next(1), block: next(columnBlock),
	}
	clear(v.zeros)
	return v
}

// element returns which element segment k of a channel is of.
func (t *standardizeTask) element(k int) int { return k / (t.segs / t.measure.elements) }

// rows returns where segment i of all channels lies, in rows of [c*s, b].
func (t *standardizeTask) rows(i int) (lo, hi int) {
	per, size := t.segs/t.parts, t.s/t.parts
	at := i / per * size
	lo = at + i%per*columnSegment
	return lo, min(lo+columnSegment, at+size)
}

// channel runs all phases for channel c.
func (t *standardizeTask) channel(c int, v *columnScratch) {
	lo, hi := c*t.segs, (c+1)*t.segs
	for i := lo; i < hi && !t.measured; i++ {
		t.sum(i, v)
	}
	t.finish(c)
	if t.alone {
		return
	}
	for i := hi - 1; i >= lo; i-- { // what was read last is in the cache
		t.output(i, v)
	}
}

// sum takes the sums of segment i.
func (t *standardizeTask) sum(i int, v *columnScratch) {
	b := t.b
	first, second := t.first[i*b:(i+1)*b], t.second[i*b:(i+1)*b]
	clear(first)
	clear(second)
	lo, hi := t.rows(i)
	x := t.x[lo*b : hi*b]
	if t.grad {
		asm.ColNormSums(first, second, t.dy[lo*b:hi*b], x, t.normal(i/t.segs, v))
		return
	}
	n := float64(hi - lo)
	t.pivot(x, v)
	asm.ColMoments(first, second, x, v.pivot)
	if v.correct(n, first, second) {
		clear(first)
		clear(second)
		asm.ColMoments(first, second, x, v.pivot)
	}
	for j, p := range v.pivot {
		m := around(n, first[j], second[j], p)
		first[j], second[j] = m.sum, m.squares
	}
}

// pivot sets v.pivot to values near the means of the columns of x: those of the first rows.
func (t *standardizeTask) pivot(x []float32, v *columnScratch) {
	rows := len(x) / t.b
	x = x[:max(min(rows, leastPivot), rows/pivotShare)*t.b]
	asm.ColSum(v.pivot, x)
	asm.Affine(v.pivot, v.pivot, float32(1/float64(len(x)/t.b)), 0)
}

// correct moves the pivots that are off to the means of n rows, given the sums about them,
// and reports whether there are any. The others stay, so that sums taken once more are the
// same in their columns: a sample has the same bits whatever else is in its batch.
func (v *columnScratch) correct(n float64, sums, squares []float64) bool {
	any := false
	for j, sum := range sums {
		if off(n, sum, squares[j]) {
			v.pivot[j] = float32(float64(v.pivot[j]) + sum/n)
			any = true
		}
	}
	return any
}

// normal returns what happens to the columns of channel c.
func (t *standardizeTask) normal(c int, v *columnScratch) *asm.ColNormMap {
	at, end := c*t.b, (c+1)*t.b
	v.m = asm.ColNormMap{Mean: t.mean[at:end], Scale: t.invStd[at:end], Shift: v.zeros, Floor: floor(t.relu)}
	return &v.m
}

// floor returns what results are at least.
func floor(relu bool) float32 {
	if relu {
		return 0
	}
	return float32(math.Inf(-1))
}

// gather adds the segment sums of channel c, in order, into the first of them.
func (t *standardizeTask) gather(sums []float64, c int) []float64 {
	b := t.b
	out := sums[c*t.segs*b:][:b]
	for s := 1; s < t.segs; s++ {
		for j, v := range sums[(c*t.segs+s)*b:][:b] {
			out[j] += v
		}
	}
	return out
}

// finish computes mean and 1/sqrt(variance+eps) of channel c or, backward, r and q.
func (t *standardizeTask) finish(c int) {
	if t.grad {
		first, second := t.gather(t.first, c), t.gather(t.second, c)
		t.slopes(first, second, t.invStd[c*t.b:], 1)
		if t.alone {
			t.keepSlopes(c)
		}
		return
	}
	if t.measure.elements == 1 && t.measure.first == nil {
		t.joinSegments(c)
		return
	}
	for j := range t.b {
		t.finishColumn(c*t.b+j, t.join(moments{}, c, j))
		if t.measure.first != nil {
			for e := range t.measure.elements {
				t.measure.keep((c*t.measure.elements+e)*t.b+j, t.elementMoments(c, e, j), t.mean[c*t.b+j])
			}
		}
	}
}

// joinSegments is finish, forward, where all values count alike: it joins the moments of channel c's segments, which may be
// one for each small plane, in those of the first, all columns at once (moments.join, without its divisions).
func (t *standardizeTask) joinSegments(c int) {
	at := func(k int) []float64 { return t.first[(c*t.segs+k)*t.b:][:t.b] }
	squaresAt := func(k int) []float64 { return t.second[(c*t.segs+k)*t.b:][:t.b] }
	rows := func(k int) float64 {
		lo, hi := t.rows(c*t.segs + k)
		return float64(hi - lo)
	}
	sums, squares, n := at(0), squaresAt(0), rows(0)
	for k := 1; k < t.segs; k++ {
		m, more := rows(k), squaresAt(k)
		perN, perM, weight := 1/n, 1/m, n*m/(n+m)
		for j, sum := range at(k) {
			d := float64(sum*perM) - float64(sums[j]*perN)
			squares[j] += more[j] + float64(float64(d*d)*weight)
			sums[j] += sum
		}
		n += m
	}
	for j := range t.b {
		t.finishColumn(c*t.b+j, moments{n, sums[j], squares[j]})
	}
}

// elementMoments returns those of an element in column j of channel c.
func (t *standardizeTask) elementMoments(c, element, j int) moments {
	var m moments
	per := t.segs / t.measure.elements
	for k := range per {
		i := c*t.segs + element*per + k
		lo, hi := t.rows(i)
		m = m.join(moments{float64(hi - lo), t.first[i*t.b+j], t.second[i*t.b+j]})
	}
	return m
}

// join returns m with the values of column j of channel c, as they count.
func (t *standardizeTask) join(m moments, c, j int) moments {
	for e := range t.measure.elements {
		m = m.join(t.elementMoments(c, e, j).weighted(t.measure.weight(e, j)))
	}
	return m
}

// finishColumn sets the statistics at a place to those of m.
func (t *standardizeTask) finishColumn(at int, m moments) {
	t.mean[at] = float32(m.sum / m.n)
	t.invStd[at] = float32(1 / math.Sqrt(m.squares/m.n+t.eps))
}

// slopes turns the sums of d and d*(x-mean), over so many channels, into r and q: the formula
// of batchNormTask.gradient with weight one.
func (t *standardizeTask) slopes(first, second []float64, invStd []float32, channels int) {
	for j, n := range t.counts {
		s, n := float64(invStd[j]), n*float64(channels)
		first[j] = -s * first[j] / n
		second[j] = -s * s * s * second[j] / n
	}
}

// setSlopes sets toQ and toR to w*q and w*r for an element, from the channel's q and r.
func (t *standardizeTask) setSlopes(toQ, toR []float32, r, q []float64, element int) {
	for j := range t.b {
		w := t.measure.weight(element, j)
		toQ[j], toR[j] = float32(w*q[j]), float32(w*r[j])
	}
}

// keepSlopes sets the slopes of channel c.
func (t *standardizeTask) keepSlopes(c int) {
	at := c * t.segs * t.b
	for e := range t.measure.elements {
		to := (c*t.measure.elements + e) * t.b
		t.setSlopes(t.slopeQ[to:], t.slopeR[to:], t.first[at:], t.second[at:], e)
	}
}

// output writes segment i of y or, backward, of dx.
func (t *standardizeTask) output(i int, v *columnScratch) {
	c := i / t.segs
	lo, hi := t.rows(i)
	m := t.normal(c, v)
	if !t.grad {
		asm.ColNorm(t.y[lo*t.b:hi*t.b], t.x[lo*t.b:hi*t.b], m)
		return
	}
	at := c * t.segs * t.b
	t.setSlopes(v.q, v.r, t.first[at:], t.second[at:], t.element(i%t.segs))
	t.write(lo, hi, m, v)
}

// gradMeasure writes the gradient of the measure.
func (t *standardizeTask) gradMeasure() {
	m := &t.measure
	clear(m.grad)
	rows := float64(t.s / m.elements)
	for e := range m.elements {
		grad := m.grad[e*m.lists:][:m.lists]
		for j := range t.b {
			sum := 0.0
			for c := range t.c {
				at, k := c*t.segs*t.b+j, c*t.b+j
				sum += m.weightGrad((c*m.elements+e)*t.b+j, t.second[at], t.first[at], rows, variance(t.invStd[k], t.eps))
			}
			grad[m.of(j)] += float32(sum)
		}
	}
}

// write writes the rows lo to hi of dx, of one channel, that is scale*d + (q*(x-mean) + r)
// with the map's scale and q and r of v.
func (t *standardizeTask) write(lo, hi int, m *asm.ColNormMap, v *columnScratch) {
	step := hi - lo
	if t.addDX || t.stream {
		step = columnBlock
	}
	for ; lo < hi; lo += step {
		to := min(lo+step, hi)
		dx := t.dx[lo*t.b : to*t.b]
		g := dx
		if t.addDX || t.stream {
			g = v.block[:len(dx)]
		}
		asm.ColNormGrad(g, t.dy[lo*t.b:to*t.b], t.x[lo*t.b:to*t.b], m, m.Scale, v.q, v.r)
		if t.addDX || t.stream {
			deliver(dx, g, t.addDX, t.stream)
		}
	}
}

// cut cuts channels into segments.
func (t *standardizeTask) cut() {
	t.parts = max(t.parts, t.measure.elements)
	t.segs = segmentsOf(t.parts, t.s/t.parts)
}

// segmentsOf returns how many segments so many parts of so many rows have.
func segmentsOf(parts, rows int) int { return parts * ((rows-1)/columnSegment + 1) }

// reserve gives t its memory: for its sums, unless it has some, and for every worker.
func (t *standardizeTask) reserve(d *CPU) {
	m := &t.measure
	sums := 0
	if t.first == nil {
		sums = t.c * t.segs * t.b
	}
	d.reserve(2*sums+t.b, columnScratchSize(t.b))
	if t.first == nil {
		t.first, t.second = d.partial[:sums], d.partial[sums:2*sums]
	}
	t.counts, t.scratch = d.partial[2*sums:][:t.b], d.scratch
	for j := range t.counts {
		n := 0.0
		for e := range m.elements {
			n += m.weight(e, j)
		}
		t.counts[j] = n * float64(t.s/m.elements)
	}
}

// standardizeColumns runs t.
func (d *CPU) standardizeColumns(t standardizeTask) {
	if t.c == 0 || t.s == 0 || t.b == 0 {
		return
	}
	if t.b == 1 { // the channels are rows without gaps
		rows := batchNormTask{
			grad: t.grad, train: true, rows: t.c, cols: t.s, eps: float32(t.eps), floor: floor(t.relu),
			x: t.x, y: t.y, dx: t.dx, dy: t.dy, addDX: t.addDX, stream: t.stream, mean: t.mean, invStd: t.invStd,
			measure: t.measure,
		}
		d.normalize(rows)
		return
	}
	t.cut()
	d.standardize = t
	d.standardize.run(d)
	d.standardize = standardizeTask{}
}

// run runs t, which is cut.
func (t *standardizeTask) run(d *CPU) {
	t.reserve(d)
	whole := d.whole(t.c, t.segs)
	if t.measured {
		whole = t.c
	}
	t.phase = wholeRows
	d.team.For(whole, perClaim(t.s*t.b), t)
	if rest := t.c - whole; rest > 0 {
		t.base = whole
		claim := perClaim(min(t.s/t.parts, columnSegment) * t.b)
		t.phase = segmentSums
		d.team.For(rest*t.segs, claim, t)
		for c := whole; c < t.c; c++ {
			t.finish(c)
		}
		if t.phase = segmentOutputs; !t.alone {
			d.team.For(rest*t.segs, claim, t)
		}
	}
	if t.grad && t.measure.grad != nil {
		t.gradMeasure()
	}
}

// task returns the task of Standardize, but for Y.
func (a *StandardizeArgs) task(op string) standardizeTask {
	n := product(op, a.C, a.S, a.B)
	t := standardizeTask{
		c: a.C, s: a.S, b: a.B, parts: max(1, a.N), eps: float64(a.Eps), relu: a.ReLU,
		x:       host(op, "X", a.X, n),
		mean:    host(op, "Mean", a.Mean, a.C*a.B),
		invStd:  host(op, "InvStd", a.InvStd, a.C*a.B),
		measure: columnMeasure(op, &a.Measure, a.S, a.B, a.C*a.B),
	}
	if a.N < 0 || a.S%t.parts != 0 || t.measure.elements != 1 && t.measure.elements != t.parts && a.N > 0 {
		panic(&Error{op, fmt.Sprintf("N is %d for %d rows and %d elements of Measure", a.N, a.S, t.measure.elements)})
	}
	return t
}

// gradTask returns the task of StandardizeGrad, but for DX.
func (a *StandardizeArgs) gradTask(op string) standardizeTask {
	t := a.task(op)
	n := t.c * t.s * t.b
	t.grad, t.addDX, t.stream, t.dy = true, a.AddDX, n >= streamValues, host(op, "DY", a.DY, n)
	return t
}

// Standardize is instance normalisation forward, see StandardizeArgs.
func (d *CPU) Standardize(a *StandardizeArgs) {
	const op = "Standardize"
	t := a.task(op)
	t.y = host(op, "Y", a.Y, t.c*t.s*t.b)
	d.standardizeColumns(t)
}

// StandardizeGrad is instance normalisation backward, see StandardizeArgs.
func (d *CPU) StandardizeGrad(a *StandardizeArgs) {
	const op = "StandardizeGrad"
	t := a.gradTask(op)
	t.dx = host(op, "DX", a.DX, t.c*t.s*t.b)
	d.standardizeColumns(t)
}
