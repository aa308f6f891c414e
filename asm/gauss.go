package asm

// GemmGauss makes what the three real products of a complex one (Gauss) are multiplied by: real
// part, sum and difference of two parts. With R = A0 B0 and I = A1 B1, of k0 and k1 steps, for
// i < m and j < n,
//
//	c[i*ldc+j]         = R[i, j]
//	c[i*ldc+plane+j]   = R[i, j] + I[i, j]
//	c[i*ldc+2*plane+j] = R[i, j] - I[i, j]
//
// A0 [m, k0] and A1 [m, k1] are row-major, with rows lda0 and lda1 apart, and so are B0 [k0, n]
// and B1 [k1, n]. R and I have the bits that GemmNN gives them. Nothing is read of c, which must
// not overlap the operands.
//
// Meanwhile the processor is asked to bring ahead, such as the next rows of B, to its caches, a
// line of 64 bytes for each step of a tile of 7 x 32. That is a hint: ahead may be shorter, or nil.
func GemmGauss(m, n, k0, k1 int, a0 []float32, lda0 int, a1 []float32, lda1 int, b0, b1 []float32, ldb int, c []float32, plane, ldc int, ahead []float32) {
	const op = "GemmGauss"
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
	checkDst(op, "c", c, 3, n, plane)
	if m > 1 && ldc < 2*plane+n {
		panic(&Error{op, "leading dimension of c below its three planes"})
	}
	checkDst(op, "c", c, m, 2*plane+n, ldc)
	if raceEnabled {
		raceReadRows(a0, m, k0, lda0)
		raceReadRows(a1, m, k1, lda1)
		raceReadRows(b0, k0, n, ldb)
		raceReadRows(b1, k1, n, ldb)
		for p := range 3 {
			raceWriteRows(c[p*plane:], m, n, ldc)
		}
	}
	// Strips of as equal heights as can be, each in calls that take some ten microseconds.
	strips := (m + gaussRows() - 1) / gaussRows()
	cols := stripColumns(k0+k1, gaussColumns)
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		for j := 0; j < n; j += cols {
			gauss(end-i, min(cols, n-j), k0, k1, from(a0, i*lda0), lda0, from(a1, i*lda1), lda1, from(b0, j), from(b1, j), ldb, c[i*ldc+j:], plane, ldc, ahead)
			ahead = from(ahead, gaussFetches(min(cols, n-j), k0+k1))
		}
	}
}

// gaussColumns is how many columns are made before sums are taken of them, where no kernel does
// both in registers: as many as stay in the first-level cache.
const gaussColumns = 64
