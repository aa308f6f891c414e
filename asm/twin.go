package asm

// GemmTwinNN multiplies two matrices by the same one, such as both parts of a spectrum by a real kernel:
// C0 = A B0 and C1 = A B1, or with accumulate adds that to them.
//
// A [m, k], B0 and B1 [k, n], and C0 and C1 [m, n] are row-major, with rows lda, ldb and ldc apart. The
// products have the bits that GemmNN gives them. C0 and C1 must not overlap each other or the operands.
//
// The pieces ahead are a hint as those of GemmComplexNN, with a line for one or two steps of a tile.
func GemmTwinNN(m, n, k int, a []float32, lda int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int, accumulate bool, ahead [4][]float32) {
	const op = "GemmTwinNN"
	if !checkTwin(op, m, n, k, c0, c1, ldc) {
		return
	}
	checkTwinRows(op, "a", m, k, a, lda)
	checkTwinRows(op, "b0", k, n, b0, ldb)
	checkTwinRows(op, "b1", k, n, b1, ldb)
	_, nr := gemmTile()
	t := twin{a: a, row: lda, step: 1, b0: b0, b1: b1, ldb: ldb, distance: nr, c0: c0, c1: c1, ldc: ldc, ahead: ahead}
	t.multiply(m, n, k, accumulate)
}

// GemmTwinTN is GemmTwinNN with A stored k-major, [k, m].
func GemmTwinTN(m, n, k int, a []float32, lda int, b0, b1 []float32, ldb int, c0, c1 []float32, ldc int, accumulate bool, ahead [4][]float32) {
	const op = "GemmTwinTN"
	if !checkTwin(op, m, n, k, c0, c1, ldc) {
		return
	}
	checkTwinRows(op, "a", k, m, a, lda)
	checkTwinRows(op, "b0", k, n, b0, ldb)
	checkTwinRows(op, "b1", k, n, b1, ldb)
	_, nr := gemmTile()
	t := twin{a: a, row: 1, step: lda, b0: b0, b1: b1, ldb: ldb, distance: nr, c0: c0, c1: c1, ldc: ldc, ahead: ahead}
	t.multiply(m, n, k, accumulate)
}

// GemmTwinPanelsNN is GemmTwinNN with B0 and B1 in panels of nr columns, see GemmPanelsNN.
func GemmTwinPanelsNN(m, n, k int, a []float32, lda int, b0, b1 []float32, distance int, c0, c1 []float32, ldc int, accumulate bool, ahead [4][]float32) {
	const op = "GemmTwinPanelsNN"
	if !checkTwin(op, m, n, k, c0, c1, ldc) {
		return
	}
	_, nr := gemmTile()
	checkTwinRows(op, "a", m, k, a, lda)
	checkPanels(op, b0, k, n, nr, distance)
	checkPanels(op, b1, k, n, nr, distance)
	if raceEnabled {
		raceReadPanels(b0, k, n, nr, distance)
		raceReadPanels(b1, k, n, nr, distance)
	}
	t := twin{a: a, row: lda, step: 1, b0: b0, b1: b1, ldb: nr, distance: distance, c0: c0, c1: c1, ldc: ldc, ahead: ahead}
	t.multiply(m, n, k, accumulate)
}

// twin is a product of one matrix and two. Element (i, p) of A stands at i*row + p*step, and panels of nr
// columns of B0 and B1 are a distance apart: nr itself where they are row-major.
type twin struct {
	a             []float32
	row, step     int
	b0, b1        []float32
	ldb, distance int
	c0, c1        []float32
	ldc           int
	ahead         lookahead
}

// tiles makes one product after the other.
func (t *twin) tiles(m, n, k int, accumulate bool) {
	gemmRows(m, n, k, t.a, t.row, t.step, t.b0, t.ldb, t.distance, t.c0, t.ldc, accumulate)
	gemmRows(m, n, k, t.a, t.row, t.step, t.b1, t.ldb, t.distance, t.c1, t.ldc, accumulate)
}

// lookahead is what is to be fetched, one piece after the other.
type lookahead [4][]float32

// next returns where the next so many lines of 64 bytes begin, or what is at hand when there are none.
func (x *lookahead) next(lines int, atHand *float32) *float32 {
	for i, piece := range x {
		if len(piece) > 0 {
			x[i] = from(piece, lines*16)
			return &piece[0]
		}
	}
	return atHand
}

// gemmRows multiplies any number of rows of A, whose element (i, p) stands at i*row + p*step and one of
// these is 1.
func gemmRows(m, n, k int, a []float32, row, step int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	for s := range RowStrips(m) {
		i, end := RowStrip(s, m)
		a, c := from(a, i*row), c[i*ldc:]
		if step == 1 {
			gemmNN(end-i, n, k, a, row, b, ldb, distance, c, ldc, accumulate)
		} else {
			gemmTN(end-i, n, k, a, step, b, ldb, distance, c, ldc, accumulate)
		}
	}
}

// checkTwin checks sizes and results. It reports whether there is anything to compute.
func checkTwin(op string, m, n, k int, c0, c1 []float32, ldc int) bool {
	if m < 0 || n < 0 || k < 0 {
		panic(&Error{op, "negative size"})
	}
	if m == 0 || n == 0 {
		return false
	}
	for _, c := range [][]float32{c0, c1} {
		checkDst(op, "c", c, m, n, ldc)
		if raceEnabled {
			raceWriteRows(c, m, n, ldc)
		}
	}
	return true
}

// checkTwinRows checks an operand.
func checkTwinRows(op, name string, rows, cols int, x []float32, ld int) {
	checkRows(op, name, x, rows, cols, ld)
	if raceEnabled && cols > 0 {
		raceReadRows(x, rows, cols, ld)
	}
}
