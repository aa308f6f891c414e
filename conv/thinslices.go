package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit, the long rows of a thin batch (thin.go) are sliced, and
// multiplied by the kernel sliced (asm.GemmSliceShifts), tap after tap. A position is a row of the
// left operand and a tap another row to begin with, so each value is sliced once:
//
//	source  rows for [row, col, batch] (asm.SliceColumns), a border at the left of each row of the plane
//	kernel  [strip of 32 rows, tap, sources]
//
// The sources are cut in halves, which are the two matrices side by side of sliced operands.
// A strip of the kernel passes once, in the order in which it lies, over sums [row, col, batch, 32] that
// stay in the first-level cache. Rows of the plane at which a run of taps leaves the source are left out.
//
// A kernel that is prepared for inference is kept sliced, the bias behind it: then the source
// alone is sliced in a pass.

// slicesThin reports whether products of m rows of a kernel with so many columns of a thin
// batch are sliced: where the level has a matrix unit, most of its rows and steps are used, and
// the columns make up for slicing the kernel.
func slicesThin(m, sources, columns int) bool {
	const steps = 2 * splitTile
	return asm.FastSplit() && columns >= splitTile && halfOf(sources) <= asm.MaxSliceSteps && 2*m*sources >= filled(m)*blocksOf(sources, steps)*steps
}

// halfOf returns the number of steps of either half of so many sources.
func halfOf(sources int) int { return (sources + 1) / 2 }

// thinPiece returns the size of a strip of 32 rows of a tap.
func thinPiece(sources int) int { return asm.SliceSize(splitTile, halfOf(sources)) }

// longRow returns the number of columns from the first position of so many rows of the other
// plane to the last.
func (f *frame) longRow(rows, b int) int { return ((rows-1)*f.padW + f.outW) * b }

// slicedRows returns the number of rows of a sliced source: one for each position, with what
// fills up the last tile.
func (f *frame) slicedRows(b int) int { return (f.left+f.h*f.padW)*b + thinTile - 1 }

// sumsRows returns that of sums, for so many rows of the other plane.
func (f *frame) sumsRows(rows, b int) int { return f.longRow(rows, b) + thinTile - 1 }

// thinTile is what asm.GemmSliceShifts takes rows in multiples of.
const thinTile = splitTile / 2

// thinWorkspace returns the size of a worker's memory: the sums, and a row of the plane turned; or a
// panel of the source; or a tap of a strip of the kernel, turned.
func (f *frame) thinWorkspace(sources, b int) int {
	sums := (f.sumsRows(f.outH, b) + f.outW*b) * splitTile
	return max(sums, asm.SliceSize(1, halfOf(sources)), sources*splitTile)
}

// runThinSlices slices the source, and the kernel unless that has been done, and correlates.
func (c *correlation) runThinSlices(p *taps) {
	c.runs = c.lines(c.runs)
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
func (s *thinSlicing) Do(lo, hi, worker int) {
	local := s.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		if strip := item - s.h; strip >= 0 {
			s.thinStrip(strip, s.kernel[strip*splitTile*s.lda:], s.lda, local)
		} else {
			s.thinRow(item, local)
		}
	}
}

// thinRow slices a row of the source, with the border up to the next one; the first and the last
// row with that on their other side.
func (c *correlation) thinRow(row int, panel []float32) {
	half, line := halfOf(c.sources), c.w*c.batch
	pitch := asm.SliceRow(half)
	begin := (c.left + row*c.padW) * c.batch
	from, to := begin, begin+c.padW*c.batch
	if row == 0 {
		from = 0
	}
	if row == c.h-1 {
		to = c.slicedRows(c.batch)
	}
	clear(c.splitSource[from*pitch : begin*pitch])
	clear(c.splitSource[(begin+line)*pitch : to*pitch])
	src := c.src[row*line:]
	asm.SliceColumns(c.splitSource[begin*pitch:], src, src[(c.sources-half)*c.plane:], c.plane, half, line, panel)
}

// thinStrip slices 32 rows of the kernel, which are lda apart; those that are not there are zero.
func (c *correlation) thinStrip(strip int, kernel []float32, lda int, turned []float32) {
	rows, piece := min(splitTile, c.m-strip*splitTile), thinPiece(c.sources)
	turned = turned[:c.sources*splitTile]
	if rows < splitTile {
		clear(turned)
	}
	for t := range c.offsets {
		asm.Transpose(turned, splitTile, kernel[t*c.sources:], lda, rows, c.sources)
		asm.SliceHalves(c.splitKernel[(strip*len(c.offsets)+t)*piece:], turned, splitTile, c.sources, splitTile)
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
	local := pieces{s.cpu.Workspace(worker)}
	kernel := local.cut(splitTile * ld)
	for strip := lo; strip < hi; strip++ {
		m := strip * splitTile
		for i := range min(splitTile, s.m-m) {
			s.order.row(kernel[i*ld:], m+i)
		}
		s.thinStrip(strip, kernel, ld, local.rest)
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
func (c *correlation) multiplyThin(strip, first, end int, local []float32) {
	m, line := strip*splitTile, c.padW*c.batch
	size, pitch := c.sumsRows(end-first, c.batch)*splitTile, asm.SliceRow(halfOf(c.sources))
	sums, turned := local[:size], local[size:]
	c.thinBias(sums, m)
	piece := thinPiece(c.sources)
	kernel, at := c.splitKernel[strip*len(c.offsets)*piece:], c.rows
	for _, run := range c.runs {
		next := kernel[run.n*piece:]
		shift := c.offsets[run.t].Row
		inside := max(0, -shift) // the first row
		lo, hi := max(first, inside), min(end, c.h-shift)
		if lo < hi {
			positions := blocksOf(c.longRow(hi-lo, c.batch), thinTile) * thinTile
			asm.GemmSliceShifts(positions, halfOf(c.sources), c.splitSource[(lo-inside)*line*pitch:], at[:run.n], kernel, sums[(lo-first)*line*splitTile:], splitTile, true, next)
		}
		kernel, at = next, at[run.n:]
	}
	rows, n := min(splitTile, c.m-m), c.outW*c.batch
	for row := first; row < end; row++ {
		from, to := sums[(row-first)*line*splitTile:], c.dst[m*c.dstPlane+row*n:]
		if !c.accumulate {
			asm.Transpose(to, c.dstPlane, from, splitTile, n, rows)
			continue
		}
		asm.Transpose(turned, n, from, splitTile, n, rows)
		for i := range rows {
			asm.Add(to[i*c.dstPlane:][:n], to[i*c.dstPlane:][:n], turned[i*n:][:n])
		}
	}
}

// thinBias fills the sums of the planes from m on with their biases, or with zero.
func (c *correlation) thinBias(sums []float32, m int) {
	clear(sums)
	if !c.ones {
		return
	}
	for i := range min(splitTile, c.m-m) {
		sums[i] = c.kernel[(m+i)*c.lda+c.column]
	}
	for at := splitTile; at < len(sums); at += splitTile {
		copy(sums[at:], sums[:splitTile])
	}
}
