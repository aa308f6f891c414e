package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// kernelWeights makes a layer sum over input elements with weights by its kernel,
//
//	K'[(o,c), (i,j,t)] = w_j K[(o,c), (i,j,t)]
//
// which costs no copies of maps, as weights does. With dK' the gradient of that, which
// does not depend on w,
//
//	dK = w dK',   dw_j += sum over o, c, i, t of K dK'
//
// so that an element of weight zero has a gradient too. The sums over o and c are the gradient of the scale,
// see scaleBackward.
type kernelWeights struct {
	el   *gumbel.Elements
	tile tensor.Buffer // [positions], the weights at the last Render, times the window if there is one
	host []float32
}

// weightsKernel reports whether a layer that can weight its kernel is to do so. It has to weight its input
// instead if its kernel may be made of pairs, which weights would tell apart, and for inference, where a copy
// of the input is a small part of memory.
func weightsKernel(p *nn.Plan, g lie.Group, inEl *gumbel.Elements) bool {
	return inEl != nil && inEl.Weighted && inEl.Lists() == 1 && !p.Inference && !(inEl.Rigid && hasPairs(g, inEl.Max()))
}

// planKernelWeights reserves the weights of a layer whose kernel has so many positions at
// most. It returns nothing for a layer whose elements have none, and for one that weights its input.
func (l *layer) planKernelWeights(p *nn.Plan, inEl *gumbel.Elements, positions int) *kernelWeights {
	if scales := l.factored == nil || l.factored.Scales(); !scales || !weightsKernel(p, l.cfg.Group, inEl) {
		return nil
	}
	w := &kernelWeights{el: inEl}
	p.Arena.Reserve(&w.tile, positions)
	return w
}

// live reports whether the elements have weights at present.
func (w *kernelWeights) live() bool { return w != nil && w.el.Weight != nil }

// write takes the weights to the positions (i, j, t), of so many taps.
func (w *kernelWeights) write(to []float32, taps int) {
	for at := 0; at < len(to); {
		for _, v := range w.el.Weight {
			for range taps {
				to[at] = float32(v)
				at++
			}
		}
	}
}
