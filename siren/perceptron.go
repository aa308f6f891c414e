package siren

import (
	"math"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// perceptron are the hidden layers of an MLP: h_i = a(norm(W_i h_{i-1} + b_i)).
type perceptron struct {
	layers     []*unit
	activation Activation
}

// unit is a linear map with what follows it.
type unit struct {
	linear
	scale, shift *nn.Parameter // [out] of the normalisation; nil without
}

// normEps is what a normalisation adds to the variance.
const normEps = 1e-5

// leak is the slope of LeakyReLU below zero.
const leak = 0.01

// Matrices of a worker for a backward pass: of each layer the results, their slopes
// and what it normalised, with 1/deviation in the first row of a fourth. A forward
// pass has two of layers and one for the deviation. The last two have a row each for
// sums over units.
const (
	unitH = iota
	unitSlope
	unitNormal
	unitInverse
	unitKept
)

func (p *perceptron) matrices(backward bool) int {
	if backward {
		return unitKept*len(p.layers) + 2
	}
	return 3 + 2
}

func (p *perceptron) start(tensor.Device) {}

func (p *perceptron) forward(c *cpu, w *cpuWorker, col, n int) []float32 {
	in, ld := c.x[col:], c.positions
	for i, l := range p.layers {
		h := w.hidden[i%2]
		l.preactivation(w, h, h, in, ld, w.hidden[2], n)
		p.activate(w, l, h, nil, n)
		in, ld = h, w.stride
	}
	return in
}

func (p *perceptron) record(c *cpu, w *cpuWorker, col, n int) []float32 {
	in, ld := c.x[col:], c.positions
	for i, l := range p.layers {
		h, slope, normal := p.kept(w, i, unitH), p.kept(w, i, unitSlope), p.kept(w, i, unitNormal)
		l.preactivation(w, h, normal, in, ld, p.kept(w, i, unitInverse), n)
		p.activate(w, l, h, slope, n)
		in, ld = h, w.stride
	}
	return in
}

// kept returns a matrix of layer i that record leaves.
func (p *perceptron) kept(w *cpuWorker, i, what int) []float32 { return w.hidden[unitKept*i+what] }

// preactivation computes W h + b and normalises it where the layer does, leaving the
// standardised values in normal, which may be z, and 1/deviation in inverse.
func (l *unit) preactivation(w *cpuWorker, z, normal, h []float32, ld int, inverse []float32, n int) {
	l.multiply(w, z, h, ld, n)
	l.addBias(w, z, n)
	if l.scale == nil {
		return
	}
	l.standardize(w, normal, z, inverse[:n])
	for r, scale := range l.scale.Value.Host()[:l.out] {
		asm.Affine(w.row(z, r, n), w.row(normal, r, n), scale, l.shift.Value.Host()[r])
	}
}

// standardize takes the mean over units from each position of z and divides by the
// deviation.
func (l *unit) standardize(w *cpuWorker, normal, z, inverse []float32) {
	n := len(inverse)
	mean, square := w.spareRows(n)
	clear(mean)
	for r := range l.out {
		asm.Add(mean, mean, w.row(z, r, n))
	}
	asm.Affine(mean, mean, 1/float32(l.out), 0)
	clear(square)
	for r := range l.out {
		row := w.row(normal, r, n)
		asm.Sub(row, w.row(z, r, n), mean)
		asm.MulAdd(square, row, row)
	}
	for k, s := range square {
		inverse[k] = 1 / float32(math.Sqrt(float64(s/float32(l.out))+normEps))
	}
	for r := range l.out {
		row := w.row(normal, r, n)
		asm.Mul(row, row, inverse)
	}
}

// activate applies the activation to h and, unless slope is nil, computes its
// derivative.
func (p *perceptron) activate(w *cpuWorker, l *unit, h, slope []float32, n int) {
	spare, _ := w.spareRows(n)
	for r := range l.out {
		from, to := r*w.stride, r*w.stride+n
		row, s := h[from:to], spare // where nobody wants the derivative, it costs little
		if slope != nil {
			s = slope[from:to]
		}
		switch p.activation {
		case Swish:
			swish(row, s)
		case LeakyReLU:
			rectify(row, s, leak)
		default:
			rectify(row, s, 0)
		}
	}
}

// rectify multiplies what is below zero by low; slope is the derivative.
func rectify(h, slope []float32, low float32) {
	asm.Fill(slope, 1)
	asm.ReluGrad(slope, slope, h)
	asm.Affine(slope, slope, 1-low, low)
	asm.Mul(h, h, slope)
}

// swish computes z s, s = sigmoid(z), of h; slope is the derivative, s (1 + z (1 - s)).
func swish(h, slope []float32) {
	asm.Affine(slope, h, -1, 0)
	asm.Exp(slope, slope)
	for k, e := range slope {
		s := 1 / (1 + e)
		v := s * h[k]
		h[k], slope[k] = v, s+float32(v*(1-s))
	}
}

func (p *perceptron) sums() int {
	n := 0
	for _, l := range p.layers {
		n += l.sums()
	}
	return n
}

// sums counts weight, bias, scale and shift.
func (l *unit) sums() int {
	n := l.linear.sums()
	if l.scale != nil {
		n += 2 * l.out
	}
	return roundUp(n)
}

func (p *perceptron) backward(c *cpu, w *cpuWorker, sums []float32, col, n int, accumulate bool) {
	end := p.sums()
	for i, spare := len(p.layers)-1, 1; i >= 0; i, spare = i-1, 1-spare {
		l, d := p.layers[i], w.d[1-spare]
		end -= l.sums()
		own := sums[end:]
		l.times(w, d, d, p.kept(w, i, unitSlope), n)
		if l.scale != nil {
			l.normGrad(w, own[l.linear.sums():], d, p.kept(w, i, unitNormal), p.kept(w, i, unitInverse)[:n], n, accumulate)
		}
		dw, db := l.split(own)
		l.biasGrad(w, db, d, n, accumulate)
		in, ld := c.x[col:], c.positions
		if i > 0 {
			in, ld = p.kept(w, i-1, unitH), w.stride
		}
		l.weightGrad(w, dw, d, in, ld, n, accumulate)
		if i > 0 {
			l.inputGrad(w, w.d[spare], w.stride, d, n, false)
		} else if c.dx != nil {
			l.inputGrad(w, c.dx[col:], c.positions, d, n, false)
		}
	}
}

// normGrad turns the gradient d of the shifted values into that of W h + b. With x the
// standardised values, g = scale d and means over units,
//
//	dscale += sum d x,  dshift += sum d,  dz = (g - mean g - x mean(g x)) / deviation
func (l *unit) normGrad(w *cpuWorker, sums, d, x, inverse []float32, n int, accumulate bool) {
	dscale, dshift := sums[:l.out], sums[l.out:2*l.out]
	g, gx := w.spareRows(n)
	clear(g)
	clear(gx)
	for r, scale := range l.scale.Value.Host()[:l.out] {
		dr, xr := w.row(d, r, n), w.row(x, r, n)
		sum(&dshift[r], dr, accumulate)
		dot := asm.Dot(dr, xr)
		if accumulate {
			dot += dscale[r]
		}
		dscale[r] = dot
		asm.Affine(dr, dr, scale, 0)
		asm.Add(g, g, dr)
		asm.MulAdd(gx, dr, xr)
	}
	asm.Affine(g, g, 1/float32(l.out), 0)
	asm.Affine(gx, gx, 1/float32(l.out), 0)
	for r := range l.out {
		dr, xr := w.row(d, r, n), w.row(x, r, n)
		asm.Sub(dr, dr, g)
		asm.Mul(xr, xr, gx)
		asm.Sub(dr, dr, xr)
		asm.Mul(dr, dr, inverse)
	}
}

func (p *perceptron) add(dev tensor.Device, sums []float32) {
	for _, l := range p.layers {
		l.linear.add(dev, sums)
		if l.scale != nil {
			rest := sums[l.linear.sums():]
			add(l.scale.Grad, rest[:l.out])
			add(l.shift.Grad, rest[l.out:2*l.out])
		}
		sums = sums[l.sums():]
	}
}
