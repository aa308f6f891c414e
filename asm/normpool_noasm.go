//go:build noasm || (!amd64 && !arm64)

package asm

func normPool(dst, top, bottom []float32, _, b int, m *NormMap) {
	normPoolGeneric(dst, top, bottom, b, m)
}

func normPoolSums(dy, top, bottom []float32, _, b int, m *NormMap) (sum, dot float64) {
	return normPoolSumsGeneric(dy, top, bottom, b, m)
}

func normPoolGrad(dtop, dbottom, dy, top, bottom []float32, _, b int, m *NormMap, p, q, r float32) {
	normPoolGradGeneric(dtop, dbottom, dy, top, bottom, b, m, p, q, r)
}
