//go:build !noasm

package asm

import "unsafe"

// pairRows returns the most rows of a strip.
func pairRows() int {
	if level == AVX512 {
		return 7
	}
	mr, _ := gemmTile()
	return mr
}

// sgemmPair7x32AVX512 computes a strip of 1 <= m <= 7 rows by n >= 1 columns.
//
//go:noescape
func sgemmPair7x32AVX512(m, n, k0, k1 int, a0 *float32, lda0 int, a1 *float32, lda1 int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, ahead *float32)

//go:noinline
func pair(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int, ahead []float32) {
	if level != AVX512 {
		pairTiles(m, n, k0, k1, a0, lda0, a1, lda1, b0, b1, ldb, c0, c1, ldc)
		return
	}
	if len(ahead) < pairFetches(n, k0+k1) {
		ahead = c0 // which is at hand
	}
	sgemmPair7x32AVX512(m, n, k0, k1, unsafe.SliceData(a0), lda0, unsafe.SliceData(a1), lda1, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &c0[0], &c1[0], ldc, unsafe.SliceData(ahead))
}

// pairFetches returns how many values a strip of n columns and so many steps fetches ahead.
func pairFetches(n, steps int) int { return (n + 31) / 32 * steps * 16 }
