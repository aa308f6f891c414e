package conv

import "github.com/noether-go/noether/asm"

// perElementLocal is the memory of a worker, for one image.
type perElementLocal struct {
	kernel   []float32 // [i, (o,c), (j,slot)]; then the gradient of the features [k, (i,j,slot)]
	block    []float32 // [slot, (row, plane)] some rows of the kernel, or their gradient
	spectrum []float32 // [f, 3, column, (row, plane)], or the gradient's [f, 2, column, (row, plane)]
	x        []float32 // [f, 3, plane, column], or transposed [f, 3, column, plane]
	y        []float32 // [row, f, 2, column]

	// For a backward pass.
	dy      []float32 // [f, 3, (o,i), column]
	dkernel []float32 // [i, (o,c), (j,slot)]
	panels  []float32 // transposed features
}

func (p *perElement) newLocal(s *Shape) perElementLocal {
	mr, nr := asm.GemmTile()
	l := p.lattice
	size, pairs := slotColumns(s), s.Out*s.In
	widest := mr * max(s.Sources(), s.Targets())
	border := 2 * l.radius
	return perElementLocal{
		kernel:   aligned(max(pairs, p.features) * size),
		block:    aligned(len(s.Offsets) * widest),
		spectrum: aligned(max(spectrumValues, 3*len(l.heights)*widest)),
		x:        aligned(3 * l.count * max(s.Sources()*(l.outW+border), s.Targets()*(l.w+border))),
		y:        aligned(mr * 2 * l.count * max(l.outW, l.w)),
		dy:       aligned(3 * l.count * s.Targets() * l.outW),
		dkernel:  aligned(pairs * size),
		panels:   aligned((p.features + nr - 1) / nr * nr * size),
	}
}

// perElementForward computes y, item by item an image.
type perElementForward perElementPass

// Do convolves the images lo <= b < hi.
func (t *perElementForward) Do(lo, hi, worker int) {
	l, s := (*perElementPass)(t), t.shape
	m := &l.locals[worker]
	out := s.OutH * s.OutW
	for b := lo; b < hi; b++ {
		l.render(b, m)
		y := l.y[b*s.Targets()*out:][:s.Targets()*out]
		l.convolve(y, l.x[b*s.Sources()*s.H*s.W:], m, false)
		for o, v := range l.bias {
			plane := y[o*s.NOut*out:][:s.NOut*out]
			asm.Affine(plane, plane, 1, v)
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
			dy := l.y[b*s.Targets()*s.OutH*s.OutW:]
			if l.dx != nil {
				l.render(b, m)
				l.convolve(l.dx[b*s.Sources()*s.H*s.W:], dy, m, true)
			}
			l.kernelGrad(b, dy, m)
			l.featuresGrad(b, sums, m)
		}
	}
}

// render makes the kernel of image b, in slots. Row (o,i) of it, [(c,j), slot], is
// in one piece.
func (l *perElementPass) render(b int, m *perElementLocal) {
	s := l.shape
	size, h, pairs := slotColumns(s), l.features+1, s.Out*s.In
	each := size / s.NOut
	for i := range s.NOut {
		gemmNN(pairs, each, h, l.w, h, l.f[b*h*size+i*each:], size, m.kernel[i*pairs*each:], each, false)
	}
}

// convolve computes the planes to from the planes from: y from x, or with
// adjoint dx from dy.
func (l *perElementPass) convolve(to, from []float32, m *perElementLocal, adjoint bool) {
	s, a := l.shape, l.lattice
	planes, rows, sum := s.Sources(), s.Targets(), a.sum
	analysis, synthesis := a.in, a.toOut
	fromH, fromW, toH, toW := a.h, a.w, a.outH, a.outW
	before := a.radius - a.left // columns of zeros
	if adjoint {
		planes, rows, sum = rows, planes, a.adjointSum
		analysis, synthesis = a.out, a.toIn
		fromH, fromW, toH, toW = toH, toW, fromH, fromW
		before = a.radius + a.left
	}
	width := toW + 2*a.radius
	swap := 1
	if adjoint {
		swap = s.NOut
	}
	l.analyse(m.x, planes*width, analysis, from, fromH, fromW, planes, swap, before, width)

	mr, _ := asm.GemmTile()
	count := blocksOf(rows, mr)
	for i := range count {
		r0, r1 := share(rows, count, i)
		n := (r1 - r0) * planes
		l.rows(m, r0, r1, adjoint)
		together := a.together(n)
		for f0 := 0; f0 < a.count; f0 += together {
			f1 := min(a.count, f0+together)
			l.spectra(m, sum, f0, f1, n)
			for f := f0; f < f1; f++ {
				l.product(m, f, m.spectrum[(f-f0)*3*len(a.heights)*n:], r1-r0, planes, width, toW, adjoint)
			}
		}
		for r := r0; r < r1; r++ {
			gemmNN(toH, toW, 2*a.count, synthesis, 2*a.count, m.y[(r-r0)*2*a.count*toW:], toW, to[r*toH*toW:], toW, false)
		}
	}
}

// analyse transforms planes [h, w] to x [f, 3, plane, width], before columns of
// zeros before them and some behind. size is the distance of the planes of x.
// Planes (a,i), swap of them for each a, become planes (i,a).
func (l *perElementPass) analyse(x []float32, size int, matrix, from []float32, h, w, planes, swap, before, width int) {
	a := l.lattice
	if width > w {
		clear(x[:3*a.count*size])
	}
	for p := range planes {
		to := p%swap*(planes/swap) + p/swap
		gemmNN(a.spectra(), w, h, matrix, h, from[p*h*w:], w, x[to*width+before:], size, false)
	}
}

// spectra returns the number of planes of a spectrum that are used: one where no
// frequency is complex.
func (a *rowLattice) spectra() int {
	if a.count == 1 {
		return 1
	}
	return 3 * a.count
}

// together returns how many frequencies of n values in each column are made at a
// time.
func (a *rowLattice) together(n int) int {
	return max(1, min(a.count, spectrumValues/(3*len(a.heights)*n)))
}

// rows brings rows r0 <= r < r1 of the kernel to block: row (o,i) and planes
// (c,j), or with adjoint row (c,j) and planes (i,o).
func (l *perElementPass) rows(m *perElementLocal, r0, r1 int, adjoint bool) {
	s := l.shape
	taps, sources, targets := len(s.Offsets), s.Sources(), s.Targets()
	for r := r0; r < r1; r++ {
		if adjoint {
			asm.Transpose(m.block[(r-r0)*targets:], (r1-r0)*targets, m.kernel[r*taps:], sources*taps, targets, taps)
		} else {
			asm.Transpose(m.block[(r-r0)*sources:], (r1-r0)*sources, m.kernel[l.row(r):], taps, sources, taps)
		}
	}
}

// row returns where row r = (o,i) of the kernel begins.
func (l *perElementPass) row(r int) int {
	s := l.shape
	o, i := r/s.NOut, r%s.NOut
	return (i*s.Out + o) * s.Sources() * len(s.Offsets)
}

// spectra makes the spectra of a block of n values a slot, for the frequencies f0
// <= f < f1: planes re+im, im and re of each column.
func (l *perElementPass) spectra(m *perElementLocal, matrix []float32, f0, f1, n int) {
	a := l.lattice
	columns := len(a.heights)
	for c, e := range a.heights {
		slots := 2*e + 1
		from, with := m.block[a.first[c]*n:], matrix[a.at[c]+f0*slots:]
		to := func(plane int) []float32 { return m.spectrum[(plane*columns+c)*n:] }
		gemmNN(f1-f0, n, slots, with, slots, from, n, to(0), 3*columns*n, false)
		if a.count == 1 {
			continue
		}
		if e == 0 {
			for f := range f1 - f0 {
				clear(to(1)[f*3*columns*n:][:n])
			}
		} else {
			gemmNN(f1-f0, n, e, with[e+1:], slots, from[(e+1)*n:], n, to(1), 3*columns*n, false)
		}
		gemmNN(f1-f0, n, e+1, with, slots, from, n, to(2), 3*columns*n, false)
	}
}

// product multiplies rows of the kernel with the planes at one frequency.
func (l *perElementPass) product(m *perElementLocal, f int, k []float32, rows, planes, width, toW int, adjoint bool) {
	a := l.lattice
	columns := len(a.heights)
	n, ldy := rows*planes, 2*a.count*toW
	re, im := m.y[2*f*toW:], m.y[(2*f+1)*toW:]
	add := func(to []float32, kernelPlane, plane int, accumulate bool) {
		x := m.x[(3*f+plane)*planes*width:]
		for c := range columns {
			at := c
			if adjoint {
				at = columns - 1 - c
			}
			asm.GemmStripNN(rows, toW, planes, k[(kernelPlane*columns+c)*n:], planes, x[at:], width, to, ldy, accumulate || c > 0)
		}
	}
	add(re, 0, 0, false)
	if a.real(f) {
		for r := range rows {
			clear(im[r*ldy:][:toW])
		}
		return
	}
	for r := range rows {
		copy(im[r*ldy:][:toW], re[r*ldy:])
	}
	add(re, 1, 1, true)
	add(im, 2, 2, true)
}

// kernelGrad computes the gradient of the kernel of image b, in slots.
func (l *perElementPass) kernelGrad(b int, dy []float32, m *perElementLocal) {
	s, a := l.shape, l.lattice
	sources, targets := s.Sources(), s.Targets()
	l.analyse(m.dy, targets*a.outW, a.dy, dy, a.outH, a.outW, targets, 1, 0, a.outW)
	columns := len(a.heights)
	width := a.outW + 2*a.radius
	size := width * sources
	if width > a.w {
		clear(m.x[:3*a.count*size])
	}
	gemmNN(a.spectra(), a.w*sources, a.h, a.in, a.h, l.last[b*a.h*a.w*sources:], a.w*sources, m.x[(a.radius-a.left)*sources:], size, false)

	mr, _ := asm.GemmTile()
	count := blocksOf(targets, mr)
	for i := range count {
		r0, r1 := share(targets, count, i)
		n := (r1 - r0) * sources
		together := a.together(n)
		for f0 := 0; f0 < a.count; f0 += together {
			f1 := min(a.count, f0+together)
			for f := f0; f < f1; f++ {
				l.productGrad(m, f, m.spectrum[(f-f0)*2*columns*n:], r0, r1)
			}
			for c, e := range a.heights {
				with, ld := a.back[a.at[c]+f0:], 2*columns*n
				gemmNN(e+1, n, f1-f0, with, a.count, m.spectrum[c*n:], ld, m.block[a.first[c]*n:], n, f0 > 0)
				if e > 0 {
					gemmNN(e, n, f1-f0, with[(e+1)*a.count:], a.count, m.spectrum[(columns+c)*n:], ld, m.block[(a.first[c]+e+1)*n:], n, f0 > 0)
				}
			}
		}
		l.rowsBack(m, r0, r1)
	}
}

// productGrad computes the gradient of the spectrum of the rows r0 <= r < r1 at
// one frequency, real part and imaginary part.
func (l *perElementPass) productGrad(m *perElementLocal, f int, g []float32, r0, r1 int) {
	s, a := l.shape, l.lattice
	sources, targets := s.Sources(), s.Targets()
	columns, rows, n := len(a.heights), r1-r0, (r1-r0)*sources
	width := a.outW + 2*a.radius
	add := func(to []float32, kind, plane int, accumulate bool) {
		dy := m.dy[((3*f+kind)*targets+r0)*a.outW:]
		for c := range columns {
			asm.GemmStripNN(rows, sources, a.outW, dy, a.outW, m.x[((3*f+plane)*width+c)*sources:], sources, to[c*n:], sources, accumulate)
		}
	}
	re, im := g[:columns*n], g[columns*n:][:columns*n]
	add(re, 0, 0, false)
	if a.real(f) {
		clear(im)
		return
	}
	copy(im, re)
	add(re, 1, 2, true)
	add(im, 2, 1, true)
}

// rowsBack brings the gradient of rows of the kernel from block to dkernel.
func (l *perElementPass) rowsBack(m *perElementLocal, r0, r1 int) {
	taps, sources := len(l.shape.Offsets), l.shape.Sources()
	for r := r0; r < r1; r++ {
		asm.Transpose(m.dkernel[l.row(r):], taps, m.block[(r-r0)*sources:], (r1-r0)*sources, taps, sources)
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
