package siren

import (
	"fmt"
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
