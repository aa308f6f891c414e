package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

const (
	// cachedValues bounds what a worker has of planes transformed along one axis, but for one channel or pair. They
	// are written and read once, so they stay in half of a second-level cache of 1 MB.
	cachedValues = 1 << 17

	// analysisValues bounds it along y where one channel, or a panel of mostTogether of them, exceeds that, but for
	// one group of frequencies. It may exceed the cache: the fewer groups at a time, the more often planes are read.
	analysisValues = 5 << 18
)

// mostTogether is how many channels are transformed at a time at most, and a panel of sliced spectra has.
const mostTogether = 16

// analysis transforms the planes of a map [channel, h, w, batch] to the spectra
// of a band, [f, part, channel, batch], or, turned, to panels whose columns are the
// channels.
//
// Channels are pairs of a channel proper and one of n elements, in the order that
// planeOrder says. With paired elements it is the spectra of x_j + x_(j+n/2) and i (x_j - x_(j+n/2)) that are
// written, j < n/2 in the order of the kernel: first all the sums, then all the differences.
type analysis struct {
	*lattice
	*transform
	band
	cpu      *tensor.CPU
	planes   planeSource
	order    planeOrder
	start    int // number of the first one of a kind
	channels int // of all kinds
	elements int // n for paired elements, else 1
	batch    int
	spectrum []float32
	turned   bool
	panels   panels // of a turned spectrum

	items int // into which the channels, or pairs, are cut
	unit  int // that they are counted in
	most  int // groups whose rows are kept at a time
}

var _ tensor.Task = (*analysis)(nil)

// panels is how columns (j,c) of a kernel are laid out in a spectrum of x:
// [f, part, kind, panel, batch, column] in panels of nr columns, as products of float32 need them, or of quads
// (asm.PackQuads), or [f, kind, panel] in sliced ones of 16, where both parts are one operand. With paired elements the
// columns of the sums and those of the differences are kinds, laid out alike.
type panels struct {
	kinds  int // 2 for paired elements, else 1
	n      int // columns of a kind
	nr     int // columns that blocks are counted in
	batch  int
	sliced bool
	quads  bool
}

// panelsOf returns the panels of so many columns of a kind.
func panelsOf(s *Shape, columns int) panels {
	p := widestPanels(s, columns)
	if !p.sliced && !s.Paired && asm.ComplexQuads() && quadsPay(columns, s.B) {
		p.nr, p.quads = asm.QuadColumns, true
	}
	return p
}

// widestPanels returns panels that are no smaller than those of so many columns, nor than those of a smaller batch.
func widestPanels(s *Shape, columns int) panels {
	_, nr := asm.GemmTile()
	return panels{kinds: kinds(elementsOf(s, s.NIn)), n: columns, nr: nr, batch: s.B, sliced: slicesGradient(s)}
}

// quadsPay reports whether so many columns leave more of a vector idle than it takes to add up quads: as much as
// eight steps.
func quadsPay(columns, steps int) bool {
	return steps%4 == 0 && (steps+8)*((columns+3)&^3) <= steps*roundUp(columns)
}

// count returns the number of panels of a kind.
func (p *panels) count() int { return blocksOf(p.n, p.nr) }

// distance returns that of the panels of nr columns, part that of the real and the imaginary
// part, and size that of the frequencies.
func (p *panels) distance() int { return p.batch * p.nr }
func (p *panels) part() int     { return p.kinds*p.count()*p.distance() + skew }

func (p *panels) size() int {
	if p.sliced {
		return p.kinds*asm.SliceSize(p.n, p.batch) + skew
	}
	return 2 * p.part()
}

// at returns where a column begins, the first of a panel.
func (p *panels) at(kind, column int) int {
	if p.sliced {
		return kind*asm.SliceSize(p.n, p.batch) + asm.SliceSize(column, p.batch)
	}
	return (kind*p.count() + column/p.nr) * p.distance()
}

// blocks returns how many blocks the columns of a kind are cut into, and block
// returns the columns of block i.
func (p *panels) blocks() int { return blocksOf(p.count(), p.wide()) }

func (p *panels) block(i int) span {
	from, to := share(p.count(), p.blocks(), i)
	return span{from * p.nr, min(p.n, to*p.nr) - from*p.nr}
}

// wide returns the most panels of a block.
func (p *panels) wide() int { return max(1, blockColumns/p.kinds/p.nr) }

// elementsOf returns n for paired elements, else 1.
func elementsOf(s *Shape, n int) int {
	if s.Paired {
		return n
	}
	return 1
}

// analysisLocal returns the size of a worker's memory: rows of both kinds, and a plane folded with
// two lines and as it was computed, or a group's spectrum.
func (l *lattice) analysisLocal(s *Shape) int {
	size := 0
	for _, t := range []*transform{&l.in, &l.grad} {
		line := t.w * s.B
		rows := min(max(analysisValues, 4*mostTogether*line), 4*len(l.groups)*mostTogether*line)
		size = max(size, rows+max((2*t.h+2)*line, 2*l.periodW*mostTogether*s.B))
	}
	return size
}

// bundle returns how many channels are transformed as one, side by side: enough for the
// columns of two register tiles.
func bundle(batch int) int { return max(1, min(mostTogether, 64/batch)) }

// kinds returns 2 for paired elements, else 1.
func kinds(elements int) int { return min(2, elements) }

// planeOrder is the order in which spectra have the planes [channel, element] of a map, those of the first
// kind: run of them are step apart, and such runs jump, where n elements are one behind the other. With paired elements
// that of the second kind is a turn behind.
type planeOrder struct{ run, step, jump, n, turn int }

// targetOrder is that of rows (o,i), sourceOrder that of columns (j,c).
func targetOrder(s *Shape) planeOrder {
	return planeOrder{s.rendered(), 1, s.NOut, s.NOut, s.turn(s.NOut)}
}

func sourceOrder(s *Shape) planeOrder {
	return planeOrder{s.In, s.NIn, 1, s.NIn, s.turn(s.NIn)}
}

// plane returns the plane that is number i.
func (o planeOrder) plane(i int) int {
	p := i%o.run*o.step + i/o.run*o.jump
	e := p % o.n
	return p - e + firstOfPair(e, o.turn)
}

func (a *analysis) run() {
	group := 2 * kinds(a.elements) * a.transform.w * a.batch
	together := max(1, min(mostTogether, cachedValues/(group*len(a.band.groups))))
	count := a.channels / kinds(a.elements)
	a.unit = 1
	if a.turned && a.panels.sliced { // whole panels
		a.unit, together = mostTogether, mostTogether
	}
	a.most = max(1, min(len(a.band.groups), analysisValues/(group*together)))
	team := a.cpu.Team()
	a.items = min(blocksOf(count, a.unit), itemsFor(team, count, together))
	team.For(a.items, 1, a)
}

// Do transforms the items lo <= item < hi.
func (a *analysis) Do(lo, hi, worker int) {
	local := a.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		first, end := shareWhole(a.channels/kinds(a.elements), a.items, item, a.unit)
		n := end - first
		for from := 0; from < len(a.band.groups); from += a.most {
			a.transformGroups(from, min(a.most, len(a.band.groups)-from), first, n, local)
		}
	}
}

// transformGroups transforms n channels, or pairs, to the frequencies of some groups of
// the band.
func (a *analysis) transformGroups(from, groups, first, n int, local []float32) {
	size := groups * 2 * a.transform.w * a.batch // of a channel, transformed along y
	rows, spare := local[:kinds(a.elements)*n*size], local[kinds(a.elements)*n*size:]
	for c := 0; c < n; c += bundle(a.batch) {
		m := min(bundle(a.batch), n-c)
		a.toRows(first+c, m, 0, a.fy+from, groups, rows[c*size:], spare)
		if a.elements > 1 {
			// The transform along y is linear, so the sums can as well be taken here.
			x, y := rows[c*size:][:m*size], rows[(n+c)*size:][:m*size]
			a.toRows(first+c, m, a.order.turn, a.fy+from, groups, y, spare)
			asm.SumDiff(x, y, x, y)
		}
	}
	for i, g := range a.band.groups[from : from+groups] {
		for times := range kinds(a.elements) {
			a.write(g, i, rows[times*n*size:][:n*size], first, n, times, spare)
		}
	}
}

// toRows transforms a bundle of n channels, which are offset from the first kind, along y
// to two lines [x, channel, batch] for each of the groups from fy on: the even part along x
// of the real row and the odd part of the imaginary one, then the even part of the
// imaginary row and the odd part of the real one.
func (a *analysis) toRows(first, n, offset, fy, groups int, rows, spare []float32) {
	t := a.transform
	position := n * a.batch
	line, all := t.w*position, len(a.lattice.groups)
	for c := range n {
		plane := a.planes.read(a.order.plane(a.start+first+c)+offset, t.h*t.w*a.batch, spare[(t.h+2)*t.w*a.batch:])
		one, other := rows[c*a.batch:], rows[line+c*a.batch:]
		asm.FoldedWaves(groups, t.h, t.w, a.batch, t.cos[fy:], t.minusSin[min(fy, len(t.minusSin)):], all, plane, one, other, position, 2*line, spare)
	}
}

// write transforms along x and writes group i of n channels of a kind: channels proper,
// sums (times = 0) or differences (times = 1, to be multiplied by i).
func (a *analysis) write(g frequencies, i int, rows []float32, first, n, times int, spare []float32) {
	if a.turned {
		part := n * a.batch
		a.alongX(g, i, rows, n, times, spare, spare[part:], 2*part)
		a.turn(g, spare, first, n, times)
		return
	}
	plane := planeSize(a.channels, a.batch)
	to := a.spectrum[(g.first-a.first)*2*plane+(times*a.channels/2+first)*a.batch:]
	a.alongX(g, i, rows, n, times, to, to[plane:], 2*plane)
}

// alongX transforms the lines of group i of n channels along x: to the real parts and the
// imaginary parts, frequencies ld apart, times i to the power of times.
func (a *analysis) alongX(g frequencies, i int, rows []float32, n, times int, re, im []float32, ld int) {
	w, size, half := a.transform.w, len(rows)/n, a.periodW/2
	toReal, toImag := 0, 1
	if times == 1 {
		re, im = im, re
		toImag = 2
	}
	for c := 0; c < n; c += bundle(a.batch) {
		position := min(bundle(a.batch), n-c) * a.batch
		one, other := rows[c*size+2*i*w*position:], rows[c*size+(2*i+1)*w*position:]
		part := func(dst []float32, which int, x []float32) {
			if g.rows == 1 {
				gemmNN(g.count, position, w, a.byFrequency[which], w, x, position, dst, ld, false)
				return
			}
			even, m := (w+1)/2, half+1
			waves := a.transform.waves[which]
			asm.GemmMirrored(m, position, even, w-even, waves, waves[even*m:], m, x, after(x, even*position), position, dst, after(dst, (a.periodW-half)*ld), ld, true, false)
		}
		part(re[c*a.batch:], toReal, one)
		part(im[c*a.batch:], toImag, other)
	}
}

// turn writes n channels of a group, [f, part, channel, batch], to the panels of
// their kind.
func (a *analysis) turn(g frequencies, from []float32, first, n, times int) {
	p, part := &a.panels, n*a.batch
	for k := range g.count {
		dst, re, im := a.spectrum[(g.first-a.first+k)*p.size()+p.at(times, 0):], from[2*k*part:], from[(2*k+1)*part:]
		p.turn(dst, re, im, first, n)
	}
}

// turn writes n columns [column, batch] of a frequency, from number first on, to the panels of
// their kind. Where they are sliced, these begin with the first column.
func (p *panels) turn(dst, re, im []float32, first, n int) {
	if p.sliced {
		asm.SliceTransposed(dst[p.at(0, first):], re, im, p.batch, p.batch, n)
		return
	}
	p.turnPart(dst, re, first, n)
	p.turnPart(dst[p.part():], im, first, n)
}

// turnPart is turn for the real or the imaginary part.
func (p *panels) turnPart(dst, from []float32, first, n int) {
	for c := 0; c < n; {
		panel, column := (first+c)/p.nr, (first+c)%p.nr
		run := min(n-c, p.nr-column)
		to, from := dst[panel*p.distance():], from[c*p.batch:]
		if p.quads {
			asm.PackQuads(to[4*column:], from, p.batch, p.batch, run)
		} else {
			asm.Transpose(to[column:], p.nr, from, p.batch, run, p.batch)
		}
		c += run
	}
}

// synthesis transforms the spectra [f, part, channel, batch] of a band to their
// share of the planes [channel, h, w, batch], which it writes or adds. The
// channels are as for analysis.
type synthesis struct {
	*lattice
	*inverse
	band
	cpu      *tensor.CPU
	spectrum []float32
	order    planeOrder
	start    int
	channels int
	elements int
	batch    int
	planes   planeSink

	items int // that channels, or pairs, are cut into
}

var _ tensor.Task = (*synthesis)(nil)

// synthesisTogether returns how many channels, or pairs, are transformed at a time:
// as many as make long runs in the spectra and whose rows fit the cache.
func synthesisTogether(kinds, rows, w, batch int) int {
	return max(1, min(mostTogether, cachedValues/(kinds*rows*w*batch)))
}

// synthesisLocal returns the size of a worker's memory: rows of both kinds, and the
// spectrum folded.
func (l *lattice) synthesisLocal(s *Shape) int {
	size := 0
	for _, w := range []int{l.back.w, l.out.w} {
		n := synthesisTogether(1, 1, w, s.B)
		rows := max(2*l.periodH*w*s.B, cachedValues)
		size = max(size, rows+2*l.periodW*n*s.B)
	}
	return size
}

func (y *synthesis) run() {
	together := synthesisTogether(kinds(y.elements), y.rows, y.inverse.w, y.batch)
	team := y.cpu.Team()
	y.items = itemsFor(team, y.channels/kinds(y.elements), together)
	team.For(y.items, 1, y)
}

// itemsFor returns how many items n channels are cut into, at most so many together: as many
// for each worker.
func itemsFor(team *tensor.Team, n, together int) int {
	return min(n, blocksOf(blocksOf(n, together), team.Size())*team.Size())
}

// Do transforms the items lo <= item < hi.
func (y *synthesis) Do(lo, hi, worker int) {
	local := y.cpu.Workspace(worker)
	size := y.rows * y.inverse.w * y.batch // of a channel, transformed along x
	for item := lo; item < hi; item++ {
		first, end := share(y.channels/kinds(y.elements), y.items, item)
		n := end - first
		if y.elements == 1 {
			rows, spare := local[:n*size], local[n*size:]
			y.alongX(first, n, 0, rows, spare)
			for c := range n {
				y.toPlane(y.order.plane(y.start+first+c), rows[c*size:])
			}
			continue
		}
		sums, differences, spare := local[:n*size], local[n*size:2*n*size], local[2*n*size:]
		y.alongX(first, n, 0, sums, spare)
		y.alongX(y.channels/2+first, n, 1, differences, spare)
		for c := range n {
			a, b := sums[c*size:][:size], differences[c*size:][:size]
			asm.SumDiff(a, b, a, b)
			channel := y.order.plane(y.start + first + c)
			y.toPlane(channel, a)
			y.toPlane(channel+y.order.turn, b)
		}
	}
}

// alongX transforms the spectra of n channels, times -i to the power of times,
// along x.
func (y *synthesis) alongX(first, n, times int, rows, spare []float32) {
	w, batch, size := y.inverse.w, y.batch, planeSize(y.channels, y.batch)
	line, channel := w*batch, y.rows*w*batch
	for i, g := range y.band.groups {
		from := y.spectrum[(g.first-y.first)*2*size+first*batch:]
		real, imag := rows[i*line:], after(rows, (len(y.band.groups)+g.imaginary-y.imaginary)*line)
		if g.rows == 1 {
			for c := range n {
				gemmNN(w, batch, 2*g.count, y.edge[times], 2*g.count, from[c*batch:], size, real[c*channel:], batch, false)
			}
			continue
		}
		asm.GemmWaves(w, batch, n, y.periodW, y.waves, from, from[size:], 2*size, real, imag, channel, times == 1, spare)
	}
}

// planeColumns is how many columns of a plane are written at a time: what they are made of
// then stays in the first-level cache for all rows.
const planeColumns = 256

// toPlane transforms a channel's rows along y.
func (y *synthesis) toPlane(channel int, rows []float32) {
	h, line, groups := y.inverse.h, y.inverse.w*y.batch, len(y.band.groups)
	plane := y.planes.values[channel*h*line:][:h*line]
	m := (h + 1) / 2
	cos, minusSin := y.inverse.cos[y.fy*m:], y.inverse.minusSin[y.imaginary*m:]
	for x := 0; x < line; x += planeColumns {
		n := min(planeColumns, line-x)
		asm.GemmMirrored(m, n, groups, y.rows-groups, cos, minusSin, m, rows[x:], after(rows, groups*line+x), line, plane[h/2*line+x:], plane[x:], line, h%2 == 1, y.planes.accumulate)
	}
	if y.planes.written != nil {
		y.planes.written(channel)
	}
}
