//go:build !noasm

package asm

import "unsafe"

// sgemmPair14x32AVX512 computes a strip of 1 <= m <= 14 rows by n >= 1 columns of one product.
//
//go:noescape
func sgemmPair14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, ahead *float32, accumulate bool)

//go:noinline
func pair(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, ahead []float32) {
	if level != AVX512 {
		_, nr := gemmTile()
		gemmNN(m, n, k, a, lda, b, ldb, nr, c, ldc, accumulate)
		return
	}
	if len(ahead) < pairFetches(n, k) {
		ahead = c // which is at hand
	}
	sgemmPair14x32AVX512(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, &c[0], ldc, unsafe.SliceData(ahead), accumulate)
}

// pairFetches returns how many values a strip of n columns and k steps fetches ahead.
func pairFetches(n, k int) int { return (n + 31) / 32 * k * 32 }
