package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// product multiplies the spectrum of the kernel with that of a map for every frequency of a band,
//
//	y^ = K x^,   dx^ = conj(K)' y^
//
// by complex matrices or, where the level has a matrix unit, by sliced ones.
//
// An item is a block of frequencies and one of rows of the result. The kernel's
// spectrum is made for one block of the summation index after the other, [f, part, (o,i), (j,c)], and
// multiplied at once.
type product struct {
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

func (p *product) run() {
	s := p.shape
	p.layout = slotBlocksOf(s)
	p.splits = slicesProducts(s)
	p.size = p.productSizes(p.lattice, s)
	if p.adjoint {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.adjointColumns), blocksOf(s.Targets(), p.size.adjointRows)
	} else {
		p.blocks, p.steps = blocksOf(p.targets.count, p.size.rows), blocksOf(s.Sources(), p.size.columns)
	}
	p.fblocks = p.band.frequencyBlocks(&p.size, p.blocks, p.kept.workers(p.cpu))
	p.cpu.Team().For(p.fblocks*p.blocks, 1, p)
}

// Do computes the items lo <= item < hi, the blocks of rows one after another
// for each block of frequencies.
func (p *product) Do(lo, hi, worker int) {
	s := p.shape
	local := pieces{p.cpu.Workspace(worker)}
	for item := lo; item < hi; item++ {
		f0, f1 := p.band.frequencies(p.fblocks, item/p.blocks, &p.size)
		for step := range p.steps {
			if p.adjoint {
				c0, c1 := shareWhole(p.targets.count, p.blocks, item%p.blocks, p.size.unit)
				m0, m1 := shareWhole(s.Targets(), p.steps, step, p.size.unit)
				if p.splits {
					p.backwardSliced(f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
				} else {
					p.backward(f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
				}
			} else {
				m0, m1 := shareWhole(p.targets.count, p.blocks, item%p.blocks, p.size.unit)
				c0, c1 := shareWhole(s.Sources(), p.steps, step, p.size.unit)
				k := p.kept.block(item*p.steps + step)
				switch {
				case p.kept.fill:
					p.spectrum(k, f0, f1-f0, p.targets.first+m0, m1-m0, c0, c1-c0, columns(c1-c0), p.conjugate())
				case p.splits:
					p.forwardSliced(k, f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
				default:
					p.forward(k, f0, f1-f0, m0, m1-m0, c0, c1-c0, local)
				}
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

// spectrum makes real and imaginary part of the kernel's spectrum for nf frequencies from f on,
// rows m0.. and columns c0.. of the whole kernel, with leading dimension ld: a plane each, conjugate = 1 for those
// of the conjugate spectrum.
func (p *product) spectrum(k []float32, f, nf, m0, nm, c0, nc, ld, conjugate int) {
	size := blockSize(nm, ld)
	if p.spectra != nil {
		p.spectra.write(k, 0, f+p.first, m0, nm, c0, nc, ld, size, conjugate == 1)
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
			p.transformSlots(&p.size, f+p.first, nf, n, p.evenSlots(m0+m), conjugate, slots, lds, k, k[size:], 2*size, ahead)
			c += n
		}
	}
}

// forward adds what the columns c0.. of the kernel contribute to rows m0.. of the targets
// y^. k is their spectrum or nil.
func (p *product) forward(k []float32, f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch := s.B
	ld := columns(nc)
	size := blockSize(nm, ld)
	if k == nil {
		k = local.cut(2 * nf * size)
		p.spectrum(k, f, nf, p.targets.first+m0, nm, c0, nc, ld, 0)
	}
	spare := local.cut(asm.ComplexSpare)
	in, out := planeSize(s.Sources(), batch), planeSize(p.targets.count, batch)
	for q := range nf {
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		x, y := p.from[(f+q)*2*in+c0*batch:], p.to[(f+q)*2*out+m0*batch:]
		if p.selfConjugate[p.first+f+q] {
			gemmNN(nm, batch, nc, kr, ld, x, batch, y, batch, c0 > 0)
			clear(y[out:][:nm*batch])
		} else {
			asm.GemmComplexNN(nm, batch, nc, kr, ki, ld, x, x[in:], batch, y, y[out:], batch, c0 > 0, nextOperands(x, in, nc*batch, y, out, nm*batch), spare)
		}
		if p.first+f+q == 0 && c0 == 0 {
			p.addBias(y, m0, nm)
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

// addBias adds the biases to the real parts of rows m0.. at frequency zero: a
// constant is a spectrum that is zero but for that.
func (p *product) addBias(re []float32, m0, nm int) {
	if p.bias == nil {
		return
	}
	s := p.shape
	for m := range nm {
		row := re[m*s.B:][:s.B]
		asm.Affine(row, row, 1, p.bias[(p.targets.first+m0+m)/s.NOut]*float32(p.periodH*p.periodW))
	}
}

// backward adds what the rows m0.. of the kernel contribute to rows c0.. of the targets
// dx^.
func (p *product) backward(f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch := s.B
	ld := columns(nc)
	size := blockSize(nm, ld)
	k := local.cut(2 * nf * size)
	p.spectrum(k, f, nf, m0, nm, p.targets.first+c0, nc, ld, 1)
	spare := local.cut(asm.ComplexSpare)
	in, out := planeSize(s.Targets(), batch), planeSize(p.targets.count, batch)
	for q := range nf {
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		dy, dx := p.from[(f+q)*2*in+m0*batch:], p.to[(f+q)*2*out+c0*batch:]
		if p.selfConjugate[p.first+f+q] {
			gemmTN(nc, batch, nm, kr, ld, dy, batch, dx, batch, m0 > 0)
			clear(dx[out:][:nc*batch])
			continue
		}
		asm.GemmComplexTN(nc, batch, nm, kr, ki, ld, dy, dy[in:], batch, dx, dx[out:], batch, m0 > 0, nextOperands(dy, in, nm*batch, dx, out, nc*batch), spare)
	}
}

// forwardSliced is forward by sliced matrices; the kernel's spectrum is conjugate.
func (p *product) forwardSliced(k []float32, f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch := s.B
	ld := columns(nc)
	size := blockSize(nm, ld)
	slab := p.size.slab
	left, right := slicedOperands(&local, nm, batch, slab)
	if k == nil {
		k = local.cut(2 * p.written(nf) * size)
		p.spectrum(k, f, nf, p.targets.first+m0, nm, c0, nc, ld, 1)
	}
	in, out := planeSize(s.Sources(), batch), planeSize(p.targets.count, batch)
	for q := range nf {
		kr, ki := k[2*q*size:], k[(2*q+1)*size:]
		x := p.from[(f+q)*2*in+c0*batch:]
		y := p.to[(f+q)*2*out+m0*batch:]
		for c := 0; c < nc; c += slab {
			n := min(slab, nc-c)
			asm.SliceLeftConjugate(left[0], left[1], kr[c:], ki[c:], ld, nm, n)
			ahead := p.aheadOf(x, in, nc, y, out, batch, nm, c)
			if p.slices != nil { // the next ones follow, and y is fetched a part at a time
				right = p.slices[mapSlicesAt(s, f+q, c0+c):]
				ahead = [2][]float32{after(right, asm.SliceSize(batch, n)), after(y, 2*out+min(c, 1)*out)}
			} else {
				asm.SliceRight(right, x[c*batch:], x[in+c*batch:], batch, n, batch)
			}
			asm.GemmSlices(nm, batch, n, left, right, parts(y, out), batch, c0+c > 0, ahead)
		}
		if p.first+f+q == 0 && c0 == 0 {
			p.addBias(y, m0, nm)
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
func (p *product) backwardSliced(f, nf, m0, nm, c0, nc int, local pieces) {
	s := p.shape
	batch := s.B
	slab := p.size.slab
	ld, ldt := columns(nc), columns(slab)
	size := blockSize(nm, ld)
	left, right := slicedOperands(&local, nc, batch, slab)
	turned := [2][]float32{local.cut(nc * ldt), local.cut(nc * ldt)}
	k := local.cut(2 * p.written(nf) * size)
	p.spectrum(k, f, nf, m0, nm, p.targets.first+c0, nc, ld, 0)
	in, out := planeSize(s.Targets(), batch), planeSize(p.targets.count, batch)
	for q := range nf {
		dy := p.from[(f+q)*2*in+m0*batch:]
		dx := p.to[(f+q)*2*out+c0*batch:]
		for m := 0; m < nm; m += slab {
			n := min(slab, nm-m)
			for part := range turned {
				asm.Transpose(turned[part], ldt, k[(2*q+part)*size+m*ld:], ld, n, nc)
			}
			asm.SliceLeftConjugate(left[0], left[1], turned[0], turned[1], ldt, nc, n)
			asm.SliceRight(right, dy[m*batch:], dy[in+m*batch:], batch, n, batch)
			asm.GemmSlices(nc, batch, n, left, right, parts(dx, out), batch, m0+m > 0, p.aheadOf(dy, in, nm, dx, out, batch, nc, m))
		}
	}
}
