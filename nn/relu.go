package nn

import "github.com/noether-go/noether/tensor"

// ReLU is y = max(x, 0), elementwise. It works in place, unless the backward
// pass of an earlier layer still needs x, or x is pooled and an earlier layer reads it
// too, whose gradient then finds its maximum by a negative x.
type ReLU struct {
	lifecycle
	in *Map
}

// NewReLU returns the layer.
func NewReLU() *ReLU { return new(ReLU) }

// Parameters returns nil.
func (l *ReLU) Parameters() []*Parameter { return nil }

// Plan returns a map with the memory of in, which no later layer may then read, or of its
// own where in must be kept.
func (l *ReLU) Plan(p *Plan, in *Map) *Map {
	checkPlan("ReLU.Plan", p, in)
	l.in = in
	l.planned(p, p.inPlace(in, keepPositive))
	l.out.KeepValue() // Backward takes the sign of x from y
	return l.out
}

// Bind sets the device.
func (l *ReLU) Bind(dev tensor.Device) { l.bind("ReLU", dev) }

// Forward computes y = max(x, 0).
func (l *ReLU) Forward(train bool) {
	l.forward("ReLU", train)
	l.out.Written(l.in.N)
	l.dev.ReLU(l.out.Live(), l.in.Live())
}

// Backward computes dx = dy where y > 0, else 0.
func (l *ReLU) Backward() {
	l.backward("ReLU")
	dy := l.out.LiveGrad()
	switch {
	case l.out.shares(l.in):
		l.in.Accumulate() // what reads in besides adds to it
		l.dev.ReLUGrad(dy, dy, l.out.Live())
	case l.in.Accumulate():
		l.dev.ReLUGrad(dy, dy, l.out.Live())
		l.dev.Add(l.in.LiveGrad(), l.in.LiveGrad(), dy)
	default:
		l.dev.ReLUGrad(l.in.LiveGrad(), dy, l.out.Live())
	}
}
