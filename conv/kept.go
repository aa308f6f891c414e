package conv

import "github.com/noether-go/noether/tensor"

// For inference the spectrum of a kernel can be kept from Prepare on (nn.Plan.KeepDerived):
// block by block, as a pass would make it. It is P^2/T times as large as the kernel, and takes
// its time to be read.

// keptSpectrum are the blocks of a kernel's spectrum for the frequencies of a band.
type keptSpectrum struct {
	values []float32 // nil where every pass makes its own
	size   int       // of a block
	fill   bool      // make the blocks, and nothing else
}

// workers returns how many workers blocks are for: one where they are those that are kept.
func (k *keptSpectrum) workers(cpu *tensor.CPU) int {
	if k.values != nil {
		return 1
	}
	return cpu.Team().Size()
}

// block returns the memory of block i, nil for none.
func (k *keptSpectrum) block(i int) []float32 {
	if k.values == nil {
		return nil
	}
	return k.values[i*k.size:][:k.size]
}

// cut takes the spectrum of a band off memory for several, nil for none.
func (k *keptSpectrum) cut(memory []float32, l *lattice, b band, s *Shape) (rest []float32) {
	if memory == nil {
		return nil
	}
	count, size := l.keptBlocks(b, s)
	k.values, k.size = memory[:count*size], size
	return memory[count*size:]
}

// keptBlocks returns the number of blocks of a kernel's spectrum for a band, and the size of the largest.
func (l *lattice) keptBlocks(of band, s *Shape) (count, size int) {
	b := l.blockSizesOf(s)
	kinds := kinds(elementsOf(s, s.NIn))
	rows, width := s.Targets()/kinds, s.Sources()/kinds
	count = of.frequencyBlocks(&b, 1, 1) * blocksOf(rows, b.rows) * blocksOf(width, b.columns)
	size = b.planes * min(b.frequencies, of.count) * blockSize(min(b.rows, rows), columns(min(b.columns, width)))
	return count, size
}

// keptSize returns the number of values that are kept for a shape.
func (p *frequency) keptSize(s *Shape) int {
	n, l := 0, p.lattice
	groups := p.forward(s).groups
	for g := 0; g < len(l.groups); g += groups {
		count, size := l.keptBlocks(l.band(g, groups), s)
		n += count * size
	}
	return n
}

// fill makes the spectra that are kept, given the slots.
func (p *frequency) fill(memory, slots []float32, s *Shape) {
	l := p.lattice
	groups := p.forward(s).groups
	for g := 0; g < len(l.groups); g += groups {
		b := l.band(g, groups)
		kept := keptSpectrum{fill: true}
		memory = kept.cut(memory, l, b, s)
		p.multiply(b, s, productArgs{slots: slots, kept: kept, targets: span{0, s.Out * s.rendered()}})
	}
	p.release()
}
