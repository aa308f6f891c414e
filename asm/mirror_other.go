//go:build noasm || (!amd64 && !arm64)

package asm

// mirrorBlock returns the most rows and columns of a call for so many steps.
func mirrorBlock(k int) (rows, cols int) { return mirrorTilesBlock(k) }

func mirrored(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	mirroredTiles(m, n, k0, k1, a0, a1, lda, b0, b1, ldb, up, down, ldc, middle, accumulate)
}
