package asm

import "fmt"

// NormMap is what a layer of normalisation does to the values of a channel,
// y = max((x - Mean)*Scale + Shift, Floor), where the subtraction is rounded by
// itself, so that a mean far from zero costs no accuracy. Floor is 0 for a ReLU
// and -Inf for none.
type NormMap struct{ Mean, Scale, Shift, Floor float32 }

// NormPool writes to dst [w, b] the maxima of y over the windows of 2x2 pixels
// of b values each that two rows of pixels, top and bottom, are cut into: window
// i has the pixels 2i and 2i+1 of both. A maximum is NaN where one of the four is;
// Floor does not change that. Pixels beyond 2w are not looked at. The result is
// that of Affine, Affine, Max4 and Relu. It panics with *Error unless len(dst) is
// a multiple of b, and both rows have room for 2w pixels.
func NormPool(dst, top, bottom []float32, b int, m *NormMap) {
	w := windows("NormPool", "dst", len(dst), len(top), len(bottom), b)
	raceRead(top)
	raceRead(bottom)
	raceWrite(dst)
	for step := perCall(b); w > 0; w -= step {
		n := min(step, w)
		normPool(dst[:n*b], top[:2*n*b], bottom[:2*n*b], n, b, m)
		dst, top, bottom = dst[n*b:], top[2*n*b:], bottom[2*n*b:]
	}
}

// NormPoolSums returns, for the gradient dy [w, b] of NormPool's result, the sum
// of dy and that of dy*(x - Mean) over the windows whose maximum is above Floor,
// where x is the first pixel that has it. Up to 2048 values, or b, are added in
// float32.
func NormPoolSums(dy, top, bottom []float32, b int, m *NormMap) (sum, dot float64) {
	w := windows("NormPoolSums", "dy", len(dy), len(top), len(bottom), b)
	raceRead(top)
	raceRead(bottom)
	raceRead(dy)
	for step := max(1, 2048/b); w > 0; w -= step {
		n := min(step, w)
		s, d := normPoolSums(dy[:n*b], top[:2*n*b], bottom[:2*n*b], n, b, m)
		sum += s
		dot += d
		dy, top, bottom = dy[n*b:], top[2*n*b:], bottom[2*n*b:]
	}
	return sum, dot
}

// NormPoolGrad writes p*g + (q*(x - Mean) + r) to the pixels dtop and dbottom of
// the windows, where g is dy at the first pixel that has the maximum of its
// window, if that is above Floor, and 0 elsewhere. dtop may be top and dbottom
// bottom.
func NormPoolGrad(dtop, dbottom, dy, top, bottom []float32, b int, m *NormMap, p, q, r float32) {
	const op = "NormPoolGrad"
	w := windows(op, "dy", len(dy), len(top), len(bottom), b)
	windows(op, "dy", len(dy), len(dtop), len(dbottom), b)
	raceRead(top)
	raceRead(bottom)
	raceRead(dy)
	raceWrite(dtop)
	raceWrite(dbottom)
	for step := perCall(b); w > 0; w -= step {
		n := min(step, w)
		normPoolGrad(dtop[:2*n*b], dbottom[:2*n*b], dy[:n*b], top[:2*n*b], bottom[:2*n*b], n, b, m, p, q, r)
		dtop, dbottom = dtop[2*n*b:], dbottom[2*n*b:]
		dy, top, bottom = dy[n*b:], top[2*n*b:], bottom[2*n*b:]
	}
}

// perCall is the number of windows of b values that one call of a kernel takes,
// cf. chunk.
func perCall(b int) int { return max(1, chunk/4/b) }

// windows returns the number of windows of b values that n values are.
func windows(op, arg string, n, top, bottom, b int) int {
	if b < 1 || n%b != 0 || top < 2*n || bottom < 2*n {
		panic(&Error{op, fmt.Sprintf("%s has %d values in pixels of %d, the rows of pixels %d and %d", arg, n, b, top, bottom)})
	}
	return n / b
}
