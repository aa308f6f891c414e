package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit, the long rows of a thin batch (thin.go) are split, and
// multiplied by the kernel split (asm.GemmSplitRows). A tap is another column to begin with,
// so each value is split once:
//
//	source  [block of 32 sources, part, pair][row, col, batch], a border at the left of each row
//	kernel  [strip of 32 rows, run of taps, block of 32 sources, tap, piece]
//
// A strip of the kernel passes once, in the order in which it lies, over sums that stay in
// the first-level cache; what the taps of a run meet of a block of sources shares its lines.
// Rows of the plane at which a run leaves the source are left out.
//
// A kernel that is prepared for inference is kept split, the bias behind it: then the source
// alone is split in a pass.

// splitsThin reports whether products of m rows of a kernel with so many columns of a thin
// batch are split: where the level has a matrix unit, most of its rows and steps are used, and
// the columns make up for splitting the kernel.
func splitsThin(m, sources, columns int) bool {
	return asm.FastSplit() && columns >= splitTile && 2*m*sources >= filled(m)*filled(sources)
}

// longRow returns the number of columns from the first position of so many rows of the other
// plane to the last.
func (f *frame) longRow(rows, b int) int { return ((rows-1)*f.padW + f.outW) * b }

// splitPitch returns the distance of the rows of a split source: room for all columns and
// what fills up the last tile.
func (f *frame) splitPitch(b int) int { return oddLines((f.left+f.h*f.padW)*b + thinTile - 1) }

// sumsPitch returns the distance of the rows of sums, for so many rows of the other plane.
func (f *frame) sumsPitch(rows, b int) int { return oddLines(f.longRow(rows, b) + thinTile - 1) }

// thinTile is what asm.GemmSplitRows takes columns in multiples of.
const thinTile = splitTile / 2

// oddLines returns the room for n values in an odd number of cache lines: rows at this
// distance fall into all sets of the cache.
func oddLines(n int) int {
	const line = 16
	return (blocksOf(n, line) | 1) * line
}

// runThinSplit splits the source, and the kernel unless that has been done, and correlates.
func (c *correlation) runThinSplit(p *taps) {
	c.listRuns()
	c.listBlocks()
	size := c.copySize(c.sources, c.batch)
	c.splitSource = c.inBlocks[:size]
	strips, items := blocksOf(c.m, splitTile), blocksOf(c.sources, splitTile)
	if c.splitKernel == nil {
		c.splitKernel = c.inBlocks[size:]
		items += strips
	}
	p.thinSplitting = thinSplitting{c}
	p.team.For(items, 1, &p.thinSplitting)

	// Where the strips cannot be shared evenly, the rows of the plane are split too.
	c.parts = 1
	if n := p.team.Size(); strips%n != 0 && strips < 4*n {
		c.parts = min(n, c.outH)
	}
	p.team.For(strips*c.parts, 1, c)
	c.src, c.dst, c.kernel, c.inBlocks, c.splitSource, c.splitKernel = nil, nil, nil, nil, nil, nil
}

// listBlocks lists where in the split source the blocks that a strip meets begin, at the
// first row of the other plane where their run is inside.
func (c *correlation) listBlocks() {
	c.rows = c.rows[:0]
	pitch := c.splitPitch(c.batch)
	for _, run := range c.runs {
		for first := 0; first < c.sources; first += splitTile {
			for _, o := range c.offsets[run.t:][:run.n] {
				c.rows = append(c.rows, asm.SplitRowsCount(first)*pitch+(c.left+max(0, o.Row)*c.padW+o.Col)*c.batch)
			}
		}
	}
}

// thinSplitting splits a source and a kernel. Items are blocks of sources and then strips
// of the kernel.
type thinSplitting struct{ *correlation }

var _ tensor.Task = (*thinSplitting)(nil)

// Do splits the items lo <= item < hi.
func (s *thinSplitting) Do(lo, hi, _ int) {
	blocks := blocksOf(s.sources, splitTile)
	for item := lo; item < hi; item++ {
		if strip := item - blocks; strip >= 0 {
			s.thinStrip(strip, s.kernel[strip*splitTile*s.lda:], s.lda)
			continue
		}
		first, pitch := item*splitTile, s.splitPitch(s.batch)
		n, line := min(splitTile, s.sources-first), s.w*s.batch
		dst := s.splitSource[asm.SplitRowsCount(first)*pitch:][:asm.SplitRowsCount(n)*pitch]
		clear(dst)
		for row := range s.h {
			asm.SplitRows(dst[(s.left+row*s.padW)*s.batch:], pitch, s.src[first*s.plane+row*line:], s.plane, n, line)
		}
	}
}

// thinStrip splits 32 rows of the kernel, which are lda apart.
func (c *correlation) thinStrip(strip int, kernel []float32, lda int) {
	rows := min(splitTile, c.m-strip*splitTile)
	dst := c.splitKernel[strip*len(c.offsets)*splitPiece(c.sources):]
	for _, run := range c.runs {
		for first := 0; first < c.sources; first += splitTile {
			n := min(splitTile, c.sources-first)
			for t := run.t; t < run.t+run.n; t++ {
				asm.SplitLeft(dst, kernel[t*c.sources+first:], lda, rows, n)
				dst = dst[splitPiece(n):]
			}
		}
	}
}

// frozenSplitting rearranges the rows of a kernel for Forward and splits them, strip by strip.
type frozenSplitting struct {
	*correlation
	order *arrangement
}

var _ tensor.Task = (*frozenSplitting)(nil)

// Do splits the strips lo <= strip < hi.
func (s *frozenSplitting) Do(lo, hi, worker int) {
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

// frozenPitch returns the distance of the rows that are split in Prepare.
func frozenPitch(s *Shape) int { return lead(s.Sources() * len(s.Offsets)) }

// doThinSplit computes items (strip of rows of dst, part of the rows of the plane).
func (c *correlation) doThinSplit(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		strip, part := item/c.parts, item%c.parts
		first, end := share(c.outH, c.parts, part)
		c.multiplyThin(strip, first, end, c.cpu.Workspace(worker))
	}
}

// multiplyThin computes the rows first <= row < end of 32 planes of dst.
func (c *correlation) multiplyThin(strip, first, end int, sums []float32) {
	m, line := strip*splitTile, c.padW*c.batch
	ld, pitch := c.sumsPitch(end-first, c.batch), c.splitPitch(c.batch)
	for i := range min(splitTile, c.m-m) {
		var bias float32
		if c.ones {
			bias = c.kernel[(m+i)*c.lda+c.column]
		}
		asm.Fill(sums[i*ld:][:ld], bias)
	}
	kernel, at := c.splitKernel[strip*len(c.offsets)*splitPiece(c.sources):], c.rows
	for _, run := range c.runs {
		n := run.n * blocksOf(c.sources, splitTile)
		next := kernel[n*splitPiece(splitTile):]
		shift := c.offsets[run.t].Row
		inside := max(0, -shift) // the first row
		lo, hi := max(first, inside), min(end, c.h-shift)
		if lo < hi {
			columns := blocksOf(c.longRow(hi-lo, c.batch), thinTile) * thinTile
			asm.GemmSplitRows(columns, kernel, c.splitSource[(lo-inside)*line:], pitch, at[:n], sums[(lo-first)*line:], ld, true, next)
		}
		kernel, at = next, at[n:]
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
