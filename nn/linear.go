package nn

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// Linear maps the channels at every position: y = W x + b with x [in, m] and
// y [out, m], where m counts group elements, plane and batch. After GlobalMax it
// is the classifier.
type Linear struct {
	Weight *Parameter // [out, in, 1, 1]
	Bias   *Parameter // [out]

	lifecycle
	in   *Map
	call tensor.GemmArgs // kept here: an argument of an interface call would go to the heap
}

// NewLinear returns the layer with PyTorch's default initialisation: weight and
// bias uniform in +-1/sqrt(in), drawn from the streams of (seed, NAME.weight)
// and (seed, NAME.bias).
func NewLinear(name string, in, out int, seed uint64) (*Linear, error) {
	if err := checkWidth(name, "input channels", in); err != nil {
		return nil, err
	}
	if err := checkWidth(name, "output channels", out); err != nil {
		return nil, err
	}
	if out > mostValues/in {
		return nil, &ConfigError{Layer: name, Field: "number of weights", Value: fmt.Sprintf("%d x %d", out, in), Allowed: fmt.Sprintf("at most %d", mostValues)}
	}
	l := &Linear{
		Weight: NewParameter(name+".weight", Weight, out, in, 1, 1),
		Bias:   NewParameter(name+".bias", Weight, out),
	}
	usual(l.Parameters(), in, seed)
	return l, nil
}

// usual draws parameters as PyTorch does for a linear map of so many inputs:
// uniform in +-1/sqrt(in), from the streams of (seed, name).
func usual(params []*Parameter, in int, seed uint64) {
	bound := 1 / math.Sqrt(float64(in))
	for _, p := range params {
		src := stream.New(seed, p.Name, 0)
		for i := range p.Host {
			p.Host[i] = float32(bound * (2*src.Float64() - 1))
		}
	}
}

// Parameters returns weight and bias.
func (l *Linear) Parameters() []*Parameter { return []*Parameter{l.Weight, l.Bias} }

// Plan reserves the output map.
func (l *Linear) Plan(p *Plan, in *Map) *Map {
	const op = "Linear.Plan"
	checkPlan(op, p, in)
	checkChannels(op, l.Weight.Shape[1], in)
	in.KeepValue()
	l.in = in
	return l.planned(p, p.Like(in, l.Weight.Shape[0], in.H, in.W))
}

// Bind sets the device.
func (l *Linear) Bind(dev tensor.Device) { l.bind("Linear", dev, l.Weight, l.Bias) }

// Forward computes y = W x + b.
func (l *Linear) Forward(train bool) {
	l.forward("Linear", train)
	l.out.Written(l.in.N)
	m := l.in.PerChannel()
	l.call = tensor.GemmArgs{
		M: l.out.C, N: m, K: l.in.C,
		A: l.Weight.Value, LDA: l.in.C,
		B: l.in.Live(), LDB: m,
		C: l.out.Live(), LDC: m,
		Bias: l.Bias.Value,
	}
	l.dev.Gemm(&l.call)
}

// Backward computes db += sum dy, dW += dy x', dx = W' dy.
func (l *Linear) Backward() {
	l.backward("Linear")
	in, out, m := l.in, l.out, l.in.PerChannel()
	dy := out.LiveGrad()
	l.dev.SumRows(l.Bias.Grad, dy, out.C, m, true)
	l.call = tensor.GemmArgs{
		TransB: true,
		M:      out.C, N: in.C, K: m,
		A: dy, LDA: m,
		B: in.Live(), LDB: m,
		C: l.Weight.Grad, LDC: in.C,
		Accumulate: true,
	}
	l.dev.Gemm(&l.call)
	l.call = tensor.GemmArgs{
		TransA: true,
		M:      in.C, N: m, K: out.C,
		A: l.Weight.Value, LDA: in.C,
		B: dy, LDB: m,
		C: in.LiveGrad(), LDC: m,
		Accumulate: in.Accumulate(),
	}
	l.dev.Gemm(&l.call)
}
