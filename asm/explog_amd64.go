//go:build !noasm

package asm

//go:noescape
func expAVX2(dst, x *float32, n int)

//go:noescape
func expAVX512(dst, x *float32, n int)

//go:noinline
func exp(dst, x []float32) {
	switch level {
	case AVX512:
		expAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		expAVX2(&dst[0], &x[0], len(dst))
	default:
		expGeneric(dst, x)
	}
}

//go:noescape
func logAVX2(dst, x *float32, n int)

//go:noescape
func logAVX512(dst, x *float32, n int)

//go:noinline
func log(dst, x []float32) {
	switch level {
	case AVX512:
		logAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		logAVX2(&dst[0], &x[0], len(dst))
	default:
		logGeneric(dst, x)
	}
}
