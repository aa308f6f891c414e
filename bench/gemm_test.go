package bench

import (
	"testing"
	"time"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/bench/cases"
	"github.com/noether-go/noether/tensor"
)

// fmaPeak measures the rate of one core in GFLOP/s: a tile whose operands are a
// single row each, so that nothing but the multipliers can be the limit.
func fmaPeak() float64 {
	mr, nr := asm.GemmTile()
	const k = 2048
	a, b, c := make([]float32, mr*k), make([]float32, nr), make([]float32, mr*nr)
	best := 0.0
	for range 50 {
		start := time.Now()
		asm.GemmTN(mr, nr, k, a, 0, b, 0, c, nr, false)
		best = max(best, 2*float64(mr*nr*k)/time.Since(start).Seconds()/1e9)
	}
	return best
}

// matrices returns A, B and C as those of a network lie in memory: in one block, and in whole huge pages if it fills
// one. So do those of the libraries in C.
func matrices(b *testing.B, dev *tensor.CPU, sizeA, sizeB, sizeC int) (x, y, z []float32) {
	const page, line = 2 << 20 / 4, 64 / 4
	roundUp := func(n, to int) int { return (n + to - 1) / to * to }
	first, second := roundUp(sizeA, line), roundUp(sizeB, line)
	size := first + second + sizeC
	if size >= page {
		size = roundUp(size, page)
	}
	all := deviceValues(b, dev, size)
	return all[:sizeA], all[first:][:sizeB], all[first+second:][:sizeC]
}

// BenchmarkSgemm reports GFLOP/s and their share of the FMA peak of as many cores,
// which is measured just before and after. Level amx can exceed it.
func BenchmarkSgemm(b *testing.B) {
	for _, threads := range threadCounts {
		for _, g := range cases.Gemms {
			run(b, g.Bench(asm.Active().String(), threads), func(b *testing.B) {
				dev := newCPU(b, threads)
				team := dev.Team()
				x, y, z := matrices(b, dev, g.M*g.K, g.K*g.N, g.M*g.N)
				lda, ldb := g.K, g.N
				if g.TransA {
					lda = g.M
				}
				if g.TransB {
					ldb = g.K
				}
				product := func() {
					tensor.Sgemm(team, g.TransA, g.TransB, g.M, g.N, g.K, 1, x, lda, y, ldb, 0, z, g.N)
				}
				product()
				peak := fmaPeak()
				for b.Loop() {
					product()
				}
				peak = max(peak, fmaPeak())
				rate := g.Operations() * float64(b.N) / b.Elapsed().Seconds() / 1e9
				b.ReportMetric(rate, "GFLOP/s")
				b.ReportMetric(100*rate/peak/float64(threads), "%peak")
			})
		}
	}
}
