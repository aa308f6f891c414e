package conv

import "github.com/noether-go/noether/asm"

// perElementLocal is the memory of a worker, for one image.
type perElementLocal struct {
	kernel  []float32 // [(i,o), (c,j), slot]; then the gradient of the features [k, (i,j,slot)]
	dkernel []float32 // [(i,o), (c,j), slot]
	panels  []float32 // transposed features

	// One of these is in use.
	panel panelLocal
	block blockLocal
}

func (p *perElement) newLocal(s *Shape) perElementLocal {
	_, nr := asm.GemmTile()
	size, pairs := slotColumns(s), s.Out*s.In
	m := perElementLocal{
		kernel:  aligned(max(pairs, p.features) * size),
		dkernel: aligned(pairs * size),
		panels:  aligned((p.features + nr - 1) / nr * nr * size),
	}
	if p.lattice.forward.fused() {
		m.panel = p.lattice.newPanelLocal(s)
	} else {
		m.block = p.lattice.newBlockLocal(s)
	}
	return m
}

// perElementForward computes y, item by item an image.
type perElementForward perElementPass

// Do convolves the images lo <= b < hi.
func (t *perElementForward) Do(lo, hi, worker int) {
	l := (*perElementPass)(t)
	m := &l.locals[worker]
	for b := lo; b < hi; b++ {
		l.render(b, m)
		l.convolve(&l.lattice.forward, &l.y, &l.x, b, m)
	}
}

// perElementBackward computes the gradients, item by item a segment of the batch.
type perElementBackward perElementPass

// Do computes the segments lo <= i < hi.
func (t *perElementBackward) Do(lo, hi, worker int) {
	l, s := (*perElementPass)(t), t.shape
	m := &l.locals[worker]
	size := l.segmentSize(s)
	for i := lo; i < hi; i++ {
		sums := l.sums[i*size:][:size]
		clear(sums)
		from, to := share(s.B, segmentsOf(s), i)
		for b := from; b < to; b++ {
			if l.dx.values != nil {
				l.render(b, m)
				l.convolve(&l.lattice.adjoint, &l.dx, &l.y, b, m)
			}
			l.kernelGrad(b, m)
			l.featuresGrad(b, sums, m)
		}
	}
}

// render makes the kernel of image b, in slots.
func (l *perElementPass) render(b int, m *perElementLocal) {
	s := l.shape
	size, h, pairs := slotColumns(s), l.features+1, s.Out*s.In
	each := size / s.NOut
	for i := range s.NOut {
		gemmNN(pairs, each, h, l.w, h, l.f[b*h*size+i*each:], size, m.kernel[i*pairs*each:], each, false)
	}
}

// convolve computes image b of to from that of from, in a pass forward or adjoint.
func (l *perElementPass) convolve(pass *rowPass, to, from *images, b int, m *perElementLocal) {
	if pass.fused() {
		l.convolvePanels(pass, to, from, b, m)
	} else {
		l.convolveBlocks(pass, to, from, b, m)
	}
}

// kernelGrad computes the gradient of the kernel of image b, in slots.
func (l *perElementPass) kernelGrad(b int, m *perElementLocal) {
	if l.lattice.forward.fused() {
		l.kernelGradPanels(b, m)
	} else {
		l.kernelGradBlocks(b, m)
	}
}

// featuresGrad takes the gradient of the kernel of image b to that of its
// features, and adds to the sums of dw and db.
func (l *perElementPass) featuresGrad(b int, sums []float32, m *perElementLocal) {
	s := l.shape
	h, size, pairs, taps := l.features, slotColumns(s), s.Out*s.In, len(s.Offsets)
	each := size / s.NOut
	f := l.f[b*(h+1)*size:][:(h+1)*size]
	_, nr := asm.GemmTile()
	for k := 0; k < h; k += nr {
		asm.PackCols(m.panels[k*size:], f[k*size:], size, size, min(nr, h-k))
	}
	ones, db := f[h*size:], sums[pairs*h:]
	for i := range s.NOut {
		dkernel := m.dkernel[i*pairs*each:][:pairs*each]
		gemmPanels(pairs, h, each, dkernel, each, m.panels[i*each*nr:], nr*size, sums, h, true)
		for p := range pairs {
			db[p] += asm.Dot(dkernel[p*each:(p+1)*each], ones[:each])
		}
		gemmTN(h, each, pairs, l.w, h+1, dkernel, each, m.kernel[i*each:], size, false)
	}
	for k := range h {
		gemmNN(size/taps, taps, taps, m.kernel[k*size:], taps, l.lattice.unfold, taps, l.raw[(k*s.B+b)*size:], taps, false)
	}
}
