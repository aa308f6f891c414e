package asm

// GemmComplexNN multiplies complex matrices, C = A B, in three real products instead of four
// (Gauss):
//
//	S = (Ar+Ai) Br, D = Ar (Bi-Br), T = Ai (Bi+Br)
//	Cr = S - T // accumulate: added to it
//	Ci = S + D // accumulate: added to it
//
// A [m, k], B [k, n] and C [m, n] are row-major, the rows of either part of a matrix lda, ldb and ldc
// apart. Each product is summed in the order of the steps, of which 128 at a time are added to C, so
// an element has the same bits whatever rows and columns are beside it. Without accumulate nothing
// is read of C. It must not overlap the operands.
//
// Meanwhile the processor is asked to bring the pieces ahead, such as the next B and C, to its caches
// one after the other, a line of 64 bytes for one or two steps of a tile. That is a hint: not all of
// them may be fetched, or nothing.
//
// Sums of operands are taken in registers or, where a level has too few or it is faster, in spare, of ComplexSpare values.
func GemmComplexNN(m, n, k int, ar, ai []float32, lda int, br, bi []float32, ldb int, cr, ci []float32, ldc int, accumulate bool, ahead [4][]float32, spare []float32) {
	const op = "GemmComplexNN"
	if !checkTwin(op, m, n, k, cr, ci, ldc) {
		return
	}
	checkComplexRows(op, "ar", "ai", m, k, ar, ai, lda)
	checkComplexRows(op, "br", "bi", k, n, br, bi, ldb)
	checkComplexSpare(op, spare)
	_, nr := gemmTile()
	c := complexProduct{ar: ar, ai: ai, row: lda, step: 1, br: br, bi: bi, ldb: ldb, distance: nr, cr: cr, ci: ci, ldc: ldc, ahead: ahead}
	c.multiply(m, n, k, accumulate, spare)
}

// GemmComplexTN is GemmComplexNN with A stored k-major, [k, m].
func GemmComplexTN(m, n, k int, ar, ai []float32, lda int, br, bi []float32, ldb int, cr, ci []float32, ldc int, accumulate bool, ahead [4][]float32, spare []float32) {
	const op = "GemmComplexTN"
	if !checkTwin(op, m, n, k, cr, ci, ldc) {
		return
	}
	checkComplexRows(op, "ar", "ai", k, m, ar, ai, lda)
	checkComplexRows(op, "br", "bi", k, n, br, bi, ldb)
	checkComplexSpare(op, spare)
	_, nr := gemmTile()
	c := complexProduct{ar: ar, ai: ai, row: 1, step: lda, br: br, bi: bi, ldb: ldb, distance: nr, cr: cr, ci: ci, ldc: ldc, ahead: ahead}
	c.multiply(m, n, k, accumulate, spare)
}

// GemmComplexPanelsNN is GemmComplexNN with B in panels of nr columns, see GemmPanelsNN.
func GemmComplexPanelsNN(m, n, k int, ar, ai []float32, lda int, br, bi []float32, distance int, cr, ci []float32, ldc int, accumulate bool, ahead [4][]float32, spare []float32) {
	const op = "GemmComplexPanelsNN"
	if !checkTwin(op, m, n, k, cr, ci, ldc) {
		return
	}
	_, nr := gemmTile()
	checkComplexRows(op, "ar", "ai", m, k, ar, ai, lda)
	checkPanels(op, br, k, n, nr, distance)
	checkPanels(op, bi, k, n, nr, distance)
	checkComplexSpare(op, spare)
	if raceEnabled {
		raceReadPanels(br, k, n, nr, distance)
		raceReadPanels(bi, k, n, nr, distance)
	}
	c := complexProduct{ar: ar, ai: ai, row: lda, step: 1, br: br, bi: bi, ldb: nr, distance: distance, cr: cr, ci: ci, ldc: ldc, ahead: ahead}
	c.multiply(m, n, k, accumulate, spare)
}

// complexProduct is a product of complex matrices. Element (i, p) of A stands at i*row + p*step, and
// panels of nr columns of B are a distance apart: nr itself where B is row-major.
type complexProduct struct {
	ar, ai        []float32
	row, step     int
	br, bi        []float32
	ldb, distance int
	cr, ci        []float32
	ldc           int
	ahead         lookahead
}

const (
	// complexSteps is the most steps that are added up before C is.
	complexSteps = 128
	// complexTogether is the most rows of A, and columns of B, that are summed before they are
	// multiplied.
	complexTogether = 64
	// ComplexSpare is the number of values that a complex product needs as spare memory: for sums of operands, products and,
	// at last, the tiles behind panels.
	ComplexSpare = 6*complexTogether*complexSteps + 2*complexTogether*complexTogether + 6*complexTogether
)

// complexWork is the memory for a block: sums of rows of A, differences and negative sums of columns of B,
// and products.
type complexWork struct{ sum, difference, negative, s, t []float32 }

func newComplexWork(spare []float32) (w complexWork) {
	const operand, product = complexTogether * complexSteps, complexTogether * complexTogether
	w.sum, spare = spare[:operand], spare[operand:]
	w.difference, spare = spare[:operand], spare[operand:]
	w.negative, spare = spare[:operand], spare[operand:]
	w.s, w.t = spare[:product], spare[product:][:product]
	return w
}

// block returns the part of c from a row, a column and a step on.
func (c *complexProduct) block(i, j, p, nr int) complexProduct {
	a, b, to := i*c.row+p*c.step, j/nr*c.distance+p*c.ldb, i*c.ldc+j
	return complexProduct{
		ar: from(c.ar, a), ai: from(c.ai, a), row: c.row, step: c.step,
		br: from(c.br, b), bi: from(c.bi, b), ldb: c.ldb, distance: c.distance,
		cr: c.cr[to:], ci: c.ci[to:], ldc: c.ldc,
	}
}

// tiles multiplies by one real product after the other, block by block.
func (c *complexProduct) tiles(m, n, k int, accumulate bool, spare []float32) {
	w := newComplexWork(spare)
	_, nr := gemmTile()
	blocks := (m + complexTogether - 1) / complexTogether
	for p := 0; p == 0 || p < k; p += complexSteps {
		steps := min(complexSteps, k-p)
		wide := complexTogether / nr * nr // whole panels
		if n <= complexTogether && over(n, nr)*nr*steps <= complexTogether*complexSteps {
			wide = n // a block for what is left of the last panel would sum A once more
		}
		for j := 0; j < n; j += wide {
			cols := min(wide, n-j)
			b := c.block(0, j, p, nr)
			b.differences(&w, cols, steps, nr)
			for i := range blocks {
				first, end := i*m/blocks, (i+1)*m/blocks
				b := c.block(first, j, p, nr)
				b.products(&w, end-first, cols, steps, nr, accumulate || p > 0)
			}
		}
	}
}

// differences makes Bi - Br and -(Bi + Br): rows of n values, or panels as those of B are.
func (c *complexProduct) differences(w *complexWork, n, k, nr int) {
	width := n
	if c.distance != nr {
		width = nr
	}
	for j := 0; j < n && k > 0; j += width {
		cols, rows, at := min(width, n-j), k, j*k
		br, bi := c.br[j/width*c.distance:], c.bi[j/width*c.distance:]
		if c.ldb == width {
			cols, rows = (k-1)*width+cols, 1
		}
		for p := range rows {
			br, bi := br[p*c.ldb:][:cols], bi[p*c.ldb:][:cols]
			sub(w.difference[at+p*width:][:cols], bi, br)
			combine(w.negative[at+p*width:][:cols], bi, br, -1, -1, 0)
		}
	}
}

// products multiplies some rows, given the differences.
func (c *complexProduct) products(w *complexWork, m, n, k, nr int, accumulate bool) {
	ldb, distance := n, nr
	if c.distance != nr {
		ldb, distance = nr, k*nr
	}
	cr, ci, ldc := c.cr, c.ci, c.ldc
	if accumulate {
		cr, ci, ldc = w.s, w.t, n
	}
	row, step := c.sum(w.sum, m, k)
	gemmRows(m, n, k, w.sum, row, step, c.br, c.ldb, c.distance, cr, ldc, false)
	for i := range m {
		copy(ci[i*ldc:][:n], cr[i*ldc:])
	}
	gemmRows(m, n, k, c.ai, c.row, c.step, w.negative, ldb, distance, cr, ldc, true)
	gemmRows(m, n, k, c.ar, c.row, c.step, w.difference, ldb, distance, ci, ldc, true)
	if accumulate {
		for i := range m {
			re, im := c.cr[i*c.ldc:][:n], c.ci[i*c.ldc:][:n]
			add(re, re, cr[i*n:][:n])
			add(im, im, ci[i*n:][:n])
		}
	}
}

// sum adds both parts of A, in the order in which they are stored, and returns how far apart rows and
// steps of the sums are.
func (c *complexProduct) sum(dst []float32, m, k int) (row, step int) {
	if c.step == 1 {
		for i := 0; i < m && k > 0; i++ {
			add(dst[i*complexSteps:][:k], c.ar[i*c.row:][:k], c.ai[i*c.row:][:k])
		}
		return complexSteps, 1
	}
	for p := range k {
		add(dst[p*complexTogether:][:m], c.ar[p*c.step:][:m], c.ai[p*c.step:][:m])
	}
	return 1, complexTogether
}

// checkComplexRows checks both parts of an operand of rows rows and cols columns. They come with a name each: making
// two of one would take a noticeable part of a small product.
func checkComplexRows(op, nameRe, nameIm string, rows, cols int, re, im []float32, ld int) {
	checkTwinRows(op, nameRe, rows, cols, re, ld)
	checkTwinRows(op, nameIm, rows, cols, im, ld)
}

// checkComplexSpare checks the memory for sums, which some kernels write.
func checkComplexSpare(op string, spare []float32) {
	if len(spare) < ComplexSpare {
		panic(&Error{op, "spare is too short"})
	}
	raceWrite(spare[:ComplexSpare])
}
