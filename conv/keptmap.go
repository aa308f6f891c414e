package conv

import "github.com/noether-go/noether/tensor"

// The spectrum of a map that Forward makes is kept for the gradient of the kernel, behind what Prepare
// leaves, where it is small: it takes as much room as the map once more, and half as much again for the
// border, but Backward has one transform less to make of three.

// keptMapValues bounds a spectrum that is kept.
const keptMapValues = 6 << 20

// keptMap is the spectrum of the map of the last Forward, [f, part, source, batch].
type keptMap struct {
	at, size int  // in the prepared memory, for the largest shape; 0 values if it is not kept
	valid    bool // there has been a Forward since Prepare
}

// keepMap returns where the spectrum goes, behind so many values, for the largest shape: nowhere if
// it is too large.
func (l *lattice) keepMap(s *Shape, behind int) keptMap {
	size := l.count * 2 * planeSize(s.Sources(), s.B)
	if size > min(keptMapValues, l.budget) {
		return keptMap{}
	}
	return keptMap{at: roundUp(behind), size: roundUp(behind) - behind + size}
}

// of returns the memory of a band of the spectrum.
func (k *keptMap) of(prepared tensor.Buffer, b band, s *Shape) []float32 {
	return prepared.Host()[k.at+2*b.first*planeSize(s.Sources(), s.B):]
}

// turning writes a band of a spectrum that is kept to panels. Items are frequencies. A
// gradient that needs each frequency once does it by itself, one at a time.
type turning struct {
	shape  *Shape
	panels panels
	column int       // (j,c) of a kind that the panels begin with
	from   []float32 // [f, part, (j,c), batch]
	to     []float32 // as panels say
}

var _ tensor.Task = (*turning)(nil)

// Do turns the frequencies lo <= f < hi.
func (t *turning) Do(lo, hi, _ int) {
	for f := lo; f < hi; f++ {
		t.write(t.to[f*t.panels.size():], f)
	}
}

// next returns what write reads at the frequency behind f, of one kind: real and imaginary part.
func (t *turning) next(f int) (re, im []float32) {
	plane, n := planeSize(t.shape.Sources(), t.shape.B), t.panels.n*t.shape.B
	re = after(t.from, 2*(f+1)*plane+t.column*t.shape.B)
	return first(re, n), first(after(re, plane), n)
}

// write writes the panels of frequency f.
func (t *turning) write(to []float32, f int) {
	sources, batch := t.shape.Sources(), t.shape.B
	p, plane := &t.panels, planeSize(sources, batch)
	for kind := range p.kinds {
		re := t.from[2*f*plane+(kind*sources/p.kinds+t.column)*batch:]
		p.turn(to[p.at(kind, 0):], re, re[plane:], 0, p.n)
	}
}
