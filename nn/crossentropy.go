package nn

import "github.com/noether-go/noether/tensor"

// CrossEntropy is the classification loss: the mean over the live samples of
// -log softmax(logits)[label]. The batch may hold fewer live samples than the
// plan has room for (the last one of an epoch); columns beyond them count
// neither in the loss nor in the gradient of the logits. A BatchNorm before it does count
// them, in training, in its statistics and so in the live samples' gradients: networks
// with one are to be trained on full batches.
type CrossEntropy struct {
	lifecycle
	logits                    *Map          // [classes, 1, 1, 1, B]
	label, loss, prob, dlogit tensor.Buffer // [B], [B], [classes, B], [classes, B]
	live                      int
	run                       bool // Forward, since SetLabels

	labels, losses, probs []float32 // host copies
	predicted             []int
}

// NewCrossEntropy returns the loss.
func NewCrossEntropy() *CrossEntropy { return new(CrossEntropy) }

// Plan reserves the buffers for logits, a map of classes x 1 x 1 x 1. Their batch may be
// another than the plan's, as that of a mean over copies of each image.
func (l *CrossEntropy) Plan(p *Plan, logits *Map) {
	const op = "CrossEntropy.Plan"
	p.check(op)
	if logits == nil {
		refuse(op, "the logits are nil; the map that the last layer's Plan returned is needed")
	}
	if logits.MaxN != 1 || logits.H != 1 || logits.W != 1 {
		refuse(op, "logits are %dx%dx%dx%d, allowed is classes x1x1x1",
			logits.C, logits.MaxN, logits.H, logits.W)
	}
	l.planned(p, logits)
	l.logits, l.live, l.run = logits, 0, false
	classes, b := logits.C, logits.B
	logits.KeepValue()
	p.Arena.Reserve(&l.label, b)
	p.Arena.Reserve(&l.loss, b)
	p.Arena.Reserve(&l.prob, classes*b)
	if !p.Inference {
		p.Arena.Reserve(&l.dlogit, classes*b)
	}
}

// Bind sets the device.
func (l *CrossEntropy) Bind(dev tensor.Device) {
	l.bind("CrossEntropy", dev)
	classes, b := l.logits.C, l.logits.B // not in Plan: a batch too large is for the arena to refuse
	l.labels, l.losses, l.probs = make([]float32, b), make([]float32, b), make([]float32, classes*b)
	l.predicted = make([]int, b)
}

// SetLabels sets the class indices of the first len(labels) columns, which are
// from now on the live ones. What the Forward before it computed is gone. It panics with
// *Error unless 1 <= len(labels) <= B and every label is an integer in [0, classes).
func (l *CrossEntropy) SetLabels(labels []float32) {
	l.ready("CrossEntropy", ".SetLabels")
	if len(labels) < 1 || len(labels) > l.logits.B {
		refuse("CrossEntropy.SetLabels", "%d labels for a batch of %d", len(labels), l.logits.B)
	}
	for i, v := range labels {
		if k := int(v); !(v >= 0 && k < l.logits.C && v == float32(k)) {
			refuse("CrossEntropy.SetLabels", "label %d is %v, with %d classes", i, v, l.logits.C)
		}
	}
	l.live, l.run, l.trained = len(labels), false, false
	copy(l.labels, labels) // what lies beyond is not live
	l.dev.Upload(l.label, l.labels)
}

// Live returns the number of live columns.
func (l *CrossEntropy) Live() int { return l.live }

// Forward computes the losses and the class probabilities and, with train, the
// gradient of the mean loss for Backward.
func (l *CrossEntropy) Forward(train bool) {
	l.forward("CrossEntropy", train)
	if l.live == 0 {
		refuse("CrossEntropy.Forward", "no SetLabels before it")
	}
	dlogit := tensor.Buffer{}
	if train {
		dlogit = l.dlogit
	}
	l.run = true
	l.dev.SoftmaxCrossEntropy(l.loss, l.prob, dlogit, l.logits.Live(), l.label, l.logits.C, l.logits.B, l.live)
}

// Backward hands (softmax(logits) - onehot(label)) / live to the logits. It follows a
// Forward(true).
func (l *CrossEntropy) Backward() {
	l.backward("CrossEntropy")
	if l.logits.Accumulate() {
		l.dev.Add(l.logits.LiveGrad(), l.logits.LiveGrad(), l.dlogit)
	} else {
		l.dev.Copy(l.logits.LiveGrad(), l.dlogit)
	}
}

// follows panics unless there are results of a Forward.
func (l *CrossEntropy) follows(method string) {
	l.ready("CrossEntropy", method)
	if !l.run {
		refuse("CrossEntropy"+method, "no Forward since the last SetLabels; call it first")
	}
}

// Loss downloads the losses of the last Forward and returns their mean over the
// live samples, in nats, summed in float64.
func (l *CrossEntropy) Loss() float64 {
	sum := 0.0
	for _, v := range l.Losses() {
		sum += float64(v)
	}
	return sum / float64(l.live)
}

// Losses downloads the losses of the live samples, in nats. The slice is valid
// until the next call.
func (l *CrossEntropy) Losses() []float32 {
	l.follows(".Losses")
	l.dev.Download(l.losses, l.loss)
	return l.losses[:l.live]
}

// Probabilities downloads the class probabilities [classes, B]; the first Live
// columns count. The slice is valid until the next call.
func (l *CrossEntropy) Probabilities() []float32 {
	l.follows(".Probabilities")
	l.dev.Download(l.probs, l.prob)
	return l.probs
}

// Predicted downloads the probabilities and returns the class that has the largest one
// for each live sample; the first class wins ties. It is -1 where that is no number.
// The slice is valid until the next call.
func (l *CrossEntropy) Predicted() []int {
	prob, b := l.Probabilities(), l.logits.B
	for i := range l.live {
		best := 0
		for k := 1; k < l.logits.C; k++ {
			if prob[k*b+i] > prob[best*b+i] {
				best = k
			}
		}
		if !(prob[best*b+i] >= 0) {
			best = -1
		}
		l.predicted[i] = best
	}
	return l.predicted[:l.live]
}

// Correct downloads the probabilities and returns the number of live samples whose
// label is what is Predicted.
func (l *CrossEntropy) Correct() int {
	n := 0
	for i, k := range l.Predicted() {
		if k == int(l.labels[i]) {
			n++
		}
	}
	return n
}
