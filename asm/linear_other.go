//go:build noasm || !amd64

package asm

// linear is Linear for a strip of at most mr rows.
//
//go:noinline
func linear(m, n, k int, a []float32, lda int, b []float32, ldb int, bias, c []float32, ldc int, _ bool) {
	linearParts(m, n, k, a, lda, b, ldb, bias, c, ldc)
}

// drain has nothing to do: no kernel bypasses the caches.
func drain() {}

func linearGrad(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, ahead []float32, ldahead int) {
	if len(ahead) > 0 && k > 0 {
		prefetch(ahead, ldahead, min(k, (len(ahead)-1)/max(1, ldahead)+1), n)
	}
	linearGradParts(m, n, k, a, lda, b, ldb, c, ldc, accumulate, nil, 0)
}

func copyRows(dst []float32, lddst int, src []float32, ldsrc, rows, cols int, sums []float32) {
	copyRowsParts(dst, lddst, src, ldsrc, rows, cols, sums)
}
