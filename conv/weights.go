package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// weights makes a layer sum over input elements with weights where its kernel cannot
// (kernelWeights): a copy of the input map, each element times its weight w_j, takes the
// map's place in the passes. With
// dx' the gradient of that,
//
//	dx = w dx',   dw_j += sum over c, x, b of x[c, j, x, b] dx'[c, j, x, b]
//
// so that an element of weight zero has a gradient too. With a list for each image,
// w depends on b as well.
type weights struct {
	*nn.Weights
	in     *nn.Map
	values int // of the input map, at most
	size   int // what they take of scratch memory
}

// planWeights reserves the weights of a layer whose list can have some, and returns
// nothing for another.
func planWeights(p *nn.Plan, in *nn.Map, el *gumbel.Elements) *weights {
	if el == nil || !el.Weighted {
		return nil
	}
	values := in.C * in.MaxN * in.H * in.W * in.B
	return &weights{nn.PlanWeights(p, in, el), in, values, roundUp(values)}
}

// scratch returns how many values of scratch memory scaled and backward need: a map
// and, for the latter, another.
func (w *weights) scratch(inference bool) int {
	switch {
	case w == nil:
		return 0
	case inference:
		return w.size
	}
	return 2 * w.size
}

// live reports whether the elements have weights at present.
func (w *weights) live() bool { return w != nil && w.Live() }

// scaled writes the weighted input map to scratch memory.
func (w *weights) scaled(scratch tensor.Buffer) tensor.Buffer {
	y := scratch.Slice(0, w.values)
	w.Spread(y, w.in.Value)
	return y
}

// grad is the place in scratch memory of the gradient of what scaled returned.
func (w *weights) grad(scratch tensor.Buffer) tensor.Buffer {
	return scratch.Slice(w.size, w.size+w.values)
}

// backward goes from what the passes left at grad to the gradients of the input map,
// which it writes or adds to, and of the weights, to which it adds.
func (w *weights) backward(scratch tensor.Buffer, accumulate bool) {
	w.SpreadGrad(w.grad(scratch), scratch, accumulate)
}
