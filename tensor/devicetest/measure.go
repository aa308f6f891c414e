package devicetest

import (
	"math"
	"math/rand/v2"

	"github.com/noether-go/noether/tensor"
)

// elementWeights are weights of the elements of a map whose channels have so many values, of b
// samples.
type elementWeights struct {
	elements, lists, values, b int
	w                          []float32 // [elements, lists]
}

// newElementWeights draws weights of up to four elements that n planes of so many points belong
// to, with one list or one for each sample. Some are zero, but not those of the first element.
func newElementWeights(r *rand.Rand, n, points, b int, each bool) *elementWeights {
	m := &elementWeights{elements: 4, lists: 1, values: n * points * b, b: b}
	for n%m.elements != 0 {
		m.elements--
	}
	if each {
		m.lists = b
	}
	m.w = make([]float32, m.elements*m.lists)
	for i := range m.w {
		if element := i / m.lists; element == 0 || (element+i%m.lists)%3 != 1 {
			m.w[i] = 0.25 + r.Float32()
		}
	}
	return m
}

// place returns where in w the weight of value i of a channel is.
func (m *elementWeights) place(i int) int {
	return m.element(i)*m.lists + i%m.b%m.lists
}

func (m *elementWeights) element(i int) int { return i * m.elements / m.values }

// tile returns the weight of each value of a channel.
func (m *elementWeights) tile() []float64 {
	return mapped(m.values, func(i int) float64 { return float64(m.w[m.place(i)]) })
}

// momentSums are the sums of x-mean and of its square, [2, means, ...], with errors.
type momentSums struct{ sum, err []float64 }

func newMomentSums(n int) momentSums { return momentSums{make([]float64, 2*n), make([]float64, 2*n)} }

// add adds x to the sums at a place, given a mean with an error.
func (s momentSums) add(at int, x, mean, meanErr float64) {
	d, half := x-mean, len(s.sum)/2
	s.sum[at] += d
	s.err[at] += meanErr + relative*math.Abs(d)
	s.sum[half+at] += d * d
	s.err[half+at] += meanErr*(2*math.Abs(d)+meanErr) + relative*d*d
}

// rounded returns the sums as a normalisation leaves them.
func (s momentSums) rounded() []float32 {
	x := make([]float32, len(s.sum))
	for i, v := range s.sum {
		x[i] = float32(v)
	}
	return x
}

// args returns the measure with these buffers.
func (m *elementWeights) args(weights, moments, grad tensor.Buffer) tensor.Measure {
	return tensor.Measure{Elements: m.elements, Lists: m.lists, Weights: weights, Moments: moments, Grad: grad}
}

// gathered returns the sums of v, which belongs to the values of a channel, over what
// has a weight in common.
func (m *elementWeights) gathered(v []float64) []float64 {
	sums := make([]float64, len(m.w))
	for i, x := range v {
		sums[m.place(i)] += x
	}
	return sums
}
