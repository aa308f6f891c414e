//go:build !noasm

package asm

import "unsafe"

// gaussRows returns the most rows of a strip.
func gaussRows() int {
	if level == AVX512 {
		return 7
	}
	mr, _ := gemmTile()
	return mr
}

// sgemmGauss7x32AVX512 computes a strip of 1 <= m <= 7 rows by n >= 1 columns.
//
//go:noescape
func sgemmGauss7x32AVX512(m, n, k0, k1 int, a0 *float32, lda0 int, a1 *float32, lda1 int, b0, b1 *float32, ldb int, c *float32, plane, ldc int, ahead *float32)

//go:noinline
func gauss(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c []float32, plane, ldc int, ahead []float32) {
	if level != AVX512 {
		gaussTiles(m, n, k0, k1, a0, lda0, a1, lda1, b0, b1, ldb, c, plane, ldc)
		return
	}
	if len(ahead) < gaussFetches(n, k0+k1) {
		ahead = c // which is at hand
	}
	sgemmGauss7x32AVX512(m, n, k0, k1, unsafe.SliceData(a0), lda0, unsafe.SliceData(a1), lda1, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &c[0], plane, ldc, unsafe.SliceData(ahead))
}

// gaussFetches returns how many values a strip of n columns and so many steps fetches ahead.
func gaussFetches(n, steps int) int { return (n + 31) / 32 * steps * 16 }
