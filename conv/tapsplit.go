package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Where the level has a matrix unit, thick sources are copied split, and multiplied
// by the kernel split (asm.GemmSplitPanels). As in blocked.go what neighbouring taps
// of one row of the grid meet at one position follows one another:
//
//	source  [row, slice of the batch, part of the sources, panel, piece]
//	kernel  [run of taps, part of the sources, strip of 32 rows, tap, piece]
//
// A piece is the storage of 32 columns, or rows, for a part of the sources, filled up to
// whole blocks of the matrix unit with zeros. What a run of taps meets of a part, at a
// few positions, stays in the second-level cache while all rows of the kernel pass, and
// so do the sums, in a worker's memory until all taps are added.

// partSplit is the number of sources of a part.
const partSplit = 256

// rowFold says which positions of a row make a panel. Where the batch fills only a
// part of 32 columns, the row is folded: panel p has positions p, p+out, p+2*out, ...
// A tap shifts all of them alike, if the source has panels before the first and after
// the last, where the border of one part is the inside of another.
type rowFold struct {
	folds int // positions of a panel
	out   int // panels of a row of the other plane
	first int // column of the first position of the source's first panel
	width int // panels of a row of the source
}

func (f *frame) rowFold(b int) rowFold {
	if 2*b > splitTile {
		return rowFold{1, f.outW, 0, f.w}
	}
	folds := splitTile / b
	lo, hi := f.offsets[0].Col, f.offsets[0].Col
	for _, o := range f.offsets {
		lo, hi = min(lo, o.Col), max(hi, o.Col)
	}
	out := blocksOf(f.outW, folds)
	return rowFold{folds, out, lo, out + hi - lo}
}

// runSplit splits the source and the kernel, and correlates.
func (c *correlation) runSplit(p *taps) {
	c.runs = c.lines(c.runs)
	c.slices = blocksOf(c.batch, splitTile)
	c.fold = c.rowFold(c.batch)
	size := c.h * c.slices * c.fold.width * splitPiece(c.sources)
	c.splitSource, c.splitKernel = c.inBlocks[:size], c.inBlocks[size:]
	p.splitting = splitting{c}
	p.team.For(c.h*c.slices+blocksOf(c.m, splitTile), 1, &p.splitting)

	items := c.slices * blocksOf(c.fold.out, abreast) * c.outH
	p.team.For(items, max(1, items/(8*p.team.Size())), c)
	c.src, c.dst, c.kernel, c.inBlocks, c.splitSource, c.splitKernel = nil, nil, nil, nil, nil, nil
}

// splitSums returns how many values of sums a worker keeps for m rows.
func splitSums(m int) int { return blocksOf(m, splitTile) * splitTile * abreast * splitTile }

// splitting splits a source and a kernel. Items are pairs (row, slice of the batch)
// of the one and then strips of the other.
type splitting struct{ *correlation }

var _ tensor.Task = (*splitting)(nil)

// Do splits the items lo <= item < hi.
func (s *splitting) Do(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		if strip := item - s.h*s.slices; strip >= 0 {
			s.strip(strip)
			continue
		}
		row, slice := item/s.slices, item%s.slices
		n := min(splitTile, s.batch-slice*splitTile)
		for panel := range s.fold.width {
			at := panel
			if s.mirrored {
				at = s.fold.width - 1 - panel
			}
			for first := 0; first < s.sources; first += partSplit {
				k := min(partSplit, s.sources-first)
				dst := s.linePart(item, first)[at*splitPiece(k):]
				if s.fold.folds == 1 {
					asm.SplitRight(dst, s.src[first*s.plane+(row*s.w+panel)*s.batch+slice*splitTile:], s.plane, k, n)
					continue
				}
				gathered := s.cpu.Workspace(worker)[:k*splitTile]
				s.fold.gather(gathered, s.src[first*s.plane+row*s.w*s.batch:], s.plane, k, s.w, s.batch, s.fold.first+panel)
				asm.SplitRight(dst, gathered, splitTile, k, splitTile)
			}
		}
	}
}

// linePart returns the panels of a part of the sources; line counts pairs (row, slice).
func (c *correlation) linePart(line, first int) []float32 {
	k := min(partSplit, c.sources-first)
	begin := c.fold.width * (line*splitPiece(c.sources) + splitPiece(first))
	return c.splitSource[begin:][:c.fold.width*splitPiece(k)]
}

// kernelPart returns the strips of a part of the sources, for a run of taps.
func (c *correlation) kernelPart(run line, first int) []float32 {
	k, strips := min(partSplit, c.sources-first), blocksOf(c.m, splitTile)
	begin := strips * (run.t*splitPiece(c.sources) + run.n*splitPiece(first))
	return c.splitKernel[begin:][:strips*run.n*splitPiece(k)]
}

// gather writes the positions of the panel that begins at col, of n rows of w
// positions that are plane values apart: [n, 32], zero where there are none.
func (g rowFold) gather(dst, src []float32, plane, n, w, b, col int) {
	clear(dst)
	for i := range g.folds {
		x := col + i*g.out
		if x < 0 || x >= w {
			continue
		}
		for s := range n {
			copy(dst[s*splitTile+i*b:][:b], src[s*plane+x*b:])
		}
	}
}

// strip splits 32 rows of the kernel.
func (s *splitting) strip(strip int) {
	m := strip * splitTile
	rows := min(splitTile, s.m-m)
	for _, run := range s.runs {
		for first := 0; first < s.sources; first += partSplit {
			k := min(partSplit, s.sources-first)
			dst := s.kernelPart(run, first)[strip*run.n*splitPiece(k):]
			for t := range run.n {
				asm.SplitLeft(dst[t*splitPiece(k):], s.kernel[m*s.lda+(run.t+t)*s.sources+first:], s.lda, rows, k)
			}
		}
	}
}

// doSplit computes items (slice of the batch, group of columns, row).
func (c *correlation) doSplit(lo, hi, worker int) {
	groups := blocksOf(c.fold.out, abreast)
	for item := lo; item < hi; item++ {
		row, rest := item%c.outH, item/c.outH
		col, slice := rest%groups*abreast, rest/groups
		c.splitStrip(row, col, min(c.fold.out, col+abreast), slice, c.cpu.Workspace(worker))
	}
}

// splitStrip computes dst at the panels first <= panel < end of a row, for one slice
// of the batch. In sums they have the order in which the source has them.
func (c *correlation) splitStrip(row, first, end, slice int, sums []float32) {
	const ld = abreast * splitTile
	strips := blocksOf(c.m, splitTile)
	panel := func(i int) int {
		if c.mirrored {
			return end - 1 - i
		}
		return first + i
	}
	for m := range c.m {
		var bias float32
		if c.ones {
			bias = c.kernel[m*c.lda+c.column]
		}
		asm.Fill(sums[m*ld:][:ld], bias)
	}
	clear(sums[c.m*ld : strips*splitTile*ld])
	for _, run := range c.runs {
		r := row + c.offsets[run.t].Row
		if r < 0 || r >= c.h {
			continue
		}
		for source := 0; source < c.sources; source += partSplit {
			k := filled(min(partSplit, c.sources-source))
			c.addRun(run, k, c.kernelPart(run, source), c.linePart(r*c.slices+slice, source), sums, panel, end-first)
		}
	}
	n := min(splitTile, c.batch-slice*splitTile)
	for m := range c.m {
		dst := c.dst[m*c.dstPlane+row*c.outW*c.batch+slice*splitTile:]
		for i := range end - first {
			from := sums[m*ld+i*splitTile:]
			for col := panel(i); col < c.outW; col += c.fold.out {
				to := dst[col*c.batch:][:n]
				if c.accumulate {
					asm.Add(to, to, from[:n])
				} else {
					copy(to, from)
				}
				from = from[n:]
			}
		}
	}
}

// addRun adds what a run of taps makes of k sources to the sums of n panels.
func (c *correlation) addRun(run line, k int, kernel, panels, sums []float32, panel func(int) int, n int) {
	const ld = abreast * splitTile
	piece := splitPiece(k)
	for i := 0; i < n; {
		at, lo, hi := c.meetsPanel(run, panel(i))
		switch {
		case lo >= hi:
			i++
		case hi-lo == run.n:
			// The whole run, at as many panels as it is inside.
			whole := min(n-i, c.fold.width-run.n-at+1)
			asm.GemmSplitPanels(blocksOf(c.m, splitTile)*splitTile, whole*splitTile, run.n*k, kernel, panels[at*piece:], piece,
				sums[i*splitTile:], ld, true, kernel[min(len(kernel), run.n*piece):], run.n*piece)
			i += whole
		default:
			for strip := range blocksOf(c.m, splitTile) {
				asm.GemmSplitPanels(splitTile, splitTile, (hi-lo)*k, kernel[(strip*run.n+lo)*piece:], panels[(at+lo)*piece:], piece,
					sums[strip*splitTile*ld+i*splitTile:], ld, true, nil, 0)
			}
			i++
		}
	}
}

// meetsPanel returns which panel of a line the first tap of a run meets at a panel, and
// which taps lo <= t < hi of the run meet one.
func (c *correlation) meetsPanel(run line, panel int) (at, lo, hi int) {
	at = panel + c.offsets[run.t].Col - c.fold.first
	if c.mirrored {
		at = c.fold.width - 1 - at
	}
	return at, max(0, -at), min(run.n, c.fold.width-at)
}

// tapsSplits reports whether all three passes by taps are split.
func tapsSplits(s *Shape) bool {
	return min(s.Sources(), s.Targets()) >= thickSources && len(s.Offsets) > 1 && fillsSplit(s.B)
}

// fillsSplit reports whether products by taps are split for a batch: where the level
// has a matrix unit and at least half of its columns are used.
func fillsSplit(b int) bool {
	return asm.FastSplit() && 2*b >= splitTile*blocksOf(b, splitTile)
}
