//go:build !noasm

package asm

import "unsafe"

// skernelWavesAVX512 is KernelWaves. It fetches slots that lie distance bytes behind those that it reads.
//
//go:noescape
func skernelWavesAVX512(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int)

// skernelWavesGradAVX512 is KernelWavesGrad.
//
//go:noescape
func skernelWavesGradAVX512(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int, accumulate bool)

// skernelWavesAVX2 is KernelWaves, like skernelWavesAVX512.
//
//go:noescape
func skernelWavesAVX2(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int)

// skernelWavesGradAVX2 is KernelWavesGrad.
//
//go:noescape
func skernelWavesGradAVX2(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int, accumulate bool)

// FastKernelWaves reports whether at the active level KernelWaves takes less time than
// products with the waves of both axes.
func FastKernelWaves() bool { return level == AVX2 || level == AVX512 }

//go:noinline
func kernelWaves(n, pairs, m, mirrored int, y *[6]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, ahead []float32) {
	switch level {
	case AVX512:
		skernelWavesAVX512(n, pairs, m-2*mirrored, mirrored, &y[0], &x[0], &slots[0], lds, &re[0], &im[0], ld, bytesTo(slots, ahead))
	case AVX2:
		skernelWavesAVX2(n, pairs, m-2*mirrored, mirrored, &y[0], &x[0], &slots[0], lds, &re[0], &im[0], ld, bytesTo(slots, ahead))
	default:
		kernelWavesOf(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld)
	}
}

//go:noinline
func kernelWavesGrad(n, pairs, m, mirrored int, y *[7]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, accumulate bool, ahead []float32) {
	switch level {
	case AVX512:
		skernelWavesGradAVX512(n, pairs, m-2*mirrored, mirrored, &y[0], &x[0], &slots[0], lds, &re[0], &im[0], ld, bytesTo(slots, ahead), accumulate)
	case AVX2:
		skernelWavesGradAVX2(n, pairs, m-2*mirrored, mirrored, &y[0], &x[0], &slots[0], lds, &re[0], &im[0], ld, bytesTo(slots, ahead), accumulate)
	default:
		kernelWavesGradOf(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld, accumulate)
	}
}

// bytesTo returns how far behind x y lies, and 0 where there is no y.
func bytesTo(x, y []float32) int {
	if len(y) == 0 {
		return 0
	}
	return int(uintptr(unsafe.Pointer(&y[0])) - uintptr(unsafe.Pointer(&x[0])))
}
