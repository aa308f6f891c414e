//go:build noasm || !amd64

package asm

func splitLeft(dst, negated, x []float32, ld, m, k int) {
	splitLeftGeneric(dst, negated, x, ld, m, k)
}

func splitRight(dst, x []float32, ld, k, n int) {
	splitRightGeneric(dst, x, ld, k, n)
}

func gemmSplit(m, n, steps int, a, b, c []float32, ldc int, accumulate bool) {
	gemmSplitGeneric(m, n, steps, a, b, c, ldc, accumulate)
}

func gemmSplitPanels(m, n, steps int, a, b []float32, distance int, c []float32, ldc int, accumulate bool, _ []float32, _ int) {
	gemmSplitPanelsParts(m, n, steps, a, b, distance, c, ldc, accumulate)
}

func splitRows(dst []float32, ldd int, x []float32, ldx, k, n int) {
	splitRowsGeneric(dst, ldd, x, ldx, k, n)
}

func gemmSplitRows(n int, a, b []float32, ldb int, at []int, c []float32, ldc int, accumulate bool, _ []float32, _ int) {
	gemmSplitRowsGeneric(n, a, b, ldb, at, c, ldc, accumulate)
}

func gemmSplitComplex(m, n, steps int, a, b, re, im []float32, ldc int, accumulate bool, _ []float32, _ int) {
	gemmSplitComplexParts(m, n, steps, a, b, re, im, ldc, accumulate)
}
