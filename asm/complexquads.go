package asm

// QuadColumns is the number of columns of a panel of quads.
const QuadColumns = 8

// ComplexQuads reports whether the active level has a kernel for GemmComplexQuads: otherwise it is slow.
func ComplexQuads() bool { return complexQuads() }

// PackQuads copies n <= QuadColumns rows of k values, k a multiple of 4, ldsrc apart, to columns of a panel
// of quads, in which four steps of a column follow one another and then those of the next:
//
//	dst[p/4*4*QuadColumns+4*j+p%4] = src[j*ldsrc+p]
//
// Other columns are left as they are; dst[4*j:] has the panel from column j on. dst and src must not overlap.
func PackQuads(dst, src []float32, ldsrc, k, n int) {
	const op = "PackQuads"
	if k < 0 || k%4 != 0 || uint(n) > QuadColumns {
		panic(&Error{op, "more columns than a panel has, or a number of steps that is not a multiple of 4"})
	}
	if k == 0 || n == 0 {
		return
	}
	checkRows(op, "src", src, n, k, ldsrc)
	checkRows(op, "dst", dst, k/4, 4*n, 4*QuadColumns)
	if raceEnabled {
		raceReadRows(src, n, k, ldsrc)
		raceWriteRows(dst, k/4, 4*n, 4*QuadColumns)
	}
	packQuads(dst, src, ldsrc, k, n)
}

func packQuadsGeneric(dst, src []float32, ldsrc, k, n int) {
	for j := range n {
		for p, x := range src[j*ldsrc:][:k] {
			dst[p/4*4*QuadColumns+4*j+p%4] = x
		}
	}
}

// GemmComplexQuads multiplies complex matrices, C = conj(A) B, in three real products (Gauss):
//
//	S = (Ar-Ai) Br, D = Ar (Bi-Br), T = Ai (Bi+Br)
//	Cr = S + T // accumulate: added to it
//	Ci = S + D // accumulate: added to it
//
// A [m, k] and C [m, n] are row-major, the rows of either part lda and ldc apart. Both parts of B [k, n] are in panels of
// quads, which PackQuads writes and which are a distance apart; k is a multiple of 4. Four sums, of each fourth step,
// are taken side by side in a vector, so a tile has eight columns rather than the 32 of GemmComplexPanelsNN, and where
// columns do not fill those there is less to multiply. The four are added up, in a fixed order, after 512 steps at
// most, so an element has the same bits whatever rows and columns are beside it. Without accumulate nothing is
// read of C. It must not overlap the operands.
//
// Meanwhile the processor is asked for the pieces ahead, as by GemmComplexNN.
func GemmComplexQuads(m, n, k int, ar, ai []float32, lda int, br, bi []float32, distance int, cr, ci []float32, ldc int, accumulate bool, ahead [4][]float32) {
	const op = "GemmComplexQuads"
	if !checkTwin(op, m, n, k, cr, ci, ldc) {
		return
	}
	if k%4 != 0 {
		panic(&Error{op, "the number of steps is not a multiple of 4"})
	}
	checkComplexRows(op, "ar", "ai", m, k, ar, ai, lda)
	checkPanels(op, br, k/4, 4*n, 4*QuadColumns, distance)
	checkPanels(op, bi, k/4, 4*n, 4*QuadColumns, distance)
	if raceEnabled {
		raceReadPanels(br, k/4, 4*n, 4*QuadColumns, distance)
		raceReadPanels(bi, k/4, 4*n, 4*QuadColumns, distance)
	}
	c := quadProduct{ar: ar, ai: ai, lda: lda, br: br, bi: bi, distance: distance, cr: cr, ci: ci, ldc: ldc, ahead: ahead}
	for p := 0; p == 0 || p < k; p += quadSteps {
		steps, add := min(quadSteps, k-p), accumulate || p > 0
		for j := 0; j < n; j += QuadColumns {
			c.panel(m, min(QuadColumns, n-j), steps, j, p, add)
		}
	}
}

// quadSteps is the most steps that are added up before C is.
const quadSteps = 4 * complexSteps

// quadProduct is a product of complex matrices whose B is in panels of quads.
type quadProduct struct {
	ar, ai   []float32
	lda      int
	br, bi   []float32
	distance int
	cr, ci   []float32
	ldc      int
	ahead    lookahead
}

// panelGeneric multiplies n columns from column j on, a panel, and k steps from step p on.
func (c *quadProduct) panelGeneric(m, n, k, j, p int, accumulate bool) {
	at := j/QuadColumns*c.distance + p*QuadColumns
	br, bi := from(c.br, at), from(c.bi, at)
	for i := range m {
		ar, ai := from(c.ar, i*c.lda+p), from(c.ai, i*c.lda+p)
		for col := range n {
			var s, d, t [4]float32
			for q := 0; q < k; q += 4 {
				for e := range 4 {
					x, y := ar[q+e], ai[q+e]
					re, im := br[q*QuadColumns+4*col+e], bi[q*QuadColumns+4*col+e]
					s[e] += float32((x - y) * re)
					d[e] += float32(x * (im - re))
					t[e] += float32(y * (im + re))
				}
			}
			var re, im [4]float32
			for e := range 4 {
				re[e], im[e] = s[e]+t[e], s[e]+d[e]
			}
			to := i*c.ldc + j + col
			if !accumulate {
				c.cr[to], c.ci[to] = 0, 0
			}
			c.cr[to] += (re[0] + re[2]) + (re[1] + re[3])
			c.ci[to] += (im[0] + im[2]) + (im[1] + im[3])
		}
	}
}
