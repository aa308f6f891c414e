package nn

import "github.com/noether-go/noether/tensor"

// GroupMean takes the mean over the group elements at each point of the plane:
// [C, n, H, W, B] to [C, 1, H, W, B].
type GroupMean struct {
	in, out *Map
	weight  tensor.Buffer   // [n], each 1/n
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
	return l.out
}

// Bind sets the device.
func (l *GroupMean) Bind(dev tensor.Device) { l.dev = dev }

// Forward computes y[c, p] = sum over j of x[c, j, p] / n, where p counts plane and
// batch, as a product of a row of n weights with each channel.
func (l *GroupMean) Forward(train bool) {
	in := l.in
	l.out.Written(1)
	points := l.out.PerChannel()
	l.dev.Fill(l.weight.Slice(0, in.N), 1/float32(in.N))
	l.call = tensor.GemmArgs{
		M: 1, N: points, K: in.N, Batch: in.C,
		A: l.weight, LDA: in.N,
		B: in.Live(), LDB: points, StrideB: in.N * points,
		C: l.out.Live(), LDC: points, StrideC: points,
	}
	l.dev.Gemm(&l.call)
}

// Backward computes dx[c, j, p] = dy[c, p] / n.
func (l *GroupMean) Backward() {
	in, points := l.in, l.out.PerChannel()
	l.call = tensor.GemmArgs{
		M: in.N, N: points, K: 1, Batch: in.C,
		A: l.weight, LDA: 1,
		B: l.out.LiveGrad(), LDB: points, StrideB: points,
		C: in.LiveGrad(), LDC: points, StrideC: in.N * points,
		Accumulate: in.Accumulate(),
	}
	l.dev.Gemm(&l.call)
}
