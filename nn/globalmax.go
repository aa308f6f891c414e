package nn

import "github.com/noether-go/noether/tensor"

// GlobalMax takes the maximum of each channel of each sample over the group
// elements and the plane: [C, n, H, W, B] to [C, 1, 1, 1, B]. The result is
// invariant under the group as far as the layers before it are equivariant.
//
// Of group elements with weights (Map.On), it is the maximum of w x, with w in units of
// the largest of the list. The values must then not be negative, as after a ReLU, so
// that elements of weight 0 do not show.
type GlobalMax struct {
	lifecycle
	in      *Map
	weights *Weights      // of the group elements, or nil
	index   tensor.Buffer // [C, B]: where each maximum was
	scratch tensor.Buffer // one channel of in; with weights, in itself and a channel
}

// NewGlobalMax returns the layer.
func NewGlobalMax() *GlobalMax { return new(GlobalMax) }

// Parameters returns nil.
func (l *GlobalMax) Parameters() []*Parameter { return nil }

// Plan reserves the output map [C, 1, 1, 1, B].
func (l *GlobalMax) Plan(p *Plan, in *Map) *Map {
	checkPlan("GlobalMax.Plan", p, in)
	in.Read()
	l.in = in
	l.planned(p, p.Map(in.C, 1, 1, 1))
	p.Carry(&l.index, in.C*in.B)
	channel := in.MaxN * in.H * in.W * in.B
	l.weights = PlanWeights(p, in, in.On)
	switch {
	case l.weights != nil:
		in.KeepValue()
		p.Arena.Share(&l.scratch, (in.C+1)*channel)
	case !p.Inference:
		p.Arena.Share(&l.scratch, channel)
	}
	return l.out
}

// Bind sets the device.
func (l *GlobalMax) Bind(dev tensor.Device) {
	l.bind("GlobalMax", dev)
	l.weights.Bind(dev)
}

// Forward takes the maxima and notes where they are.
func (l *GlobalMax) Forward(train bool) {
	l.forward("GlobalMax", train)
	in := l.in
	l.out.Written(1)
	x := in.Live()
	if l.weights.Live() {
		l.weights.ReadRelative()
		x = l.scratch.Slice(0, in.Size())
		l.weights.Spread(x, in.Live())
	}
	l.dev.GlobalMax(l.out.Live(), l.index, x, in.C, in.N*in.H*in.W, in.B)
}

// Backward sends each gradient to the first maximum.
func (l *GlobalMax) Backward() {
	l.backward("GlobalMax")
	in := l.in
	dx, dy := in.LiveGrad(), l.out.LiveGrad()
	s := in.N * in.H * in.W
	accumulate := in.Accumulate()
	switch {
	case l.weights.Live():
		l.weights.Again()
		dx = l.scratch.Slice(0, in.Size())
		l.dev.GlobalMaxGrad(dx, dy, l.index, in.C, s, in.B)
		l.weights.SpreadGrad(dx, l.scratch.Slice(in.Size(), l.scratch.Len()), accumulate)
		return
	case !accumulate:
		l.dev.GlobalMaxGrad(dx, dy, l.index, in.C, s, in.B)
		return
	}
	// One channel at a time, so that the scratch buffer stays small.
	size := in.PerChannel()
	dz := l.scratch.Slice(0, size)
	for c := range in.C {
		dxc := dx.Slice(c*size, (c+1)*size)
		l.dev.GlobalMaxGrad(dz, dy.Slice(c*in.B, (c+1)*in.B), l.index.Slice(c*in.B, (c+1)*in.B), 1, s, in.B)
		l.dev.Add(dxc, dxc, dz)
	}
}
