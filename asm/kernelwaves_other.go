//go:build noasm || !amd64

package asm

// FastKernelWaves reports whether at the active level KernelWaves takes less time than
// products with the waves of both axes.
func FastKernelWaves() bool { return false }

func kernelWaves(n, pairs, m, mirrored int, y *[6]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, _ []float32) {
	kernelWavesOf(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld)
}

func kernelWavesGrad(n, pairs, m, mirrored int, y *[7]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, accumulate bool, _ []float32) {
	kernelWavesGradOf(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld, accumulate)
}
