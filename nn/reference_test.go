package nn_test

import "math"

// The layers' definitions, written plainly in float64. Maps are
// [C, n, H, W, B] as everywhere.

// refNorm standardises each channel of x [c, per], for each of b samples alone
// (b > 1, batch innermost) or all values together (b = 1). eps is 1e-5.
func refNorm(x []float64, c, per, b int) []float64 { return refNormBy(x, ones(per), c, b, 1e-5) }

// refNormBy is refNorm with weights w [per] of the values of a channel.
func refNormBy(x, w []float64, c, b int, eps float64) []float64 {
	y := make([]float64, len(x))
	for k := range c {
		x, y := x[k*len(w):(k+1)*len(w)], y[k*len(w):(k+1)*len(w)]
		for i := range b {
			var mean, variance, n float64
			for j := i; j < len(w); j += b {
				mean += w[j] * x[j]
				n += w[j]
			}
			mean /= n
			for j := i; j < len(w); j += b {
				variance += w[j] * (x[j] - mean) * (x[j] - mean) / n
			}
			for j := i; j < len(w); j += b {
				y[j] = (x[j] - mean) / math.Sqrt(variance+eps)
			}
		}
	}
	return y
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

func refAffine(x, weight, bias []float64) []float64 {
	y := make([]float64, len(x))
	per := len(x) / len(weight)
	for i := range x {
		y[i] = weight[i/per]*x[i] + bias[i/per]
	}
	return y
}

func refReLU(x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = math.Max(x[i], 0)
	}
	return y
}

func refAdd(a, b []float64) []float64 {
	y := make([]float64, len(a))
	for i := range a {
		y[i] = a[i] + b[i]
	}
	return y
}

func refMaxPool2(x []float64, s shape) []float64 {
	h, w := s.h/2, s.w/2
	y := make([]float64, s.c*s.live*h*w*s.b)
	for i := range y {
		b, col, row, plane := i%s.b, i/s.b%w, i/s.b/w%h, i/s.b/w/h
		at := func(dr, dc int) float64 { return x[((plane*s.h+2*row+dr)*s.w+2*col+dc)*s.b+b] }
		y[i] = max(at(0, 0), at(0, 1), at(1, 0), at(1, 1))
	}
	return y
}

func refGlobalMax(x []float64, s shape) []float64 {
	y := make([]float64, s.c*s.b)
	for i := range y {
		c, b := i/s.b, i%s.b
		y[i] = math.Inf(-1)
		for j := range s.live * s.h * s.w {
			y[i] = max(y[i], x[(c*s.live*s.h*s.w+j)*s.b+b])
		}
	}
	return y
}

func refGroupMean(x []float64, s shape) []float64 {
	points := s.h * s.w * s.b
	y := make([]float64, s.c*points)
	for i := range x {
		y[i/points/s.live*points+i%points] += x[i] / float64(s.live)
	}
	return y
}

func refLearnedPool(x, weight []float64, bias float64, s shape) []float64 {
	y := make([]float64, s.c*s.b)
	for i := range y {
		y[i] = bias
	}
	for i, v := range x {
		y[i/(len(weight)*s.b)*s.b+i%s.b] += weight[i/s.b%len(weight)] * v
	}
	return y
}

func refLinear(x, weight, bias []float64) []float64 {
	out := len(bias)
	in := len(weight) / out
	m := len(x) / in
	y := make([]float64, out*m)
	for o := range out {
		for j := range m {
			sum := bias[o]
			for i := range in {
				sum += weight[o*in+i] * x[i*m+j]
			}
			y[o*m+j] = sum
		}
	}
	return y
}

// refCrossEntropy is the mean loss of logits [classes, b] over the first
// len(labels) columns.
func refCrossEntropy(x []float64, labels []float32, b int) float64 {
	total := 0.0
	for i, label := range labels {
		sum := 0.0
		for k := 0; k < len(x)/b; k++ {
			sum += math.Exp(x[k*b+i])
		}
		total += (math.Log(sum) - x[int(label)*b+i]) / float64(len(labels))
	}
	return total
}
