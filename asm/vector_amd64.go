//go:build !noasm

package asm

// The stubs state what each lane computes; fma rounds once.

// dst[i] = x[i] + y[i]
//
//go:noescape
func addAVX2(dst, x, y *float32, n int)

//go:noescape
func addAVX512(dst, x, y *float32, n int)

//go:noinline
func add(dst, x, y []float32) {
	switch level {
	case AVX512:
		addAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		addAVX2(&dst[0], &x[0], &y[0], len(dst))
	default:
		addGeneric(dst, x, y)
	}
}

// dst[i] = x[i] - y[i]
//
//go:noescape
func subAVX2(dst, x, y *float32, n int)

//go:noescape
func subAVX512(dst, x, y *float32, n int)

//go:noinline
func sub(dst, x, y []float32) {
	switch level {
	case AVX512:
		subAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		subAVX2(&dst[0], &x[0], &y[0], len(dst))
	default:
		subGeneric(dst, x, y)
	}
}

// dst[i] = x[i] * y[i]
//
//go:noescape
func mulAVX2(dst, x, y *float32, n int)

//go:noescape
func mulAVX512(dst, x, y *float32, n int)

//go:noinline
func mul(dst, x, y []float32) {
	switch level {
	case AVX512:
		mulAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		mulAVX2(&dst[0], &x[0], &y[0], len(dst))
	default:
		mulGeneric(dst, x, y)
	}
}

// dst[i] = fma(x[i], y[i], dst[i])
//
//go:noescape
func mulAddAVX2(dst, x, y *float32, n int)

//go:noescape
func mulAddAVX512(dst, x, y *float32, n int)

//go:noinline
func mulAdd(dst, x, y []float32) {
	switch level {
	case AVX512:
		mulAddAVX512(&dst[0], &x[0], &y[0], len(dst))
	case AVX2:
		mulAddAVX2(&dst[0], &x[0], &y[0], len(dst))
	default:
		mulAddGeneric(dst, x, y)
	}
}

// y[i] = fma(a, x[i], y[i])
//
//go:noescape
func axpyAVX2(y, x *float32, n int, a float32)

//go:noescape
func axpyAVX512(y, x *float32, n int, a float32)

//go:noinline
func axpy(y []float32, a float32, x []float32) {
	switch level {
	case AVX512:
		axpyAVX512(&y[0], &x[0], len(y), a)
	case AVX2:
		axpyAVX2(&y[0], &x[0], len(y), a)
	default:
		axpyGeneric(y, a, x)
	}
}

// dst[i] = fma(scale, x[i], shift)
//
//go:noescape
func affineAVX2(dst, x *float32, n int, scale, shift float32)

//go:noescape
func affineAVX512(dst, x *float32, n int, scale, shift float32)

//go:noinline
func affine(dst, x []float32, scale, shift float32) {
	switch level {
	case AVX512:
		affineAVX512(&dst[0], &x[0], len(dst), scale, shift)
	case AVX2:
		affineAVX2(&dst[0], &x[0], len(dst), scale, shift)
	default:
		affineGeneric(dst, x, scale, shift)
	}
}

// dst[i] = fma(a, x[i], fma(b, y[i], c))
//
//go:noescape
func combineAVX2(dst, x, y *float32, n int, a, b, c float32)

//go:noescape
func combineAVX512(dst, x, y *float32, n int, a, b, c float32)

//go:noinline
func combine(dst, x, y []float32, a, b, c float32) {
	switch level {
	case AVX512:
		combineAVX512(&dst[0], &x[0], &y[0], len(dst), a, b, c)
	case AVX2:
		combineAVX2(&dst[0], &x[0], &y[0], len(dst), a, b, c)
	default:
		combineGeneric(dst, x, y, a, b, c)
	}
}

// dst[i] = 0 if x[i] < 0, else x[i]
//
//go:noescape
func reluAVX2(dst, x *float32, n int)

//go:noescape
func reluAVX512(dst, x *float32, n int)

//go:noinline
func relu(dst, x []float32) {
	switch level {
	case AVX512:
		reluAVX512(&dst[0], &x[0], len(dst))
	case AVX2:
		reluAVX2(&dst[0], &x[0], len(dst))
	default:
		reluGeneric(dst, x)
	}
}

// dx[i] = dy[i] if y[i] > 0, else 0
//
//go:noescape
func reluGradAVX2(dx, dy, y *float32, n int)

//go:noescape
func reluGradAVX512(dx, dy, y *float32, n int)

//go:noinline
func reluGrad(dx, dy, y []float32) {
	switch level {
	case AVX512:
		reluGradAVX512(&dx[0], &dy[0], &y[0], len(dx))
	case AVX2:
		reluGradAVX2(&dx[0], &dy[0], &y[0], len(dx))
	default:
		reluGradGeneric(dx, dy, y)
	}
}

// dst[i] = v
//
//go:noescape
func fillAVX2(dst *float32, n int, v float32)

//go:noescape
func fillAVX512(dst *float32, n int, v float32)

//go:noinline
func fill(dst []float32, v float32) {
	switch level {
	case AVX512:
		fillAVX512(&dst[0], len(dst), v)
	case AVX2:
		fillAVX2(&dst[0], len(dst), v)
	default:
		fillGeneric(dst, v)
	}
}
