package asm

// A split matrix is one whose values are written as sums of three bfloat16,
//
//	x = x0 + x1 + x2, 8 bits of the significand each,
//
// which is exact unless the last part is too small for a float32. A product of two
// split matrices is the sum of the six products of parts that matter,
//
//	A B ~ A0 B0 + A0 B1 + A1 B0 + A0 B2 + A1 B1 + A2 B0,
//
// added in float32. What is left out, A1 B2, A2 B1 and A2 B2, is below 2^-21 |a||b|
// for each term and typically a tenth of that. Processors whose unit for bfloat16
// is more than six times as fast as that for float32 gain by it.
//
// A left operand [m, k] is kept in strips of 32 rows, a right one [k, n] in panels of 32
// columns, each cut into blocks of 32 steps of k: [strip, block, part, row, pair]
// and [panel, block, part, half, pair, column] with 16 columns to a half, where pair i holds
// the bfloat16 of steps i (low) and i+16 (high) of the block. Rows, columns and
// steps that fill up the last blocks are zero, but for the rows of a left operand, which are
// not written.

// SplitTile is the number of rows, of columns and of steps of a block of a split
// matrix. Products whose sizes are multiples of it are fastest.
const SplitTile = splitTile

const (
	splitTile = 32
	// splitPart and splitBlock are the values of storage of a part and of a block.
	splitPart  = splitTile * splitTile / 2
	splitBlock = 3 * splitPart
)

// FastSplit reports whether at the active level products of split matrices are faster
// than those of float32 matrices.
func FastSplit() bool { return fastSplit }

// SplitSize returns how many values of storage a split operand takes that has the
// given number of rows and steps (left), or of columns and steps (right). Sizes that
// are not an int become the largest one.
func SplitSize(rows, k int) int {
	return times(times(over(rows, splitTile), splitSteps(k)), splitBlock)
}

func splitSteps(k int) int { return over(k, splitTile) }

// SplitLeft splits the row-major matrix x [m, k] for the left side of GemmSplit
// into the first SplitSize(m, k) values of dst.
func SplitLeft(dst, x []float32, ldx, m, k int) {
	checkSplit("SplitLeft", dst, m, k)
	checkRows("SplitLeft", "x", x, m, k, ldx)
	if m == 0 || k == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(x, m, k, ldx)
		raceWrite(dst[:SplitSize(m, k)])
	}
	size := splitSteps(k) * splitBlock
	for ; m > splitTile; m -= splitTile {
		splitLeft(dst, x, ldx, splitTile, k)
		dst, x = dst[size:], x[splitTile*ldx:]
	}
	splitLeft(dst, x, ldx, m, k)
}

// SplitRight splits the row-major matrix x [k, n] for the right side of GemmSplit
// into the first SplitSize(n, k) values of dst.
func SplitRight(dst, x []float32, ldx, k, n int) {
	checkSplit("SplitRight", dst, n, k)
	checkRows("SplitRight", "x", x, k, n, ldx)
	if n == 0 || k == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(x, k, n, ldx)
		raceWrite(dst[:SplitSize(n, k)])
	}
	size := splitSteps(k) * splitBlock
	for ; n > splitTile; n -= splitTile {
		splitRight(dst, x, ldx, k, splitTile)
		dst, x = dst[size:], x[splitTile:]
	}
	splitRight(dst, x, ldx, k, n)
}

// GemmSplit multiplies split operands:
//
//	c[i*ldc+j] = sum over p < k of a[i, p]*b[p, j] // accumulate: onto c[i*ldc+j]
//
// An element is summed block by block of 32 steps, in one order whatever its
// place. Values below 2^-126, in the parts and in the sums, count as zero; where
// an operand holds an infinity or a NaN, results that depend on it are NaN. Without
// accumulate c is not read; it must not overlap the operands.
func GemmSplit(m, n, k int, a, b, c []float32, ldc int, accumulate bool) {
	if m < 0 || n < 0 || k < 0 {
		panic(&Error{"GemmSplit", "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	if len(a) < SplitSize(m, k) {
		panic(&Error{"GemmSplit", "a is shorter than SplitSize"})
	}
	if len(b) < SplitSize(n, k) {
		panic(&Error{"GemmSplit", "b is shorter than SplitSize"})
	}
	checkDst("GemmSplit", "c", c, m, n, ldc)
	if raceEnabled {
		raceRead(a[:SplitSize(m, k)])
		raceRead(b[:SplitSize(n, k)])
		raceWriteRows(c, m, n, ldc)
	}
	steps := splitSteps(k)
	size := steps * splitBlock
	// Panels for one call, which cannot be preempted: some ten microseconds.
	most := max(1, 64/max(1, steps))
	for i := 0; i < m; i += splitTile {
		strip := a[i/splitTile*size:]
		for j := 0; j < n; j += most * splitTile {
			gemmSplit(min(splitTile, m-i), min(most*splitTile, n-j), steps, strip, b[j/splitTile*size:], c[i*ldc+j:], ldc, accumulate)
		}
	}
}

// GemmSplitPanels is GemmSplit for panels of B that are distance values apart: at
// least those of one panel, unless panels are to overlap. Meanwhile it asks the
// processor to bring what comes next into the second-level cache: 32 lines for
// each block of 32 rows, columns and steps, for strip i from ahead[i*stride] on. That
// is a hint: ahead may be shorter, or nil.
func GemmSplitPanels(m, n, k int, a, b []float32, distance int, c []float32, ldc int, accumulate bool, ahead []float32, stride int) {
	if m < 0 || n < 0 || k < 0 || distance < 0 || stride < 0 {
		panic(&Error{"GemmSplitPanels", "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	size := times(splitSteps(k), splitBlock)
	last := (n - 1) / splitTile
	if len(a) < SplitSize(m, k) {
		panic(&Error{"GemmSplitPanels", "a is shorter than SplitSize"})
	}
	if len(b) < plus(times(last, distance), size) {
		panic(&Error{"GemmSplitPanels", "b is shorter than its panels"})
	}
	checkDst("GemmSplitPanels", "c", c, m, n, ldc)
	if raceEnabled {
		raceRead(a[:SplitSize(m, k)])
		for p := range last + 1 {
			raceRead(b[p*distance:][:size])
		}
		raceWriteRows(c, m, n, ldc)
	}
	// Strips for one call, which cannot be preempted: some ten microseconds.
	strips := max(1, 64/(last+1)/max(1, splitSteps(k)))
	for i := 0; i < m; i += strips * splitTile {
		gemmSplitPanels(min(strips*splitTile, m-i), n, splitSteps(k), a[i/splitTile*size:], b, distance, c[i*ldc:], ldc, accumulate, ahead, stride)
		ahead = from(ahead, times(strips, stride))
	}
}

// gemmSplitPanelsParts is GemmSplitPanels by single blocks.
func gemmSplitPanelsParts(m, n, steps int, a, b []float32, distance int, c []float32, ldc int, accumulate bool) {
	for i := 0; i < m; i += splitTile {
		for j := 0; j < n; j += splitTile {
			gemmSplit(min(splitTile, m-i), min(splitTile, n-j), steps, a[i*steps*splitBlock/splitTile:], b[j/splitTile*distance:], c[i*ldc+j:], ldc, accumulate)
		}
	}
}

// checkSplit panics unless the split operand fits into dst.
func checkSplit(op string, dst []float32, rows, k int) {
	if rows < 0 || k < 0 {
		panic(&Error{op, "negative size"})
	}
	if len(dst) < SplitSize(rows, k) {
		panic(&Error{op, "dst is shorter than SplitSize"})
	}
}
