package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit, the long rows of a thin batch (thin.go) are sliced, and
// multiplied by the kernel sliced (asm.GemmSliceRows), tap after tap. A tap is another column to
// begin with, so each value is sliced once:
//
//	source  rows of [row, col, batch] (asm.SliceRows), a border at the left of each row
//	kernel  [strip of 32 rows, tap, sources]
//
// The sources are cut in halves, which are the two matrices side by side of sliced operands.
// A strip of the kernel passes once, in the order in which it lies, over sums that stay in
// the first-level cache. Rows of the plane at which a run of taps leaves the source are left out.
//
// A kernel that is prepared for inference is kept sliced, the bias behind it: then the source
// alone is sliced in a pass.

// slicesThin reports whether products of m rows of a kernel with so many columns of a thin
// batch are sliced: where the level has a matrix unit, most of its rows and steps are used, and
// the columns make up for slicing the kernel.
func slicesThin(m, sources, columns int) bool {
	const steps = 2 * splitTile
	return asm.FastSplit() && columns >= splitTile && 2*m*sources >= filled(m)*blocksOf(sources, steps)*steps
}

// halfOf returns the number of steps of either half of so many sources.
func halfOf(sources int) int { return (sources + 1) / 2 }

// thinPiece returns the size of a strip of 32 rows of a tap.
func thinPiece(sources int) int { return asm.SliceSize(splitTile, halfOf(sources)) }

// longRow returns the number of columns from the first position of so many rows of the other
// plane to the last.
func (f *frame) longRow(rows, b int) int { return ((rows-1)*f.padW + f.outW) * b }

// slicePitch returns the distance of the rows of a sliced source: room for all columns and
// what fills up the last tile.
func (f *frame) slicePitch(b int) int { return oddLines((f.left+f.h*f.padW)*b + thinTile - 1) }

// sumsPitch returns the distance of the rows of sums, for so many rows of the other plane.
func (f *frame) sumsPitch(rows, b int) int { return oddLines(f.longRow(rows, b) + thinTile - 1) }

// thinTile is what asm.GemmSliceRows takes columns in multiples of.
const thinTile = splitTile / 2

// oddLines returns the room for n values in an odd number of cache lines: rows at this
// distance fall into all sets of the cache.
func oddLines(n int) int {
	const line = 16
	return (blocksOf(n, line) | 1) * line
}

// runThinSlices slices the source, and the kernel unless that has been done, and correlates.
func (c *correlation) runThinSlices(p *taps) {
	c.listRuns()
	c.listTaps()
	size := c.copySize(c.sources, c.batch)
	c.splitSource = c.inBlocks[:size]
	strips, items := blocksOf(c.m, splitTile), c.h
	if c.splitKernel == nil {
		c.splitKernel = c.inBlocks[size:]
		items += strips
	}
	p.thinSlicing = thinSlicing{c}
	p.team.For(items, 1, &p.thinSlicing)

	// Where the strips cannot be shared evenly, the rows of the plane are split too.
	c.parts = 1
	if n := p.team.Size(); strips%n != 0 && strips < 4*n {
		c.parts = min(n, c.outH)
	}
	p.team.For(strips*c.parts, 1, c)
	c.src, c.dst, c.kernel, c.inBlocks, c.splitSource, c.splitKernel = nil, nil, nil, nil, nil, nil
}

// listTaps lists the columns of the sliced source that taps meet first, at the first row of the
// other plane where their run is inside.
func (c *correlation) listTaps() {
	c.rows = c.rows[:0]
	for _, run := range c.runs {
		for _, o := range c.offsets[run.t:][:run.n] {
			c.rows = append(c.rows, (c.left+max(0, o.Row)*c.padW+o.Col)*c.batch)
		}
	}
}

// thinSlicing slices a source and a kernel. Items are rows of the source and then strips
// of the kernel.
type thinSlicing struct{ *correlation }

var _ tensor.Task = (*thinSlicing)(nil)

// Do slices the items lo <= item < hi.
func (s *thinSlicing) Do(lo, hi, _ int) {
	for item := lo; item < hi; item++ {
		if strip := item - s.h; strip >= 0 {
			s.thinStrip(strip, s.kernel[strip*splitTile*s.lda:], s.lda)
		} else {
			s.thinRow(item)
		}
	}
}

// thinRow slices a row of the source, with the border up to the next one; the first and the last
// row with that on their other side.
func (c *correlation) thinRow(row int) {
	half, pitch, line := halfOf(c.sources), c.slicePitch(c.batch), c.w*c.batch
	begin := (c.left + row*c.padW) * c.batch
	from, to := begin, begin+c.padW*c.batch
	if row == 0 {
		from = 0
	}
	if row == c.h-1 {
		to = pitch
	}
	for i := range asm.SliceRowsCount(half) {
		dst := c.splitSource[i*pitch:]
		clear(dst[from:begin])
		clear(dst[begin+line : to])
	}
	src := c.src[row*line:]
	asm.SliceRows(c.splitSource[begin:], pitch, src, src[(c.sources-half)*c.plane:], c.plane, half, line)
}

// thinStrip slices 32 rows of the kernel, which are lda apart.
func (c *correlation) thinStrip(strip int, kernel []float32, lda int) {
	rows, piece := min(splitTile, c.m-strip*splitTile), thinPiece(c.sources)
	for t := range c.offsets {
		asm.SliceHalves(c.splitKernel[(strip*len(c.offsets)+t)*piece:], kernel[t*c.sources:], lda, rows, c.sources)
	}
}

// frozenSlicing rearranges the rows of a kernel for Forward and slices them, strip by strip.
type frozenSlicing struct {
	*correlation
	order *arrangement
}

var _ tensor.Task = (*frozenSlicing)(nil)

// Do slices the strips lo <= strip < hi.
func (s *frozenSlicing) Do(lo, hi, worker int) {
	ld := frozenPitch(s.order.shape)
	kernel := s.cpu.Workspace(worker)
	for strip := lo; strip < hi; strip++ {
		m := strip * splitTile
		for i := range min(splitTile, s.m-m) {
			s.order.row(kernel[i*ld:], m+i)
		}
		s.thinStrip(strip, kernel, ld)
	}
}

// frozenPitch returns the distance of the rows that are sliced in Prepare.
func frozenPitch(s *Shape) int { return lead(s.Sources() * len(s.Offsets)) }

// doThinSlices computes items (strip of rows of dst, part of the rows of the plane).
func (c *correlation) doThinSlices(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		strip, part := item/c.parts, item%c.parts
		first, end := share(c.outH, c.parts, part)
		c.multiplyThin(strip, first, end, c.cpu.Workspace(worker))
	}
}

// multiplyThin computes the rows first <= row < end of 32 planes of dst.
func (c *correlation) multiplyThin(strip, first, end int, sums []float32) {
	m, line := strip*splitTile, c.padW*c.batch
	ld, pitch := c.sumsPitch(end-first, c.batch), c.slicePitch(c.batch)
	for i := range min(splitTile, c.m-m) {
		var bias float32
		if c.ones {
			bias = c.kernel[(m+i)*c.lda+c.column]
		}
		asm.Fill(sums[i*ld:][:ld], bias)
	}
	piece := thinPiece(c.sources)
	kernel, at := c.splitKernel[strip*len(c.offsets)*piece:], c.rows
	for _, run := range c.runs {
		next := kernel[run.n*piece:]
		shift := c.offsets[run.t].Row
		inside := max(0, -shift) // the first row
		lo, hi := max(first, inside), min(end, c.h-shift)
		if lo < hi {
			columns := blocksOf(c.longRow(hi-lo, c.batch), thinTile) * thinTile
			asm.GemmSliceRows(columns, halfOf(c.sources), kernel, c.splitSource[(lo-inside)*line:], pitch, at[:run.n], sums[(lo-first)*line:], ld, true, next)
		}
		kernel, at = next, at[run.n:]
	}
	for i := range min(splitTile, c.m-m) {
		for row := first; row < end; row++ {
			from := sums[i*ld+(row-first)*line:][:c.outW*c.batch]
			to := c.dst[(m+i)*c.dstPlane+row*len(from):][:len(from)]
			if c.accumulate {
				asm.Add(to, to, from)
			} else {
				copy(to, from)
			}
		}
	}
}
