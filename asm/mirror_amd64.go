//go:build !noasm

package asm

import "unsafe"

// mirrorRows returns the most rows of a strip.
func mirrorRows() int {
	if level == AVX512 {
		return 7
	}
	mr, _ := gemmTile()
	return min(mr, mirrorTileRows)
}

// sgemmMirrored7x32AVX512 computes a strip of 1 <= m <= 7 rows by n >= 1 columns.
//
//go:noescape
func sgemmMirrored7x32AVX512(m, n, k0, k1 int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)

//go:noinline
func mirrored(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	if level != AVX512 {
		mirroredTiles(m, n, k0, k1, a0, a1, lda, b0, b1, ldb, up, down, ldc, middle, accumulate)
		return
	}
	sgemmMirrored7x32AVX512(m, n, k0, k1, unsafe.SliceData(a0), unsafe.SliceData(a1), lda, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &up[0], unsafe.SliceData(down), ldc, middle, accumulate)
}
