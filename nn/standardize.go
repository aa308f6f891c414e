package nn

import "github.com/noether-go/noether/tensor"

// Standardize gives every channel of every sample mean 0 and variance 1 over the
// group elements and the plane (instance normalisation without affine map,
// Ulyanov et al. 2016; biased variance):
//
//	y = (x - mean) / sqrt(var + Eps)
//
// Group elements with weights (Map.On) count in mean and variance as much as those say.
type Standardize struct {
	Eps  float32 // 1e-5
	ReLU bool    // y = max(y, 0) besides, in the same pass over memory

	lifecycle
	in           *Map
	mean, invStd tensor.Buffer // [C, B], of the last Forward
	measure      *measure      // of the group elements, or nil
	call         tensor.StandardizeArgs
}

// NewStandardize returns the layer.
func NewStandardize() *Standardize { return &Standardize{Eps: 1e-5} }

// Parameters returns nil.
func (l *Standardize) Parameters() []*Parameter { return nil }

// Plan reserves the output map and the statistics of a pass.
func (l *Standardize) Plan(p *Plan, in *Map) *Map {
	checkPlan("Standardize.Plan", p, in)
	in.KeepValue()
	l.in = in
	l.planned(p, p.Like(in, in.C, in.H, in.W))
	p.Carry(&l.mean, in.C*in.B)
	p.Carry(&l.invStd, in.C*in.B)
	l.measure = planMeasure(p, in, in.C*in.B)
	return l.out
}

// Bind sets the device.
func (l *Standardize) Bind(dev tensor.Device) {
	l.bind("Standardize", dev)
	l.measure.bind(dev)
}

func (l *Standardize) args() *tensor.StandardizeArgs {
	l.call = tensor.StandardizeArgs{
		C:      l.in.C,
		S:      l.in.N * l.in.H * l.in.W,
		B:      l.in.B,
		Eps:    l.Eps,
		ReLU:   l.ReLU,
		X:      l.in.Live(),
		Mean:   l.mean,
		InvStd: l.invStd,
	}
	return &l.call
}

// Forward standardises, in training and in evaluation alike.
func (l *Standardize) Forward(train bool) {
	l.forward("Standardize", train)
	l.out.Written(l.in.N)
	l.measure.read()
	a := l.args()
	a.Measure = l.measure.forward()
	a.Y = l.out.Live()
	l.dev.Standardize(a)
}

// Backward computes, with z = (x - mean)*invstd over the m values of a channel
// and sample, and d for what of dy the ReLU lets pass,
//
//	dx = invstd * (d - sum(d)/m - z*sum(d*z)/m)
//
// and adds to the gradients of weights, which mean and variance depend on too.
func (l *Standardize) Backward() {
	l.backward("Standardize")
	a := l.args()
	a.DY, a.DX, a.AddDX = l.out.LiveGrad(), l.in.LiveGrad(), l.in.Accumulate()
	a.Measure = l.measure.backward()
	l.dev.StandardizeGrad(a)
	l.measure.gather()
}
