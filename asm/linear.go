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

// LinearGrad goes back through a product: for the weights a [k, lda] of Linear, of
// which it takes the first m columns,
//
//	for i := range m {
//		for j := range n {
//			s := sum over p < k of a[p*lda+i]*b[p*ldb+j]
//			c[i*ldc+j] = s // accumulate: s + c[i*ldc+j]
//		}
//	}
//
// with the bits of GemmTN, for any m and n. Meanwhile it asks the processor to
// bring the k rows of n values of ahead, ldahead apart, into the second-level
// cache. That is a hint: ahead may be shorter, or nil.
func LinearGrad(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, ahead []float32, ldahead int) {
	if m < 0 || n < 0 || k < 0 || ldahead < 0 {
		panic(&Error{"LinearGrad", "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	checkRows("LinearGrad", "a", a, k, m, lda)
	checkRows("LinearGrad", "b", b, k, n, ldb)
	checkDst("LinearGrad", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, k, m, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	linearGrad(m, n, k, a, lda, b, ldb, c, ldc, accumulate, ahead, ldahead)
}

// linearGradParts is LinearGrad by strips of RowStrip: one of few rows would wait for its own sums. They share
// out the rows of ahead, where kernels fetch any.
func linearGradParts(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, ahead []float32, ldahead int) {
	_, nr := gemmTile()
	strips, cols := RowStrips(m), stripColumns(k, nr)
	for s := range strips {
		i, end := RowStrip(s, m)
		fetch := Ahead{LD: ldahead}
		if first := s * k / strips; times(first, ldahead) < len(ahead) {
			fetch.X, fetch.Rows = ahead[first*ldahead:], (s+1)*k/strips-first
		}
		for j := 0; j < n; j += cols {
			gemmAheadTN(end-i, min(cols, n-j), k, from(a, i), lda, from(b, j), ldb, nr, c[i*ldc+j:], ldc, fetch, accumulate)
			fetch = fetch.beyond(cols)
		}
	}
}

// CopyRows copies rows rows of cols values and sums each:
//
//	for r := range rows {
//		copy(dst[r*lddst:], src[r*ldsrc:][:cols])
//		sums[r] = sum of src[r*ldsrc:][:cols]
//	}
//
// Sums are taken in float32, in an order that depends on the level and on cols
// alone; cols is at most 8192. dst and src must not overlap.
func CopyRows(dst []float32, lddst int, src []float32, ldsrc, rows, cols int, sums []float32) {
	if rows < 0 || cols < 0 || cols > reduceBlock {
		panic(&Error{"CopyRows", "rows or cols below 0, or cols above 8192"})
	}
	checkRows("CopyRows", "src", src, rows, cols, ldsrc)
	checkDst("CopyRows", "dst", dst, rows, cols, lddst)
	if len(sums) < rows {
		panic(&Error{"CopyRows", "sums is shorter than the number of rows"})
	}
	if rows == 0 {
		return
	}
	if cols == 0 {
		clear(sums[:rows])
		return
	}
	if raceEnabled {
		raceReadRows(src, rows, cols, ldsrc)
		raceWriteRows(dst, rows, cols, lddst)
		raceWrite(sums[:rows])
	}
	for step := max(1, chunk/cols); rows > step; rows -= step {
		copyRows(dst, lddst, src, ldsrc, step, cols, sums)
		dst, src, sums = dst[step*lddst:], src[step*ldsrc:], sums[step:]
	}
	copyRows(dst, lddst, src, ldsrc, rows, cols, sums)
}

func copyRowsParts(dst []float32, lddst int, src []float32, ldsrc, rows, cols int, sums []float32) {
	for r := range rows {
		row := src[r*ldsrc:][:cols]
		copy(dst[r*lddst:], row)
		sums[r] = float32(sum(row))
	}
}
