package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the other planes and the batch are so small that a position is all there is, or one
// of a few, most of a register tile would be idle and the kernel is streamed through
// memory once. What the taps meet is gathered then, as the kernel's columns have it, and the
// values of dst are scalar products.

// dotColumns is the most columns (position, batch) that are computed as scalar products,
// dotDepth the number of terms at a time and dotTerms the least number of them all.
const (
	dotColumns = 8
	dotDepth   = 1024
	dotTerms   = 256
)

// isDots reports whether so many sources are correlated by scalar products: where the level
// has a kernel for them.
func (f *frame) isDots(sources, b int) bool {
	mr, _ := asm.DotTile()
	return mr > 0 && f.outH*f.outW*b <= dotColumns && sources*len(f.offsets) >= dotTerms
}

// dotPitch returns the distance of the gathered columns.
func (f *frame) dotPitch(sources int) int { return lead(sources*len(f.offsets) + 1) }

// runDots gathers the source and correlates.
func (c *correlation) runDots(p *taps) {
	c.step, _ = asm.DotTile()
	p.gathering = gathering{c}
	p.team.For(len(c.offsets), max(1, 4096/c.sources), &p.gathering)
	p.team.For(blocksOf(c.m, c.step), 1, c)
	c.src, c.dst, c.kernel, c.inBlocks = nil, nil, nil, nil
}

// gathering writes what the taps meet: [row, col, batch, (t,s)], with a one at the end of
// each column for the bias. Items are taps.
type gathering struct{ *correlation }

var _ tensor.Task = (*gathering)(nil)

// Do gathers the taps lo <= t < hi.
func (g *gathering) Do(lo, hi, _ int) {
	pitch := g.dotPitch(g.sources)
	for t := lo; t < hi; t++ {
		from, to := g.columns(t)
		for position := range g.outH * g.outW {
			row, col := position/g.outW, position%g.outW
			dst := g.inBlocks[position*g.batch*pitch+t*g.sources:]
			if col >= from && col < to && g.rowInside(t, row) {
				asm.Transpose(dst, pitch, g.src[g.at(t, row, col):], g.plane, g.sources, g.batch)
				continue
			}
			for b := range g.batch {
				clear(dst[b*pitch:][:g.sources])
			}
		}
	}
	if hi == len(g.offsets) {
		for column := range g.dstPlane {
			g.inBlocks[column*pitch+hi*g.sources] = 1
		}
	}
}

// doDots computes the tiles lo <= tile < hi of rows of dst.
func (c *correlation) doDots(lo, hi int) {
	k, pitch := c.sources*len(c.offsets), c.dotPitch(c.sources)
	if c.ones {
		k++
	}
	for m := lo * c.step; m < min(c.m, hi*c.step); m += c.step {
		for p := 0; p < k; p += dotDepth {
			asm.GemmDots(min(c.step, c.m-m), c.dstPlane, min(dotDepth, k-p), c.kernel[m*c.lda+p:], c.lda, c.inBlocks[p:], pitch, c.dst[m*c.dstPlane:], c.dstPlane, c.accumulate || p > 0)
		}
	}
}
