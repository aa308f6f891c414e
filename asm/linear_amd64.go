//go:build !noasm

package asm

import "unsafe"

// linear14x32AVX512 is Linear for 14 rows and tiles*32 columns, tiles >= 1. With
// stream, c and ldc must be multiples of 64 bytes.
//
//go:noescape
func linear14x32AVX512(tiles, k int, a *float32, lda int, b *float32, ldb int, bias, c *float32, ldc int, stream bool)

// linear6x16AVX2 is Linear for 6 rows and tiles*16 columns, tiles >= 1. It does not bypass the caches, which took
// longer on Zen 3.
//
//go:noescape
func linear6x16AVX2(tiles, k int, a *float32, lda int, b *float32, ldb int, bias, c *float32, ldc int)

func storeFence()

// linear is Linear for a strip of at most mr rows.
//
//go:noinline
func linear(m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int, stream bool) {
	mr, nr := gemmTile()
	tiles := n / nr
	if level < AVX2 || m < mr || tiles == 0 || k == 0 {
		linearParts(m, n, k, a, lda, b, ldb, bias, c, ldc)
		return
	}
	if level == AVX2 {
		linear6x16AVX2(tiles, k, &a[0], lda, &b[0], ldb, &bias[0], &c[0], ldc)
	} else {
		line := uintptr(unsafe.Pointer(unsafe.SliceData(c)))%64 == 0 && ldc%16 == 0
		linear14x32AVX512(tiles, k, &a[0], lda, &b[0], ldb, &bias[0], &c[0], ldc, stream && line)
	}
	if done := tiles * nr; done < n {
		linearParts(m, n-done, k, a, lda, b[done:], ldb, bias, c[done:], ldc)
	}
}

//go:noinline
func drain() { storeFence() }

// pull8x32AVX512 is LinearGrad for 8 columns of a and tiles*32 columns of b,
// tiles >= 1. Of ahead it fetches every other row, the first line of each 32
// values: four calls, which begin at its first two rows and lines, fetch all. Only
// addresses are made from ahead.
//
//go:noescape
func pull8x32AVX512(tiles, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, ahead *float32, ldahead int, accumulate bool)

//go:noinline
func linearGrad(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, ahead []float32, ldahead int) {
	const rows = 8
	cols := n &^ (avx512NR - 1)
	if level != AVX512 || m < rows || cols == 0 || k == 0 {
		linearGradParts(m, n, k, a, lda, b, ldb, c, ldc, accumulate, ahead, ldahead)
		return
	}
	i := 0
	for ; i+rows <= m; i += rows {
		step := stripColumns(k, avx512NR)
		for j := 0; j < cols; j += step {
			// The first four strips share ahead out; the others fetch what is there.
			fetch, stride := &b[0], 0
			part := i / rows
			if at := plus(part%2*16+j, part/2*ldahead); part < 4 && at < len(ahead) {
				fetch, stride = &ahead[at], ldahead
			}
			tiles := min(step, cols-j) / avx512NR
			pull8x32AVX512(tiles, k, &a[i], lda, &b[j], ldb, &c[i*ldc+j], ldc, fetch, stride, accumulate)
		}
	}
	linearGradParts(m-i, cols, k, a[i:], lda, b, ldb, c[min(len(c), i*ldc):], ldc, accumulate, nil, 0)
	if cols < n {
		linearGradParts(m, n-cols, k, a, lda, b[cols:], ldb, c[cols:], ldc, accumulate, nil, 0)
	}
}

//go:noescape
func copyRowsAVX512(dst *float32, lddst int, src *float32, ldsrc, rows, cols int, sums *float32)

//go:noinline
func copyRows(dst []float32, lddst int, src []float32, ldsrc, rows, cols int, sums []float32) {
	if level == AVX512 {
		copyRowsAVX512(&dst[0], lddst, &src[0], ldsrc, rows, cols, &sums[0])
		return
	}
	copyRowsParts(dst, lddst, src, ldsrc, rows, cols, sums)
}
