package tensor

import "github.com/noether-go/noether/asm"

// layerNormTask normalises each sample b of x [c, s, b] over all its channels, by the
// column sums of a standardisation: those of the channels' segments are joined once
// more. Its items are the segments of all channels.
type layerNormTask struct {
	standardizeTask
	weight, bias   []float32 // [c]
	dWeight, dBias []float32 // [c]
}

func (t *layerNormTask) Do(lo, hi, worker int) {
	v := columns(t.scratch[worker], t.b)
	for i := lo; i < hi; i++ {
		switch {
		case t.phase == segmentOutputs:
			t.output(i, &v)
		case t.grad:
			t.gradSums(i, &v)
		default:
			t.sum(i, &v)
		}
	}
}

// gradSums takes the sums of segment i of d and d*(x-mean), where d is what passes
// of dy.
func (t *layerNormTask) gradSums(i int, v *columnScratch) {
	first, second := t.first[i*t.b:(i+1)*t.b], t.second[i*t.b:(i+1)*t.b]
	clear(first)
	clear(second)
	lo, hi := t.rows(i)
	asm.ColNormSums(first, second, t.dy[lo*t.b:hi*t.b], t.x[lo*t.b:hi*t.b], t.normal(i/t.segs, v))
}

// normal returns what happens to the values of channel c.
func (t *layerNormTask) normal(c int, v *columnScratch) *asm.ColNormMap {
	asm.Affine(v.scale, t.invStd, t.weight[c], 0)
	asm.Fill(v.shift, t.bias[c])
	v.m = asm.ColNormMap{Mean: t.mean, Scale: v.scale, Shift: v.shift, Floor: floor(t.relu)}
	return &v.m
}

// finish joins the segments: to mean and deviation of each sample or, backward, to
// the gradients of weight and bias and, from the sums over a sample of d*weight and
// d*weight*(x-mean), to r and q, which then begin first and second.
func (t *layerNormTask) finish() {
	if !t.grad {
		for j := range t.b {
			var m moments
			for c := range t.c {
				m = t.join(m, c, j)
			}
			t.finishColumn(j, m)
			t.keepMoments(j)
		}
		return
	}
	for c := range t.c {
		first, second := t.gather(t.first, c), t.gather(t.second, c)
		var sum, dot float64
		for j := range t.b {
			sum += first[j]
			dot += float64(second[j] * float64(t.invStd[j]))
		}
		t.dBias[c] = float32(float64(t.dBias[c]) + sum)
		t.dWeight[c] = float32(float64(t.dWeight[c]) + dot)
		w := float64(t.weight[c])
		for j := range t.b {
			if c == 0 {
				first[j] *= w
				second[j] *= w
				continue
			}
			t.first[j] += float64(w * first[j])
			t.second[j] += float64(w * second[j])
		}
	}
	t.slopes(t.first, t.second, t.invStd, t.c)
}

// keepMoments keeps what the gradient of the measure depends on in sample j.
func (t *layerNormTask) keepMoments(j int) {
	if t.measure.first == nil {
		return
	}
	for e := range t.measure.elements {
		var m moments
		for c := range t.c {
			m = m.join(t.elementMoments(c, e, j))
		}
		t.measure.keep(e*t.b+j, m, t.mean[j])
	}
}

// gradMeasure writes the gradient of the measure.
func (t *layerNormTask) gradMeasure() {
	m := &t.measure
	clear(m.grad)
	values := float64(t.c * (t.s / m.elements))
	for e := range m.elements {
		grad := m.grad[e*m.lists:][:m.lists]
		for j := range t.b {
			grad[m.of(j)] += float32(m.weightGrad(e*t.b+j, t.second[j], t.first[j], values, variance(t.invStd[j], t.eps)))
		}
	}
}

// output writes segment i of y or, backward, of dx: with h = (x-mean)*invstd and sums
// over the n values of a sample,
//
//	dx = invstd*(weight*d - sum(weight*d)/n - h*sum(weight*d*h)/n)
func (t *layerNormTask) output(i int, v *columnScratch) {
	c := i / t.segs
	lo, hi := t.rows(i)
	m := t.normal(c, v)
	if !t.grad {
		asm.ColNorm(t.y[lo*t.b:hi*t.b], t.x[lo*t.b:hi*t.b], m)
		return
	}
	t.setSlopes(v.q, v.r, t.first, t.second, t.element(i%t.segs))
	t.write(lo, hi, m, v)
}

// normalizeSamples runs t.
func (d *CPU) normalizeSamples(t layerNormTask, fixed bool) {
	if t.c == 0 || t.s == 0 || t.b == 0 {
		return
	}
	t.cut()
	t.reserve(d)
	items := t.c * t.segs
	d.layerNorm = t
	p := &d.layerNorm
	claim := perClaim(min(t.s, columnSegment) * t.b)
	if !fixed {
		p.phase = segmentSums
		d.team.For(items, claim, p)
		p.finish()
	}
	p.phase = segmentOutputs
	d.team.For(items, claim, p)
	if t.grad && t.measure.grad != nil {
		p.gradMeasure()
	}
	d.layerNorm = layerNormTask{}
}

// LayerNorm is layer normalisation forward, see LayerNormArgs.
func (d *CPU) LayerNorm(a *LayerNormArgs) {
	const op = "LayerNorm"
	n := product(op, a.C, a.S, a.B)
	t := layerNormTask{weight: host(op, "Weight", a.Weight, a.C), bias: host(op, "Bias", a.Bias, a.C)}
	t.standardizeTask = standardizeTask{
		c: a.C, s: a.S, b: a.B, eps: float64(a.Eps), relu: a.ReLU,
		x:       host(op, "X", a.X, n),
		y:       host(op, "Y", a.Y, n),
		mean:    host(op, "Mean", a.Mean, a.B),
		invStd:  host(op, "InvStd", a.InvStd, a.B),
		measure: columnMeasure(op, &a.Measure, a.S, a.B, a.B),
	}
	d.normalizeSamples(t, a.Fixed)
}

// LayerNormGrad is layer normalisation backward, see LayerNormArgs.
func (d *CPU) LayerNormGrad(a *LayerNormArgs) {
	const op = "LayerNormGrad"
	n := product(op, a.C, a.S, a.B)
	t := layerNormTask{
		weight: host(op, "Weight", a.Weight, a.C), bias: host(op, "Bias", a.Bias, a.C),
		dWeight: host(op, "DWeight", a.DWeight, a.C), dBias: host(op, "DBias", a.DBias, a.C),
	}
	t.standardizeTask = standardizeTask{
		grad: true, c: a.C, s: a.S, b: a.B, eps: float64(a.Eps), relu: a.ReLU, addDX: a.AddDX, stream: n >= streamValues,
		x:       host(op, "X", a.X, n),
		dx:      host(op, "DX", a.DX, n),
		dy:      host(op, "DY", a.DY, n),
		mean:    host(op, "Mean", a.Mean, a.B),
		invStd:  host(op, "InvStd", a.InvStd, a.B),
		measure: columnMeasure(op, &a.Measure, a.S, a.B, a.B),
	}
	d.normalizeSamples(t, false)
}
