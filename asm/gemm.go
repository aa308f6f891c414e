package asm

// GemmTile returns the register tile of the active level: the largest numbers
// of rows and columns of C that one call of GemmNN or GemmTN computes.
func GemmTile() (mr, nr int) { return gemmTile() }

// GemmNN multiplies one tile, all operands row-major with leading dimensions in
// values, 0 <= m <= mr and 0 <= n <= nr of GemmTile:
//
//	for i := range m {
//		for j := range n {
//			var s float32
//			for p := range k {
//				s += a[i*lda+p] * b[p*ldb+j] // fused where the level has FMA
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// The terms are summed in the order of p, so an element has the same bits
// whatever tile it was computed in. Without accumulate C is not read (it may
// hold NaN). The slices may be longer than needed; c must not overlap a or b.
//
// The call cannot be preempted, so keep k below some ten thousand.
func GemmNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkTile("GemmNN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkRows("GemmNN", "a", a, m, k, lda)
	checkRows("GemmNN", "b", b, k, n, ldb)
	checkDst("GemmNN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	gemmNN(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
}

// GemmTN is GemmNN with A stored k-major: it reads a[p*lda+i] in place of
// a[i*lda+p]. A panel written by PackA has lda = mr.
func GemmTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkTile("GemmTN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkRows("GemmTN", "a", a, k, m, lda)
	checkRows("GemmTN", "b", b, k, n, ldb)
	checkDst("GemmTN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, k, m, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	gemmTN(m, n, k, a, lda, b, ldb, c, ldc, accumulate)
}

func checkTile(op string, m, n, k int) {
	mr, nr := gemmTile()
	if uint(m) > uint(mr) || uint(n) > uint(nr) || k < 0 {
		panic(&Error{op, "sizes outside the tile of GemmTile, or k < 0"})
	}
}

// checkRows panics unless x holds rows rows of cols values, ld apart. Rows that
// are only read may overlap.
func checkRows(op, name string, x []float32, rows, cols, ld int) {
	if ld < 0 {
		panic(&Error{op, "negative leading dimension of " + name})
	}
	if rows > 0 && cols > 0 && len(x) < (rows-1)*ld+cols {
		panic(&Error{op, name + " is shorter than its rows"})
	}
}

// checkDst is checkRows for a matrix that is written: its rows must not overlap.
func checkDst(op, name string, x []float32, rows, cols, ld int) {
	checkRows(op, name, x, rows, cols, ld)
	if rows > 1 && ld < cols {
		panic(&Error{op, "leading dimension of " + name + " below its row length"})
	}
}
