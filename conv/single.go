package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// single is the tap-sparse algorithm of the CPU for an output plane of one position, as that
// of a last layer is. Taps are positions of the input plane then, and a value of the kernel is
// used for nothing but the batch, so that to bring the kernel to another order would take about
// as long as to multiply it. For each pair of channels it is taken as the kernel network writes
// it, a matrix [i, (j,t)]:
//
//	y[o,i,b]           = bias[o] + sum over c of kernel[o,c] x[c,(j,t),b]
//	dx[c,(j,t),b]      = sum over o of the transpose of kernel[o,c] dy[o,i,b]
//	dkernel[o,c,i,j,t] = dy[o,i,b] times the transpose of x[c,(j,t),b]
//
// Work is split over outputs only and every sum has one order, so the bits do not depend on
// the number of threads.
type single struct {
	cpu    *tensor.CPU
	shape  *Shape
	meets  []int // the position that each tap meets
	biased bool  // the last Prepare had a bias

	pass       singlePass
	kernel     []float32 // [(o,c), (i,j,t)], or its gradient
	copied     []float32 // the kernel, once more
	bias       []float32 // [o], or nil
	x, y       []float32 // the maps, or their gradients
	columns    []float32 // [c, (j,t), b]: what the taps meet
	panels     []float32 // [c, panel of (j,t), b, (j,t)]
	blocks     int       // that the channels o are cut into
	accumulate bool
}

// singlePass says what the items of a task are.
type singlePass uint8

const (
	singleCopy    singlePass = iota // runs of values of the kernel
	singleGather                    // planes (c,j) of x
	singlePack                      // channels c
	singleForward                   // blocks of channels o
	singleKernel                    // blocks of channels o
	singleInput                     // channels c
)

const (
	// singleBlock is how many channels o are worked on at a time: what taps meet of a channel c
	// serves them all from the second-level cache.
	singleBlock = 8
	// singleRun is how many values of a kernel are copied at a time.
	singleRun = 1 << 16
)

var _ Passes = (*single)(nil)
var _ tensor.Task = (*single)(nil)

// isSingle reports whether single takes a shape.
func isSingle(s *Shape) bool {
	return s.OutH*s.OutW == 1 && len(s.Offsets) > 1 && s.B >= thinBatch
}

// newDirect returns the passes of the tap-sparse algorithm.
func newDirect(s *Shape) Passes {
	if isSingle(s) {
		return new(single)
	}
	return newTaps()
}

// depth returns the number of columns (j,t) of the matrix of a pair of channels.
func (s *Shape) depth() int { return s.NIn * len(s.Offsets) }

// singlePanels returns the size of the panels of a channel.
func singlePanels(s *Shape) int {
	_, nr := asm.GemmTile()
	return blocksOf(s.depth(), nr) * nr * s.B
}

// Sizes returns the sizes of kernel and bias, and of the scratch memory.
func (p *single) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	scratch = roundUp(s.In * s.depth() * s.B)
	if !inference {
		scratch += s.In * singlePanels(s)
	}
	return roundUp(s.KernelSize()) + s.Out, scratch
}

// Bind names the CPU and the largest shape.
func (p *single) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu = cpu
	p.meets = p.meets[:0]
	for _, o := range s.Offsets {
		at := o.Row*s.W + o.Col
		if o.Row < 0 || o.Row >= s.H || o.Col < 0 || o.Col >= s.W {
			at = -1
		}
		p.meets = append(p.meets, at)
	}
	return cpu.ReserveWorkspace(singleBlock * s.NOut * s.depth())
}

// Prepare copies kernel and bias.
func (p *single) Prepare(prepared, kernel, bias, _ tensor.Buffer, s *Shape) {
	p.kernel, p.copied = kernel.Host()[:s.KernelSize()], prepared.Host()
	p.run(s, singleCopy, blocksOf(s.KernelSize(), singleRun))
	p.biased = !bias.IsZero()
	if p.biased {
		copy(p.copied[roundUp(s.KernelSize()):], bias.Host()[:s.Out])
	}
	p.release()
}

// Forward computes y.
func (p *single) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	p.kernel, p.x, p.y = prepared.Host(), x.Host(), y.Host()
	if p.biased {
		p.bias = p.kernel[roundUp(s.KernelSize()):]
	}
	p.columns = scratch.Host()
	p.run(s, singleGather, s.Sources())
	p.run(s, singleForward, p.cut(s))
	p.release()
}

// Backward computes the gradients of the kernel, of the bias and of x.
func (p *single) Backward(dkernel, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	addBiasGrad(p.cpu, dbias, dy, s)
	memory := pieces{scratch.Host()}
	p.columns = memory.cut(s.In * s.depth() * s.B)
	p.y = dy.Host()
	if !dkernel.IsZero() {
		p.kernel, p.x, p.panels = dkernel.Host(), x.Host(), memory.rest
		p.run(s, singleGather, s.Sources())
		p.run(s, singlePack, s.In)
		p.run(s, singleKernel, p.cut(s))
	}
	if !dx.IsZero() {
		p.kernel, p.x, p.accumulate = prepared.Host(), dx.Host(), accumulate
		p.run(s, singleInput, s.In)
	}
	p.release()
}

// cut returns how many blocks the channels o are cut into.
func (p *single) cut(s *Shape) int {
	p.blocks = forWorkers(p.cpu.Team().Size(), blocksOf(s.Out, singleBlock), s.Out, 1)
	return p.blocks
}

func (p *single) run(s *Shape, pass singlePass, items int) {
	p.shape, p.pass = s, pass
	p.cpu.Team().For(items, 1, p)
}

func (p *single) release() {
	p.shape, p.kernel, p.copied, p.bias = nil, nil, nil, nil
	p.x, p.y, p.columns, p.panels = nil, nil, nil, nil
}

// Do computes the items lo <= item < hi.
func (p *single) Do(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		switch p.pass {
		case singleCopy:
			at := item * singleRun
			copy(p.copied[at:], p.kernel[at:min(at+singleRun, len(p.kernel))])
		case singleGather:
			p.gather(item)
		case singlePack:
			p.pack(item)
		case singleForward:
			p.forward(item)
		case singleKernel:
			p.kernelGrad(item)
		case singleInput:
			p.inputGrad(item, p.cpu.Workspace(worker))
		}
	}
}

// gather copies what the taps meet of a plane of x, zeros where that is outside.
func (p *single) gather(plane int) {
	s := p.shape
	for t, at := range p.meets {
		to := p.columns[(plane*len(p.meets)+t)*s.B:][:s.B]
		if at < 0 {
			clear(to)
			continue
		}
		copy(to, p.x[(plane*s.H*s.W+at)*s.B:])
	}
}

// pack packs the columns of a channel, transposed.
func (p *single) pack(c int) {
	s := p.shape
	_, nr := asm.GemmTile()
	panels := p.panels[c*singlePanels(s):]
	for r := 0; r < s.depth(); r += nr {
		asm.PackCols(panels[r*s.B:], p.columns[(c*s.depth()+r)*s.B:], s.B, s.B, min(nr, s.depth()-r))
	}
}

// matrix returns the kernel of a pair of channels.
func (p *single) matrix(o, c int) []float32 {
	s := p.shape
	size := s.NOut * s.depth()
	return p.kernel[(o*s.In+c)*size:][:size]
}

// forward computes a block of channels o.
func (p *single) forward(block int) {
	s := p.shape
	depth, size := s.depth(), s.NOut*s.B
	first, last := share(s.Out, p.blocks, block)
	for o := first; o < last; o++ {
		bias := float32(0)
		if p.bias != nil {
			bias = p.bias[o]
		}
		asm.Fill(p.y[o*size:(o+1)*size], bias)
	}
	for c := range s.In {
		for o := first; o < last; o++ {
			if o+1 < last {
				asm.Prefetch(p.matrix(o+1, c), 0, 1, s.NOut*depth)
			} else if c+1 < s.In {
				asm.Prefetch(p.matrix(first, c+1), 0, 1, s.NOut*depth)
			}
			gemmNN(s.NOut, s.B, depth, p.matrix(o, c), depth, p.columns[c*depth*s.B:], s.B, p.y[o*size:], s.B, true)
		}
	}
}

// kernelGrad computes the gradient of the kernels of a block of channels o.
func (p *single) kernelGrad(block int) {
	s := p.shape
	_, nr := asm.GemmTile()
	first, last := share(s.Out, p.blocks, block)
	for c := range s.In {
		for o := first; o < last; o++ {
			gemmPanels(s.NOut, s.depth(), s.B, p.y[o*s.NOut*s.B:], s.B, p.panels[c*singlePanels(s):], s.B*nr, p.matrix(o, c), s.depth(), false)
		}
	}
}

// inputGrad computes the gradient of the planes of a channel c: the kernels of some channels o
// are brought together, so that sums are long.
func (p *single) inputGrad(c int, kernels []float32) {
	s := p.shape
	depth := s.depth()
	columns := p.columns[c*depth*s.B:][:depth*s.B]
	for o := 0; o < s.Out; o += singleBlock {
		n := min(singleBlock, s.Out-o)
		for e := range n {
			copy(kernels[e*s.NOut*depth:], p.matrix(o+e, c))
		}
		gemmTN(depth, s.B, n*s.NOut, kernels, depth, p.y[o*s.NOut*s.B:], s.B, columns, s.B, o > 0)
	}
	size := s.H * s.W * s.B
	for j := range s.NIn {
		plane := p.x[(c*s.NIn+j)*size:][:size]
		if !p.accumulate {
			clear(plane)
		}
		for t, at := range p.meets {
			if at < 0 {
				continue
			}
			to := plane[at*s.B:][:s.B]
			asm.Add(to, to, columns[(j*len(p.meets)+t)*s.B:][:s.B])
		}
	}
}
