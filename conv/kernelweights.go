package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
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
// so that an element of weight zero has a gradient too. Passes on features have the sums as the gradient of
// the scale (Factors). Of others K has made place for dK' by then,
// but with features f [h, P], W and b of the kernel network, K = W f + b 1', each column of
// the sum is <f, W'dK'> + b'dK'.
type kernelWeights struct {
	el   *gumbel.Elements
	tile tensor.Buffer // [positions], the weights at the last Render, times the window if there is one
	host []float32
	products
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
	_, ok := l.net.(siren.LowRank)
	if scales := l.factored == nil || l.factored.Scales(); !ok || !scales || !weightsKernel(p, l.cfg.Group, inEl) {
		return nil
	}
	w := &kernelWeights{el: inEl, host: make([]float32, positions)}
	p.Arena.Reserve(&w.tile, positions)
	return w
}

// live reports whether the elements have weights at present.
func (w *kernelWeights) live() bool { return w != nil && w.el.Weight != nil }

// scratch returns how many values of scratch memory kernelScaleGrad needs behind the kernel.
func (w *kernelWeights) scratch(l *layer) int {
	if w == nil || l.factored != nil {
		return 0
	}
	return (l.net.(siren.LowRank).Features() + 1) * len(w.host)
}

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

// kernelScaleGrad adds the gradient of the weights, of dkernel with respect to the weighted
// kernel.
func (l *layer) kernelScaleGrad(dkernel, scratch tensor.Buffer) {
	w, n := l.kernelWeights, l.positions
	low := l.net.(siren.LowRank)
	f, weight, bias := low.ForwardFeatures(l.x.Slice(0, l.coords.rows()*n), n)
	h, rows := low.Features(), low.Out()
	sums, back := scratch.Slice(0, n), scratch.Slice(n, (h+1)*n)
	w.product(l.dev, tensor.GemmArgs{TransA: true, M: h, N: n, K: rows, A: weight, LDA: h, B: dkernel, LDB: n, C: back, LDC: n})
	w.product(l.dev, tensor.GemmArgs{TransA: true, M: 1, N: n, K: rows, A: bias, LDA: 1, B: dkernel, LDB: n, C: sums, LDC: n})
	l.dev.Mul(back, back, f)
	for k := range h {
		l.dev.Add(sums, sums, back.Slice(k*n, (k+1)*n))
	}
	l.addWeightsGrad(sums)
}

// addWeightsGrad adds the gradient of the weights, given that of the scale, and of the window with it, at
// each position.
func (l *layer) addWeightsGrad(dscale tensor.Buffer) {
	w, taps, at := l.kernelWeights, len(l.shape.Offsets), 0
	host := w.host[:l.positions]
	l.dev.Download(host, dscale)
	l.window.multiply(host)
	for range l.shape.NOut {
		for j := range w.el.WeightGrad {
			for _, v := range host[at : at+taps] {
				w.el.WeightGrad[j] += float64(v)
			}
			at += taps
		}
	}
}
