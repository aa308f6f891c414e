//go:build !noasm

package asm

import "unsafe"

// mirrorBlock returns the most rows and columns of a call for so many steps.
func mirrorBlock(k int) (rows, cols int) {
	if level == NEON {
		return 4, stripColumns(k, mirrorColumns)
	}
	return mirrorTilesBlock(k)
}

// sgemmMirrored4x12NEON computes a strip of 1 <= m <= 4 rows by n columns, a multiple of 4, of
// both steps of either part, and evenMore or oddMore of one of them.
//
//go:noescape
func sgemmMirrored4x12NEON(m, n, both, evenMore, oddMore int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)

//go:noinline
func mirrored(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	whole := 0
	if level == NEON {
		whole = n &^ 3
	}
	if whole > 0 {
		both := min(k0, k1)
		sgemmMirrored4x12NEON(m, whole, both, k0-both, k1-both, unsafe.SliceData(a0), unsafe.SliceData(a1), lda, unsafe.SliceData(b0), unsafe.SliceData(b1), ldb, &up[0], unsafe.SliceData(down), ldc, middle, accumulate)
	}
	if whole < n {
		mirroredTiles(m, n-whole, k0, k1, a0, a1, lda, from(b0, whole), from(b1, whole), ldb, up[whole:], from(down, whole), ldc, middle, accumulate)
	}
}
