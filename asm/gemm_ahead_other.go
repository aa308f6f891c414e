//go:build noasm || !amd64

package asm

// These kernels fetch nothing ahead.

func gemmAheadNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, _ Ahead, accumulate bool) {
	gemmNN(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
}

func gemmAheadTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, _ Ahead, accumulate bool) {
	gemmTN(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
}
