//go:build !noasm

package asm

import "math"

// The kernels handle |x| < trigLimit. They return how many values they have
// done: all, or those before the first block with another argument. From that
// block on, which is at most trigBlock values, nothing has been stored.
const (
	trigLimit = 1 << 16
	trigBlock = 64
)

//go:noescape
func sinAVX2(dst, x *float32, n int) int

//go:noescape
func sinAVX512(dst, x *float32, n int) int

//go:noescape
func cosAVX2(dst, x *float32, n int) int

//go:noescape
func cosAVX512(dst, x *float32, n int) int

//go:noescape
func sinCosAVX2(s, c, x *float32, n int) int

//go:noescape
func sinCosAVX512(s, c, x *float32, n int) int

//go:noinline
func sin(dst, x []float32) {
	if level == Generic {
		sinGeneric(dst, x)
		return
	}
	for {
		done := sinKernel(dst, x)
		if done == len(x) {
			return
		}
		dst, x = dst[done:], x[done:]
		n := min(trigBlock, len(x))
		sinMixed(dst[:n], x[:n])
		if n == len(x) {
			return
		}
		dst, x = dst[n:], x[n:]
	}
}

func sinKernel(dst, x []float32) int {
	if level == AVX512 {
		return sinAVX512(&dst[0], &x[0], len(x))
	}
	return sinAVX2(&dst[0], &x[0], len(x))
}

// sinMixed is sin for at most trigBlock values of any size. Those in the
// kernel's range go through the kernel, so that a large neighbour does not
// change their bits.
func sinMixed(dst, x []float32) {
	var in, out [trigBlock]float32
	kernelArguments(&in, x)
	sinKernel(out[:len(x)], in[:len(x)])
	for i, v := range x {
		if v > -trigLimit && v < trigLimit {
			dst[i] = out[i]
		} else {
			dst[i] = float32(math.Sin(float64(v)))
		}
	}
}

// kernelArguments copies what the kernels take from x to in, and 0 for the rest.
func kernelArguments(in *[trigBlock]float32, x []float32) {
	for i, v := range x {
		if v > -trigLimit && v < trigLimit {
			in[i] = v
		}
	}
}

//go:noinline
func cos(dst, x []float32) {
	if level == Generic {
		cosGeneric(dst, x)
		return
	}
	for {
		done := cosKernel(dst, x)
		if done == len(x) {
			return
		}
		dst, x = dst[done:], x[done:]
		n := min(trigBlock, len(x))
		cosMixed(dst[:n], x[:n])
		if n == len(x) {
			return
		}
		dst, x = dst[n:], x[n:]
	}
}

func cosKernel(dst, x []float32) int {
	if level == AVX512 {
		return cosAVX512(&dst[0], &x[0], len(x))
	}
	return cosAVX2(&dst[0], &x[0], len(x))
}

// cosMixed is to cos what sinMixed is to sin.
func cosMixed(dst, x []float32) {
	var in, out [trigBlock]float32
	kernelArguments(&in, x)
	cosKernel(out[:len(x)], in[:len(x)])
	for i, v := range x {
		if v > -trigLimit && v < trigLimit {
			dst[i] = out[i]
		} else {
			dst[i] = float32(math.Cos(float64(v)))
		}
	}
}

//go:noinline
func sinCos(s, c, x []float32) {
	if level == Generic {
		sinCosGeneric(s, c, x)
		return
	}
	for {
		done := sinCosKernel(s, c, x)
		if done == len(x) {
			return
		}
		s, c, x = s[done:], c[done:], x[done:]
		n := min(trigBlock, len(x))
		sinCosMixed(s[:n], c[:n], x[:n])
		if n == len(x) {
			return
		}
		s, c, x = s[n:], c[n:], x[n:]
	}
}

func sinCosKernel(s, c, x []float32) int {
	if level == AVX512 {
		return sinCosAVX512(&s[0], &c[0], &x[0], len(x))
	}
	return sinCosAVX2(&s[0], &c[0], &x[0], len(x))
}

// sinCosMixed is to sinCos what sinMixed is to sin.
func sinCosMixed(s, c, x []float32) {
	var in, outS, outC [trigBlock]float32
	kernelArguments(&in, x)
	sinCosKernel(outS[:len(x)], outC[:len(x)], in[:len(x)])
	for i, v := range x {
		if v > -trigLimit && v < trigLimit {
			s[i], c[i] = outS[i], outC[i]
		} else {
			a, b := math.Sincos(float64(v))
			s[i], c[i] = float32(a), float32(b)
		}
	}
}

// sinStreamAVX512 is sinAVX512 for a dst at the beginning of a cache line, which
// bypasses the caches.
//
//go:noescape
func sinStreamAVX512(dst, x *float32, n int) int

// sinStream is sin for a dst at the beginning of a cache line.
//
//go:noinline
func sinStream(dst, x []float32) {
	if level != AVX512 {
		sin(dst, x)
		return
	}
	if done := sinStreamAVX512(&dst[0], &x[0], len(x)); done < len(x) {
		sin(dst[done:], x[done:])
	}
}

//go:noescape
func sinAffineAVX512(dst, x *float32, n int, scale, shift float32) int

//go:noescape
func sinCosAffineAVX512(s, c, x *float32, n int, scale, shift float32) int

//go:noinline
func sinAffine(dst, x []float32, scale, shift float32) {
	if level != AVX512 {
		sinAffineParts(dst, x, scale, shift)
		return
	}
	for {
		done := sinAffineAVX512(&dst[0], &x[0], len(x), scale, shift)
		if done == len(x) {
			return
		}
		dst, x = dst[done:], x[done:]
		n := min(trigBlock, len(x))
		sinAffineParts(dst[:n], x[:n], scale, shift)
		if n == len(x) {
			return
		}
		dst, x = dst[n:], x[n:]
	}
}

//go:noinline
func sinCosAffine(s, c, x []float32, scale, shift float32) {
	if level != AVX512 {
		sinCosAffineParts(s, c, x, scale, shift)
		return
	}
	for {
		done := sinCosAffineAVX512(&s[0], &c[0], &x[0], len(x), scale, shift)
		if done == len(x) {
			return
		}
		s, c, x = s[done:], c[done:], x[done:]
		n := min(trigBlock, len(x))
		sinCosAffineParts(s[:n], c[:n], x[:n], scale, shift)
		if n == len(x) {
			return
		}
		s, c, x = s[n:], c[n:], x[n:]
	}
}
