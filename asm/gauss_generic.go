package asm

// gaussTiles computes a strip of GemmGauss, of at most as many rows as GemmTile says, tile by tile.
func gaussTiles(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c []float32, plane, ldc int) {
	_, nr := gemmTile()
	for j := 0; j < n; j += gaussColumns {
		cols, c := min(gaussColumns, n-j), c[j:]
		gemmNN(m, cols, k0, a0, lda0, from(b0, j), ldb, nr, c, ldc, false)
		gemmNN(m, cols, k1, a1, lda1, from(b1, j), ldb, nr, c[plane:], ldc, false)
		for i := range m {
			re, sum, difference := c[i*ldc:][:cols], c[i*ldc+plane:][:cols], c[i*ldc+2*plane:][:cols]
			fold(sum, difference, 0, re, sum, 1, cols)
		}
	}
}
