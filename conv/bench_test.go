package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// benchmarks are layers as networks have them, at batch 64 but for the last ones.
var benchmarks = []struct {
	name                         string
	in, out, nIn, nOut, features int
	plane, batch, side           int
	padding                      Padding
}{
	{"lifting", 1, 10, 1, 8, 32, 28, 64, 7, Same},
	{"rotmnist-lifting", 1, 32, 1, 8, 32, 28, 64, 7, Same},
	{"mnist6", 10, 10, 8, 8, 32, 28, 64, 7, Same},
	{"mnist6-14", 10, 10, 8, 8, 32, 14, 64, 7, Same},
	{"mnist6-7", 10, 10, 8, 8, 32, 7, 64, 7, Same},
	{"mnist6-last", 10, 10, 8, 8, 32, 7, 64, 7, Valid},
	{"rotmnist1", 32, 32, 8, 8, 32, 14, 64, 7, Same},
	{"rotmnist2", 32, 64, 8, 8, 32, 7, 64, 7, Same},
	{"rotmnist3", 64, 64, 8, 8, 32, 7, 64, 7, Same},
	{"rotmnist-last", 64, 64, 8, 8, 32, 7, 64, 7, Valid},
	{"cifar1", 32, 32, 16, 16, 32, 16, 64, 7, Same},
	{"cifar0", 32, 32, 16, 16, 32, 32, 64, 7, Same},
	{"gcnn-g8", 128, 128, 8, 8, 8, 16, 64, 3, Same},
	{"gcnn-g4", 128, 128, 4, 4, 8, 16, 64, 3, Same},
	{"gcnn-g2", 128, 128, 2, 2, 8, 16, 64, 3, Same},
	{"rotmnist-pointwise", 32, 32, 8, 8, 16, 14, 64, 1, Same},
	{"pointwise", 10, 20, 8, 8, 16, 28, 64, 1, Same},
	{"one-image", 10, 10, 8, 8, 32, 28, 1, 7, Same},
	{"four-images", 32, 32, 8, 8, 32, 14, 4, 7, Same},
	{"twelve-images", 32, 32, 8, 8, 32, 14, 12, 7, Same},
}

// BenchmarkTaps measures the passes by taps alone, on a rendered kernel. GFLOP/s count two
// operations for each live tap at each position.
func BenchmarkTaps(b *testing.B) {
	for _, c := range benchmarks {
		for _, pass := range []string{"forward", "input", "kernel", "backward"} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("case=%s/pass=%s/threads=%d", c.name, pass, threads), func(b *testing.B) {
					s := newShape(c.in, c.out, c.nIn, c.nOut, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
					dev := newCPU(b, threads)
					p := newDirect(s)
					if err := p.Bind(dev, s); err != nil {
						b.Fatal(err)
					}
					pre, tmp := p.Sizes(s, false)
					x, y := alloc(b, dev, s.Sources()*s.H*s.W*s.B), alloc(b, dev, s.Targets()*s.OutH*s.OutW*s.B)
					kernel, prepared, scratch, bias := alloc(b, dev, s.KernelSize()), alloc(b, dev, pre), alloc(b, dev, tmp), alloc(b, dev, s.Out)
					measure(b, s, map[string]func(){
						"forward": func() {
							p.Prepare(prepared, kernel, bias, scratch, s)
							p.Forward(y, x, prepared, scratch, s)
						},
						"input":    func() { p.Backward(tensor.Buffer{}, bias, x, x, y, prepared, scratch, s, false) },
						"backward": func() { p.Backward(kernel, bias, x, x, y, prepared, scratch, s, false) },
						"kernel":   func() { p.Backward(kernel, bias, tensor.Buffer{}, x, y, prepared, scratch, s, false) },
					}[pass])
				})
			}
		}
	}
}

// BenchmarkFeatures measures the passes from features, with their preparation.
// GFLOP/s count the operations of the direct convolution.
func BenchmarkFeatures(b *testing.B) {
	for _, c := range benchmarks {
		for _, a := range []struct {
			name       string
			perElement bool
			create     func(s *Shape) featurePasses
		}{
			{"lowrank", false, func(*Shape) featurePasses { return newLowRank(c.features) }},
			{"frequency", false, func(s *Shape) featurePasses { return newFrequency(s, c.features) }},
			{"perelement", true, func(s *Shape) featurePasses { return newPerElement(s, c.features) }},
		} {
			for _, pass := range []string{"forward", "kernel", "backward"} {
				for _, threads := range []int{1, 2} {
					b.Run(fmt.Sprintf("case=%s/algorithm=%s/pass=%s/threads=%d", c.name, a.name, pass, threads), func(b *testing.B) {
						s := newShape(c.in, c.out, c.nIn, c.nOut, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
						s.PerElement = a.perElement
						if a.name == string(Frequency) && !inFrequency(s) {
							b.Skip("a single tap has no frequencies")
						}
						dev := newCPU(b, threads)
						p := a.create(s)
						if err := p.Bind(dev, s); err != nil {
							b.Fatal(err)
						}
						pre, tmp := p.Sizes(s, false)
						x, y := alloc(b, dev, s.Sources()*s.H*s.W*s.B), alloc(b, dev, s.Targets()*s.OutH*s.OutW*s.B)
						k := kernelFactors{F: alloc(b, dev, c.features*s.lists()*s.NOut*s.NIn*len(s.Offsets)), W: alloc(b, dev, s.Out*s.In*c.features), B: alloc(b, dev, s.Out*s.In)}
						prepared, scratch, bias := alloc(b, dev, pre), alloc(b, dev, tmp), alloc(b, dev, s.Out)
						forward := func() {
							p.Prepare(prepared, k, bias, scratch, s)
							p.Forward(y, x, prepared, scratch, s)
						}
						forward()
						measure(b, s, map[string]func(){
							"forward":  forward,
							"kernel":   func() { p.Backward(k, k, bias, tensor.Buffer{}, x, y, prepared, scratch, s, false) },
							"backward": func() { p.Backward(k, k, bias, x, x, y, prepared, scratch, s, false) },
						}[pass])
					})
				}
			}
		}
	}
}

// BenchmarkTransforms measures the transforms of a map's planes to their spectra and back, for 64 images and kernels of
// side 7. Two maps take turns with their spectra, so that no second-level cache has them.
func BenchmarkTransforms(b *testing.B) {
	for _, c := range [][2]int{{28, 20}, {28, 80}, {32, 80}, {16, 160}, {14, 128}} {
		side, planes := c[0], c[1]
		for _, name := range []string{"analysis", "synthesis"} {
			b.Run(fmt.Sprintf("transform=%s/side=%d/planes=%d/threads=1", name, side, planes), func(b *testing.B) {
				s := newShape(planes, planes, 1, 1, side, side, 64, grid(7), 7, Same)
				dev, p := newCPU(b, 1), newFrequency(s, 1)
				if err := p.Bind(dev, s); err != nil {
					b.Fatal(err)
				}
				l := p.lattice
				all := l.band(0, len(l.groups))
				var maps, spectra [2][]float32
				for i := range maps {
					maps[i] = alloc(b, dev, planes*side*side*s.B).Host()
					spectra[i] = alloc(b, dev, l.count*2*planeSize(planes, s.B)).Host()
				}
				i := 0
				for b.Loop() {
					if i = 1 - i; name == "analysis" {
						p.analyse(all, &l.in, planeSource{values: maps[i]}, spectra[i], sourceOrder(s), planes, 1, s)
					} else {
						p.synthesise(all, &l.out, spectra[i], planeSink{values: maps[i]}, targetOrder(s), span{0, planes}, 1, s)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*planes), "us/plane")
			})
		}
	}
}

// alloc returns memory with random values.
func alloc(b *testing.B, dev *tensor.CPU, n int) tensor.Buffer {
	x, err := dev.Alloc(n)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Free(x) })
	dev.Upload(x, gradcheck.Normal(n, 1))
	return x
}

// measure runs a pass.
func measure(b *testing.B, s *Shape, run func()) {
	run()
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
	b.ReportMetric(s.Operations()*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
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
