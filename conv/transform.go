package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// analysisValues bounds what a worker keeps of planes transformed along y.
const analysisValues = 192 << 10

// analysis transforms the planes of a map [channel, h, w, batch] to the spectra
// of a band. For products the three planes of frequency f are, of the spectrum
// r + i*im,
//
//	[f, plane, channel, batch]   r, r+im, im-r
//
// and transposed
//
//	[f, plane, batch, channel]   r+im, -r, im
type analysis struct {
	*lattice
	*transform
	band
	cpu        *tensor.CPU
	plane      []float32
	channels   int
	batch      int
	spectrum   []float32
	transposed bool
	together   int // channels of an item
}

var _ tensor.Task = (*analysis)(nil)

// together returns how many channels are transformed at a time: as many as make
// long runs in the spectra, and whose rows fit the cache.
func together(rows, w, batch int) int {
	return max(1, min(16, analysisValues/(rows*w*batch)))
}

// analysisLocal returns the size of a worker's memory.
func (l *lattice) analysisLocal(s *Shape) int {
	size := 0
	for _, t := range []*transform{&l.in, &l.grad} {
		rows := l.periodH * t.w * s.B
		for n := 1; n <= 16; n++ { // a band may have few rows
			size = max(size, min(n*rows, max(rows, analysisValues))+3*l.periodW*n*s.B)
		}
	}
	return size
}

func (a *analysis) run() {
	a.together = together(a.rows, a.transform.w, a.batch)
	a.cpu.Team().For((a.channels+a.together-1)/a.together, 1, a)
}

// Do transforms the items lo <= item < hi.
func (a *analysis) Do(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		first := item * a.together
		a.channelsAt(first, min(a.together, a.channels-first), a.cpu.Workspace(worker))
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
		if a.transposed {
			a.transpose(g, rows, at, size, first, n, spare)
		} else {
			a.sums(g, rows, at, size, first, n)
		}
	}
}

// alongX transforms one channel's rows of a group along x: real or imaginary
// part.
func (a *analysis) alongX(g frequencies, part int, rows, dst []float32, ld int) {
	m := a.inner[part]
	if g.rows == 1 {
		m = a.edge[part]
	}
	k := g.rows * a.transform.w
	gemmNN(g.count, a.batch, k, m, k, rows, a.batch, dst, ld, false)
}

// sums writes the planes of a group for products.
func (a *analysis) sums(g frequencies, rows []float32, at, size, first, n int) {
	plane := planeSize(a.channels, a.batch)
	dst := a.spectrum[(g.first-a.first)*3*plane+first*a.batch:]
	for c := range n {
		a.alongX(g, 0, rows[c*size+at:], dst[c*a.batch:], 3*plane)
		a.alongX(g, 1, rows[c*size+at:], dst[2*plane+c*a.batch:], 3*plane)
	}
	for f := range g.count {
		re := dst[f*3*plane:][:n*a.batch]
		im := dst[f*3*plane+2*plane:][:n*a.batch]
		asm.Add(dst[f*3*plane+plane:][:n*a.batch], re, im)
		asm.Sub(im, im, re)
	}
}

// transpose writes the transposed planes of a group.
func (a *analysis) transpose(g frequencies, rows []float32, at, size, first, n int, spare []float32) {
	block := n * a.batch
	for c := range n {
		a.alongX(g, 0, rows[c*size+at:], spare[block+c*a.batch:], 3*block)
		a.alongX(g, 1, rows[c*size+at:], spare[2*block+c*a.batch:], 3*block)
	}
	ld := columns(a.channels)
	for f := range g.count {
		part := spare[f*3*block:][:3*block]
		sum, re, im := part[:block], part[block:2*block], part[2*block:]
		asm.Add(sum, re, im)
		asm.Affine(re, re, -1, 0)
		dst := a.spectrum[(g.first-a.first+f)*3*a.batch*ld+first:]
		for k := range 3 {
			asm.Transpose(dst[k*a.batch*ld:], ld, part[k*block:], a.batch, n, a.batch)
		}
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
