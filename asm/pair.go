package asm

// PairPart is one of the products of GemmPair: C = A B or, to accumulate, C = C + A B. A [M, K], B [K, n]
// and C [M, n] are row-major, and the rows of A are LDA values apart.
type PairPart struct {
	M, K, LDA int
	A, B, C   []float32
}

// GemmPair computes two products with as many columns, whose B and C have rows as far apart, such as the real
// and the imaginary part of a spectrum. They have the bits that GemmStripNN gives them. No C may overlap the
// other or an operand.
//
// Meanwhile the processor is asked to bring ahead, such as the next rows of B or of C, to its caches, two
// lines of 64 bytes for each step of a tile of 14 x 32. That is a hint: ahead may be shorter, or nil.
// What is left of it is returned.
func GemmPair(n int, x, y *PairPart, ldb, ldc int, accumulate bool, ahead []float32) []float32 {
	parts := [...]*PairPart{x, y}
	for _, p := range parts {
		p.check(n, ldb, ldc)
	}
	for _, p := range parts {
		if p.M > 0 && n > 0 {
			ahead = p.multiply(n, ldb, ldc, accumulate, ahead)
		}
	}
	return ahead
}

// check panics unless sizes and lengths fit.
func (p *PairPart) check(n, ldb, ldc int) {
	const op = "GemmPair"
	if n < 0 || p.M < 0 || p.K < 0 {
		panic(&Error{op, "negative size"})
	}
	if p.M == 0 || n == 0 {
		return
	}
	checkRows(op, "A", p.A, p.M, p.K, p.LDA)
	checkRows(op, "B", p.B, p.K, n, ldb)
	checkDst(op, "C", p.C, p.M, n, ldc)
	if raceEnabled {
		raceReadRows(p.A, p.M, p.K, p.LDA)
		raceReadRows(p.B, p.K, n, ldb)
		raceWriteRows(p.C, p.M, n, ldc)
	}
}

// multiply computes the product and returns what is left to be fetched.
func (p *PairPart) multiply(n, ldb, ldc int, accumulate bool, ahead []float32) []float32 {
	// Strips, each in calls that take some ten microseconds.
	_, nr := gemmTile()
	cols := stripColumns(p.K, nr)
	for s := range RowStrips(p.M) {
		i, end := RowStrip(s, p.M)
		for j := 0; j < n; j += cols {
			width := min(cols, n-j)
			pair(end-i, width, p.K, from(p.A, i*p.LDA), p.LDA, from(p.B, j), ldb, p.C[i*ldc+j:], ldc, accumulate, ahead)
			ahead = from(ahead, pairFetches(width, p.K))
		}
	}
	return ahead
}
