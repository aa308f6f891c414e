package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// analysisValues bounds what a worker keeps of planes transformed along y.
const analysisValues = 320 << 10

// analysis transforms the planes of a map [channel, h, w, batch] to the spectra
// of a band, [f, part, channel, batch], or, turned, to
//
//	[f, part, panel of channels, batch, channel]
//
// where the channels are the columns of a product, in the panels of package asm.
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
	panels   panels // of a turned spectrum

	together int // channels of an item
	most     int // rows along y that are kept at a time
}

var _ tensor.Task = (*analysis)(nil)

// mostTogether is how many channels are transformed at a time, but for those that
// belong together: enough for runs of whole cache lines in the spectra.
const mostTogether = 16

// panels is how the columns (c,j) of a kernel are laid out: panels of nr columns.
// With paired elements the columns of the sums and those of the differences are laid
// out alike, one after the other.
type panels struct {
	kinds int // 2 for paired elements, else 1
	n     int // columns of a kind
	nr    int
	batch int
}

func panelsOf(s *Shape) panels {
	_, nr := asm.GemmTile()
	kinds := 1
	if s.Paired {
		kinds = 2
	}
	return panels{kinds: kinds, n: s.Sources() / kinds, nr: nr, batch: s.B}
}

// count returns the number of panels of a kind.
func (p *panels) count() int { return blocksOf(p.n, p.nr) }

// distance returns that of the panels, part that of the real and the imaginary
// part, and size that of the frequencies.
func (p *panels) distance() int { return p.batch * p.nr }
func (p *panels) part() int     { return p.kinds*p.count()*p.distance() + skew }
func (p *panels) size() int     { return 2 * p.part() }

// blocks returns how many blocks the columns of a kind are cut into, and block
// returns block i: its first panel, first column and number of columns.
func (p *panels) blocks() int { return blocksOf(p.count(), p.wide()) }

func (p *panels) block(i int) (panel, first, n int) {
	from, to := share(p.count(), p.blocks(), i)
	return from, from * p.nr, min(p.n, to*p.nr) - from*p.nr
}

// wide returns the most panels of a block.
func (p *panels) wide() int { return max(1, blockColumns/p.kinds/p.nr) }

// togetherFor returns how many channels are transformed at a time: all elements of
// as many channels proper as make the usual number.
func togetherFor(elements int) int { return max(1, mostTogether/elements) * elements }

// elementsOf returns n for paired elements, else 1.
func elementsOf(s *Shape, n int) int {
	if s.Paired {
		return n
	}
	return 1
}

// rowsFor returns how many rows along y are kept at a time.
func (l *lattice) rowsFor(together, w, batch int) int {
	return max(2, min(l.periodH, analysisValues/(together*w*batch)))
}

// analysisLocal returns the size of a worker's memory.
func (l *lattice) analysisLocal(s *Shape) int {
	size := 0
	for _, m := range []struct{ n, w int }{{s.NIn, s.W}, {s.NOut, s.OutW}} {
		for elements := 1; elements <= m.n; elements++ {
			n := togetherFor(elements)
			rows := l.rowsFor(n, m.w, s.B)
			size = max(size, (n*rows*m.w+max(rows*m.w, 4*l.periodW*n))*s.B)
		}
	}
	return size
}

func (a *analysis) run() {
	a.together = togetherFor(a.elements)
	a.most = a.rowsFor(a.together, a.transform.w, a.batch)
	a.cpu.Team().For(blocksOf(a.channels, a.together), 1, a)
}

// Do transforms the items lo <= item < hi.
func (a *analysis) Do(lo, hi, worker int) {
	local := a.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		first := item * a.together
		n := min(a.together, a.channels-first)
		for from := 0; from < len(a.band.groups); {
			to, rows := from, 0
			for to < len(a.band.groups) && rows+a.band.groups[to].rows <= a.most {
				rows += a.band.groups[to].rows
				to++
			}
			a.transformGroups(a.band.groups[from:to], rows, first, n, local)
			from = to
		}
	}
}

// transformGroups transforms n channels to the frequencies of some groups, which
// take that many rows along y.
func (a *analysis) transformGroups(groups []frequencies, count, first, n int, local []float32) {
	h, line := a.transform.h, a.transform.w*a.batch
	size := count * line // of a channel, transformed along y
	rows, spare := local[:n*size], local[n*size:]
	for c := range n {
		gemmNN(count, line, h, a.alongY[groups[0].row*h:], h, a.plane[(first+c)*h*line:], line, rows[c*size:], line, false)
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
	for _, g := range groups {
		at := rows[(g.row-groups[0].row)*line:]
		if half == 0 {
			a.write(g, at, size, first, n, 0, 0, spare)
			continue
		}
		a.write(g, at, size, first/2, n/2, 0, 0, spare)
		a.write(g, at, size, first/2, n/2, half, 1, spare)
	}
}

// write transforms along x and writes n channels of a kind: channels proper, sums
// (times = 0) or differences (times = 1, to be multiplied by i), whose elements
// begin at offset.
func (a *analysis) write(g frequencies, rows []float32, size, first, n, offset, times int, spare []float32) {
	if a.turned {
		part := n * a.batch
		to := spare[2*a.periodW*part:]
		a.alongX(g, rows, size, n, offset, times, to, to[part:], 2*part, spare)
		a.turn(g, to, first, n, times)
		return
	}
	plane := planeSize(a.channels, a.batch)
	to := a.spectrum[(g.first-a.first)*2*plane+(times*a.channels/2+first)*a.batch:]
	a.alongX(g, rows, size, n, offset, times, to, to[plane:], 2*plane, spare)
}

// alongX transforms rows of n channels along x: to the real parts and the
// imaginary parts, frequencies ld apart, times i to the power of times.
func (a *analysis) alongX(g frequencies, rows []float32, size, n, offset, times int, re, im []float32, ld int, spare []float32) {
	w, batch := a.transform.w, a.batch
	if g.rows == 1 {
		for c := range n {
			row := rows[a.place(c, offset)*size:]
			gemmNN(g.count, batch, w, a.edge[2*times], w, row, batch, re[c*batch:], ld, false)
			gemmNN(g.count, batch, w, a.edge[1-times], w, row, batch, im[c*batch:], ld, false)
		}
		return
	}
	// The waves of the real row and of the imaginary one, or, times i, of the
	// imaginary one negated and of the real one.
	part := n * batch
	ofReal, ofImag := spare[:a.periodW*part], spare[a.periodW*part:]
	for c := range n {
		row := rows[a.place(c, offset)*size:]
		gemmNN(a.periodW, batch, w, a.waves[times], w, row[times*w*batch:], batch, ofReal[c*batch:], part, false)
		gemmNN(a.periodW, batch, w, a.waves[0], w, row[(1-times)*w*batch:], batch, ofImag[c*batch:], part, false)
	}
	half := a.periodW / 2
	for fx := range half + 1 {
		cosR, cosI := ofReal[fx*part:][:part], ofImag[fx*part:][:part]
		if !a.mirrored(fx) {
			copy(re[fx*ld:], cosR)
			copy(im[fx*ld:], cosI)
			continue
		}
		sinR, sinI := ofReal[(half+fx)*part:][:part], ofImag[(half+fx)*part:][:part]
		asm.Add(re[fx*ld:][:part], cosR, sinI)
		asm.Sub(im[fx*ld:][:part], cosI, sinR)
		opposite := (a.periodW - fx) * ld
		asm.Sub(re[opposite:][:part], cosR, sinI)
		asm.Add(im[opposite:][:part], cosI, sinR)
	}
}

// place returns which of the channels at hand is number c of its kind.
func (a *analysis) place(c, offset int) int {
	half := max(1, a.elements/2)
	return c/half*a.elements + offset + c%half
}

// turn writes n channels of a group, [f, part, channel, batch], to the panels of
// their kind.
func (a *analysis) turn(g frequencies, from []float32, first, n, times int) {
	p := &a.panels
	for k := range 2 * g.count {
		dst := a.spectrum[(2*(g.first-a.first)+k)*p.part()+times*p.count()*p.distance():]
		for c := 0; c < n; {
			panel, column := (first+c)/p.nr, (first+c)%p.nr
			run := min(n-c, p.nr-column)
			asm.Transpose(dst[panel*p.distance()+column:], p.nr, from[(k*n+c)*a.batch:], a.batch, run, a.batch)
			c += run
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
	together   int // channels, or pairs, of an item
}

var _ tensor.Task = (*synthesis)(nil)

// synthesisTogether returns how many channels, or pairs, are transformed at a time:
// as many as make long runs in the spectra and whose rows fit the cache.
func synthesisTogether(kinds, rows, w, batch int) int {
	return max(1, min(mostTogether, analysisValues/(kinds*rows*w*batch)))
}

// synthesisLocal returns the size of a worker's memory: rows of both kinds, the
// spectrum folded, or a channel.
func (l *lattice) synthesisLocal(s *Shape) int {
	size := 0
	for _, w := range []int{l.back.w, l.out.w} {
		n := synthesisTogether(1, 1, w, s.B)
		rows := max(2*l.periodH*w*s.B, analysisValues)
		size = max(size, rows+max(2*l.periodW*n, l.periodH*w)*s.B)
	}
	return size
}

func (y *synthesis) run() {
	kinds := min(2, y.elements)
	y.together = synthesisTogether(kinds, y.rows, y.inverse.w, y.batch)
	y.cpu.Team().For(blocksOf(y.channels/kinds, y.together), 1, y)
}

// Do transforms the items lo <= item < hi.
func (y *synthesis) Do(lo, hi, worker int) {
	local := y.cpu.Workspace(worker)
	size := y.rows * y.inverse.w * y.batch // of a channel, transformed along x
	half := y.elements / 2
	for item := lo; item < hi; item++ {
		first := item * y.together
		if half == 0 {
			n := min(y.together, y.channels-first)
			rows, spare := local[:n*size], local[n*size:]
			y.alongX(first, n, 0, rows, spare)
			for c := range n {
				y.toPlane(first+c, rows[c*size:])
			}
			continue
		}
		n := min(y.together, y.channels/2-first)
		sums, differences, spare := local[:n*size], local[n*size:2*n*size], local[2*n*size:]
		y.alongX(first, n, 0, sums, spare)
		y.alongX(y.channels/2+first, n, 1, differences, spare)
		for c := range n {
			a, b, to := sums[c*size:][:size], differences[c*size:][:size], spare[:size]
			channel := (first+c)/half*y.elements + (first+c)%half
			asm.Add(to, a, b)
			y.toPlane(channel, to)
			asm.Sub(to, a, b)
			y.toPlane(channel+half, to)
		}
	}
}

// alongX transforms the spectra of n channels, times -i to the power of times,
// along x.
func (y *synthesis) alongX(first, n, times int, rows, spare []float32) {
	w, batch, size := y.inverse.w, y.batch, planeSize(y.channels, y.batch)
	line, channel, part := w*batch, y.rows*w*batch, n*batch
	for _, g := range y.band.groups {
		from := y.spectrum[(g.first-y.first)*2*size+first*batch:]
		to := rows[(g.row-y.row)*line:]
		if g.rows == 1 {
			for c := range n {
				gemmNN(w, batch, 2*g.count, y.edge[times], 2*g.count, from[c*batch:], size, to[c*channel:], batch, false)
			}
			continue
		}
		ofReal, ofImag := spare[:y.periodW*part], spare[y.periodW*part:]
		y.fold(from, size, part, ofReal, ofImag)
		if times == 1 {
			ofReal, ofImag = ofImag, ofReal
		}
		for c := range n {
			gemmNN(w, batch, y.periodW, y.waves[0], y.periodW, ofReal[c*batch:], part, to[c*channel:], batch, false)
			gemmNN(w, batch, y.periodW, y.waves[times], y.periodW, ofImag[c*batch:], part, to[c*channel+line:], batch, false)
		}
	}
}

// fold gathers what the waves of the real row and of the imaginary one are
// multiplied with: cosines with the sums over fx and -fx, sines with the
// differences of the other part.
func (y *synthesis) fold(from []float32, size, part int, ofReal, ofImag []float32) {
	half := y.periodW / 2
	for fx := range half + 1 {
		re, im := from[2*fx*size:][:part], from[(2*fx+1)*size:][:part]
		if !y.mirrored(fx) {
			copy(ofReal[fx*part:], re)
			copy(ofImag[fx*part:], im)
			continue
		}
		opposite := y.periodW - fx
		re2, im2 := from[2*opposite*size:][:part], from[(2*opposite+1)*size:][:part]
		asm.Add(ofReal[fx*part:][:part], re, re2)
		asm.Sub(ofReal[(half+fx)*part:][:part], im2, im)
		asm.Add(ofImag[fx*part:][:part], im, im2)
		asm.Sub(ofImag[(half+fx)*part:][:part], re, re2)
	}
}

// toPlane transforms a channel's rows along y.
func (y *synthesis) toPlane(channel int, rows []float32) {
	h, line := y.inverse.h, y.inverse.w*y.batch
	gemmNN(h, line, y.rows, y.alongY[y.row:], y.periodH, rows, line, y.plane[channel*h*line:], line, y.accumulate)
}
