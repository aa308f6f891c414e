//go:build noasm || !amd64

package asm

func sliceLeft(dst, x0, x1 []float32, ld, m, k int) {
	sliceLeftGeneric(dst, x0, x1, ld, m, k)
}

func sliceLeftConjugate(re, im, x0, x1 []float32, ld, m, k int) {
	sliceLeftConjugateGeneric(re, im, x0, x1, ld, m, k)
}

func sliceRight(dst, x0, x1 []float32, ld, k, n int) {
	sliceRightGeneric(dst, x0, x1, ld, k, n)
}

func sliceTransposed(dst, x0, x1 []float32, ld, k, n int) {
	sliceTransposedGeneric(dst, x0, x1, ld, k, n)
}

func gemmSlices(m, n, steps int, a [2][]float32, b []float32, c [2][]float32, ldc int, accumulate bool, _ [2][]float32) {
	gemmSlicesGeneric(m, n, steps, a, b, c, ldc, accumulate)
}

func gemmSliceShifts(m, steps int, a, b, c []float32, ldc int, accumulate bool, _ []float32, _ int) {
	gemmSliceShiftsGeneric(m, steps, a, b, c, ldc, accumulate)
}
