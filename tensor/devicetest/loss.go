package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

func (s *suite) loss() {
	for _, sh := range [][2]int{{1, 1}, {2, 1}, {2, 64}, {3, 7}, {10, 63}, {10, 65}, {100, 17}, {5, 200}, {2, 9000}} {
		classes, b := sh[0], sh[1]
		if b > large {
			s.crossEntropy(classes, b, b-100, 3, false)
			continue
		}
		for _, live := range []int{0, 1, b / 2, b} {
			s.crossEntropy(classes, b, live, 3, false)
		}
		s.crossEntropy(classes, b, b, 3000, false) // far beyond the range of exp
		s.crossEntropy(classes, b, b, 3, true)
	}
}

// crossEntropy adds a case with logits of the given spread; with nan, column
// b/2 has a NaN.
func (s *suite) crossEntropy(classes, b, live int, spread float64, nan bool) {
	size := fmt.Sprintf("classes=%d/b=%d/live=%d/spread=%v", classes, b, live, spread)
	if nan {
		size += "/nan"
	}
	r := random(size)
	logits, labels := normal(r, classes*b), make([]float32, b)
	for i := range logits {
		logits[i] *= float32(spread)
	}
	if nan {
		logits[(classes-1)*b+b/2] = float32(math.NaN())
	}
	loss, lossErr := make([]float64, b), make([]float64, b)
	prob, probErr := make([]float64, classes*b), make([]float64, classes*b)
	grad, gradErr := make([]float64, classes*b), make([]float64, classes*b)
	for j := range b {
		label := r.IntN(classes)
		labels[j] = float32(label)
		if j >= live {
			labels[j] = -1 // not to be looked at
		}
		col := column(logits, j, b, classes)
		p, l := softmax(col, label)
		g := softmaxGrad(p, label)
		largest := math.Inf(-1)
		for _, v := range col {
			largest = math.Max(largest, v)
		}
		if j < live {
			loss[j] = l
			lossErr[j] = relative * (1 + math.Abs(l))
		}
		for k := range classes {
			i := k*b + j
			// The difference to the largest logit is rounded before exp.
			e := p[k]*(relative+2*ulp*math.Abs(col[k]-largest)) + tiny
			prob[i], probErr[i] = p[k], e
			if j < live {
				grad[i] = g[k] / float64(live)
				gradErr[i] = (e + 4*ulp*math.Abs(g[k]) + 2*ulp) / float64(live)
			}
		}
	}
	s.add("SoftmaxCrossEntropy", size, func(d tensor.Device, bs []tensor.Buffer) {
		d.SoftmaxCrossEntropy(bs[0], bs[1], bs[2], bs[3], bs[4], classes, b, live)
	}, out("loss", loss, lossErr), out("prob", prob, probErr), out("dlogits", grad, gradErr), in("logits", logits), in("labels", labels))
	s.add("SoftmaxCrossEntropy", size+"/no gradient", func(d tensor.Device, bs []tensor.Buffer) {
		d.SoftmaxCrossEntropy(bs[0], bs[1], tensor.Buffer{}, bs[2], bs[3], classes, b, live)
	}, out("loss", loss, lossErr), out("prob", prob, probErr), in("logits", logits), in("labels", labels))
}
