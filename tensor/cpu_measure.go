package tensor

import "github.com/noether-go/noether/asm"

// Normalisation against a measure: the values of a row are in its statistics with
// weights w, each of which many rows share. With z = (x-mean)*invstd, W = sum(w), d
// for what passes of dy, and sums over the row,
//
//	dx = weight*invstd*(d - w*(sum(d) + z*sum(d*z))/W)
//	dw = -sum over rows of weight*(sum(d)*z + sum(d*z)*(z^2 - var*invstd^2)/2)/W
//
// A value of weight zero is normalised like the others, and its w has a gradient.

// weightedMoments is momentsOf for values with the weights w. The pivot is their mean.
func weightedMoments(x, addend, w []float32) moments {
	if addend != nil {
		asm.Add(x, x, addend)
	}
	n := sumBlocks(w)
	if n == 0 {
		return moments{}
	}
	pivot := float32(dotBlocks(x, w) / n)
	sum, squares := asm.Moments(x, w, pivot)
	return around(n, sum, squares, pivot)
}

// addStatistics adds w*(slope*(x-mean) + shift) to g.
func addStatistics(g, x, w []float32, mean, slope, shift float32) {
	m := asm.NormMap{Mean: mean, Scale: 0, Shift: 0, Floor: floor(false)} // all of g passes
	asm.NormGrad(g, g, x, w, &m, 1, slope, shift)
}

// gradMeasure writes strip i of the gradient of the measure.
func (t *batchNormTask) gradMeasure(i int, scratch []float32) {
	lo := i * strip
	hi := min(lo+strip, t.cols)
	dw := t.dMeasure[lo:hi]
	centred, slope := scratch[:hi-lo], scratch[strip:][:hi-lo]
	asm.Fill(dw, 0)
	constant := 0.0
	for r := range t.rows {
		_, b, c := t.gradient(r)
		asm.Affine(centred, t.x[r*t.cols+lo:r*t.cols+hi], 1, -t.mean[r])
		asm.Affine(slope, centred, b/2, c)
		asm.MulAdd(dw, slope, centred)
		constant -= float64(b/2) * variance(t.invStd[r], float64(t.eps))
	}
	asm.Affine(dw, dw, 1, float32(constant))
}

// variance undoes invStd = 1/sqrt(variance+eps).
func variance(invStd float32, eps float64) float64 {
	s := float64(invStd)
	return 1/(s*s) - eps
}

// countMeasure sets t.counts.
func (t *standardizeTask) countMeasure(v columnScratch) {
	all := t.counts[t.segs*t.b:]
	clear(all)
	for s := range t.segs {
		counts := t.counts[s*t.b : (s+1)*t.b]
		hi := min((s+1)*columnSegment, t.s)
		clear(counts)
		for from := s * columnSegment; from < hi; from += columnBlock {
			asm.ColSum(v.pivot, t.measure[from*t.b:min(from+columnBlock, hi)*t.b])
			for j, n := range v.pivot {
				counts[j] += float64(n)
			}
		}
		for j, n := range counts {
			all[j] += n
		}
	}
}

// gradMeasure writes block i of rows of the gradient of the measure.
func (t *standardizeTask) gradMeasure(i int, v *columnScratch) {
	dw, lo, constant := t.measureBlock(i, v)
	for c := range t.c {
		t.gradient(v, c)
		for j, q := range v.q {
			v.q[j] = q / 2
			constant[j] -= float32(v.q[j] * float32(variance(t.invStd[c*t.b+j], t.eps)))
		}
		t.addSlope(dw, c, lo, t.mean[c*t.b:(c+1)*t.b], v)
	}
	asm.ColAffine(dw, dw, v.ones, constant)
}

// measureBlock returns block i of the gradient of the measure, zeros as yet, the row that
// it begins with, and zeros for each column.
func (t *standardizeTask) measureBlock(i int, v *columnScratch) (dw []float32, lo int, constant []float32) {
	lo = i * columnBlock
	dw = t.dMeasure[lo*t.b : min(lo+columnBlock, t.s)*t.b]
	clear(dw)
	clear(v.pivot)
	return dw, lo, v.pivot
}

// addSlope adds (q*(x-mean) + r)*(x-mean) to dw, of the rows of channel c from lo on, with
// q and r of v.
func (t *standardizeTask) addSlope(dw []float32, c, lo int, mean []float32, v *columnScratch) {
	centred, slope := v.block[:len(dw)], v.other[:len(dw)]
	asm.Affine(v.shift, mean, -1, 0)
	asm.ColAffine(centred, t.x[(c*t.s+lo)*t.b:][:len(dw)], v.ones, v.shift)
	asm.ColAffine(slope, centred, v.q, v.r)
	asm.MulAdd(dw, slope, centred)
}

// gradMeasure writes block i of rows of the gradient of the measure.
func (t *layerNormTask) gradMeasure(i int, v *columnScratch) {
	dw, lo, constant := t.measureBlock(i, v)
	t.slopes(v)
	for j, q := range v.q {
		v.q[j] = q / 2
		constant[j] = -float32(float64(v.q[j]) * variance(t.invStd[j], t.eps) * float64(t.c))
	}
	for c := range t.c {
		t.addSlope(dw, c, lo, t.mean, v)
	}
	asm.ColAffine(dw, dw, v.ones, constant)
}
