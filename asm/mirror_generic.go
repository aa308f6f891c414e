package asm

// mirrorTileRows is the most rows that mirroredTiles takes.
const mirrorTileRows = 8

// mirrorTilesBlock is mirrorBlock where mirroredTiles computes all.
func mirrorTilesBlock(k int) (rows, cols int) {
	mr, _ := gemmTile()
	return min(mr, mirrorTileRows), stripColumns(k, mirrorColumns)
}

// mirroredTiles computes a strip of GemmMirrored tile by tile, both parts one after the other.
func mirroredTiles(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	var even, odd [mirrorTileRows * mirrorColumns]float32
	_, nr := gemmTile()
	for j := 0; j < n; j += mirrorColumns {
		cols := min(mirrorColumns, n-j)
		gemmTN(m, cols, k0, a0, lda, from(b0, j), ldb, nr, even[:], mirrorColumns, false)
		gemmTN(m, cols, k1, a1, lda, from(b1, j), ldb, nr, odd[:], mirrorColumns, false)
		for i := range m {
			sum, difference := even[i*mirrorColumns:][:cols], odd[i*mirrorColumns:][:cols]
			fold(sum, difference, 0, sum, difference, 1, cols)
			mirroredRow(up[i*ldc+j:][:cols], sum, accumulate)
			if i > 0 || !middle {
				mirroredRow(down[(m-1-i)*ldc+j:][:cols], difference, accumulate)
			}
		}
	}
}

func mirroredRow(dst, x []float32, accumulate bool) {
	if accumulate {
		add(dst, dst, x)
	} else {
		copy(dst, x)
	}
}
