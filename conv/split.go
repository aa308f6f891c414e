package conv

import "github.com/noether-go/noether/asm"

// Where the level has a matrix unit, products of split matrices take the place of
// those of float32. Splitting takes a good part of the time then, so that Gauss' sums
// of operands would cost about as much as the fourth product that they save, and
// complex products (asm.GemmSplitComplex) are made of four real ones.

// splitTile is the number of rows, columns and steps of the blocks that split operands
// are filled up to.
const splitTile = asm.SplitTile

// splitSlab is the number of steps that are split at a time, or of columns of a
// gradient, so that the operands stay in the first-level cache.
const splitSlab = 32

// splitFetched is how many values a product of two blocks fetches ahead.
const splitFetched = 512

// splits reports whether the products of a shape take split matrices: where all
// their sizes fill most of the blocks of the matrix unit.
func splits(s *Shape) bool {
	return asm.FastSplit() && fills(s.B) && fills(s.Sources()) && fills(s.Targets())
}

func fills(n int) bool { return 10*n >= 9*splitTile*blocksOf(n, splitTile) }

// operand is a split operand: strips of 32 rows, or panels of 32 columns, each with
// count pieces of size values.
type operand struct {
	values      []float32
	count, size int
}

// newOperand returns an operand with k steps in memory, of which it takes
// operandSize values.
func newOperand(memory []float32, count, k int) operand {
	return operand{values: memory, count: count, size: splitPiece(k)}
}

// splitPiece returns the size of a strip or panel of k steps.
func splitPiece(k int) int { return asm.SplitSize(splitTile, k) }

// operandSize returns the size of an operand of n rows, or columns, and k steps.
func operandSize(count, n, k int) int { return count * asm.SplitSize(n, k) }

// at returns a piece of the strip or panel that begins at row or column i.
func (o *operand) at(piece, i int) []float32 {
	return o.values[(i/splitTile*o.count+piece)*o.size:]
}

// left splits x [m, k], with rows ld apart.
func (o *operand) left(piece int, x []float32, ld, m, k int) {
	for i := 0; i < m; i += splitTile {
		asm.SplitLeft(o.at(piece, i), x[i*ld:], ld, min(splitTile, m-i), k)
	}
}

// leftBoth splits x [m, k] to a piece and -x to another one.
func (o *operand) leftBoth(piece, negated int, x []float32, ld, m, k int) {
	for i := 0; i < m; i += splitTile {
		asm.SplitLeftBoth(o.at(piece, i), o.at(negated, i), x[i*ld:], ld, min(splitTile, m-i), k)
	}
}

// right splits x [k, n], with rows ld apart.
func (o *operand) right(piece int, x []float32, ld, k, n int) {
	for j := 0; j < n; j += splitTile {
		asm.SplitRight(o.at(piece, j), x[j:], ld, k, min(splitTile, n-j))
	}
}

// rightPanels is right for a matrix in panels of 32 columns, distance apart.
func (o *operand) rightPanels(piece int, x []float32, distance, k, n int) {
	for j := 0; j < n; j += splitTile {
		asm.SplitRight(o.at(piece, j), x[j/splitTile*distance:], splitTile, k, min(splitTile, n-j))
	}
}

// filled returns the number of steps of whole blocks for k.
func filled(k int) int { return blocksOf(k, splitTile) * splitTile }

// after returns x from value n on, or what is left of it.
func after(x []float32, n int) []float32 { return x[min(n, len(x)):] }
