package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit and the kernel is of one tap, a correlation is one
// product of matrices whose columns are the positions of the long row. The kernel is sliced
// once; the source is sliced for a block of columns at a time, in a worker's memory, where it
// stays in the second-level cache while all rows of the kernel pass. The steps of products are
// cut in halves, which are the two matrices side by side of sliced operands.

// pointValues bounds what a worker keeps of the sliced source: 1 MiB.
const pointValues = 256 << 10

// isPoint reports whether a kernel may be multiplied so, whatever the number of sources.
func (f *frame) isPoint() bool {
	return asm.FastSplit() && len(f.offsets) == 1 && f.offsets[0] == (Offset{})
}

// slicesPoint reports whether it is: where sources and rows fill most of the blocks of the
// matrix unit, and columns some of them.
func (f *frame) slicesPoint(sources, m, b int) bool {
	const steps = 2 * splitTile
	return f.isPoint() && fillsTiles(m) && halfOf(sources) <= asm.MaxSliceSteps &&
		4*sources >= 3*blocksOf(sources, steps)*steps && f.outW*b >= 4*splitTile
}

// slicesPointGrad is slicesPoint for the gradient of the kernel, whose steps are the columns.
func (f *frame) slicesPointGrad(sources, targets, b int) bool {
	return f.isPoint() && fillsTiles(sources) && fillsTiles(targets) && f.outW*b >= 4*splitTile
}

// fillsTiles reports whether n rows or columns are enough and fill most of the tiles of sliced operands.
func fillsTiles(n int) bool {
	const tile = splitTile / 2
	return n >= splitTile && 10*n >= 9*blocksOf(n, tile)*tile
}

// pointPiece returns the size of a strip or panel of 32 sliced rows or columns of the product.
func pointPiece(sources int) int { return asm.SliceSize(splitTile, halfOf(sources)) }

// pointColumns returns how many columns are sliced at a time, for so many sources.
func pointColumns(sources int) int {
	return min(4, max(1, pointValues/pointPiece(sources))) * splitTile
}

// pointWorkspace returns the size of a worker's memory, enough for any number of sources up
// to the given one.
func pointWorkspace(sources int) int {
	piece := pointPiece(sources)
	return min(4*piece, max(pointValues, piece))
}

// runPoint slices the kernel and correlates.
func (c *correlation) runPoint(p *taps) {
	c.splitKernel = c.inBlocks
	p.pointSlicing = pointSlicing{c}
	p.team.For(blocksOf(c.m, splitTile), 1, &p.pointSlicing)
	items := blocksOf(c.outW*c.batch, pointColumns(c.sources))
	p.team.For(items, max(1, items/(8*p.team.Size())), c)
	c.src, c.dst, c.kernel, c.inBlocks, c.splitKernel = nil, nil, nil, nil, nil
}

// pointSlicing slices a kernel of one tap. Items are strips of 32 rows.
type pointSlicing struct{ *correlation }

var _ tensor.Task = (*pointSlicing)(nil)

// Do slices the strips lo <= strip < hi.
func (s *pointSlicing) Do(lo, hi, _ int) {
	for strip := lo; strip < hi; strip++ {
		m := strip * splitTile
		asm.SliceLeftHalves(s.splitKernel[strip*pointPiece(s.sources):], s.kernel[m*s.lda:], s.lda, min(splitTile, s.m-m), s.sources)
	}
}

// doPoint computes the blocks of columns lo <= block < hi.
func (c *correlation) doPoint(lo, hi, worker int) {
	right, wide := c.cpu.Workspace(worker), pointColumns(c.sources)
	for block := lo; block < hi; block++ {
		at := block * wide
		n := min(wide, c.outW*c.batch-at)
		asm.SliceHalves(right, c.src[at:], c.plane, c.sources, n)
		if c.ones {
			for m := range c.m {
				asm.Fill(c.dst[m*c.dstPlane+at:][:n], c.kernel[m*c.lda+c.column])
			}
		}
		if next := at + wide; next < c.outW*c.batch {
			asm.Prefetch(c.src[next:], c.plane, c.sources, min(wide, c.outW*c.batch-next))
			asm.Prefetch(c.dst[next:], c.dstPlane, c.m, min(wide, c.outW*c.batch-next))
		}
		asm.GemmSlices(c.m, n, halfOf(c.sources), [2][]float32{c.splitKernel}, right, [2][]float32{c.dst[at:]}, c.dstPlane, c.accumulate || c.ones, [2][]float32{})
	}
}

// The gradient of a kernel of one tap is a product whose steps are the columns. Worked on
// at a time are pointWide sources, as many rows (o,i) and pointSpan columns: both
// operands, sliced, take 400 KiB, the sums 256 KiB.
const (
	pointWide = 256
	pointSpan = 256
	// pointParts bounds the parts that the columns are cut into, which are what workers
	// share, and pointSums what the sums of all parts take unless there are two.
	pointParts = 8
	pointSums  = 1 << 20
)

// pointGradWorkspace returns the size of a worker's memory: both operands.
func pointGradWorkspace() int { return 2 * asm.SliceSize(pointWide, halfOf(pointSpan)) }

// pointPartsOf returns how many parts the columns are cut into.
func (f *frame) pointPartsOf(sources, targets, b int) int {
	return min(blocksOf(f.outW*b, pointSpan), max(2, min(pointParts, pointSums/(sources*targets))))
}

// runPoint computes the sums of all parts and adds them up.
func (r *reduction) runPoint(p *taps) {
	r.cpu, r.parts = p.cpu, r.pointPartsOf(r.sources, r.targets, r.batch)
	p.team.For(r.parts, 1, r)
	p.team.For(r.sources, max(1, 4096/r.targets), (*pointTotal)(r))
	r.src, r.dy, r.sums, r.inBlocks = nil, nil, nil, nil
}

// partSums returns the sums of a part: the first is the result.
func (r *reduction) partSums(part int) []float32 {
	if part == 0 {
		return r.sums
	}
	return r.inBlocks[(part-1)*r.sources*r.targets:]
}

// doPoint computes the parts lo <= part < hi.
func (r *reduction) doPoint(lo, hi, worker int) {
	local := pieces{r.cpu.Workspace(worker)}
	size := asm.SliceSize(pointWide, halfOf(pointSpan))
	left, right := local.cut(size), local.cut(size)
	columns := r.outW * r.batch
	for part := lo; part < hi; part++ {
		first, last := shareWhole(columns, r.parts, part, pointSpan)
		sums := r.partSums(part)
		for m := 0; m < r.targets; m += pointWide {
			for s := 0; s < r.sources; s += pointWide {
				rows, wide := min(pointWide, r.sources-s), min(pointWide, r.targets-m)
				for at := first; at < last; at += pointSpan {
					k := min(pointSpan, last-at)
					asm.SliceLeftHalves(left, r.src[s*r.plane+at:], r.plane, rows, k)
					asm.SliceTransposedHalves(right, r.dy[m*columns+at:], columns, k, wide)
					if next := at + k; next < last {
						asm.Prefetch(r.src[s*r.plane+next:], r.plane, rows, min(pointSpan, last-next))
						asm.Prefetch(r.dy[m*columns+next:], columns, wide, min(pointSpan, last-next))
					}
					asm.GemmSlices(rows, wide, halfOf(k), [2][]float32{left}, right, [2][]float32{sums[s*r.targets+m:]}, r.targets, at > first, [2][]float32{})
				}
			}
		}
	}
}

// pointTotal adds up the parts, item by item a source.
type pointTotal reduction

var _ tensor.Task = (*pointTotal)(nil)

// Do adds up the rows lo <= s < hi.
func (r *pointTotal) Do(lo, hi, _ int) {
	for part := 1; part < r.parts; part++ {
		to := r.sums[lo*r.targets : hi*r.targets]
		asm.Add(to, to, (*reduction)(r).partSums(part)[lo*r.targets:hi*r.targets])
	}
}
