package nn

import "github.com/noether-go/noether/tensor"

// Add joins a residual connection: y = a + b. It works in place on a, unless a
// backward pass still needs the value of a; b is left alone. Both maps must have
// equal sizes and, in every pass, equal element counts.
type Add struct {
	lifecycle
	a, b *Map
}

// NewAdd returns the layer.
func NewAdd() *Add { return new(Add) }

// Parameters returns nil.
func (l *Add) Parameters() []*Parameter { return nil }

// Plan returns a map with the memory of a, which no later layer may then read, or of its
// own where a must be kept.
func (l *Add) Plan(p *Plan, a, b *Map) *Map {
	checkSummands("Add.Plan", p, a, b)
	b.Read()
	l.a, l.b = a, b
	return l.planned(p, p.inPlace(a, keepNothing))
}

// checkSummands panics unless a and b are different maps of equal sizes that a layer can
// be planned on.
func checkSummands(op string, p *Plan, a, b *Map) {
	checkPlan(op, p, a, b)
	if a.C != b.C || a.H != b.H || a.W != b.W || a.B != b.B || a.MaxN != b.MaxN {
		refuse(op, "the summands are [%d %d %d %d %d] and [%d %d %d %d %d]",
			a.C, a.MaxN, a.H, a.W, a.B, b.C, b.MaxN, b.H, b.W, b.B)
	}
	if a == b {
		refuse(op, "the summands are the same map")
	}
}

// sumInPlace returns the summands of a layer that takes their sum in the place of the
// first one, whose value no other layer may keep, or read any more once the layer is
// planned.
func sumInPlace(op string, p *Plan, a, b *Map) (sum, addend *Map) {
	checkSummands(op, p, a, b)
	if a.isKept() {
		a, b = b, a
	}
	if a.isKept() {
		refuse(op, "the values of both summands are kept, so that the sum has no place; see Add")
	}
	b.Read()
	return a, b
}

// Bind sets the device.
func (l *Add) Bind(dev tensor.Device) { l.bind("Add", dev) }

// Forward computes y = a + b.
func (l *Add) Forward(train bool) {
	l.forward("Add", train)
	if l.a.N != l.b.N {
		refuse("Add.Forward", "the summands have %d and %d elements", l.a.N, l.b.N)
	}
	l.out.Written(l.a.N)
	l.dev.Add(l.out.Live(), l.a.Live(), l.b.Live())
}

// Backward passes dy on to both summands.
func (l *Add) Backward() {
	l.backward("Add")
	dy := l.out.LiveGrad()
	if l.out.shares(l.a) {
		l.a.Accumulate() // what reads a besides adds to it
	} else {
		l.pass(l.a, dy)
	}
	l.pass(l.b, dy)
}

func (l *Add) pass(to *Map, dy tensor.Buffer) {
	if to.Accumulate() {
		l.dev.Add(to.LiveGrad(), to.LiveGrad(), dy)
	} else {
		l.dev.Copy(to.LiveGrad(), dy)
	}
}
