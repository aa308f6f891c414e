package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// mapSlices slices the spectrum of x once for the products with all blocks of rows, each slab of
// channels as a right operand, at mapSlicesAt. Items are frequencies.
type mapSlices struct {
	shape *Shape
	*lattice
	from []float32 // [f, part, source, batch]
	to   []float32
}

var _ tensor.Task = (*mapSlices)(nil)

// slicesMap reports whether that pays: where there are several blocks of rows, and it fits the memory of the spectrum.
func (l *lattice) slicesMap(s *Shape) bool {
	b := l.blockSizesOf(s)
	return slicesProducts(s) && !s.Paired && s.Targets() > b.rows && s.Sources()%splitTile == 0 &&
		asm.SliceSize(s.B, splitTile) <= 2*splitTile*s.B
}

// mapSlicesAt returns where a frequency's slab that begins with channel c lies. A slab takes less than its blocks of
// splitTile channels alone.
func mapSlicesAt(s *Shape, f, c int) int {
	return (f*s.Sources() + c) / splitTile * asm.SliceSize(s.B, splitTile)
}

// Do slices the frequencies lo <= f < hi.
func (p *mapSlices) Do(lo, hi, _ int) {
	s, b := p.shape, p.blockSizesOf(p.shape)
	steps, in := blocksOf(s.Sources(), b.columns), planeSize(s.Sources(), s.B)
	for f := lo; f < hi; f++ {
		for step := range steps {
			first, end := shareWhole(s.Sources(), steps, step, b.unit)
			for c := first; c < end; c += b.slab {
				x := p.from[2*f*in+c*s.B:]
				asm.SliceRight(p.to[mapSlicesAt(s, f, c):], x, x[in:], s.B, min(b.slab, end-c), s.B)
			}
		}
	}
}
