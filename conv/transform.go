package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// analysisValues bounds what a worker keeps of planes transformed along y.
const analysisValues = 192 << 10

// analysis transforms the planes of a map [channel, h, w, batch] to the spectra
// of a band, [f, part, channel, batch], or, turned, to
//
//	[f, block of channels, part, batch, channel]
//
// where the channels are the columns of a product.
//
// Channels are pairs of a channel proper and one of n elements. With paired
// elements it is the spectra of x_j + x_(j+n/2) and i (x_j - x_(j+n/2)) that are
// written, j < n/2: first all the sums, then all the differences.
type analysis struct {
	*lattice
	*transform
	band
	cpu      *tensor.CPU
	plane    []float32
	channels int
	elements int // n for paired elements, else 1
	batch    int
	spectrum []float32
	turned   bool
	columns  columnBlocks // of a turned spectrum
	together int          // channels of an item
}

var _ tensor.Task = (*analysis)(nil)

// mostTogether is how many channels are transformed at a time at most, but for
// those that belong together: enough for runs of whole cache lines in the spectra.
const mostTogether = 16

// columnBlocks is how the columns (c,j) of a kernel are cut: blocks of width
// columns, each of rows ld apart. With paired elements the columns of the sums and
// those of the differences are cut alike, one after the other.
type columnBlocks struct {
	n, width, count, ld int
	kinds               int // 2 for paired elements, else 1
}

// columnsOf returns the blocks of a shape. A block is a multiple of the channels
// that are transformed together.
func (l *lattice) columnsOf(s *Shape) columnBlocks {
	kinds, most := 1, blockLong
	if s.Paired {
		kinds, most = 2, blockLong/2
	}
	n, run := s.Sources()/kinds, l.togetherFor(elementsOf(s, s.NIn), s.W, s.B)/kinds
	width := blocksOf(blocksOf(n, blocksOf(n, most)), run) * run
	return columnBlocks{n: n, width: width, count: blocksOf(n, width), ld: columns(width), kinds: kinds}
}

// size returns the distance of the frequencies of a turned spectrum, and block the
// distance of its blocks.
func (b *columnBlocks) size(batch int) int { return b.kinds*b.count*b.block(batch) + skew }

func (b *columnBlocks) block(batch int) int { return 2 * batch * b.ld }

// at returns block number i of columns of the sums: the first and the count.
func (b *columnBlocks) at(i int) (first, count int) {
	return i * b.width, min(b.width, b.n-i*b.width)
}

// togetherFor returns how many channels are transformed at a time: a power of two
// of them whose rows fit the cache, or all elements of as many channels proper.
func (l *lattice) togetherFor(elements, w, batch int) int {
	n := mostTogether
	for n > 1 && n*l.periodH*w*batch > analysisValues {
		n /= 2
	}
	return max(1, n/elements) * elements
}

// elementsOf returns n for paired elements, else 1.
func elementsOf(s *Shape, n int) int {
	if s.Paired {
		return n
	}
	return 1
}

// analysisLocal returns the size of a worker's memory.
func (l *lattice) analysisLocal(s *Shape) int {
	size := 0
	for _, m := range []struct{ n, w int }{{s.NIn, s.W}, {s.NOut, s.OutW}} {
		for elements := 1; elements <= m.n; elements++ {
			n := l.togetherFor(elements, m.w, s.B)
			size = max(size, n*l.periodH*m.w*s.B+max(l.periodH*m.w, 2*l.periodW*n)*s.B)
		}
	}
	return size
}

func (a *analysis) run() {
	a.together = a.togetherFor(a.elements, a.transform.w, a.batch)
	a.cpu.Team().For(blocksOf(a.channels, a.together), 1, a)
}

// Do transforms the items lo <= item < hi.
func (a *analysis) Do(lo, hi, worker int) {
	local := a.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		first := item * a.together
		a.channelsAt(first, min(a.together, a.channels-first), local)
	}
}

// channelsAt transforms n channels.
func (a *analysis) channelsAt(first, n int, local []float32) {
	h, w := a.transform.h, a.transform.w
	line := w * a.batch
	size := a.rows * line // of a channel, transformed along y
	rows, spare := local[:n*size], local[n*size:]
	for c := range n {
		gemmNN(a.rows, line, h, a.alongY[a.row*h:], h, a.plane[(first+c)*h*line:], line, rows[c*size:], line, false)
	}
	half := a.elements / 2
	if half > 0 {
		// The transform along y is linear, so the sums can as well be taken here.
		for c := range n {
			if c%a.elements < half {
				sum, difference := rows[c*size:][:size], rows[(c+half)*size:][:size]
				asm.Sub(spare[:size], sum, difference)
				asm.Add(sum, sum, difference)
				copy(difference, spare[:size])
			}
		}
	}
	for _, g := range a.band.groups {
		at := rows[(g.row-a.row)*line:]
		switch {
		case half == 0:
			a.write(g, at, size, first, n, 0, a.channels, 0, spare)
		default:
			a.write(g, at, size, first/2, n/2, 0, a.channels/2, 0, spare)
			a.write(g, at, size, first/2, n/2, half, a.channels/2, 1, spare)
		}
	}
}

// write transforms along x and writes n channels of a kind, of which there are
// all: channels proper, sums (times = 0) or differences (times = 1, to be
// multiplied by i), whose elements begin at offset.
func (a *analysis) write(g frequencies, rows []float32, size, first, n, offset, all, times int, spare []float32) {
	kind := times * all
	if a.turned {
		part := n * a.batch
		for c := range n {
			a.alongX(g, rows[a.place(c, offset)*size:], spare[c*a.batch:], spare[part+c*a.batch:], 2*part, times)
		}
		a.turn(g, spare, first, n, times)
		return
	}
	plane := planeSize(a.channels, a.batch)
	dst := a.spectrum[(g.first-a.first)*2*plane+(kind+first)*a.batch:]
	for c := range n {
		a.alongX(g, rows[a.place(c, offset)*size:], dst[c*a.batch:], dst[plane+c*a.batch:], 2*plane, times)
	}
}

// place returns which of the channels at hand is number c of its kind.
func (a *analysis) place(c, offset int) int {
	half := max(1, a.elements/2)
	return c/half*a.elements + offset + c%half
}

// alongX transforms one channel's rows of a group along x: to the real parts and
// the imaginary parts, frequencies ld apart, times i to the power of times.
func (a *analysis) alongX(g frequencies, rows, re, im []float32, ld, times int) {
	m := &a.inner
	if g.rows == 1 {
		m = &a.edge
	}
	k := g.rows * a.transform.w
	gemmNN(g.count, a.batch, k, m[2*times], k, rows, a.batch, re, ld, false)
	gemmNN(g.count, a.batch, k, m[1-times], k, rows, a.batch, im, ld, false)
}

// turn writes n channels of a group, [f, part, channel, batch], to a turned
// spectrum.
func (a *analysis) turn(g frequencies, from []float32, first, n, times int) {
	b := &a.columns
	at := (times*b.count+first/b.width)*b.block(a.batch) + first%b.width
	for f := range g.count {
		dst := a.spectrum[(g.first-a.first+f)*b.size(a.batch)+at:]
		for part := range 2 {
			asm.Transpose(dst[part*a.batch*b.ld:], b.ld, from[(2*f+part)*n*a.batch:], a.batch, n, a.batch)
		}
	}
}

// synthesis transforms the spectra [f, part, channel, batch] of a band to their
// share of the planes [channel, h, w, batch], which it writes or adds. The
// channels are as for analysis.
type synthesis struct {
	*lattice
	*inverse
	band
	cpu        *tensor.CPU
	spectrum   []float32
	channels   int
	elements   int
	batch      int
	plane      []float32
	accumulate bool
}

var _ tensor.Task = (*synthesis)(nil)

func (l *lattice) synthesisLocal(s *Shape) int {
	return 3 * l.periodH * max(l.back.w, l.out.w) * s.B
}

func (y *synthesis) run() {
	// Neighbouring channels share pages and lines of the spectra.
	items := y.channels / max(1, y.elements/2*2) * max(1, y.elements/2)
	y.cpu.Team().For(items, min(8, max(1, items/(2*y.cpu.Threads()))), y)
}

// Do transforms the channels lo <= c < hi, or as many pairs.
func (y *synthesis) Do(lo, hi, worker int) {
	line := y.inverse.w * y.batch
	size := y.rows * line
	local := y.cpu.Workspace(worker)
	rows, others, spare := local[:size], local[size:2*size], local[2*size:3*size]
	half := y.elements / 2
	for c := lo; c < hi; c++ {
		y.alongX(c, 0, rows)
		if half == 0 {
			y.alongY(c, rows)
			continue
		}
		y.alongX(y.channels/2+c, 1, others)
		first := c/half*y.elements + c%half
		asm.Add(spare, rows, others)
		y.alongY(first, spare)
		asm.Sub(spare, rows, others)
		y.alongY(first+half, spare)
	}
}

// alongX transforms the spectrum of a channel, times -i to the power of times,
// along x.
func (y *synthesis) alongX(channel, times int, rows []float32) {
	w, size := y.inverse.w, planeSize(y.channels, y.batch)
	for _, g := range y.band.groups {
		m := y.inner[times]
		if g.rows == 1 {
			m = y.edge[times]
		}
		from := y.spectrum[(g.first-y.first)*2*size+channel*y.batch:]
		gemmNN(g.rows*w, y.batch, 2*g.count, m, 2*g.count, from, size, rows[(g.row-y.row)*w*y.batch:], y.batch, false)
	}
}

// alongY transforms a channel's rows along y.
func (y *synthesis) alongY(channel int, rows []float32) {
	h, line := y.inverse.h, y.inverse.w*y.batch
	gemmNN(h, line, y.rows, y.inverse.alongY[y.row:], y.periodH, rows, line, y.plane[channel*h*line:], line, y.accumulate)
}
