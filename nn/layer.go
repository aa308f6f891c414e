package nn

import (
	"fmt"

	"github.com/noether-go/noether/tensor"
)

// Layer is what every layer with one input and one output offers. The order of
// calls is: constructor, Plan, then Arena.Bind and Parameters.Bind, then Bind,
// then any number of passes. Forward(train) computes the output map from the live
// elements of the input map. Backward follows a Forward(true): it reads the
// gradient of the output map, writes or adds (Map.Accumulate) the gradient of
// the input map, and adds to the gradients of the parameters. Backward may
// overwrite the gradient of the output map. Planned for inference, a layer has neither
// Forward(true) nor Backward. The layers of this package panic with *Error where a call
// is missing or is not to be.
//
// A layer has one place in one network: another Plan takes that of the one before it,
// whose output map is then computed no more. A pass allocates nothing. A layer is used by
// one goroutine at a time.
type Layer interface {
	// Parameters returns the layer's parameters and statistics, nil if none.
	Parameters() []*Parameter
	// Plan reserves the layer's buffers and returns its output map, which has the
	// memory of in for a layer that works in place. It calls Map.Read or
	// Map.KeepValue for in, whose batch must be the plan's.
	Plan(p *Plan, in *Map) *Map
	// Bind sets the device that the arena and the parameters are bound to.
	Bind(dev tensor.Device)
	Forward(train bool)
	Backward()
}

const unbound = "the parameter %q is not bound to a device; call Parameters.Bind first"

// lifecycle is how far a layer has come between its constructor and a pass. Layers embed
// it, so that each says which call is missing.
type lifecycle struct {
	out       *Map          // what Plan returned, nil before; of a loss, the logits
	dev       tensor.Device // nil before Bind
	params    []*Parameter  // that Bind found bound
	inference bool          // planned for inference
	trained   bool          // the last Forward had train
}

// planned notes that the layer was planned, and returns its output map.
func (l *lifecycle) planned(p *Plan, out *Map) *Map {
	*l = lifecycle{out: out, inference: p.Inference}
	return out
}

// bind sets the device. It panics unless the layer was planned and the arena and the
// parameters are bound.
func (l *lifecycle) bind(layer string, dev tensor.Device, params ...*Parameter) {
	op := layer + ".Bind"
	l.reserved(op)
	if dev == nil {
		refuse(op, "the device is nil; what the arena is bound to is needed")
	}
	if p := Unbound(params); p != nil {
		refuse(op, unbound, p.Name)
	}
	l.dev, l.params = dev, params
}

// forward panics unless the layer can run forward, with train as its plan has it.
func (l *lifecycle) forward(layer string, train bool) {
	if train && l.inference {
		refuse(layer+".Forward", "planned for inference, which has no Forward(true)")
	}
	l.ready(layer, ".Forward")
	l.trained = train
}

// backward panics unless the layer can run backward.
func (l *lifecycle) backward(layer string) {
	if l.inference {
		refuse(layer+".Backward", "planned for inference, which has no Backward")
	}
	l.ready(layer, ".Backward")
	if !l.trained {
		refuse(layer+".Backward", "no Forward(true) before it")
	}
}

// ready panics unless the layer is planned and bound, with its parameters.
func (l *lifecycle) ready(layer, method string) {
	if l.dev == nil || !l.out.reserved() {
		l.reserved(layer + method)
		refuse(layer+method, "not bound to a device; call Bind first")
	}
	if p := Unbound(l.params); p != nil {
		refuse(layer+method, unbound, p.Name)
	}
}

// reserved panics unless the layer has the memory that it planned.
func (l *lifecycle) reserved(op string) {
	switch {
	case l.out == nil:
		refuse(op, "not planned; call Plan first")
	case !l.out.reserved():
		refuse(op, "the plan's arena is not bound to a device; call Arena.Bind first")
	}
}

// checkPlan panics unless there is a plan, and maps of its batch.
func checkPlan(op string, p *Plan, maps ...*Map) {
	p.check(op)
	for _, m := range maps {
		if m == nil {
			refuse(op, "the input map is nil; one of Plan.Map or of another layer's Plan is needed")
		}
		if m.B != p.Batch {
			refuse(op, "the input map is planned for a batch of %d, the layer for one of %d; Plan.Batch must be the same for both", m.B, p.Batch)
		}
	}
}

// mostValues bounds the values of a layer's parameters: 1 GiB, beyond which lies a typing
// error.
const mostValues = 1 << 28

// checkWidth returns an error unless n, the number of what, is positive and not too large.
func checkWidth(layer, what string, n int) error {
	switch {
	case n < 1:
		return &ConfigError{Layer: layer, Field: what, Value: n, Allowed: "at least 1"}
	case n > mostValues:
		return &ConfigError{Layer: layer, Field: what, Value: n, Allowed: fmt.Sprintf("at most %d", mostValues)}
	}
	return nil
}

// checkChannels panics unless the map has the channels that a layer was built
// for.
func checkChannels(op string, want int, in *Map) {
	if in.C != want {
		refuse(op, "the layer has %d channels, its input %d", want, in.C)
	}
}
