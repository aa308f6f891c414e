//go:build !noasm

package asm

// The NEON kernels take whole vectors of four values. The last one to three
// values of a slice go through the same kernel in a copy that is padded with
// zeros, so they see the same arithmetic as all others.

// vec is one vector, for such copies.
type vec [4]float32

// pad returns the at most three values of x and zeros behind them.
func pad(x []float32) (v vec) {
	copy(v[:], x)
	return v
}

//go:noinline
func add(dst, x, y []float32) {
	if level != NEON {
		addGeneric(dst, x, y)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		addNEON(n, &dst[0], &x[0], &y[0])
	}
	if n < len(dst) {
		var d vec
		p, q := pad(x[n:]), pad(y[n:])
		addNEON(4, &d[0], &p[0], &q[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func sub(dst, x, y []float32) {
	if level != NEON {
		subGeneric(dst, x, y)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		subNEON(n, &dst[0], &x[0], &y[0])
	}
	if n < len(dst) {
		var d vec
		p, q := pad(x[n:]), pad(y[n:])
		subNEON(4, &d[0], &p[0], &q[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func mul(dst, x, y []float32) {
	if level != NEON {
		mulGeneric(dst, x, y)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		mulNEON(n, &dst[0], &x[0], &y[0])
	}
	if n < len(dst) {
		var d vec
		p, q := pad(x[n:]), pad(y[n:])
		mulNEON(4, &d[0], &p[0], &q[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func mulAdd(dst, x, y []float32) {
	if level != NEON {
		mulAddGeneric(dst, x, y)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		mulAddNEON(n, &dst[0], &x[0], &y[0])
	}
	if n < len(dst) {
		d, p, q := pad(dst[n:]), pad(x[n:]), pad(y[n:])
		mulAddNEON(4, &d[0], &p[0], &q[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func axpy(y []float32, a float32, x []float32) {
	if level != NEON {
		axpyGeneric(y, a, x)
		return
	}
	n := len(y) &^ 3
	if n > 0 {
		axpyNEON(n, &y[0], &x[0], a)
	}
	if n < len(y) {
		d, p := pad(y[n:]), pad(x[n:])
		axpyNEON(4, &d[0], &p[0], a)
		copy(y[n:], d[:])
	}
}

//go:noinline
func affine(dst, x []float32, scale, shift float32) {
	if level != NEON {
		affineGeneric(dst, x, scale, shift)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		affineNEON(n, &dst[0], &x[0], scale, shift)
	}
	if n < len(dst) {
		var d vec
		p := pad(x[n:])
		affineNEON(4, &d[0], &p[0], scale, shift)
		copy(dst[n:], d[:])
	}
}

//go:noinline
func combine(dst, x, y []float32, a, b, c float32) {
	if level != NEON {
		combineGeneric(dst, x, y, a, b, c)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		combineNEON(n, &dst[0], &x[0], &y[0], a, b, c)
	}
	if n < len(dst) {
		var d vec
		p, q := pad(x[n:]), pad(y[n:])
		combineNEON(4, &d[0], &p[0], &q[0], a, b, c)
		copy(dst[n:], d[:])
	}
}

//go:noinline
func relu(dst, x []float32) {
	if level != NEON {
		reluGeneric(dst, x)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		reluNEON(n, &dst[0], &x[0])
	}
	if n < len(dst) {
		var d vec
		p := pad(x[n:])
		reluNEON(4, &d[0], &p[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func reluGrad(dx, dy, y []float32) {
	if level != NEON {
		reluGradGeneric(dx, dy, y)
		return
	}
	n := len(dx) &^ 3
	if n > 0 {
		reluGradNEON(n, &dx[0], &dy[0], &y[0])
	}
	if n < len(dx) {
		var d vec
		p, q := pad(dy[n:]), pad(y[n:])
		reluGradNEON(4, &d[0], &p[0], &q[0])
		copy(dx[n:], d[:])
	}
}

//go:noinline
func fill(dst []float32, v float32) {
	if level != NEON {
		fillGeneric(dst, v)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		fillNEON(n, &dst[0], v)
	}
	fillGeneric(dst[n:], v)
}

//go:noescape
func addNEON(n int, dst, x, y *float32)

//go:noescape
func subNEON(n int, dst, x, y *float32)

//go:noescape
func mulNEON(n int, dst, x, y *float32)

//go:noescape
func mulAddNEON(n int, dst, x, y *float32)

//go:noescape
func axpyNEON(n int, y, x *float32, a float32)

//go:noescape
func affineNEON(n int, dst, x *float32, scale, shift float32)

//go:noescape
func combineNEON(n int, dst, x, y *float32, a, b, c float32)

//go:noescape
func reluNEON(n int, dst, x *float32)

//go:noescape
func reluGradNEON(n int, dx, dy, y *float32)

//go:noescape
func fillNEON(n int, dst *float32, v float32)
