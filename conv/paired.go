package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// With paired elements (Shape.Paired) the kernel's spectrum becomes real. Between
// the elements i, i+n/2 and j, j+n/2 it is, since a kernel turned by half a turn
// has the conjugate spectrum,
//
//	| a   b  |
//	| b*  a* |
//
// and in the basis x_j + x_(j+n/2), i (x_j - x_(j+n/2)) of either side
//
//	     |  re(a+b)  im(a-b) |
//	1/2  | -im(a+b)  re(a-b) |
//
// so that one complex product takes two real ones rather than three, and of the
// kernel only the rows i < n/2 are needed. analysis and synthesis change the basis.

// pairedProduct is product for paired elements. An item is a block of frequencies
// and one of rows (o,i), or columns (j,c), of the first half, with those of the
// second; the real kernel is made for it as [f, kind, (o,i), kind, (j,c)].
type pairedProduct struct {
	*lattice
	discs
	shape *Shape
	band
	cpu         *tensor.CPU
	productArgs // sources and targets kind by kind

	layout                 slotBlocks
	splits                 bool
	size                   blockSizes
	fblocks, blocks, steps int // frequencies, rows, summation index
}

var _ tensor.Task = (*pairedProduct)(nil)

func (p *pairedProduct) run() {
	s := p.shape
	p.layout = slotBlocksOf(s)
	p.splits = slicesProducts(s)
	p.size = p.productSizes(p.lattice, s)
	if p.adjoint {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.adjointColumns), blocksOf(s.Out*s.rendered(), p.size.adjointRows)
	} else {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.rows), blocksOf(p.layout.width, p.size.columns)
	}
	p.fblocks = p.band.frequencyBlocks(&p.size, p.blocks, p.kept.workers(p.cpu))
	p.cpu.Team().For(p.fblocks*p.blocks, 1, p)
}

// Do computes the items lo <= item < hi.
func (p *pairedProduct) Do(lo, hi, worker int) {
	local := pieces{p.cpu.Workspace(worker)}
	rows := p.shape.Out * p.shape.rendered()
	for item := lo; item < hi; item++ {
		f0, f1 := p.band.frequencies(p.fblocks, item/p.blocks, &p.size)
		for step := range p.steps {
			if p.adjoint {
				m0, m1 := shareWhole(rows, p.steps, step, p.size.unit)
				c0, c1 := shareWhole(p.targets.count, p.blocks, item%p.blocks, p.size.unit)
				p.backward(f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
			} else {
				m0, m1 := shareWhole(p.targets.count, p.blocks, item%p.blocks, p.size.unit)
				c0, c1 := shareWhole(p.layout.width, p.steps, step, p.size.unit)
				k := p.kept.block(item*p.steps + step)
				if p.kept.fill {
					p.spectrum(k, f0, f1-f0, p.targets.first+m0, m1-m0, c0, c1-c0, columns(c1-c0))
				} else {
					p.forward(k, f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
				}
			}
		}
	}
}

// spectrum makes the real kernel for nf frequencies from f on, rows m0.. and
// columns c0.. of the whole kernel, each block [(o,i), (j,c)] with leading dimension ld.
func (p *pairedProduct) spectrum(k []float32, f, nf, m0, nm, c0, nc, ld int) {
	block := blockSize(nm, ld)
	if p.spectra != nil {
		p.spectra.write(k, 0, f+p.first, m0, nm, c0, nc, ld, 2*block, true)
		p.spectra.write(k[block:], 1, f+p.first, m0, nm, c0, nc, ld, 2*block, false)
		return
	}
	for m := range nm {
		for c := 0; c < nc; {
			slots, lds, n := p.layout.piece(p.slots, m0+m, c0+c, c0+nc)
			var ahead []float32
			if m+1 < nm && !p.splits {
				ahead = slots[p.layout.row(c0+c):]
			}
			k := k[m*ld+c:]
			of := func(kind, conjugate, re, im int) {
				at := kind * p.layout.taps * lds
				p.transformSlots(&p.size, f+p.first, nf, n, p.evenSlots(m0+m), conjugate, slots[at:], lds, k[re*block:], k[im*block:], 4*block, after(ahead, at))
			}
			of(0, 1, 0, 2)
			of(1, 0, 3, 1)
			c += n
		}
	}
}

// forward adds what the columns c0.. contribute to rows m0.. of the targets y^. k is their
// spectrum or nil.
func (p *pairedProduct) forward(k []float32, f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch, ld := s.B, columns(nc)
	in, out := planeSize(s.Sources(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(nm, ld)
	if k == nil {
		k = local.cut(4 * p.written(nf) * block)
		p.spectrum(k, f, nf, p.targets.first+m0, nm, c0, nc, ld)
	}
	if p.splits {
		p.forwardSliced(f, nf, m0, nm, c0, nc, k, local)
		return
	}
	for q := range nf {
		x, y := p.from[(f+q)*2*in+c0*batch:], p.to[(f+q)*2*out+m0*batch:]
		for rows := range 2 {
			y := y[rows*p.targets.count*batch:]
			for cols := range 2 {
				k, x := k[(q*4+rows*2+cols)*block:], x[cols*p.layout.width*batch:]
				ahead := nextOperands(x, in, nc*batch, y, out, nm*batch)
				asm.GemmTwinNN(nm, batch, nc, k, ld, x, x[in:], batch, y, y[out:], batch, c0 > 0 || cols > 0, quarter(ahead, rows, cols))
			}
		}
		if p.first+f+q == 0 && c0 == 0 {
			p.addBias(m0, nm)
		}
	}
}

// addBias adds the biases to the sums of rows m0.. at frequency zero.
func (p *pairedProduct) addBias(m0, nm int) {
	if p.bias == nil {
		return
	}
	s := p.shape
	for m := range nm {
		row := p.to[(m0+m)*s.B:][:s.B]
		asm.Affine(row, row, 1, p.bias[(p.targets.first+m0+m)/s.rendered()]*float32(p.periodH*p.periodW))
	}
}

// forwardSliced is forward by sliced matrices, given the kernel.
func (p *pairedProduct) forwardSliced(f, nf, m0, nm, c0, nc int, k []float32, local pieces) {
	s := p.shape
	batch, ld := s.B, columns(nc)
	in, out := planeSize(s.Sources(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(nm, ld)
	left, right := slicedOperands(&local, nm, batch, nc)
	for q := range nf {
		for kind := range left {
			k := k[(q*4+kind*2)*block:]
			asm.SliceLeft(left[kind], k, k[block:], ld, nm, nc)
		}
		for part := range 2 {
			x := p.from[((f+q)*2+part)*in+c0*batch:]
			y := p.to[((f+q)*2+part)*out+m0*batch:]
			asm.SliceRight(right, x, x[p.layout.width*batch:], batch, nc, batch)
			ahead := [2][]float32{after(x, in), after(y, out)}
			asm.GemmSlices(nm, batch, nc, left, right, parts(y, p.targets.count*batch), batch, c0 > 0, ahead)
		}
		if p.first+f+q == 0 && c0 == 0 {
			p.addBias(m0, nm)
		}
	}
}

// backward adds what the rows m0.. contribute to rows c0.. of the targets dx^.
func (p *pairedProduct) backward(f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch, ld := s.B, columns(nc)
	in, out := planeSize(s.Targets(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(nm, ld)
	k := local.cut(4 * p.written(nf) * block)
	p.spectrum(k, f, nf, m0, nm, p.targets.first+c0, nc, ld)
	if p.splits {
		p.backwardSliced(f, nf, m0, nm, c0, nc, k, local)
		return
	}
	for q := range nf {
		dy, dx := p.from[(f+q)*2*in+m0*batch:], p.to[(f+q)*2*out+c0*batch:]
		for cols := range 2 {
			dx := dx[cols*p.targets.count*batch:]
			for rows := range 2 {
				k, dy := k[(q*4+rows*2+cols)*block:], dy[rows*s.Targets()/2*batch:]
				ahead := nextOperands(dy, in, nm*batch, dx, out, nc*batch)
				asm.GemmTwinTN(nc, batch, nm, k, ld, dy, dy[in:], batch, dx, dx[out:], batch, m0 > 0 || rows > 0, quarter(ahead, cols, rows))
			}
		}
	}
}

// quarter returns what one of the four products at a frequency fetches, so that each operand of the next
// is fetched once: either source during the first target's products, either target with its first source.
func quarter(ahead [4][]float32, target, source int) [4][]float32 {
	if target > 0 {
		ahead[0], ahead[1] = nil, nil
	}
	if source > 0 {
		ahead[2], ahead[3] = nil, nil
	}
	return ahead
}

// backwardSliced is backward by sliced matrices, given the kernel.
func (p *pairedProduct) backwardSliced(f, nf, m0, nm, c0, nc int, k []float32, local pieces) {
	s := p.shape
	batch, ld := s.B, columns(nc)
	in, out := planeSize(s.Targets(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(nm, ld)
	left, right := slicedOperands(&local, nc, batch, nm)
	ldt := columns(nm)
	turned := [2][]float32{local.cut(nc * ldt), local.cut(nc * ldt)}
	for q := range nf {
		for kind := range left {
			k := k[(q*4+kind)*block:]
			for row := range turned {
				asm.Transpose(turned[row], ldt, k[2*row*block:], ld, nm, nc)
			}
			asm.SliceLeft(left[kind], turned[0], turned[1], ldt, nc, nm)
		}
		for part := range 2 {
			dy := p.from[((f+q)*2+part)*in+m0*batch:]
			dx := p.to[((f+q)*2+part)*out+c0*batch:]
			asm.SliceRight(right, dy, dy[s.Targets()/2*batch:], batch, nm, batch)
			ahead := [2][]float32{after(dy, in), after(dx, out)}
			asm.GemmSlices(nc, batch, nm, left, right, parts(dx, p.targets.count*batch), batch, m0 > 0, ahead)
		}
	}
}

// pairedGradient is gradient for paired elements: the gradient of the real kernel
// is the real part of dy^ x^*.
type pairedGradient struct {
	*lattice
	discs
	shape *Shape
	band
	cpu        *tensor.CPU
	dy         []float32 // [f, part, kind, (o,i), batch]
	x          []float32 // as panels say
	panels     panels
	dslots     []float32 // as layout says
	column     int       // (j,c) of a kind that x begins with
	accumulate bool

	layout    slotBlocks
	size      blockSizes
	splits    bool
	rowBlocks int
}

var _ tensor.Task = (*pairedGradient)(nil)

func (g *pairedGradient) run() {
	s := g.shape
	g.splits = slicesProducts(s)
	g.size = g.blockSizesOf(s)
	g.layout, g.rowBlocks = slotBlocksOf(s), gradientBlocks(s.Out*s.rendered(), &g.size, g.panels.blocks(), g.cpu.Team().Size())
	g.cpu.Team().For(g.rowBlocks*g.panels.blocks(), 1, g)
}

// Do computes the items lo <= item < hi.
func (g *pairedGradient) Do(lo, hi, worker int) {
	local := pieces{g.cpu.Workspace(worker)}
	units, most := g.band.gradientUnits(&g.size)
	count := blocksOf(units, most)
	for item := lo; item < hi; item++ {
		m0, m1 := shareWhole(g.shape.Out*g.shape.rendered(), g.rowBlocks, item%g.rowBlocks, g.size.unit)
		for i := range count {
			u0, u1 := share(units, count, i)
			f0, f1 := g.band.at(u0, &g.size), g.band.at(u1, &g.size)
			g.block(f0, f1-f0, m0, m1-m0, item/g.rowBlocks, local, g.accumulate || i > 0)
		}
	}
}

// block adds the share of nf frequencies from f on to rows m0.. of one block of
// columns.
func (g *pairedGradient) block(f, nf, m0, nm, block int, local pieces, accumulate bool) {
	s := g.shape
	batch := s.B
	c0, nc := g.panels.block(block)
	ld := columns(nc)
	size, plane := blockSize(nm, ld), planeSize(s.Targets(), batch)
	k := local.cut(4 * nf * size)
	x := g.x[f*g.panels.size()+g.panels.at(0, c0):]
	dy := g.dy[f*2*plane+m0*batch:]
	if g.splits {
		g.productsSliced(k, nf, nm, nc, ld, dy, plane, x, local)
	} else {
		g.products(k, nf, nm, nc, ld, dy, plane, x)
	}
	f += g.first
	first := g.column + c0
	for m := range nm {
		even := g.evenSlots(m0 + m)
		for c := 0; c < nc; {
			slots, lds, n := g.layout.piece(g.dslots, m0+m, first+c, first+nc)
			k := k[m*ld+c:]
			var ahead []float32
			if m+1 < nm && !g.splits {
				ahead = slots[g.layout.row(first+c):]
			}
			grad := func(kind, re, im, front int) {
				at := kind * g.layout.taps * lds
				g.slotsGrad(&g.size, f, nf, n, even, front, k[re*size:], k[im*size:], 4*size, slots[at:], lds, accumulate, after(ahead, at))
			}
			grad(0, 0, 2, 0)
			grad(1, 3, 1, 1)
			c += n
		}
	}
}

// products computes the four blocks of the real kernel's gradient, for each of nf
// frequencies, of nm rows of each kind of dy^, whose planes are a distance apart,
// and nc columns of each kind of x^.
func (g *pairedGradient) products(k []float32, nf, nm, nc, ld int, dy []float32, plane int, x []float32) {
	batch, size := g.shape.B, blockSize(nm, ld)
	distance := g.panels.distance()
	part, wide := g.panels.part(), blocksOf(nc, g.panels.nr)*distance
	for q := range nf {
		for rows := range 2 {
			y := dy[q*2*plane+rows*g.shape.Targets()/2*batch:]
			re, im := k[(q*4+rows*2)*size:], k[(q*4+rows*2+1)*size:]
			for of := range 2 {
				x, y := x[q*g.panels.size()+of*part:], y[of*plane:]
				ahead := [4][]float32{first(after(y, 2*plane), nm*batch)}
				if rows == 0 {
					next := after(x, g.panels.size())
					ahead[1], ahead[2] = first(next, wide), first(after(next, g.panels.at(1, 0)), wide)
				}
				asm.GemmTwinPanelsNN(nm, nc, batch, y, batch, x, x[g.panels.at(1, 0):], distance, re, im, ld, of > 0, ahead)
			}
		}
	}
}

// productsSliced is products by sliced matrices.
func (g *pairedGradient) productsSliced(k []float32, nf, nm, nc, ld int, dy []float32, plane int, x []float32, local pieces) {
	batch, size := g.shape.B, blockSize(nm, ld)
	left := slicedRows(&local, nm, batch)
	for q := range nf {
		for rows := range left {
			y := dy[q*2*plane+rows*g.shape.Targets()/2*batch:]
			asm.SliceLeft(left[rows], y, y[plane:], batch, nm, batch)
		}
		for cols := range 2 {
			x := x[q*g.panels.size()+g.panels.at(cols, 0):]
			y := dy[(q*2*plane + cols*g.shape.Targets()/2*batch):]
			block := k[(q*4+cols)*size:]
			for c := 0; c < nc; c += splitTile {
				n, right := min(splitTile, nc-c), x[g.panels.at(0, c):]
				ahead := [2][]float32{after(right, g.panels.size()), after(y, 2*plane+c*batch)}
				asm.GemmSlices(nm, n, batch, left, right, parts(block[c:], 2*size), ld, false, ahead)
			}
		}
	}
}
