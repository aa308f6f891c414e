package nn

import "github.com/noether-go/noether/tensor"

// LearnedPool maps the values of each channel of each sample, one for each group
// element and point of the plane, to a single one: [C, n, H, W, B] to
// [C, 1, 1, 1, B]. The linear map y = w x + b is the same for all channels. Unlike
// GlobalMax and GlobalMean it tells elements and points apart, and so it wants as
// many of them in each pass, of equal weights (Map.On).
type LearnedPool struct {
	Weight *Parameter // [1, n*H*W]
	Bias   *Parameter // [1]

	lifecycle
	in   *Map
	call tensor.GemmArgs // kept here: an argument of an interface call would go to the heap
}

// NewLearnedPool returns the layer for maps of so many values, n*H*W, initialised as
// Linear is.
func NewLearnedPool(name string, values int, seed uint64) (*LearnedPool, error) {
	if err := checkWidth(name, "values of a channel", values); err != nil {
		return nil, err
	}
	l := &LearnedPool{
		Weight: NewParameter(name+".weight", Weight, 1, values),
		Bias:   NewParameter(name+".bias", Weight, 1),
	}
	usual(l.Parameters(), values, seed)
	return l, nil
}

// Parameters returns weight and bias.
func (l *LearnedPool) Parameters() []*Parameter { return []*Parameter{l.Weight, l.Bias} }

// Plan reserves the output map [C, 1, 1, 1, B].
func (l *LearnedPool) Plan(p *Plan, in *Map) *Map {
	const op = "LearnedPool.Plan"
	checkPlan(op, p, in)
	if n := in.MaxN * in.H * in.W; n != len(l.Weight.Host) {
		refuse(op, "the layer takes %d values of a channel, its input has %d", len(l.Weight.Host), n)
	}
	in.KeepValue()
	l.in = in
	return l.planned(p, p.Map(in.C, 1, 1, 1))
}

// Bind sets the device.
func (l *LearnedPool) Bind(dev tensor.Device) { l.bind("LearnedPool", dev, l.Weight, l.Bias) }

// Forward computes y[c, b] = sum over s of w[s] x[c, s, b], plus the bias. It panics with
// *Error unless there are all group elements and their weights are equal.
func (l *LearnedPool) Forward(train bool) {
	l.forward("LearnedPool", train)
	in, values := l.in, len(l.Weight.Host)
	if in.N != in.MaxN {
		refuse("LearnedPool.Forward", "%d of %d group elements", in.N, in.MaxN)
	}
	if in.On != nil && !equalWeights(in.On) {
		refuse("LearnedPool.Forward", "the group elements have different weights, which the layer does not heed; GlobalMax and GlobalMean do")
	}
	l.out.Written(1)
	l.call = tensor.GemmArgs{
		M: 1, N: in.B, K: values, Batch: in.C,
		A: l.Weight.Value, LDA: values,
		B: in.Live(), LDB: in.B, StrideB: values * in.B,
		C: l.out.Live(), LDC: in.B, StrideC: in.B,
		Bias: l.Bias.Value,
	}
	l.dev.Gemm(&l.call)
}

// equalWeights reports whether no element counts for less than another one.
func equalWeights(of Weighted) bool {
	all, _ := of.Weights()
	for _, w := range all {
		if w != all[0] {
			return false
		}
	}
	return true
}

// Backward computes db += sum dy, dw[s] += sum over c, b of dy[c, b] x[c, s, b] and
// dx[c, s, b] = w[s] dy[c, b].
func (l *LearnedPool) Backward() {
	l.backward("LearnedPool")
	in, values := l.in, len(l.Weight.Host)
	dy, x := l.out.LiveGrad(), in.Live()
	l.dev.SumRows(l.Bias.Grad, dy, 1, dy.Len(), true)
	for c := range in.C {
		l.call = tensor.GemmArgs{
			TransB: true,
			M:      1, N: values, K: in.B,
			A: dy.Slice(c*in.B, (c+1)*in.B), LDA: in.B,
			B: x.Slice(c*values*in.B, (c+1)*values*in.B), LDB: in.B,
			C: l.Weight.Grad, LDC: values,
			Accumulate: true,
		}
		l.dev.Gemm(&l.call)
	}
	l.call = tensor.GemmArgs{
		M: values, N: in.B, K: 1, Batch: in.C,
		A: l.Weight.Value, LDA: 1,
		B: dy, LDB: in.B, StrideB: in.B,
		C: in.LiveGrad(), LDC: in.B, StrideC: values * in.B,
		Accumulate: in.Accumulate(),
	}
	l.dev.Gemm(&l.call)
}
