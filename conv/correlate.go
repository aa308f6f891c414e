package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

const (
	// depth is the most rows of a packed panel: one tile's rows of the kernel
	// and the panel then lie in the first-level cache together, or nearly.
	depth = 448
	// breadth is the number of columns (position, batch) that are packed before
	// the kernel is gone through once.
	breadth = 128
)

// correlation computes, for the rows m = (o,i) of dst (or (c,j)),
//
//	dst[m, row, col, b] (+)= sum over taps t, sources s of kernel[m, (t,s)] src[s, row+t.Row, col+t.Col, b]
//
// as a matrix product: the kernel is A, row-major, and B is packed panel by
// panel from the source planes, tap after tap, for as many taps as fill depth
// rows, or lies in blocks that need no packing (blocked.go). The columns of a
// panel are positions of one row that have the same taps inside the plane, so a
// tap outside is skipped rather than multiplied by zero.
type correlation struct {
	view
	dst        []float32
	dstPlane   int
	m          int
	accumulate bool
	kernel     []float32 // [m, (t,s)] with leading dimension lda
	lda        int
	ones       bool // the kernel's last column is to be multiplied with ones
	column     int  // the number of the last column: T*sources, or 0 where the rest is split

	mr, nr int // register tile
	step   int // rows of A taken at a time
	cpu    *tensor.CPU

	// For a source that is packed:
	deep   int // rows of a panel
	groups []group
	blocks int   // parts that m is cut into
	rows   []int // offsets of all rows (t,s), for thin sources, or of all taps of a source that is sliced

	// For a source in blocks:
	runs   []line // of taps side by side
	slices int    // of the batch
	unity  [widestTile]float32

	fold                     rowFold
	splitSource, splitKernel []float32 // where both are split or sliced
	parts                    int       // of the plane, for a thin batch that is sliced
}

// group is a range of columns of a row of dst that see the same taps.
type group struct {
	col     int // position of the first
	from, n int // columns (position, batch)
}

var _ tensor.Task = (*correlation)(nil)

// bind sizes what depends on the largest shape and returns the size of a
// worker's panels.
func (c *correlation) bind(s *Shape) int {
	_, nr := asm.GemmTile()
	for _, sides := range [][3]int{{s.OutH, s.OutW, s.Sources()}, {s.H, s.W, s.Targets()}} {
		row := sides[1] * s.B
		if len(s.Offsets) == 1 {
			row *= sides[0]
		}
		if n := row/breadth + 2*sides[1] + 2; n > cap(c.groups) {
			c.groups = make([]group, 0, n)
		}
	}
	if n := thinSources * len(s.Offsets); n > cap(c.rows) {
		c.rows = make([]int, 0, n)
	}
	if n := len(s.Offsets); n > cap(c.negated) {
		c.negated = make([]Offset, 0, n)
	}
	if n := len(s.Offsets); n > cap(c.runs) {
		c.runs = make([]line, 0, n)
	}
	size := max(breadth, nr) * depth
	if fillsSplit(s.B) {
		size = max(size, splitSums(max(s.Sources(), s.Targets())))
	}
	var f frame
	f.set(s.H, s.W, s.OutH, s.OutW, s.Offsets)
	if f.isPoint() {
		size = max(size, pointWorkspace(max(s.Sources(), s.Targets())), pointGradWorkspace())
	}
	return size
}

func (c *correlation) target(dst []float32, m int, accumulate bool) {
	c.dst, c.m, c.accumulate = dst, m, accumulate
	c.dstPlane = c.outH * c.outW * c.batch
}

func (c *correlation) run(p *taps) {
	c.mr, c.nr = asm.GemmTile()
	tiles := (c.m + c.mr - 1) / c.mr
	c.step = (c.m + tiles - 1) / tiles
	k := c.sources*len(c.offsets) + 1
	segments := (k + depth - 1) / depth
	c.deep = min(depth, (k+segments-1)/segments)
	c.cpu = p.cpu
	switch {
	case c.form == inBlocks:
		c.runBlocked(p)
		return
	case c.form == inSplits:
		c.runSplit(p)
		return
	case c.form == inThinSlices:
		c.runThinSlices(p)
		return
	case c.form == inColumns:
		c.runDots(p)
		return
	case c.form == inPoints:
		c.runPoint(p)
		return
	case c.isThin():
		p.team.For((c.m+c.step-1)/c.step, 1, c)
		c.src, c.dst, c.kernel = nil, nil, nil
		return
	}
	c.gather()
	c.divide()

	items := len(c.groups) * c.outH
	// Where there are few columns, as in a last layer, the rows are split too.
	c.blocks = min(tiles, (32+items-1)/items)
	items *= c.blocks
	p.team.For(items, max(1, items/(8*p.team.Size())), c)
	c.src, c.dst, c.kernel = nil, nil, nil
}

// gather lists the offsets of all rows (t,s) where the sources are so few that
// tap by tap the rows would be copied one at a time.
func (c *correlation) gather() {
	c.rows = c.rows[:0]
	if c.form != bordered || c.sources >= thinSources {
		return
	}
	for t := range c.offsets {
		for s := range c.sources {
			c.rows = append(c.rows, c.at(t, 0, 0)+s*c.plane)
		}
	}
}

// divide cuts a row of dst into groups.
func (c *correlation) divide() {
	c.groups = c.groups[:0]
	most := max(breadth, c.nr) / c.nr * c.nr
	for first := 0; first < c.outW; {
		next := c.outW
		for t := range c.offsets {
			for _, edge := range edges(c.columns(t)) {
				if edge > first {
					next = min(next, edge)
				}
			}
		}
		for from, end := first*c.batch, next*c.batch; from < end; from += most {
			c.groups = append(c.groups, group{first, from, min(most, end-from)})
		}
		first = next
	}
}

func edges(lo, hi int) [2]int { return [2]int{lo, hi} }

// Do computes the items lo <= item < hi: for each group the rows of dst, for
// each row the blocks of m. Going down the rows keeps the source lines that
// neighbouring rows share in the cache.
func (c *correlation) Do(lo, hi, worker int) {
	switch {
	case c.form == inBlocks:
		c.doBlocked(lo, hi, worker)
		return
	case c.form == inSplits:
		c.doSplit(lo, hi, worker)
		return
	case c.form == inThinSlices:
		c.doThinSlices(lo, hi, worker)
		return
	case c.form == inColumns:
		c.doDots(lo, hi)
		return
	case c.form == inPoints:
		c.doPoint(lo, hi, worker)
		return
	case c.isThin():
		c.doThin(lo, hi, worker)
		return
	}
	panels := c.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		block, rest := item%c.blocks, item/c.blocks
		tiles := (c.m + c.step - 1) / c.step
		m0, m1 := block*tiles/c.blocks*c.step, min(c.m, (block+1)*tiles/c.blocks*c.step)
		part := segment{correlation: c, panels: panels, group: c.groups[rest/c.outH], row: rest % c.outH, m0: m0, m1: m1, accumulate: c.accumulate}
		part.compute()
	}
}

// segment is one group of one row, and the packed rows of B that have not yet
// been multiplied.
type segment struct {
	*correlation
	panels []float32
	group
	row, m0, m1 int

	k, at      int // packed rows; the column of A that belongs to the first
	accumulate bool
}

func (g *segment) compute() {
	if len(g.rows) > 0 {
		g.gathered()
	} else {
		g.tapwise()
	}
	if g.ones {
		g.one(g.column)
	}
	if g.k > 0 || !g.accumulate {
		g.multiply() // with k = 0: no tap is inside, the sum is empty
	}
}

// tapwise packs tap after tap, all sources of each.
func (g *segment) tapwise() {
	for t := range g.offsets {
		column := t * g.sources
		lo, hi := g.columns(t)
		if g.col < lo || g.col >= hi || !g.rowInside(t, g.row) {
			if g.k > 0 {
				g.multiply() // A's columns of this tap are to be skipped
			}
			continue
		}
		src := g.view.at(t, g.row, 0) + g.from
		for s := 0; s < g.sources; {
			g.room(column + s)
			n := min(g.deep-g.k, g.sources-s)
			for q, dst := 0, g.k*g.nr; q < g.n; q, dst = q+g.nr, dst+g.deep*g.nr {
				asm.PackPanel(g.panels[dst:], g.src[src+s*g.plane+q:], g.plane, n, min(g.nr, g.n-q))
			}
			g.k += n
			s += n
		}
	}
}

// gathered packs rows (t,s) from anywhere in the copy.
func (g *segment) gathered() {
	base := g.row*g.width*g.batch + g.from
	for p := 0; p < len(g.rows); {
		g.room(p)
		n := min(g.deep-g.k, len(g.rows)-p)
		for q, dst := 0, g.k*g.nr; q < g.n; q, dst = q+g.nr, dst+g.deep*g.nr {
			asm.PackRows(g.panels[dst:], g.src[base+q:], g.rows[p:p+n], min(g.nr, g.n-q))
		}
		g.k += n
		p += n
	}
}

// one packs the row of ones that the bias is multiplied with.
func (g *segment) one(column int) {
	g.room(column)
	for q, dst := 0, g.k*g.nr; q < g.n; q, dst = q+g.nr, dst+g.deep*g.nr {
		asm.Fill(g.panels[dst:][:g.nr], 1)
	}
	g.k++
}

// room makes place for a row that belongs to the given column of A.
func (g *segment) room(column int) {
	if g.k == g.deep {
		g.multiply()
	}
	if g.k == 0 {
		g.at = column
	}
}

// multiply adds the product with the packed rows to dst and empties the panels.
func (g *segment) multiply() {
	out := g.row*g.outW*g.batch + g.from
	for m := g.m0; m < g.m1; m += g.step {
		rows := min(g.step, g.m1-m)
		a, dst := g.kernel[m*g.lda+g.at:], g.dst[m*g.dstPlane+out:]
		for q, b := 0, 0; q < g.n; q, b = q+g.nr, b+g.deep*g.nr {
			asm.GemmNN(rows, min(g.nr, g.n-q), g.k, a, g.lda, g.panels[b:], g.nr, dst[q:], g.dstPlane, g.accumulate)
		}
	}
	g.k, g.accumulate = 0, true
}
