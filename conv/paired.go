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

// pairedProduct is product for paired elements. Rows (o,i), or columns (j,c), of the first half go
// with those of the second: the real kernel is made for them as [f, kind, (o,i), kind, (j,c)], and sources
// and targets are kind by kind.
type pairedProduct struct{ bandProducts }

var _ tensor.Task = (*pairedProduct)(nil)

func (p *pairedProduct) run() { p.cpu.Team().For(p.begin(), 1, p) }

// Do computes the items lo <= item < hi.
func (p *pairedProduct) Do(lo, hi, worker int) {
	local := pieces{p.cpu.Workspace(worker)}
	for item := lo; item < hi; item++ {
		for step := range p.steps {
			of := p.patch(item, step)
			switch k := p.kept.block(item*p.steps + step); {
			case p.adjoint:
				p.backward(of, local)
			case p.kept.fill:
				p.spectrum(k, of)
			default:
				p.forward(k, of, local)
			}
		}
	}
}

// spectrum makes the real kernel, each block [(o,i), (j,c)] with leading dimension columns(of.columns.count).
func (p *pairedProduct) spectrum(k []float32, of patch) {
	of = p.ofKernel(of)
	f, m, c := of.f.first+p.first, of.rows, of.columns
	ld := columns(c.count)
	block := blockSize(m.count, ld)
	if p.spectra != nil {
		p.spectra.write(k, 0, f, m.first, m.count, c.first, c.count, ld, 2*block, true)
		p.spectra.write(k[block:], 1, f, m.first, m.count, c.first, c.count, ld, 2*block, false)
		return
	}
	for row := range m.count {
		for at := 0; at < c.count; {
			slots, lds, n := p.layout.piece(p.slots, m.first+row, c.first+at, c.first+c.count)
			var ahead []float32
			if row+1 < m.count && !p.splits {
				ahead = slots[p.layout.row(c.first+at):]
			}
			k := k[row*ld+at:]
			transform := func(kind, conjugate, re, im int) {
				at := kind * p.layout.taps * lds
				p.transformSlots(&p.size, f, of.f.count, n, p.evenSlots(m.first+row), conjugate, slots[at:], lds, k[re*block:], k[im*block:], 4*block, after(ahead, at))
			}
			transform(0, 1, 0, 2)
			transform(1, 0, 3, 1)
			at += n
		}
	}
}

// forward adds what the columns contribute to the targets y^, the rows. k is their spectrum or nil.
func (p *pairedProduct) forward(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld := columns(c.count)
	in, out := planeSize(p.shape.Sources(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(m.count, ld)
	if k == nil {
		k = local.cut(4 * p.written(of.f.count) * block)
		p.spectrum(k, of)
	}
	if p.splits {
		p.forwardSliced(k, of, local)
		return
	}
	for q := range of.f.count {
		f := of.f.first + q
		x, y := p.from[f*2*in+c.first*batch:], p.to[f*2*out+m.first*batch:]
		for rows := range 2 {
			y := y[rows*p.targets.count*batch:]
			for cols := range 2 {
				k, x := k[(q*4+rows*2+cols)*block:], x[cols*p.layout.width*batch:]
				ahead := nextOperands(x, in, c.count*batch, y, out, m.count*batch)
				asm.GemmTwinNN(m.count, batch, c.count, k, ld, x, x[in:], batch, y, y[out:], batch, c.first > 0 || cols > 0, quarter(ahead, rows, cols))
			}
		}
		if p.first+f == 0 && c.first == 0 {
			p.addBias(y, m)
		}
	}
}

// forwardSliced is forward by sliced matrices, given the kernel.
func (p *pairedProduct) forwardSliced(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld := columns(c.count)
	in, out := planeSize(p.shape.Sources(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(m.count, ld)
	left, right := slicedOperands(&local, m.count, batch, c.count)
	for q := range of.f.count {
		f := of.f.first + q
		for kind := range left {
			k := k[(q*4+kind*2)*block:]
			asm.SliceLeft(left[kind], k, k[block:], ld, m.count, c.count)
		}
		for part := range 2 {
			x := p.from[(f*2+part)*in+c.first*batch:]
			y := p.to[(f*2+part)*out+m.first*batch:]
			asm.SliceRight(right, x, x[p.layout.width*batch:], batch, c.count, batch)
			ahead := [2][]float32{after(x, in), after(y, out)}
			asm.GemmSlices(m.count, batch, c.count, left, right, parts(y, p.targets.count*batch), batch, c.first > 0, ahead)
		}
		if p.first+f == 0 && c.first == 0 {
			p.addBias(p.to[f*2*out+m.first*batch:], m)
		}
	}
}

// backward adds what the rows contribute to the targets dx^, the columns.
func (p *pairedProduct) backward(of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld := columns(c.count)
	in, out := planeSize(p.shape.Targets(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(m.count, ld)
	k := local.cut(4 * p.written(of.f.count) * block)
	p.spectrum(k, of)
	if p.splits {
		p.backwardSliced(k, of, local)
		return
	}
	for q := range of.f.count {
		f := of.f.first + q
		dy, dx := p.from[f*2*in+m.first*batch:], p.to[f*2*out+c.first*batch:]
		for cols := range 2 {
			dx := dx[cols*p.targets.count*batch:]
			for rows := range 2 {
				k, dy := k[(q*4+rows*2+cols)*block:], dy[rows*p.layout.rows*batch:]
				ahead := nextOperands(dy, in, m.count*batch, dx, out, c.count*batch)
				asm.GemmTwinTN(c.count, batch, m.count, k, ld, dy, dy[in:], batch, dx, dx[out:], batch, m.first > 0 || rows > 0, quarter(ahead, cols, rows))
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
func (p *pairedProduct) backwardSliced(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld, ldt := columns(c.count), columns(m.count)
	in, out := planeSize(p.shape.Targets(), batch), planeSize(2*p.targets.count, batch)
	block := blockSize(m.count, ld)
	left, right := slicedOperands(&local, c.count, batch, m.count)
	turned := [2][]float32{local.cut(c.count * ldt), local.cut(c.count * ldt)}
	for q := range of.f.count {
		f := of.f.first + q
		for kind := range left {
			k := k[(q*4+kind)*block:]
			for row := range turned {
				asm.Transpose(turned[row], ldt, k[2*row*block:], ld, m.count, c.count)
			}
			asm.SliceLeft(left[kind], turned[0], turned[1], ldt, c.count, m.count)
		}
		for part := range 2 {
			dy := p.from[(f*2+part)*in+m.first*batch:]
			dx := p.to[(f*2+part)*out+c.first*batch:]
			asm.SliceRight(right, dy, dy[p.layout.rows*batch:], batch, m.count, batch)
			ahead := [2][]float32{after(dy, in), after(dx, out)}
			asm.GemmSlices(c.count, batch, m.count, left, right, parts(dx, p.targets.count*batch), batch, m.first > 0, ahead)
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
	g.splits = slicesGradient(s)
	g.size = g.gradientSizesOf(s)
	g.layout, g.rowBlocks = slotBlocksOf(s), gradientBlocks(s.Out*s.rendered(), &g.size, g.panels.blocks(), g.cpu.Team().Size())
	g.cpu.Team().For(g.rowBlocks*g.panels.blocks(), 1, g)
}

// Do computes the items lo <= item < hi.
func (g *pairedGradient) Do(lo, hi, worker int) {
	local := pieces{g.cpu.Workspace(worker)}
	units, most := g.band.gradientUnits(&g.size)
	count := blocksOf(units, most)
	for item := lo; item < hi; item++ {
		of := patch{rows: shareSpan(g.layout.rows, g.rowBlocks, item%g.rowBlocks, g.size.unit), columns: g.panels.block(item / g.rowBlocks)}
		for i := range count {
			u0, u1 := share(units, count, i)
			of.f = g.band.between(u0, u1, &g.size)
			g.block(of, local, g.accumulate || i > 0)
		}
	}
}

// block adds the share of some frequencies to rows and columns of dslots.
func (g *pairedGradient) block(of patch, local pieces, accumulate bool) {
	m, c, first := of.rows, of.columns, g.column+of.columns.first
	ld := columns(c.count)
	size := blockSize(m.count, ld)
	k := local.cut(4 * of.f.count * size)
	if g.splits {
		g.productsSliced(k, of, local)
	} else {
		g.products(k, of)
	}
	for row := range m.count {
		even := g.evenSlots(m.first + row)
		for at := 0; at < c.count; {
			slots, lds, n := g.layout.piece(g.dslots, m.first+row, first+at, first+c.count)
			k := k[row*ld+at:]
			var ahead []float32
			if row+1 < m.count && !g.splits {
				ahead = slots[g.layout.row(first+at):]
			}
			grad := func(kind, re, im, front int) {
				at := kind * g.layout.taps * lds
				g.slotsGrad(&g.size, of.f.first+g.first, of.f.count, n, even, front, k[re*size:], k[im*size:], 4*size, slots[at:], lds, accumulate, after(ahead, at))
			}
			grad(0, 0, 2, 0)
			grad(1, 3, 1, 1)
			at += n
		}
	}
}

// products computes the four blocks of the real kernel's gradient of a patch, for each frequency, from its rows
// of each kind of dy^ and its columns of each kind of x^.
func (g *pairedGradient) products(k []float32, of patch) {
	m, c, batch := of.rows, of.columns, g.shape.B
	ld, plane := columns(c.count), planeSize(g.shape.Targets(), g.shape.B)
	size, distance := blockSize(m.count, ld), g.panels.distance()
	part, wide := g.panels.part(), blocksOf(c.count, g.panels.nr)*distance
	for q := range of.f.count {
		f := of.f.first + q
		x, dy := g.x[f*g.panels.size()+g.panels.at(0, c.first):], g.dy[f*2*plane+m.first*batch:]
		for rows := range 2 {
			y := dy[rows*g.layout.rows*batch:]
			re, im := k[(q*4+rows*2)*size:], k[(q*4+rows*2+1)*size:]
			for i := range 2 {
				x, y := x[i*part:], y[i*plane:]
				ahead := [4][]float32{first(after(y, 2*plane), m.count*batch)}
				if rows == 0 {
					next := after(x, g.panels.size())
					ahead[1], ahead[2] = first(next, wide), first(after(next, g.panels.at(1, 0)), wide)
				}
				asm.GemmTwinPanelsNN(m.count, c.count, batch, y, batch, x, x[g.panels.at(1, 0):], distance, re, im, ld, i > 0, ahead)
			}
		}
	}
}

// productsSliced is products by sliced matrices.
func (g *pairedGradient) productsSliced(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, g.shape.B
	ld, plane := columns(c.count), planeSize(g.shape.Targets(), g.shape.B)
	size := blockSize(m.count, ld)
	left := slicedRows(&local, m.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		dy := g.dy[f*2*plane+m.first*batch:]
		for rows := range left {
			y := dy[rows*g.layout.rows*batch:]
			asm.SliceLeft(left[rows], y, y[plane:], batch, m.count, batch)
		}
		for cols := range 2 {
			x, y := g.x[f*g.panels.size()+g.panels.at(0, c.first):][g.panels.at(cols, 0):], dy[cols*g.layout.rows*batch:]
			block := k[(q*4+cols)*size:]
			for at := 0; at < c.count; at += splitTile {
				n, right := min(splitTile, c.count-at), x[g.panels.at(0, at):]
				ahead := [2][]float32{after(right, g.panels.size()), after(y, 2*plane+at*batch)}
				asm.GemmSlices(m.count, n, batch, left, right, parts(block[at:], 2*size), ld, false, ahead)
			}
		}
	}
}
