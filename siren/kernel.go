package siren

import (
	"fmt"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Kernel is a network R^In -> R^Out that is evaluated at many positions at once.
// The order of calls is: Plan, then Arena.Bind and Parameters.Bind, then Bind,
// then any number of passes; the networks of this package panic with *Error where a call is
// missing. Planned for inference, a network has no backward pass. A pass allocates nothing.
type Kernel interface {
	// In and Out are the numbers of coordinates of a position and of a result.
	In() int
	Out() int
	// Parameters returns the parameters, in the order of the layers.
	Parameters() []*nn.Parameter
	// Plan reserves buffers for at most max positions.
	Plan(p *nn.Plan, max int)
	// Bind sets the device that the arena and the parameters are bound to.
	Bind(dev tensor.Device)
	// Forward evaluates the network at the positions x [In, positions] and
	// writes the result to y [Out, positions]. x must not change before
	// Backward; y may.
	Forward(y, x tensor.Buffer, positions int)
	// Backward follows Forward. Given the gradient dy [Out, positions] of the
	// result it adds to the gradients of the parameters and, unless dx is the
	// zero Buffer, writes the gradient of the positions to dx [In, positions].
	Backward(dy, dx tensor.Buffer)
}

// Error is what this package panics with on programmer error.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "siren: " + e.Op + ": " + e.Problem }

func refuse(op, format string, args ...any) { panic(&Error{op, fmt.Sprintf(format, args...)}) }
