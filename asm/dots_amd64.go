//go:build !noasm

package asm

import "unsafe"

// Register tiles: 24 sums, four of B and one of A with AVX-512; 12, one and three
// with AVX2.
const (
	avx512DotMR = 6
	avx2DotMR   = 3
	dotNR       = 4
)

func dotTile() (mr, nr int) {
	switch level {
	case AVX512:
		return avx512DotMR, dotNR
	case AVX2:
		return avx2DotMR, dotNR
	}
	return 0, 0
}

//go:noinline
func gemmDots(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	switch level {
	case AVX512:
		sgemmDots6x4AVX512(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, accumulate)
	case AVX2:
		sgemmDots3x4AVX2(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, accumulate)
	default:
		gemmDotsGeneric(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
	}
}

// sgemmDots6x4AVX512 is GemmDots for 1 <= m <= 6, n >= 1.
//
//go:noescape
func sgemmDots6x4AVX512(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)

// sgemmDots3x4AVX2 is GemmDots for 1 <= m <= 3, n >= 1.
//
//go:noescape
func sgemmDots3x4AVX2(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)
