package bench

import (
	"testing"

	"github.com/noether-go/noether/bench/cases"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// BenchmarkSiren evaluates the kernel network of a layer. Backward computes the
// gradients of the parameters and of the coordinates.
func BenchmarkSiren(b *testing.B) {
	for _, pass := range cases.SirenPasses {
		for _, positions := range cases.Positions {
			for _, threads := range threadCounts {
				run(b, cases.SirenBench(pass, positions, threads), func(b *testing.B) {
					net, err := siren.New("", siren.Config{
						In: cases.SirenIn, Out: cases.SirenOut,
						Hidden: cases.SirenHidden, Layers: cases.SirenLayers, Omega0: cases.SirenOmega0,
					}, 1)
					if err != nil {
						b.Fatal(err)
					}
					dev := newCPU(b, threads)
					backward := pass != "forward"
					plan := &nn.Plan{Arena: new(tensor.Arena), Device: dev, Batch: 1, Inference: !backward}
					net.Plan(plan, positions)
					var x, y, dx, dy tensor.Buffer
					plan.Arena.Reserve(&x, cases.SirenIn*positions)
					plan.Arena.Reserve(&y, cases.SirenOut*positions)
					if backward {
						plan.Arena.Reserve(&dx, cases.SirenIn*positions)
						plan.Arena.Reserve(&dy, cases.SirenOut*positions)
					}
					var params nn.Parameters
					params.Add(net.Parameters()...)
					bind(b, dev, plan.Arena, &params)
					net.Bind(dev)
					dev.Upload(x, values(x.Len()))
					if backward {
						dev.Upload(dy, values(dy.Len()))
					}
					once := func() {
						net.Forward(y, x, positions)
						if backward {
							params.ZeroGrad()
							net.Backward(dy, dx)
						}
					}
					once()
					b.ReportAllocs()
					for b.Loop() {
						once()
					}
				})
			}
		}
	}
}
