package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// scaledLowRank is lowRank for factors with a scale: the kernel scale (W f + b 1') is (W, b) by (scale f,
// scale), one of a feature more and without offsets.
type scaledLowRank struct {
	*lowRank
	features int
}

var _ featurePasses = (*scaledLowRank)(nil)

func newScaledLowRank(features int) *scaledLowRank {
	return &scaledLowRank{newLowRank(features + 1), features}
}

// layOut cuts these factors, or places for their gradients, off scratch memory.
func (p *scaledLowRank) layOut(scratch tensor.Buffer, s *Shape) (f, w, b []float32, rest tensor.Buffer) {
	memory := pieces{scratch.Host()}
	pairs := s.Out * s.In
	f, w, b = memory.cut(p.featuresSize(s)), memory.cut(pairs*(p.features+1)), memory.cut(pairs)
	return f, w, b, tensor.HostBuffer(memory.rest)
}

// hostFactors returns factors in memory, without a scale.
func hostFactors(f, w, b []float32) kernelFactors {
	return kernelFactors{F: tensor.HostBuffer(f), W: tensor.HostBuffer(w), B: tensor.HostBuffer(b)}
}

// Scales returns true.
func (p *scaledLowRank) Scales() bool { return true }

// Sizes adds the factors to the scratch memory.
func (p *scaledLowRank) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	prepared, scratch = p.lowRank.Sizes(s, inference)
	pairs := s.Out * s.In
	return prepared, roundUp(p.featuresSize(s)) + roundUp(pairs*(p.features+1)) + roundUp(pairs) + scratch
}

// Prepare puts the scale into the features, and the offsets into the weights.
func (p *scaledLowRank) Prepare(prepared tensor.Buffer, k kernelFactors, bias, scratch tensor.Buffer, s *Shape) {
	f, w, b, rest := p.layOut(scratch, s)
	n := len(f) / (p.features + 1)
	scale, from := f[p.features*n:], k.F.Host()
	asm.Fill(scale, 1)
	if !k.Scale.IsZero() {
		copy(scale, k.Scale.Host())
	}
	for h := range p.features {
		asm.Mul(f[h*n:][:n], from[h*n:][:n], scale)
	}
	for pair, offset := range k.B.Host()[:len(b)] {
		row := w[pair*(p.features+1):][:p.features+1]
		copy(row, k.W.Host()[pair*p.features:][:p.features])
		row[p.features] = offset
	}
	clear(b)
	p.lowRank.Prepare(prepared, hostFactors(f, w, b), bias, rest, s)
}

// Backward takes gradients apart again.
func (p *scaledLowRank) Backward(d, k kernelFactors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	f, w, b, rest := p.layOut(scratch, s)
	p.lowRank.Backward(hostFactors(f, w, b), kernelFactors{}, dbias, dx, x, dy, prepared, rest, s, accumulate)
	n := len(f) / (p.features + 1)
	if !d.Scale.IsZero() {
		dscale := d.Scale.Host()[:n]
		copy(dscale, f[p.features*n:])
		for h := range p.features {
			asm.MulAdd(dscale, k.F.Host()[h*n:][:n], f[h*n:][:n])
		}
	}
	to := d.F.Host()
	for h := range p.features {
		if k.Scale.IsZero() {
			copy(to[h*n:][:n], f[h*n:])
		} else {
			asm.Mul(to[h*n:][:n], f[h*n:][:n], k.Scale.Host()[:n])
		}
	}
	for pair := range b {
		row := w[pair*(p.features+1):][:p.features+1]
		copy(d.W.Host()[pair*p.features:][:p.features], row)
		d.B.Host()[pair] = row[p.features]
	}
}
