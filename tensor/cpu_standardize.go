package tensor

import (
	"math"

	"github.com/noether-go/noether/asm"
)

// Column sums are taken like the others: a kernel adds momentRows or columnBlock
// rows in float32, a segment joins its blocks in float64, and segments are joined
// in order.
const (
	columnBlock   = 64
	momentRows    = 4 * columnBlock // whose joining costs little beside their sums
	columnSegment = 4 * momentRows
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
	apart   bool // the means of what is joined lie apart, and must be exact
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
	ones, a, b, c []float32 // [b]; ones holds ones
	sum           []float32 // [b]
	centred       []float32 // [columnBlock, b]
	passed        []float32 // [columnBlock, b]
}

// columnScratchSize is the number of values that columns lays out.
func columnScratchSize(b int) int { return (5 + 2*columnBlock) * b }

func columns(mem []float32, b int) columnScratch {
	v := columnScratch{
		ones: mem[:b],
		a:    mem[b : 2*b],
		b:    mem[2*b : 3*b],
		c:    mem[3*b : 4*b],
		sum:  mem[4*b : 5*b],
	}
	mem = mem[5*b:]
	v.centred, v.passed = mem[:columnBlock*b], mem[columnBlock*b:2*columnBlock*b]
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

// accumulate adds x to sums, or sets them.
func accumulate(sums []float64, x []float32, set bool) {
	x = x[:len(sums)]
	if set {
		for j, v := range x {
			sums[j] = float64(v)
		}
		return
	}
	for j, v := range x {
		sums[j] += float64(v)
	}
}

// sum takes the sums of segment i.
func (t *standardizeTask) sum(i int, v *columnScratch) {
	b := t.b
	first, second := t.first[i*b:(i+1)*b], t.second[i*b:(i+1)*b]
	lo, hi := t.rows(i)
	if !t.grad && t.measure != nil {
		t.weightedMoments(first, second, i, v)
		return
	}
	if !t.grad {
		for from := lo; from < hi; from += momentRows {
			to := min(from+momentRows, hi)
			t.moments(first, second, t.x[from*b:to*b], from-lo, v)
		}
		return
	}
	t.minusMean(v, i/t.segs)
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		centred, d := t.pass(from, to, v)
		asm.ColSum(v.sum, d)
		accumulate(first, v.sum, from == lo)
		asm.ColDot(v.sum, d, centred)
		accumulate(second, v.sum, from == lo)
	}
}

// moments joins the sums and squared deviations of the columns of x to those of
// the rows before it in the segment.
func (t *standardizeTask) moments(sums, squares []float64, x []float32, before int, v *columnScratch) {
	rows := float64(len(x) / t.b)
	asm.ColSum(v.sum, x)
	asm.Affine(v.a, v.sum, float32(1/rows), 0) // close to the mean
	if t.apart {
		t.remainders(x, v)
	}
	asm.ColSumSquares(v.b, x, v.a)
	for j, s := range v.sum {
		sum := float64(s)
		if t.apart {
			sum += float64(rows * float64(v.a[j]))
		}
		m := about(rows, sum, float64(v.b[j]), v.a[j])
		if before > 0 {
			m = moments{float64(before), sums[j], squares[j]}.join(m)
		}
		sums[j], squares[j] = m.sum, m.squares
	}
}

// remainders sets v.sum to the sums of the columns of x less v.a. They are small, and
// have the digits that sums of values far from zero have lost.
func (t *standardizeTask) remainders(x []float32, v *columnScratch) {
	asm.Affine(v.c, v.a, -1, 0)
	asm.Fill(v.sum, 0)
	for len(x) > 0 {
		block := x[:min(len(x), columnBlock*t.b)]
		centred := v.centred[:len(block)]
		asm.ColAffine(centred, block, v.ones, v.c)
		asm.ColSum(v.b, centred)
		asm.Add(v.sum, v.sum, v.b)
		x = x[len(block):]
	}
}

// pass returns x-mean of the rows from to to, v.a holding the negative mean, and
// what the ReLU lets pass of dy.
func (t *standardizeTask) pass(from, to int, v *columnScratch) (centred, d []float32) {
	lo, hi := from*t.b, to*t.b
	centred = v.centred[:hi-lo]
	asm.ColAffine(centred, t.x[lo:hi], v.ones, v.a)
	if !t.relu {
		return centred, t.dy[lo:hi]
	}
	d = v.passed[:hi-lo]
	asm.ReluGrad(d, t.dy[lo:hi], centred) // the scale is positive
	return centred, d
}

// minusMean sets v.a to the negative mean of channel c.
func (t *standardizeTask) minusMean(v *columnScratch, c int) {
	asm.Affine(v.a, t.mean[c*t.b:(c+1)*t.b], -1, 0)
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

// gradient sets v.b and v.c to the b and c of dx = invStd*d + (b*(x-mean) + c) in
// channel c: the formula of batchNormTask.gradient with weight one.
func (t *standardizeTask) gradient(v *columnScratch, c int) {
	at, n := c*t.segs*t.b, float64(t.s)
	for j, s := range t.invStd[c*t.b : (c+1)*t.b] {
		if t.measure != nil {
			n = t.counts[t.segs*t.b+j]
		}
		s := float64(s)
		v.b[j] = float32(-s * s * s * t.second[at+j] / n)
		v.c[j] = float32(-s * t.first[at+j] / n)
	}
}

// output writes segment i of y or, backward, of dx.
func (t *standardizeTask) output(i int, v *columnScratch) {
	b, c := t.b, i/t.segs
	invStd := t.invStd[c*b : (c+1)*b]
	t.minusMean(v, c)
	if t.grad {
		t.gradient(v, c)
	} else {
		clear(v.c)
	}
	lo, hi := t.rows(i)
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		if t.grad {
			dx := t.dx[from*b : to*b]
			centred, d := t.pass(from, to, v)
			if t.measure != nil {
				at := from - c*t.s
				t.weightedOutput(dx, centred, d, t.measure[at*b:(at+to-from)*b], invStd, v.b, v.c, v)
				continue
			}
			if t.addDX || t.stream {
				asm.ColCombine(centred, d, centred, invStd, v.b, v.c)
				deliver(dx, centred, t.addDX, t.stream)
			} else {
				asm.ColCombine(dx, d, centred, invStd, v.b, v.c)
			}
			continue
		}
		y := t.y[from*b : to*b]
		asm.ColAffine(y, t.x[from*b:to*b], v.ones, v.a)
		asm.ColAffine(y, y, invStd, v.c)
		if t.relu {
			asm.Relu(y, y)
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
			grad: t.grad, train: true, rows: t.c, cols: t.s, eps: float32(t.eps), floor: float32(math.Inf(-1)),
			x: t.x, y: t.y, dx: t.dx, dy: t.dy, addDX: t.addDX, stream: t.stream, mean: t.mean, invStd: t.invStd,
			measure: t.measure, dMeasure: t.dMeasure,
		}
		if t.relu {
			rows.floor = 0
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
