//go:build !noasm

package asm

//go:noescape
func max4AVX2(dst, a, b, c, d *float32, n int)

//go:noescape
func max4AVX512(dst, a, b, c, d *float32, n int)

//go:noinline
func max4(dst, a, b, c, d []float32) {
	switch level {
	case AVX512:
		max4AVX512(&dst[0], &a[0], &b[0], &c[0], &d[0], len(dst))
	case AVX2:
		max4AVX2(&dst[0], &a[0], &b[0], &c[0], &d[0], len(dst))
	default:
		max4Generic(dst, a, b, c, d)
	}
}

//go:noescape
func max4GradAVX2(da, db, dc, dd, dy, y, a, b, c, d *float32, n int)

//go:noescape
func max4GradAVX512(da, db, dc, dd, dy, y, a, b, c, d *float32, n int)

//go:noinline
func max4Grad(da, db, dc, dd, dy, y, a, b, c, d []float32) {
	switch level {
	case AVX512:
		max4GradAVX512(&da[0], &db[0], &dc[0], &dd[0], &dy[0], &y[0], &a[0], &b[0], &c[0], &d[0], len(dy))
	case AVX2:
		max4GradAVX2(&da[0], &db[0], &dc[0], &dd[0], &dy[0], &y[0], &a[0], &b[0], &c[0], &d[0], len(dy))
	default:
		max4GradGeneric(da, db, dc, dd, dy, y, a, b, c, d)
	}
}
