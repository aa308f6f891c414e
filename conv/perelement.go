package conv

import (
	"fmt"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// perElement is the algorithm of the CPU for a list of elements, and so a kernel,
// of its own for each image. It takes the images one by one, renders the kernel
// of one from its features in the second-level cache, and convolves it with the
// image there. No kernel outlives its image.
//
// Rows are convolved in the frequency domain, columns directly: with the
// transform along the columns of the plane, a period just long enough (see
// rowLattice), every frequency f leaves a convolution of complex rows,
//
//	y^[(o,i), q] = sum over s, (c,j) of K^_s[(o,i),(c,j)] x^[(c,j), q+s]
//
// over k column taps s in place of the disc's T, each in three real products
// (Gauss). It shares nothing among images, so that a transform along both axes
// would cost more for the kernel than it saves in the products.
//
// Features come folded: slot r of a column of taps is the sum, or the difference,
// of the taps r above and below its middle, for the sum only feeds the real part
// of K^_s and the difference only the imaginary part.
//
// The maps, batch innermost, are turned to images first and back at the end. The
// gradients of the weights are summed over segments of the batch, and these in
// order.
type perElement struct {
	features int
	lattice  *rowLattice
	cpu      *tensor.CPU
	team     *tensor.Team
	locals   []perElementLocal

	pass perElementPass
	turn imageTurn
}

var _ FeaturePasses = (*perElement)(nil)

// newPerElement returns the passes for layers of this, their largest, shape.
func newPerElement(s *Shape, features int) *perElement {
	return &perElement{features: features, lattice: newRowLattice(s)}
}

const (
	// perElementSegments is how many parts of the batch sum their gradients
	// apart.
	perElementSegments = 16
	// spectrumValues is what the spectrum of a block of the kernel may take of
	// the second-level cache: 512 KiB.
	spectrumValues = 128 << 10
)

// slotColumns returns the number of values of one feature of an image's kernel.
func slotColumns(s *Shape) int { return s.NOut * s.NIn * len(s.Offsets) }

// Sizes returns the sizes of the prepared features [b, k and 1, (i,j,slot)],
// weights [(o,c), k and 1] and bias, and of the scratch memory.
func (p *perElement) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	prepared = s.B*(p.features+1)*slotColumns(s) + s.Out*s.In*(p.features+1) + s.Out
	in, out := s.Sources()*s.H*s.W*s.B, s.Targets()*s.OutH*s.OutW*s.B
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
	cpu, ok := dev.(*tensor.CPU)
	if !ok {
		return fmt.Errorf("conv: planned for a CPU, bound to %s: name the device in nn.Plan.Device", dev.Name())
	}
	p.cpu, p.team = cpu, cpu.Team()
	p.locals = make([]perElementLocal, p.team.Size())
	for i := range p.locals {
		p.locals[i] = p.newLocal(s)
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
	x, y []float32 // [b, (c,j), row, col], [b, (o,i), row, col]; y or dy
	dx   []float32
	last []float32 // [b, row, col, (c,j)] x again
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
func (p *perElement) Prepare(prepared tensor.Buffer, k Factors, bias, _ tensor.Buffer, s *Shape) {
	l := p.newPass(prepared, s)
	h := p.features
	l.raw = k.F.Host()
	for pair, off := range k.B.Host()[:s.Out*s.In] {
		copy(l.w[pair*(h+1):], k.W.Host()[pair*h:(pair+1)*h])
		l.w[pair*(h+1)+h] = off
	}
	clear(l.bias)
	if !bias.IsZero() {
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
	in, out := s.Sources()*s.H*s.W, s.Targets()*s.OutH*s.OutW
	l.x, l.y = scratch.Host()[:in*s.B], scratch.Host()[in*s.B:][:out*s.B]
	p.turn.toImages(p.team, l.x, x.Host(), in, s.B)
	p.team.For(s.B, 1, (*perElementForward)(l))
	p.turn.toBatch(p.team, y.Host(), l.y, out, s.B, false)
	p.pass = perElementPass{}
}

// Backward computes the gradients of features, weights, the bias and x.
func (p *perElement) Backward(d, _ Factors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	addBiasGrad(p.cpu, dbias, dy, s)
	l := p.newPass(prepared, s)
	in, out := s.Sources()*s.H*s.W, s.Targets()*s.OutH*s.OutW
	at := scratch.Host()
	cut := func(n int) []float32 {
		piece := at[:n]
		at = at[n:]
		return piece
	}
	l.last, l.y = cut(in*s.B), cut(out*s.B)
	p.turn.toImages(p.team, l.y, dy.Host(), out, s.B)
	p.turn.toImagesChannelsLast(p.team, l.last, x.Host(), s)
	if !dx.IsZero() {
		l.dx = cut(in * s.B)
	}
	segments := segmentsOf(s)
	size := p.segmentSize(s)
	l.sums, l.raw = cut(segments*size), d.F.Host()
	p.team.For(segments, 1, (*perElementBackward)(l))
	if l.dx != nil {
		p.turn.toBatch(p.team, dx.Host(), l.dx, in, s.B, accumulate)
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

// imageTurn takes maps from [positions, B] to [B, positions] or back, item by
// item a run of positions.
type imageTurn struct {
	to, from   []float32
	rows, b    int
	kind       turnKind
	accumulate bool
	shape      *Shape
}

type turnKind uint8

const (
	toImages turnKind = iota
	toBatch
	channelsLast
)

// turnRows is how many positions are turned at a time.
const turnRows = 256

func (t *imageTurn) toImages(team *tensor.Team, to, from []float32, rows, b int) {
	*t = imageTurn{to: to, from: from, rows: rows, b: b, kind: toImages}
	t.run(team, (rows+turnRows-1)/turnRows)
}

func (t *imageTurn) toBatch(team *tensor.Team, to, from []float32, rows, b int, accumulate bool) {
	*t = imageTurn{to: to, from: from, rows: rows, b: b, kind: toBatch, accumulate: accumulate}
	t.run(team, (rows+turnRows-1)/turnRows)
}

// toImagesChannelsLast takes x [(c,j), row, col, B] to [B, row, col, (c,j)].
func (t *imageTurn) toImagesChannelsLast(team *tensor.Team, to, from []float32, s *Shape) {
	*t = imageTurn{to: to, from: from, b: s.B, kind: channelsLast, shape: s}
	t.run(team, s.H*s.W)
}

func (t *imageTurn) run(team *tensor.Team, items int) {
	team.For(items, max(1, items/32), t)
	*t = imageTurn{}
}

// Do turns the items lo <= i < hi.
func (t *imageTurn) Do(lo, hi, _ int) {
	if t.kind == channelsLast {
		sources, plane := t.shape.Sources(), t.shape.H*t.shape.W
		for at := lo; at < hi; at++ {
			asm.Transpose(t.to[at*sources:], plane*sources, t.from[at*t.b:], plane*t.b, sources, t.b)
		}
		return
	}
	for i := lo; i < hi; i++ {
		r := i * turnRows
		n := min(turnRows, t.rows-r)
		switch {
		case t.kind == toImages:
			asm.Transpose(t.to[r:], t.rows, t.from[r*t.b:], t.b, n, t.b)
		case t.accumulate:
			for b := range t.b {
				for k := range n {
					t.to[(r+k)*t.b+b] += t.from[b*t.rows+r+k]
				}
			}
		default:
			asm.Transpose(t.to[r*t.b:], t.b, t.from[r:], t.rows, t.b, n)
		}
	}
}
