package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

const (
	// thickSources is the number of source planes from which on the products
	// with one row of taps are deep enough to go without packing.
	thickSources = 32
	// widestTile is the largest number of columns of a register tile, and a multiple
	// of those of all levels of amd64.
	widestTile = 32
	// abreast is how many positions share one passage of the kernel.
	abreast = 4
)

// A source is copied in blocks of nr batch entries as
//
//	[row, block of the batch, col, source, nr]
//
// so that what neighbouring taps (t, t+1, ...) of one row of the grid meet at one
// position lies in memory as the rows of B do, (t,s) after (t,s): a panel without
// packing, shared by all positions. Taps outside the plane shorten the panel. For
// InputGrad, whose taps run the other way, columns are stored in reverse.

// runBlocked copies the source and correlates.
func (c *correlation) runBlocked(p *taps) {
	c.runs = c.lines(c.runs)
	c.slices = (c.batch + c.nr - 1) / c.nr
	for i := range c.unity {
		c.unity[i] = 1
	}
	p.blocks = blocking{c}
	p.team.For(c.h*c.slices, 1, &p.blocks)

	groups := (c.outW + abreast - 1) / abreast
	items := c.slices * groups * c.outH
	p.team.For(items, max(1, items/(8*p.team.Size())), c)
	c.src, c.dst, c.kernel, c.inBlocks = nil, nil, nil, nil
}

// doBlocked computes items (slice of the batch, group of columns, row). Going
// down the rows keeps the blocks that neighbouring rows share in the cache.
func (c *correlation) doBlocked(lo, hi, _ int) {
	groups := (c.outW + abreast - 1) / abreast
	for item := lo; item < hi; item++ {
		row, rest := item%c.outH, item/c.outH
		col, slice := rest%groups*abreast, rest/groups
		c.strip(row, col, min(c.outW, col+abreast), slice)
	}
}

// strip computes dst at the positions first <= col < end of a row, for one slice
// of the batch.
func (c *correlation) strip(row, first, end, slice int) {
	n := min(c.nr, c.batch-slice*c.nr)
	out := (row*c.outW+first)*c.batch + slice*c.nr
	// begun says that dst holds a partial sum: by position, since at the border
	// positions differ in the taps they see.
	var begun [abreast]bool
	for i := range begun {
		begun[i] = c.accumulate
	}
	if c.ones {
		for m := 0; m < c.m; m += c.step {
			for q := range end - first {
				asm.GemmNN(min(c.step, c.m-m), n, 1, c.kernel[m*c.lda+c.column:], c.lda, c.unity[:], c.nr, c.dst[m*c.dstPlane+out+q*c.batch:], c.dstPlane, begun[q])
			}
		}
		for q := range begun {
			begun[q] = true
		}
	}
	block := c.sources * c.nr
	for _, run := range c.runs {
		r := row + c.offsets[run.t].Row
		if r < 0 || r >= c.h {
			continue
		}
		line := c.inBlocks[(r*c.slices+slice)*c.w*block:]
		for m := 0; m < c.m; m += c.step {
			rows := min(c.step, c.m-m)
			for q := range end - first {
				at, lo, hi := c.meets(run, first+q)
				if lo >= hi {
					continue
				}
				asm.GemmNN(rows, n, (hi-lo)*c.sources,
					c.kernel[m*c.lda+(run.t+lo)*c.sources:], c.lda,
					line[(at+lo)*block:], c.nr,
					c.dst[m*c.dstPlane+out+q*c.batch:], c.dstPlane, begun[q])
			}
		}
		for q := range end - first {
			if _, lo, hi := c.meets(run, first+q); lo < hi {
				begun[q] = true
			}
		}
	}
	for q := range end - first {
		if begun[q] {
			continue
		}
		for m := 0; m < c.m; m += c.step { // no tap is inside: the sum is empty
			asm.GemmNN(min(c.step, c.m-m), n, 0, nil, 0, nil, 0, c.dst[m*c.dstPlane+out+q*c.batch:], c.dstPlane, false)
		}
	}
}

// meets returns which block of a line the first tap of a run meets at a column,
// and which taps lo <= t < hi of the run stay inside the plane there.
func (c *correlation) meets(run line, col int) (at, lo, hi int) {
	at = col + c.offsets[run.t].Col
	if c.mirrored {
		at = c.w - 1 - at
	}
	return at, max(0, -at), min(run.n, c.w-at)
}

// blocking copies a source in blocks. Items are pairs (row, slice of the batch).
type blocking struct{ *correlation }

var _ tensor.Task = (*blocking)(nil)

// Do copies the items lo <= item < hi.
func (b *blocking) Do(lo, hi, _ int) {
	block := b.sources * b.nr
	for item := lo; item < hi; item++ {
		row, slice := item/b.slices, item%b.slices
		n := min(b.nr, b.batch-slice*b.nr)
		dst := b.inBlocks[item*b.w*block:]
		for col := range b.w {
			at := col
			if b.mirrored {
				at = b.w - 1 - col
			}
			asm.PackPanel(dst[at*block:], b.src[(row*b.w+col)*b.batch+slice*b.nr:], b.plane, b.sources, n)
		}
	}
}
