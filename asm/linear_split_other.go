//go:build noasm || !amd64

package asm

func linearSplit(m, n, steps int, a, b, bias, c []float32, ldc int, _, _ bool) {
	linearSplitParts(m, n, steps, a, b, bias, c, ldc)
}
