package tensor

import (
	"fmt"

	"github.com/noether-go/noether/asm"
)

// Normalisation against a measure: the values of an element are in the statistics with a
// weight w. With z = (x-mean)*invstd, W = sum(w), d for what passes of dy, and sums over
// all values that have a mean in common,
//
//	dx = weight*invstd*(d - w*(sum(d) + z*sum(d*z))/W)
//	dw = -sum of weight*(sum(d)*z + sum(d*z)*(z^2 - var*invstd^2)/2)/W over the element
//
// A value of weight zero is normalised like the others, and its w has a gradient. Since w
// is that of a whole element, statistics are taken element by element, without weights,
// and weighted when they are joined; they give dw as well, with no look at a map.

// measure is a Measure in CPU memory. Without weights it has one element, of weight 1.
type measure struct {
	elements, lists int
	weights         []float32 // [elements, lists]
	grad            []float32 // [elements, lists]; nil: not wanted
	first, second   []float32 // [means, elements]: sums of x-mean and of its square; nil: not wanted
}

// unweighted is the weight of a map's elements that have none, and unmeasured their measure.
var (
	unweighted = []float32{1}
	unmeasured = measure{elements: 1, lists: 1, weights: unweighted}
)

// newMeasure returns m for channels of so many values, of b samples, with sums of so many
// means: of each channel, sample or both.
func newMeasure(op string, m *Measure, values, b, means int) measure {
	if m.Weights.IsZero() {
		return unmeasured
	}
	if m.Elements < 1 || m.Lists < 1 || m.Lists != 1 && m.Lists != b || values%(m.Elements*m.Lists) != 0 {
		panic(&Error{op, fmt.Sprintf("Measure has %d lists of %d elements, for channels of %d values of %d samples", m.Lists, m.Elements, values, b)})
	}
	n := product(op, m.Elements, m.Lists)
	t := measure{elements: m.Elements, lists: m.Lists, weights: host(op, "Measure.Weights", m.Weights, n)}
	t.grad = optional(op, "Measure.Grad", m.Grad, n)
	if sums := product(op, means, m.Elements); !m.Moments.IsZero() {
		all := host(op, "Measure.Moments", m.Moments, 2*sums)
		t.first, t.second = all[:sums], all[sums:]
	} else if t.grad != nil {
		panic(bufferError(op, "Measure.Moments", m.Moments, 2*sums))
	}
	return t
}

// columnMeasure is newMeasure for channels [s, b], each of whose rows belongs to one element.
func columnMeasure(op string, m *Measure, s, b, means int) measure {
	if !m.Weights.IsZero() && m.Elements > 0 && s%m.Elements != 0 {
		panic(&Error{op, fmt.Sprintf("Measure has %d elements for %d rows", m.Elements, s)})
	}
	return newMeasure(op, m, s*b, b, means)
}

// list returns the weights of an element [lists].
func (m *measure) list(element int) []float32 {
	return m.weights[element*m.lists : (element+1)*m.lists]
}

// of returns which list is that of sample j.
func (m *measure) of(j int) int { return min(j, m.lists-1) }

// weight returns the weight of an element in sample j.
func (m *measure) weight(element, j int) float64 {
	return float64(m.weights[element*m.lists+m.of(j)])
}

// count returns how many values of a channel are in statistics, of so many and of all samples.
func (m *measure) count(values int) float64 {
	sum := 0.0
	for _, w := range m.weights {
		sum += float64(w)
	}
	return sum * float64(values/len(m.weights))
}

// keep puts the moments of an element, about a mean, at a place in first and second.
func (m *measure) keep(at int, a moments, mean float32) {
	d := a.sum - float64(a.n*float64(mean))
	m.first[at] = float32(d)
	m.second[at] = float32(a.squares + float64(d*d)/a.n)
}

// weightGrad returns what an element's values, n of them, add to the gradient of its weight
// where dx is w*(q*(x-mean) + r) by way of the statistics, and the sums are those at a place
// in first and second.
func (m *measure) weightGrad(at int, q, r, n, variance float64) float64 {
	return float64(q/2*(float64(m.second[at])-float64(n*variance))) + float64(r*float64(m.first[at]))
}

// variance undoes invStd = 1/sqrt(variance+eps).
func variance(invStd float32, eps float64) float64 {
	s := float64(invStd)
	return 1/(s*s) - eps
}

// weighted returns the moments of values that each count w.
func (a moments) weighted(w float64) moments {
	return moments{float64(w * a.n), float64(w * a.sum), float64(w * a.squares)}
}

// listColumns is the memory for the columns of a batch normalisation with a list for each
// sample.
type listColumns struct{ mean, scale, shift, p, q, r []float32 }

func newListColumns(mem []float32, lists int) listColumns {
	next := func() []float32 {
		s := mem[:lists:lists]
		mem = mem[lists:]
		return s
	}
	return listColumns{next(), next(), next(), next(), next(), next()}
}

// columnsSize is the number of values that newListColumns lays out, whole cache lines.
func (m *measure) columnsSize() int { return (6*m.lists + 15) &^ 15 }

// momentsByList sets out to the moments of each column of x [rows, len(out)] after adding
// addend to it (nil: nothing). They are about one pivot, a mean of the first rows. first and
// second are memory for as many sums.
func (v *listColumns) momentsByList(out []moments, x, addend []float32, first, second []float64) {
	lists := len(out)
	if addend != nil {
		asm.Add(x, x, addend)
	}
	head := x[:min(len(x), max(1, momentBlock/lists)*lists)]
	pivot := asm.Sum(head) / float32(len(head))
	sums := func() (sum, squares float64) {
		asm.Fill(v.mean, pivot)
		clear(first)
		clear(second)
		asm.ColMoments(first, second, x, v.mean)
		return total(first), total(second)
	}
	n := float64(len(x))
	if sum, squares := sums(); off(n, sum, squares) {
		pivot = float32(float64(pivot) + sum/n)
		sums()
	}
	for j := range out {
		out[j] = around(n/float64(lists), first[j], second[j], pivot)
	}
}

// normGrad writes p*g + w*(q*(x-mean) + r) to dst, with a weight w for each column, and g as in
// asm.NormGrad.
func (v *listColumns) normGrad(dst, dy, x []float32, m *asm.NormMap, w []float32, p, q, r float32) {
	asm.Fill(v.mean, m.Mean)
	asm.Fill(v.scale, m.Scale)
	asm.Fill(v.shift, m.Shift)
	asm.Fill(v.p, p)
	asm.Affine(v.q, w, q, 0)
	asm.Affine(v.r, w, r, 0)
	asm.ColNormGrad(dst, dy, x, &asm.ColNormMap{Mean: v.mean, Scale: v.scale, Shift: v.shift, Floor: m.Floor}, v.p, v.q, v.r)
}
