package devicetest

import "math"

// The references are written for one vector of values, in float64. Their
// gradients are tested against central differences of their values.

// normalized holds what a normalisation computes of a vector x.
type normalized struct {
	mean, variance, invStd float64 // the variance is the biased one
	y                      []float64
}

// normalize returns y = (x-mean)/sqrt(variance+eps), with x weighted by w (nil: 1) in
// mean and variance.
func normalize(x, w []float64, eps float64) normalized {
	var r normalized
	n := 0.0
	for i := range x {
		n += weightAt(w, i)
	}
	for i, v := range x {
		r.mean += weightAt(w, i) * v / n
	}
	for i, v := range x {
		r.variance += weightAt(w, i) * (v - r.mean) * (v - r.mean) / n
	}
	r.invStd = 1 / math.Sqrt(r.variance+eps)
	for _, v := range x {
		r.y = append(r.y, (v-r.mean)*r.invStd)
	}
	return r
}

func weightAt(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// normalizeGrad returns the gradient to x of the sum of dy*normalize(x, w).y, with
// the mean and 1/sqrt(variance+eps) of x given, and that to w.
func normalizeGrad(x, w, dy []float64, mean, invStd, eps float64) (dx, dw []float64) {
	var n, sum, dot float64
	for i, v := range x {
		n += weightAt(w, i)
		sum += dy[i]
		dot += dy[i] * (v - mean) * invStd
	}
	variance := 1/(invStd*invStd) - eps
	for i, v := range x {
		z := (v - mean) * invStd
		dx = append(dx, invStd*(dy[i]-weightAt(w, i)*(sum+z*dot)/n))
		dw = append(dw, -(sum*z+dot*(z*z-variance*invStd*invStd)/2)/n)
	}
	return dx, dw
}

// softmax returns the probabilities of logits and -log of that of label.
func softmax(logits []float64, label int) (prob []float64, loss float64) {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = math.Max(largest, v)
	}
	var sum float64
	for _, v := range logits {
		sum += math.Exp(v - largest)
	}
	for _, v := range logits {
		prob = append(prob, math.Exp(v-largest)/sum)
	}
	return prob, math.Log(sum) - (logits[label] - largest)
}

// softmaxGrad returns the gradient to the logits of the loss of softmax.
func softmaxGrad(prob []float64, label int) []float64 {
	g := append([]float64(nil), prob...)
	g[label]--
	return g
}

// larger reports whether v replaces m as a maximum: NaN is larger than any
// number, and the first of equals stays.
func larger(v, m float64) bool { return v > m || math.IsNaN(v) && !math.IsNaN(m) }
