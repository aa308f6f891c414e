package bench

import (
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/bench/cases"
)

// BenchmarkElementwise runs on one core, from one array into another. Level amx has
// the kernels of avx512 and goes by that name.
func BenchmarkElementwise(b *testing.B) {
	level := asm.Active()
	if level == asm.AMX {
		level = asm.AVX512
	}
	for _, op := range cases.Ops {
		for _, n := range cases.Lengths {
			run(b, cases.ElementwiseBench(op, level.String(), n), func(b *testing.B) {
				dev := newCPU(b, 1) // for memory as the engine has it
				x, y := deviceValues(b, dev, n), deviceValues(b, dev, n)
				var f func()
				streams := 2 // arrays read or written
				switch op {
				case "sin":
					f = func() { asm.Sin(y, x) }
				case "exp":
					f = func() { asm.Exp(y, x) }
				case "log":
					asm.Exp(x, x) // positive
					f = func() { asm.Log(y, x) }
				case "relu":
					f = func() { asm.Relu(y, x) }
				case "adam":
					m, v := deviceValues(b, dev, n), deviceValues(b, dev, n)
					asm.Fill(m, 0)
					asm.Fill(v, 0)
					streams = 7
					step := asm.AdamStep{Step: 1e-3, Beta1: 0.9, Beta2: 0.999, Correction2: 1, Eps: 1e-8, Decay: 1}
					f = func() { asm.Adam(y, m, v, x, step) }
				}
				f()
				b.SetBytes(4 * int64(n) * int64(streams))
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelem/s")
			})
		}
	}
}
