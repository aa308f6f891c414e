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
