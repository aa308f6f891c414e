package nn

import "github.com/noether-go/noether/tensor"

// LayerNorm normalises every sample over its channels, the group elements and the
// plane together (Ba, Kiros & Hinton 2016; group normalisation, Wu & He 2018, with a
// single group; biased variance), then scales and shifts each channel:
//
//	y = (x - mean) / sqrt(var + Eps) * weight + bias
//
// Unlike BatchNorm it is the same in training and in evaluation, and a sample does
// not depend on the others in its batch. A sum before it (PlanSum), pooling and a ReLU
// behind it are done as by BatchNorm. Group elements with weights (Map.On) count in
// mean and variance as much as those say.
type LayerNorm struct {
	Eps float32 // 1e-12

	// To be set before Plan.
	Pool bool // y is pooled, as by MaxPool2
	ReLU bool // and then y = max(y, 0)

	Weight, Bias *Parameter // [C], initially 1 and 0

	lifecycle
	in           *Map
	addend       *Map                 // of PlanSum, or nil
	mean, invStd tensor.Buffer        // [B], of the last Forward
	scratch      tensor.Buffer        // with Pool, what is pooled; then, as large, a gradient
	measure      *measure             // of the group elements, or nil
	call         tensor.LayerNormArgs // kept here: an argument of an interface call would go to the heap
}

// NewLayerNorm returns the layer for that many channels. Its parameters are named
// PREFIX.module.layer_norm.weight and so on, as in the reference's checkpoints.
func NewLayerNorm(prefix string, channels int) (*LayerNorm, error) {
	if err := checkWidth(prefix, "channels", channels); err != nil {
		return nil, err
	}
	name := prefix + ".module.layer_norm."
	l := &LayerNorm{
		Eps:    1e-12,
		Weight: NewParameter(name+"weight", Weight, channels),
		Bias:   NewParameter(name+"bias", Weight, channels),
	}
	for c := range channels {
		l.Weight.Host[c] = 1
	}
	return l, nil
}

// Parameters returns weight and bias.
func (l *LayerNorm) Parameters() []*Parameter { return []*Parameter{l.Weight, l.Bias} }

// Plan reserves the output map and the statistics of a pass. With Pool it panics
// where H or W is below 2.
func (l *LayerNorm) Plan(p *Plan, in *Map) *Map {
	checkPlan("LayerNorm.Plan", p, in)
	return l.plan(p, in, nil)
}

// PlanSum is Plan for the sum of two maps, as that of BatchNorm.
func (l *LayerNorm) PlanSum(p *Plan, a, b *Map) *Map {
	a, b = sumInPlace("LayerNorm.PlanSum", p, a, b)
	out := l.plan(p, a, b)
	a.state = summed
	return out
}

func (l *LayerNorm) plan(p *Plan, in, addend *Map) *Map {
	const op = "LayerNorm.Plan"
	checkChannels(op, len(l.Weight.Host), in)
	h, w := in.H, in.W
	if l.Pool {
		checkPlane(op, in)
		h, w = in.H/2, in.W/2
	}
	in.KeepValue()
	l.in, l.addend = in, addend
	l.planned(p, p.Like(in, in.C, h, w))
	p.Carry(&l.mean, in.B)
	p.Carry(&l.invStd, in.B)
	scratch := 0
	if l.Pool {
		l.out.keep(keepPositive) // a gradient finds its maximum by y; behind a ReLU it is zero elsewhere
		scratch += in.Size()
	}
	if !p.Inference && (l.Pool || addend != nil) {
		scratch += in.Size()
	}
	l.measure = planMeasure(p, in, in.B)
	p.Arena.Share(&l.scratch, scratch)
	return l.out
}

// Bind sets the device.
func (l *LayerNorm) Bind(dev tensor.Device) {
	l.bind("LayerNorm", dev, l.Weight, l.Bias)
	l.measure.bind(dev)
}

func (l *LayerNorm) args() *tensor.LayerNormArgs {
	l.call = tensor.LayerNormArgs{
		C:      l.in.C,
		S:      l.in.N * l.in.H * l.in.W,
		B:      l.in.B,
		Eps:    l.Eps,
		ReLU:   l.ReLU,
		X:      l.in.Live(),
		Weight: l.Weight.Value,
		Bias:   l.Bias.Value,
		Mean:   l.mean,
		InvStd: l.invStd,
	}
	return &l.call
}

// Forward normalises, in training and in evaluation alike.
func (l *LayerNorm) Forward(train bool) {
	l.forward("LayerNorm", train)
	in, out := l.in, l.out
	out.Written(in.N)
	if l.addend != nil {
		if l.addend.N != in.N {
			refuse("LayerNorm.Forward", "the summands have %d and %d elements", in.N, l.addend.N)
		}
		l.dev.Add(in.Live(), in.Live(), l.addend.Live())
	}
	l.measure.read()
	a := l.args()
	a.Measure = l.measure.forward()
	a.Y = out.Live()
	if l.Pool {
		a.Y = l.scratch.Slice(0, in.Size())
	}
	l.dev.LayerNorm(a)
	if l.Pool { // after the ReLU, with which it commutes
		l.dev.MaxPool2(out.Live(), a.Y, in.C*in.N, in.H, in.W, in.B)
	}
}

// Backward computes, over the m values of a sample, with z = (x - mean)*invstd and d
// for what of dy pooling and ReLU let pass,
//
//	dx = invstd * (weight*d - sum(weight*d)/m - z*sum(weight*d*z)/m)
//
// Both summands of PlanSum get dx. It adds to the gradients of weights, which mean and
// variance depend on too.
func (l *LayerNorm) Backward() {
	l.backward("LayerNorm")
	a := l.args()
	a.Measure = l.measure.backward()
	a.DY, a.DX, a.AddDX = l.out.LiveGrad(), l.in.LiveGrad(), l.in.Accumulate()
	a.DWeight, a.DBias = l.Weight.Grad, l.Bias.Grad
	apart := a.AddDX && l.addend != nil // the addend is to have the gradient alone
	if apart {
		a.DX, a.AddDX = l.spare(), false
	}
	if l.Pool {
		l.unpool(a)
	}
	l.dev.LayerNormGrad(a)
	l.measure.gather()
	if apart {
		l.dev.Add(l.in.LiveGrad(), l.in.LiveGrad(), a.DX)
	}
	if l.addend != nil {
		l.pass(a.DX)
	}
}

// pass hands dx to the addend.
func (l *LayerNorm) pass(dx tensor.Buffer) {
	to := l.addend.LiveGrad()
	if l.addend.Accumulate() {
		l.dev.Add(to, to, dx)
	} else {
		l.dev.Copy(to, dx)
	}
}

// unpool takes the gradient of the pooled map back to that of the normalised one,
// which is computed anew.
func (l *LayerNorm) unpool(a *tensor.LayerNormArgs) {
	in := l.in
	a.Y, a.Fixed = l.scratch.Slice(0, in.Size()), true
	l.dev.LayerNorm(a)
	dy := a.DX // LayerNormGrad may overwrite its DY
	if a.AddDX {
		dy = l.spare()
	}
	l.dev.MaxPool2Grad(dy, a.DY, a.Y, l.out.Live(), in.C*in.N, in.H, in.W, in.B)
	a.DY = dy
}

// spare returns the place of a gradient in scratch memory.
func (l *LayerNorm) spare() tensor.Buffer {
	n := l.in.Size()
	if l.Pool {
		return l.scratch.Slice(n, 2*n)
	}
	return l.scratch.Slice(0, n)
}
