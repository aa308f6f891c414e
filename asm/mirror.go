package asm

// GemmMirrored multiplies by two matrices at once whose rows mirror one another: row i of the
// one is the sum, and of the other the difference, of an even part, k0 steps, and an odd part,
// k1 steps. With E = A0 B0 and O = A1 B1, for i < m and j < n,
//
//	up[i*ldc+j]         = E[i, j] + O[i, j] // accumulate: added to it
//	down[(m-1-i)*ldc+j] = E[i, j] - O[i, j] // accumulate: added to it
//
// so that down runs the other way, and both take half the multiplications. If row 0 is the
// middle, the difference of row 0 is left out, and down has m-1 rows.
//
// A0 [k0, m] and A1 [k1, m] are k-major, with rows lda apart, B0 [k0, n] and B1 [k1, n]
// row-major. E and O are summed in the order of the steps. Without accumulate nothing is
// read of up and down, which may then share rows; they must not overlap the operands.
func GemmMirrored(m, n, k0, k1 int, a0, a1 []float32, lda int, b0, b1 []float32, ldb int, up, down []float32, ldc int, middle, accumulate bool) {
	const op = "GemmMirrored"
	if m < 0 || n < 0 || k0 < 0 || k1 < 0 {
		panic(&Error{op, "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	below := m
	if middle {
		below--
	}
	checkRows(op, "a0", a0, k0, m, lda)
	checkRows(op, "a1", a1, k1, m, lda)
	checkRows(op, "b0", b0, k0, n, ldb)
	checkRows(op, "b1", b1, k1, n, ldb)
	checkDst(op, "up", up, m, n, ldc)
	checkDst(op, "down", down, below, n, ldc)
	if raceEnabled {
		raceReadRows(a0, k0, m, lda)
		raceReadRows(a1, k1, m, lda)
		raceReadRows(b0, k0, n, ldb)
		raceReadRows(b1, k1, n, ldb)
		raceWriteRows(up, m, n, ldc)
		raceWriteRows(down, below, n, ldc)
	}
	// Strips of as equal heights as can be, each in calls that take some ten microseconds.
	rows, cols := mirrorBlock(k0 + k1)
	strips := (m + rows - 1) / rows
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		for j := 0; j < n; j += cols {
			// The last row of a strip is the first one down.
			mirrored(end-i, min(cols, n-j), k0, k1, from(a0, i), from(a1, i), lda, from(b0, j), from(b1, j), ldb,
				up[i*ldc+j:], from(down, (m-end)*ldc+j), ldc, middle && i == 0, accumulate)
		}
	}
}

// mirrorColumns is the number of columns of the widest tile of either part.
const mirrorColumns = 64
