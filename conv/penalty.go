package conv

import (
	"math"
	"slices"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// penalty adds to the loss of a network, times a weight, the Euclidean norms, not
// squared, of a layer's rendered kernel and of its bias (nn.Plan.NormPenalty).
//
// It needs no rendered kernel: with features f [h, P] of the kernel network, weights W
// and offsets b, K = W f + b 1', so with G = f f' and s = f 1
//
//	K f' = W G + b s',   K 1 = W s + P b,   |K|^2 = <W, K f'> + <b, K 1>
//	d|K|/dW = K f'/|K|,  d|K|/db = K 1/|K|, d|K|/df = (W'W f + W'b 1')/|K|
//
// which costs P (2 h^2 + ...) operations where rendering takes P Out In h. So it is the
// same for all algorithms, and beside them.
//
// What belongs to an element that was dropped is no part of the kernel. With n [P], how often a rendered value
// stands in it, f' has columns n f', 1 is n, and the gradient of f is n times what stands above. The
// probabilities of keeping elements have no gradient from it.
type penalty struct {
	weight float64
	value  float64 // of the last Forward

	f, w, b tensor.Buffer // what ForwardFeatures returned

	counts bool          // elements may be dropped
	times  tensor.Buffer // [positions]: n, where they may
	count  []float32     // the same
	drops  bool          // elements are dropped at present, and times is n

	sums tensor.Buffer // [2]: |K|^2 and |bias|^2
	host [2]float32
	products
}

// planPenalty reserves the penalty of a layer whose kernel has so many positions at most, nil for none.
func (l *layer) planPenalty(p *nn.Plan, positions int) *penalty {
	if p.NormPenalty == 0 || p.Inference {
		return nil
	}
	n := &penalty{weight: p.NormPenalty}
	p.Arena.Reserve(&n.sums, len(n.host))
	if n.counts = l.outEl.Weighted || l.inEl != nil && l.inEl.Weighted; n.counts {
		p.Arena.Reserve(&n.times, positions)
	}
	return n
}

// penaltyScratch lays out what the penalty needs of scratch memory.
type penaltyScratch struct {
	df        tensor.Buffer // [h, P]
	dx        tensor.Buffer // [rows, P]
	dw, db    tensor.Buffer // [Out*In, h] and [Out*In]: K f' and K 1
	gram, sum tensor.Buffer // [h, h] and [h]: G and s, then W'W and W'b
	nf        tensor.Buffer // [h, P]: n f, where elements may be dropped
}

// penaltyScratch returns those pieces for so many positions, and the size of all; of no
// scratch memory the size alone.
func (l *layer) penaltyScratch(scratch tensor.Buffer, positions int) (p penaltyScratch, size int) {
	h, out := l.net.Features(), l.net.Out()
	piece := func(n int) (b tensor.Buffer) {
		if !scratch.IsZero() {
			b = scratch.Slice(size, size+n)
		}
		size += roundUp(n)
		return b
	}
	p = penaltyScratch{
		df: piece(h * positions), dx: piece(l.coords.rows() * positions),
		dw: piece(out * h), db: piece(out), gram: piece(h * h), sum: piece(h),
	}
	if l.penalty.counts {
		p.nf = piece(h * positions)
	}
	return p, size
}

// Penalty returns what the norms of the layer's kernel and bias added to the loss at the
// last Forward, 0 where the plan wants none.
func (l *layer) Penalty() float64 {
	if l.penalty == nil {
		return 0
	}
	return l.penalty.value
}

// measurePenalty evaluates the penalty at the present elements and returns the norms of
// kernel and bias.
func (l *layer) measurePenalty() (kernel, bias float64) {
	p := l.penalty
	at, _ := l.penaltyScratch(l.scratch, l.positions)
	p.f, p.w, p.b = l.net.ForwardFeatures(l.x.Slice(0, l.coords.rows()*l.positions), l.positions)
	f, w, b := p.f, p.w, p.b
	h, out, n := l.net.Features(), l.net.Out(), l.positions
	nf, total := f, float64(n)
	if rendered := l.countPositions(); p.drops {
		l.dev.MulRows(at.nf, f, p.times.Slice(0, n), h, n)
		nf, total = at.nf, rendered
	}

	l.dev.SumRows(at.sum, nf, h, n, false)
	p.product(l.dev, tensor.GemmArgs{TransB: true, M: h, N: h, K: n, A: f, LDA: n, B: nf, LDB: n, C: at.gram, LDC: h})
	p.product(l.dev, tensor.GemmArgs{M: out, N: h, K: h, A: w, LDA: h, B: at.gram, LDB: h, C: at.dw, LDC: h})
	p.product(l.dev, tensor.GemmArgs{M: out, N: h, K: 1, A: b, LDA: 1, B: at.sum, LDB: h, C: at.dw, LDC: h, Accumulate: true})
	p.product(l.dev, tensor.GemmArgs{M: out, N: 1, K: h, A: w, LDA: h, B: at.sum, LDB: 1, C: at.db, LDC: 1})
	l.dev.Axpy(at.db, float32(total), b)

	l.dev.DotRows(p.sums.Slice(0, 1), w, at.dw, 1, w.Len())
	l.dev.DotRows(p.sums.Slice(1, 2), b, at.db, 1, b.Len())
	l.dev.Download(p.host[:], p.sums)
	kernel = math.Sqrt(l.copies() * max(0, float64(p.host[0])+float64(p.host[1])))
	if l.bias != nil {
		l.dev.SumSquares(p.sums.Slice(0, 1), l.bias.Value)
		l.dev.Download(p.host[:1], p.sums)
		bias = math.Sqrt(float64(p.host[0]))
	}
	p.value = p.weight * (kernel + bias)
	return kernel, bias
}

// products computes matrix products on a device without an allocation: an argument of an
// interface call would go to the heap.
type products struct{ gemm tensor.GemmArgs }

func (p *products) product(dev tensor.Device, g tensor.GemmArgs) {
	p.gemm = g
	dev.Gemm(&p.gemm)
}

// copies returns how often each value of what was rendered stands in the kernel, where times does not say.
func (l *layer) copies() float64 {
	if l.shape.Paired && !l.penalty.drops {
		return 2
	}
	return 1
}

// countPositions finds out whether elements are dropped at present. If so it sets times, and returns its sum.
func (l *layer) countPositions() (total float64) {
	p, s := l.penalty, &l.shape
	p.drops = dropped(l.outEl) || l.inEl != nil && dropped(l.inEl)
	if !p.drops {
		return 0
	}
	taps := len(s.Offsets)
	to := p.count[:l.positions]
	for list := range s.lists() {
		for i := range s.rendered() {
			for j := range s.NIn {
				n := l.kept(list, s.element(i, s.NOut), s.element(j, s.NIn))
				if s.Paired { // the partners, half a turn on
					n += l.kept(list, s.element(i+s.NOut/2, s.NOut), s.element((j+s.NIn/2)%s.NIn, s.NIn))
				}
				for t := range to[:taps] {
					to[t] = n
				}
				to, total = to[taps:], total+float64(float64(n)*float64(taps))
			}
		}
	}
	l.dev.Upload(p.times, p.count[:l.positions])
	return total
}

// dropped reports whether a list has elements that were dropped.
func dropped(el *gumbel.Elements) bool { return slices.Contains(el.Weight, 0) }

// kept returns 1 if output element i and input element j of a list are kept, else 0.
func (l *layer) kept(list, i, j int) float32 {
	if w := l.outEl.Weight; w != nil && w[list*l.shape.NOut+i] == 0 {
		return 0
	}
	if l.inEl != nil && l.inEl.Weight != nil && l.inEl.Weight[list*l.shape.NIn+j] == 0 {
		return 0
	}
	return 1
}

// penaltyBackward adds the penalty's gradient to those of the bias, of the kernel network
// and of n coordinates.
func (l *layer) penaltyBackward(n int) {
	p := l.penalty
	kernel, bias := l.measurePenalty()
	if bias > 0 {
		l.dev.Axpy(l.bias.Grad, float32(p.weight/bias), l.bias.Value)
	}
	if kernel == 0 { // where the norm has a kink
		return
	}
	at, _ := l.penaltyScratch(l.scratch, l.positions)
	f, w, b := p.f, p.w, p.b
	h, out, positions := l.net.Features(), l.net.Out(), l.positions
	p.product(l.dev, tensor.GemmArgs{TransA: true, M: h, N: h, K: out, A: w, LDA: h, B: w, LDB: h, C: at.gram, LDC: h})
	p.product(l.dev, tensor.GemmArgs{TransA: true, M: h, N: 1, K: out, A: w, LDA: h, B: b, LDB: 1, C: at.sum, LDC: 1})
	p.product(l.dev, tensor.GemmArgs{M: h, N: positions, K: h, A: at.gram, LDA: h, B: f, LDB: positions, C: at.df, LDC: positions, Bias: at.sum})
	if p.drops {
		l.dev.MulRows(at.df, at.df, p.times.Slice(0, positions), h, positions)
	}
	scale := float32(p.weight * l.copies() / kernel)
	for _, d := range []tensor.Buffer{at.df, at.dw, at.db} {
		l.dev.Scale(d, scale, d)
	}
	var dx tensor.Buffer
	if n > 0 {
		dx = at.dx.Slice(0, n)
	}
	l.net.BackwardFeatures(at.dw, at.db, at.df, dx)
	if n > 0 {
		l.dev.Add(l.dx.Slice(0, n), l.dx.Slice(0, n), dx)
	}
}
