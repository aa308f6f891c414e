package asm

// Linear computes a product with a bias for each row, all matrices row-major
// with leading dimensions in values:
//
//	for i := range m {
//		for j := range n {
//			c[i*ldc+j] = sum over p < k of a[i*lda+p]*b[p*ldb+j] + bias[i]
//		}
//	}
//
// m and n may be any numbers; k is best small, for b is read in place. The sum
// has the bits of GemmNN. c must not overlap a, b or bias.
//
// With stream the values may bypass the caches, which is faster for a c much
// larger than those. Then nobody but the calling thread may read c before that
// thread has called Fence.
func Linear(m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int, stream bool) {
	if m < 0 || n < 0 || k < 0 {
		panic(&Error{"Linear", "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	checkRows("Linear", "a", a, m, k, lda)
	checkRows("Linear", "b", b, k, n, ldb)
	checkDst("Linear", "c", c, m, n, ldc)
	if len(bias) < m {
		panic(&Error{"Linear", "bias is shorter than the number of rows"})
	}
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadRows(b, k, n, ldb)
		raceRead(bias[:m])
		raceWriteRows(c, m, n, ldc)
	}
	mr, nr := gemmTile()
	cols := stripColumns(k, nr)
	for j := 0; j < n; j += cols {
		width := min(cols, n-j)
		var bj []float32
		if k > 0 {
			bj = b[j:]
		}
		for i := 0; i < m; i += mr {
			var ai []float32
			if k > 0 {
				ai = a[i*lda:]
			}
			linear(min(mr, m-i), width, k, ai, lda, bj, ldb, bias[i:], c[i*ldc+j:], ldc, stream)
		}
	}
}

// Fence ends what a thread wrote by Linear with stream: who learns from that
// thread that Fence has returned sees the values.
func Fence() { drain() }

// linearParts is Linear for a strip of at most mr rows, by a product and a pass
// that adds the bias.
func linearParts(m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int) {
	_, nr := gemmTile()
	gemmNN(m, n, k, a, lda, b, ldb, nr, c, ldc, false)
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		affine(row, row, 1, bias[i])
	}
}
