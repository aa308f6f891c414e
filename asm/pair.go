package asm

// GemmPair makes two products of the same size, such as the real and the imaginary part of a
// spectrum: C0 = A0 B0, of k0 steps, and C1 = A1 B1, of k1.
//
// A0 [m, k0] and A1 [m, k1] are row-major, with rows lda0 and lda1 apart, and so are B0 [k0, n] and
// B1 [k1, n], and C0 and C1 [m, n]. The products have the bits that GemmNN gives them. Nothing is
// read of C0 and C1, which must not overlap each other or the operands.
//
// Meanwhile the processor is asked to bring ahead, such as the next rows of B, to its caches, a
// line of 64 bytes for each step of a tile of 7 x 32. That is a hint: ahead may be shorter, or nil.
func GemmPair(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int, ahead []float32) {
	const op = "GemmPair"
	if m < 0 || n < 0 || k0 < 0 || k1 < 0 {
		panic(&Error{op, "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	checkRows(op, "a0", a0, m, k0, lda0)
	checkRows(op, "a1", a1, m, k1, lda1)
	checkRows(op, "b0", b0, k0, n, ldb)
	checkRows(op, "b1", b1, k1, n, ldb)
	checkDst(op, "c0", c0, m, n, ldc)
	checkDst(op, "c1", c1, m, n, ldc)
	if raceEnabled {
		raceReadRows(a0, m, k0, lda0)
		raceReadRows(a1, m, k1, lda1)
		raceReadRows(b0, k0, n, ldb)
		raceReadRows(b1, k1, n, ldb)
		raceWriteRows(c0, m, n, ldc)
		raceWriteRows(c1, m, n, ldc)
	}
	// Strips of as equal heights as can be, each in calls that take some ten microseconds.
	strips := (m + pairRows() - 1) / pairRows()
	cols := stripColumns(k0+k1, pairColumns)
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		for j := 0; j < n; j += cols {
			pair(end-i, min(cols, n-j), k0, k1, from(a0, i*lda0), lda0, from(a1, i*lda1), lda1, from(b0, j), from(b1, j), ldb, c0[i*ldc+j:], c1[i*ldc+j:], ldc, ahead)
			ahead = from(ahead, pairFetches(min(cols, n-j), k0+k1))
		}
	}
}

// pairColumns is the number of columns of the widest tile of either product.
const pairColumns = 32
