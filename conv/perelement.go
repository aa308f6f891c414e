package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// perElement is the algorithm of the CPU for a list of elements, and so a kernel,
// of its own for each image. It takes the images one by one, renders the kernel
// of one from its features in the second-level cache, and convolves its rows
// there (rowPass). No kernel outlives its image.
//
// The maps, batch innermost, are turned to images first and back at the end. Where
// asm.GaussPanel is quick it multiplies panels of 16 targets with blocks of sources;
// elsewhere there are products with the spectra of blocks of both. The gradients of the
// weights are summed over segments of the batch, and these in order.
type perElement struct {
	features int
	lattice  *rowLattice
	cpu      *tensor.CPU
	team     *tensor.Team
	locals   []perElementLocal
	added    [][]float32 // see imageTurn
	biased   bool        // the last Prepare had a bias

	pass perElementPass
	turn imageTurn
}

var _ featurePasses = (*perElement)(nil)

// newPerElement returns the passes for layers of this, their largest, shape.
func newPerElement(s *Shape, features int) *perElement {
	return &perElement{features: features, lattice: newRowLattice(s)}
}

const (
	// perElementSegments is how many parts of the batch sum their gradients
	// apart.
	perElementSegments = 16
	// perElementTargets and perElementSources are how many planes of a result, and of
	// what it is a sum over, are a block by products with spectra.
	perElementTargets, perElementSources = 96, 32
	// panelTargets and panelSources are the same for panels. The slots of a block fit a
	// part of the first-level cache.
	panelTargets, panelSources = 16, 16
)

// slotColumns returns the number of values of one feature of an image's kernel.
func slotColumns(s *Shape) int { return s.NOut * s.NIn * len(s.Offsets) }

// Sizes returns the sizes of the prepared features [b, k and 1, (i,j,slot)],
// weights [(o,c), k and 1] and bias, and of the scratch memory.
func (p *perElement) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	prepared = s.B*(p.features+1)*slotColumns(s) + s.Out*s.In*(p.features+1) + s.Out
	in, out := roundUp(s.Sources()*s.H*s.W*s.B), roundUp(s.Targets()*s.OutH*s.OutW*s.B)
	if inference {
		return prepared, in + out
	}
	return prepared, 2*in + out + segmentsOf(s)*p.segmentSize(s)
}

// segmentsOf returns the number of segments of a batch.
func segmentsOf(s *Shape) int { return min(s.B, perElementSegments) }

// segmentSize returns the number of sums of a segment: dw, then db.
func (p *perElement) segmentSize(s *Shape) int { return roundUp(s.Out * s.In * (p.features + 1)) }

// Bind names the CPU and the largest shape. The memory of the workers is sized
// for the level of assembly that is active now.
func (p *perElement) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu, p.team = cpu, cpu.Team()
	p.locals, p.added = make([]perElementLocal, p.team.Size()), make([][]float32, p.team.Size())
	for i := range p.locals {
		p.locals[i] = p.newLocal(s)
		p.added[i] = aligned(p.lattice.w * s.B)
	}
	return nil
}

// perElementPass is one pass over the images of a batch.
type perElementPass struct {
	*perElement
	shape *Shape
	f     []float32 // [b, k and 1, (i,j,slot)]
	w     []float32 // [(o,c), k and 1]
	bias  []float32

	raw  []float32 // [k, (b,i,j,t)] the features, or their gradient
	x, y images    // of the maps, or their gradients
	dx   images
	sums []float32 // [segment, segmentSize]
}

// newPass sets the fields that all passes need.
func (p *perElement) newPass(prepared tensor.Buffer, s *Shape) *perElementPass {
	l := &p.pass
	*l = perElementPass{perElement: p, shape: s}
	at := prepared.Host()
	cut := func(n int) []float32 {
		piece := at[:n]
		at = at[n:]
		return piece
	}
	l.f = cut(s.B * (p.features + 1) * slotColumns(s))
	l.w, l.bias = cut(s.Out*s.In*(p.features+1)), cut(s.Out)
	return l
}

// Scales returns false.
func (p *perElement) Scales() bool { return false }

// Prepare folds the features.
func (p *perElement) Prepare(prepared tensor.Buffer, k kernelFactors, bias, _ tensor.Buffer, s *Shape) {
	l := p.newPass(prepared, s)
	h := p.features
	l.raw = k.F.Host()
	for pair, off := range k.B.Host()[:s.Out*s.In] {
		copy(l.w[pair*(h+1):], k.W.Host()[pair*h:(pair+1)*h])
		l.w[pair*(h+1)+h] = off
	}
	if p.biased = !bias.IsZero(); p.biased {
		copy(l.bias, bias.Host())
	}
	p.team.For(s.B, 1, (*perElementPrepare)(l))
	p.pass = perElementPass{}
}

// perElementPrepare folds features, item by item an image.
type perElementPrepare perElementPass

// Do folds the features of the images lo <= b < hi.
func (t *perElementPrepare) Do(lo, hi, _ int) {
	l, s := (*perElementPass)(t), t.shape
	taps, rows := len(s.Offsets), s.NOut*s.NIn
	size := slotColumns(s)
	for b := lo; b < hi; b++ {
		to := l.f[b*(l.features+1)*size:]
		for k := range l.features {
			gemmNN(rows, taps, taps, l.raw[(k*s.B+b)*size:], taps, l.lattice.fold, taps, to[k*size:], taps, false)
		}
		ones := to[l.features*size:][:size]
		for at := 0; at < size; at += taps {
			copy(ones[at:], l.lattice.foldedOnes)
		}
	}
}

// Forward computes y.
func (p *perElement) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	l := p.newPass(prepared, s)
	local := pieces{scratch.Host()}
	l.x, l.y = p.lattice.sourceImages(s, &local), p.lattice.targetImages(s, &local)
	p.turn.toImages(p.team, &l.x, x.Host())
	p.team.For(s.B, 1, (*perElementForward)(l))
	var bias []float32
	if p.biased {
		bias = l.bias
	}
	p.turn.toBatch(p.team, y.Host(), &l.y, nil, bias)
	p.pass = perElementPass{}
}

// Backward computes the gradients of features, weights, the bias and x.
func (p *perElement) Backward(d, _ kernelFactors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	addBiasGrad(p.cpu, dbias, dy, s)
	l := p.newPass(prepared, s)
	local := pieces{scratch.Host()}
	l.x, l.y = p.lattice.sourceImages(s, &local), p.lattice.targetImages(s, &local)
	p.turn.toImages(p.team, &l.y, dy.Host())
	p.turn.toImages(p.team, &l.x, x.Host())
	if !dx.IsZero() {
		l.dx = p.lattice.sourceImages(s, &local)
	}
	segments := segmentsOf(s)
	size := p.segmentSize(s)
	l.sums, l.raw = local.cut(segments*size), d.F.Host()
	p.team.For(segments, 1, (*perElementBackward)(l))
	if !dx.IsZero() {
		added := p.added
		if !accumulate {
			added = nil
		}
		p.turn.toBatch(p.team, dx.Host(), &l.dx, added, nil)
	}

	sum := l.sums[:size]
	for i := 1; i < segments; i++ {
		asm.Add(sum, sum, l.sums[i*size:(i+1)*size])
	}
	h := p.features
	copy(d.W.Host()[:s.Out*s.In*h], sum)
	copy(d.B.Host()[:s.Out*s.In], sum[s.Out*s.In*h:])
	p.pass = perElementPass{}
}
