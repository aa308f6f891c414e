package tensor

import "fmt"

// Gemm computes strided batches of products, see GemmArgs.
func (d *CPU) Gemm(g *GemmArgs) {
	job := gemmJob{
		transA: g.TransA, transB: g.TransB,
		m: g.M, n: g.N, k: g.K, batch: g.Batch,
		a: hostOperand("A", g.A), lda: g.LDA, strideA: g.StrideA,
		b: hostOperand("B", g.B), ldb: g.LDB, strideB: g.StrideB,
		c: hostOperand("C", g.C), ldc: g.LDC, strideC: g.StrideC,
		alpha: 1, epilogue: g.Epilogue, omega: g.Omega,
	}
	if job.batch == 0 {
		job.batch = 1
	}
	if g.Accumulate {
		job.beta = 1
	}
	if !g.Bias.IsZero() {
		job.bias = host("Gemm", "Bias", g.Bias, g.M)
	}
	if !g.Derivative.IsZero() {
		if g.Epilogue != SinEpilogue {
			panic(&Error{"Gemm", "Derivative is set, but Epilogue is not SinEpilogue"})
		}
		job.derivative = hostOperand("Derivative", g.Derivative)
	}
	if g.Epilogue > SinEpilogue {
		panic(&Error{"Gemm", fmt.Sprintf("unknown epilogue %d", g.Epilogue)})
	}
	d.team.gemm.job = job
	d.team.gemm.run(d.team, "Gemm")
}

// hostOperand returns all of b. It panics when b lies in another device's
// memory.
func hostOperand(arg string, b Buffer) []float32 { return host("Gemm", arg, b, b.Len()) }
