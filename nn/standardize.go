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

	in, out      *Map
	mean, invStd tensor.Buffer // [C, B], of the last Forward
	weights      *Weights      // of the group elements, or nil
	dWeights     tensor.Buffer // of the values of a channel
	call         tensor.StandardizeArgs
	dev          tensor.Device
}

// NewStandardize returns the layer.
func NewStandardize() *Standardize { return &Standardize{Eps: 1e-5} }

// Parameters returns nil.
func (l *Standardize) Parameters() []*Parameter { return nil }

// Plan reserves the output map and the statistics of a pass.
func (l *Standardize) Plan(p *Plan, in *Map) *Map {
	in.KeepValue()
	l.in, l.out = in, p.Like(in, in.C, in.H, in.W)
	p.Carry(&l.mean, in.C*in.B)
	p.Carry(&l.invStd, in.C*in.B)
	if l.weights = PlanWeights(p, in, in.On); l.weights != nil && !p.Inference {
		p.Arena.Share(&l.dWeights, in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// Bind sets the device.
func (l *Standardize) Bind(dev tensor.Device) {
	l.dev = dev
	l.weights.Bind(dev)
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
	if l.weights.Live() {
		l.call.Measure = l.weights.Tile()
	}
	return &l.call
}

// Forward standardises, in training and in evaluation alike.
func (l *Standardize) Forward(train bool) {
	l.out.Written(l.in.N)
	if l.weights.Live() {
		l.weights.ReadRelative()
	}
	a := l.args()
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
	l.weights.Again()
	a := l.args()
	a.DY, a.DX, a.AddDX = l.out.LiveGrad(), l.in.LiveGrad(), l.in.Accumulate()
	if !l.weights.Live() {
		l.dev.StandardizeGrad(a)
		return
	}
	a.DMeasure = l.dWeights.Slice(0, l.in.PerChannel())
	l.dev.StandardizeGrad(a)
	l.weights.Gather(a.DMeasure)
}
