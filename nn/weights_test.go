package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// factors are weights of group elements, some of which are zero.
type factors struct {
	value, grad []float64
	lists       int
}

func (f *factors) Weights() (value, grad []float64) { return f.value, f.grad }
func (f *factors) Lists() int                       { return f.lists }

func newFactors(lists, n int) *factors {
	f := &factors{make([]float64, lists*n), make([]float64, lists*n), lists}
	src := stream.New(1, "weights", 0)
	for s := range lists {
		for j := range n {
			if j == 0 || (s+j)%3 != 1 {
				f.value[s*n+j] = 0.3 + src.Float64()
			}
		}
	}
	return f
}

// variable is the weights for a gradient check.
func (f *factors) variable() gradcheck.Variable {
	return gradcheck.Variable{
		Name: "weights",
		Base: append([]float64(nil), f.value...),
		Set:  func(x []float64) { copy(f.value, x) },
		Zero: func() { clear(f.grad) },
		Grad: func(g []float64) { copy(g, f.grad) },
		Adds: true,
	}
}

// tile spreads weights over the values of a channel.
func tile(w []float64, sh shape, lists int) []float64 {
	plane := sh.h * sh.w * sh.b
	y := make([]float64, sh.live*plane)
	for i := range y {
		y[i] = w[i%lists*sh.live+i/plane]
	}
	return y
}

// refTimes multiplies each channel of x by w.
func refTimes(x, w []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] * w[i%len(w)]
	}
	return y
}

// refWeightedMean is the mean of each channel and sample with weights.
func refWeightedMean(x, w []float64, sh shape) []float64 {
	y := make([]float64, sh.c*sh.b)
	per := sh.perChannel()
	for i := range y {
		n := 0.0
		for j := i % sh.b; j < per; j += sh.b {
			y[i] += x[i/sh.b*per+j] * w[j]
			n += w[j]
		}
		y[i] /= n
	}
	return y
}

// weightedSubject is a layer behind a map whose elements have weights, which the
// reference gets as a tile.
func weightedSubject(t testing.TB, threads int, sh shape, each bool, plan func(s *subject, in *nn.Map) (nn.Layer, *nn.Map), reference func(w []float64, x [][]float64) []float64) *subject {
	s := newSubject(t, threads, sh)
	in := s.input()
	s.weights = newFactors(1, sh.live)
	if each {
		s.weights = newFactors(sh.b, sh.live)
	}
	lists := s.weights.lists
	in.On = s.weights
	l, out := plan(s, in)
	if out.MaxN > 1 && out.On != in.On {
		t.Error("the output map does not know of the weights")
	}
	s.use(l)
	p := s.project(out)
	s.forward, s.backward = func() { l.Forward(true) }, l.Backward
	s.reference = func(x [][]float64) float64 {
		last := len(x) - 1
		return p.Of(reference(tile(x[last], sh, lists), x[:last]))
	}
	s.smallSteps()
	return s
}

// TestLargestWeight: the unit of relative weights has its gradient where it stands in the list, not in front.
func TestLargestWeight(t *testing.T) {
	s, l := newSmall(t, false), nn.NewGlobalMax()
	in := s.plan.Map(1, 3, 1, 1)
	f := &factors{[]float64{0.25, 1, 0.5}, make([]float64, 3), 1}
	in.On = f
	out := l.Plan(s.plan, in)
	s.bind(t, l)
	s.dev.Upload(in.Value, []float32{1, 1, 4})
	l.Forward(true)
	s.dev.Upload(out.Grad, []float32{1})
	l.Backward()
	for j, want := range []float64{0, -2, 4} { // of y = 4 w[2]/w[1]
		within(t, fmt.Sprintf("gradient of weight %d", j), f.grad[j], want, 1e-6)
	}
}

func init() {
	for _, each := range []bool{false, true} {
		kind := map[bool]string{false: "Weighted", true: "WeightedEach"}[each]
		add := func(name string, plan func(s *subject, in *nn.Map) (nn.Layer, *nn.Map), reference func(sh shape, w []float64, x [][]float64) []float64) {
			subjects = append(subjects, subjectMaker{kind + name, func(t testing.TB, threads int, sh shape) *subject {
				return weightedSubject(t, threads, sh, each, plan, func(w []float64, x [][]float64) []float64 { return reference(sh, w, x) })
			}})
		}
		for _, f := range []struct{ pool, relu, sum bool }{{}, {relu: true}, {true, true, false}, {true, true, true}} {
			add(fmt.Sprintf("BatchNorm/pool=%v/relu=%v/sum=%v", f.pool, f.relu, f.sum), func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
				l := batchNorm("norm", in.C)
				l.Pool, l.ReLU = f.pool, f.relu
				if f.sum {
					return l, l.PlanSum(s.plan, in, s.input())
				}
				return l, l.Plan(s.plan, in)
			}, func(sh shape, w []float64, x [][]float64) []float64 {
				y := x[2]
				if f.sum {
					y = refAdd(y, x[3])
				}
				y = refAffine(refNormBy(y, w, sh.c, 1, 1e-5), x[0], x[1])
				if f.pool {
					y = refMaxPool2(y, sh)
				}
				if f.relu {
					y = refReLU(y)
				}
				return y
			})
		}
		add("StandardizeReLU", func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
			l := nn.NewStandardize()
			l.ReLU = true
			return l, l.Plan(s.plan, in)
		}, func(sh shape, w []float64, x [][]float64) []float64 {
			return refReLU(refNormBy(x[0], w, sh.c, sh.b, 1e-5))
		})
		for _, f := range []struct{ pool, sum bool }{{false, false}, {true, true}} {
			add(fmt.Sprintf("LayerNorm/pool=%v/sum=%v", f.pool, f.sum), func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
				l := must(nn.NewLayerNorm("norm", in.C))
				for c := range in.C {
					l.Weight.Host[c], l.Bias.Host[c] = 0.5-float32(c), 0.3*float32(c)-0.2
				}
				l.Pool, l.ReLU = f.pool, true
				if f.sum {
					return l, l.PlanSum(s.plan, in, s.input())
				}
				return l, l.Plan(s.plan, in)
			}, func(sh shape, w []float64, x [][]float64) []float64 {
				y := x[2]
				if f.sum {
					y = refAdd(y, x[3])
				}
				all := make([]float64, 0, len(y))
				for range sh.c {
					all = append(all, w...)
				}
				y = refReLU(refAffine(refNormBy(y, all, 1, sh.b, 1e-12), x[0], x[1]))
				if f.pool {
					y = refMaxPool2(y, sh)
				}
				return y
			})
		}
		add("GlobalMean", func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
			l := nn.NewGlobalMean()
			return l, l.Plan(s.plan, in)
		}, func(sh shape, w []float64, x [][]float64) []float64 { return refWeightedMean(x[0], w, sh) })
		add("GroupMean", func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
			l := nn.NewGroupMean()
			return l, l.Plan(s.plan, in)
		}, func(sh shape, w []float64, x [][]float64) []float64 {
			y := make([]float64, sh.c*sh.h*sh.w*sh.b)
			points, per := sh.h*sh.w*sh.b, sh.perChannel()
			for i := range y {
				n := 0.0
				for k := i % points; k < per; k += points {
					y[i] += w[k] * x[0][i/points*per+k]
					n += w[k]
				}
				y[i] /= n
			}
			return y
		})
		add("GlobalMax", func(s *subject, in *nn.Map) (nn.Layer, *nn.Map) {
			l := nn.NewGlobalMax()
			return l, l.Plan(s.plan, in)
		}, func(sh shape, w []float64, x [][]float64) []float64 {
			largest := make([]float64, sh.b)
			for i, v := range w {
				largest[i%sh.b] = max(largest[i%sh.b], v)
			}
			units := make([]float64, len(w))
			for i := range w {
				units[i] = w[i] / largest[i%sh.b]
			}
			return refGlobalMax(refTimes(x[0], units), sh)
		})
	}
}

// TestWeightZero: what an element of weight zero holds shows nowhere but in its own
// results.
func TestWeightZero(t *testing.T) {
	sh := shape{c: 3, n: 4, live: 4, h: 4, w: 6, b: 5}
	for _, layer := range []struct {
		name string
		new  func() nn.Layer
	}{
		{"BatchNorm", func() nn.Layer { return must(nn.NewBatchNorm("norm", sh.c)) }},
		{"LayerNorm", func() nn.Layer { return must(nn.NewLayerNorm("norm", sh.c)) }},
		{"Standardize", func() nn.Layer { return nn.NewStandardize() }},
		{"GlobalMax", func() nn.Layer { return nn.NewGlobalMax() }},
		{"GlobalMean", func() nn.Layer { return nn.NewGlobalMean() }},
		{"GroupMean", func() nn.Layer { return nn.NewGroupMean() }},
	} {
		t.Run(layer.name, func(t *testing.T) {
			var want []float32
			for _, at := range []float32{0, 1, 1000} {
				s := newSubject(t, 2, sh)
				in, l := s.input(), layer.new()
				f := &factors{[]float64{1, 0, 1, 1}, make([]float64, 4), 1}
				in.On = f
				out := l.Plan(s.plan, in)
				s.use(l)
				s.bind(t)
				x := gradcheck.Normal(in.Size(), 3)
				for i := range x {
					if x[i] = float32(math.Abs(float64(x[i]))); i/(sh.h*sh.w*sh.b)%sh.live == 1 {
						x[i] = at
					}
				}
				s.dev.Upload(in.Live(), x)
				l.Forward(true)
				got := kept(s.dev, out, sh)
				if want == nil {
					want = got
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("value %d is %v where the element of weight zero holds %v, and %v where it holds 0", i, got[i], at, want[i])
					}
				}
			}
		})
	}
}

// kept returns the values of a map but those of its second element.
func kept(dev tensor.Device, m *nn.Map, sh shape) []float32 {
	all := make([]float32, m.Size())
	dev.Download(all, m.Live())
	if m.N == 1 {
		return all
	}
	var some []float32
	for i, v := range all {
		if i/(sh.h*sh.w*sh.b)%sh.live != 1 {
			some = append(some, v)
		}
	}
	return some
}
