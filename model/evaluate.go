package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/nn"
)

// Score is how a network does on a split. The elements of its layers are random,
// so it is evaluated with several independent draws: the figures are means over
// the draws, Std the standard deviation of the accuracy between them (zero for
// one draw).
type Score struct {
	Accuracy float64 // fraction of images classified as labelled
	Std      float64
	Loss     float64 // mean cross-entropy in nats
	Draws    int
}

// LossError reports that the loss of a network on images is no number, or infinite: its
// answers mean nothing.
type LossError struct{ Loss float64 }

func (e *LossError) Error() string {
	return fmt.Sprintf("model: the loss on these images is %v, so the network's answers mean nothing; its weights are of a run that diverged, or damaged", e.Loss)
}

// evaluator holds what repeated evaluation needs, so that it allocates nothing.
type evaluator struct {
	images []float32
	labels []float32
	index  []int
	scores []float64
	counts []int // of images of each class (row) that were put into each, over all draws
}

func newEvaluator(net *Network, set *data.Dataset) *evaluator {
	batch := net.bound("Evaluate").batch
	return &evaluator{
		images: make([]float32, batch*set.Pixels()),
		labels: make([]float32, batch),
		index:  make([]int, batch),
		counts: make([]int, net.cfg.Classes*net.cfg.Classes),
	}
}

// Evaluate scores the bound network on a split with the given number of draws of
// the group elements. Each batch of each draw has elements of its own, keyed by
// (seed, layer, position), so the score is reproducible. It stops early with
// ctx's error. A loss that is no number is a *LossError; a set that the network is not
// for, an empty split and draws below 1 are errors too.
func (net *Network) Evaluate(ctx context.Context, set *data.Dataset, split *data.Split, draws int, seed uint64) (Score, error) {
	if err := net.checkEvaluation(set, split, draws); err != nil {
		return Score{}, err
	}
	return newEvaluator(net, set).score(ctx, net, set, split, draws, seed)
}

// checkEvaluation reports arguments of Evaluate that cannot be.
func (net *Network) checkEvaluation(set *data.Dataset, split *data.Split, draws int) error {
	switch {
	case draws < 1:
		return fmt.Errorf("model: an evaluation with %d draws; 1 or more are needed", draws)
	case split.Len() == 0:
		return fmt.Errorf("model: an evaluation on a part of %s without images", set.Name)
	case len(split.Images) != split.Len()*set.Pixels():
		return fmt.Errorf("model: an evaluation on %d labels and %d bytes of images of %d; a part of %s has as many images as labels", split.Len(), len(split.Images), set.Pixels(), set.Name)
	case int(slices.Max(split.Labels)) >= net.cfg.Classes:
		return fmt.Errorf("model: an evaluation on an image of class %d; the network tells %d apart, from 0", slices.Max(split.Labels), net.cfg.Classes)
	}
	return net.cfg.checkSet(set)
}

// Confusion is Evaluate that also counts, over all draws, how many images of each
// class were put into each: counts[label][answer].
func (net *Network) Confusion(ctx context.Context, set *data.Dataset, split *data.Split, draws int, seed uint64) (s Score, counts [][]int, err error) {
	if err := net.checkEvaluation(set, split, draws); err != nil {
		return Score{}, nil, err
	}
	e := newEvaluator(net, set)
	s, err = e.score(ctx, net, set, split, draws, seed)
	return s, e.confusion(net), err
}

// confusion returns the counts of the last score.
func (e *evaluator) confusion(net *Network) [][]int {
	var rows [][]int
	for row := range slices.Chunk(e.counts, net.cfg.Classes) {
		rows = append(rows, slices.Clone(row))
	}
	return rows
}

func (e *evaluator) score(ctx context.Context, net *Network, set *data.Dataset, split *data.Split, draws int, seed uint64) (Score, error) {
	n := split.Len()
	e.scores = e.scores[:0]
	clear(e.counts)
	loss, step := 0.0, uint64(0)
	for range draws {
		correct := 0
		for at := 0; at < n; at += len(e.index) {
			if err := ctx.Err(); err != nil {
				return Score{}, err
			}
			live := min(len(e.index), n-at)
			for i := range live {
				e.index[i] = at + i
			}
			set.Batch(e.images, e.labels, split, e.index[:live])
			net.Draw(seed, Evaluation, step)
			step++
			net.Forward(e.images[:live*set.Pixels()], false)
			net.loss.SetLabels(e.labels[:live])
			net.loss.Forward(false)
			loss += float64(net.loss.Loss() * float64(live))
			for i, k := range net.loss.Predicted() {
				label := int(e.labels[i])
				if k == label {
					correct++
				}
				if k >= 0 {
					e.counts[label*net.cfg.Classes+k]++
				}
			}
		}
		e.scores = append(e.scores, float64(correct)/float64(n))
	}
	mean, std := meanStd(e.scores)
	loss /= float64(n * draws)
	if !finite(loss) {
		return Score{}, &LossError{loss}
	}
	return Score{mean, std, loss, draws}, nil
}

// finite reports whether v is a number, and not infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// meanStd returns the mean and the standard deviation (of a sample) of x. Of equal values
// the latter is 0, whatever their sum rounds to.
func meanStd(x []float64) (mean, std float64) {
	for _, v := range x {
		mean += v - x[0]
	}
	mean = x[0] + mean/float64(len(x))
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		std += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(std / float64(len(x)-1))
}

// Probabilities returns the class probabilities [n, classes] of n normalised
// images [n, C, H, W], averaged over the given number of draws of the group
// elements, 1 or more, which are keyed as those of Evaluate.
func (net *Network) Probabilities(images []float32, draws int, seed uint64) []float64 {
	p := net.bound("Probabilities")
	pixels := net.cfg.pixels()
	if len(images)%pixels != 0 || draws < 1 {
		panic(&nn.Error{Op: "Network.Probabilities", Problem: fmt.Sprintf("%d draws of %d values; 1 or more of whole images of %d are needed", draws, len(images), pixels)})
	}
	n, classes := len(images)/pixels, net.cfg.Classes
	out := make([]float64, n*classes)
	step := uint64(0)
	labels := make([]float32, p.batch)
	for range draws {
		for at := 0; at < n; at += p.batch {
			live := min(p.batch, n-at)
			net.Draw(seed, Evaluation, step)
			step++
			net.Forward(images[at*pixels:(at+live)*pixels], false)
			net.loss.SetLabels(labels[:live])
			net.loss.Forward(false)
			prob := net.loss.Probabilities()
			for i := range live {
				for k := range classes {
					out[(at+i)*classes+k] += float64(prob[k*p.batch+i]) / float64(draws)
				}
			}
		}
	}
	return out
}
