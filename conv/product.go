package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// bandProducts are those of the spectrum of the kernel with that of a map for every frequency of a band,
//
//	y^ = K x^,   dx^ = conj(K)' y^
//
// An item is a block of frequencies and one of rows of the result. The kernel's
// spectrum is made for one block of the summation index after the other, [f, part, (o,i), (j,c)], and
// multiplied at once. With paired elements (paired.go) rows and columns are those of a kind.
type bandProducts struct {
	*lattice
	discs
	shape *Shape
	band
	cpu *tensor.CPU
	productArgs

	layout                 slotBlocks
	splits                 bool
	size                   blockSizes
	fblocks, blocks, steps int // frequencies, rows, summation index
}

// product multiplies complex matrices or, where the level has a matrix unit, sliced ones.
type product struct{ bandProducts }

// productArgs are what a product multiplies.
type productArgs struct {
	slots   []float32      // of the kernel, as slotBlocks says
	spectra *kernelSpectra // that make the kernel's without slots, or nil
	kept    keptSpectrum
	bias    []float32 // [o] or nil
	from    []float32 // [f, part, source, batch]
	slices  []float32 // of it, as mapSlices has them, or nil
	to      []float32 // [f, part, target, batch], of a share of the targets
	targets span      // rows (o,i), or columns (j,c), of a kind
	adjoint bool      // compute dx^ rather than y^
}

var _ tensor.Task = (*product)(nil)

// productSizes returns the sizes of blocks.
func (p *productArgs) productSizes(l *lattice, s *Shape) blockSizes {
	b := l.blockSizesOf(s)
	if p.spectra != nil {
		b.frequencies = spectraTogether
	}
	return b
}

// written returns how many frequencies of the kernel's spectrum are written for nf.
func (p *productArgs) written(nf int) int {
	if p.spectra != nil {
		return spectraTogether
	}
	return nf
}

// blocksOf returns how many blocks of at most size n falls into.
func blocksOf(n, size int) int { return (n + size - 1) / size }

// productLocal returns the size of a worker's memory: the kernel's block, and
// operands sliced or what complex products need.
func (l *lattice) productLocal(s *Shape) int {
	most := 0
	for _, b := range l.blockSizesOfAny() {
		kernel := b.frequencies * b.planes * max(blockSize(b.rows, columns(b.columns)), blockSize(b.adjointRows, columns(b.adjointColumns)))
		operands := asm.ComplexSpare
		if b.slab > 0 {
			operands = slicedLocal(max(b.rows, b.adjointColumns), s.B, b.slab) + 2*b.adjointColumns*columns(b.slab)
		}
		most = max(most, kernel+operands)
	}
	return most + 6*skew
}

// patch is a part of the kernel that is multiplied at once: frequencies of the band, rows (o,i) and columns
// (j,c). Those that are targets are counted from the first one of productArgs.targets.
type patch struct{ f, rows, columns span }

// begin cuts the products into items, and returns their number.
func (p *bandProducts) begin() (items int) {
	p.layout = slotBlocksOf(p.shape)
	p.splits = slicesProducts(p.shape)
	p.size = p.productSizes(p.lattice, p.shape)
	if p.adjoint {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.adjointColumns), blocksOf(p.layout.rows, p.size.adjointRows)
	} else {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.rows), blocksOf(p.layout.width, p.size.columns)
	}
	p.fblocks = p.band.frequencyBlocks(&p.size, p.blocks, p.kept.workers(p.cpu))
	return p.fblocks * p.blocks
}

// patch returns what an item multiplies in a step.
func (p *bandProducts) patch(item, step int) patch {
	f := p.band.frequencies(p.fblocks, item/p.blocks, &p.size)
	targets := shareSpan(p.targets.count, p.blocks, item%p.blocks, p.size.unit)
	if p.adjoint {
		return patch{f, shareSpan(p.layout.rows, p.steps, step, p.size.unit), targets}
	}
	return patch{f, targets, shareSpan(p.layout.width, p.steps, step, p.size.unit)}
}

// ofKernel returns a patch with its targets counted from the first of the kernel.
func (p *bandProducts) ofKernel(of patch) patch {
	if p.adjoint {
		of.columns.first += p.targets.first
	} else {
		of.rows.first += p.targets.first
	}
	return of
}

func (p *product) run() { p.cpu.Team().For(p.begin(), 1, p) }

// Do computes the items lo <= item < hi, the blocks of rows one after another
// for each block of frequencies.
func (p *product) Do(lo, hi, worker int) {
	local := pieces{p.cpu.Workspace(worker)}
	for item := lo; item < hi; item++ {
		for step := range p.steps {
			of := p.patch(item, step)
			switch k := p.kept.block(item*p.steps + step); {
			case p.adjoint && p.splits:
				p.backwardSliced(of, local)
			case p.adjoint:
				p.backward(of, local)
			case p.kept.fill:
				p.spectrum(k, of, p.conjugate())
			case p.splits:
				p.forwardSliced(k, of, local)
			default:
				p.forward(k, of, local)
			}
		}
	}
}

// conjugate returns 1 where the spectrum is conjugate, forward: sliced products take that.
func (p *product) conjugate() int {
	if p.splits {
		return 1
	}
	return 0
}

// spectrum makes real and imaginary part of the kernel's spectrum, a plane each, with leading dimension
// columns(of.columns.count); with conjugate = 1, those of the conjugate spectrum.
func (p *product) spectrum(k []float32, of patch, conjugate int) {
	of = p.ofKernel(of)
	f, m, c := of.f.first+p.first, of.rows, of.columns
	ld := columns(c.count)
	size := blockSize(m.count, ld)
	if p.spectra != nil {
		p.spectra.write(k, 0, f, m.first, m.count, c.first, c.count, ld, size, conjugate == 1)
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
			p.transformSlots(&p.size, f, of.f.count, n, p.evenSlots(m.first+row), conjugate, slots, lds, k, k[size:], 2*size, ahead)
			at += n
		}
	}
}

// forward adds what the columns contribute to the targets y^, the rows. k is their spectrum or nil.
func (p *product) forward(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld := columns(c.count)
	size := blockSize(m.count, ld)
	if k == nil {
		k = local.cut(2 * of.f.count * size)
		p.spectrum(k, of, 0)
	}
	spare := local.cut(asm.ComplexSpare)
	in, out := planeSize(p.shape.Sources(), batch), planeSize(p.targets.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		x, y := p.from[f*2*in+c.first*batch:], p.to[f*2*out+m.first*batch:]
		if p.selfConjugate[p.first+f] {
			gemmNN(m.count, batch, c.count, kr, ld, x, batch, y, batch, c.first > 0)
			clear(y[out:][:m.count*batch])
		} else {
			ahead := nextOperands(x, in, c.count*batch, y, out, m.count*batch)
			asm.GemmComplexNN(m.count, batch, c.count, kr, ki, ld, x, x[in:], batch, y, y[out:], batch, c.first > 0, ahead, spare)
		}
		if p.first+f == 0 && c.first == 0 {
			p.addBias(y, m)
		}
	}
}

// nextOperands returns what to fetch during a complex product at one frequency: so many values of both
// parts of x and of y at the next, where there is one. Parts are a distance apart.
func nextOperands(x []float32, in, nx int, y []float32, out, ny int) [4][]float32 {
	return [4][]float32{first(after(x, 2*in), nx), first(after(x, 3*in), nx), first(after(y, 2*out), ny), first(after(y, 3*out), ny)}
}

// first returns the first n values of x, or all that it has.
func first(x []float32, n int) []float32 { return x[:min(n, len(x))] }

// addBias adds the biases to the real parts of some rows at frequency zero: a
// constant is a spectrum that is zero but for that.
func (p *bandProducts) addBias(re []float32, rows span) {
	if p.bias == nil {
		return
	}
	s := p.shape
	for m := range rows.count {
		row := re[m*s.B:][:s.B]
		asm.Affine(row, row, 1, p.bias[(p.targets.first+rows.first+m)/s.rendered()]*float32(p.periodH*p.periodW))
	}
}

// backward adds what the rows contribute to the targets dx^, the columns.
func (p *product) backward(of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld := columns(c.count)
	size := blockSize(m.count, ld)
	k := local.cut(2 * of.f.count * size)
	p.spectrum(k, of, 1)
	spare := local.cut(asm.ComplexSpare)
	in, out := planeSize(p.shape.Targets(), batch), planeSize(p.targets.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		dy, dx := p.from[f*2*in+m.first*batch:], p.to[f*2*out+c.first*batch:]
		if p.selfConjugate[p.first+f] {
			gemmTN(c.count, batch, m.count, kr, ld, dy, batch, dx, batch, m.first > 0)
			clear(dx[out:][:c.count*batch])
			continue
		}
		ahead := nextOperands(dy, in, m.count*batch, dx, out, c.count*batch)
		asm.GemmComplexTN(c.count, batch, m.count, kr, ki, ld, dy, dy[in:], batch, dx, dx[out:], batch, m.first > 0, ahead, spare)
	}
}

// forwardSliced is forward by sliced matrices; the kernel's spectrum is conjugate.
func (p *product) forwardSliced(k []float32, of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	ld, slab := columns(c.count), p.size.slab
	size := blockSize(m.count, ld)
	left, right := slicedOperands(&local, m.count, batch, slab)
	if k == nil {
		k = local.cut(2 * p.written(of.f.count) * size)
		p.spectrum(k, of, 1)
	}
	in, out := planeSize(p.shape.Sources(), batch), planeSize(p.targets.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		x, y := p.from[f*2*in+c.first*batch:], p.to[f*2*out+m.first*batch:]
		for at := 0; at < c.count; at += slab {
			n := min(slab, c.count-at)
			asm.SliceLeftConjugate(left[0], left[1], kr[at:], ki[at:], ld, m.count, n)
			ahead := p.aheadOf(x, in, c.count, y, out, batch, m.count, at)
			if p.slices != nil { // the next ones follow, and y is fetched a part at a time
				right = p.slices[mapSlicesAt(p.shape, f, c.first+at):]
				ahead = [2][]float32{after(right, asm.SliceSize(batch, n)), after(y, 2*out+min(at, 1)*out)}
			} else {
				asm.SliceRight(right, x[at*batch:], x[in+at*batch:], batch, n, batch)
			}
			asm.GemmSlices(m.count, batch, n, left, right, parts(y, out), batch, c.first+at > 0, ahead)
		}
		if p.first+f == 0 && c.first == 0 {
			p.addBias(y, m)
		}
	}
}

// aheadOf returns what to fetch during the product of m rows with the slab at c: the next
// frequency's operand x, of which there are n rows, and then the result y, both parts. A single slab
// stands for all of either, whose parts follow one another.
func (p *product) aheadOf(x []float32, in, n int, y []float32, out, batch, m, c int) [2][]float32 {
	if n <= p.size.slab {
		return [2][]float32{after(x, 2*in), after(y, 2*out)}
	}
	fetched := fetchedBySlices(m, batch, c)
	if fetched < n*batch {
		return parts(after(x, 2*in+fetched), in)
	}
	return parts(after(y, 2*out+fetched-n*batch), out)
}

// backwardSliced is backward by sliced matrices.
func (p *product) backwardSliced(of patch, local pieces) {
	m, c, batch := of.rows, of.columns, p.shape.B
	slab := p.size.slab
	ld, ldt := columns(c.count), columns(slab)
	size := blockSize(m.count, ld)
	left, right := slicedOperands(&local, c.count, batch, slab)
	turned := [2][]float32{local.cut(c.count * ldt), local.cut(c.count * ldt)}
	k := local.cut(2 * p.written(of.f.count) * size)
	p.spectrum(k, of, 0)
	in, out := planeSize(p.shape.Targets(), batch), planeSize(p.targets.count, batch)
	for q := range of.f.count {
		f := of.f.first + q
		dy, dx := p.from[f*2*in+m.first*batch:], p.to[f*2*out+c.first*batch:]
		for at := 0; at < m.count; at += slab {
			n := min(slab, m.count-at)
			for part := range turned {
				asm.Transpose(turned[part], ldt, k[(2*q+part)*size+at*ld:], ld, n, c.count)
			}
			asm.SliceLeftConjugate(left[0], left[1], turned[0], turned[1], ldt, c.count, n)
			asm.SliceRight(right, dy[at*batch:], dy[in+at*batch:], batch, n, batch)
			ahead := p.aheadOf(dy, in, m.count, dx, out, batch, c.count, at)
			asm.GemmSlices(c.count, batch, n, left, right, parts(dx, out), batch, m.first+at > 0, ahead)
		}
	}
}
