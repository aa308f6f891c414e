package tensor

import "github.com/noether-go/noether/asm"

// gemmState is the scratch memory of Gemm.
type gemmState struct{}

// Gemm computes strided batches of products, see GemmArgs.
func (d *CPU) Gemm(g *GemmArgs) {
	at := func(x []float32, trans bool, ld, i, j int) float64 {
		if trans {
			i, j = j, i
		}
		return float64(x[i*ld+j])
	}
	for p := range max(g.Batch, 1) {
		if g.M == 0 || g.N == 0 {
			return
		}
		c := g.C.Host()[p*g.StrideC:]
		for i := range g.M {
			row := c[i*g.LDC : i*g.LDC+g.N]
			for j := range row {
				var s float64
				for k := range g.K {
					s += at(g.A.Host()[p*g.StrideA:], g.TransA, g.LDA, i, k) * at(g.B.Host()[p*g.StrideB:], g.TransB, g.LDB, k, j)
				}
				if g.Accumulate {
					s += float64(row[j])
				}
				if !g.Bias.IsZero() {
					s += float64(g.Bias.Host()[i])
				}
				row[j] = float32(s)
			}
			switch g.Epilogue {
			case ReLUEpilogue:
				asm.Relu(row, row)
			case SinEpilogue:
				var der Buffer
				if !g.Derivative.IsZero() {
					der = g.Derivative.Slice(p*g.StrideC+i*g.LDC, p*g.StrideC+i*g.LDC+g.N)
				}
				d.SinCos(HostBuffer(row), der, HostBuffer(row), g.Omega)
			}
		}
	}
}
