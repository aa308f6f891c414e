package asm

// A left operand may also be kept row by row, for products with several right operands, each
// time of rows further down: where a matrix is convolved, a tap is such a shift. A row is a
// cache line that begins with what its sums are multiplied with, and then
//
//	[block, slice, quad] ,
//
// a cache line for each slice of a block, so that a tile of any 16 rows one after the other is
// loaded line by line.

// sliceScales is the room for what the sums of a row are multiplied with.
const sliceScales = 16

// SliceRow returns the size of a row of k steps.
func SliceRow(k int) int { return plus(sliceScales, times(over(k, sliceSteps), 3*sliceTile)) }

// SliceColumns slices the columns of the row-major matrices x0 and x1 [k, n], with rows ldx
// apart, for the left side of GemmSliceShifts: those of [x0; x1] into n rows of SliceRow(k) values
// each. It needs memory for a panel: SliceSize(1, k) values.
func SliceColumns(dst, x0, x1 []float32, ldx, k, n int, panel []float32) {
	const op = "SliceColumns"
	if k < 0 || n < 0 {
		panic(&Error{op, "negative size"})
	}
	pitch := SliceRow(k)
	checkDst(op, "dst", dst, n, pitch, pitch)
	checkRows(op, "x0", x0, k, n, ldx)
	checkRows(op, "x1", x1, k, n, ldx)
	checkSlices(op, "panel", panel, 1, k)
	if raceEnabled {
		raceReadRows(x0, k, n, ldx)
		raceReadRows(x1, k, n, ldx)
		raceWrite(dst[:n*pitch])
		raceWrite(panel[:SliceSize(1, k)])
	}
	for j := 0; j < n; j += sliceTile {
		rows, dst := min(sliceTile, n-j), dst[j*pitch:]
		sliceRight(panel, from(x0, j), from(x1, j), ldx, k, rows)
		for i := range rows {
			dst[i*pitch] = panel[i]
		}
		if k > 0 {
			Transpose(dst[sliceScales:], pitch, panel[sliceTile:], sliceTile, pitch-sliceScales, rows)
		}
	}
}

// GemmSliceShifts multiplies m rows of a left operand, as SliceColumns makes them, by right ones of 32
// columns, as SliceRight makes them, one after the other:
//
//	c[i*ldc+j] = sum over e of (A[at[e]:] B[e])[i, j] // j < 32; accumulate: onto c[i*ldc+j]
//
// A[r:] begins at row r of a, and B[e] at b[e*SliceSize(32, k)]. m must be a multiple of 16. Meanwhile
// the processor is asked to bring what comes next from ahead into the second-level cache, as much as
// there is of one operand B[e]; that is a hint: ahead may be shorter, or nil. See GemmSlices for
// what is exact; the products are added in the order of at.
func GemmSliceShifts(m, k int, a []float32, at []int, b, c []float32, ldc int, accumulate bool, ahead []float32) {
	const op = "GemmSliceShifts"
	if m < 0 || k < 0 || m%sliceTile != 0 {
		panic(&Error{op, "m or k is negative, or m no multiple of 16"})
	}
	if k > MaxSliceSteps {
		panic(&Error{op, "k is above MaxSliceSteps"})
	}
	if m == 0 {
		return
	}
	size, pitch := SliceSize(2*sliceTile, k), SliceRow(k)
	if len(b) < times(len(at), size) {
		panic(&Error{op, "b is shorter than its operands"})
	}
	for _, row := range at {
		if row < 0 || len(a) < times(plus(row, m), pitch) {
			panic(&Error{op, "a is shorter than its rows"})
		}
	}
	checkDst(op, "c", c, m, 2*sliceTile, ldc)
	if raceEnabled {
		raceRead(b[:len(at)*size])
		for _, row := range at {
			raceRead(a[row*pitch:][:m*pitch])
		}
		raceWriteRows(c, m, 2*sliceTile, ldc)
	}
	steps := (k + sliceSteps - 1) / sliceSteps
	if len(at) == 0 || steps == 0 {
		if !accumulate {
			for i := range m {
				clear(c[i*ldc:][:2*sliceTile])
			}
		}
		return
	}
	for e, row := range at {
		next := ahead
		if e+1 < len(at) {
			next = b[(e+1)*size:][:size]
		}
		// Rows for one call, which cannot be preempted: some ten microseconds.
		most := max(1, 64/steps) * sliceTile
		for i := 0; i < m; i += most {
			rows := min(most, m-i)
			gemmSliceShifts(rows, steps, a[(row+i)*pitch:], b[e*size:], c[i*ldc:], ldc, accumulate, next, size*sliceTile/m)
			next = from(next, size*rows/m)
		}
		accumulate = true
	}
}
