package conv

import "github.com/noether-go/noether/asm"

// blockLocal is the memory of a worker for the convolution of an image by products with the spectra of blocks of its
// kernel.
type blockLocal struct {
	image    []float32 // [row, col, plane] of a block
	block    []float32 // [slot, source, target] some of the kernel, or of its gradient [slot, target, source]
	spectrum []float32 // of the block, see rowPass; or of the gradient [f, 2, column, target, source]
	x        []float32 // [plane, width, source] of a block
	y        []float32 // [block, plane, width, target]
	dy       []float32 // [plane, col, target] of a block
}

func (l *rowLattice) newBlockLocal(s *Shape) blockLocal {
	n := perElementSources * perElementTargets
	columns := l.planes() * max(l.forward.width(), l.adjoint.width())
	return blockLocal{
		image:    aligned(max(l.h*l.w, l.outH*l.outW) * perElementTargets),
		block:    aligned(len(s.Offsets) * n),
		spectrum: aligned(max(spectrumValues, 3*l.forward.kernelSize(n))),
		x:        aligned(columns * perElementTargets),
		y:        aligned(columns * max(s.Sources(), s.Targets())),
		dy:       aligned(l.planes() * l.outW * perElementSources),
	}
}

// convolveBlocks computes image b of to from that of from, in a pass forward or adjoint.
func (l *perElementPass) convolveBlocks(pass *rowPass, to, from *images, b int, worker *perElementLocal) {
	m := &worker.block
	sources, targets := blocksOf(from.planes(), perElementSources), blocksOf(to.planes(), perElementTargets)
	for block := range sources {
		n0, n1 := share(from.planes(), sources, block)
		from.channelsLast(m.image, b, n0, n1, n1-n0)
		pass.analyse(m.x, m.image, n1-n0)
		for part := range targets {
			m0, m1 := share(to.planes(), targets, part)
			l.slots(m.block, worker.kernel, pass.reversed, n0, n1, m0, m1)
			y := m.y[m0*pass.planes()*pass.toW:]
			l.multiply(pass, y, m, n1-n0, m1-m0, block > 0)
		}
	}
	for part := range targets {
		m0, m1 := share(to.planes(), targets, part)
		pass.synthesise(m.image, m.y[m0*pass.planes()*pass.toW:], m1-m0)
		to.fromChannelsLast(m.image, b, m0, m1, m1-m0)
	}
}

// multiply computes, or adds to, y for a block of n sources and m targets.
func (l *perElementPass) multiply(pass *rowPass, y []float32, local *blockLocal, n, m int, accumulate bool) {
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

// kernelGradBlocks computes the gradient of the kernel of image b, in slots.
func (l *perElementPass) kernelGradBlocks(b int, worker *perElementLocal) {
	a := l.lattice
	m := &worker.block
	sources, targets := blocksOf(l.x.planes(), perElementTargets), blocksOf(l.y.planes(), perElementSources)
	for block := range sources {
		n0, n1 := share(l.x.planes(), sources, block)
		n := n1 - n0
		l.x.channelsLast(m.image, b, n0, n1, n1-n0)
		a.forward.analyse(m.x, m.image, n)
		for part := range targets {
			m0, m1 := share(l.y.planes(), targets, part)
			rows := m1 - m0
			l.y.channelsLast(m.image, b, m0, m1, m1-m0)
			gemmNN(a.planes(), a.outW*rows, a.outH, a.dy, a.outH, m.image, a.outW*rows, m.dy, a.outW*rows, false)
			together := max(1, spectrumValues/(2*len(a.heights)*rows*n))
			for f := 0; f < a.count; f += together {
				l.foldGrad(m, f, min(a.count, f+together), rows, n)
			}
			l.slotsBack(worker.dkernel, m.block, n0, n1, m0, m1)
		}
	}
}

// foldGrad adds to the gradient of a block of slots what comes from that of its spectrum at the
// frequencies f0 <= f < f1.
func (l *perElementPass) foldGrad(local *blockLocal, f0, f1, m, n int) {
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
func (l *perElementPass) productGrad(local *blockLocal, f int, g []float32, m, n int) {
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
func (l *perElementPass) slotsBack(dkernel, block []float32, n0, n1, m0, m1 int) {
	taps, sources := len(l.shape.Offsets), l.shape.Sources()
	n, m := n1-n0, m1-m0
	for i := range m {
		asm.Transpose(dkernel[((m0+i)*sources+n0)*taps:], taps, block[i*n:], m*n, taps, n)
	}
}
