package asm

import "fmt"

// Reductions add in float32 within blocks of fixed size and in float64 from
// block to block. The order depends on the level and on the lengths only, never
// on threads or addresses, so a result can be repeated bit by bit. The portable
// code adds everything in float64.

// reduceBlock is the number of values that a kernel adds up in float32. A block
// runs through at least 32 accumulators in assembly.
const reduceBlock = 8 << 10

// Sum returns the sum of x; 0 for an empty slice.
func Sum(x []float32) float32 {
	raceRead(x)
	var total float64
	for len(x) > reduceBlock {
		total += sum(x[:reduceBlock])
		x = x[reduceBlock:]
	}
	if len(x) > 0 {
		total += sum(x)
	}
	return float32(total)
}

// Dot returns the sum of x[i]*y[i]. It panics with *Error unless the lengths
// are equal.
func Dot(x, y []float32) float32 {
	same("Dot", "x", len(x), "y", len(y))
	raceRead(x)
	raceRead(y)
	var total float64
	for len(x) > reduceBlock {
		total += dot(x[:reduceBlock], y[:reduceBlock])
		x, y = x[reduceBlock:], y[reduceBlock:]
	}
	if len(x) > 0 {
		total += dot(x, y)
	}
	return float32(total)
}

// SumSquares returns the sum of (x[i]-mean)^2.
func SumSquares(x []float32, mean float32) float32 {
	raceRead(x)
	var total float64
	for len(x) > reduceBlock {
		total += sumSquares(x[:reduceBlock], mean)
		x = x[reduceBlock:]
	}
	if len(x) > 0 {
		total += sumSquares(x, mean)
	}
	return float32(total)
}

// The column operations take x [rows, cols], row-major without gaps, where cols
// is the length of the vectors and rows = len(x)/cols.

// matrix panics unless x of the given size is a whole number of rows.
func matrix(fn string, size, cols int) {
	if cols == 0 && size != 0 || cols != 0 && size%cols != 0 {
		panic(&Error{fn, fmt.Sprintf("x has %d values, not a whole number of rows of %d", size, cols)})
	}
}

// ColSum writes the sum of each column of x [rows, cols] to dst [cols]; 0
// without rows. It panics with *Error unless len(x) is a multiple of len(dst).
func ColSum(dst, x []float32) {
	matrix("ColSum", len(x), len(dst))
	raceRead(x)
	raceWrite(dst)
	switch len(dst) {
	case 0:
	case 1: // a vector: the lanes share the rows
		dst[0] = Sum(x)
	default:
		colSum(dst, x)
	}
}

// ColAffine writes scale[c]*x[r,c] + shift[c] to dst[r,c]. dst and x are
// [rows, cols], scale and shift [cols]. dst may be x. It panics with *Error
// unless the lengths fit.
func ColAffine(dst, x, scale, shift []float32) {
	matrix("ColAffine", len(x), len(scale))
	same("ColAffine", "dst", len(dst), "x", len(x))
	same("ColAffine", "scale", len(scale), "shift", len(shift))
	raceRead(x)
	raceRead(scale)
	raceRead(shift)
	raceWrite(dst)
	switch {
	case len(dst) == 0:
	case len(scale) == 1:
		Affine(dst, x, scale[0], shift[0])
	default:
		colAffine(dst, x, scale, shift)
	}
}

// maxRows is the number of row indices that float32 represents exactly.
const maxRows = 1 << 24

// ColMax writes the largest value of each column of x [rows, cols] to
// max [cols] and the first row that holds it to index [cols]. NaN counts as
// larger than any number, +0 and -0 as equal. Without rows the maximum is -Inf
// at row 0. It panics with *Error unless len(x) is a multiple of len(max),
// len(index) = len(max) and there are at most 2^24 rows (index is float32).
func ColMax(max, index, x []float32) {
	matrix("ColMax", len(x), len(max))
	same("ColMax", "max", len(max), "index", len(index))
	if len(max) == 0 {
		return
	}
	if rows := len(x) / len(max); rows > maxRows {
		panic(&Error{"ColMax", fmt.Sprintf("%d rows, more than 2^24", rows)})
	}
	raceRead(x)
	raceWrite(max)
	raceWrite(index)
	colMax(max, index, x)
}
