//go:build !amd64 || noasm

package asm

func gaussFactors(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	gaussFactorsOf(m, n, e, a, b, ldb, c, distance, ldc)
}
