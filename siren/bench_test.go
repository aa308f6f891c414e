package siren

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/nn/gradcheck"
)

// BenchmarkNet evaluates the network 3-32-32-1024 of a convolution.
func BenchmarkNet(b *testing.B) {
	for _, positions := range []int{3136, 25088, 200704} {
		for _, threads := range []int{1, 2} {
			for _, backward := range []bool{false, true} {
				pass := "forward"
				if backward {
					pass = "forward+backward"
				}
				b.Run(fmt.Sprintf("pass=%s/positions=%d/threads=%d", pass, positions, threads), func(b *testing.B) {
					h := newHarness(b, mustNet(b, "", Config{In: 3, Out: 1024}, 1), positions, threads, !backward)
					h.dev.Upload(h.x, gradcheck.Normal(3*positions, 1))
					h.dev.Fill(h.dy, 1)
					h.dev.Fill(h.y, 1)
					for b.Loop() {
						h.Forward(h.y, h.x, positions)
						if backward {
							h.Backward(h.dy, h.dx)
						}
					}
				})
			}
		}
	}
}

// BenchmarkKinds compares networks of the same width and number of results.
func BenchmarkKinds(b *testing.B) {
	const positions = 25088
	for _, k := range []struct {
		name string
		cfg  func(out int) any
	}{
		{"SIREN", func(out int) any { return Config{In: 3, Out: out} }},
		{"MAGNet", func(out int) any { return FiltersConfig{In: 3, Out: out} }},
		{"Gabor", func(out int) any { return FiltersConfig{Filter: Gabor, In: 3, Out: out} }},
		{"Fourier", func(out int) any { return FiltersConfig{Filter: Fourier, In: 3, Out: out} }},
		{"ReLU", func(out int) any { return MLPConfig{In: 3, Out: out} }},
		{"LeakyReLU", func(out int) any { return MLPConfig{In: 3, Out: out, Activation: LeakyReLU} }},
		{"Swish", func(out int) any { return MLPConfig{In: 3, Out: out, Activation: Swish} }},
		{"SwishLayerNorm", func(out int) any { return MLPConfig{In: 3, Out: out, Activation: Swish, Norm: LayerNorm} }},
	} {
		for _, out := range []int{1024, 100} {
			b.Run(fmt.Sprintf("net=%s/out=%d", k.name, out), func(b *testing.B) {
				n := build(b, "", k.cfg(out), 1)
				h := newHarness(b, n, positions, 1, false)
				x := gradcheck.Normal(3*positions, 1)
				for i := range x { // to the square in which kernels lie
					x[i] = float32(math.Erf(float64(x[i])))
				}
				h.dev.Upload(h.x, x)
				h.dev.Fill(h.dy, 1)
				h.dev.Fill(h.y, 1)
				for b.Loop() {
					h.Forward(h.y, h.x, positions)
					h.Backward(h.dy, h.dx)
				}
			})
		}
	}
}
