package nn

import "github.com/noether-go/noether/tensor"

// BatchNorm normalises each channel over the group elements, the plane and the
// batch (Ioffe & Szegedy 2015), then scales and shifts it:
//
//	y = (x - mean) / sqrt(var + Eps) * weight + bias
//
// With train, mean and variance (biased) are those of the pass, and the running
// statistics move towards them by Momentum (the variance towards the unbiased
// one); without train the running statistics stand in.
type BatchNorm struct {
	Eps, Momentum float32 // 1e-5 and 0.1

	Weight, Bias            *Parameter // [C], initially 1 and 0
	RunningMean, RunningVar *Parameter // [C], initially 0 and 1
	Batches                 *Parameter // scalar: number of training passes, exact to 2^24

	in, out      *Map
	mean, invStd tensor.Buffer // [C], of the last Forward
	one          tensor.Buffer // [1]
	trained      bool
	call         tensor.BatchNormArgs // kept here: an argument of an interface call would go to the heap
	dev          tensor.Device
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

// Plan reserves the output map and the statistics of a pass.
func (l *BatchNorm) Plan(p *Plan, in *Map) *Map {
	checkChannels("BatchNorm.Plan", len(l.Weight.Host), in)
	in.KeepValue()
	l.in, l.out = in, p.Map(in.C, in.MaxN, in.H, in.W)
	p.Carry(&l.mean, in.C)
	p.Carry(&l.invStd, in.C)
	p.Arena.Reserve(&l.one, 1)
	return l.out
}

// Bind sets the device.
func (l *BatchNorm) Bind(dev tensor.Device) {
	l.dev = dev
	dev.Fill(l.one, 1)
}

func (l *BatchNorm) args(train bool) *tensor.BatchNormArgs {
	l.call = tensor.BatchNormArgs{
		Rows:        l.in.C,
		Cols:        l.in.PerChannel(),
		Train:       train,
		Eps:         l.Eps,
		Momentum:    l.Momentum,
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
	l.trained = train
	l.out.Written(l.in.N)
	a := l.args(train)
	a.Y = l.out.Live()
	l.dev.BatchNorm(a)
	if train {
		l.dev.Axpy(l.Batches.Value, 1, l.one)
	}
}

// Backward computes, with z = (x - mean)*invstd over the m values of a channel,
//
//	dbias += sum dy, dweight += sum dy*z
//	dx = weight*invstd * (dy - sum(dy)/m - z*sum(dy*z)/m)
//
// because mean and variance depend on x.
func (l *BatchNorm) Backward() {
	if !l.trained {
		refuse("BatchNorm.Backward", "no Forward(true) before it")
	}
	a := l.args(true)
	a.DY, a.DX = l.out.LiveGrad(), l.in.LiveGrad()
	a.DWeight, a.DBias = l.Weight.Grad, l.Bias.Grad
	add := l.in.Accumulate()
	if add {
		a.DX = a.DY
	}
	l.dev.BatchNormGrad(a)
	if add {
		l.dev.Add(l.in.LiveGrad(), l.in.LiveGrad(), a.DX)
	}
}
