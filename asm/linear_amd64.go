//go:build !noasm

package asm

import "unsafe"

// linear14x32AVX512 is Linear for 14 rows and tiles*32 columns, tiles >= 1. With
// stream, c and ldc must be multiples of 64 bytes.
//
//go:noescape
func linear14x32AVX512(tiles, k int, a *float32, lda int, b *float32, ldb int, bias, c *float32, ldc int, stream bool)

func storeFence()

// linear is Linear for a strip of at most mr rows.
//
//go:noinline
func linear(m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int, stream bool) {
	tiles := n / avx512NR
	if level != AVX512 || m < avx512MR || tiles == 0 || k == 0 {
		linearParts(m, n, k, a, lda, b, ldb, bias, c, ldc)
		return
	}
	line := uintptr(unsafe.Pointer(unsafe.SliceData(c)))%64 == 0 && ldc%16 == 0
	linear14x32AVX512(tiles, k, &a[0], lda, &b[0], ldb, &bias[0], &c[0], ldc, stream && line)
	if done := tiles * avx512NR; done < n {
		linearParts(m, n-done, k, a, lda, b[done:], ldb, bias, c[done:], ldc)
	}
}

//go:noinline
func drain() { storeFence() }
