package conv

import (
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// A kernel may have a scale: a factor for each position, which is the window of its output element, the weight of
// its input element, or both.

// scaled reports whether the kernel has a scale at present.
func (l *layer) scaled() bool { return l.window != nil || l.kernelWeights.live() }

// scale returns what the kernel is multiplied by at each position, given the output elements: the window,
// the weights of input elements, or both. It returns the zero Buffer for neither.
func (l *layer) scale(u []lie.Element) tensor.Buffer {
	s, n := &l.shape, l.positions
	var tile tensor.Buffer
	if w := l.window; w != nil {
		w.write(w.host[:n], u, s.NIn, l.coords.taps)
		tile = w.tile.Slice(0, n)
		l.dev.Upload(tile, w.host[:n])
	}
	if w := l.kernelWeights; w.live() {
		w.write(w.host[:n], len(s.Offsets))
		l.window.multiply(w.host[:n])
		tile = w.tile.Slice(0, n)
		l.dev.Upload(tile, w.host[:n])
	}
	return tile
}

// scaleTile returns what scale returned at the last Render.
func (l *layer) scaleTile() tensor.Buffer {
	switch {
	case l.kernelWeights.live():
		return l.kernelWeights.tile.Slice(0, l.positions)
	case l.window != nil:
		return l.window.tile.Slice(0, l.positions)
	}
	return tensor.Buffer{}
}

// scaleKernel multiplies each row of a kernel [rows, positions] by a tile.
func (l *layer) scaleKernel(kernel, tile tensor.Buffer) {
	l.dev.MulRows(kernel, kernel, tile, kernel.Len()/l.positions, l.positions)
}

// scaleScratch returns how many values of scratch memory renderedScaleGrad needs behind a kernel of so many
// positions.
func (l *layer) scaleScratch(positions int, inference bool) int {
	if inference || l.factored != nil || l.window == nil && l.kernelWeights == nil {
		return 0
	}
	return (l.net.Features() + 1) * positions
}

// renderedScaleGrad makes the gradient of the scale of a kernel that was rendered, given that of the scaled
// kernel, dK'. That is the sum over o and c of K dK' for each position. K has made place for dK' by then, but with
// features f [h, P], W and b of the kernel network, K = W f + b 1', each column of the sum is <f, W'dK'> + b'dK'.
func (l *layer) renderedScaleGrad(dkernel, scratch tensor.Buffer) tensor.Buffer {
	g, n := &l.scaleProducts, l.positions
	f, weight, bias := l.net.ForwardFeatures(l.x.Slice(0, l.coords.rows()*n), n)
	h, rows := l.net.Features(), l.net.Out()
	sums, back := scratch.Slice(0, n), scratch.Slice(n, (h+1)*n)
	g.product(l.dev, tensor.GemmArgs{TransA: true, M: h, N: n, K: rows, A: weight, LDA: h, B: dkernel, LDB: n, C: back, LDC: n})
	g.product(l.dev, tensor.GemmArgs{TransA: true, M: 1, N: n, K: rows, A: bias, LDA: 1, B: dkernel, LDB: n, C: sums, LDC: n})
	l.dev.Mul(back, back, f)
	for k := range h {
		l.dev.Add(sums, sums, back.Slice(k*n, (k+1)*n))
	}
	return sums
}

// scaleBackward adds to the gradients of weights of input elements, and to those that output elements have
// through |det u^-1|, given the gradient of the scale at each position.
//
// The scale is proportional to both, so that with s = scale dscale the sums of s over the positions of an
// element are w dw and dlog|det u^-1|; that of weights is taken without them, which may be zero.
func (l *layer) scaleBackward(dscale tensor.Buffer) {
	g, taps, at := l.dscale[:l.positions], len(l.shape.Offsets), 0
	l.dev.Download(g, dscale)
	l.window.multiply(g)
	weights := l.kernelWeights.live()
	for i := 0; at < len(g); i++ {
		total := 0.0
		for j := range l.shape.NIn {
			sum := 0.0
			for _, v := range g[at : at+taps] {
				sum += float64(v)
			}
			at += taps
			if weights {
				l.kernelWeights.el.WeightGrad[j] += sum
				sum *= l.kernelWeights.el.Weight[j]
			}
			total += sum
		}
		if l.window != nil {
			l.window.addGrad(&l.outEl.Grad[i], l.outEl.G[i], total)
		}
	}
}
