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

// weightedMoments returns the moments of x with the weights w, after adding addend
// to it (nil: nothing).
func weightedMoments(x, addend, w, scratch []float32) moments {
	var m moments
	for lo := 0; lo < len(x); lo += strip {
		hi := min(lo+strip, len(x))
		block, weights := x[lo:hi], w[lo:hi]
		if addend != nil {
			asm.Add(block, block, addend[lo:hi])
		}
		n := float64(asm.Sum(weights))
		if n == 0 {
			continue
		}
		pivot := float32(float64(asm.Dot(block, weights)) / n)
		centred, weighted := scratch[:hi-lo], scratch[strip:][:hi-lo]
		asm.Affine(centred, block, 1, -pivot)
		asm.Mul(weighted, centred, weights)
		sum := float64(n*float64(pivot)) + float64(asm.Sum(weighted)) // to the last digit
		m = m.join(about(n, sum, float64(asm.Dot(weighted, centred)), pivot))
	}
	return m
}

// addStatistics adds w*(slope*(x-mean) + shift) to g.
func (t *batchNormTask) addStatistics(g, x, w []float32, mean, slope, shift float32, scratch []float32) {
	for lo := 0; lo < len(x); lo += strip {
		hi := min(lo+strip, len(x))
		s := scratch[:hi-lo]
		asm.Affine(s, x[lo:hi], 1, -mean)
		asm.Affine(s, s, slope, shift)
		asm.Mul(s, s, w[lo:hi])
		asm.Add(g[lo:hi], g[lo:hi], s)
	}
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
		for from := s * columnSegment; from < hi; from += columnBlock {
			asm.ColSum(v.sum, t.measure[from*t.b:min(from+columnBlock, hi)*t.b])
			accumulate(counts, v.sum, from == s*columnSegment)
		}
		for j, n := range counts {
			all[j] += n
		}
	}
}

// weightedMoments takes the sums of segment i of x and of its squared deviations.
func (t *standardizeTask) weightedMoments(sums, squares []float64, i int, v *columnScratch) {
	counts := t.counts[i%t.segs*t.b:][:t.b]
	t.blocks(i, func(x, w []float32, first bool) {
		asm.ColDot(v.sum, x, w)
		accumulate(sums, v.sum, first)
	})
	for j, n := range counts {
		v.a[j] = 0
		if n != 0 {
			v.a[j] = float32(-sums[j] / n)
		}
		sums[j] = -float64(n * float64(v.a[j])) // and what is missing to the last digit
	}
	t.blocks(i, func(x, w []float32, first bool) {
		centred, weighted := v.centred[:len(x)], v.passed[:len(x)]
		asm.ColAffine(centred, x, v.ones, v.a)
		asm.Mul(weighted, centred, w)
		asm.ColSum(v.sum, weighted)
		accumulate(sums, v.sum, false)
		asm.ColDot(v.sum, weighted, centred)
		accumulate(squares, v.sum, first)
	})
	for j, n := range counts {
		if n != 0 {
			squares[j] = about(n, sums[j], squares[j], -v.a[j]).squares
		}
	}
}

// blocks calls f for each block of rows of segment i of x, with its weights.
func (t *standardizeTask) blocks(i int, f func(x, w []float32, first bool)) {
	lo, hi := t.rows(i)
	channel := i / t.segs * t.s
	for from := lo; from < hi; from += columnBlock {
		to := min(from+columnBlock, hi)
		f(t.x[from*t.b:to*t.b], t.measure[(from-channel)*t.b:(to-channel)*t.b], from == lo)
	}
}

// weightedOutput writes to dx, or adds to it, scale*d + w*(slope*(x-mean) + shift) for
// a block of rows with the weights w.
func (t *standardizeTask) weightedOutput(dx, centred, d, w, scale, slope, shift []float32, v *columnScratch) {
	asm.ColAffine(centred, centred, slope, shift)
	asm.Mul(centred, centred, w)
	clear(v.sum)
	if t.addDX || t.stream {
		asm.ColCombine(centred, d, centred, scale, v.ones, v.sum)
		deliver(dx, centred, t.addDX, t.stream)
	} else {
		asm.ColCombine(dx, d, centred, scale, v.ones, v.sum)
	}
}

// gradMeasure writes block i of rows of the gradient of the measure.
func (t *standardizeTask) gradMeasure(i int, v *columnScratch) {
	b := t.b
	lo := i * columnBlock
	hi := min(lo+columnBlock, t.s)
	dw := t.dMeasure[lo*b : hi*b]
	centred, slope := v.centred[:len(dw)], v.passed[:len(dw)]
	asm.Fill(dw, 0)
	constant := v.sum
	clear(constant)
	for c := range t.c {
		t.gradient(v, c)
		for j, q := range v.b {
			v.b[j] = q / 2
			constant[j] -= float32(v.b[j] * float32(variance(t.invStd[c*b+j], t.eps)))
		}
		t.minusMean(v, c)
		asm.ColAffine(centred, t.x[(c*t.s+lo)*b:(c*t.s+hi)*b], v.ones, v.a)
		asm.ColAffine(slope, centred, v.b, v.c)
		asm.MulAdd(dw, slope, centred)
	}
	asm.ColAffine(dw, dw, v.ones, constant)
}

// gradMeasure writes block i of rows of the gradient of the measure.
func (t *layerNormTask) gradMeasure(i int, v *sampleScratch) {
	b := t.b
	lo := i * columnBlock
	hi := min(lo+columnBlock, t.s)
	dw := t.dMeasure[lo*b : hi*b]
	centred, slope := v.centred[:len(dw)], v.passed[:len(dw)]
	asm.Fill(dw, 0)
	t.slopes(v)
	constant := v.sum
	for j, q := range v.slope {
		v.slope[j] = q / 2
		constant[j] = -float32(float64(v.slope[j]) * variance(t.invStd[j], t.eps) * float64(t.c))
	}
	asm.Affine(v.a, t.mean, -1, 0)
	for c := range t.c {
		asm.ColAffine(centred, t.x[(c*t.s+lo)*b:(c*t.s+hi)*b], v.ones, v.a)
		asm.ColAffine(slope, centred, v.slope, v.level)
		asm.MulAdd(dw, slope, centred)
	}
	asm.ColAffine(dw, dw, v.ones, constant)
}
