//go:build noasm || (!amd64 && !arm64)

package asm

func gemmTile() (mr, nr int) { return genericMR, genericNR }

func fullStrips() bool { return false }

// fewStepRows: there are no kernels for few steps.
func fewStepRows(int) int { return 0 }

func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	gemmNNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
}

func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	gemmTNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
}
