package conv

import "github.com/noether-go/noether/asm"

// A thin batch leaves few columns to a row of the plane, too few for a register
// tile and for packing to pay. In the copy with a border, though, the rows of a
// plane follow one another, so all positions of a tap are one long row of B, with
// those in the border between two rows for nothing.

// long returns the number of columns from the first position of the other plane
// to the last.
func (c *correlation) long() int { return ((c.outH-1)*c.width + c.outW) * c.batch }

// isThin reports whether the plane is taken as one long row.
func (c *correlation) isThin() bool {
	return c.form == bordered && c.batch < thinBatch && c.sources >= thinSources
}

// doThin computes the strips lo <= strip < hi of rows of dst.
func (c *correlation) doThin(lo, hi, worker int) {
	n := c.long()
	sums := c.cpu.Workspace(worker)
	for strip := lo; strip < hi; strip++ {
		m := strip * c.step
		rows := min(c.step, c.m-m)
		for t := range c.offsets {
			asm.GemmStripNN(rows, n, c.sources, c.kernel[m*c.lda+t*c.sources:], c.lda, c.src[c.at(t, 0, 0):], c.plane, sums, n, t > 0)
		}
		for r := range rows {
			c.finishThin(m+r, sums[r*n:][:n])
		}
	}
}

// finishThin writes, or adds, a row of sums to its plane, without what belongs to
// the border.
func (c *correlation) finishThin(m int, sums []float32) {
	line := c.outW * c.batch
	for row := range c.outH {
		from := sums[row*c.width*c.batch:][:line]
		to := c.dst[m*c.dstPlane+row*line:][:line]
		if c.ones {
			asm.Affine(from, from, 1, c.kernel[m*c.lda+c.column])
		}
		if c.accumulate {
			asm.Add(to, to, from)
		} else {
			copy(to, from)
		}
	}
}
