//go:build noasm || !amd64

package asm

func pairRows() int {
	mr, _ := gemmTile()
	return mr
}

func pair(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int, _ []float32) {
	pairTiles(m, n, k0, k1, a0, lda0, a1, lda1, b0, b1, ldb, c0, c1, ldc)
}

// pairFetches has nothing to count: no kernel fetches ahead.
func pairFetches(int, int) int { return 0 }
