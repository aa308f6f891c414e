package bench

import (
	"testing"

	"github.com/noether-go/noether/bench/cases"
	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// elements draws what a layer lives on: a whole grid turned as one, or elements
// drawn independently.
func elements(b *testing.B, c cases.Conv, name string) *gumbel.Elements {
	jitter := gumbel.Stratified
	if c.Full {
		jitter = gumbel.Comb
	}
	u, err := gumbel.New(gumbel.Config{Group: lie.SE2, Max: c.Elements, Jitter: jitter, Name: name})
	if err != nil {
		b.Fatal(err)
	}
	e := gumbel.NewElements(lie.SE2, c.Elements)
	u.Draw(e, stream.New(1, name, 0), true)
	e.SetLen(c.Draw())
	return e
}

// BenchmarkConv measures a layer with everything that belongs to it: pass=forward
// renders the kernel and convolves; pass=backward computes the gradients of the
// input, of the bias, of the kernel network's parameters and of the elements;
// pass=all is both. GFLOP/s are those of the dense convolution that the layer
// stands for.
func BenchmarkConv(b *testing.B) {
	for _, c := range cases.AllConvs() {
		for _, algorithm := range conv.Algorithms() {
			for _, pass := range []string{"forward", "backward", "all"} {
				for _, threads := range threadCounts {
					run(b, c.Bench(string(algorithm), pass, threads), func(b *testing.B) {
						benchmarkConv(b, c, algorithm, pass, threads)
					})
				}
			}
		}
	}
}

func benchmarkConv(b *testing.B, c cases.Conv, algorithm conv.Algorithm, pass string, threads int) {
	layer, err := conv.NewGroup(conv.Config{
		Name: "layer", In: c.In, Out: c.Out, Side: c.Kernel, Padding: conv.Same, Bias: true,
		Hidden: c.Hidden, Algorithm: algorithm,
	}, 1)
	if err != nil {
		b.Fatal(err)
	}
	dev := newCPU(b, threads)
	plan := &nn.Plan{Arena: new(tensor.Arena), Device: dev, Batch: c.Batch}
	inner := elements(b, c, "inner")
	outer := elements(b, c, "outer")
	x := plan.Map(c.In, c.Elements, c.Side, c.Side)
	defer func() { // an algorithm that is not for this layer is refused while planning
		if refusal, ok := recover().(*conv.Error); ok {
			b.Skip(refusal)
		}
	}()
	y := layer.Plan(plan, x, inner, outer)
	if algorithm == conv.Auto {
		b.Logf("auto is %s", layer.Algorithm())
	}
	var params nn.Parameters
	params.Add(layer.Parameters()...)
	bind(b, dev, plan.Arena, &params)
	layer.Bind(dev)
	x.Written(c.Draw())
	dev.Upload(x.Live(), values(x.Size()))
	layer.Forward(true)
	dev.Upload(y.LiveGrad(), values(y.Size()))
	backward := func() {
		params.ZeroGrad()
		inner.SetLen(inner.Len()) // clears the gradient
		outer.SetLen(outer.Len())
		x.Written(c.Draw()) // no gradient has reached it
		layer.Backward()
	}
	backward()
	b.ReportAllocs()
	for b.Loop() {
		if pass != "backward" {
			layer.Forward(true)
		}
		if pass != "forward" {
			backward()
		}
	}
	passes := map[string]float64{"forward": 1, "backward": 2, "all": 3}[pass]
	b.ReportMetric(c.Operations()*passes/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
