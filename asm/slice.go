package asm

// A sliced matrix is one in fixed point: each row of a left operand, and each column of a
// right one, is scaled by a power of two to integers of 24 bits, which are kept as three
// slices of 8,
//
//	x = scale * (x0*2^16 + x1*2^8 + x2), digits between -128 and 127.
//
// A product of two sliced matrices is the sum of the eight products of slices that matter,
//
//	A B ~ A0 B0 2^32 + (A0 B1 + A1 B0) 2^24 + (A0 B2 + A1 B1 + A2 B0) 2^16 + (A1 B2 + A2 B1) 2^8 ,
//
// each sum of equal weight taken without error in int32 (the Ozaki scheme: K. Ozaki et al.,
// Error-free transformations of matrix multiplication, Numerical Algorithms 59, 2012). What is
// left out, A2 B2, is below 2^-30 |a||b| for each term, |a| and |b| being the largest of the row
// and of the column; rounding both to integers is what counts: below 1.3 * 2^-22 |a||b|, typically
// an eighth of that. Where a processor multiplies bytes twice as fast as bfloat16, eight products
// of slices take two thirds of the time of the six products of a split matrix, and their operands
// half the room.
//
// The steps of a sliced operand are those of two matrices side by side, as products of
// complex matrices need them: block i holds steps 32i to 32i+31 of the first and the same
// of the second. A left operand [m, 2k] is kept in strips of 16 rows, a right one [2k, n] in
// panels of 16 columns: 16 scales (times 2^8), and then
//
//	[block, slice, row, quad] and [block, slice, quad, column] ,
//
// where quad j holds the digits of steps j (first matrix), j (second), j+16 (first) and
// j+16 (second) of the block in its bytes, the lowest first. Columns and steps that fill up
// the last panel and block are zero; rows that fill up the last strip are not written.

const (
	// sliceTile is the number of rows and columns of a tile.
	sliceTile = 16
	// slicePart and sliceBlock are the values of storage of a slice and of a block.
	slicePart  = sliceTile * 16
	sliceBlock = 3 * slicePart
	// sliceSteps is the number of steps of a block, of either matrix.
	sliceSteps = 32
	// sliceFetched is how many values GemmSlices fetches ahead for each block of a tile.
	sliceFetched = 256
)

// MaxSliceSteps is the most steps, of either matrix, of an operand of GemmSlices: sums of
// more would not fit an int32.
const MaxSliceSteps = 1 << 14

// SliceSize returns how many values of storage a sliced operand takes that has the given
// number of rows, or columns, and k steps of either matrix.
// Sizes that are not an int become the largest one.
func SliceSize(rows, k int) int { return times(over(rows, sliceTile), sliceStrip(k)) }

// sliceStrip returns the size of a strip or panel.
func sliceStrip(k int) int { return plus(sliceTile, times(over(k, sliceSteps), sliceBlock)) }

// SliceLeft slices the row-major matrices x0 and x1 [m, k], with rows ld apart, for the left
// side of GemmSlices: [x0 x1] into the first SliceSize(m, k) values of dst.
func SliceLeft(dst, x0, x1 []float32, ld, m, k int) {
	const op = "SliceLeft"
	checkSlices(op, "dst", dst, m, k)
	checkRows(op, "x0", x0, m, k, ld)
	checkRows(op, "x1", x1, m, k, ld)
	sliceStrips(dst, nil, x0, x1, ld, m, k)
}

// SliceLeftConjugate slices the complex matrix x0 - i*x1 [m, k] for the left side: [x0 x1], by
// which a right operand [y0; y1] gives the real part of the product with y0 + i*y1, into re, and
// [-x1 x0], by which it gives the imaginary part, into im.
func SliceLeftConjugate(re, im, x0, x1 []float32, ld, m, k int) {
	const op = "SliceLeftConjugate"
	checkSlices(op, "re", re, m, k)
	checkSlices(op, "im", im, m, k)
	checkRows(op, "x0", x0, m, k, ld)
	checkRows(op, "x1", x1, m, k, ld)
	sliceStrips(re, im, x0, x1, ld, m, k)
}

func sliceStrips(dst, im, x0, x1 []float32, ld, m, k int) {
	if m == 0 {
		return
	}
	raceSlices(dst, x0, x1, m, k, ld, SliceSize(m, k))
	if raceEnabled {
		raceWrite(im[:min(len(im), SliceSize(m, k))])
	}
	size := sliceStrip(k)
	for i := 0; i < m; i += sliceTile {
		at := i / sliceTile * size
		if im == nil {
			sliceLeft(dst[at:], from(x0, i*ld), from(x1, i*ld), ld, min(sliceTile, m-i), k)
		} else {
			sliceLeftConjugate(dst[at:], im[at:], from(x0, i*ld), from(x1, i*ld), ld, min(sliceTile, m-i), k)
		}
	}
}

// SliceRight slices the row-major matrices x0 and x1 [k, n], with rows ld apart, for the right
// side: [x0; x1] into the first SliceSize(n, k) values of dst.
func SliceRight(dst, x0, x1 []float32, ld, k, n int) {
	const op = "SliceRight"
	checkSlices(op, "dst", dst, n, k)
	checkRows(op, "x0", x0, k, n, ld)
	checkRows(op, "x1", x1, k, n, ld)
	raceSlices(dst, x0, x1, k, n, ld, SliceSize(n, k))
	for j := 0; j < n; j += sliceTile {
		sliceRight(dst[j/sliceTile*sliceStrip(k):], from(x0, j), from(x1, j), ld, k, min(sliceTile, n-j))
	}
}

// SliceTransposed slices the transposes of the row-major matrices x0 and x1 [n, k], with rows ld
// apart, for the right side, as SliceRight does with matrices that are transposed already.
func SliceTransposed(dst, x0, x1 []float32, ld, k, n int) {
	const op = "SliceTransposed"
	checkSlices(op, "dst", dst, n, k)
	checkRows(op, "x0", x0, n, k, ld)
	checkRows(op, "x1", x1, n, k, ld)
	raceSlices(dst, x0, x1, n, k, ld, SliceSize(n, k))
	for j := 0; j < n; j += sliceTile {
		sliceTransposed(dst[j/sliceTile*sliceStrip(k):], from(x0, j*ld), from(x1, j*ld), ld, k, min(sliceTile, n-j))
	}
}

// GemmSlices multiplies two sliced left operands, or one if a[1] is nil, by a right one, [a0 a1] by
// [b0; b1]:
//
//	c[w][i*ldc+j] = sum over p < k of a[w]0[i, p]*b0[p, j] + a[w]1[i, p]*b1[p, j] // accumulate: onto c[w][i*ldc+j]
//
// for w = 0, 1. k may be MaxSliceSteps at most. All is exact but for the joining of sums of
// different weight in float32 and the addition to c, so the result does not depend on any order.
//
// A row and a column are worth nothing to each other if the product of their largest values is
// below 2^-120. Values below 2^-127 are zero, and so are rows and columns with no value of 2^-126
// or more. Where that product is above 2^127 the result may be infinite or NaN, and where one of
// the two holds an infinity or a NaN, it is NaN. Without accumulate c is not read; it must not
// overlap the operands.
//
// Meanwhile the processor is asked to bring what comes next from ahead[w] into the second-level
// cache: 256 values for each block of a tile of 16 rows and columns. That is a hint: ahead may
// be shorter, or nil.
func GemmSlices(m, n, k int, a [2][]float32, b []float32, c [2][]float32, ldc int, accumulate bool, ahead [2][]float32) {
	const op = "GemmSlices"
	checkSlices(op, "b", b, n, k)
	for w := range operands(a) {
		checkSlices(op, "a", a[w], m, k)
		checkDst(op, "c", c[w], m, n, ldc)
	}
	if k > MaxSliceSteps {
		panic(&Error{op, "k is above MaxSliceSteps"})
	}
	if m == 0 || n == 0 {
		return
	}
	if raceEnabled {
		raceRead(b[:SliceSize(n, k)])
		for w := range operands(a) {
			raceRead(a[w][:SliceSize(m, k)])
			raceWriteRows(c[w], m, n, ldc)
		}
	}
	steps, size := (k+sliceSteps-1)/sliceSteps, sliceStrip(k)
	panels := (n + sliceTile - 1) / sliceTile
	// Strips for one call, which cannot be preempted: some ten microseconds.
	strips := max(1, 128/panels/max(1, steps))
	for i := 0; i < m; i += strips * sliceTile {
		gemmSlices(min(strips*sliceTile, m-i), n, steps, a, b, c, ldc, accumulate, ahead)
		for w := range operands(a) {
			a[w], c[w] = from(a[w], strips*size), from(c[w], strips*sliceTile*ldc)
			ahead[w] = from(ahead[w], strips*panels*steps*sliceFetched)
		}
	}
}

// operands returns how many left operands there are.
func operands(a [2][]float32) int {
	if a[1] == nil {
		return 1
	}
	return 2
}

// from returns x from value n on, or what is left of it: nothing where n is beyond x, or
// beyond an int.
func from(x []float32, n int) []float32 { return x[min(uint(n), uint(len(x))):] }

// raceSlices tells the race detector that matrices [rows, cols] are sliced into so many values.
func raceSlices(dst, x0, x1 []float32, rows, cols, ld, size int) {
	if raceEnabled && rows > 0 {
		raceReadRows(x0, rows, cols, ld)
		raceReadRows(x1, rows, cols, ld)
		raceWrite(dst[:size])
	}
}

// checkSlices panics unless the sliced operand fits into values.
func checkSlices(op, name string, values []float32, rows, k int) {
	if rows < 0 || k < 0 {
		panic(&Error{op, "negative size"})
	}
	if len(values) < SliceSize(rows, k) {
		panic(&Error{op, name + " is shorter than SliceSize"})
	}
}
