package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// planes is the depthwise convolution on the CPU: each plane of the output is a sum of
// shifted copies of one plane of the input, row by row, out of a copy with a border of
// zeros where taps leave the plane. There is nothing to multiply matrices of.
//
// With a list of elements for each image, which has a kernel of its own then, the batch,
// innermost in the maps, is innermost in the kernel too.
//
// Work is split over planes, so the bits do not depend on the number of threads.
type planes struct {
	cpu     *tensor.CPU
	shape   *Shape
	rounded int  // size of the kernel with the largest shape, see roundUp
	biased  bool // the last Prepare had a bias

	pass     pass
	view               // of the plane that a pass reads
	kernel   []float32 // [o, i, t], or with lists [o, i, t, b]
	bias     []float32 // [o], or nil
	from, to []float32 // the maps that a pass reads and writes, or the gradient of the kernel
	dy       []float32 // for the latter
	add      bool      // to the gradient of x

	taps  []int  // where each stands above the first row
	lines []line // of taps side by side
}

// pass is one of what planes does.
type pass uint8

const (
	forwardPass pass = iota
	inputGradPass
	kernelGradPass
)

var (
	_ Passes      = (*planes)(nil)
	_ tensor.Task = (*planes)(nil)
)

// Sizes returns the sizes of kernel and bias, and of the gradient of a kernel with lists
// before it is transposed.
func (p *planes) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	p.rounded = roundUp(s.kernels())
	if s.PerElement && !inference {
		scratch = p.rounded
	}
	return p.rounded + s.Out, scratch
}

// Bind names the CPU and the largest shape.
func (p *planes) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu = cpu
	n := len(s.Offsets)
	p.taps, p.lines, p.negated = make([]int, 0, n), make([]line, 0, n), make([]Offset, 0, n)
	p.lookAt(s, forwardPass)
	size := p.plane
	p.lookAt(s, inputGradPass)
	return cpu.ReserveWorkspace(max(size, p.plane))
}

// lookAt sets the view for a pass.
func (p *planes) lookAt(s *Shape, what pass) {
	p.pass, p.shape = what, s
	if what == inputGradPass {
		p.negated = p.negated[:0]
		for _, o := range s.Offsets {
			p.negated = append(p.negated, Offset{-o.Row, -o.Col})
		}
		p.set(s.OutH, s.OutW, s.H, s.W, p.negated)
	} else {
		p.set(s.H, s.W, s.OutH, s.OutW, s.Offsets)
	}
	p.batch, p.width, p.origin = s.B, p.w, 0
	if !p.inside() {
		p.form, p.width, p.origin = bordered, p.padW, (p.top*p.padW+p.left)*s.B
	}
	p.plane = p.pitch(s.B)
	p.taps, p.lines = p.taps[:0], p.lines[:0]
	for t, o := range p.offsets {
		p.taps = append(p.taps, p.at(t, 0, 0))
		if n := len(p.lines); n > 0 && p.offsets[t-1] == (Offset{o.Row, o.Col - 1}) {
			p.lines[n-1].n++
		} else {
			p.lines = append(p.lines, line{t, 1})
		}
	}
}

// Prepare keeps the kernel and the bias.
func (p *planes) Prepare(prepared, kernel, bias, _ tensor.Buffer, s *Shape) {
	to, from := prepared.Host(), kernel.Host()
	if n := s.kernels() / s.Out; s.PerElement {
		for o := range s.Out {
			asm.Transpose(to[o*n:], s.B, from[o*n:], n/s.B, s.B, n/s.B)
		}
	} else {
		copy(to[:s.Out*n], from)
	}
	p.biased = !bias.IsZero()
	if p.biased {
		copy(to[p.rounded:p.rounded+s.Out], bias.Host())
	}
}

// Forward computes y.
func (p *planes) Forward(y, x, prepared, _ tensor.Buffer, s *Shape) {
	p.kernel, p.from, p.to = prepared.Host(), x.Host(), y.Host()
	if p.biased {
		p.bias = p.kernel[p.rounded:]
	}
	p.run(s, forwardPass)
}

// Backward computes the gradients of the kernel, of the bias and of x.
func (p *planes) Backward(dkernel, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	addBiasGrad(p.cpu, dbias, dy, s)
	if !dkernel.IsZero() {
		p.from, p.dy, p.to = x.Host(), dy.Host(), dkernel.Host()
		if s.PerElement {
			p.to = scratch.Host()
		}
		p.run(s, kernelGradPass)
		if n := s.kernels() / s.Out; s.PerElement {
			for o := range s.Out {
				asm.Transpose(dkernel.Host()[o*n:], n/s.B, scratch.Host()[o*n:], s.B, n/s.B, s.B)
			}
		}
	}
	if !dx.IsZero() {
		p.kernel, p.from, p.to, p.add = prepared.Host(), dy.Host(), dx.Host(), accumulate
		p.run(s, inputGradPass)
	}
}

func (p *planes) run(s *Shape, what pass) {
	p.lookAt(s, what)
	team := p.cpu.Team()
	team.For(s.Targets(), max(1, s.Targets()/(8*team.Size())), p)
	p.kernel, p.bias, p.from, p.to, p.dy = nil, nil, nil, nil, nil
}

// Do takes the planes lo <= n < hi, n counting (o,i).
func (p *planes) Do(lo, hi, worker int) {
	s := p.shape
	in, out, kernel := p.h*p.w*s.B, p.outH*p.outW*s.B, len(p.offsets)*s.lists()
	for n := lo; n < hi; n++ {
		src := p.source(p.from[n*in:(n+1)*in], worker)
		if p.pass == kernelGradPass {
			p.kernelGrad(p.to[n*kernel:(n+1)*kernel], src, p.dy[n*out:(n+1)*out])
			continue
		}
		bias := float32(0)
		if p.bias != nil {
			bias = p.bias[n/s.NOut]
		}
		p.correlate(p.to[n*out:(n+1)*out], src, p.kernel[n*kernel:(n+1)*kernel], bias)
	}
}

// source returns the plane that is read, or its copy with a border.
func (p *planes) source(plane []float32, worker int) []float32 {
	if p.form != bordered {
		return plane
	}
	c := copying{view: &p.view, dst: p.cpu.Workspace(worker)[:p.plane], x: plane}
	c.Do(0, 1, worker)
	return c.dst
}

// correlate computes a plane of y, or of the gradient of x.
func (p *planes) correlate(dst, src, kernel []float32, bias float32) {
	size, pitch := p.outW*p.batch, p.width*p.batch
	for row := range p.outH {
		to, from := dst[row*size:(row+1)*size], src[row*pitch:]
		if p.pass == forwardPass || !p.add {
			asm.Fill(to, bias)
		}
		if !p.shape.PerElement {
			asm.AddShifted(to, from, p.taps, kernel)
			continue
		}
		for t, at := range p.taps {
			of := kernel[t*p.batch : (t+1)*p.batch]
			for x := 0; x < size; x += p.batch {
				asm.MulAdd(to[x:x+p.batch], of, from[at+x:at+x+p.batch])
			}
		}
	}
}

// kernelGrad computes the gradient of the taps of one plane.
func (p *planes) kernelGrad(dkernel, src, dy []float32) {
	size, pitch := p.outW*p.batch, p.width*p.batch
	tile, _ := asm.DotTile()
	clear(dkernel)
	for row := range p.outH {
		of, from := dy[row*size:(row+1)*size], src[row*pitch:]
		switch {
		case p.shape.PerElement:
			for t, at := range p.taps {
				to := dkernel[t*p.batch : (t+1)*p.batch]
				for x := 0; x < size; x += p.batch {
					asm.MulAdd(to, of[x:x+p.batch], from[at+x:at+x+p.batch])
				}
			}
		case tile > 0:
			for _, l := range p.lines {
				asm.GemmDots(1, l.n, size, of, size, from[p.taps[l.t]:], p.batch, dkernel[l.t:], l.n, true)
			}
		default: // no kernel for these products
			for t, at := range p.taps {
				dkernel[t] += asm.Dot(of, from[at:at+size])
			}
		}
	}
}
