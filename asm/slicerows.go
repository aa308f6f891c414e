package asm

import "math"

// A right operand may also be kept in rows of any number of columns, ldd apart: a row of what the
// sums of the columns are multiplied with, and then [block, slice, quad][column]. What is to be
// multiplied by several matrices, each time shifted by some columns, is sliced once.

// SliceRowsCount returns the number of rows that SliceRows makes of k steps.
func SliceRowsCount(k int) int { return sliceStrip(k) / sliceTile }

// SliceRows slices the row-major matrices x0 and x1 [k, n], with rows ldx apart, for
// GemmSliceRows: [x0; x1] into SliceRowsCount(k) rows of n values, ldd apart.
func SliceRows(dst []float32, ldd int, x0, x1 []float32, ldx, k, n int) {
	const op = "SliceRows"
	if k < 0 || n < 0 {
		panic(&Error{op, "negative size"})
	}
	checkDst(op, "dst", dst, SliceRowsCount(k), n, ldd)
	checkRows(op, "x0", x0, k, n, ldx)
	checkRows(op, "x1", x1, k, n, ldx)
	if raceEnabled {
		raceReadRows(x0, k, n, ldx)
		raceReadRows(x1, k, n, ldx)
		raceWriteRows(dst, SliceRowsCount(k), n, ldd)
	}
	for j := 0; j < n; j += sliceTile {
		sliceRows(dst[j:], ldd, from(x0, j), from(x1, j), ldx, k, min(sliceTile, n-j))
	}
}

// SliceHalves slices the row-major matrix x [m, k], with rows ld apart, for the left side, its steps cut
// in halves of (k+1)/2: those from 0 on and those up to k, for a right operand of the same. If k is
// odd the middle step is in both, but counts in the first alone.
func SliceHalves(dst, x []float32, ld, m, k int) {
	half := (k + 1) / 2
	SliceLeft(dst, x, from(x, k-half), ld, m, half)
	if k%2 == 0 {
		return
	}
	const first = 0x0000ff00 // of the second matrix, in the first quad
	for i := range m {
		strip := dst[i/sliceTile*sliceStrip(half)+sliceTile+i%sliceTile*16:]
		for slice := range 3 {
			word := &strip[slice*slicePart]
			*word = math.Float32frombits(math.Float32bits(*word) &^ first)
		}
	}
}

// GemmSliceRows multiplies left operands of 32 rows and k steps, as SliceLeft makes them, one after
// the other, by n columns of a right operand in rows:
//
//	c[i*ldc+j] = sum over e of (A[e] B[at[e]])[i, j] // i < 32; accumulate: onto c[i*ldc+j]
//
// A[e] begins at a[e*SliceSize(32, k)], and B[at[e]] at b[at[e]], any column of the first row. n must
// be a multiple of 16. Meanwhile the processor is asked to bring what comes next from ahead into the
// second-level cache, as much as there is of one operand A[e]; that is a hint: ahead may be shorter,
// or nil. See GemmSlices for what is exact; the products are added in the order of at.
func GemmSliceRows(n, k int, a, b []float32, ldb int, at []int, c []float32, ldc int, accumulate bool, ahead []float32) {
	const op = "GemmSliceRows"
	if n < 0 || k < 0 || ldb < 0 || n%sliceTile != 0 {
		panic(&Error{op, "n, k or ldb is negative, or n no multiple of 16"})
	}
	if k > MaxSliceSteps {
		panic(&Error{op, "k is above MaxSliceSteps"})
	}
	if n == 0 {
		return
	}
	size, rows := SliceSize(2*sliceTile, k), SliceRowsCount(k)
	if len(a) < len(at)*size {
		panic(&Error{op, "a is shorter than its operands"})
	}
	for _, i := range at {
		if i < 0 || len(b) < i+(rows-1)*ldb+n {
			panic(&Error{op, "b is shorter than its rows"})
		}
	}
	checkDst(op, "c", c, 2*sliceTile, n, ldc)
	if raceEnabled {
		raceRead(a[:len(at)*size])
		for _, i := range at {
			raceReadRows(b[i:], rows, n, ldb)
		}
		raceWriteRows(c, 2*sliceTile, n, ldc)
	}
	steps := (k + sliceSteps - 1) / sliceSteps
	if len(at) == 0 || steps == 0 {
		if !accumulate {
			for i := range 2 * sliceTile {
				clear(c[i*ldc:][:n])
			}
		}
		return
	}
	for e, i := range at {
		next := ahead
		if e+1 < len(at) {
			next = a[(e+1)*size:][:size]
		}
		// Columns for one call, which cannot be preempted: some ten microseconds.
		most := max(1, 128/steps) * sliceTile
		for j := 0; j < n; j += most {
			gemmSliceRows(min(most, n-j), steps, a[e*size:], b[i+j:], ldb, c[j:], ldc, accumulate, next, size*sliceTile/n)
			next = from(next, size*min(most, n-j)/n)
		}
		accumulate = true
	}
}
