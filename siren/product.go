package siren

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// product are the hidden layers of a Filters: z_0 = f_0, z_i = f_i * u_i with
// u_i = A_i z_{i-1} + b_i.
type product struct {
	linears []*linear // A_i, i = 1, 2, ...
	filters []*filter // f_i, i = 0, 1, ...
}

// faint is what a Gaussian is lowered by, so that its tail ends in zero: it lies far
// below the rounding of the peak, and products of values in the tail would be
// denormal, which costs tenfold.
const faint = 1e-12

// Matrices of a worker for a backward pass: of each layer f, its derivative by the
// argument of the sine, z and u. A forward pass has three. The last two have a row each
// for what belongs to a unit.
const (
	keepF = iota
	keepSlope
	keepZ
	keepU
	kept
)

func (p *product) matrices(backward bool) int {
	if backward {
		return kept*len(p.filters) + 2
	}
	return 3 + 2
}

func (p *product) start(tensor.Device) {}

func (p *product) forward(c *cpu, w *cpuWorker, col, n int) []float32 {
	z, f, u := w.hidden[0], w.hidden[1], w.hidden[2]
	p.filters[0].values(c, w, z, nil, col, n)
	for i, l := range p.linears {
		p.filters[i+1].values(c, w, f, nil, col, n)
		l.affine(w, u, z, n)
		l.times(w, z, f, u, n)
	}
	return z
}

func (p *product) record(c *cpu, w *cpuWorker, col, n int) []float32 {
	for i, f := range p.filters {
		f.values(c, w, p.kept(w, i, keepF), p.kept(w, i, keepSlope), col, n)
	}
	for i, l := range p.linears {
		u := p.kept(w, i+1, keepU)
		l.affine(w, u, p.z(w, i), n)
		l.times(w, p.kept(w, i+1, keepZ), p.kept(w, i+1, keepF), u, n)
	}
	return p.z(w, len(p.linears))
}

// kept returns a matrix of layer i that record leaves.
func (p *product) kept(w *cpuWorker, i, what int) []float32 { return w.hidden[kept*i+what] }

// z returns z_i.
func (p *product) z(w *cpuWorker, i int) []float32 {
	if i == 0 {
		return p.kept(w, 0, keepF)
	}
	return p.kept(w, i, keepZ)
}

// affine computes W h + b of a block.
func (l *linear) affine(w *cpuWorker, u, h []float32, n int) {
	l.multiply(w, u, h, w.stride, n)
	l.addBias(w, u, n)
}

// addBias adds the bias to the rows of a block.
func (l *linear) addBias(w *cpuWorker, z []float32, n int) {
	for r, b := range l.bias.Value.Host()[:l.out] {
		row := w.row(z, r, n)
		asm.Affine(row, row, 1, b)
	}
}

// times multiplies two blocks of the map's results.
func (l *linear) times(w *cpuWorker, z, x, y []float32, n int) {
	for r := range l.out {
		asm.Mul(w.row(z, r, n), w.row(x, r, n), w.row(y, r, n))
	}
}

// values computes the filter at a block of positions and, unless slope is nil, its
// derivative by the argument of the sine.
func (f *filter) values(c *cpu, w *cpuWorker, value, slope []float32, col, n int) {
	f.multiply(w, value, c.x[col:], c.positions, n)
	envelope, t := w.spareRows(n)
	for r, b := range f.bias.Value.Host()[:f.out] {
		from, to := r*w.stride, r*w.stride+n
		v := value[from:to]
		if slope != nil {
			asm.SinCosAffine(v, slope[from:to], v, 1, b)
		} else {
			asm.SinAffine(v, v, 1, b)
		}
		if f.mu == nil {
			continue
		}
		f.envelope(c, envelope, t, r, col)
		asm.Mul(v, v, envelope)
		if slope != nil {
			asm.Mul(slope[from:to], slope[from:to], envelope)
		}
	}
}

// spareRows returns a row of each of the last two matrices.
func (w *cpuWorker) spareRows(n int) (a, b []float32) {
	k := len(w.hidden)
	return w.hidden[k-2][:n], w.hidden[k-1][:n]
}

// at returns mu and gamma of a unit and a coordinate.
func (f *filter) at(r, d int) (mu, gamma float32) {
	columns := f.gamma.Shape[1]
	return f.mu.Value.Host()[r*f.in+d], f.gamma.Value.Host()[r*columns+d%columns]
}

// envelope computes the Gaussian e of a unit at the positions from col on; t is
// memory for as many values.
func (f *filter) envelope(c *cpu, e, t []float32, r, col int) {
	for d := range f.in {
		mu, gamma := f.at(r, d)
		x := c.x[d*c.positions+col:][:len(e)]
		asm.Affine(t, x, gamma, -float32(gamma*mu))
		if d == 0 {
			asm.Mul(e, t, t)
		} else {
			asm.MulAdd(e, t, t)
		}
	}
	asm.Affine(e, e, -0.5, 0)
	asm.Exp(e, e)
	asm.Affine(e, e, 1, -faint)
	asm.Relu(e, e)
}

// sums counts, for each filter, weight, bias, mu and gamma, and for each layer behind
// the first weight and bias.
func (p *product) sums() int {
	n := 0
	for _, l := range p.linears {
		n += roundUp(l.sums())
	}
	for _, f := range p.filters {
		n += f.sums()
	}
	return n
}

func (f *filter) sums() int {
	n := f.linear.sums()
	if f.mu != nil {
		n += len(f.mu.Host) + len(f.gamma.Host)
	}
	return roundUp(n)
}

func (p *product) backward(c *cpu, w *cpuWorker, sums []float32, col, n int, accumulate bool) {
	end := p.sums()
	spare := 1
	for i := len(p.filters) - 1; i >= 0; i-- {
		d, f := w.d[1-spare], p.filters[i]
		df := d
		if i > 0 {
			df = p.kept(w, i, keepU)
			f.times(w, df, df, d, n)
			f.times(w, d, d, p.kept(w, i, keepF), n)
		}
		end -= f.sums()
		last := i == len(p.filters)-1
		f.backward(c, w, sums[end:], df, p.kept(w, i, keepF), p.kept(w, i, keepSlope), col, n, accumulate, !last)
		if i == 0 {
			return
		}
		l := p.linears[i-1]
		end -= roundUp(l.sums())
		dw, db := l.split(sums[end:])
		l.biasGrad(w, db, d, n, accumulate)
		l.weightGrad(w, dw, d, p.z(w, i-1), w.stride, n, accumulate)
		l.inputGrad(w, w.d[spare], w.stride, d, n, false)
		spare = 1 - spare
	}
}

// biasGrad sums the rows of dz.
func (l *linear) biasGrad(w *cpuWorker, db, dz []float32, n int, accumulate bool) {
	for r := range l.out {
		sum(&db[r], w.row(dz, r, n), accumulate)
	}
}

// backward takes the gradient df of a filter's value, and the value and its slope,
// which it overwrites. It sums the gradients of the parameters and writes the gradient
// of the positions, if wanted, or with addX adds to it.
func (f *filter) backward(c *cpu, w *cpuWorker, sums, df, value, slope []float32, col, n int, accumulate, addX bool) {
	da := slope
	f.times(w, da, df, slope, n)
	dw, db := f.split(sums)
	f.biasGrad(w, db, da, n, accumulate)
	f.weightGrad(w, dw, da, c.x[col:], c.positions, n, accumulate)
	if c.dx != nil {
		f.inputGrad(w, c.dx[col:], c.positions, da, n, addX)
	}
	if f.mu == nil {
		return
	}
	sums = sums[f.linear.sums():]
	dmu, dgamma := sums[:len(f.mu.Host)], sums[len(f.mu.Host):][:len(f.gamma.Host)]
	if !accumulate {
		clear(dmu)
		clear(dgamma)
	}
	for r := range f.out {
		// q is minus the gradient of half the square of the distance.
		q := w.row(value, r, n)
		asm.Mul(q, q, w.row(df, r, n))
		f.envelopeGrad(c, w, dmu, dgamma, q, r, col)
	}
}

// envelopeGrad goes back through the Gaussian of a unit: with r_d = x_d - mu_d,
//
//	dmu_d += gamma_d^2 sum q r_d,  dgamma_d -= gamma_d sum q r_d^2,  dx_d -= gamma_d^2 q r_d
func (f *filter) envelopeGrad(c *cpu, w *cpuWorker, dmu, dgamma, q []float32, r, col int) {
	n, columns := len(q), f.gamma.Shape[1]
	distance, qr := w.spareRows(n)
	for d := range f.in {
		mu, gamma := f.at(r, d)
		square := float32(gamma * gamma)
		asm.Affine(distance, c.x[d*c.positions+col:][:n], 1, -mu)
		asm.Mul(qr, q, distance)
		dmu[r*f.in+d] += float32(square * asm.Sum(qr))
		dgamma[r*columns+d%columns] -= float32(gamma * asm.Dot(qr, distance))
		if c.dx != nil {
			asm.Axpy(c.dx[d*c.positions+col:][:n], -square, qr)
		}
	}
}

func (p *product) add(dev tensor.Device, sums []float32) {
	for i, f := range p.filters {
		if i > 0 {
			l := p.linears[i-1]
			l.add(dev, sums)
			sums = sums[roundUp(l.sums()):]
		}
		f.linear.add(dev, sums)
		if f.mu != nil {
			rest := sums[f.linear.sums():]
			add(f.mu.Grad, rest[:len(f.mu.Host)])
			add(f.gamma.Grad, rest[len(f.mu.Host):][:len(f.gamma.Host)])
		}
		sums = sums[f.sums():]
	}
}
