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

// gemmNN and gemmTN are not inlined and call something, so that they have the
// prologue in which the scheduler can stop a goroutine that calls them in a
// loop.
//
//go:noinline
func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	switch level {
	case AVX512:
		sgemmNN14x32AVX512(m, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, columnMask(n), accumulate)
	case AVX2:
		sgemmNN6x16AVX2(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, accumulate)
	default:
		gemmNNGeneric(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
	}
}

//go:noinline
func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	switch level {
	case AVX512:
		sgemmTN14x32AVX512(m, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, columnMask(n), accumulate)
	case AVX2:
		sgemmTN6x16AVX2(m, n, k, unsafe.SliceData(a), lda, unsafe.SliceData(b), ldb, unsafe.SliceData(c), ldc, accumulate)
	default:
		gemmTNGeneric(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
	}
}

// columnMask has the lowest n <= 32 bits set.
func columnMask(n int) uint32 { return uint32(1<<uint(n) - 1) }

// sgemmNN14x32AVX512 is GemmNN for 1 <= m <= 14. Bit j of mask says that column
// j exists.
//
//go:noescape
func sgemmNN14x32AVX512(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mask uint32, accumulate bool)

// sgemmTN14x32AVX512 is GemmTN in the same way.
//
//go:noescape
func sgemmTN14x32AVX512(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mask uint32, accumulate bool)

// sgemmNN6x16AVX2 is GemmNN for 1 <= m <= 6, 1 <= n <= 16.
//
//go:noescape
func sgemmNN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)

// sgemmTN6x16AVX2 is GemmTN for 1 <= m <= 6, 1 <= n <= 16.
//
//go:noescape
func sgemmTN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)
