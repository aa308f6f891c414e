//go:build noasm || !amd64

package asm

func splitLeft(dst, x []float32, ld, m, k int) {
	splitLeftGeneric(dst, x, ld, m, k)
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
