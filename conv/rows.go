package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// rows is the algorithm of the CPU for a few images in inference: it convolves
// rows (rowPass), with a kernel that is prepared in slots,
//
//	[block of targets, block of sources, slot, source, target] ,
//
// and whose spectrum is made anew for each pass, in registers or in the second-level cache: it is
// several times as large, and would have to come from memory.
//
// All sums have one order, so the bits do not depend on the number of threads.
type rows struct {
	*rowLattice
	cpu    *tensor.CPU
	team   *tensor.Team
	biased bool // the last Prepare had a bias

	shape       *Shape
	slots, bias []float32
	x, y        []float32 // the maps
	from, to    []float32 // [b, block of sources, plane, width, source], [b, block of targets, plane, outW, target]
	parts       int       // that the frequencies are cut into
	order       arrangement

	sourceBlocks, targetBlocks int
}

var _ Passes = (*rows)(nil)

func newRows(s *Shape) *rows { return &rows{rowLattice: newRowLattice(s)} }

const (
	// rowsTargets is the number of target planes in a block, the columns of the
	// widest register tile.
	rowsTargets = widestTile
	// rowsSources is the number of source planes in a block at most.
	rowsSources = 32
	// rowsUnit is what they are a multiple of, but for the last.
	rowsUnit = 16
)

// rowsPay reports whether rows are quicker in inference than taps and frequencies. Where a
// matrix unit takes sliced taps, those have few images.
func rowsPay(s *Shape) bool {
	if s.PerElement || !inFrequency(s) || s.Sources() < thickSources || s.OutH*s.OutW == 1 || slicesThinTaps(s) {
		return false
	}
	cost := newRowLattice(s).cost(s)
	return cost < tapsCost(s) && cost < newLattice(s).cost(s)
}

// Sizes returns the sizes of the slots, with the bias, and of the transformed
// maps. There is no Backward.
func (p *rows) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	if !inference {
		refuse("Sizes", "rows are convolved in inference alone")
	}
	planes := s.B * p.planes()
	return s.KernelSize() + s.Out, roundUp(planes*p.forward.width()*s.Sources()) + planes*p.outW*s.Targets()
}

// Bind names the CPU and the largest shape.
func (p *rows) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu, p.team = cpu, cpu.Team()
	n := rowsSources * rowsTargets
	maps := s.B * max(s.H*s.W*rowsSources, s.OutH*s.OutW*rowsTargets)
	spectrum := max(spectrumValues, 3*p.forward.kernelSize(n))
	prepare := rowsTargets*len(s.Offsets)*s.Sources() + len(s.Offsets)*n
	return cpu.ReserveWorkspace(max(maps, spectrum, prepare))
}

// setShape sets the blocks for a shape.
func (p *rows) setShape(s *Shape) {
	p.shape = s
	p.sourceBlocks, p.targetBlocks = blocksOf(s.Sources(), rowsSources), blocksOf(s.Targets(), rowsTargets)
}

// sourcesOf returns the sources of a block.
func (p *rows) sourcesOf(block int) (from, to int) {
	return shareWhole(p.shape.Sources(), p.sourceBlocks, block, rowsUnit)
}

// targetsOf returns the targets of a block.
func (p *rows) targetsOf(block int) (from, to int) {
	return shareWhole(p.shape.Targets(), p.targetBlocks, block, rowsTargets)
}

// slotsOf returns the slots of a block.
func (p *rows) slotsOf(m0, m1, n0 int) []float32 {
	return p.slots[(m0*p.shape.Sources()+n0*(m1-m0))*len(p.shape.Offsets):]
}

// Prepare folds a kernel.
func (p *rows) Prepare(prepared, kernel, bias, _ tensor.Buffer, s *Shape) {
	p.setShape(s)
	p.biased = !bias.IsZero()
	p.slots = prepared.Host()[:s.KernelSize()]
	if p.biased {
		copy(prepared.Host()[s.KernelSize():], bias.Host())
	}
	p.order = arrangement{shape: s, to: forForward, kernel: kernel.Host()}
	p.team.For(p.targetBlocks, 1, (*rowsPrepare)(p))
	p.order, p.slots = arrangement{}, nil
}

// rowsPrepare folds a kernel, item by item a block of targets.
type rowsPrepare rows

// Do folds the blocks lo <= block < hi.
func (t *rowsPrepare) Do(lo, hi, worker int) {
	p := (*rows)(t)
	taps, sources := len(p.shape.Offsets), p.shape.Sources()
	local := pieces{p.cpu.Workspace(worker)}
	kernel := local.cut(rowsTargets * taps * sources) // [target, (tap,source)]
	for block := lo; block < hi; block++ {
		m0, m1 := p.targetsOf(block)
		for m := m0; m < m1; m++ {
			p.order.row(kernel[(m-m0)*taps*sources:], m)
		}
		for part := range p.sourceBlocks {
			n0, n1 := p.sourcesOf(part)
			size := (n1 - n0) * (m1 - m0)
			turned := local.rest[:taps*size]
			for tap := range taps {
				asm.Transpose(turned[tap*size:], m1-m0, kernel[tap*sources+n0:], taps*sources, m1-m0, n1-n0)
			}
			gemmNN(taps, size, taps, p.unfold, taps, turned, size, p.slotsOf(m0, m1, n0), size, false)
		}
	}
}

// Forward computes y.
func (p *rows) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	p.setShape(s)
	p.slots, p.bias = prepared.Host()[:s.KernelSize()], prepared.Host()[s.KernelSize():]
	p.x, p.y = x.Host(), y.Host()
	from := s.B * p.planes() * p.forward.width() * s.Sources()
	p.from, p.to = scratch.Host()[:from], scratch.Host()[roundUp(from):]
	p.parts = forWorkers(p.team.Size(), 1, p.count, p.targetBlocks)
	p.team.For(p.sourceBlocks, 1, (*rowsAnalysis)(p))
	p.team.For(p.targetBlocks*p.parts, 1, (*rowsProduct)(p))
	p.team.For(p.targetBlocks, 1, (*rowsSynthesis)(p))
	p.shape, p.slots, p.bias, p.x, p.y, p.from, p.to = nil, nil, nil, nil, nil, nil, nil
}

// Backward panics: the layer is planned for inference.
func (p *rows) Backward(_, _, _, _, _, _, _ tensor.Buffer, _ *Shape, _ bool) {
	refuse("Backward", "rows are convolved in inference alone")
}

// fromOf returns the transformed sources from n0 on of image b.
func (p *rows) fromOf(b, n0 int) []float32 {
	return p.from[(b*p.shape.Sources()+n0)*p.planes()*p.forward.width():]
}

// toOf returns the transformed targets from m0 on of image b.
func (p *rows) toOf(b, m0 int) []float32 {
	return p.to[(b*p.shape.Targets()+m0)*p.planes()*p.outW:]
}

// rowsAnalysis transforms x, item by item a block of sources.
type rowsAnalysis rows

// Do transforms the blocks lo <= block < hi.
func (t *rowsAnalysis) Do(lo, hi, worker int) {
	p := (*rows)(t)
	batch, plane := p.shape.B, p.h*p.w
	images := p.cpu.Workspace(worker) // [b, row, col, source]
	for block := lo; block < hi; block++ {
		n0, n1 := p.sourcesOf(block)
		n := n1 - n0
		x := p.x[n0*plane*batch:]
		if batch == 1 {
			asm.Transpose(images, n, x, plane, n, plane)
		} else {
			for at := range plane {
				asm.Transpose(images[at*n:], plane*n, x[at*batch:], plane*batch, n, batch)
			}
		}
		for b := range batch {
			p.forward.analyse(p.fromOf(b, n0), images[b*plane*n:], n)
		}
	}
}

// rowsProduct multiplies, item by item a part of the frequencies and a block of
// targets.
type rowsProduct rows

// Do multiplies the items lo <= item < hi.
func (t *rowsProduct) Do(lo, hi, worker int) {
	p := (*rows)(t)
	spectrum := p.cpu.Workspace(worker)
	for item := lo; item < hi; item++ {
		m0, m1 := p.targetsOf(item / p.parts)
		first, end := share(p.count, p.parts, item%p.parts)
		for block := range p.sourceBlocks {
			n0, n1 := p.sourcesOf(block)
			n, m := n1-n0, m1-m0
			slots, ahead := p.slotsOf(m0, m1, n0), p.slotsBehind(item, block)
			if p.forward.fused() {
				for f := first; f < end; f++ {
					for b := range p.shape.B {
						ahead = p.forward.multiplyFused(p.toOf(b, m0), p.fromOf(b, n0), slots, f, n, m, block > 0, ahead)
					}
				}
				continue
			}
			for f0 := first; f0 < end; {
				f1 := min(end, f0+p.forward.together(f0, n*m))
				p.forward.spectrum(spectrum, slots, f0, f1, n*m)
				for b := range p.shape.B {
					for f := f0; f < f1; f++ {
						k := spectrum[(p.plane[f]-p.plane[f0])*p.forward.kernelSize(n*m):]
						ahead = p.forward.multiply(p.toOf(b, m0), p.fromOf(b, n0), k, f, n, m, block > 0, ahead)
					}
				}
				f0 = f1
			}
		}
	}
}

// slotsBehind returns the slots of the block that a worker takes next, most likely.
func (p *rows) slotsBehind(item, block int) []float32 {
	if block++; block == p.sourceBlocks {
		if item, block = item+1, 0; item == p.targetBlocks*p.parts {
			return nil
		}
	}
	m0, m1 := p.targetsOf(item / p.parts)
	n0, n1 := p.sourcesOf(block)
	return p.slotsOf(m0, m1, n0)[:(n1-n0)*(m1-m0)*len(p.shape.Offsets)]
}

// rowsSynthesis transforms to y, item by item a block of targets.
type rowsSynthesis rows

// Do transforms the blocks lo <= block < hi.
func (t *rowsSynthesis) Do(lo, hi, worker int) {
	p := (*rows)(t)
	batch, plane := p.shape.B, p.outH*p.outW
	images := p.cpu.Workspace(worker) // [b, row, col, target]
	for block := lo; block < hi; block++ {
		m0, m1 := p.targetsOf(block)
		m := m1 - m0
		for b := range batch {
			p.forward.synthesise(images[b*plane*m:], p.toOf(b, m0), m)
		}
		y := p.y[m0*plane*batch:]
		if batch == 1 {
			asm.Transpose(y, plane, images, m, plane, m)
		} else {
			for at := range plane {
				asm.Transpose(y[at*batch:], plane*batch, images[at*m:], plane*m, batch, m)
			}
		}
		if p.biased {
			for i := range m {
				channel := y[i*plane*batch:][:plane*batch]
				asm.Affine(channel, channel, 1, p.bias[(m0+i)/p.shape.NOut])
			}
		}
	}
}
