package nn

import "github.com/noether-go/noether/tensor"

// GlobalMean takes the mean of each channel of each sample over the group
// elements and the plane: [C, n, H, W, B] to [C, 1, 1, 1, B]. The result is
// invariant under the group as far as the layers before it are equivariant.
type GlobalMean struct {
	in, out *Map
	weight  tensor.Buffer   // [n*H*W], each 1/(n*H*W)
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
	return l.out
}

// Bind sets the device.
func (l *GlobalMean) Bind(dev tensor.Device) { l.dev = dev }

// Forward computes y[c, b] = sum over s of x[c, s, b] / S, as a product of a row
// of S weights with each channel.
func (l *GlobalMean) Forward(train bool) {
	in := l.in
	l.out.Written(1)
	s := in.N * in.H * in.W
	l.dev.Fill(l.weight.Slice(0, s), 1/float32(s))
	l.call = tensor.GemmArgs{
		M: 1, N: in.B, K: s, Batch: in.C,
		A: l.weight, LDA: s,
		B: in.Live(), LDB: in.B, StrideB: s * in.B,
		C: l.out.Live(), LDC: in.B, StrideC: in.B,
	}
	l.dev.Gemm(&l.call)
}

// Backward computes dx[c, s, b] = dy[c, b] / S.
func (l *GlobalMean) Backward() {
	in := l.in
	s := in.N * in.H * in.W
	l.call = tensor.GemmArgs{
		M: s, N: in.B, K: 1, Batch: in.C,
		A: l.weight, LDA: 1,
		B: l.out.LiveGrad(), LDB: in.B, StrideB: in.B,
		C: in.LiveGrad(), LDC: in.B, StrideC: s * in.B,
		Accumulate: in.Accumulate(),
	}
	l.dev.Gemm(&l.call)
}
