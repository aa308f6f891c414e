package asm

// Exp writes e^x[i] to dst[i]. dst may be x; otherwise they must not overlap.
// It panics with *Error unless the lengths are equal.
//
// Results above the largest float32 (x > 88.72283) are +Inf. Results below the
// smallest normal float32, 2^-126 (x < -87.33654), are 0 at every level:
// denormal results would cost tenfold. NaN stays NaN. The error is below 1 ULP.
func Exp(dst, x []float32) {
	n := len(dst)
	same("Exp", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		exp(dst[:chunk], x[:chunk])
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		exp(dst, x)
	}
}

// Log writes the natural logarithm of x[i] to dst[i]. dst may be x; otherwise
// they must not overlap. It panics with *Error unless the lengths are equal.
//
// log(0) and log(-0) are -Inf, the logarithm of a negative number is NaN,
// log(+Inf) is +Inf, NaN stays NaN. Denormal arguments are treated exactly like
// others. The error is below 1 ULP.
func Log(dst, x []float32) {
	n := len(dst)
	same("Log", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		log(dst[:chunk], x[:chunk])
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		log(dst, x)
	}
}
