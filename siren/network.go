package siren

import (
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// network is what all kinds of networks have in common: hidden layers of some
// kind, which turn positions into features, and a linear map behind them.
type network struct {
	in, width, out int // coordinates, features, results
	hidden         hidden
	last           *linear
	linears        []*linear // all linear maps, the last one among them
	params         []*nn.Parameter

	dev       tensor.Device // nil before Bind
	max       int           // 0 before Plan
	inference bool

	x         tensor.Buffer // of the last Forward
	positions int

	f     tensor.Buffer  // [width, max] the features, where they are wanted
	onCPU bool           // planned for a CPU: then cpu has the passes, else other
	first *tensor.Buffer // of those that Plan reserves
	cpu   cpu
	other operations // nil where there are none
}

// operations are the passes on a device other than a CPU, one operation of
// tensor.Device after the other, over all positions.
type operations interface {
	// planDevice reserves the buffers and returns one of them.
	planDevice(p *nn.Plan, max int) *tensor.Buffer
	forwardDevice(y tensor.Buffer)
	featuresDevice() tensor.Buffer
	backwardDevice(dy, dx tensor.Buffer)
	featuresGradDevice(df, dx tensor.Buffer)
}

// In returns the number of coordinates of a position.
func (n *network) In() int { return n.in }

// Out returns the number of coordinates of a result.
func (n *network) Out() int { return n.out }

// Parameters returns the parameters; the type's comment has their names and shapes.
func (n *network) Parameters() []*nn.Parameter { return n.params }

// Plan reserves buffers for at most max positions. Planned for inference, a
// network gives the values that it has in training, on a CPU to the last bit. It
// panics with *Error on a device that this kind of network has no passes for. Another Plan
// takes the place of the one before it.
func (n *network) Plan(p *nn.Plan, max int) {
	switch {
	case p == nil || p.Arena == nil:
		refuse("Plan", "the plan is nil or has no arena; an nn.Plan with Arena is needed")
	case max < 1:
		refuse("Plan", "%d positions; at least 1 is needed", max)
	}
	_, cpu := p.Device.(*tensor.CPU)
	onCPU := cpu || p.Device == nil
	if !onCPU && n.other == nil {
		refuse("Plan", "this kind of kernel network runs on a CPU, not on %s; a Net runs on all devices", p.Device.Name())
	}
	n.max, n.inference, n.onCPU = max, p.Inference, onCPU
	n.dev, n.positions = nil, 0
	for _, l := range n.linears {
		l.plan(p.Arena)
	}
	if n.onCPU {
		n.planCPU(p, max)
		n.first = &n.f
	} else {
		n.first = n.other.planDevice(p, max)
	}
}

// Bind sets the device. It panics with *Error when the network was not planned, its arena
// or parameters are not bound, or it was planned for another kind of device.
func (n *network) Bind(dev tensor.Device) {
	n.reserved("Bind")
	if dev == nil {
		refuse("Bind", "the device is nil; what the arena is bound to is needed")
	}
	n.parametersBound("Bind")
	c, ok := dev.(*tensor.CPU)
	if ok != n.onCPU {
		refuse("Bind", "planned for another kind of device than %s", dev.Name())
	}
	n.dev = dev
	if ok {
		n.cpu.bind(c)
	}
}

// parametersBound panics unless the parameters have memory, which Parameters.Release takes from them.
func (n *network) parametersBound(op string) {
	if p := nn.Unbound(n.params); p != nil {
		refuse(op, "the parameter %q is not bound to a device; call Parameters.Bind first", p.Name)
	}
}

// planned panics unless Plan was called.
func (n *network) planned(op string) {
	if n.max == 0 {
		refuse(op, "not planned; call Plan first")
	}
}

// reserved panics unless Plan was called and its arena is bound.
func (n *network) reserved(op string) {
	n.planned(op)
	if n.first.IsZero() {
		refuse(op, "the plan's arena is not bound to a device; call Arena.Bind first")
	}
}

// start checks the arguments of a forward pass and takes the values of the
// parameters.
func (n *network) start(op string, x tensor.Buffer, positions int) {
	n.reserved(op)
	if n.dev == nil {
		refuse(op, "not bound to a device; call Bind first")
	}
	n.parametersBound(op)
	if positions < 1 || positions > n.max {
		refuse(op, "%d positions, planned are 1 to %d", positions, n.max)
	}
	if x.Len() < n.in*positions {
		refuse(op, "%d values are too few for %d positions of %d coordinates", x.Len(), positions, n.in)
	}
	n.x, n.positions = x.Slice(0, n.in*positions), positions
	for _, l := range n.linears {
		l.start(n.dev)
	}
	n.hidden.start(n.dev)
}

// Forward evaluates the network at the positions x [In, positions] and writes
// the result to y [Out, positions].
func (n *network) Forward(y, x tensor.Buffer, positions int) {
	if y.Len() < n.out*positions {
		refuse("Forward", "%d values have no place for %d results at %d positions", y.Len(), n.out, positions)
	}
	n.start("Forward", x, positions)
	if n.onCPU {
		n.cpu.forward(y, n.x, positions)
		return
	}
	n.other.forwardDevice(y)
}

// Backward follows Forward: given dy [Out, positions] it adds to the gradients
// of the parameters and, unless dx is the zero Buffer, writes the gradient of
// the positions to dx [In, positions].
func (n *network) Backward(dy, dx tensor.Buffer) {
	n.follows("Backward", "Forward")
	p := n.positions
	if dy.Len() < n.out*p || !dx.IsZero() && dx.Len() < n.in*p {
		refuse("Backward", "gradients are too short for %d positions", p)
	}
	if n.onCPU {
		n.cpu.backward(dy, dx, n.x, p)
		return
	}
	n.other.backwardDevice(dy.Slice(0, n.out*p), dx)
}

// follows refuses a backward pass that has nothing to go back from.
func (n *network) follows(op, forward string) {
	n.planned(op)
	if n.inference {
		refuse(op, "planned for inference, which has no Backward")
	}
	if n.positions == 0 {
		refuse(op, "no %s before it", forward)
	}
	n.parametersBound(op)
}

// Features returns the width of the last hidden layer.
func (n *network) Features() int { return n.width }

// ForwardFeatures evaluates all but the last linear map.
func (n *network) ForwardFeatures(x tensor.Buffer, positions int) (f, w, b tensor.Buffer) {
	n.start("ForwardFeatures", x, positions)
	if n.onCPU {
		f = n.f.Slice(0, n.width*positions)
		n.cpu.features(f, n.x, positions)
	} else {
		f = n.other.featuresDevice()
	}
	return f, n.last.value(), n.last.bias.Value
}

// BackwardFeatures goes back from the features and the last linear map.
func (n *network) BackwardFeatures(dw, db, df, dx tensor.Buffer) {
	const op = "BackwardFeatures"
	n.follows(op, "ForwardFeatures")
	last := n.last
	if df.Len() < n.width*n.positions || dw.Len() < last.out*last.in || db.Len() < last.out || !dx.IsZero() && dx.Len() < n.in*n.positions {
		refuse(op, "gradients are too short for %d features at %d positions", n.width, n.positions)
	}
	dw, db = dw.Slice(0, last.out*last.in), db.Slice(0, last.out)
	if last.norm != nil {
		n.dev.Copy(last.norm.grad, dw)
		last.norm.backward(n.dev)
	} else {
		n.dev.Add(last.weight.Grad, last.weight.Grad, dw)
	}
	n.dev.Add(last.bias.Grad, last.bias.Grad, db)
	df = df.Slice(0, n.width*n.positions)
	if n.onCPU {
		n.cpu.featuresGrad(df, dx, n.x, n.positions)
		return
	}
	n.other.featuresGradDevice(df, dx)
}
