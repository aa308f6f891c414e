package nn

import "github.com/noether-go/noether/tensor"

// GlobalMax takes the maximum of each channel of each sample over the group
// elements and the plane: [C, n, H, W, B] to [C, 1, 1, 1, B]. The result is
// invariant under the group as far as the layers before it are equivariant.
type GlobalMax struct {
	in, out *Map
	index   tensor.Buffer // [C, B]: where each maximum was
	scratch tensor.Buffer // one channel of in
	dev     tensor.Device
}

// NewGlobalMax returns the layer.
func NewGlobalMax() *GlobalMax { return new(GlobalMax) }

// Parameters returns nil.
func (l *GlobalMax) Parameters() []*Parameter { return nil }

// Plan reserves the output map [C, 1, 1, 1, B].
func (l *GlobalMax) Plan(p *Plan, in *Map) *Map {
	l.in, l.out = in, p.Map(in.C, 1, 1, 1)
	p.Carry(&l.index, in.C*in.B)
	if !p.Inference {
		p.Arena.Share(&l.scratch, in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// Bind sets the device.
func (l *GlobalMax) Bind(dev tensor.Device) { l.dev = dev }

// Forward takes the maxima and notes where they are.
func (l *GlobalMax) Forward(train bool) {
	l.out.Written(1)
	l.dev.GlobalMax(l.out.Live(), l.index, l.in.Live(), l.in.C, l.in.N*l.in.H*l.in.W, l.in.B)
}

// Backward sends each gradient to the first maximum.
func (l *GlobalMax) Backward() {
	in := l.in
	dx, dy := in.LiveGrad(), l.out.LiveGrad()
	s := in.N * in.H * in.W
	if !in.Accumulate() {
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
