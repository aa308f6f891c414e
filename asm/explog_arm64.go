//go:build !noasm

package asm

//go:noinline
func exp(dst, x []float32) {
	if level != NEON {
		expGeneric(dst, x)
		return
	}
	n := len(x) &^ 3
	if n > 0 {
		expNEON(n, &dst[0], &x[0])
	}
	if n < len(x) {
		var d vec
		p := pad(x[n:])
		expNEON(4, &d[0], &p[0])
		copy(dst[n:], d[:])
	}
}

//go:noinline
func log(dst, x []float32) {
	if level != NEON {
		logGeneric(dst, x)
		return
	}
	n := len(x) &^ 3
	if n > 0 {
		logNEON(n, &dst[0], &x[0])
	}
	if n < len(x) {
		var d vec
		p := pad(x[n:])
		logNEON(4, &d[0], &p[0])
		copy(dst[n:], d[:])
	}
}

//go:noescape
func expNEON(n int, dst, x *float32)

//go:noescape
func logNEON(n int, dst, x *float32)
