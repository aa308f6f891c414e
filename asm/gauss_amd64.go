//go:build !noasm

package asm

// sgaussAVX512 is gaussFactors for 1 <= e <= 3.
//
//go:noescape
func sgaussAVX512(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)

//go:noinline
func gaussFactors(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	if level != AVX512 || e < 1 || e > 3 {
		gaussFactorsOf(m, n, e, a, b, ldb, c, distance, ldc)
		return
	}
	sgaussAVX512(m, n, e, &a[0], &b[0], ldb, &c[0], distance, ldc)
}
