//go:build noasm || !amd64

package asm

func dotTile() (mr, nr int) { return 0, 0 }

func gemmDots(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	gemmDotsGeneric(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
}
