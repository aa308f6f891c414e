package nn

import "github.com/noether-go/noether/tensor"

// mean is the mean over the group elements of a map and, if plane is set, over its
// plane too: GlobalMean and GroupMean.
type mean struct {
	lifecycle
	plane   bool
	in      *Map
	weights *Weights        // of the group elements, or nil
	weight  tensor.Buffer   // [s], each 1/s, or with weights each 1
	scratch tensor.Buffer   // with weights: in itself and a channel
	call    tensor.GemmArgs // kept here: an argument of an interface call would go to the heap
}

// name returns the name of the layer.
func (l *mean) name() string {
	if l.plane {
		return "GlobalMean"
	}
	return "GroupMean"
}

// Parameters returns nil.
func (l *mean) Parameters() []*Parameter { return nil }

// reserve plans the layer with that output.
func (l *mean) reserve(p *Plan, in, out *Map) *Map {
	in.Read()
	l.in = in
	l.planned(p, out)
	p.Carry(&l.weight, in.MaxN*l.points())
	if l.weights = PlanWeights(p, in, in.On); l.weights != nil {
		in.KeepValue()
		p.Arena.Share(&l.scratch, (in.C+1)*in.MaxN*in.H*in.W*in.B)
	}
	return out
}

// points returns of how many points of the plane the mean is taken.
func (l *mean) points() int {
	if l.plane {
		return l.in.H * l.in.W
	}
	return 1
}

// Bind sets the device.
func (l *mean) Bind(dev tensor.Device) {
	l.bind(l.name(), dev)
	l.weights.Bind(dev)
}

// Forward computes, of each channel [s, r] of x, the mean of its rows over s, as a product
// of a row of s weights with it.
func (l *mean) Forward(train bool) {
	l.forward(l.name(), train)
	in := l.in
	l.out.Written(1)
	s, r := in.N*l.points(), l.out.PerChannel()
	x, weight := in.Live(), 1/float32(s)
	if l.weights.Live() {
		l.weights.ReadShares(l.points())
		x, weight = l.scratch.Slice(0, in.Size()), 1
		l.weights.Spread(x, in.Live())
	}
	l.dev.Fill(l.weight.Slice(0, s), weight)
	l.call = tensor.GemmArgs{
		M: 1, N: r, K: s, Batch: in.C,
		A: l.weight, LDA: s,
		B: x, LDB: r, StrideB: s * r,
		C: l.out.Live(), LDC: r, StrideC: r,
	}
	l.dev.Gemm(&l.call)
}

// Backward gives every row of dx the gradient of the mean over s.
func (l *mean) Backward() {
	l.backward(l.name())
	in := l.in
	accumulate := in.Accumulate()
	if !l.weights.Live() {
		l.spread(in.LiveGrad(), accumulate)
		return
	}
	l.weights.Again()
	dx := l.scratch.Slice(0, in.Size())
	l.spread(dx, false)
	l.weights.SpreadGrad(dx, l.scratch.Slice(in.Size(), l.scratch.Len()), accumulate)
}

// spread writes to dx, or adds to it, dy for every row, times the row of weights.
func (l *mean) spread(dx tensor.Buffer, accumulate bool) {
	s, r := l.in.N*l.points(), l.out.PerChannel()
	l.call = tensor.GemmArgs{
		M: s, N: r, K: 1, Batch: l.in.C,
		A: l.weight, LDA: 1,
		B: l.out.LiveGrad(), LDB: r, StrideB: r,
		C: dx, LDC: r, StrideC: s * r,
		Accumulate: accumulate,
	}
	l.dev.Gemm(&l.call)
}
