package tensor_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/noether-go/noether/tensor"
)

// The benchmarks take the first feature map of a small network on SE(2) with
// eight elements: [C, n, H, W, B] = [10, 8, 28, 28, 64]. Bytes are those read
// and written at least.
const (
	benchC = 10
	benchS = 8 * 28 * 28
	benchB = 64
	benchN = benchC * benchS * benchB
)

func benchmarkDevice(b *testing.B, streams int, f func(dev *tensor.CPU, x, y, z tensor.Buffer)) {
	for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			dev := newCPU(b, threads)
			var bufs [3]tensor.Buffer
			for i := range bufs {
				var err error
				if bufs[i], err = dev.Alloc(benchN); err != nil {
					b.Fatal(err)
				}
				x := bufs[i].Host()
				for j := range x {
					x[j] = float32(uint32(j)*2654435761%1000)/500 - 1
				}
			}
			b.SetBytes(4 * benchN * int64(streams))
			b.ReportAllocs()
			for b.Loop() {
				f(dev, bufs[0], bufs[1], bufs[2])
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	benchmarkDevice(b, 3, func(dev *tensor.CPU, x, y, z tensor.Buffer) { dev.Add(z, x, y) })
}

func BenchmarkSinCos(b *testing.B) {
	benchmarkDevice(b, 3, func(dev *tensor.CPU, x, y, z tensor.Buffer) { dev.SinCos(y, z, x, 10) })
}

func BenchmarkSumRows(b *testing.B) {
	sums := tensor.HostBuffer(make([]float32, benchC))
	benchmarkDevice(b, 1, func(dev *tensor.CPU, x, _, _ tensor.Buffer) {
		dev.SumRows(sums, x, benchC, benchS*benchB, false)
	})
}

func batchNormArgs() *tensor.BatchNormArgs {
	v := func() tensor.Buffer { return tensor.HostBuffer(make([]float32, benchC)) }
	return &tensor.BatchNormArgs{Rows: benchC, Cols: benchS * benchB, Train: true, Eps: 1e-5, Momentum: 0.1,
		Weight: v(), Bias: v(), Mean: v(), InvStd: v(), RunningMean: v(), RunningVar: v(), DWeight: v(), DBias: v()}
}

func BenchmarkBatchNorm(b *testing.B) {
	a := batchNormArgs()
	benchmarkDevice(b, 2, func(dev *tensor.CPU, x, y, _ tensor.Buffer) {
		a.X, a.Y = x, y
		dev.BatchNorm(a)
	})
}

func BenchmarkBatchNormGrad(b *testing.B) {
	a := batchNormArgs()
	benchmarkDevice(b, 3, func(dev *tensor.CPU, x, y, z tensor.Buffer) {
		a.X, a.DY, a.DX = x, y, z
		dev.BatchNormGrad(a)
	})
}

func standardizeArgs() *tensor.StandardizeArgs {
	v := func() tensor.Buffer { return tensor.HostBuffer(make([]float32, benchC*benchB)) }
	return &tensor.StandardizeArgs{C: benchC, S: benchS, B: benchB, Eps: 1e-5, Mean: v(), InvStd: v()}
}

func BenchmarkStandardize(b *testing.B) {
	a := standardizeArgs()
	benchmarkDevice(b, 2, func(dev *tensor.CPU, x, y, _ tensor.Buffer) {
		a.X, a.Y = x, y
		dev.Standardize(a)
	})
}

func BenchmarkStandardizeGrad(b *testing.B) {
	a := standardizeArgs()
	benchmarkDevice(b, 3, func(dev *tensor.CPU, x, y, z tensor.Buffer) {
		a.X, a.DY, a.DX = x, y, z
		dev.StandardizeGrad(a)
	})
}

func layerNormArgs() *tensor.LayerNormArgs {
	v := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	return &tensor.LayerNormArgs{C: benchC, S: benchS, B: benchB, Eps: 1e-12, ReLU: true, Weight: v(benchC), Bias: v(benchC),
		Mean: v(benchB), InvStd: v(benchB), DWeight: v(benchC), DBias: v(benchC)}
}

func BenchmarkLayerNorm(b *testing.B) {
	a := layerNormArgs()
	benchmarkDevice(b, 2, func(dev *tensor.CPU, x, y, _ tensor.Buffer) {
		a.X, a.Y = x, y
		dev.LayerNorm(a)
	})
}

func BenchmarkLayerNormGrad(b *testing.B) {
	a := layerNormArgs()
	benchmarkDevice(b, 3, func(dev *tensor.CPU, x, y, z tensor.Buffer) {
		a.X, a.DY, a.DX = x, y, z
		dev.LayerNormGrad(a)
	})
}

func BenchmarkMaxPool2(b *testing.B) {
	benchmarkDevice(b, 1, func(dev *tensor.CPU, x, y, _ tensor.Buffer) {
		dev.MaxPool2(y, x, benchC*8, 28, 28, benchB)
	})
}

func BenchmarkMaxPool2Grad(b *testing.B) {
	benchmarkDevice(b, 2, func(dev *tensor.CPU, x, y, z tensor.Buffer) {
		dev.MaxPool2Grad(z, y, x, y, benchC*8, 28, 28, benchB)
	})
}

func BenchmarkBatchInnermost(b *testing.B) {
	benchmarkDevice(b, 2, func(dev *tensor.CPU, x, y, _ tensor.Buffer) {
		dev.BatchInnermost(y, x, benchB, benchC*benchS)
	})
}
