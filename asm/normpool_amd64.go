//go:build !noasm

package asm

// The stubs work on the windows of two rows of pixels; windows and b are at
// least 1.

//go:noescape
func normPoolAVX2(dst, top, bottom *float32, windows, b int, m *NormMap)

//go:noescape
func normPoolAVX512(dst, top, bottom *float32, windows, b int, m *NormMap)

//go:noinline
func normPool(dst, top, bottom []float32, windows, b int, m *NormMap) {
	switch level {
	case AVX512:
		normPoolAVX512(&dst[0], &top[0], &bottom[0], windows, b, m)
	case AVX2:
		normPoolAVX2(&dst[0], &top[0], &bottom[0], windows, b, m)
	default:
		normPoolGeneric(dst, top, bottom, b, m)
	}
}

//go:noescape
func normPoolSumsAVX2(sums *[2]float32, dy, top, bottom *float32, windows, b int, m *NormMap)

//go:noescape
func normPoolSumsAVX512(sums *[2]float32, dy, top, bottom *float32, windows, b int, m *NormMap)

//go:noinline
func normPoolSums(dy, top, bottom []float32, windows, b int, m *NormMap) (sum, dot float64) {
	var sums [2]float32
	switch level {
	case AVX512:
		normPoolSumsAVX512(&sums, &dy[0], &top[0], &bottom[0], windows, b, m)
	case AVX2:
		normPoolSumsAVX2(&sums, &dy[0], &top[0], &bottom[0], windows, b, m)
	default:
		return normPoolSumsGeneric(dy, top, bottom, b, m)
	}
	return float64(sums[0]), float64(sums[1])
}

//go:noescape
func normPoolGradAVX2(dtop, dbottom, dy, top, bottom *float32, windows, b int, m *NormMap, p, q, r float32)

//go:noescape
func normPoolGradAVX512(dtop, dbottom, dy, top, bottom *float32, windows, b int, m *NormMap, p, q, r float32)

//go:noinline
func normPoolGrad(dtop, dbottom, dy, top, bottom []float32, windows, b int, m *NormMap, p, q, r float32) {
	switch level {
	case AVX512:
		normPoolGradAVX512(&dtop[0], &dbottom[0], &dy[0], &top[0], &bottom[0], windows, b, m, p, q, r)
	case AVX2:
		normPoolGradAVX2(&dtop[0], &dbottom[0], &dy[0], &top[0], &bottom[0], windows, b, m, p, q, r)
	default:
		normPoolGradGeneric(dtop, dbottom, dy, top, bottom, b, m, p, q, r)
	}
}
