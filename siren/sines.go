package siren

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// sines are the hidden layers of a Net.
type sines struct {
	layers []*layer
	host   [1]float32
}

// Matrices of a worker: the results of all layers, then, for a backward pass, their
// slopes, and then z where the frequency is learned.

func (s *sines) h(w *cpuWorker, i int) []float32     { return w.hidden[i] }
func (s *sines) slope(w *cpuWorker, i int) []float32 { return w.hidden[len(s.layers)+i] }
func (s *sines) z(w *cpuWorker, i int) []float32     { return w.hidden[2*len(s.layers)+i] }

func (s *sines) matrices(backward bool) int {
	if backward {
		return 3 * len(s.layers)
	}
	return len(s.layers)
}

func (s *sines) start(dev tensor.Device) {
	for _, l := range s.layers {
		if l.w = l.omega.Host[0]; l.learned() {
			dev.Download(s.host[:], l.omega.Value)
			l.w = s.host[0]
		}
	}
}

// input returns what layer i multiplies: x or the results of the layer before.
func (s *sines) input(c *cpu, w *cpuWorker, i, col int) (h []float32, ld int) {
	if i == 0 {
		return c.x[col:], c.positions
	}
	return s.h(w, i-1), w.stride
}

func (s *sines) forward(c *cpu, w *cpuWorker, col, n int) []float32 {
	for i, l := range s.layers {
		h := s.h(w, i)
		in, ld := s.input(c, w, i, col)
		l.multiply(w, h, in, ld, n)
		for r, b := range l.bias.Value.Host()[:l.out] {
			v := w.row(h, r, n)
			asm.SinAffine(v, v, l.w, l.w*b)
		}
	}
	return s.h(w, len(s.layers)-1)
}

func (s *sines) record(c *cpu, w *cpuWorker, col, n int) []float32 {
	for i, l := range s.layers {
		h, slope, z := s.h(w, i), s.slope(w, i), s.z(w, i)
		in, ld := s.input(c, w, i, col)
		l.multiply(w, z, in, ld, n)
		for r, b := range l.bias.Value.Host()[:l.out] {
			from, to := r*w.stride, r*w.stride+n
			asm.SinCosAffine(h[from:to], slope[from:to], z[from:to], l.w, l.w*b)
			if l.learned() {
				asm.Affine(z[from:to], z[from:to], 1, b)
			}
		}
	}
	return s.h(w, len(s.layers)-1)
}

// sums counts weight, bias and frequency of each layer.
func (s *sines) sums() int {
	n := 0
	for _, l := range s.layers {
		n += roundUp(l.linear.sums() + 1)
	}
	return n
}

func (s *sines) backward(c *cpu, w *cpuWorker, sums []float32, col, n int, accumulate bool) {
	end := s.sums()
	for i, spare := len(s.layers)-1, 1; i >= 0; i, spare = i-1, 1-spare {
		l := s.layers[i]
		d := w.d[1-spare]
		end -= roundUp(l.linear.sums() + 1)
		dw, db := l.split(sums[end:])
		s.slopes(w, i, d, db, &sums[end+l.linear.sums()], n, accumulate)
		in, ld := s.input(c, w, i, col)
		l.weightGrad(w, dw, d, in, ld, n, accumulate)
		if i > 0 {
			l.inputGrad(w, w.d[spare], w.stride, d, n, false)
		} else if c.dx != nil {
			l.inputGrad(w, c.dx[col:], c.positions, d, n, false)
		}
	}
}

// slopes turns the gradient d of layer i's results into dz and sums the gradients of
// bias and frequency, of the latter times w.
func (s *sines) slopes(w *cpuWorker, i int, d, db []float32, dOmega *float32, n int, accumulate bool) {
	l := s.layers[i]
	slope, z := s.slope(w, i), s.z(w, i)
	omega := float32(0)
	for r := range l.out {
		from, to := r*w.stride, r*w.stride+n
		dz := d[from:to]
		// The gradient of w is sum dh cos(w z) z = (sum dz z)/w; where w is
		// zero, the cosine is one and dz would not show it.
		if l.learned() && l.w == 0 {
			omega += asm.Dot(dz, z[from:to])
		}
		asm.Mul(dz, dz, slope[from:to])
		if l.learned() && l.w != 0 {
			omega += asm.Dot(dz, z[from:to])
		}
		sum(&db[r], dz, accumulate)
	}
	if accumulate {
		omega += *dOmega
	}
	*dOmega = omega
}

func (s *sines) add(dev tensor.Device, sums []float32) {
	for _, l := range s.layers {
		l.linear.add(dev, sums)
		if l.learned() {
			scale := float32(1)
			if l.w != 0 {
				scale = 1 / l.w
			}
			l.omega.Grad.Host()[0] += float32(scale * sums[l.linear.sums()])
		}
		sums = sums[roundUp(l.linear.sums()+1):]
	}
}
