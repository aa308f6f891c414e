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
//	[f, part, block of channels, batch, channel]
//
// where the channels are the columns of a product.
type analysis struct {
	*lattice
	*transform
	band
	cpu      *tensor.CPU
	plane    []float32
	channels int
	batch    int
	spectrum []float32
	turned   bool
	together int // channels of an item
}

var _ tensor.Task = (*analysis)(nil)

// mostTogether is how many channels are transformed at a time at most: enough
// for runs of whole cache lines in the spectra.
const mostTogether = 16

// blockWidth returns the channels of a block of a turned spectrum, a multiple of
// mostTogether.
func blockWidth(channels int) int {
	blocks := blocksOf(channels, blockLong)
	return (blocksOf(channels, blocks) + mostTogether - 1) / mostTogether * mostTogether
}

// turnedBlock returns the distance of the blocks of a turned spectrum.
func turnedBlock(channels, batch int) int { return batch * columns(blockWidth(channels)) }

// turnedSize returns the distance of its parts.
func turnedSize(s *Shape) int {
	return blocksOf(s.Sources(), blockWidth(s.Sources()))*turnedBlock(s.Sources(), s.B) + skew
}

// togetherFor returns how many channels are transformed at a time: a power of two
// of them, whose rows fit the cache.
func togetherFor(rows, w, batch int) int {
	n := mostTogether
	for n > 1 && n*rows*w*batch > analysisValues {
		n /= 2
	}
	return n
}

// analysisLocal returns the size of a worker's memory.
func (l *lattice) analysisLocal(s *Shape) int {
	size := 0
	for _, t := range []*transform{&l.in, &l.grad} {
		size = max(size, l.periodH*t.w*s.B, analysisValues)
	}
	return size + 2*l.periodW*mostTogether*s.B
}

func (a *analysis) run() {
	a.together = togetherFor(a.rows, a.transform.w, a.batch)
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
	for c := range n {
		gemmNN(a.rows, line, h, a.alongY[a.row*h:], h, a.plane[(first+c)*h*line:], line, local[c*size:], line, false)
	}
	rows, spare := local[:n*size], local[n*size:]
	for _, g := range a.band.groups {
		at := (g.row - a.row) * line
		if a.turned {
			a.turn(g, rows, at, size, first, n, spare)
			continue
		}
		plane := planeSize(a.channels, a.batch)
		dst := a.spectrum[(g.first-a.first)*2*plane+first*a.batch:]
		for c := range n {
			a.alongX(g, rows[c*size+at:], dst[c*a.batch:], dst[plane+c*a.batch:], 2*plane)
		}
	}
}

// alongX transforms one channel's rows of a group along x: to the real parts and
// the imaginary parts, frequencies ld apart.
func (a *analysis) alongX(g frequencies, rows, re, im []float32, ld int) {
	m := &a.inner
	if g.rows == 1 {
		m = &a.edge
	}
	k := g.rows * a.transform.w
	gemmNN(g.count, a.batch, k, m[0], k, rows, a.batch, re, ld, false)
	gemmNN(g.count, a.batch, k, m[1], k, rows, a.batch, im, ld, false)
}

// turn writes the turned spectra of a group.
func (a *analysis) turn(g frequencies, rows []float32, at, size, first, n int, spare []float32) {
	part := n * a.batch
	for c := range n {
		a.alongX(g, rows[c*size+at:], spare[c*a.batch:], spare[part+c*a.batch:], 2*part)
	}
	width := blockWidth(a.channels)
	ld, block := columns(width), turnedBlock(a.channels, a.batch)
	parts := blocksOf(a.channels, width)*block + skew
	dst := a.spectrum[(g.first-a.first)*2*parts+first/width*block+first%width:]
	for k := range 2 * g.count {
		asm.Transpose(dst[k*parts:], ld, spare[k*part:], a.batch, n, a.batch)
	}
}

// synthesis transforms the spectra [f, part, channel, batch] of a band to their
// share of the planes [channel, h, w, batch], which it writes or adds.
type synthesis struct {
	*lattice
	*inverse
	band
	cpu        *tensor.CPU
	spectrum   []float32
	channels   int
	batch      int
	plane      []float32
	accumulate bool
}

var _ tensor.Task = (*synthesis)(nil)

func (l *lattice) synthesisLocal(s *Shape) int {
	return l.periodH * max(l.back.w, l.out.w) * s.B
}

func (y *synthesis) run() {
	// Neighbouring channels share pages and lines of the spectra.
	y.cpu.Team().For(y.channels, min(8, max(1, y.channels/(2*y.cpu.Threads()))), y)
}

// Do transforms the channels lo <= c < hi.
func (y *synthesis) Do(lo, hi, worker int) {
	h, w := y.inverse.h, y.inverse.w
	line := w * y.batch
	rows := y.cpu.Workspace(worker)[:y.rows*line]
	size := planeSize(y.channels, y.batch)
	for c := lo; c < hi; c++ {
		for _, g := range y.band.groups {
			m := y.inner
			if g.rows == 1 {
				m = y.edge
			}
			from := y.spectrum[(g.first-y.first)*2*size+c*y.batch:]
			gemmNN(g.rows*w, y.batch, 2*g.count, m, 2*g.count, from, size, rows[(g.row-y.row)*line:], y.batch, false)
		}
		gemmNN(h, line, y.rows, y.alongY[y.row:], y.periodH, rows, line, y.plane[c*h*line:], line, y.accumulate)
	}
}
