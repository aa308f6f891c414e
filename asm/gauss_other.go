//go:build noasm || !amd64

package asm

func gaussRows() int {
	mr, _ := gemmTile()
	return mr
}

func gauss(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c []float32, plane, ldc int, _ []float32) {
	gaussTiles(m, n, k0, k1, a0, lda0, a1, lda1, b0, b1, ldb, c, plane, ldc)
}

// gaussFetches has nothing to count: no kernel fetches ahead.
func gaussFetches(int, int) int { return 0 }
