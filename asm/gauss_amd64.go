//go:build !noasm

package asm

// sgaussAVX512 and sgaussAVX2 are gaussFactors for 1 <= e <= 3.
//
//go:noescape
func sgaussAVX512(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)

//go:noescape
func sgaussAVX2(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)

//go:noinline
func gaussFactors(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	fast := 1 <= e && e <= 3
	switch {
	case fast && level == AVX512:
		sgaussAVX512(m, n, e, &a[0], &b[0], ldb, &c[0], distance, ldc)
	case fast && level == AVX2:
		sgaussAVX2(m, n, e, &a[0], &b[0], ldb, &c[0], distance, ldc)
	default:
		gaussFactorsOf(m, n, e, a, b, ldb, c, distance, ldc)
	}
}
