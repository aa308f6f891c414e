package nn

import "github.com/noether-go/noether/tensor"

// BatchNorm normalises each channel over the group elements, the plane and the
// batch (Ioffe & Szegedy 2015), then scales and shifts it:
//
//	y = (x - mean) / sqrt(var + Eps) * weight + bias
//
// What surrounds it in a network is done in the same pass over memory where it is
// wanted: a sum before it (PlanSum), pooling and a ReLU behind it.
//
// With train, mean and variance (biased) are those of the pass, and the running
// statistics move towards them by Momentum (the variance towards the unbiased
// one); without train the running statistics stand in. Group elements with weights
// (Map.On) count in mean and variance as much as those say. The pass is the whole batch:
// where fewer samples are live, as CrossEntropy allows, what stands in the other columns
// counts in mean and variance as they do.
type BatchNorm struct {
	Eps, Momentum float32 // 1e-5 and 0.1

	// To be set before Plan.
	Pool bool // y is pooled, as by MaxPool2
	ReLU bool // and then y = max(y, 0)

	Weight, Bias            *Parameter // [C], initially 1 and 0
	RunningMean, RunningVar *Parameter // [C], initially 0 and 1
	Batches                 *Parameter // scalar: number of training passes, exact to 2^24

	lifecycle
	in           *Map
	addend       *Map                 // of PlanSum, or nil
	mean, invStd tensor.Buffer        // [C], of the last Forward
	measure      *measure             // of the group elements, or nil
	one          tensor.Buffer        // [1]
	call         tensor.BatchNormArgs // kept here: an argument of an interface call would go to the heap
}

// NewBatchNorm returns the layer for that many channels. Its parameters are
// named PREFIX.module.weight and so on, as in the reference's checkpoints.
func NewBatchNorm(prefix string, channels int) (*BatchNorm, error) {
	if err := checkWidth(prefix, "channels", channels); err != nil {
		return nil, err
	}
	name := prefix + ".module."
	l := &BatchNorm{
		Eps:         1e-5,
		Momentum:    0.1,
		Weight:      NewParameter(name+"weight", Weight, channels),
		Bias:        NewParameter(name+"bias", Weight, channels),
		RunningMean: NewParameter(name+"running_mean", Statistic, channels),
		RunningVar:  NewParameter(name+"running_var", Statistic, channels),
		Batches:     NewParameter(name+"num_batches_tracked", Statistic),
	}
	for c := range channels {
		l.Weight.Host[c], l.RunningVar.Host[c] = 1, 1
	}
	return l, nil
}

// Parameters returns weight, bias and the running statistics.
func (l *BatchNorm) Parameters() []*Parameter {
	return []*Parameter{l.Weight, l.Bias, l.RunningMean, l.RunningVar, l.Batches}
}

// Plan reserves the output map and the statistics of a pass. With Pool it panics
// where H or W is below 2.
func (l *BatchNorm) Plan(p *Plan, in *Map) *Map {
	const op = "BatchNorm.Plan"
	checkPlan(op, p, in)
	checkChannels(op, len(l.Weight.Host), in)
	h, w := in.H, in.W
	if l.Pool {
		checkPlane(op, in)
		h, w = in.H/2, in.W/2
	}
	in.KeepValue()
	l.in, l.addend = in, nil
	l.planned(p, p.Like(in, in.C, h, w))
	p.Carry(&l.mean, in.C)
	p.Carry(&l.invStd, in.C)
	if l.measure = nil; !p.Inference && in.On != nil { // inference takes the running statistics
		l.measure = planMeasure(p, in, in.C*in.On.Lists())
	}
	p.Arena.Reserve(&l.one, 1)
	return l.out
}

// PlanSum is Plan for the sum of two maps, which have equal sizes and, in every
// pass, equal element counts: a residual connection. The sum takes the place of
// one of them, whose value no other layer may keep.
func (l *BatchNorm) PlanSum(p *Plan, a, b *Map) *Map {
	a, b = sumInPlace("BatchNorm.PlanSum", p, a, b)
	out := l.Plan(p, a)
	l.addend, a.state = b, summed
	return out
}

// Bind sets the device.
func (l *BatchNorm) Bind(dev tensor.Device) {
	l.bind("BatchNorm", dev, l.Parameters()...)
	l.measure.bind(dev)
	dev.Fill(l.one, 1)
}

func (l *BatchNorm) args(train bool) *tensor.BatchNormArgs {
	l.call = tensor.BatchNormArgs{
		Rows:        l.in.C,
		Cols:        l.in.PerChannel(),
		Train:       train,
		Eps:         l.Eps,
		Momentum:    l.Momentum,
		ReLU:        l.ReLU,
		Pool:        l.Pool,
		H:           l.in.H,
		W:           l.in.W,
		B:           l.in.B,
		X:           l.in.Live(),
		Weight:      l.Weight.Value,
		Bias:        l.Bias.Value,
		Mean:        l.mean,
		InvStd:      l.invStd,
		RunningMean: l.RunningMean.Value,
		RunningVar:  l.RunningVar.Value,
	}
	return &l.call
}

// Forward normalises with the statistics of the pass and updates the running
// ones, or, without train, normalises with the running ones.
func (l *BatchNorm) Forward(train bool) {
	l.forward("BatchNorm", train)
	l.out.Written(l.in.N)
	a := l.args(train)
	if train {
		l.measure.read()
		a.Measure = l.measure.forward()
	}
	a.Y = l.out.Live()
	if l.addend != nil {
		if l.addend.N != l.in.N {
			refuse("BatchNorm.Forward", "the summands have %d and %d elements", l.in.N, l.addend.N)
		}
		a.Addend = l.addend.Live()
	}
	l.dev.BatchNorm(a)
	if train {
		l.dev.Axpy(l.Batches.Value, 1, l.one)
	}
}

// Backward computes, with z = (x - mean)*invstd over the m values of a channel,
// and d for what of dy passes ReLU and pooling, at the place it comes from,
//
//	dbias += sum d, dweight += sum d*z
//	dx = weight*invstd * (d - sum(d)/m - z*sum(d*z)/m)
//
// because mean and variance depend on x. Both summands of PlanSum get dx. It adds to
// the gradients of weights, which mean and variance depend on too.
func (l *BatchNorm) Backward() {
	l.backward("BatchNorm")
	a := l.args(true)
	a.DY, a.DX, a.AddDX = l.out.LiveGrad(), l.in.LiveGrad(), l.in.Accumulate()
	a.DWeight, a.DBias = l.Weight.Grad, l.Bias.Grad
	if l.addend != nil {
		a.DAddend, a.AddDAddend = l.addend.LiveGrad(), l.addend.Accumulate()
	}
	a.Measure = l.measure.backward()
	l.dev.BatchNormGrad(a)
	l.measure.gather()
}
