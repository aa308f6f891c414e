package tensor

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
)

// softmaxTask is softmax with cross-entropy over the columns of
// logits [classes, b]. Its items are the columns; it takes softmaxColumns of
// them at a time.
type softmaxTask struct {
	classes, b, live int
	loss, labels     []float32 // [b]
	prob, dlogits    []float32 // [classes, b]; dlogits may be nil
	logits           []float32 // [classes, b]
}

// softmaxColumns is the number of columns whose maxima and sums lie on the
// stack.
const softmaxColumns = 64

func (t *softmaxTask) Do(lo, hi, _ int) {
	for ; lo < hi; lo += softmaxColumns {
		t.columns(lo, min(lo+softmaxColumns, hi))
	}
}

func (t *softmaxTask) columns(lo, hi int) {
	var maxima [softmaxColumns]float32
	var sums [softmaxColumns]float64
	n := hi - lo
	largest, sum := maxima[:n], sums[:n]

	// The largest logit of a column is subtracted: exp cannot overflow then,
	// and the sum is at least one. A NaN stays: no comparison replaces it, and
	// one that comes later makes its own term of the sum NaN.
	copy(largest, t.logits[lo:hi])
	for k := 1; k < t.classes; k++ {
		for j, v := range t.logits[k*t.b+lo : k*t.b+hi] {
			if v > largest[j] {
				largest[j] = v
			}
		}
	}
	for k := range t.classes {
		p := t.prob[k*t.b+lo : k*t.b+hi]
		for j, v := range t.logits[k*t.b+lo : k*t.b+hi] {
			p[j] = v - largest[j]
		}
		asm.Exp(p, p)
		for j, v := range p {
			sum[j] += float64(v)
		}
	}
	for j := range n {
		t.loss[lo+j] = 0
		if i := lo + j; i < t.live {
			k := t.class(i)
			margin := float64(t.logits[k*t.b+i]) - float64(largest[j])
			t.loss[i] = float32(math.Log(sum[j]) - margin)
		}
	}
	for k := range t.classes {
		for j := range n {
			i := k*t.b + lo + j
			t.prob[i] = float32(float64(t.prob[i]) / sum[j])
		}
	}
	if t.dlogits == nil {
		return
	}
	scale := 1 / float32(max(t.live, 1))
	for k := range t.classes {
		for j := lo; j < hi; j++ {
			i := k*t.b + j
			switch {
			case j >= t.live:
				t.dlogits[i] = 0
			case k == t.class(j):
				t.dlogits[i] = (t.prob[i] - 1) * scale
			default:
				t.dlogits[i] = t.prob[i] * scale
			}
		}
	}
}

// class returns the label of column j.
func (t *softmaxTask) class(j int) int {
	v := t.labels[j]
	if !(v >= 0 && v < float32(t.classes)) {
		panic(&Error{"SoftmaxCrossEntropy", fmt.Sprintf("label %v of column %d outside 0..%d", v, j, t.classes-1)})
	}
	return int(v)
}

// SoftmaxCrossEntropy computes for logits [classes, b] the losses
// -log softmax(logits)[label] of the first live columns into loss [b] (zero
// beyond), the class probabilities of all columns into prob [classes, b], and
// the gradient of the mean loss over the live columns into
// dlogits [classes, b] (zero beyond; may be the zero Buffer). labels [b] holds
// class indices; it panics with *Error when a live one is not within
// 0..classes-1.
func (d *CPU) SoftmaxCrossEntropy(loss, prob, dlogits, logits, labels Buffer, classes, b, live int) {
	const op = "SoftmaxCrossEntropy"
	n := product(op, classes, b)
	if classes < 1 || live < 0 || live > b {
		panic(&Error{op, fmt.Sprintf("%d classes, %d of %d columns live", classes, live, b)})
	}
	t := softmaxTask{
		classes: classes, b: b, live: live,
		loss: host(op, "loss", loss, b), labels: host(op, "labels", labels, b),
		prob: host(op, "prob", prob, n), logits: host(op, "logits", logits, n),
	}
	if !dlogits.IsZero() {
		t.dlogits = host(op, "dlogits", dlogits, n)
	}
	d.softmax = t
	d.team.For(b, max(softmaxColumns, perClaim(classes)/softmaxColumns*softmaxColumns), &d.softmax)
	d.softmax = softmaxTask{}
}
