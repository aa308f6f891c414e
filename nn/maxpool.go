package nn

import "github.com/noether-go/noether/tensor"

// MaxPool2 takes the maximum over 2x2 windows of the plane with stride 2. An odd
// last row or column is dropped.
type MaxPool2 struct {
	lifecycle
	in      *Map
	scratch tensor.Buffer // one channel of in
}

// NewMaxPool2 returns the layer.
func NewMaxPool2() *MaxPool2 { return new(MaxPool2) }

// Parameters returns nil.
func (l *MaxPool2) Parameters() []*Parameter { return nil }

// Plan reserves the output map [C, n, H/2, W/2, B]. It panics where H or W is
// below 2.
func (l *MaxPool2) Plan(p *Plan, in *Map) *Map {
	const op = "MaxPool2.Plan"
	checkPlan(op, p, in)
	checkPlane(op, in)
	in.KeepValue()
	l.in = in
	l.planned(p, p.Like(in, in.C, in.H/2, in.W/2))
	l.out.keep(keepPositive) // a gradient finds its maximum by y; behind a ReLU it is zero elsewhere
	if !p.Inference {
		p.Arena.Share(&l.scratch, in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// checkPlane panics where a map's plane is too small to be pooled.
func checkPlane(op string, in *Map) {
	if in.H < 2 || in.W < 2 {
		refuse(op, "a plane of %dx%d has no 2x2 window", in.H, in.W)
	}
}

// Bind sets the device.
func (l *MaxPool2) Bind(dev tensor.Device) { l.bind("MaxPool2", dev) }

// Forward takes the maxima.
func (l *MaxPool2) Forward(train bool) {
	l.forward("MaxPool2", train)
	l.out.Written(l.in.N)
	l.dev.MaxPool2(l.out.Live(), l.in.Live(), l.in.C*l.in.N, l.in.H, l.in.W, l.in.B)
}

// Backward sends the gradient of each window to its first maximum.
func (l *MaxPool2) Backward() {
	l.backward("MaxPool2")
	in, out := l.in, l.out
	dx, dy, x, y := in.LiveGrad(), out.LiveGrad(), in.Live(), out.Live()
	if !in.Accumulate() {
		l.dev.MaxPool2Grad(dx, dy, x, y, in.C*in.N, in.H, in.W, in.B)
		return
	}
	// One channel at a time, so that the scratch buffer stays small.
	wide, narrow := in.PerChannel(), out.PerChannel()
	dz := l.scratch.Slice(0, wide)
	for c := range in.C {
		dyc, yc := dy.Slice(c*narrow, (c+1)*narrow), y.Slice(c*narrow, (c+1)*narrow)
		dxc, xc := dx.Slice(c*wide, (c+1)*wide), x.Slice(c*wide, (c+1)*wide)
		l.dev.MaxPool2Grad(dz, dyc, xc, yc, in.N, in.H, in.W, in.B)
		l.dev.Add(dxc, dxc, dz)
	}
}
