package conv

import "github.com/noether-go/noether/asm"

// perElementLocal is the memory of a worker, for one image.
type perElementLocal struct {
	kernel   []float32 // [(i,o), (c,j), slot]; then the gradient of the features [k, (i,j,slot)]
	block    []float32 // [slot, source, target] some of the kernel, or of its gradient [slot, target, source]
	spectrum []float32 // of the block, see rowPass; or of the gradient [f, 2, column, target, source]
	x        []float32 // [plane, width, source] of a block
	y        []float32 // [block, plane, width, target]

	// For a backward pass.
	dy      []float32 // [plane, col, target] of a block
	dkernel []float32 // [(i,o), (c,j), slot]
	panels  []float32 // transposed features
}

func (p *perElement) newLocal(s *Shape) perElementLocal {
	_, nr := asm.GemmTile()
	l := p.lattice
	size, pairs := slotColumns(s), s.Out*s.In
	// Blocks have whole elements on the side of the targets.
	sources, targets := max(perElementSources, s.Out), max(perElementTargets, s.Out)
	n := sources * targets
	columns := l.planes() * max(l.forward.width(), l.adjoint.width())
	return perElementLocal{
		kernel:   aligned(max(pairs, p.features) * size),
		block:    aligned(len(s.Offsets) * n),
		spectrum: aligned(max(spectrumValues, 3*l.forward.kernelSize(n))),
		x:        aligned(columns * targets),
		y:        aligned(columns * max(s.Sources(), s.Targets())),
		dy:       aligned(l.planes() * l.outW * sources),
		dkernel:  aligned(pairs * size),
		panels:   aligned((p.features + nr - 1) / nr * nr * size),
	}
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
		l.addBias(b)
	}
}

// addBias adds the bias to image b.
func (l *perElementPass) addBias(b int) {
	if !l.biased {
		return
	}
	for i := range l.y.blocks {
		image, n := l.y.image(b, i), len(l.bias)
		for at := 0; at < len(image); at += n {
			asm.Add(image[at:at+n], image[at:at+n], l.bias)
		}
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
func (l *perElementPass) convolve(pass *rowPass, to, from *imageBlocks, b int, m *perElementLocal) {
	for block := range from.blocks {
		n0, n1 := from.block(block)
		pass.analyse(m.x, from.image(b, block), n1-n0)
		for part := range to.blocks {
			m0, m1 := to.block(part)
			l.slots(m.block, m.kernel, pass.reversed, n0, n1, m0, m1)
			y := m.y[m0*pass.planes()*pass.toW:]
			l.multiply(pass, y, m, n1-n0, m1-m0, block > 0)
		}
	}
	for part := range to.blocks {
		m0, m1 := to.block(part)
		pass.synthesise(to.image(b, part), m.y[m0*pass.planes()*pass.toW:], m1-m0)
	}
}

// multiply computes, or adds to, y for a block of n sources and m targets.
func (l *perElementPass) multiply(pass *rowPass, y []float32, local *perElementLocal, n, m int, accumulate bool) {
	if pass.fused() {
		for f := range pass.count {
			pass.multiplyFused(y, local.x, local.block, f, n, m, accumulate, nil)
		}
		return
	}
	for f0 := 0; f0 < pass.count; {
		f1 := f0 + pass.together(f0, n*m)
		pass.spectrum(local.spectrum, local.block, f0, f1, n*m)
		for f := f0; f < f1; f++ {
			k := local.spectrum[(pass.plane[f]-pass.plane[f0])*pass.kernelSize(n*m):]
			pass.multiply(y, local.x, k, f, n, m, accumulate, nil)
		}
		f0 = f1
	}
}

// slots brings a block of a kernel to [slot, source, target]: sources (c,j), n0 <= n < n1, and
// targets (i,o), m0 <= m < m1, or the other way around.
func (l *perElementPass) slots(block, kernel []float32, reversed bool, n0, n1, m0, m1 int) {
	taps, sources := len(l.shape.Offsets), l.shape.Sources()
	n, m := n1-n0, m1-m0
	for i := range n {
		if reversed {
			asm.Transpose(block[i*m:], n*m, kernel[((n0+i)*sources+m0)*taps:], taps, m, taps)
		} else {
			asm.Transpose(block[i*m:], n*m, kernel[(m0*sources+n0+i)*taps:], sources*taps, m, taps)
		}
	}
}

// kernelGrad computes the gradient of the kernel of image b, in slots.
func (l *perElementPass) kernelGrad(b int, m *perElementLocal) {
	a := l.lattice
	for block := range l.x.blocks {
		n0, n1 := l.x.block(block)
		n := n1 - n0
		a.forward.analyse(m.x, l.x.image(b, block), n)
		for part := range l.y.blocks {
			m0, m1 := l.y.block(part)
			rows := m1 - m0
			gemmNN(a.planes(), a.outW*rows, a.outH, a.dy, a.outH, l.y.image(b, part), a.outW*rows, m.dy, a.outW*rows, false)
			together := max(1, spectrumValues/(2*len(a.heights)*rows*n))
			for f := 0; f < a.count; f += together {
				l.foldGrad(m, f, min(a.count, f+together), rows, n)
			}
			l.slotsBack(m, n0, n1, m0, m1)
		}
	}
}

// foldGrad adds to the gradient of a block of slots what comes from that of its spectrum at the
// frequencies f0 <= f < f1.
func (l *perElementPass) foldGrad(local *perElementLocal, f0, f1, m, n int) {
	a := l.lattice
	size := len(a.heights) * m * n
	for f := f0; f < f1; f++ {
		l.productGrad(local, f, local.spectrum[(f-f0)*2*size:], m, n)
	}
	for c, e := range a.heights {
		with := a.back[a.at[c]+f0:]
		gemmNN(e+1, m*n, f1-f0, with, a.count, local.spectrum[c*m*n:], 2*size, local.block[a.first[c]*m*n:], m*n, f0 > 0)
		if e > 0 {
			gemmNN(e, m*n, f1-f0, with[(e+1)*a.count:], a.count, local.spectrum[size+c*m*n:], 2*size, local.block[(a.first[c]+e+1)*m*n:], m*n, f0 > 0)
		}
	}
}

// productGrad computes the gradient of the spectrum of m targets and n sources at a frequency f,
// g [2, column, target, source]: the real part, and the imaginary part of the tall columns,
//
//	re = S + T, im = S + D, S = (a+b) c, T = b (d-c), D = -a (c+d)
//
// for dy^ = a + i b and x^ = c + i d.
func (l *perElementPass) productGrad(local *perElementLocal, f int, g []float32, m, n int) {
	a := l.lattice
	size, width := m*n, a.forward.width()*n
	re, im := g, g[len(a.heights)*size:]
	first, end := a.tall.first, a.tall.first+a.tall.count
	add := func(to []float32, kind, plane, first, end int, accumulate bool) {
		dy, x := local.dy[(a.plane[f]+kind)*a.outW*m:], local.x[(a.plane[f]+plane)*width:]
		for c := first; c < end; c++ {
			gemmTN(m, n, a.outW, dy, m, x[c*n:], n, to[c*size:], n, accumulate)
		}
	}
	add(re, 0, 0, 0, len(a.heights), false)
	if a.real(f) {
		clear(im[first*size : end*size])
		return
	}
	copy(im[first*size:end*size], re[first*size:end*size])
	add(re, 1, 2, 0, len(a.heights), true)
	add(im, 2, 1, first, end, true)
}

// slotsBack brings the gradient of a block of slots to dkernel.
func (l *perElementPass) slotsBack(local *perElementLocal, n0, n1, m0, m1 int) {
	taps, sources := len(l.shape.Offsets), l.shape.Sources()
	n, m := n1-n0, m1-m0
	for i := range m {
		asm.Transpose(local.dkernel[((m0+i)*sources+n0)*taps:], taps, local.block[i*n:], m*n, taps, n)
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
