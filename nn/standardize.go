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
	mean, invStd tensor.Buffer   // [C, B], of the last Forward
	life         tensor.Lifetime // of these
	measure      *measure        // of the group elements, or nil
	call         tensor.StandardizeArgs

	// Where the value of out, or the gradient of in, is not in memory, else nil.
	byPlane         *tensor.Standardization
	value, gradient func(dst []float32, plane int)
	written         func(plane int)
}

// NewStandardize returns the layer.
func NewStandardize() *Standardize { return &Standardize{Eps: 1e-5} }

// Parameters returns nil.
func (l *Standardize) Parameters() []*Parameter { return nil }

// Plan reserves the output map and the statistics of a pass. Maps that only this layer and convolutions need, which
// take them plane by plane (Map.ReadPlanes, Map.TakePlanes), have no memory: their planes are computed where they are read.
func (l *Standardize) Plan(p *Plan, in *Map) *Map {
	checkPlan("Standardize.Plan", p, in)
	in.KeepValue()
	l.in = in
	l.planned(p, p.Like(in, in.C, in.H, in.W))
	l.life = p.carried()
	p.Arena.ReserveFor(&l.mean, in.C*in.B, &l.life)
	p.Arena.ReserveFor(&l.invStd, in.C*in.B, &l.life)
	l.measure = planMeasure(p, in, in.C*in.B)
	if l.planewise(p.Device) {
		in.memory.reader, l.out.memory.source = l, l
	}
	return l.out
}

// planewise reports whether planes of the maps can be computed alone.
func (l *Standardize) planewise(dev tensor.Device) bool {
	_, cpu := dev.(*tensor.CPU)
	return (dev == nil || cpu) && l.in.B > 1 && l.in.memory != nil
}

// extend has the gradient of out, and the statistics, live on to a moment.
func (l *Standardize) extend(to tensor.Moment) { l.life.To, l.out.memory.grad.To = to, to }

// Bind sets the device.
func (l *Standardize) Bind(dev tensor.Device) {
	l.bind("Standardize", dev)
	l.measure.bind(dev)
	l.byPlane, l.value, l.gradient, l.written = nil, nil, nil, nil
	cpu, ok := dev.(*tensor.CPU)
	if ok && l.planewise(dev) && (l.out.Value.IsZero() || l.in.Grad.IsZero() && !l.inference) {
		s := cpu.NewStandardization(l.in.C*l.in.MaxN, l.in.H*l.in.W, l.in.B)
		l.byPlane, l.value, l.gradient, l.written = s, s.Value, s.Gradient, s.Measure
	}
}

// begin says that in is going to be written, and returns what is to be told of each plane, or nil: where all of the
// output is computed anyway, its input had better be in a cache then.
func (l *Standardize) begin() func(plane int) {
	if l.byPlane == nil || !l.out.Value.IsZero() {
		return nil
	}
	l.byPlane.Begin(l.args())
	return l.written
}

// forget drops what is known of the value of in.
func (l *Standardize) forget() {
	if l.byPlane != nil {
		l.byPlane.Forget()
	}
}

func (l *Standardize) args() *tensor.StandardizeArgs {
	l.call = tensor.StandardizeArgs{
		C:      l.in.C,
		N:      l.in.N,
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
	if l.byPlane != nil && l.out.Value.IsZero() {
		l.byPlane.Statistics(a)
		return
	}
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
	if l.byPlane != nil && l.in.Grad.IsZero() {
		l.byPlane.Slopes(a)
	} else {
		l.dev.StandardizeGrad(a)
	}
	l.measure.gather()
}
