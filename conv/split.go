package conv

import "github.com/noether-go/noether/asm"

// Where the level has a matrix unit, products of split matrices (asm.GemmSplit) take
// the place of those of float32. Splitting takes a good part of the time then, so
// that Gauss' sums of operands would cost about as much as the fourth product that
// they save. A complex product is two real ones of twice the length,
//
//	re y^ = | kr  ki | | xr; -xi |,  im y^ = | kr  ki | | xi; xr |
//
// whose left operand is split once, and whose right operands are two overlapping
// pairs of the pieces xi, xr, -xi.

// splitColumns and splitSteps are the numbers of columns and steps that blocks of
// split operands are filled up to.
const (
	splitColumns = 32
	splitSteps   = 32
)

// splits reports whether the products of a shape take split matrices: where all
// their sizes fill most of the blocks of the matrix unit.
func splits(s *Shape) bool {
	return asm.FastSplit() && fills(s.B) && fills(s.Sources()) && fills(s.Targets())
}

func fills(n int) bool { return 10*n >= 9*splitColumns*blocksOf(n, splitColumns) }

// splitPiece returns the size of a panel of 32 rows or columns by k steps.
func splitPiece(k int) int { return asm.SplitSize(splitColumns, k) }

// splitSlab is the number of steps, or of columns, that are split at a time, so that
// a strip and its panels stay in the first-level cache.
const splitSlab = 64

// doubled returns the number of steps of two pieces of k steps after each other.
func doubled(k int) int { return 2 * splitSteps * blocksOf(k, splitSteps) }

// after returns x from value n on, or what is left of it.
func after(x []float32, n int) []float32 { return x[min(n, len(x)):] }

// splitLeft splits |a b|, matrices [m, k] with rows ld apart, for the left side of a
// product.
func splitLeft(dst, a, b []float32, ld, m, k int) {
	size := splitPiece(k)
	for i := 0; i < m; i += splitColumns {
		rows := min(splitColumns, m-i)
		asm.SplitLeft(dst, a[i*ld:], ld, rows, k)
		asm.SplitLeft(dst[size:], b[i*ld:], ld, rows, k)
		dst = dst[2*size:]
	}
}

// splitLeftTurned is splitLeft for matrices stored [k, m]. spare holds one.
func splitLeftTurned(dst, a, b []float32, ld, m, k int, spare []float32) {
	size := splitPiece(k)
	ldt := columns(k)
	for part, x := range [2][]float32{a, b} {
		asm.Transpose(spare, ldt, x, ld, k, m)
		for i := 0; i < m; i += splitColumns {
			asm.SplitLeft(dst[(i/splitColumns*2+part)*size:], spare[i*ldt:], ldt, min(splitColumns, m-i), k)
		}
	}
}

// rightPieces is a right operand: panels of 32 columns with count pieces of size
// values each.
type rightPieces struct {
	values      []float32
	count, size int
	k, n        int
}

func newRightPieces(memory []float32, count, k, n int) rightPieces {
	return rightPieces{values: memory, count: count, size: splitPiece(k), k: k, n: n}
}

// rightPiecesSize returns how much memory newRightPieces wants.
func rightPiecesSize(count, k, n int) int { return count * asm.SplitSize(n, k) }

// at returns a piece of the panel that begins at a column.
func (r *rightPieces) at(piece, column int) []float32 {
	return r.values[(column/splitColumns*r.count+piece)*r.size:]
}

// split writes a piece: the matrix x [k, n], in panels a distance apart of the given
// width, which is also the distance of rows; factor is 1 or -1.
func (r *rightPieces) split(piece int, x []float32, factor float32, width, distance int) {
	for j := 0; j < r.n; j += splitColumns {
		x, n := x[j/width*distance+j%width:], min(splitColumns, r.n-j)
		if factor == 1 {
			asm.SplitRight(r.at(piece, j), x, width, r.k, n)
		} else {
			asm.SplitRightSum(r.at(piece, j), x, x, factor-1, width, r.k, n)
		}
	}
}

// complex writes the pieces im, re, -im of a matrix with rows ld apart. From number
// 1 on they make the real part of a product with |kr ki|, from number 0 on the
// imaginary part.
func (r *rightPieces) complex(re, im []float32, ld int) {
	r.split(0, im, 1, ld, 0)
	r.split(1, re, 1, ld, 0)
	r.split(2, im, -1, ld, 0)
}

// multiply computes C [m, n] of a left operand of two pieces and the two pieces
// from number piece on. Meanwhile it fetches what comes next, see
// asm.GemmSplitPanels.
func (r *rightPieces) multiply(m int, left []float32, piece int, c []float32, ldc int, accumulate bool, ahead []float32, stride int) {
	asm.GemmSplitPanels(m, r.n, doubled(r.k), left, r.at(piece, 0), r.count*r.size, c, ldc, accumulate, ahead, stride)
}
