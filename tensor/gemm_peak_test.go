package tensor

import (
	"time"

	"github.com/noether-go/noether/asm"
)

// fmaPeak measures the rate of one processor in GFLOP/s: a tile whose operands
// are a single row each, so that nothing but the multipliers can be the limit.
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
