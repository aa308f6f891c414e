//go:build noasm || (!amd64 && !arm64)

package asm

// normStrip is the number of values of the rows that a vector is cut into.
const normStrip = strip

func colNorm(dst, x []float32, m *ColNormMap) { colNormGeneric(dst, x, m) }

func colNormSums(sum, dot []float64, dy, x []float32, m *ColNormMap) {
	colNormSumsGeneric(sum, dot, dy, x, m)
}

func colNormGrad(dst, dy, x []float32, m *ColNormMap, p, q, r []float32) {
	colNormGradGeneric(dst, dy, x, m, p, q, r)
}

func colMoments(sum, squares []float64, x, pivot []float32) {
	colMomentsGeneric(sum, squares, x, pivot)
}
