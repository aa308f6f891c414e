package nn

import "github.com/noether-go/noether/tensor"

// GlobalMean takes the mean of each channel of each sample over the group
// elements and the plane: [C, n, H, W, B] to [C, 1, 1, 1, B]. The result is
// invariant under the group as far as the layers before it are equivariant.
//
// Of group elements with weights (Map.On), it is sum(w x)/sum(w).
type GlobalMean struct {
	in, out *Map
	weights *Weights        // of the group elements, or nil
	weight  tensor.Buffer   // [n*H*W], each 1/(n*H*W), or with weights each 1
	scratch tensor.Buffer   // with weights: in itself and two channels
	call    tensor.GemmArgs // kept here: an argument of an interface call would go to the heap
	dev     tensor.Device
}

// NewGlobalMean returns the layer.
func NewGlobalMean() *GlobalMean { return new(GlobalMean) }

// Parameters returns nil.
func (l *GlobalMean) Parameters() []*Parameter { return nil }

// Plan reserves the output map [C, 1, 1, 1, B].
func (l *GlobalMean) Plan(p *Plan, in *Map) *Map {
	l.in, l.out = in, p.Map(in.C, 1, 1, 1)
	p.Carry(&l.weight, in.MaxN*in.H*in.W)
	if l.weights = PlanWeights(p, in, in.On); l.weights != nil {
		in.KeepValue()
		p.Arena.Share(&l.scratch, (in.C+2)*in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// Bind sets the device.
func (l *GlobalMean) Bind(dev tensor.Device) {
	l.dev = dev
	l.weights.Bind(dev)
}

// Forward computes y[c, b] = sum over s of x[c, s, b] / S, as a product of a row
// of S weights with each channel.
func (l *GlobalMean) Forward(train bool) {
	in := l.in
	l.out.Written(1)
	s := in.N * in.H * in.W
	x, weight := in.Live(), 1/float32(s)
	if l.weights.Live() {
		l.weights.ReadShares(in.H * in.W)
		x, weight = l.scratch.Slice(0, in.Size()), 1
		l.weights.Spread(x, in.Live())
	}
	l.dev.Fill(l.weight.Slice(0, s), weight)
	l.call = tensor.GemmArgs{
		M: 1, N: in.B, K: s, Batch: in.C,
		A: l.weight, LDA: s,
		B: x, LDB: in.B, StrideB: s * in.B,
		C: l.out.Live(), LDC: in.B, StrideC: in.B,
	}
	l.dev.Gemm(&l.call)
}

// Backward computes dx[c, s, b] = dy[c, b] / S.
func (l *GlobalMean) Backward() {
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

// spread writes to dx, or adds to it, dy for every position, times the row of weights.
func (l *GlobalMean) spread(dx tensor.Buffer, accumulate bool) {
	in := l.in
	s := in.N * in.H * in.W
	l.call = tensor.GemmArgs{
		M: s, N: in.B, K: 1, Batch: in.C,
		A: l.weight, LDA: 1,
		B: l.out.LiveGrad(), LDB: in.B, StrideB: in.B,
		C: dx, LDC: in.B, StrideC: s * in.B,
		Accumulate: accumulate,
	}
	l.dev.Gemm(&l.call)
}
