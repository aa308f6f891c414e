//go:build !noasm

package asm

import "unsafe"

// mirrorBlock returns the most rows and columns of a call for so many steps.
func mirrorBlock(k int) (rows, cols int) {
	switch level {
	case AVX512:
		return 7, stripColumns(k, mirrorColumns)
	case AVX2:
		// The kernel goes over the strips of its rows itself, for few columns: what they read of B then stays in the
		// first-level cache.
		return 24, max(1, 4096/max(16, k)/mirrorColumns) * mirrorColumns
	}
	return mirrorTilesBlock(k)
}

// sgemmMirrored7x32AVX512 computes a strip of 1 <= m <= 7 rows by n >= 1 columns.
//
//go:noescape
func sgemmMirrored7x32AVX512(m, n, k0, k1 int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)

// sgemmMirrored3x16AVX2 computes m >= 1 rows by n >= 1 columns, of both steps of either part, and evenMore
// or oddMore of one of them.
//
//go:noescape
func sgemmMirrored3x16AVX2(m, n, both, evenMore, oddMore int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)

//go:noinline
func mirrored(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	switch level {
	case AVX512:
		sgemmMirrored7x32AVX512(m, n, k0, k1, unsafe.SliceData(a0), unsafe.SliceData(a1), lda, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &up[0], unsafe.SliceData(down), ldc, middle, accumulate)
	case AVX2:
		both := min(k0, k1)
		sgemmMirrored3x16AVX2(m, n, both, k0-both, k1-both, unsafe.SliceData(a0), unsafe.SliceData(a1), lda, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &up[0], unsafe.SliceData(down), ldc, middle, accumulate)
	default:
		mirroredTiles(m, n, k0, k1, a0, a1, lda, b0, b1, ldb, up, down, ldc, middle, accumulate)
	}
}
