package tensor

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
)

// ClipNorm scales g by max/sqrt(sumSquares[0]) where that is below one.
//
// It hides nothing: when the norm is NaN, all of g becomes NaN, and when it is
// infinite, g becomes NaN where it was infinite and zero elsewhere.
func (d *CPU) ClipNorm(g, sumSquares Buffer, max float32) {
	checkPositive("ClipNorm", "max", float64(max))
	norm := math.Sqrt(float64(host("ClipNorm", "sumSquares", sumSquares, 1)[0]))
	if norm <= float64(max) {
		return
	}
	d.Scale(g, float32(float64(max)/norm), g)
}

// Adam makes one step of Adam, see AdamArgs.
func (d *CPU) Adam(a *AdamArgs) {
	const op = "Adam"
	if a.Step < 1 {
		panic(&Error{op, fmt.Sprintf("Step is %d, want 1 or more", a.Step)})
	}
	n := a.P.Len()
	t := float64(a.Step)
	// The moments decay by betas rounded to float32; the corrections must undo
	// exactly those, or the first steps are off by 1e-5.
	beta1, beta2 := float64(float32(a.Beta1)), float64(float32(a.Beta2))
	d.each(n, vectorTask{
		kind: vectorAdam,
		dst:  same(op, "P", a.P, n),
		x:    same(op, "M", a.M, n),
		y:    same(op, "V", a.V, n),
		z:    same(op, "G", a.G, n),
		adam: asm.AdamStep{
			Step:        float32(a.LR / (1 - math.Pow(beta1, t))),
			Beta1:       float32(a.Beta1),
			Beta2:       float32(a.Beta2),
			Correction2: float32(1 / (1 - math.Pow(beta2, t))),
			Eps:         float32(a.Eps),
			Decay:       float32(1 - float64(a.LR*a.WeightDecay)),
		},
	})
}

// sgdStep holds the scalars of a step of SGD.
type sgdStep struct {
	momentum float32
	decay    float32 // of P
	gradient float32 // weight of G in P
	velocity float32 // weight of V in P
}

// sgdStep computes y = momentum*y + x, where there is a y, and
// dst = decay*dst + gradient*x + velocity*y.
func (t *vectorTask) sgdStep(lo, hi int) {
	s := &t.sgd
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		p, g := t.dst[lo:end], t.x[lo:end]
		if t.y != nil {
			v := t.y[lo:end]
			asm.Combine(v, v, g, s.momentum, 1, minusZero)
			asm.Combine(p, p, v, s.decay, s.velocity, minusZero)
		}
		switch {
		case t.y == nil:
			asm.Combine(p, p, g, s.decay, s.gradient, minusZero)
		case s.gradient != 0:
			asm.Axpy(p, s.gradient, g)
		}
	}
}

// SGD makes one step of stochastic gradient descent, see SGDArgs.
func (d *CPU) SGD(a *SGDArgs) {
	const op = "SGD"
	n := a.P.Len()
	t := vectorTask{kind: vectorSGD, dst: same(op, "P", a.P, n), x: same(op, "G", a.G, n)}
	t.sgd = sgdStep{
		momentum: float32(a.Momentum),
		decay:    float32(1 - float64(a.LR*a.WeightDecay)),
	}
	switch {
	case a.V.IsZero() && a.Momentum != 0:
		panic(&Error{op, fmt.Sprintf("momentum %v without V", a.Momentum)})
	case a.V.IsZero():
		t.sgd.gradient = float32(-a.LR)
	case a.Nesterov:
		t.y = same(op, "V", a.V, n)
		t.sgd.gradient, t.sgd.velocity = float32(-a.LR), float32(-a.LR*a.Momentum)
	default:
		t.y = same(op, "V", a.V, n)
		t.sgd.velocity = float32(-a.LR)
	}
	d.each(n, t)
}
