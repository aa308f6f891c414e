package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// shape is the size of a test's main input; live <= n elements are in use.
type shape struct{ c, n, live, h, w, b int }

func (s shape) String() string {
	return fmt.Sprintf("%dx%dof%dx%dx%dx%d", s.c, s.live, s.n, s.h, s.w, s.b)
}

// perChannel is the number of live values of a channel.
func (s shape) perChannel() int { return s.live * s.h * s.w * s.b }

var shapes = []shape{
	{c: 2, n: 1, live: 1, h: 3, w: 2, b: 1},
	{c: 3, n: 4, live: 3, h: 5, w: 4, b: 2}, // fewer elements than room, odd height
	{c: 5, n: 2, live: 2, h: 2, w: 7, b: 17},
}

type binder interface{ Bind(tensor.Device) }

// subject is a layer, or a few, ready to run on one device.
type subject struct {
	dev     *tensor.CPU
	shape   shape
	plan    *nn.Plan
	params  nn.Parameters
	layers  []binder
	inputs  []*nn.Map
	outputs []*nn.Map

	prepare   func() // after binding
	forward   func()
	backward  func() // from the outputs' gradients on
	loss      func() float64
	seed      func()
	reference func(x [][]float64) float64

	weights *factors // of the group elements of the input, or nil

	inPlace bool
	kinks   bool // the inputs are spaced out

	step, tol, floor float64 // of the gradient check, where not the defaults
}

func newSubject(t testing.TB, threads int, s shape) *subject {
	t.Helper()
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return &subject{
		dev:     dev,
		shape:   s,
		plan:    &nn.Plan{Arena: new(tensor.Arena), Batch: s.b},
		prepare: func() {},
		seed:    func() {},
	}
}

func (s *subject) input() *nn.Map {
	m := s.plan.Map(s.shape.c, s.shape.n, s.shape.h, s.shape.w)
	s.inputs = append(s.inputs, m)
	return m
}

func (s *subject) use(layers ...binder) {
	for _, l := range layers {
		s.layers = append(s.layers, l)
		if l, ok := l.(interface{ Parameters() []*nn.Parameter }); ok {
			s.params.Add(l.Parameters()...)
		}
	}
}

// project makes the loss a random projection of one output.
func (s *subject) project(out *nn.Map) *gradcheck.Projection {
	p := gradcheck.NewProjection(s.dev, out.Size(), 7)
	s.outputs = append(s.outputs, out)
	s.loss = func() float64 { return p.Loss(out.Live()) }
	s.seed = func() { p.Seed(out) }
	return p
}

// bind allocates everything and fills the inputs.
func (s *subject) bind(t testing.TB) {
	t.Helper()
	if err := s.plan.Arena.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	if err := s.params.Bind(s.dev); err != nil {
		t.Fatal(err)
	}
	for _, l := range s.layers {
		l.Bind(s.dev)
	}
	for i, m := range s.inputs {
		m.Written(min(s.shape.live, m.MaxN))
		x := gradcheck.Normal(m.Size(), uint64(i))
		if s.kinks {
			x = gradcheck.Separate(m.Size(), gap, uint64(i))
		} else {
			for j := range x { // a mean that is not zero
				x[j] = 1.5*x[j] + 0.75
			}
		}
		s.dev.Upload(m.Live(), x)
	}
	s.prepare()
}

// gap is the distance of the values that functions with kinks are checked at.
const gap = 0.05

// single makes a subject of one layer with one input.
func single(t testing.TB, threads int, sh shape, l nn.Layer, reference func(sh shape, x [][]float64) []float64) *subject {
	s := newSubject(t, threads, sh)
	out := l.Plan(s.plan, s.input())
	s.use(l)
	p := s.project(out)
	s.forward, s.backward = func() { l.Forward(true) }, l.Backward
	s.reference = func(x [][]float64) float64 { return p.Of(reference(sh, x)) }
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// smallSteps is for functions whose kinks cannot be kept away from: steps must
// be small, which leaves too few digits to float32 differences.
func (s *subject) smallSteps() { s.step, s.tol, s.floor = 1e-4, -1, 0.1 }

// batchNorm makes a layer with various weights, of both signs, and biases.
func batchNorm(name string, channels int) *nn.BatchNorm {
	l := must(nn.NewBatchNorm(name, channels))
	for c := range channels {
		l.Weight.Host[c], l.Bias.Host[c] = 0.5+float32(c), 0.3*float32(c)-0.2
		if c%2 == 1 {
			l.Weight.Host[c] *= -1
		}
	}
	return l
}

// fusedNorm is a batch normalisation with what surrounds it.
func fusedNorm(t testing.TB, threads int, sh shape, pool, relu, sum bool) *subject {
	s := newSubject(t, threads, sh)
	l := batchNorm("norm", sh.c)
	l.Pool, l.ReLU = pool, relu
	a := s.input()
	var out *nn.Map
	if sum {
		out = l.PlanSum(s.plan, a, s.input())
	} else {
		out = l.Plan(s.plan, a)
	}
	s.use(l)
	p := s.project(out)
	s.forward, s.backward = func() { l.Forward(true) }, l.Backward
	s.reference = func(x [][]float64) float64 {
		y := x[2]
		if sum {
			y = refAdd(y, x[3])
		}
		y = refAffine(refNorm(y, sh.c, sh.perChannel(), 1), x[0], x[1])
		if pool {
			y = refMaxPool2(y, sh)
		}
		if relu {
			y = refReLU(y)
		}
		return p.Of(y)
	}
	s.smallSteps()
	return s
}

// layerNorm is a layer normalisation with what surrounds it.
func layerNorm(t testing.TB, threads int, sh shape, pool, relu, sum bool) *subject {
	s := newSubject(t, threads, sh)
	l := must(nn.NewLayerNorm("norm", sh.c))
	for c := range sh.c {
		l.Weight.Host[c], l.Bias.Host[c] = 0.5-float32(c), 0.3*float32(c)-0.2
	}
	l.Pool, l.ReLU = pool, relu
	a := s.input()
	var out *nn.Map
	if sum {
		out = l.PlanSum(s.plan, a, s.input())
	} else {
		out = l.Plan(s.plan, a)
	}
	s.use(l)
	p := s.project(out)
	s.forward, s.backward = func() { l.Forward(true) }, l.Backward
	s.reference = func(x [][]float64) float64 {
		y := x[2]
		if sum {
			y = refAdd(y, x[3])
		}
		y = refAffine(refNormBy(y, ones(sh.c*sh.perChannel()), 1, sh.b, 1e-12), x[0], x[1])
		if relu {
			y = refReLU(y)
		}
		if pool {
			y = refMaxPool2(y, sh)
		}
		return p.Of(y)
	}
	s.smallSteps()
	return s
}

// subjectMaker makes subjects of one kind.
type subjectMaker struct {
	name string
	make func(t testing.TB, threads int, sh shape) *subject
}

// subjects are all layers, alone and in the combinations that share buffers.
var subjects = []subjectMaker{
	{"BatchNorm", func(t testing.TB, threads int, sh shape) *subject {
		l := must(nn.NewBatchNorm("norm", sh.c))
		for c := range sh.c {
			l.Weight.Host[c], l.Bias.Host[c] = 0.5+float32(c), float32(c)-1.5
		}
		return single(t, threads, sh, l, func(sh shape, x [][]float64) []float64 {
			return refAffine(refNorm(x[2], sh.c, sh.perChannel(), 1), x[0], x[1])
		})
	}},
	{"Standardize", func(t testing.TB, threads int, sh shape) *subject {
		return single(t, threads, sh, nn.NewStandardize(), func(sh shape, x [][]float64) []float64 {
			return refNorm(x[0], sh.c, sh.perChannel(), sh.b)
		})
	}},
	{"ReLU", func(t testing.TB, threads int, sh shape) *subject {
		s := single(t, threads, sh, nn.NewReLU(), func(sh shape, x [][]float64) []float64 { return refReLU(x[0]) })
		s.kinks, s.inPlace = true, true
		return s
	}},
	{"ReLUApart", func(t testing.TB, threads int, sh shape) *subject {
		s := newSubject(t, threads, sh)
		in, l := s.input(), nn.NewReLU()
		in.KeepValue()
		out := l.Plan(s.plan, in)
		if out.Shares(in) {
			t.Fatal("the ReLU overwrites a value that must be kept")
		}
		s.use(l)
		p := s.project(out)
		s.forward, s.backward, s.kinks = func() { l.Forward(true) }, l.Backward, true
		s.reference = func(x [][]float64) float64 { return p.Of(refReLU(x[0])) }
		return s
	}},
	{"MaxPool2", func(t testing.TB, threads int, sh shape) *subject {
		s := single(t, threads, sh, nn.NewMaxPool2(), func(sh shape, x [][]float64) []float64 { return refMaxPool2(x[0], sh) })
		s.kinks = true
		return s
	}},
	{"MaxPool2ReLU", func(t testing.TB, threads int, sh shape) *subject {
		s := newSubject(t, threads, sh)
		pool, relu := nn.NewMaxPool2(), nn.NewReLU()
		mid := pool.Plan(s.plan, s.input())
		out := relu.Plan(s.plan, mid)
		if !out.Shares(mid) {
			t.Fatal("the ReLU after a pooling does not work in place")
		}
		s.use(pool, relu)
		p := s.project(out)
		s.forward = func() { pool.Forward(true); relu.Forward(true) }
		s.backward = func() { relu.Backward(); pool.Backward() }
		s.reference = func(x [][]float64) float64 { return p.Of(refReLU(refMaxPool2(x[0], sh))) }
		s.kinks = true
		return s
	}},
	{"GlobalMax", func(t testing.TB, threads int, sh shape) *subject {
		s := single(t, threads, sh, nn.NewGlobalMax(), func(sh shape, x [][]float64) []float64 { return refGlobalMax(x[0], sh) })
		s.kinks = true
		return s
	}},
	{"GroupMean", func(t testing.TB, threads int, sh shape) *subject {
		return single(t, threads, sh, nn.NewGroupMean(), func(sh shape, x [][]float64) []float64 { return refGroupMean(x[0], sh) })
	}},
	{"LearnedPool", func(t testing.TB, threads int, sh shape) *subject {
		sh.n = sh.live // it takes all elements
		return single(t, threads, sh, must(nn.NewLearnedPool("pool", sh.n*sh.h*sh.w, 3)), func(sh shape, x [][]float64) []float64 {
			return refLearnedPool(x[2], x[0], x[1][0], sh)
		})
	}},
	{"Linear", func(t testing.TB, threads int, sh shape) *subject {
		return single(t, threads, sh, must(nn.NewLinear("out_layer", sh.c, 4, 3)), func(sh shape, x [][]float64) []float64 {
			return refLinear(x[2], x[0], x[1])
		})
	}},
	{"Add", func(t testing.TB, threads int, sh shape) *subject {
		s := newSubject(t, threads, sh)
		a, b, l := s.input(), s.input(), nn.NewAdd()
		out := l.Plan(s.plan, a, b)
		if !out.Shares(a) {
			t.Fatal("the sum is not taken in place")
		}
		s.use(l)
		p := s.project(out)
		s.forward, s.backward, s.inPlace = func() { l.Forward(true) }, l.Backward, true
		s.reference = func(x [][]float64) float64 { return p.Of(refAdd(x[0], x[1])) }
		return s
	}},
	{"AddApart", func(t testing.TB, threads int, sh shape) *subject {
		s := newSubject(t, threads, sh)
		a, b, l := s.input(), s.input(), nn.NewAdd()
		a.KeepValue()
		out := l.Plan(s.plan, a, b)
		if out.Shares(a) || out.Shares(b) {
			t.Fatal("the sum overwrites a summand that must be kept")
		}
		s.use(l)
		p := s.project(out)
		s.forward, s.backward = func() { l.Forward(true) }, l.Backward
		s.reference = func(x [][]float64) float64 { return p.Of(refAdd(x[0], x[1])) }
		return s
	}},
	{"BatchNormReLU", func(t testing.TB, threads int, sh shape) *subject {
		return fusedNorm(t, threads, sh, false, true, false)
	}},
	{"BatchNormPool", func(t testing.TB, threads int, sh shape) *subject {
		return fusedNorm(t, threads, sh, true, false, false)
	}},
	{"BatchNormPoolReLU", func(t testing.TB, threads int, sh shape) *subject {
		return fusedNorm(t, threads, sh, true, true, false)
	}},
	{"BatchNormSum", func(t testing.TB, threads int, sh shape) *subject {
		return fusedNorm(t, threads, sh, false, false, true)
	}},
	{"BatchNormSumPoolReLU", func(t testing.TB, threads int, sh shape) *subject { return fusedNorm(t, threads, sh, true, true, true) }},
	{"LayerNorm", func(t testing.TB, threads int, sh shape) *subject {
		s := layerNorm(t, threads, sh, false, false, false)
		s.step, s.tol, s.floor = 0, 0, 0 // it has no kinks
		return s
	}},
	{"LayerNormReLU", func(t testing.TB, threads int, sh shape) *subject {
		return layerNorm(t, threads, sh, false, true, false)
	}},
	{"LayerNormPool", func(t testing.TB, threads int, sh shape) *subject {
		return layerNorm(t, threads, sh, true, false, false)
	}},
	{"LayerNormSum", func(t testing.TB, threads int, sh shape) *subject {
		return layerNorm(t, threads, sh, false, false, true)
	}},
	{"LayerNormSumPoolReLU", func(t testing.TB, threads int, sh shape) *subject { return layerNorm(t, threads, sh, true, true, true) }},
	{"StandardizeReLU", func(t testing.TB, threads int, sh shape) *subject {
		l := nn.NewStandardize()
		l.ReLU = true
		s := single(t, threads, sh, l, func(sh shape, x [][]float64) []float64 {
			return refReLU(refNorm(x[0], sh.c, sh.perChannel(), sh.b))
		})
		s.smallSteps()
		return s
	}},
	{"TwoConsumersFused", func(t testing.TB, threads int, sh shape) *subject {
		// One map feeds all fused layers, which then add to its gradient, as a
		// summand and alone.
		s := newSubject(t, threads, sh)
		in, other := s.input(), s.input()
		norm, pool, sum, std := batchNorm("norm", sh.c), batchNorm("pool", sh.c), batchNorm("sum", sh.c), nn.NewStandardize()
		whole := must(nn.NewLayerNorm("whole", sh.c))
		whole.Pool, whole.ReLU = true, true
		norm.ReLU, std.ReLU = true, true
		pool.Pool, pool.ReLU = true, true
		sum.Pool = true
		m := []*nn.Map{norm.Plan(s.plan, in), pool.Plan(s.plan, in), std.Plan(s.plan, in), sum.PlanSum(s.plan, in, other), whole.Plan(s.plan, in)}
		s.use(norm, pool, std, sum, whole)
		p := make([]*gradcheck.Projection, len(m))
		for i, m := range m {
			p[i] = gradcheck.NewProjection(s.dev, m.Size(), uint64(i))
		}
		s.outputs = m
		s.loss = func() float64 {
			total := 0.0
			for i, m := range m {
				total += p[i].Loss(m.Live())
			}
			return total
		}
		s.seed = func() {
			for i, m := range m {
				p[i].Seed(m)
			}
		}
		s.forward = func() {
			for _, l := range []nn.Layer{norm, pool, std, sum, whole} {
				l.Forward(true)
			}
		}
		// The sum lies in the map that nothing keeps, and its gradient is passed
		// on to the other one, which the layers before it add to.
		s.backward = func() { sum.Backward(); std.Backward(); pool.Backward(); whole.Backward(); norm.Backward() }
		s.reference = func(x [][]float64) float64 {
			a, b := x[8], x[9]
			ref := func(x, weight, bias []float64) []float64 {
				return refAffine(refNorm(x, sh.c, sh.perChannel(), 1), weight, bias)
			}
			return p[0].Of(refReLU(ref(a, x[0], x[1]))) +
				p[1].Of(refReLU(refMaxPool2(ref(a, x[2], x[3]), sh))) +
				p[2].Of(refReLU(refNorm(a, sh.c, sh.perChannel(), sh.b))) +
				p[3].Of(refMaxPool2(ref(refAdd(a, b), x[4], x[5]), sh)) +
				p[4].Of(refReLU(refMaxPool2(refAffine(refNormBy(a, ones(sh.c*sh.perChannel()), 1, sh.b, 1e-12), x[6], x[7]), sh)))
		}
		s.smallSteps()
		return s
	}},
	{"CrossEntropy", func(t testing.TB, threads int, sh shape) *subject {
		s := newSubject(t, threads, shape{c: sh.c, n: 1, live: 1, h: 1, w: 1, b: sh.b})
		in, l := s.input(), nn.NewCrossEntropy()
		l.Plan(s.plan, in)
		s.use(l)
		label := labels(sh.c, max(1, sh.b-1)) // the last column is padding
		s.prepare = func() { l.SetLabels(label) }
		s.forward, s.backward, s.loss = func() { l.Forward(true) }, l.Backward, l.Loss
		s.reference = func(x [][]float64) float64 { return refCrossEntropy(x[0], label, sh.b) }
		return s
	}},
	{"TwoConsumers", func(t testing.TB, threads int, sh shape) *subject {
		// The same map feeds every kind of layer that can add to a gradient.
		s := newSubject(t, threads, sh)
		in := s.input()
		norm, std, pool, lin := must(nn.NewBatchNorm("norm", sh.c)), nn.NewStandardize(), nn.NewMaxPool2(), must(nn.NewLinear("lin", sh.c, 3, 5))
		relu, top, sum, mean := nn.NewReLU(), nn.NewGlobalMax(), nn.NewAdd(), nn.NewGroupMean()
		m := []*nn.Map{
			norm.Plan(s.plan, in), pool.Plan(s.plan, in), lin.Plan(s.plan, in),
			relu.Plan(s.plan, in), top.Plan(s.plan, in),
		}
		m = append(m, sum.Plan(s.plan, std.Plan(s.plan, in), in), mean.Plan(s.plan, in))
		s.use(norm, std, pool, lin, relu, top, sum, mean)
		p := make([]*gradcheck.Projection, len(m))
		for i, m := range m {
			p[i] = gradcheck.NewProjection(s.dev, m.Size(), uint64(i))
		}
		s.outputs = m
		s.loss = func() float64 {
			total := 0.0
			for i, m := range m {
				total += p[i].Loss(m.Live())
			}
			return total
		}
		s.seed = func() {
			for i, m := range m {
				p[i].Seed(m)
			}
		}
		s.forward = func() {
			norm.Forward(true)
			std.Forward(true)
			pool.Forward(true)
			lin.Forward(true)
			relu.Forward(true)
			top.Forward(true)
			sum.Forward(true)
			mean.Forward(true)
		}
		s.backward = func() {
			mean.Backward()
			sum.Backward()
			top.Backward()
			relu.Backward()
			lin.Backward()
			pool.Backward()
			std.Backward()
			norm.Backward()
		}
		s.reference = func(x [][]float64) float64 {
			in := x[4]
			return p[0].Of(refAffine(refNorm(in, sh.c, sh.perChannel(), 1), x[0], x[1])) +
				p[1].Of(refMaxPool2(in, sh)) +
				p[2].Of(refLinear(in, x[2], x[3])) +
				p[3].Of(refReLU(in)) +
				p[4].Of(refGlobalMax(in, sh)) +
				p[5].Of(refAdd(refNorm(in, sh.c, sh.perChannel(), sh.b), in)) +
				p[6].Of(refGroupMean(in, sh))
		}
		s.kinks = true
		s.tol = -1 // large values and small steps leave too few digits to float32 differences
		return s
	}},
	{"Chain", func(t testing.TB, threads int, sh shape) *subject {
		// A small network with a residual connection, as a residual block
		// strings the layers together.
		s := newSubject(t, threads, sh)
		in := s.input()
		first, std, relu1 := must(nn.NewLinear("first", sh.c, 4, 1)), nn.NewStandardize(), nn.NewReLU()
		short, sum, norm := must(nn.NewLinear("short", sh.c, 4, 2)), nn.NewAdd(), must(nn.NewBatchNorm("norm", 4))
		pool, relu2, top, last := nn.NewMaxPool2(), nn.NewReLU(), nn.NewGlobalMax(), must(nn.NewLinear("last", 4, 3, 3))
		loss := nn.NewCrossEntropy()
		m := relu1.Plan(s.plan, std.Plan(s.plan, first.Plan(s.plan, in)))
		m = sum.Plan(s.plan, m, short.Plan(s.plan, in))
		m = relu2.Plan(s.plan, pool.Plan(s.plan, norm.Plan(s.plan, m)))
		m = last.Plan(s.plan, top.Plan(s.plan, m))
		loss.Plan(s.plan, m)
		s.use(first, std, relu1, short, sum, norm, pool, relu2, top, last, loss)
		label := labels(3, sh.b)
		s.prepare = func() { loss.SetLabels(label) }
		order := []nn.Layer{first, std, relu1, short, nil, norm, pool, relu2, top, last}
		s.forward = func() {
			for _, l := range order {
				if l == nil {
					sum.Forward(true)
				} else {
					l.Forward(true)
				}
			}
			loss.Forward(true)
		}
		s.backward = func() {
			loss.Backward()
			for i := len(order) - 1; i >= 0; i-- {
				if order[i] == nil {
					sum.Backward()
				} else {
					order[i].Backward()
				}
			}
		}
		s.loss = loss.Loss
		s.reference = func(x [][]float64) float64 {
			per := sh.perChannel()
			y := refReLU(refNorm(refLinear(x[8], x[0], x[1]), 4, per, sh.b))
			y = refAdd(y, refLinear(x[8], x[2], x[3]))
			y = refAffine(refNorm(y, 4, per, 1), x[4], x[5])
			mid := sh
			mid.c = 4
			y = refReLU(refMaxPool2(y, mid))
			mid.h, mid.w = sh.h/2, sh.w/2
			return refCrossEntropy(refLinear(refGlobalMax(y, mid), x[6], x[7]), label, sh.b)
		}
		// Kinks are everywhere: steps must be small, which leaves too few digits
		// to float32 differences. Biases in front of a normalisation have no
		// gradient.
		s.step, s.tol, s.floor = 1e-4, -1, 0.1
		return s
	}},
}

func labels(classes, n int) []float32 {
	l := make([]float32, n)
	for i := range l {
		l[i] = float32((3*i + 1) % classes)
	}
	return l
}

// TestGradients holds every Forward and Backward to float64 references and to
// central differences.
func TestGradients(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, sub := range subjects {
			for i, sh := range shapes {
				if testing.Short() && i > 1 {
					continue // a large shape: slow under qemu and the race detector
				}
				t.Run(sub.name+"/"+sh.String(), func(t *testing.T) {
					s := sub.make(t, 1, sh)
					s.bind(t)
					c := gradcheck.Case{
						Device: s.dev, Params: s.params.All(), Inputs: s.inputs,
						Loss:      func() float64 { s.forward(); return s.loss() },
						Backward:  func() { s.seed(); s.backward() },
						Reference: s.reference,
						InPlace:   s.inPlace,
						Step:      s.step, Tolerance: s.tol, Floor: s.floor,
					}
					if s.weights != nil {
						c.Variables = append(c.Variables, s.weights.variable())
					}
					if testing.Short() {
						c.Elements = 6
					}
					if s.kinks {
						rms := 0.0
						x := gradcheck.Separate(s.inputs[0].Size(), gap, 0)
						for _, v := range x {
							rms += float64(v) * float64(v)
						}
						c.Step = gap / 16 / math.Sqrt(rms/float64(len(x)))
					}
					r := gradcheck.Run(t, c)
					t.Logf("largest relative error: %.2g of differences, %.2g of float64 differences", r.Difference, r.Reference)
				})
			}
		}
	})
}

// run runs one training pass and returns everything it computed.
func (s *subject) run() [][]float32 {
	for _, p := range s.params.All() {
		if p.Trained() {
			s.dev.Fill(p.Grad, 0)
		}
	}
	for _, m := range s.inputs {
		m.Written(m.N)
	}
	s.forward()
	var all [][]float32
	get := func(b tensor.Buffer) {
		x := make([]float32, b.Len())
		s.dev.Download(x, b)
		all = append(all, x)
	}
	for _, m := range s.outputs {
		get(m.Live())
	}
	s.seed()
	s.backward()
	for _, m := range s.inputs {
		get(m.LiveGrad())
	}
	for _, p := range s.params.All() {
		get(p.Value)
		if p.Trained() {
			get(p.Grad)
		}
	}
	if s.weights != nil {
		for _, g := range s.weights.grad {
			all = append(all, []float32{float32(g)})
		}
		clear(s.weights.grad)
	}
	return all
}

// TestThreads: one and two threads give the same bits.
func TestThreads(t *testing.T) {
	sh := shape{c: 20, n: 8, live: 7, h: 15, w: 14, b: 16}
	if testing.Short() {
		sh.c = 5 // still more than one thread's share
	}
	for _, sub := range subjects {
		t.Run(sub.name, func(t *testing.T) {
			var want [][]float32
			for threads := 1; threads <= 2; threads++ {
				s := sub.make(t, threads, sh)
				s.bind(t)
				got := s.run()
				if threads == 1 {
					want = got
					continue
				}
				for i := range got {
					for j := range got[i] {
						if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
							t.Fatalf("array %d, value %d: %v with 1 thread, %v with %d", i, j, want[i][j], got[i][j], threads)
						}
					}
				}
			}
		})
	}
}

// TestAllocations: a steady-state pass allocates nothing.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, sub := range subjects {
		t.Run(sub.name, func(t *testing.T) {
			s := sub.make(t, 2, shapes[1])
			s.bind(t)
			n := testing.AllocsPerRun(20, func() {
				for _, m := range s.inputs {
					m.Written(m.N)
				}
				s.forward()
				s.seed()
				s.backward()
				s.loss()
			})
			if n != 0 {
				t.Errorf("%v allocations in a pass", n)
			}
		})
	}
}
