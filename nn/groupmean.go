package nn

import "github.com/noether-go/noether/tensor"

// GroupMean takes the mean over the group elements at each point of the plane:
// [C, n, H, W, B] to [C, 1, H, W, B].
//
// Of group elements with weights (Map.On), it is sum(w x)/sum(w).
type GroupMean struct {
	in, out *Map
	weights *Weights        // of the group elements, or nil
	weight  tensor.Buffer   // [n], each 1/n, or with weights each 1
	scratch tensor.Buffer   // with weights: in itself and two channels
	call    tensor.GemmArgs // kept here: an argument of an interface call would go to the heap
	dev     tensor.Device
}

// NewGroupMean returns the layer.
func NewGroupMean() *GroupMean { return new(GroupMean) }

// Parameters returns nil.
func (l *GroupMean) Parameters() []*Parameter { return nil }

// Plan reserves the output map [C, 1, H, W, B].
func (l *GroupMean) Plan(p *Plan, in *Map) *Map {
	l.in, l.out = in, p.Map(in.C, 1, in.H, in.W)
	p.Carry(&l.weight, in.MaxN)
	if l.weights = PlanWeights(p, in, in.On); l.weights != nil {
		in.KeepValue()
		p.Arena.Share(&l.scratch, (in.C+2)*in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// Bind sets the device.
func (l *GroupMean) Bind(dev tensor.Device) {
	l.dev = dev
	l.weights.Bind(dev)
}

// Forward computes y[c, p] = sum over j of x[c, j, p] / n, where p counts plane and
// batch, as a product of a row of n weights with each channel.
func (l *GroupMean) Forward(train bool) {
	in := l.in
	l.out.Written(1)
	points := l.out.PerChannel()
	x, weight := in.Live(), 1/float32(in.N)
	if l.weights.Live() {
		l.weights.ReadShares(1)
		x, weight = l.scratch.Slice(0, in.Size()), 1
		l.weights.Spread(x, in.Live())
	}
	l.dev.Fill(l.weight.Slice(0, in.N), weight)
	l.call = tensor.GemmArgs{
		M: 1, N: points, K: in.N, Batch: in.C,
		A: l.weight, LDA: in.N,
		B: x, LDB: points, StrideB: in.N * points,
		C: l.out.Live(), LDC: points, StrideC: points,
	}
	l.dev.Gemm(&l.call)
}

// Backward computes dx[c, j, p] = dy[c, p] / n.
func (l *GroupMean) Backward() {
	in := l.in
	accumulate := in.Accumulate()
	if !l.weights.Live() {
		l.spread(in.LiveGrad(), accumulate)
		return
	}
	dx := l.scratch.Slice(0, in.Size())
	l.spread(dx, false)
	l.weights.SpreadGrad(dx, l.scratch.Slice(in.Size(), l.scratch.Len()), accumulate)
}

// spread writes to dx, or adds to it, dy for every element, times the row of weights.
func (l *GroupMean) spread(dx tensor.Buffer, accumulate bool) {
	in, points := l.in, l.out.PerChannel()
	l.call = tensor.GemmArgs{
		M: in.N, N: points, K: 1, Batch: in.C,
		A: l.weight, LDA: 1,
		B: l.out.LiveGrad(), LDB: points, StrideB: points,
		C: dx, LDC: points, StrideC: in.N * points,
		Accumulate: accumulate,
	}
	l.dev.Gemm(&l.call)
}
