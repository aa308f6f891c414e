package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit and the kernel is of one tap, a correlation is one
// product of matrices whose columns are the positions of the long row. The kernel is split
// once; the source is split for a block of columns at a time, in a worker's memory, where it
// stays in the second-level cache while all rows of the kernel pass.

// pointValues bounds what a worker keeps of the split source: 1 MiB.
const pointValues = 256 << 10

// isPoint reports whether a kernel may be multiplied so, whatever the number of sources.
func (f *frame) isPoint() bool {
	return asm.FastSplit() && len(f.offsets) == 1 && f.offsets[0] == (Offset{})
}

// splitsPoint reports whether it is: where sources and rows fill most of the blocks of the
// matrix unit, and columns some of them.
func (f *frame) splitsPoint(sources, m, b int) bool {
	return f.isPoint() && fills(sources) && fills(m) && f.outW*b >= 4*splitTile
}

// pointColumns returns how many columns are split at a time, for so many sources.
func pointColumns(sources int) int {
	return min(4, max(1, pointValues/splitPiece(sources))) * splitTile
}

// pointWorkspace returns the size of a worker's memory, enough for any number of sources up
// to the given one.
func pointWorkspace(sources int) int {
	piece := splitPiece(sources)
	return min(4*piece, max(pointValues, piece))
}

// runPoint splits the kernel and correlates.
func (c *correlation) runPoint(p *taps) {
	c.splitKernel = c.inBlocks
	p.pointSplitting = pointSplitting{c}
	p.team.For(blocksOf(c.m, splitTile), 1, &p.pointSplitting)
	items := blocksOf(c.outW*c.batch, pointColumns(c.sources))
	p.team.For(items, max(1, items/(8*p.team.Size())), c)
	c.src, c.dst, c.kernel, c.inBlocks, c.splitKernel = nil, nil, nil, nil, nil
}

// pointSplitting splits a kernel of one tap. Items are strips of its rows.
type pointSplitting struct{ *correlation }

var _ tensor.Task = (*pointSplitting)(nil)

// Do splits the strips lo <= strip < hi.
func (s *pointSplitting) Do(lo, hi, _ int) {
	for strip := lo; strip < hi; strip++ {
		m := strip * splitTile
		asm.SplitLeft(s.splitKernel[strip*splitPiece(s.sources):], s.kernel[m*s.lda:], s.lda, min(splitTile, s.m-m), s.sources)
	}
}

// doPoint computes the blocks of columns lo <= block < hi.
func (c *correlation) doPoint(lo, hi, worker int) {
	right, wide := c.cpu.Workspace(worker), pointColumns(c.sources)
	for block := lo; block < hi; block++ {
		at := block * wide
		n := min(wide, c.outW*c.batch-at)
		asm.SplitRight(right, c.src[at:], c.plane, c.sources, n)
		if c.ones {
			for m := range c.m {
				asm.Fill(c.dst[m*c.dstPlane+at:][:n], c.kernel[m*c.lda+c.column])
			}
		}
		asm.GemmSplit(c.m, n, c.sources, c.splitKernel, right, c.dst[at:], c.dstPlane, c.accumulate || c.ones)
	}
}

// The gradient of a kernel of one tap is a product whose steps are the columns. Worked on
// at a time are some strips of sources, pointWide rows (o,i) and pointSpan steps: both
// operands, split, take 768 KiB.
const (
	pointStrips = 8
	pointWide   = 256
	pointSpan   = 256
)

// pointGradWorkspace returns the size of a worker's memory: both operands, and one
// panel turned.
func pointGradWorkspace() int {
	return asm.SplitSize(pointStrips*splitTile, pointSpan) + asm.SplitSize(pointWide, pointSpan) + pointSpan*splitTile
}

// runPoint computes all sums. Items are runs of strips of sources.
func (r *reduction) runPoint(p *taps) {
	r.cpu = p.cpu
	strips := blocksOf(r.sources, splitTile)
	p.team.For(blocksOf(strips, r.pointStrips(p.team.Size())), 1, r)
	r.src, r.dy, r.sums, r.inBlocks = nil, nil, nil, nil
}

// pointStrips returns how many strips an item has.
func (r *reduction) pointStrips(workers int) int {
	return min(pointStrips, blocksOf(blocksOf(r.sources, splitTile), workers))
}

// doPoint computes the items lo <= item < hi.
func (r *reduction) doPoint(lo, hi, worker int) {
	rows := r.pointStrips(r.cpu.Team().Size()) * splitTile
	local := pieces{r.cpu.Workspace(worker)}
	left, right, turned := local.cut(asm.SplitSize(rows, pointSpan)), local.cut(asm.SplitSize(pointWide, pointSpan)), local.cut(pointSpan*splitTile)
	size := r.outW * r.batch
	for item := lo; item < hi; item++ {
		s := item * rows
		n := min(rows, r.sources-s)
		for m := 0; m < r.targets; m += pointWide {
			columns := min(pointWide, r.targets-m)
			for at := 0; at < size; at += pointSpan {
				k := min(pointSpan, size-at)
				asm.SplitLeft(left, r.src[s*r.plane+at:], r.plane, n, k)
				for q := 0; q < columns; q += splitTile {
					wide := min(splitTile, columns-q)
					asm.Transpose(turned, splitTile, r.dy[(m+q)*size+at:], size, wide, k)
					asm.SplitRight(right[q/splitTile*splitPiece(k):], turned, splitTile, k, wide)
				}
				asm.GemmSplit(n, columns, k, left, right, r.sums[s*r.targets+m:], r.targets, at > 0)
			}
		}
	}
}
