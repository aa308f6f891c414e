package tensor

import (
	"math"

	"github.com/noether-go/noether/asm"
)

// Both normalisations take the mean first and then the squares of the
// deviations from it (two passes), and subtract the mean before they scale, so
// that a mean far from zero costs no accuracy.

// normPhase says what an item of a normalisation's task is. Rows that each fit
// one worker are normalised whole, while they lie in its cache; few long ones
// are shared out segment by segment, pass by pass. The sums are the same.
type normPhase uint8

const (
	wholeRows normPhase = iota
	segmentSums
	segmentSquares
	segmentOutputs
)

// whole reports whether rows of segs segments are normalised row by row.
func (d *CPU) whole(rows, segs int) bool {
	return segs == 1 || d.team.Size() == 1 || rows >= 2*d.team.Size()
}

// batchNormTask normalises the rows of x [rows, cols]. Its items are rows or,
// beyond the phase wholeRows, the segments of all rows.
type batchNormTask struct {
	phase      normPhase
	grad       bool // backward
	train      bool
	rows, cols int
	segs       int // of one row
	eps        float32
	momentum   float32

	x, y, dx, dy            []float32 // [rows, cols]
	weight, bias            []float32 // [rows]; nil: one and zero
	mean, invStd            []float32 // [rows]
	runningMean, runningVar []float32 // [rows]; nil: not wanted
	dWeight, dBias          []float32 // [rows]; nil: not wanted

	// first and second hold two sums for each segment [rows, segs]: of x and
	// of the squares; backward, of dy and of dy*(x-mean).
	first, second []float64
	scratch       [][]float32 // [workers, strip]
}

func (t *batchNormTask) Do(lo, hi, worker int) {
	centred := t.scratch[worker]
	for i := lo; i < hi; i++ {
		switch t.phase {
		case wholeRows:
			t.row(i, centred)
		case segmentSums:
			t.sum(i, centred)
		case segmentSquares:
			t.square(i)
		case segmentOutputs:
			t.output(i, centred)
		}
	}
}

// row runs all phases for row r.
func (t *batchNormTask) row(r int, centred []float32) {
	lo, hi := r*t.segs, (r+1)*t.segs
	if t.grad || t.train {
		for i := lo; i < hi; i++ {
			t.sum(i, centred)
		}
		t.finishSum(r)
	}
	if t.train && !t.grad {
		for i := lo; i < hi; i++ {
			t.square(i)
		}
		t.finishSquare(r)
	}
	for i := lo; i < hi; i++ {
		t.output(i, centred)
	}
}

// sum takes the sums of segment i. centred has room for a strip of x-mean.
func (t *batchNormTask) sum(i int, centred []float32) {
	r := i / t.segs
	lo, hi := segment(r, i%t.segs, t.cols)
	if !t.grad {
		t.first[i] = sumBlocks(t.x[lo:hi])
		return
	}
	var first, second float64
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		c, dy := centred[:end-lo], t.dy[lo:end]
		asm.Affine(c, t.x[lo:end], 1, -t.mean[r])
		first += float64(asm.Sum(dy))
		second += float64(asm.Dot(dy, c))
	}
	t.first[i], t.second[i] = first, second
}

// finishSum turns the sums of row r into the mean or, backward, into the
// gradients of weight and bias. first[r*segs] and second[r*segs] keep the sums.
func (t *batchNormTask) finishSum(r int) {
	at := r * t.segs
	first := total(t.first[at : at+t.segs])
	t.first[at] = first
	if !t.grad {
		t.mean[r] = float32(first / float64(t.cols))
		return
	}
	second := total(t.second[at : at+t.segs])
	t.second[at] = second
	if t.dBias != nil {
		t.dBias[r] = float32(float64(t.dBias[r]) + first)
	}
	if t.dWeight != nil {
		t.dWeight[r] = float32(float64(t.dWeight[r]) + float64(second*float64(t.invStd[r])))
	}
}

// square takes the squared deviations of segment i.
func (t *batchNormTask) square(i int) {
	r := i / t.segs
	lo, hi := segment(r, i%t.segs, t.cols)
	t.second[i] = sumSquaresBlocks(t.x[lo:hi], t.mean[r])
}

// finishSquare computes 1/sqrt(variance+eps) of row r and updates the running
// statistics. The unbiased variance of a single value is taken as zero.
func (t *batchNormTask) finishSquare(r int) {
	n := float64(t.cols)
	at := r * t.segs
	squares := total(t.second[at : at+t.segs])
	mean := t.first[at] / n
	t.invStd[r] = float32(1 / math.Sqrt(squares/n+float64(t.eps)))
	if t.runningMean == nil {
		return
	}
	m := float64(t.momentum)
	unbiased := squares / max(n-1, 1)
	t.runningMean[r] = float32(float64((1-m)*float64(t.runningMean[r])) + float64(m*mean))
	t.runningVar[r] = float32(float64((1-m)*float64(t.runningVar[r])) + float64(m*unbiased))
}

// output writes segment i of y or, backward, of dx.
func (t *batchNormTask) output(i int, centred []float32) {
	r := i / t.segs
	lo, hi := segment(r, i%t.segs, t.cols)
	weight, bias := float32(1), float32(0)
	if t.weight != nil {
		weight = t.weight[r]
	}
	if t.bias != nil {
		bias = t.bias[r]
	}
	if t.grad {
		t.gradient(lo, hi, r, float64(weight), centred)
		return
	}
	mean, scale := float32(0), float32(0)
	if t.train {
		mean, scale = t.mean[r], t.invStd[r]*weight
	} else {
		mean = t.runningMean[r]
		scale = float32(float64(weight) / math.Sqrt(float64(t.runningVar[r])+float64(t.eps)))
	}
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		y := t.y[lo:end]
		asm.Affine(y, t.x[lo:end], 1, -mean)
		asm.Affine(y, y, scale, bias)
	}
}

// gradient writes dx[lo:hi] of row r. With h = (x-mean)*invstd and sums over
// the row of n values,
//
//	dx = weight*invstd*(dy - sum(dy)/n - h*sum(dy*h)/n).
func (t *batchNormTask) gradient(lo, hi, r int, weight float64, centred []float32) {
	n, s := float64(t.cols), float64(t.invStd[r])
	scale := weight * s
	a := float32(scale)
	b := float32(-scale * s * s * t.second[r*t.segs] / n)
	c := float32(-scale * t.first[r*t.segs] / n)
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		h := centred[:end-lo]
		asm.Affine(h, t.x[lo:end], 1, -t.mean[r])
		asm.Combine(t.dx[lo:end], t.dy[lo:end], h, a, b, c)
	}
}

// normalize runs t.
func (d *CPU) normalize(t batchNormTask) {
	if t.rows == 0 || t.cols == 0 {
		return
	}
	t.segs = segments(t.cols)
	items := t.rows * t.segs
	d.reserve(2*items, strip)
	t.first, t.second = d.partial[:items], d.partial[items:2*items]
	t.scratch = d.scratch
	d.batchNorm = t
	p := &d.batchNorm
	claim := perClaim(min(t.cols, sumSegment))
	if d.whole(t.rows, t.segs) {
		p.phase = wholeRows
		d.team.For(t.rows, claim, p)
	} else {
		if t.grad || t.train {
			p.phase = segmentSums
			d.team.For(items, claim, p)
			for r := range t.rows {
				p.finishSum(r)
			}
		}
		if t.train && !t.grad {
			p.phase = segmentSquares
			d.team.For(items, claim, p)
			for r := range t.rows {
				p.finishSquare(r)
			}
		}
		p.phase = segmentOutputs
		d.team.For(items, claim, p)
	}
	d.batchNorm = batchNormTask{}
}

// BatchNorm is batch normalisation forward, see BatchNormArgs. A row of a
// single value has unbiased variance zero.
func (d *CPU) BatchNorm(a *BatchNormArgs) {
	const op = "BatchNorm"
	n := product(op, a.Rows, a.Cols)
	t := batchNormTask{
		train: a.Train, rows: a.Rows, cols: a.Cols, eps: a.Eps, momentum: a.Momentum,
		x:           host(op, "X", a.X, n),
		y:           host(op, "Y", a.Y, n),
		weight:      host(op, "Weight", a.Weight, a.Rows),
		bias:        host(op, "Bias", a.Bias, a.Rows),
		runningMean: host(op, "RunningMean", a.RunningMean, a.Rows),
		runningVar:  host(op, "RunningVar", a.RunningVar, a.Rows),
	}
	if a.Train {
		t.mean = host(op, "Mean", a.Mean, a.Rows)
		t.invStd = host(op, "InvStd", a.InvStd, a.Rows)
		if n > 0 && address(t.x) == address(t.y) {
			panic(&Error{op, "Y is X while training: the backward pass needs X"})
		}
	}
	d.normalize(t)
}

// BatchNormGrad is batch normalisation backward, through the statistics of the
// batch, see BatchNormArgs.
func (d *CPU) BatchNormGrad(a *BatchNormArgs) {
	const op = "BatchNormGrad"
	n := product(op, a.Rows, a.Cols)
	d.normalize(batchNormTask{
		grad: true, rows: a.Rows, cols: a.Cols,
		x:       host(op, "X", a.X, n),
		dx:      host(op, "DX", a.DX, n),
		dy:      host(op, "DY", a.DY, n),
		weight:  host(op, "Weight", a.Weight, a.Rows),
		mean:    host(op, "Mean", a.Mean, a.Rows),
		invStd:  host(op, "InvStd", a.InvStd, a.Rows),
		dWeight: host(op, "DWeight", a.DWeight, a.Rows),
		dBias:   host(op, "DBias", a.DBias, a.Rows),
	})
}

// Column sums are taken like the others: a kernel adds columnBlock rows in
// float32, a segment adds its blocks in float64, and segments are added in
// order.
const (
	columnBlock   = 64
	columnSegment = 16 * columnBlock
)

// standardizeTask normalises each column b of each channel of x [c, s, b]. Its
// items are channels or, beyond the phase wholeRows, the segments of all
// channels.
type standardizeTask struct {
	phase   normPhase
	grad    bool // backward
	c, s, b int
	segs    int // of one channel
	eps     float64

	x, y, dx, dy []float32 // [c, s, b]
	mean, invStd []float32 // [c, b]

	// first and second hold two sums for each segment [c, segs, b]: of x and
	// of the squares; backward, of dy and of dy*(x-mean).
	first, second []float64
	scratch       [][]float32
}

func (t *standardizeTask) Do(lo, hi, worker int) {
	v := columns(t.scratch[worker], t.b)
	for i := lo; i < hi; i++ {
		switch t.phase {
		case wholeRows:
			t.channel(i, &v)
		case segmentSums:
			t.sum(i, &v)
		case segmentSquares:
			t.square(i, &v)
		case segmentOutputs:
			t.output(i, &v)
		}
	}
}

// columnScratch is the memory of one worker.
type columnScratch struct {
	ones, a, b, c []float32 // [b]; ones holds ones
	sum           []float32 // [b]
	block         []float32 // [columnBlock, b]
}

// columnScratchSize is the number of values that columns lays out.
func columnScratchSize(b int) int { return (5 + columnBlock) * b }

func columns(mem []float32, b int) columnScratch {
	v := columnScratch{
		ones:  mem[:b],
		a:     mem[b : 2*b],
		b:     mem[2*b : 3*b],
		c:     mem[3*b : 4*b],
		sum:   mem[4*b : 5*b],
		block: mem[5*b : 5*b+columnBlock*b],
	}
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
	t.finishSum(c)
	if !t.grad {
		for i := lo; i < hi; i++ {
			t.square(i, v)
		}
		t.finishSquare(c)
	}
	for i := lo; i < hi; i++ {
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
	if t.grad {
		t.minusMean(v, i/t.segs)
	}
	lo, hi := t.rows(i)
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		x := t.x[from*b : to*b]
		if !t.grad {
			asm.ColSum(v.sum, x)
			accumulate(first, v.sum, from == lo)
			continue
		}
		dy, centred := t.dy[from*b:to*b], v.block[:len(x)]
		asm.ColSum(v.sum, dy)
		accumulate(first, v.sum, from == lo)
		asm.ColAffine(centred, x, v.ones, v.a)
		asm.ColDot(v.sum, dy, centred)
		accumulate(second, v.sum, from == lo)
	}
}

// minusMean sets v.a to the negative mean of channel c.
func (t *standardizeTask) minusMean(v *columnScratch, c int) {
	asm.Affine(v.a, t.mean[c*t.b:(c+1)*t.b], -1, 0)
}

// square takes the squared deviations of segment i.
func (t *standardizeTask) square(i int, v *columnScratch) {
	b, c := t.b, i/t.segs
	mean := t.mean[c*b : (c+1)*b]
	second := t.second[i*b : (i+1)*b]
	lo, hi := t.rows(i)
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		asm.ColSumSquares(v.sum, t.x[from*b:to*b], mean)
		accumulate(second, v.sum, from == lo)
	}
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

// finishSum gathers the sums of channel c and, forward, writes the mean.
func (t *standardizeTask) finishSum(c int) {
	first := t.gather(t.first, c)
	if t.grad {
		t.gather(t.second, c)
		return
	}
	for j, v := range first {
		t.mean[c*t.b+j] = float32(v / float64(t.s))
	}
}

// finishSquare computes 1/sqrt(variance+eps) of channel c.
func (t *standardizeTask) finishSquare(c int) {
	for j, v := range t.gather(t.second, c) {
		t.invStd[c*t.b+j] = float32(1 / math.Sqrt(v/float64(t.s)+t.eps))
	}
}

// output writes segment i of y or, backward, of dx: the formula of
// batchNormTask.gradient with weight one.
func (t *standardizeTask) output(i int, v *columnScratch) {
	b, c := t.b, i/t.segs
	invStd := t.invStd[c*b : (c+1)*b]
	t.minusMean(v, c)
	if t.grad {
		n, at := float64(t.s), c*t.segs*b
		for j, s := range invStd {
			s := float64(s)
			v.b[j] = float32(-s * s * s * t.second[at+j] / n)
			v.c[j] = float32(-s * t.first[at+j] / n)
		}
	} else {
		clear(v.c)
	}
	lo, hi := t.rows(i)
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		x := t.x[from*b : to*b]
		if t.grad {
			centred := v.block[:len(x)]
			asm.ColAffine(centred, x, v.ones, v.a)
			asm.ColCombine(t.dx[from*b:to*b], t.dy[from*b:to*b], centred, invStd, v.b, v.c)
			continue
		}
		y := t.y[from*b : to*b]
		asm.ColAffine(y, x, v.ones, v.a)
		asm.ColAffine(y, y, invStd, v.c)
	}
}

// standardizeColumns runs t.
func (d *CPU) standardizeColumns(t standardizeTask) {
	if t.c == 0 || t.s == 0 || t.b == 0 {
		return
	}
	if t.b == 1 { // the channels are rows without gaps
		d.normalize(batchNormTask{
			grad: t.grad, train: true, rows: t.c, cols: t.s, eps: float32(t.eps),
			x: t.x, y: t.y, dx: t.dx, dy: t.dy, mean: t.mean, invStd: t.invStd,
		})
		return
	}
	t.segs = (t.s-1)/columnSegment + 1
	items := t.c * t.segs
	d.reserve(2*items*t.b, columnScratchSize(t.b))
	t.first, t.second = d.partial[:items*t.b], d.partial[items*t.b:2*items*t.b]
	t.scratch = d.scratch
	d.standardize = t
	p := &d.standardize
	if d.whole(t.c, t.segs) {
		p.phase = wholeRows
		d.team.For(t.c, perClaim(t.s*t.b), p)
	} else {
		claim := perClaim(min(t.s, columnSegment) * t.b)
		p.phase = segmentSums
		d.team.For(items, claim, p)
		for c := range t.c {
			p.finishSum(c)
		}
		if !t.grad {
			p.phase = segmentSquares
			d.team.For(items, claim, p)
			for c := range t.c {
				p.finishSquare(c)
			}
		}
		p.phase = segmentOutputs
		d.team.For(items, claim, p)
	}
	d.standardize = standardizeTask{}
}

// Standardize is instance normalisation forward, see StandardizeArgs.
func (d *CPU) Standardize(a *StandardizeArgs) {
	const op = "Standardize"
	n := product(op, a.C, a.S, a.B)
	d.standardizeColumns(standardizeTask{
		c: a.C, s: a.S, b: a.B, eps: float64(a.Eps),
		x:      host(op, "X", a.X, n),
		y:      host(op, "Y", a.Y, n),
		mean:   host(op, "Mean", a.Mean, a.C*a.B),
		invStd: host(op, "InvStd", a.InvStd, a.C*a.B),
	})
}

// StandardizeGrad is instance normalisation backward, see StandardizeArgs.
func (d *CPU) StandardizeGrad(a *StandardizeArgs) {
	const op = "StandardizeGrad"
	n := product(op, a.C, a.S, a.B)
	d.standardizeColumns(standardizeTask{
		grad: true, c: a.C, s: a.S, b: a.B,
		x:      host(op, "X", a.X, n),
		dx:     host(op, "DX", a.DX, n),
		dy:     host(op, "DY", a.DY, n),
		mean:   host(op, "Mean", a.Mean, a.C*a.B),
		invStd: host(op, "InvStd", a.InvStd, a.C*a.B),
	})
}
