package siren

import (
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// device is what the passes on a device other than a CPU need: one operation of
// tensor.Device after the other, over all positions. The results of the sine
// layers and their slopes are kept from Forward for Backward.
type device struct {
	grad   [2]tensor.Buffer // [Hidden, max] each: dh, dz of neighbouring layers
	scalar tensor.Buffer    // [1]
	gemm   tensor.GemmArgs  // kept, since what passes through an interface escapes
}

func (n *Net) planDevice(p *nn.Plan, max int) *tensor.Buffer {
	for _, l := range n.layers[:len(n.layers)-1] {
		p.Arena.Reserve(&l.h, l.out*max)
		if p.Inference {
			continue
		}
		p.Arena.Reserve(&l.slope, l.out*max)
		if l.learned() {
			p.Arena.Reserve(&l.z, l.out*max)
		}
	}
	if !p.Inference {
		p.Arena.Reserve(&n.grad[0], n.width*max)
		p.Arena.Reserve(&n.grad[1], n.width*max)
		p.Arena.Reserve(&n.scalar, 1)
	}
	return &n.layers[0].h
}

// forwardDevice writes the results at the positions n.x to y.
func (n *Net) forwardDevice(y tensor.Buffer) {
	h := n.featuresDevice()
	l := n.layers[len(n.layers)-1]
	n.gemm = n.linear(l, h)
	n.gemm.C = y.Slice(0, l.out*n.positions)
	n.dev.Gemm(&n.gemm)
}

// featuresDevice evaluates the sine layers and returns the last.
func (n *Net) featuresDevice() tensor.Buffer {
	h := n.x
	for _, l := range n.layers[:len(n.layers)-1] {
		size := l.out * n.positions
		n.gemm = n.linear(l, h)
		g := &n.gemm
		h = l.h.Slice(0, size)
		var slope tensor.Buffer
		if !n.inference {
			slope = l.slope.Slice(0, size)
		}
		if l.z.IsZero() {
			g.C, g.Epilogue, g.Omega, g.Derivative = h, tensor.SinEpilogue, l.w, slope
			n.dev.Gemm(g)
			continue
		}
		// The gradient of w needs z itself.
		g.C = l.z.Slice(0, size)
		n.dev.Gemm(g)
		n.dev.SinCos(h, slope, g.C, l.w)
	}
	return h
}

// linear describes W h + b, without its destination.
func (n *Net) linear(l *layer, h tensor.Buffer) tensor.GemmArgs {
	return tensor.GemmArgs{
		M: l.out, N: n.positions, K: l.in,
		A: l.value(), LDA: l.in,
		B: h, LDB: n.positions,
		LDC:  n.positions,
		Bias: l.bias.Value,
	}
}

func (n *Net) backwardDevice(dy, dx tensor.Buffer) { n.chain(dy, dx, len(n.layers)-1) }

func (n *Net) featuresGradDevice(df, dx tensor.Buffer) { n.chain(df, dx, len(n.layers)-2) }

// chain goes back from the gradient dz of layer i's result.
func (n *Net) chain(dz, dx tensor.Buffer, i int) {
	p := n.positions
	for spare := 0; i >= 0; i-- {
		l := n.layers[i]
		switch { // dz holds dh
		case l.omega == nil:
		case l.learned():
			n.omegaGrad(l, dz)
		default:
			n.dev.Mul(dz, dz, l.slope.Slice(0, l.out*p))
		}
		h := n.x
		if i > 0 {
			h = n.layers[i-1].h
		}
		var dw tensor.Buffer
		if l.norm != nil {
			dw = l.norm.grad
		} else {
			dw = l.weight.Grad
		}
		n.gemm = tensor.GemmArgs{
			TransB: true,
			M:      l.out, N: l.in, K: p,
			A: dz, LDA: p,
			B: h.Slice(0, l.in*p), LDB: p,
			C: dw, LDC: l.in,
			Accumulate: l.norm == nil,
		}
		n.dev.Gemm(&n.gemm)
		if l.norm != nil {
			l.norm.backward(n.dev)
		}
		n.dev.SumRows(l.bias.Grad, dz, l.out, p, true)

		down := dx
		if i > 0 {
			down, spare = n.grad[spare], 1-spare
		}
		if down.IsZero() {
			return
		}
		down = down.Slice(0, l.in*p)
		n.gemm = tensor.GemmArgs{
			TransA: true,
			M:      l.in, N: p, K: l.out,
			A: l.value(), LDA: l.in,
			B: dz, LDB: p,
			C: down, LDC: p,
		}
		n.dev.Gemm(&n.gemm)
		dz = down
	}
}

// omegaGrad turns dh into dz = dh w cos(w z) and adds the gradient of w,
// sum dh cos(w z) z = (sum dz z)/w.
func (n *Net) omegaGrad(l *layer, dh tensor.Buffer) {
	z := l.z.Slice(0, dh.Len())
	scale := float32(1)
	if l.w == 0 { // the cosine is one everywhere, but dz would not show it
		n.dev.DotRows(n.scalar, dh, z, 1, z.Len())
	}
	n.dev.Mul(dh, dh, l.slope.Slice(0, dh.Len()))
	if l.w != 0 {
		n.dev.DotRows(n.scalar, dh, z, 1, z.Len())
		scale = 1 / l.w
	}
	n.dev.Axpy(l.omega.Grad, scale, n.scalar)
}
