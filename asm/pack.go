package asm

// PackPanel copies n <= nr columns of k rows to a panel of nr columns (nr of
// GemmTile), zero in columns n..nr-1:
//
//	dst[p*nr+j] = src[p*ldsrc+j]
//
// dst and src must not overlap in any function of this file.
func PackPanel(dst, src []float32, ldsrc, k, n int) {
	_, nr := gemmTile()
	checkPanel("PackPanel", dst, k, n, nr)
	checkRows("PackPanel", "src", src, k, n, ldsrc)
	if raceEnabled {
		raceReadRows(src, k, n, ldsrc)
		raceWrite(dst[:k*nr])
	}
	packPanel(dst, src, ldsrc, k, n)
}

// PackRows is PackPanel for rows that lie anywhere in src, such as the shifted
// rows of an implicit im2col; row p starts at offsets[p], k = len(offsets):
//
//	dst[p*nr+j] = src[offsets[p]+j]
func PackRows(dst, src []float32, offsets []int, n int) {
	_, nr := gemmTile()
	checkPanel("PackRows", dst, len(offsets), n, nr)
	for _, o := range offsets {
		if o < 0 || o > len(src)-n {
			panic(&Error{"PackRows", "an offset leads out of src"})
		}
		if raceEnabled {
			raceRead(src[o : o+n])
		}
	}
	if raceEnabled {
		raceWrite(dst[:len(offsets)*nr])
	}
	packRows(dst, src, offsets, n)
}

// PackCols is PackPanel for a matrix that is stored transposed:
//
//	dst[p*nr+j] = src[j*ldsrc+p]
func PackCols(dst, src []float32, ldsrc, k, n int) {
	_, nr := gemmTile()
	checkPanel("PackCols", dst, k, n, nr)
	checkRows("PackCols", "src", src, n, k, ldsrc)
	if raceEnabled {
		raceReadRows(src, n, k, ldsrc)
		raceWrite(dst[:k*nr])
	}
	packCols(dst, src, ldsrc, k, n)
}

// PackA copies m <= mr rows of length k to a k-major panel of mr values a step
// (mr of GemmTile), zero in m..mr-1, for GemmTN with lda = mr:
//
//	dst[p*mr+i] = src[i*ldsrc+p]
func PackA(dst, src []float32, ldsrc, k, m int) {
	mr, _ := gemmTile()
	checkPanel("PackA", dst, k, m, mr)
	checkRows("PackA", "src", src, m, k, ldsrc)
	if raceEnabled {
		raceReadRows(src, m, k, ldsrc)
		raceWrite(dst[:k*mr])
	}
	packA(dst, src, ldsrc, k, m)
}

// PackAT is PackA for a matrix that is stored k-major already; it gathers the
// panel's values:
//
//	dst[p*mr+i] = src[p*ldsrc+i]
func PackAT(dst, src []float32, ldsrc, k, m int) {
	mr, _ := gemmTile()
	checkPanel("PackAT", dst, k, m, mr)
	checkRows("PackAT", "src", src, k, m, ldsrc)
	if raceEnabled {
		raceReadRows(src, k, m, ldsrc)
		raceWrite(dst[:k*mr])
	}
	packAT(dst, src, ldsrc, k, m)
}

// Transpose writes the transpose of src [rows, cols] to dst [cols, rows]:
//
//	dst[j*lddst+i] = src[i*ldsrc+j]
func Transpose(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	if rows < 0 || cols < 0 {
		panic(&Error{"Transpose", "negative size"})
	}
	checkRows("Transpose", "src", src, rows, cols, ldsrc)
	checkDst("Transpose", "dst", dst, cols, rows, lddst)
	if rows == 0 || cols == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(src, rows, cols, ldsrc)
		raceWriteRows(dst, cols, rows, lddst)
	}
	transpose(dst, lddst, src, ldsrc, rows, cols)
}

// checkPanel panics unless a panel of width values and k steps fits into dst
// and n of them may be filled.
func checkPanel(op string, dst []float32, k, n, width int) {
	if uint(n) > uint(width) || k < 0 {
		panic(&Error{op, "more values a step than the tile of GemmTile has, or k < 0"})
	}
	if len(dst) < times(k, width) {
		panic(&Error{op, "dst is shorter than the panel"})
	}
}
