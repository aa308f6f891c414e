package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// folding takes a kernel [(o,c), (i,j,t)] to slots [(o,i), slot, (c,j)], or the
// gradient of slots back to that of the kernel. Items are rows (o,i).
type folding struct {
	shape  *Shape
	cpu    *tensor.CPU
	kernel []float32
	slots  []float32
	back   bool
}

var _ tensor.Task = (*folding)(nil)

// foldingLocal returns the size of a worker's memory: one row by taps.
func foldingLocal(s *Shape) int { return len(s.Offsets) * columns(s.Sources()) }

func (p *folding) run() {
	p.cpu.Team().For(p.shape.Targets(), max(1, 16384/foldingLocal(p.shape)), p)
}

// Do folds the rows lo <= m < hi.
func (p *folding) Do(lo, hi, worker int) {
	s := p.shape
	taps, sources := len(s.Offsets), s.Sources()
	ld, mid := columns(sources), taps/2
	byTap := p.cpu.Workspace(worker)[:taps*ld]
	at := func(x []float32, row int) []float32 { return x[row*ld:][:sources] }
	for m := lo; m < hi; m++ {
		slots := p.slots[m*taps*ld:][:taps*ld]
		if p.back {
			copy(at(byTap, mid), at(slots, 0))
			for e := 1; e <= mid; e++ {
				even, odd := at(slots, e), at(slots, mid+e)
				asm.Add(at(byTap, mid+e), even, odd)
				asm.Sub(at(byTap, mid-e), even, odd)
			}
		}
		p.turn(m, byTap, ld)
		if !p.back {
			copy(at(slots, 0), at(byTap, mid))
			for e := 1; e <= mid; e++ {
				after, before := at(byTap, mid+e), at(byTap, mid-e)
				asm.Add(at(slots, e), after, before)
				asm.Sub(at(slots, mid+e), after, before)
			}
		}
	}
}

// turn takes row m=(o,i) from (c,j,t) to [t, (c,j)], or back.
func (p *folding) turn(m int, byTap []float32, ld int) {
	s := p.shape
	taps := len(s.Offsets)
	o, i := m/s.NOut, m%s.NOut
	for c := range s.In {
		run := p.kernel[((o*s.In+c)*s.NOut+i)*s.NIn*taps:]
		if p.back {
			asm.Transpose(run, taps, byTap[c*s.NIn:], ld, taps, s.NIn)
		} else {
			asm.Transpose(byTap[c*s.NIn:], ld, run, taps, s.NIn, taps)
		}
	}
}

// gradient computes the gradient of slots from the spectra of x and dy, dK =
// kr + i*ki, in three real products for each frequency (Gauss),
//
//	t = yr (xr+xi),   -ki = t - (yr+yi) xr,   kr = t + (yi-yr) xi
//
// and folds them into the slots. An item is a block of rows (o,i) and one of
// columns (c,j); it goes through the frequencies of the band in order, as many
// at a time as its share of the second-level cache holds.
type gradient struct {
	*lattice
	shape *Shape
	band
	cpu        *tensor.CPU
	dy         []float32 // [f, part, (o,i), batch]
	x          []float32 // turned: [f, part, block of (c,j), batch, (c,j)]
	dslots     []float32 // [(o,i), slot, (c,j)]
	accumulate bool      // onto what earlier bands gave

	rowBlocks, width int // blocks of rows; columns of a block
}

var _ tensor.Task = (*gradient)(nil)

// gradientLocal returns the size of a worker's memory: the kernel's gradient and
// the sums of both operands.
func gradientLocal(s *Shape) int {
	return 2*blockFrequencies*blockShort*columns(blockLong) + s.B*(2*blockShort+columns(blockLong)) + 3*skew
}

func (g *gradient) run() {
	s := g.shape
	g.rowBlocks, g.width = blocksOf(s.Targets(), blockShort), blockWidth(s.Sources())
	g.cpu.Team().For(g.rowBlocks*blocksOf(s.Sources(), g.width), 1, g)
}

// Do computes the items lo <= item < hi.
func (g *gradient) Do(lo, hi, worker int) {
	local := pieces{g.cpu.Workspace(worker)}
	count := blocksOf(g.band.count, blockFrequencies)
	for item := lo; item < hi; item++ {
		m0, m1 := share(g.shape.Targets(), g.rowBlocks, item%g.rowBlocks)
		for i := range count {
			f0, f1 := share(g.band.count, count, i)
			g.block(f0, f1-f0, m0, m1-m0, item/g.rowBlocks, local, g.accumulate || i > 0)
		}
	}
}

// block adds the share of nf frequencies from f on to rows m0.. of one block of
// columns.
func (g *gradient) block(f, nf, m0, nm, block int, local pieces, accumulate bool) {
	s := g.shape
	batch := s.B
	c0 := block * g.width
	nc := min(g.width, s.Sources()-c0)
	ld := columns(g.width)
	size, plane, part := nm*ld, planeSize(s.Targets(), batch), turnedSize(s)
	turned := turnedBlock(s.Sources(), batch)
	k := local.cut(nf * 2 * size)
	sum, difference, both := local.cut(nm*batch), local.cut(nm*batch), local.cut(turned)
	for q := range nf {
		yr := g.dy[(f+q)*2*plane+m0*batch:][:nm*batch]
		yi := g.dy[(f+q)*2*plane+plane+m0*batch:][:nm*batch]
		xr := g.x[(f+q)*2*part+block*turned:][:turned]
		xi := g.x[(f+q)*2*part+part+block*turned:][:turned]
		asm.Combine(sum, yr, yi, -1, -1, 0)
		asm.Sub(difference, yi, yr)
		asm.Add(both, xr, xi)
		im, re := k[q*2*size:][:size], k[q*2*size+size:][:size]
		gemmNN(nm, nc, batch, yr, batch, both, ld, im, ld, false)
		copy(re, im)
		gemmNN(nm, nc, batch, sum, batch, xr, ld, im, ld, true)
		gemmNN(nm, nc, batch, difference, batch, xi, ld, re, ld, true)
	}
	f += g.first
	even, row := g.pairs+1, columns(s.Sources())
	for m := range nm {
		slots := g.dslots[(m0+m)*len(s.Offsets)*row+c0:]
		gemmNN(even, nc, nf, g.cosBack[f:], g.lattice.count, k[size+m*ld:], 2*size, slots, row, accumulate)
		gemmNN(g.pairs, nc, nf, g.sinBack[f:], g.lattice.count, k[m*ld:], 2*size, slots[even*row:], row, accumulate)
	}
}
