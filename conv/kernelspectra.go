package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// kernelSpectra makes the spectrum of a kernel from those of folded features, without slots: with g^ the spectra of g
// (rendering.go),
//
//	K^[(o,i),(j,c)] = sum over k < h of  g^[(j,i),k] w[(o,c),k]  +  g^[(j,i),h] b[(o,c)]
//
// at every frequency. These are more operations than from slots. But as products of split matrices of 32 steps they
// take less time, and their operands are few, where slots, T for each pair of planes, are read from memory
// for each block of frequencies.
//
// As a task it makes what write needs, given folded features, weights and offsets: items are pairs (j,i) of
// every kind, and then panels.
type kernelSpectra struct {
	shape    *Shape
	cpu      *tensor.CPU
	features int
	*lattice
	folded []float32 // [(j,i), kind, slot, k]
	w, b   []float32 // [(o,c), k] and [(o,c)]

	// [(j,i), kind], spectra of features as asm.OuterSplit has the rows (f, part), and that of k = h; then panels
	// [chunk, o] of the weights, a chunk being splitTile of c; then offsets [chunk, o, c].
	values []float32
}

var _ tensor.Task = (*kernelSpectra)(nil)

// spectraTogether is how many frequencies are made at a time: half as many as from slots, which would be read more often
// for it, so that a block and what it is multiplied with fit the second-level cache.
const spectraTogether = splitTile / 4

// spectrumRows is the number of rows (f, part), with those that a strip has beyond them.
func (l *lattice) spectrumRows() int { return 2 * (l.count + spectraTogether) }

// featureSpectrum returns the size of the spectra of the features of a pair (j,i) of a kind.
func (l *lattice) featureSpectrum() int {
	return 3*l.spectrumRows()*splitTile/2 + roundUp(l.spectrumRows())
}

// kernelSpectraSize returns the number of values that write needs.
func (l *lattice) kernelSpectraSize(s *Shape) int {
	return s.rendered()*s.NIn*l.featureSpectrum() + s.Out*s.In/splitTile*splitPiece(splitTile) + s.Out*s.In
}

// kernelSpectraLocal returns the size of a worker's memory: rows and a strip of them, or weights of a chunk; none where
// the rows of a pair alone would not fit in place of slots.
func (l *lattice) kernelSpectraLocal(s *Shape) int {
	if !asm.FastSplit() || l.featureSpectrum() > slotsSize(s) {
		return 0
	}
	return max(l.spectrumRows(), splitTile)*featureColumns + splitPiece(splitTile)
}

// featureColumns is the distance of the rows that are split.
const featureColumns = splitTile + 16

// spectraOfFeatures reports whether passes make the kernel's spectrum from those of features: with sliced products, where
// panels are full, a block of them has enough for each pair (j,i), whose spectra are read from memory, and there is room in
// place of slots.
func (p *frequency) spectraOfFeatures(s *Shape) bool {
	const leastPanels = 4
	return slicesProducts(s) && !p.keep && p.features <= splitTile && s.In%splitTile == 0 &&
		s.rendered()*leastPanels <= blocksOfProducts(s).rows && p.lattice.kernelSpectraSize(s) <= slotsSize(s)
}

func (p *kernelSpectra) run() {
	s := p.shape
	p.cpu.Team().For(s.rendered()*s.NIn+s.Out*s.In/splitTile, 1, p)
}

// Do computes the items lo <= item < hi.
func (p *kernelSpectra) Do(lo, hi, worker int) {
	local := pieces{p.cpu.Workspace(worker)}
	pairs := p.shape.rendered() * p.shape.NIn
	for item := lo; item < hi; item++ {
		if item < pairs {
			p.pair(item, local)
		} else {
			p.panel(item-pairs, local)
		}
	}
}

// pair makes the spectra of features of pair (j,i) and kind.
func (p *kernelSpectra) pair(item int, local pieces) {
	h, n := p.features, 2*p.count
	size := len(p.shape.Offsets) * (h + 1)
	rows, strip := local.cut(n*featureColumns), local.cut(splitPiece(splitTile))
	re, im := rows, rows[featureColumns:]
	if item%kinds(elementsOf(p.shape, p.shape.NIn)) == 1 {
		re, im = im, re
	}
	p.transformSlots(&plainBlocks, 0, p.count, h+1, p.pairs+1, 0, p.folded[item*size:][:size], h+1, re, im, 2*featureColumns, nil)
	to := p.values[item*p.featureSpectrum():][:p.featureSpectrum()]
	clear(to)
	part := p.spectrumRows() * splitTile / 2
	for r := 0; r < n; r += splitTile {
		m := min(splitTile, n-r)
		asm.SplitLeft(strip, rows[r*featureColumns:], featureColumns, m, h)
		for i := range 3 {
			copy(to[i*part+r*splitTile/2:], strip[i*splitTile*splitTile/2:][:m*splitTile/2])
		}
	}
	for r := range n {
		to[3*part+r] = rows[r*featureColumns+h]
	}
}

// panel makes panel (chunk, o) of the weights, and its offsets.
func (p *kernelSpectra) panel(item int, local pieces) {
	s, h := p.shape, p.features
	o, chunk := item%s.Out, item/s.Out
	first := o*s.In + chunk*splitTile
	turned := local.cut(h * splitTile)
	asm.Transpose(turned, splitTile, p.w[first*h:], h, splitTile, h)
	panels, offsets := p.panels()
	asm.SplitRight(panels[item*splitPiece(splitTile):], turned, splitTile, h, splitTile)
	copy(offsets[item*splitTile:][:splitTile], p.b[first:])
}

// panels returns those of the weights, and the offsets.
func (p *kernelSpectra) panels() (panels, offsets []float32) {
	s := p.shape
	panels = p.values[s.rendered()*s.NIn*p.featureSpectrum():]
	return panels, panels[s.Out*s.In/splitTile*splitPiece(splitTile):]
}

// write makes up to spectraTogether frequencies from f on of rows m0.. and columns c0.., whole chunks, of a kind: rows (f, part) of
// the spectra, which are distance apart in k, with rows (o,i) ld apart. As many as spectraTogether
// are written, whatever there is to be had; the second of each two is negated with conjugate.
func (p *kernelSpectra) write(k []float32, kind, f, m0, nm, c0, nc, ld, distance int, conjugate bool) {
	s := p.shape
	n, kinds, chunks := s.rendered(), kinds(elementsOf(s, s.NIn)), s.In/splitTile
	size, rows := p.featureSpectrum(), p.spectrumRows()*splitTile/2
	panels, offsets := p.panels()
	first, end := c0/splitTile, (c0+nc)/splitTile
	// multiply takes several pairs from (j,i) on, for chunk at and output channels o to last.
	multiply := func(i, at, o, last, pairs, step, column, ahead int) {
		j, chunk := at/chunks, at%chunks
		of, panel := p.values[((j*n+i)*kinds+kind)*size:], chunk*s.Out+o
		asm.GemmSplitOuter(&asm.OuterSplit{
			Strips: pairs, Panels: last - o,
			A: of[f*splitTile:], PartA: rows, StripA: step * kinds * size,
			U: of[3*rows+2*f:], StripU: step * kinds * size,
			B: panels[panel*splitPiece(splitTile):], V: offsets[panel*splitTile:],
			C: k[(o*n+i-m0)*ld+at*splitTile-c0:], LDC: distance, StripC: column, PanelC: n * ld,
			Ahead: ahead * kinds * size, Conjugate: conjugate,
		})
	}
	if m0%n == 0 && nm%n == 0 {
		for at := first; at < end; at++ {
			multiply(0, at, m0/n, (m0+nm)/n, n, 1, ld, n)
		}
		return
	}
	for i := range n {
		o, last := (m0-i+n-1)/n, (m0+nm-i+n-1)/n
		for at := first; at < min(end, first+chunks); at++ {
			multiply(i, at, o, last, blocksOf(end-at, chunks), n, chunks*splitTile, 1)
		}
	}
}
