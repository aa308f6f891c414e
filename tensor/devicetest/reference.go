package devicetest

import "math"

// The references are written for one vector of values, in float64. Their
// gradients are tested against central differences of their values.

// normalized holds what a normalisation computes of a vector x.
type normalized struct {
	mean, variance, invStd float64 // the variance is the biased one
	y                      []float64
}

// normalize returns y = (x-mean)/sqrt(variance+eps).
func normalize(x []float64, eps float64) normalized {
	var r normalized
	n := float64(len(x))
	for _, v := range x {
		r.mean += v / n
	}
	for _, v := range x {
		r.variance += (v - r.mean) * (v - r.mean) / n
	}
	r.invStd = 1 / math.Sqrt(r.variance+eps)
	for _, v := range x {
		r.y = append(r.y, (v-r.mean)*r.invStd)
	}
	return r
}

// normalizeGrad returns the gradient to x of the sum of dy*normalize(x).y, with
// the mean and 1/sqrt(variance+eps) of x given.
func normalizeGrad(x, dy []float64, mean, invStd float64) []float64 {
	n := float64(len(x))
	var sum, dot float64
	for i, v := range x {
		sum += dy[i] / n
		dot += dy[i] * (v - mean) * invStd / n
	}
	dx := make([]float64, len(x))
	for i, v := range x {
		dx[i] = invStd * (dy[i] - sum - (v-mean)*invStd*dot)
	}
	return dx
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
