package asm

// Elementwise functions. dst may be any of the sources; slices that overlap in
// part give undefined results. The assembly fuses a product with the sum that
// follows it into one rounding, the portable code rounds both, so levels may
// differ by the rounding of the product.

// Add writes x[i] + y[i] to dst[i]. dst may be x or y. It panics with
// *Error unless the lengths are equal.
func Add(dst, x, y []float32) {
	n := len(dst)
	same("Add", "dst", n, "x", len(x))
	same("Add", "dst", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for n > chunk {
		add(dst[:chunk], x[:chunk], y[:chunk])
		dst, x, y = dst[chunk:], x[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		add(dst, x, y)
	}
}

// Sub writes x[i] - y[i] to dst[i]. dst may be x or y. It panics with
// *Error unless the lengths are equal.
func Sub(dst, x, y []float32) {
	n := len(dst)
	same("Sub", "dst", n, "x", len(x))
	same("Sub", "dst", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for n > chunk {
		sub(dst[:chunk], x[:chunk], y[:chunk])
		dst, x, y = dst[chunk:], x[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		sub(dst, x, y)
	}
}

// Mul writes x[i] * y[i] to dst[i]. dst may be x or y. It panics with
// *Error unless the lengths are equal.
func Mul(dst, x, y []float32) {
	n := len(dst)
	same("Mul", "dst", n, "x", len(x))
	same("Mul", "dst", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for n > chunk {
		mul(dst[:chunk], x[:chunk], y[:chunk])
		dst, x, y = dst[chunk:], x[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		mul(dst, x, y)
	}
}

// MulAdd adds x[i] * y[i] to dst[i]. dst may be x or y. It panics with *Error
// unless the lengths are equal.
func MulAdd(dst, x, y []float32) {
	n := len(dst)
	same("MulAdd", "dst", n, "x", len(x))
	same("MulAdd", "dst", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for n > chunk {
		mulAdd(dst[:chunk], x[:chunk], y[:chunk])
		dst, x, y = dst[chunk:], x[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		mulAdd(dst, x, y)
	}
}

// Axpy adds a * x[i] to y[i]. y may be x. It panics with *Error unless the
// lengths are equal.
func Axpy(y []float32, a float32, x []float32) {
	n := len(y)
	same("Axpy", "y", n, "x", len(x))
	raceRead(x)
	raceWrite(y)
	for n > chunk {
		axpy(y[:chunk], a, x[:chunk])
		y, x = y[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		axpy(y, a, x)
	}
}

// Affine writes scale*x[i] + shift to dst[i]. dst may be x. It panics with
// *Error unless the lengths are equal.
func Affine(dst, x []float32, scale, shift float32) {
	n := len(dst)
	same("Affine", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		affine(dst[:chunk], x[:chunk], scale, shift)
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		affine(dst, x, scale, shift)
	}
}

// Combine writes a*x[i] + (b*y[i] + c) to dst[i]. dst may be x or y. It panics
// with *Error unless the lengths are equal.
func Combine(dst, x, y []float32, a, b, c float32) {
	n := len(dst)
	same("Combine", "dst", n, "x", len(x))
	same("Combine", "dst", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for n > chunk {
		combine(dst[:chunk], x[:chunk], y[:chunk], a, b, c)
		dst, x, y = dst[chunk:], x[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		combine(dst, x, y, a, b, c)
	}
}

// Relu writes 0 where x[i] < 0, and x[i] elsewhere, to dst[i]: NaN and -0 pass.
// dst may be x. It panics with *Error unless the lengths are equal.
func Relu(dst, x []float32) {
	n := len(dst)
	same("Relu", "dst", n, "x", len(x))
	raceRead(x)
	raceWrite(dst)
	for n > chunk {
		relu(dst[:chunk], x[:chunk])
		dst, x = dst[chunk:], x[chunk:]
		n -= chunk
	}
	if n > 0 {
		relu(dst, x)
	}
}

// ReluGrad writes dy[i] where y[i] > 0, and 0 elsewhere, to dx[i]. y is the
// result of Relu (or its argument). dx may be dy or y. It panics with *Error
// unless the lengths are equal.
func ReluGrad(dx, dy, y []float32) {
	n := len(dx)
	same("ReluGrad", "dx", n, "dy", len(dy))
	same("ReluGrad", "dx", n, "y", len(y))
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for n > chunk {
		reluGrad(dx[:chunk], dy[:chunk], y[:chunk])
		dx, dy, y = dx[chunk:], dy[chunk:], y[chunk:]
		n -= chunk
	}
	if n > 0 {
		reluGrad(dx, dy, y)
	}
}

// Fill sets every dst[i] to v.
func Fill(dst []float32, v float32) {
	n := len(dst)
	raceWrite(dst)
	for n > chunk {
		fill(dst[:chunk], v)
		dst = dst[chunk:]
		n -= chunk
	}
	if n > 0 {
		fill(dst, v)
	}
}
