package asm

// Sin writes sin(x[i]), x in radians, to dst[i]. dst may be x; otherwise they
// must not overlap. It panics with *Error unless the lengths are equal.
//
// The error is below 2.5 ULP at every level for every float32. sin(-0) is -0,
// the sine of an infinity or NaN is NaN. See docs/numerics.md.
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
// must not overlap. It panics with *Error unless the lengths are equal. Errors
// as in Sin.
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
// Errors as in Sin. The values may differ from those of Sin and Cos in the last
// bits, because the argument is reduced to an eighth of the circle here and to
// a quarter there.
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
