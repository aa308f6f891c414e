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

//
// A right operand may also be kept in rows, [block, part, pair][column], rows of any number
// of columns a leading dimension apart: what is to be multiplied by several matrices,
// each time shifted by some columns, is split once.

// SplitTile is the number of rows, of columns and of steps of a block of a split
// matrix. Products whose sizes are multiples of it are fastest.
const SplitTile = splitTile

const (
	splitTile = 32
	splitHalf = splitTile / 2
	// splitPart and splitBlock are the values of storage of a part and of a block.
	splitPart  = splitTile * splitTile / 2
	splitBlock = 3 * splitPart
)

// FastSplit reports whether at the active level products of split matrices are faster
// than those of float32 matrices.
func FastSplit() bool { return fastSplit }

// SplitSize returns how many values of storage a split operand takes that has the
// given number of rows and steps (left), or of columns and steps (right).
func SplitSize(rows, k int) int {
	return (rows + splitTile - 1) / splitTile * splitSteps(k) * splitBlock
}

func splitSteps(k int) int { return (k + splitTile - 1) / splitTile }

// SplitLeft splits the row-major matrix x [m, k] for the left side of GemmSplit
// into the first SplitSize(m, k) values of dst.
func SplitLeft(dst, x []float32, ldx, m, k int) {
	checkSplit("SplitLeft", dst, m, k)
	checkRows("SplitLeft", "x", x, m, k, ldx)
	splitLeftAll(dst, nil, x, ldx, m, k)
}

// SplitLeftBoth is SplitLeft that also splits -x, into negated.
func SplitLeftBoth(dst, negated, x []float32, ldx, m, k int) {
	checkSplit("SplitLeftBoth", dst, m, k)
	checkSplit("SplitLeftBoth", negated, m, k)
	checkRows("SplitLeftBoth", "x", x, m, k, ldx)
	splitLeftAll(dst, negated, x, ldx, m, k)
}

func splitLeftAll(dst, negated, x []float32, ld, m, k int) {
	if m == 0 || k == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(x, m, k, ld)
		raceWrite(dst[:SplitSize(m, k)])
		raceWrite(negated[:min(len(negated), SplitSize(m, k))])
	}
	size := splitSteps(k) * splitBlock
	for ; m > splitTile; m -= splitTile {
		splitLeft(dst, negated, x, ld, splitTile, k)
		dst, x = dst[size:], x[splitTile*ld:]
		if negated != nil {
			negated = negated[size:]
		}
	}
	splitLeft(dst, negated, x, ld, m, k)
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
	size := splitSteps(k) * splitBlock
	last := (n - 1) / splitTile
	if len(a) < SplitSize(m, k) {
		panic(&Error{"GemmSplitPanels", "a is shorter than SplitSize"})
	}
	if len(b) < last*distance+size {
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
		ahead = ahead[min(len(ahead), strips*stride):]
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

// SplitRows splits the row-major matrix x [k, n] for GemmSplitRows: into
// SplitRowsCount(k) rows of n values, ldd apart.
func SplitRows(dst []float32, ldd int, x []float32, ldx, k, n int) {
	if k < 0 || n < 0 {
		panic(&Error{"SplitRows", "negative size"})
	}
	checkDst("SplitRows", "dst", dst, SplitRowsCount(k), n, ldd)
	checkRows("SplitRows", "x", x, k, n, ldx)
	if k == 0 || n == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(x, k, n, ldx)
		raceWriteRows(dst, SplitRowsCount(k), n, ldd)
	}
	for i := 0; i < k; i += splitTile {
		splitRows(dst[i/splitTile*splitRowsBlock*ldd:], ldd, x[i*ldx:], ldx, min(splitTile, k-i), n)
	}
}

// SplitRowsCount returns the number of rows that SplitRows makes of k steps.
func SplitRowsCount(k int) int { return splitSteps(k) * splitRowsBlock }

// splitRowsBlock is the number of rows of a block of 32 steps: three parts of 16 pairs.
const splitRowsBlock = 48

// GemmSplitRows multiplies blocks of 32 rows and 32 steps, as SplitLeft makes them, by
// blocks of 32 steps and n columns of a right operand in rows:
//
//	c[i*ldc+j] = sum over e, p of a[e][i, p]*b[at[e]][p, j] // i < 32; accumulate: onto c[i*ldc+j]
//
// Block e begins at a[e*SplitSize(32, 32)] on the left, and at b[at[e]], the first row of a
// block and any column of it, on the right. n must be a multiple of 16. Meanwhile the
// processor is asked to bring what comes next from ahead into the second-level cache, as much
// as there is of a; that is a hint: ahead may be shorter, or nil. See GemmSplit for the order
// of the sums.
func GemmSplitRows(n int, a, b []float32, ldb int, at []int, c []float32, ldc int, accumulate bool, ahead []float32) {
	const op = "GemmSplitRows"
	if n < 0 || ldb < 0 || n%splitHalf != 0 {
		panic(&Error{op, "n or ldb is negative, or n no multiple of 16"})
	}
	if n == 0 {
		return
	}
	if len(a) < len(at)*splitBlock {
		panic(&Error{op, "a is shorter than its blocks"})
	}
	for _, i := range at {
		if i < 0 || len(b) < i+(splitRowsBlock-1)*ldb+n {
			panic(&Error{op, "b is shorter than its rows"})
		}
	}
	checkDst(op, "c", c, splitTile, n, ldc)
	if raceEnabled {
		raceRead(a[:len(at)*splitBlock])
		for _, i := range at {
			raceReadRows(b[i:], splitRowsBlock, n, ldb)
		}
		raceWriteRows(c, splitTile, n, ldc)
	}
	// What is read of a, and of ahead, stays in the second-level cache while all columns
	// pass: a share of the blocks at a time, as even as can be.
	for shares := max(1, (len(at)+splitShare-1)/splitShare); shares > 1; shares-- {
		blocks := len(at) / shares
		rest := a[blocks*splitBlock:]
		gemmSplitRowsShare(n, a, b, ldb, at[:blocks], c, ldc, accumulate, rest)
		a, at, accumulate = rest, at[blocks:], true
	}
	gemmSplitRowsShare(n, a, b, ldb, at, c, ldc, accumulate, ahead)
}

// splitShare is the most blocks that GemmSplitRows takes at a time.
const splitShare = 32

// gemmSplitRowsShare is GemmSplitRows for a share of the blocks.
func gemmSplitRowsShare(n int, a, b []float32, ldb int, at []int, c []float32, ldc int, accumulate bool, ahead []float32) {
	const lines, slots = 3 * splitTile, 6 // of a block; when they are fetched
	passages := (n + splitTile - 1) / splitTile
	stride := min(8, (lines+slots*passages-1)/(slots*passages)) * 16
	// Columns for one call, which cannot be preempted: some ten microseconds.
	most := max(1, 96/max(1, len(at))) * splitTile
	for j := 0; j < n; j += most {
		gemmSplitRows(min(most, n-j), a, b[j:], ldb, at, c[j:], ldc, accumulate, ahead, stride)
		ahead = ahead[min(len(ahead), most/splitTile*len(at)*slots*stride):]
	}
}

// GemmSplitComplex multiplies complex matrices, A = a0 + i*a1 [m, k] by
// B = b0 + i*b1 [k, n]:
//
//	re = a0 b0 + a2 b1, im = a0 b1 + a1 b0 // accumulate: onto re and im
//
// a holds, for each strip of 32 rows, the split pieces a0, a1 and a2 = -a1; b holds,
// for each panel of 32 columns, b0 and b1: each piece SplitSize(32, k) values. re and im
// have rows ldc apart. ahead and stride are as for GemmSplitPanels, with 32 lines for
// each product of two blocks of pieces.
func GemmSplitComplex(m, n, k int, a, b, re, im []float32, ldc int, accumulate bool, ahead []float32, stride int) {
	if m < 0 || n < 0 || k < 0 || stride < 0 {
		panic(&Error{"GemmSplitComplex", "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	sizeA, sizeB := 3*SplitSize(m, k), 2*SplitSize(n, k)
	if len(a) < sizeA || len(b) < sizeB {
		panic(&Error{"GemmSplitComplex", "a or b is shorter than its pieces"})
	}
	checkDst("GemmSplitComplex", "re", re, m, n, ldc)
	checkDst("GemmSplitComplex", "im", im, m, n, ldc)
	if raceEnabled {
		raceRead(a[:sizeA])
		raceRead(b[:sizeB])
		raceWriteRows(re, m, n, ldc)
		raceWriteRows(im, m, n, ldc)
	}
	steps := splitSteps(k)
	// Strips for one call, which cannot be preempted: some ten microseconds.
	strips := max(1, 16/splitSteps(n)/max(1, steps))
	for i := 0; i < m; i += strips * splitTile {
		gemmSplitComplex(min(strips*splitTile, m-i), n, steps, a[3*i/splitTile*steps*splitBlock:], b, re[i*ldc:], im[i*ldc:], ldc, accumulate, ahead, stride)
		ahead = ahead[min(len(ahead), strips*stride):]
	}
}

// gemmSplitComplexParts is GemmSplitComplex by single blocks.
func gemmSplitComplexParts(m, n, steps int, a, b, re, im []float32, ldc int, accumulate bool) {
	size := steps * splitBlock
	for i := 0; i < m; i += splitTile {
		a, rows := a[3*i/splitTile*size:], min(splitTile, m-i)
		for j := 0; j < n; j += splitTile {
			b, cols := b[2*j/splitTile*size:], min(splitTile, n-j)
			re, im := re[i*ldc+j:], im[i*ldc+j:]
			gemmSplit(rows, cols, steps, a, b, re, ldc, accumulate)
			gemmSplit(rows, cols, steps, a[2*size:], b[size:], re, ldc, true)
			gemmSplit(rows, cols, steps, a, b[size:], im, ldc, accumulate)
			gemmSplit(rows, cols, steps, a[size:], b, im, ldc, true)
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
