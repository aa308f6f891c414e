package asm

// pairTiles computes a strip of GemmPair, of at most as many rows as GemmTile says, one product
// after the other.
func pairTiles(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int) {
	_, nr := gemmTile()
	gemmNN(m, n, k0, a0, lda0, b0, ldb, nr, c0, ldc, false)
	gemmNN(m, n, k1, a1, lda1, b1, ldb, nr, c1, ldc, false)
}
