package asm

import "math/bits"

// GemmTile returns the register tile of the active level: the largest numbers
// of rows and columns of C that one call of GemmNN or GemmTN computes.
func GemmTile() (mr, nr int) { return gemmTile() }

// StripRows returns how many rows a strip of k steps may have: those of GemmTile, or more.
func StripRows(k int) int {
	mr, _ := gemmTile()
	return max(mr, fewStepRows(k))
}

// RowStrips returns the number of strips of at most mr rows, see GemmTile, that m rows make.
func RowStrips(m int) int {
	mr, _ := gemmTile()
	return over(m, mr)
}

// RowStrip returns the first row of strip s, and the one behind its last: strips of as equal heights
// as can be, or, where the kernels of a level compute as much for fewer rows, full ones as far as there are.
// There must be rows.
func RowStrip(s, m int) (first, end int) {
	mr, _ := gemmTile()
	if fullStrips() {
		return s * mr, min((s+1)*mr, m)
	}
	strips := over(m, mr)
	return s * m / strips, (s + 1) * m / strips
}

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
	if !fit(len(a), m, k, lda) || !fit(len(b), k, n, ldb) || !fit(len(c), m, n, ldc) || ldc < n {
		checkRows("GemmNN", "a", a, m, k, lda)
		checkRows("GemmNN", "b", b, k, n, ldb)
		checkDst("GemmNN", "c", c, m, n, ldc)
	}
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	gemmNN(m, n, k, a, lda, b, ldb, n, c, ldc, accumulate)
}

// GemmTN is GemmNN with A stored k-major: it reads a[p*lda+i] in place of
// a[i*lda+p]. A panel written by PackA has lda = mr.
func GemmTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkTile("GemmTN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	if !fit(len(a), k, m, lda) || !fit(len(b), k, n, ldb) || !fit(len(c), m, n, ldc) || ldc < n {
		checkRows("GemmTN", "a", a, k, m, lda)
		checkRows("GemmTN", "b", b, k, n, ldb)
		checkDst("GemmTN", "c", c, m, n, ldc)
	}
	if raceEnabled {
		raceReadRows(a, k, m, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	gemmTN(m, n, k, a, lda, b, ldb, n, c, ldc, accumulate)
}

// GemmStripNN is GemmNN for any n: it multiplies a strip of at most StripRows(k) rows, tile
// by tile, for a fraction of the cost of so many calls. Its elements have the
// bits that GemmNN gives them.
func GemmStripNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkStrip("GemmStripNN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkRows("GemmStripNN", "a", a, m, k, lda)
	checkRows("GemmStripNN", "b", b, k, n, ldb)
	checkDst("GemmStripNN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	_, nr := gemmTile()
	cols := stripColumns(k, nr)
	for ; n > cols; n -= cols {
		gemmNN(m, cols, k, a, lda, b, ldb, nr, c, ldc, accumulate)
		b, c = nextPanel(b, cols), c[cols:]
	}
	gemmNN(m, n, k, a, lda, b, ldb, nr, c, ldc, accumulate)
}

// GemmStripTN is GemmStripNN with A stored k-major, see GemmTN.
func GemmStripTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkStrip("GemmStripTN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkRows("GemmStripTN", "a", a, k, m, lda)
	checkRows("GemmStripTN", "b", b, k, n, ldb)
	checkDst("GemmStripTN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, k, m, lda)
		raceReadRows(b, k, n, ldb)
		raceWriteRows(c, m, n, ldc)
	}
	_, nr := gemmTile()
	cols := stripColumns(k, nr)
	for ; n > cols; n -= cols {
		gemmTN(m, cols, k, a, lda, b, ldb, nr, c, ldc, accumulate)
		b, c = nextPanel(b, cols), c[cols:]
	}
	gemmTN(m, n, k, a, lda, b, ldb, nr, c, ldc, accumulate)
}

// GemmPanelsNN is GemmStripNN with B in panels of nr columns, such as PackPanel,
// PackRows and PackCols write, distance values apart: element (p, j) of B is
// b[j/nr*distance+p*nr+j%nr]. The columns of the last panel beyond n are not
// read.
func GemmPanelsNN(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, accumulate bool) {
	GemmPanelsAheadNN(m, n, k, a, lda, b, distance, c, ldc, Ahead{}, accumulate)
}

// GemmPanelsAheadNN is GemmPanelsNN that has rows fetched as it goes.
func GemmPanelsAheadNN(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, ahead Ahead, accumulate bool) {
	checkStrip("GemmPanelsNN", m, n, k)
	ahead.check("GemmPanelsNN")
	if m == 0 || n == 0 {
		return
	}
	_, nr := gemmTile()
	checkRows("GemmPanelsNN", "a", a, m, k, lda)
	checkPanels("GemmPanelsNN", b, k, n, nr, distance)
	checkDst("GemmPanelsNN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, m, k, lda)
		raceReadPanels(b, k, n, nr, distance)
		raceWriteRows(c, m, n, ldc)
	}
	cols := stripColumns(k, nr)
	for ; n > cols; n -= cols {
		gemmAheadNN(m, cols, k, a, lda, b, nr, distance, c, ldc, ahead, accumulate)
		b, c, ahead = nextPanel(b, cols/nr*distance), c[cols:], ahead.beyond(cols)
	}
	gemmAheadNN(m, n, k, a, lda, b, nr, distance, c, ldc, ahead, accumulate)
}

// GemmPanelsTN is GemmPanelsNN with A stored k-major, see GemmTN.
func GemmPanelsTN(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, accumulate bool) {
	GemmPanelsAheadTN(m, n, k, a, lda, b, distance, c, ldc, Ahead{}, accumulate)
}

// GemmPanelsAheadTN is GemmPanelsTN that has rows fetched as it goes.
func GemmPanelsAheadTN(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, ahead Ahead, accumulate bool) {
	checkStrip("GemmPanelsTN", m, n, k)
	ahead.check("GemmPanelsTN")
	if m == 0 || n == 0 {
		return
	}
	_, nr := gemmTile()
	checkRows("GemmPanelsTN", "a", a, k, m, lda)
	checkPanels("GemmPanelsTN", b, k, n, nr, distance)
	checkDst("GemmPanelsTN", "c", c, m, n, ldc)
	if raceEnabled {
		raceReadRows(a, k, m, lda)
		raceReadPanels(b, k, n, nr, distance)
		raceWriteRows(c, m, n, ldc)
	}
	cols := stripColumns(k, nr)
	for ; n > cols; n -= cols {
		gemmAheadTN(m, cols, k, a, lda, b, nr, distance, c, ldc, ahead, accumulate)
		b, c, ahead = nextPanel(b, cols/nr*distance), c[cols:], ahead.beyond(cols)
	}
	gemmAheadTN(m, n, k, a, lda, b, nr, distance, c, ldc, ahead, accumulate)
}

// Ahead names rows of a matrix that will be used soon. A product with many steps asks
// the processor to bring them into its caches, spread over its steps: with every panel
// of nr columns, as many columns of Rows rows, LD values apart, of which the first
// panel's begin at X[0]. It is a hint: nothing is read, so X may be shorter than the
// rows. Nothing is fetched without Rows, and by kernels other than those of amd64.
type Ahead struct {
	X        []float32
	LD, Rows int
}

func (h Ahead) check(op string) {
	if h.LD < 0 || h.Rows < 0 {
		panic(&Error{op, "negative number or distance of the rows to fetch ahead"})
	}
}

// beyond returns what is fetched with the columns from cols on.
func (h Ahead) beyond(cols int) Ahead {
	if cols >= len(h.X) {
		return Ahead{}
	}
	h.X = h.X[cols:]
	return h
}

// stripStep bounds the work of one call of a kernel, which cannot be preempted,
// to 64k values of B or, where k is short, 4096 columns of C: ten to twenty
// microseconds out of the caches and a few times that from memory.
const stripStep = 64 << 10

// stripColumns returns how many columns, a multiple of nr, one call of a kernel
// may compute.
func stripColumns(k, nr int) int { return max(1, stripStep/max(16, k)/nr) * nr }

// nextPanel returns the part of b after a panel. Where k is zero b is short.
func nextPanel(b []float32, distance int) []float32 {
	if len(b) < distance {
		return nil
	}
	return b[distance:]
}

func checkTile(op string, m, n, k int) {
	mr, nr := gemmTile()
	if uint(m) > uint(mr) || uint(n) > uint(nr) || k < 0 {
		panic(&Error{op, "sizes outside the tile of GemmTile, or k < 0"})
	}
}

// checkStrip is checkTile for any number of columns.
func checkStrip(op string, m, n, k int) {
	if uint(m) > uint(StripRows(k)) || n < 0 || k < 0 {
		panic(&Error{op, "m below 0 or above StripRows, n < 0 or k < 0"})
	}
}

// checkPanels panics unless b holds n columns of k values in panels of nr.
func checkPanels(op string, b []float32, k, n, nr, distance int) {
	if distance < 0 {
		panic(&Error{op, "negative distance of the panels"})
	}
	last := (n - 1) / nr
	if k > 0 && (len(b) < plus(times(last, distance), plus(times(k-1, nr), n-last*nr)) ||
		last > 0 && len(b) < plus(times(last-1, distance), times(k, nr))) {
		panic(&Error{op, "b is shorter than its panels"})
	}
}

// checkRows panics unless x holds rows rows of cols values, ld apart. Rows that
// are only read may overlap.
func checkRows(op, name string, x []float32, rows, cols, ld int) {
	if ld < 0 || rows > 0 && cols > 0 && len(x) < plus(times(rows-1, ld), cols) {
		panic(&Error{op, name + " is shorter than its rows, or its leading dimension negative"})
	}
}

// fit reports that checkRows accepts so many values. It is quick, for checks of single tiles, and
// false also where a product of the numbers might not be an int.
func fit(size, rows, cols, ld int) bool {
	return uint(rows|cols|ld)>>(bits.UintSize/2-1) == 0 && (rows == 0 || cols == 0 || size >= (rows-1)*ld+cols)
}

// checkDst is checkRows for a matrix that is written: its rows must not overlap.
func checkDst(op, name string, x []float32, rows, cols, ld int) {
	checkRows(op, name, x, rows, cols, ld)
	if rows > 1 && ld < cols {
		panic(&Error{op, "leading dimension of " + name + " below its row length"})
	}
}
