package asm

// DotTile returns the register tile of GemmDots at the active level, or zeros
// where it has no kernel for it.
func DotTile() (mr, nr int) { return dotTile() }

// GemmDots multiplies by a matrix that is stored transposed, [n, k]: each element
// of C is the scalar product of a row of A and a row of B. It saves packing B
// where C is small and k long. 0 <= m <= mr of DotTile (any m if that is zero), n
// is any:
//
//	for i := range m {
//		for j := range n {
//			var s float32
//			for p := range k {
//				s += a[i*lda+p] * b[j*ldb+p] // fused where the level has FMA
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// Vectors of the terms are summed in the order of p and then, in a fixed order,
// the lanes. An element has the same bits wherever it lies in C. Without
// accumulate C is not read; c must not overlap a or b.
func GemmDots(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	if mr, _ := dotTile(); m < 0 || n < 0 || k < 0 || mr > 0 && m > mr {
		panic(&Error{"GemmDots", "m outside the tile of DotTile, or a negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	checkRows("GemmDots", "a", a, m, k, lda)
	checkRows("GemmDots", "b", b, n, k, ldb)
	checkDst("GemmDots", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadRows(b, n, k, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	const step = 16 // columns: a multiple of every tile
	cols := stripColumns(k, step)
	for ; n > cols; n -= cols {
		gemmDots(m, cols, k, a, lda, b, ldb, c, ldc, accumulate)
		b, c = nextPanel(b, cols*ldb), c[cols:]
	}
	gemmDots(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
}
