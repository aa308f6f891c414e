package asm

// Sin writes sin(x[i]), x in radians, to dst[i]. dst may be x; otherwise they
// must not overlap. It panics with *Error unless the lengths are equal.
//
// The error is below 2.2 ULP for every float32; next to the extremes the result
// may therefore be one ULP beyond 1. sin(-0) is -0, the sine of an infinity or
// NaN is NaN. See docs/numerics.md.
func Sin(dst, x []float32) {
	n := len(dst)
	same("Sin", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		sin(dst[:chunk], x[:chunk])
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		sin(dst, x)
	}
}

// Cos writes cos(x[i]), x in radians, to dst[i]. dst may be x; otherwise they
// must not overlap. It panics with *Error unless the lengths are equal.
//
// The error is below 1.6 ULP for every float32, and the result never beyond 1.
// The cosine of an infinity or NaN is NaN.
func Cos(dst, x []float32) {
	n := len(dst)
	same("Cos", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		cos(dst[:chunk], x[:chunk])
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		cos(dst, x)
	}
}

// SinCos writes sin(x[i]) to s[i] and cos(x[i]) to c[i], x in radians, in less
// time than Sin and Cos together. s or c may be x; otherwise the slices must
// not overlap. It panics with *Error unless the lengths are equal.
//
// The errors are below 1.6 ULP for every float32, and no result is beyond 1. The
// cosines are Cos's to the bit; the sines may differ from Sin's in the last
// bits, because the argument is reduced by multiples of pi/2 here and of pi there.
func SinCos(s, c, x []float32) {
	n := len(s)
	same("SinCos", "s", n, "c", len(c))
	same("SinCos", "s", n, "x", len(x))
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for n > chunk {
		sinCos(s[:chunk], c[:chunk], x[:chunk])
		s, c, x = s[chunk:], c[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		sinCos(s, c, x)
	}
}
