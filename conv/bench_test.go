package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// benchmarks are layers as networks have them, at batch 64 but for the last ones.
var benchmarks = []struct {
	name               string
	in, out, nIn, nOut int
	plane, batch, side int
	padding            Padding
}{
	{"lifting", 1, 10, 1, 8, 28, 64, 7, Same},
	{"rotmnist-lifting", 1, 32, 1, 8, 28, 64, 7, Same},
	{"mnist6", 10, 10, 8, 8, 28, 64, 7, Same},
	{"mnist6-14", 10, 10, 8, 8, 14, 64, 7, Same},
	{"mnist6-7", 10, 10, 8, 8, 7, 64, 7, Same},
	{"mnist6-last", 10, 10, 8, 8, 7, 64, 7, Valid},
	{"rotmnist1", 32, 32, 8, 8, 14, 64, 7, Same},
	{"rotmnist2", 32, 64, 8, 8, 7, 64, 7, Same},
	{"rotmnist3", 64, 64, 8, 8, 7, 64, 7, Same},
	{"rotmnist-last", 64, 64, 8, 8, 7, 64, 7, Valid},
	{"cifar1", 32, 32, 16, 16, 16, 64, 7, Same},
	{"cifar0", 32, 32, 16, 16, 32, 64, 7, Same},
	{"gcnn", 128, 128, 8, 8, 16, 64, 3, Same},
	{"rotmnist-pointwise", 32, 32, 8, 8, 14, 64, 1, Same},
	{"pointwise", 10, 20, 8, 8, 28, 64, 1, Same},
	{"one-image", 10, 10, 8, 8, 28, 1, 7, Same},
	{"four-images", 32, 32, 8, 8, 14, 4, 7, Same},
	{"twelve-images", 32, 32, 8, 8, 14, 12, 7, Same},
}

// BenchmarkConv measures the passes of the convolution alone. GFLOP/s count two
// operations for each live tap at each position.
func BenchmarkConv(b *testing.B) {
	for _, c := range benchmarks {
		for _, algorithm := range []Algorithm{Taps, Frequency} {
			for _, pass := range []string{"forward", "input", "kernel", "backward"} {
				for _, threads := range []int{1, 2} {
					b.Run(fmt.Sprintf("case=%s/algorithm=%s/pass=%s/threads=%d", c.name, algorithm, pass, threads), func(b *testing.B) {
						s := newShape(c.in, c.out, c.nIn, c.nOut, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
						dev := newCPU(b, threads)
						p, err := algorithm.passes(s)
						if err != nil {
							b.Skip(err)
						}
						if err := p.Bind(dev, s); err != nil {
							b.Fatal(err)
						}
						alloc := func(n int) tensor.Buffer {
							x, err := dev.Alloc(n)
							if err != nil {
								b.Fatal(err)
							}
							b.Cleanup(func() { dev.Free(x) })
							dev.Upload(x, gradcheck.Normal(n, 1))
							return x
						}
						pre, tmp := p.Sizes(s, false)
						x, y := alloc(s.Sources()*s.H*s.W*s.B), alloc(s.Targets()*s.OutH*s.OutW*s.B)
						kernel, prepared, scratch, bias := alloc(s.KernelSize()), alloc(pre), alloc(tmp), alloc(s.Out)
						run := map[string]func(){
							"forward": func() {
								p.Prepare(prepared, kernel, bias, scratch, s)
								p.Forward(y, x, prepared, scratch, s)
							},
							"input":    func() { p.Backward(tensor.Buffer{}, bias, x, x, y, prepared, scratch, s, false) },
							"backward": func() { p.Backward(kernel, bias, x, x, y, prepared, scratch, s, false) },
							"kernel":   func() { p.Backward(kernel, bias, tensor.Buffer{}, x, y, prepared, scratch, s, false) },
						}[pass]
						run()
						b.ReportAllocs()
						for b.Loop() {
							run()
						}
						b.ReportMetric(s.Operations()*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					})
				}
			}
		}
	}
}

// BenchmarkParts measures a step, rendering included, of a group convolution and of the
// two parts that a separable one has in its place.
func BenchmarkParts(b *testing.B) {
	for _, k := range []kind{groupwise, pointwise, depthwise} {
		b.Run("layer="+k.String(), func(b *testing.B) {
			h := newHarness(b, k, Config{Name: "conv", In: 32, Out: 32, Side: 7, Bias: true}, sizes{8, 8, 14, 14, 64}, 1, false)
			h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), 1))
			h.dev.Upload(h.out.Grad, gradcheck.Normal(h.out.Size(), 2))
			for b.Loop() {
				h.in.Written(h.in.MaxN)
				h.Forward(true)
				h.out.Accumulate()
				h.Backward()
			}
		})
	}
}
