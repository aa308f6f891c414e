package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// product multiplies the spectrum of the kernel, K = kr + i*ki, with that of a
// map for every frequency of a band, in three real products (Gauss):
//
//	y^   t = (kr+ki) xr,   re = t - ki (xr+xi),   im = t + kr (xi-xr)
//	dx^  t = (kr-ki)'yr,   re = t + ki'(yr+yi),   im = t + kr'(yi-yr)
//
// An item is a block of frequencies and one of rows of the result. The kernel's
// spectrum, its planes being the first factors above, is made for the item in
// the second-level cache: [f, plane, (o,i), (c,j)].
type product struct {
	*lattice
	shape *Shape
	band
	locals  [][]float32
	slots   []float32 // [(o,i), slot, (c,j)]
	bias    []float32 // [o] or nil
	from    []float32 // [f, plane, source, batch]
	to      []float32 // [f, part, target, batch]
	adjoint bool      // compute dx^ rather than y^

	fblocks, blocks int
}

var _ tensor.Task = (*product)(nil)

const (
	productRows    = 56 // most rows of y^ of an item
	productColumns = 64 // most rows of dx^ of an item
	productDepth   = 14 // most frequencies of an item
)

// blocks returns how many blocks of at most size n falls into.
func blocksOf(n, size int) int { return (n + size - 1) / size }

// cut returns the numbers of blocks of frequencies and of rows.
func (p *product) cut(count int) (fblocks, blocks int) {
	s := p.shape
	var each int // values for each frequency
	if p.adjoint {
		blocks = blocksOf(s.Sources(), productColumns)
		each = 3 * s.Targets() * columns(blocksOf(s.Sources(), blocks))
	} else {
		blocks = blocksOf(s.Targets(), productRows)
		each = 3 * blocksOf(s.Targets(), blocks) * columns(s.Sources())
	}
	return blocksOf(count, max(1, min(productDepth, localValues/each))), blocks
}

// productLocal returns the size of a worker's memory.
func (l *lattice) productLocal(s *Shape) int {
	return max(localValues, 3*productRows*columns(s.Sources()), 3*s.Targets()*columns(productColumns))
}

func (p *product) run(team *tensor.Team) {
	p.fblocks, p.blocks = p.cut(p.band.count)
	team.For(p.fblocks*p.blocks, 1, p)
}

// Do computes the items lo <= item < hi, the blocks of rows one after another
// for each block of frequencies.
func (p *product) Do(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		f0, f1 := share(p.band.count, p.fblocks, item/p.blocks)
		if p.adjoint {
			c0, c1 := share(p.shape.Sources(), p.blocks, item%p.blocks)
			p.backward(f0, f1-f0, c0, c1-c0, p.locals[worker])
		} else {
			m0, m1 := share(p.shape.Targets(), p.blocks, item%p.blocks)
			p.forward(f0, f1-f0, m0, m1-m0, p.locals[worker])
		}
	}
}

// spectrum makes the planes of the kernel's spectrum for nf frequencies from f
// on, rows m0.. and columns c0.., with leading dimension ld.
func (p *product) spectrum(k []float32, f, nf, m0, nm, c0, nc, ld int, sine []float32) {
	even := p.pairs + 1
	f += p.first
	row := columns(p.shape.Sources())
	size := nm * ld
	for m := range nm {
		slots := p.slots[(m0+m)*len(p.shape.Offsets)*row+c0:]
		gemmNN(nf, nc, even, p.cos[f*even:], even, slots, row, k[2*size+m*ld:], 3*size, false)
		gemmNN(nf, nc, p.pairs, sine[f*p.pairs:], p.pairs, slots[even*row:], row, k[size+m*ld:], 3*size, false)
	}
	for q := range nf {
		k := k[q*3*size:]
		asm.Sub(k[:size], k[2*size:3*size], k[size:2*size])
	}
}

func (p *product) forward(f, nf, m0, nm int, k []float32) {
	s := p.shape
	sources, batch := s.Sources(), s.B
	ld := columns(sources)
	p.spectrum(k, f, nf, m0, nm, 0, sources, ld, p.minusSin)
	size, in, out := nm*ld, planeSize(sources, batch), planeSize(s.Targets(), batch)
	for q := f; q < f+nf; q++ {
		x := p.from[q*3*in:]
		re := p.to[q*2*out+m0*batch:][:nm*batch]
		im := p.to[q*2*out+out+m0*batch:][:nm*batch]
		gemmNN(nm, batch, sources, k, ld, x, batch, re, batch, false)
		copy(im, re)
		gemmNN(nm, batch, sources, k[size:], ld, x[in:], batch, re, batch, true)
		gemmNN(nm, batch, sources, k[2*size:], ld, x[2*in:], batch, im, batch, true)
		if p.first+q == 0 && p.bias != nil {
			// A constant is a spectrum that is zero but for frequency zero.
			for m := range nm {
				row := re[m*batch:][:batch]
				asm.Affine(row, row, 1, p.bias[(m0+m)/s.NOut]*float32(p.periodH*p.periodW))
			}
		}
		k = k[min(len(k), 3*size):]
	}
}

func (p *product) backward(f, nf, c0, nc int, k []float32) {
	s := p.shape
	targets, batch := s.Targets(), s.B
	ld := columns(nc)
	p.spectrum(k, f, nf, 0, targets, c0, nc, ld, p.sin)
	size, in, out := targets*ld, planeSize(targets, batch), planeSize(s.Sources(), batch)
	for q := f; q < f+nf; q++ {
		y := p.from[q*3*in:]
		re := p.to[q*2*out+c0*batch:][:nc*batch]
		im := p.to[q*2*out+out+c0*batch:][:nc*batch]
		gemmTN(nc, batch, targets, k, ld, y, batch, re, batch, false)
		copy(im, re)
		gemmTN(nc, batch, targets, k[size:], ld, y[in:], batch, re, batch, true)
		gemmTN(nc, batch, targets, k[2*size:], ld, y[2*in:], batch, im, batch, true)
		k = k[min(len(k), 3*size):]
	}
}
