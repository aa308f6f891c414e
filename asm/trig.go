package asm

import (
	"math"
	"unsafe"
)

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
	stream := n >= streamLength && &dst[0] != &x[0]
	if stream {
		head := lineOffset(dst)
		sin(dst[:head], x[:head])
		dst, x = dst[head:], x[head:]
		n -= head
	}
	for n > chunk {
		if stream {
			sinStream(dst[:chunk], x[:chunk])
		} else {
			sin(dst[:chunk], x[:chunk])
		}
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		sin(dst, x)
	}
	if stream {
		drain()
	}
}

// streamLength is the number of values from which on Sin writes past the caches,
// 32 MiB: fetching lines only to overwrite them takes a third of its time there.
const streamLength = 8 << 20

// lineOffset returns how many values of x, at least one, come before a cache
// line.
func lineOffset(x []float32) int {
	return 16 - int(uintptr(unsafe.Pointer(unsafe.SliceData(x)))/4%16)
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

// SinAffine writes sin(scale*x[i] + shift) to dst[i]. dst may be x; otherwise they
// must not overlap. It panics with *Error unless the lengths are equal.
//
// The argument has the bits that Affine gives it and the sine those of Sin.
func SinAffine(dst, x []float32, scale, shift float32) {
	n := len(dst)
	same("SinAffine", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		sinAffine(dst[:chunk], x[:chunk], scale, shift)
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		sinAffine(dst, x, scale, shift)
	}
}

// SinCosAffine writes sin(scale*x[i] + shift) to s[i] and its derivative,
// scale*cos(scale*x[i] + shift), to c[i]. s or c may be x; otherwise the slices
// must not overlap. It panics with *Error unless the lengths are equal.
//
// The argument has the bits that Affine gives it, sine and cosine those of
// SinCos.
func SinCosAffine(s, c, x []float32, scale, shift float32) {
	n := len(s)
	same("SinCosAffine", "s", n, "c", len(c))
	same("SinCosAffine", "s", n, "x", len(x))
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for n > chunk {
		sinCosAffine(s[:chunk], c[:chunk], x[:chunk], scale, shift)
		s, c, x = s[chunk:], c[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		sinCosAffine(s, c, x, scale, shift)
	}
}

// minusZero is the neutral element of addition: x + 0 would turn -0 into 0.
var minusZero = float32(math.Copysign(0, -1))

// sinAffineParts and sinCosAffineParts are what the fused kernels replace.
func sinAffineParts(dst, x []float32, scale, shift float32) {
	affine(dst, x, scale, shift)
	sin(dst, dst)
}

func sinCosAffineParts(s, c, x []float32, scale, shift float32) {
	affine(s, x, scale, shift)
	sinCos(s, c, s)
	affine(c, c, scale, minusZero)
}
