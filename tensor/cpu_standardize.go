package tensor

import (
	"math"

	"github.com/noether-go/noether/asm"
)

// Column sums are taken like the others: a kernel adds up to 256 rows in float32 and
// their sums in float64, and segments are joined in order.
const (
	columnBlock   = 64
	columnSegment = 16 * columnBlock
)

// standardizeTask normalises each column b of each channel of x [c, s, b]. Its
// items are channels or, beyond the phase wholeRows, the segments of the channels
// from base on.
type standardizeTask struct {
	phase   normPhase
	base    int
	grad    bool // backward
	relu    bool
	addDX   bool
	stream  bool // the gradient is larger than the caches
	c, s, b int
	segs    int // of one channel
	eps     float64

	x, y, dx, dy      []float32 // [c, s, b]
	mean, invStd      []float32 // [c, b]
	measure, dMeasure []float32 // [s, b]; nil: one, and not wanted

	// first and second hold two sums for each segment [c, segs, b]: of x and of
	// the squared deviations from the segment's mean; backward, of dy and of
	// dy*(x-mean). With a measure, counts holds its sums [segs+1, b] over the segments
	// and, behind them, over all of them.
	first, second []float64
	counts        []float64
	scratch       [][]float32
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
		case measureStrips:
			t.gradMeasure(i, &v)
		}
	}
}

// columnScratch is the memory of one worker.
type columnScratch struct {
	zeros, ones  []float32 // [b]
	pivot        []float32 // [b]
	scale, shift []float32 // [b]
	q, r         []float32 // [b]
	block, other []float32 // [columnBlock, b]
	m            asm.ColNormMap
}

// columnScratchSize is the number of values that columns lays out.
func columnScratchSize(b int) int { return (7 + 2*columnBlock) * b }

func columns(mem []float32, b int) columnScratch {
	next := func(rows int) []float32 {
		s := mem[: rows*b : rows*b]
		mem = mem[rows*b:]
		return s
	}
	v := columnScratch{
		zeros: next(1), ones: next(1), pivot: next(1), scale: next(1), shift: next(1), q: next(1), r: next(1),
		block: next(columnBlock), other: next(columnBlock),
	}
	clear(v.zeros)
	asm.Fill(v.ones, 1)
	return v
}

// rows returns where segment i of all channels lies, in rows of [c*s, b].
func (t *standardizeTask) rows(i int) (lo, hi int) {
	c, s := i/t.segs, i%t.segs
	lo = c*t.s + s*columnSegment
	return lo, min(lo+columnSegment, (c+1)*t.s)
}

// channel runs all phases for channel c.
func (t *standardizeTask) channel(c int, v *columnScratch) {
	lo, hi := c*t.segs, (c+1)*t.segs
	for i := lo; i < hi; i++ {
		t.sum(i, v)
	}
	t.finish(c)
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
	w := t.weights(i/t.segs, lo, hi)
	t.pivot(x, w, i%t.segs, v)
	asm.ColMoments(first, second, x, w, v.pivot)
	if w == nil && t.correct(first, second, i%t.segs, v) {
		clear(first)
		clear(second)
		asm.ColMoments(first, second, x, nil, v.pivot)
	}
	for j, p := range v.pivot {
		m := around(t.count(i%t.segs, j), first[j], second[j], p)
		first[j], second[j] = m.sum, m.squares
	}
}

// weights returns the weights of the rows lo to hi, of channel c, or nil.
func (t *standardizeTask) weights(c, lo, hi int) []float32 {
	if t.measure == nil {
		return nil
	}
	return t.measure[(lo-c*t.s)*t.b : (hi-c*t.s)*t.b]
}

// pivot sets v.pivot to values near the means of the columns of x, those of segment s of
// a channel: the means of the first rows or, with weights w, the means.
func (t *standardizeTask) pivot(x, w []float32, s int, v *columnScratch) {
	if w == nil {
		x = x[:min(len(x), columnBlock*t.b)]
		asm.ColSum(v.pivot, x)
		asm.Affine(v.pivot, v.pivot, float32(1/float64(len(x)/t.b)), 0)
		return
	}
	asm.ColDot(v.pivot, x, w)
	for j := range v.pivot {
		if n := t.count(s, j); n != 0 {
			v.pivot[j] = float32(float64(v.pivot[j]) / n)
		}
	}
}

// correct moves the pivots of segment s of a channel to the means, given the sums about
// them, if one of them is off.
func (t *standardizeTask) correct(sums, squares []float64, s int, v *columnScratch) bool {
	any := false
	for j := range v.pivot {
		any = any || off(t.count(s, j), sums[j], squares[j])
	}
	if any {
		for j, sum := range sums {
			v.pivot[j] = float32(float64(v.pivot[j]) + sum/t.count(s, j))
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

// finish computes mean and 1/sqrt(variance+eps) of channel c or, backward,
// gathers its sums.
func (t *standardizeTask) finish(c int) {
	if t.grad {
		t.gather(t.first, c)
		t.gather(t.second, c)
		return
	}
	for j := range t.b {
		var m moments
		for s := range t.segs {
			at := (c*t.segs+s)*t.b + j
			m = m.join(moments{t.count(s, j), t.first[at], t.second[at]})
		}
		t.mean[c*t.b+j] = float32(m.sum / m.n)
		t.invStd[c*t.b+j] = float32(1 / math.Sqrt(m.squares/m.n+t.eps))
	}
}

// count returns the number of values of column j that are in the sums of segment s.
func (t *standardizeTask) count(s, j int) float64 {
	if t.measure != nil {
		return t.counts[s*t.b+j]
	}
	return float64(min(columnSegment, t.s-s*columnSegment))
}

// gradient sets v.q and v.r to the q and r of dx = invStd*d + (q*(x-mean) + r) in
// channel c: the formula of batchNormTask.gradient with weight one.
func (t *standardizeTask) gradient(v *columnScratch, c int) {
	at, n := c*t.segs*t.b, float64(t.s)
	for j, s := range t.invStd[c*t.b : (c+1)*t.b] {
		if t.measure != nil {
			n = t.counts[t.segs*t.b+j]
		}
		s := float64(s)
		v.q[j] = float32(-s * s * s * t.second[at+j] / n)
		v.r[j] = float32(-s * t.first[at+j] / n)
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
	t.gradient(v, c)
	t.write(lo, hi, c, m, v)
}

// write writes the rows lo to hi of dx, of channel c, that is scale*d + (q*(x-mean) + r)
// with the map's scale and q and r of v.
func (t *standardizeTask) write(lo, hi, c int, m *asm.ColNormMap, v *columnScratch) {
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
		asm.ColNormGrad(g, t.dy[lo*t.b:to*t.b], t.x[lo*t.b:to*t.b], t.weights(c, lo, to), m, m.Scale, v.q, v.r)
		if t.addDX || t.stream {
			deliver(dx, g, t.addDX, t.stream)
		}
	}
}

// reserve gives t its memory: for its sums, and scratch of every worker.
func (t *standardizeTask) reserve(d *CPU, scratch int) {
	sums, counts := t.c*t.segs*t.b, 0
	if t.measure != nil {
		counts = (t.segs + 1) * t.b
	}
	d.reserve(2*sums+counts, scratch)
	t.first, t.second = d.partial[:sums], d.partial[sums:2*sums]
	t.scratch = d.scratch
	if t.measure != nil {
		t.counts = d.partial[2*sums:][:counts]
		t.countMeasure(columns(t.scratch[0], t.b))
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
			measure: t.measure, dMeasure: t.dMeasure,
		}
		d.normalize(rows)
		return
	}
	t.segs = (t.s-1)/columnSegment + 1
	t.reserve(d, columnScratchSize(t.b))
	whole := d.whole(t.c, t.segs)
	d.standardize = t
	p := &d.standardize
	d.team.For(whole, perClaim(t.s*t.b), p)
	if rest := t.c - whole; rest > 0 {
		p.base = whole
		claim := perClaim(min(t.s, columnSegment) * t.b)
		p.phase = segmentSums
		d.team.For(rest*t.segs, claim, p)
		for c := whole; c < t.c; c++ {
			p.finish(c)
		}
		p.phase = segmentOutputs
		d.team.For(rest*t.segs, claim, p)
	}
	if t.dMeasure != nil {
		p.phase = measureStrips
		d.team.For((t.s-1)/columnBlock+1, perClaim(t.c*columnBlock*t.b), p)
	}
	d.standardize = standardizeTask{}
}

// Standardize is instance normalisation forward, see StandardizeArgs.
func (d *CPU) Standardize(a *StandardizeArgs) {
	const op = "Standardize"
	n := product(op, a.C, a.S, a.B)
	d.standardizeColumns(standardizeTask{
		c: a.C, s: a.S, b: a.B, eps: float64(a.Eps), relu: a.ReLU,
		measure: optional(op, "Measure", a.Measure, a.S*a.B),
		x:       host(op, "X", a.X, n),
		y:       host(op, "Y", a.Y, n),
		mean:    host(op, "Mean", a.Mean, a.C*a.B),
		invStd:  host(op, "InvStd", a.InvStd, a.C*a.B),
	})
}

// StandardizeGrad is instance normalisation backward, see StandardizeArgs.
func (d *CPU) StandardizeGrad(a *StandardizeArgs) {
	const op = "StandardizeGrad"
	n := product(op, a.C, a.S, a.B)
	d.standardizeColumns(standardizeTask{
		grad: true, c: a.C, s: a.S, b: a.B, eps: float64(a.Eps), relu: a.ReLU, addDX: a.AddDX, stream: n >= streamValues,
		measure: optional(op, "Measure", a.Measure, a.S*a.B), dMeasure: optional(op, "DMeasure", a.DMeasure, a.S*a.B),
		x:      host(op, "X", a.X, n),
		dx:     host(op, "DX", a.DX, n),
		dy:     host(op, "DY", a.DY, n),
		mean:   host(op, "Mean", a.Mean, a.C*a.B),
		invStd: host(op, "InvStd", a.InvStd, a.C*a.B),
	})
}
