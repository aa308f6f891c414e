//go:build !noasm

package asm

import "unsafe"

// Register tiles. AVX-512 has 32 vector registers: 28 sums, 2 of B, 2 broadcast
// values of A; AVX2 has 16: 12, 2 and 2.
const (
	avx512MR, avx512NR = 14, 32
	avx2MR, avx2NR     = 6, 16
)

func gemmTile() (mr, nr int) {
	switch level {
	case AVX512:
		return avx512MR, avx512NR
	case AVX2:
		return avx2MR, avx2NR
	}
	return genericMR, genericNR
}

// fullStrips: each number of rows has a loop of its own.
func fullStrips() bool { return false }

func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	gemmAheadNN(m, n, k, a, lda, b, ldb, distance, c, ldc, Ahead{}, accumulate)
}

func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	gemmAheadTN(m, n, k, a, lda, b, ldb, distance, c, ldc, Ahead{}, accumulate)
}

// gemmAheadNN and gemmAheadTN are not inlined and call something, so that they have the
// prologue in which the scheduler can stop a goroutine that calls them in a
// loop.
//
//go:noinline
func gemmAheadNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, ahead Ahead, accumulate bool) {
	switch level {
	case AVX512:
		if outerPays(m, n, k) {
			souterAVX512(m, n, k, unsafe.SliceData(a), lda, 1, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, accumulate)
			return
		}
		sgemmNN14x32AVX512(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, unsafe.SliceData(ahead.X), ahead.LD, ahead.Rows, accumulate)
	case AVX2:
		sgemmNN6x16AVX2(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, unsafe.SliceData(ahead.X), ahead.LD, ahead.Rows, accumulate)
	default:
		gemmNNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
	}
}

//go:noinline
func gemmAheadTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, ahead Ahead, accumulate bool) {
	switch level {
	case AVX512:
		if outerPays(m, n, k) {
			souterAVX512(m, n, k, unsafe.SliceData(a), 1, lda, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, accumulate)
			return
		}
		sgemmTN14x32AVX512(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, unsafe.SliceData(ahead.X), ahead.LD, ahead.Rows, accumulate)
	case AVX2:
		sgemmTN6x16AVX2(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, distance, unsafe.SliceData(c), ldc, unsafe.SliceData(ahead.X), ahead.LD, ahead.Rows, accumulate)
	default:
		gemmTNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
	}
}

// fewStepRows returns how many rows a strip of k outer products may have, or 0 where the level has none. The more, the
// less often columns begin.
func fewStepRows(k int) int {
	if level == AVX512 && 1 <= k && k <= 4 {
		return 32
	}
	return 0
}

// outerPays reports whether k outer products take less time than register tiles, or do more rows.
func outerPays(m, n, k int) bool { return m <= fewStepRows(k) && (n > avx512NR || m > avx512MR) }

// columnMask has the lowest n <= 32 bits set.
func columnMask(n int) uint32 { return uint32(1<<uint(n) - 1) }

// sgemmNN14x32AVX512 multiplies a strip of 1 <= m <= 14 rows by n >= 1 columns.
// The panels of 32 columns of B are distance values apart.
//
//go:noescape
func sgemmNN14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)

// sgemmTN14x32AVX512 does the same with A stored k-major.
//
//go:noescape
func sgemmTN14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)

// souterAVX512 multiplies a strip of m >= 1 rows by n >= 1 columns for 1 <= k <= 4. The
// rows of A are row values apart and their steps step values, the panels of 32 columns
// of B distance values.
//
//go:noescape
func souterAVX512(m, n, k int, a *float32, row, step int, b *float32, ldb, distance int, c *float32, ldc int, accumulate bool)

// sgemmNN6x16AVX2 multiplies a strip of 1 <= m <= 6 rows by n >= 1 columns. The
// panels of 16 columns of B are distance values apart.
//
//go:noescape
func sgemmNN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)

// sgemmTN6x16AVX2 does the same with A stored k-major.
//
//go:noescape
func sgemmTN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)
