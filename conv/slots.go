package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// slotBlocks is the layout of the slots of a kernel: [block of columns, (o,i), kind, slot,
// column], with columns (j,c). With paired elements there are two kinds, half the sums of the kernel
// between i and j and that between i and j+n/2, and half the differences; the columns are those with j
// in the first half. They are cut into blocks because products take as many at a time: what these
// read then lies together, and is fetched by the processor.
type slotBlocks struct {
	rows, kinds, taps int
	width, block      int // columns of a kind, and of a block but for the last
}

func slotBlocksOf(s *Shape) slotBlocks {
	kinds := kinds(elementsOf(s, s.NIn))
	return slotBlocks{rows: s.Out * s.rendered(), kinds: kinds, taps: len(s.Offsets), width: s.Sources() / kinds, block: blockColumns / kinds}
}

// ld returns how far apart slots are in the block of a column: whole cache lines.
func (l *slotBlocks) ld(column int) int {
	return roundUp(min(l.block, l.width-column/l.block*l.block))
}

// row returns the size of a row (o,i) in the block of a column.
func (l *slotBlocks) row(column int) int { return l.kinds * l.taps * l.ld(column) }

func (l *slotBlocks) size() int {
	last := (l.width - 1) / l.block * l.block
	return l.at(0, 0, 0, last) + l.rows*l.row(last)
}

// at returns where the column of a slot is.
func (l *slotBlocks) at(row, kind, slot, column int) int {
	before := column / l.block * l.rows * l.kinds * l.taps * roundUp(l.block)
	return before + ((row*l.kinds+kind)*l.taps+slot)*l.ld(column) + column%l.block
}

// piece returns the slots of a row from a column on, how far apart they are, and how many columns,
// up to end, lie together in them.
func (l *slotBlocks) piece(slots []float32, row, column, end int) (piece []float32, ld, n int) {
	return slots[l.at(row, 0, 0, column):], l.ld(column), min(end, (column/l.block+1)*l.block) - column
}

// slotsSize returns the number of values of a kernel as slots.
func slotsSize(s *Shape) int {
	l := slotBlocksOf(s)
	return l.size()
}

// discs says which slots of a kernel are not zero: those of an output element whose disc is smaller than
// that of the taps, as a mask has it, are the first ones. The others are neither written nor read.
type discs struct {
	even []int  // even slots, by output element; odd ones are one fewer
	runs []span // of slots (i, kind, slot)
	n    int    // rendered output elements
}

// measure finds the discs of a kernel.
func (d *discs) measure(l *lattice, k kernelFactors, s *Shape) {
	d.n = s.rendered()
	taps := 2*l.pairs + 1
	for i := range d.n {
		d.even[i] = l.pairs + 1
		if !k.Mask {
			continue
		}
		of := k.Scale.Host()[i*s.NIn*taps:][:s.NIn*taps]
		zero := func(e int) bool {
			for at := l.pairs; at < len(of); at += taps {
				if of[at+l.order[e]] != 0 || of[at-l.order[e]] != 0 {
					return false
				}
			}
			return true
		}
		for d.even[i] > 1 && zero(d.even[i]-1) {
			d.even[i]--
		}
		d.even[i] = l.circle[d.even[i]-1] + 1
	}
	d.runs = d.runs[:0]
	kinds := kinds(elementsOf(s, s.NIn))
	for at := range d.n * kinds {
		next := span{at * taps, 2*d.even[at/kinds] - 1}
		if last := len(d.runs) - 1; last >= 0 && d.runs[last].first+d.runs[last].count == next.first {
			d.runs[last].count += next.count
		} else {
			d.runs = append(d.runs, next)
		}
	}
}

// evenSlots returns the number of even slots of row m=(o,i).
func (d *discs) evenSlots(m int) int { return d.even[m%d.n] }

// gradient computes the gradient of slots from the spectra of x and dy, for each frequency by complex
// matrices,
//
//	conj(dK) = conj(dy^) x^'
//
// and folds them into the slots. An item is a block of rows (o,i), one of columns (j,c) and
// a part of the frequencies of the band; it goes through these in order, as many at a time
// as blockSizes says. Parts have slots of their own.
type gradient struct {
	*lattice
	discs
	shape *Shape
	band
	cpu        *tensor.CPU
	dy         []float32 // [f, part, (o,i), batch]
	x          []float32 // as panels say
	turning    *turning  // what x is made by, a frequency at a time, or nil
	panels     panels
	dslots     []float32 // [part], as layout says
	column     int       // (j,c) that x begins with
	accumulate bool      // onto what earlier bands gave

	layout    slotBlocks
	size      blockSizes
	splits    bool
	rowBlocks int
	parts     int
}

var _ tensor.Task = (*gradient)(nil)

// gradientParts returns how many parts the frequencies are cut into: several where rows and
// columns make a single block, which workers could share out only into blocks that are small, or
// not equal.
func (l *lattice) gradientParts(s *Shape) int {
	const parts = 4
	size := l.gradientSizesOf(s)
	if s.Paired || s.Targets() > size.gradientRows || s.Sources() > size.columns || l.count < 16*parts {
		return 1
	}
	return parts
}

// gradientLocal returns the size of a worker's memory: the kernel's gradient, a part of dy^
// and what complex products need, or both sliced, and x^ at one frequency.
func (l *lattice) gradientLocal(s *Shape) int {
	most := 0
	for _, b := range l.blockSizesOfAny() {
		// Paired elements have two kinds of half the columns, with two planes for each.
		kernel := max(2*blockSize(b.gradientRows, columns(blockColumns)), 4*blockSize(b.gradientRows, columns(blockColumns/2)))
		operands := max(s.B*b.gradientRows+asm.ComplexSpare, slicedLocal(b.gradientRows, 0, s.B))
		most = max(most, b.gradientFrequencies*kernel+operands)
	}
	_, nr := asm.GemmTile()
	own := panels{kinds: 1, n: min(s.Sources(), blockColumns), nr: nr, batch: s.B}
	return most + own.size() + 4*skew
}

// leastGradientRows are the rows that a block of a gradient has at least: half a register tile.
const leastGradientRows = 8

// gradientBlocks returns how many blocks n rows are cut into, beside so many others.
func gradientBlocks(n int, size *blockSizes, others, workers int) int {
	return forWorkers(workers, blocksOf(n, size.gradientRows), n/max(size.unit, leastGradientRows), others)
}

func (g *gradient) run() {
	s := g.shape
	g.layout = slotBlocksOf(s)
	g.splits = slicesGradient(s)
	g.size = g.gradientSizesOf(s)
	g.parts = g.gradientParts(s)
	g.rowBlocks = gradientBlocks(s.Targets(), &g.size, g.panels.blocks()*g.parts, g.cpu.Team().Size())
	g.cpu.Team().For(g.rowBlocks*g.panels.blocks()*g.parts, 1, g)
}

// Do computes the items lo <= item < hi.
func (g *gradient) Do(lo, hi, worker int) {
	local := pieces{g.cpu.Workspace(worker)}
	for item := lo; item < hi; item++ {
		block, part := item/g.rowBlocks/g.parts, item/g.rowBlocks%g.parts
		of := patch{rows: shareSpan(g.shape.Targets(), g.rowBlocks, item%g.rowBlocks, g.size.unit), columns: g.panels.block(block)}
		first, last := g.part(part), g.part(part+1)
		dslots := g.dslots[part*g.layout.size():]
		_, most := g.band.gradientUnits(&g.size)
		count := blocksOf(last-first, most)
		if count == 0 && !g.accumulate {
			g.clear(of, dslots)
		}
		for i := range count {
			u0, u1 := share(last-first, count, i)
			of.f = g.band.between(first+u0, first+u1, &g.size)
			g.block(of, dslots, local, g.accumulate || i > 0)
		}
	}
}

// part returns the unit of frequencies that a part begins with.
func (g *gradient) part(i int) int {
	return g.band.nearest(i*g.band.count/g.parts, &g.size)
}

// clear is block for no frequency.
func (g *gradient) clear(of patch, dslots []float32) {
	m, c, first := of.rows, of.columns, g.column+of.columns.first
	for row := range m.count {
		for at := 0; at < c.count; {
			slots, lds, n := g.layout.piece(dslots, m.first+row, first+at, first+c.count)
			for slot := range g.layout.taps {
				clear(slots[slot*lds:][:n])
			}
			at += n
		}
	}
}

// block adds the share of some frequencies to rows and columns of dslots.
func (g *gradient) block(of patch, dslots []float32, local pieces, accumulate bool) {
	m, c, first := of.rows, of.columns, g.column+of.columns.first
	ld := columns(c.count)
	size := blockSize(m.count, ld)
	k := local.cut(of.f.count * 2 * size)
	if g.splits {
		g.productsSliced(k, of, local)
	} else {
		g.products(k, of, local)
	}
	for row := range m.count {
		even := g.evenSlots(m.first + row)
		for at := 0; at < c.count; {
			slots, lds, n := g.layout.piece(dslots, m.first+row, first+at, first+c.count)
			var ahead []float32
			if row+1 < m.count && !g.splits {
				ahead = slots[g.layout.row(first+at):]
			}
			k := k[row*ld+at:]
			g.slotsGrad(&g.size, of.f.first+g.first, of.f.count, n, even, 0, k[size:], k, 2*size, slots, lds, accumulate, ahead)
			at += n
		}
	}
}

// spectrum returns x^ at frequency f, made in memory of its own if that is not nil.
func (g *gradient) spectrum(f int, own []float32) []float32 {
	if own == nil {
		return g.x[f*g.panels.size():]
	}
	g.turning.write(own, f)
	return own
}

// products computes -ki and kr of a patch, for each frequency, from its rows of dy^ and its columns of x^.
func (g *gradient) products(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, g.shape.B
	ld, plane := columns(c.count), planeSize(g.shape.Targets(), g.shape.B)
	size := blockSize(m.count, ld)
	distance, part := g.panels.distance(), g.panels.part()
	minus, spare := local.cut(m.count*batch), local.cut(asm.ComplexSpare)
	var own []float32
	if g.turning != nil {
		own = local.cut(g.panels.size())
	}
	for q := range of.f.count {
		f := of.f.first + q
		x := g.spectrum(f, own)[g.panels.at(0, c.first):]
		y := g.dy[f*2*plane+m.first*batch:]
		im, re := k[q*2*size:], k[q*2*size+size:]
		ahead := nextOperands(x, part, blocksOf(c.count, g.panels.nr)*distance, y, plane, m.count*batch)
		if g.turning != nil {
			ahead[0], ahead[1] = g.turning.next(f)
		}
		if g.panels.quads {
			asm.GemmComplexQuads(m.count, c.count, batch, y, y[plane:], batch, x, x[part:], distance, re, im, ld, false, ahead)
			continue
		}
		if g.selfConjugate[g.first+f] {
			gemmPanels(m.count, c.count, batch, y, batch, x, distance, re, ld, false)
			clear(im[:size])
			continue
		}
		asm.Affine(minus, y[plane:][:m.count*batch], -1, 0)
		asm.GemmComplexPanelsNN(m.count, c.count, batch, y, minus, batch, x, x[part:], distance, re, im, ld, false, ahead, spare)
	}
}

// productsSliced is products by sliced matrices: kr - i*ki is the product of yr - i*yi and xr + i*xi.
func (g *gradient) productsSliced(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, g.shape.B
	ld, plane := columns(c.count), planeSize(g.shape.Targets(), g.shape.B)
	size := blockSize(m.count, ld)
	left := slicedRows(&local, m.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		x, y := g.x[f*g.panels.size()+g.panels.at(0, c.first):], g.dy[f*2*plane+m.first*batch:]
		asm.SliceLeftConjugate(left[0], left[1], y, y[plane:], batch, m.count, batch)
		im, re := k[2*q*size:], k[(2*q+1)*size:]
		for at := 0; at < c.count; at += splitTile {
			right := x[g.panels.at(0, at):]
			ahead := parts(after(right, g.panels.size()), asm.SliceSize(splitTile/2, batch))
			if at == 0 {
				ahead = parts(after(y, 2*plane), plane)
			}
			asm.GemmSlices(m.count, min(splitTile, c.count-at), batch, left, right, [2][]float32{re[at:], im[at:]}, ld, false, ahead)
		}
	}
}
