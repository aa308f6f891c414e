package conv

import (
	"fmt"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// planes is the depthwise convolution on the CPU: each plane of the output is a sum of
// shifted copies of one plane of the input, row by row. There is nothing to multiply
// matrices of, and next to the sum over the group beside it little to do.
//
// With a list of elements for each image, which has a kernel of its own then, the batch,
// innermost in the maps, is innermost in the kernel too.
//
// Work is split over planes, so the bits do not depend on the number of threads.
type planes struct {
	team   *tensor.Team
	shape  *Shape
	biased bool // the last Prepare had a bias
	pass   pass

	kernel  []float32 // [o, i, t], or with lists [o, i, t, b]
	to      []float32 // what the pass writes
	x, dy   []float32
	add     bool      // to the gradient of x
	bias    []float32 // [o], or nil
	rounded int       // size of the kernel with the largest shape, see roundUp
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

// Bind names the CPU.
func (p *planes) Bind(dev tensor.Device, _ *Shape) error {
	cpu, ok := dev.(*tensor.CPU)
	if !ok {
		return fmt.Errorf("conv: planned for a CPU, bound to %s: name the device in nn.Plan.Device", dev.Name())
	}
	p.team = cpu.Team()
	return nil
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
	p.kernel, p.to, p.x, p.bias = prepared.Host(), y.Host(), x.Host(), nil
	if p.biased {
		p.bias = p.kernel[p.rounded:]
	}
	p.run(forwardPass, s)
}

// Backward computes the gradients of the kernel and of x.
func (p *planes) Backward(dkernel, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	p.dy = dy.Host()
	if !dkernel.IsZero() {
		p.x, p.to = x.Host(), dkernel.Host()
		if s.PerElement {
			p.to = scratch.Host()
		}
		p.run(kernelGradPass, s)
		if n := s.kernels() / s.Out; s.PerElement {
			for o := range s.Out {
				asm.Transpose(dkernel.Host()[o*n:], n/s.B, scratch.Host()[o*n:], s.B, n/s.B, s.B)
			}
		}
	}
	if !dx.IsZero() {
		p.kernel, p.to, p.add = prepared.Host(), dx.Host(), accumulate
		p.run(inputGradPass, s)
	}
	p.dy = nil
}

func (p *planes) run(what pass, s *Shape) {
	p.pass, p.shape = what, s
	p.team.For(s.Targets(), max(1, s.Targets()/(8*p.team.Size())), p)
	p.kernel, p.to, p.x, p.bias = nil, nil, nil, nil
}

// Do takes the planes lo <= n < hi, n counting (o,i).
func (p *planes) Do(lo, hi, _ int) {
	s := p.shape
	in, out, kernel := s.H*s.W*s.B, s.OutH*s.OutW*s.B, len(s.Offsets)*s.lists()
	for n := lo; n < hi; n++ {
		switch p.pass {
		case forwardPass:
			bias := float32(0)
			if p.bias != nil {
				bias = p.bias[n/s.NOut]
			}
			p.forward(p.to[n*out:(n+1)*out], p.x[n*in:(n+1)*in], p.kernel[n*kernel:], bias)
		case inputGradPass:
			p.inputGrad(p.to[n*in:(n+1)*in], p.dy[n*out:(n+1)*out], p.kernel[n*kernel:])
		case kernelGradPass:
			p.kernelGrad(p.to[n*kernel:(n+1)*kernel], p.x[n*in:(n+1)*in], p.dy[n*out:(n+1)*out])
		}
	}
}

// forward computes a plane of y.
func (p *planes) forward(y, x, kernel []float32, bias float32) {
	s := p.shape
	for row := range s.OutH {
		asm.Fill(y[row*s.OutW*s.B:(row+1)*s.OutW*s.B], bias)
		for t, o := range s.Offsets {
			if to, from, n := s.overlap(o, row); n > 0 {
				p.mulAdd(y[to:to+n], kernel, t, x[from:from+n])
			}
		}
	}
}

// inputGrad computes a plane of the gradient of x, row by row: each gets what the rows of
// dy contribute that it contributed to.
func (p *planes) inputGrad(dx, dy, kernel []float32) {
	s := p.shape
	if !p.add {
		clear(dx)
	}
	for row := range s.H {
		for t, o := range s.Offsets {
			if uint(row-o.Row) >= uint(s.OutH) {
				continue
			}
			if from, to, n := s.overlap(o, row-o.Row); n > 0 {
				p.mulAdd(dx[to:to+n], kernel, t, dy[from:from+n])
			}
		}
	}
}

// mulAdd adds tap t times x, both of whole positions, to y.
func (p *planes) mulAdd(y, kernel []float32, t int, x []float32) {
	s := p.shape
	if !s.PerElement {
		asm.Axpy(y, kernel[t], x)
		return
	}
	of := kernel[t*s.B : (t+1)*s.B]
	for at := 0; at < len(y); at += s.B {
		asm.MulAdd(y[at:at+s.B], of, x[at:at+s.B])
	}
}

// kernelGrad computes the gradient of the taps of one plane.
func (p *planes) kernelGrad(dkernel, x, dy []float32) {
	s := p.shape
	clear(dkernel)
	for row := range s.OutH {
		for t, o := range s.Offsets {
			to, from, n := s.overlap(o, row)
			if !s.PerElement {
				dkernel[t] += asm.Dot(dy[to:to+n], x[from:from+n])
				continue
			}
			of := dkernel[t*s.B : (t+1)*s.B]
			for end := to + n; to < end; to, from = to+s.B, from+s.B {
				asm.MulAdd(of, dy[to:to+s.B], x[from:from+s.B])
			}
		}
	}
}

// overlap returns which n values of a plane of y, from index to, meet a tap inside the
// plane of x, from index from, in a row of y; n is 0 where none does.
func (s *Shape) overlap(o Offset, row int) (to, from, n int) {
	lo, hi := max(0, -o.Col), min(s.OutW, s.W-o.Col)
	if uint(row+o.Row) >= uint(s.H) || lo >= hi {
		return 0, 0, 0
	}
	return (row*s.OutW + lo) * s.B, ((row+o.Row)*s.W + lo + o.Col) * s.B, (hi - lo) * s.B
}
