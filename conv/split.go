package conv

import "github.com/noether-go/noether/asm"

// Where the level has a matrix unit, products of split or sliced matrices take the place of
// those of float32. Either takes a good part of the time then, so that Gauss' sums
// of operands would cost about as much as the fourth product that they save, and
// complex products are made of four real ones.

// splitTile is the number of rows, columns and steps of the blocks that split operands
// are filled up to.
const splitTile = asm.SplitTile

// splitPiece returns the size of a split strip or panel of k steps.
func splitPiece(k int) int { return asm.SplitSize(splitTile, k) }

// slicedOperands cuts the operands of a product of k steps from a worker's memory: two of m
// rows, and that of n columns.
func slicedOperands(local *pieces, m, n, k int) (left [2][]float32, right []float32) {
	return slicedRows(local, m, k), local.cut(asm.SliceSize(n, k))
}

// slicedRows cuts the left ones.
func slicedRows(local *pieces, m, k int) [2][]float32 {
	return [2][]float32{local.cut(asm.SliceSize(m, k)), local.cut(asm.SliceSize(m, k))}
}

// slicedLocal returns the size of slicedOperands.
func slicedLocal(m, n, k int) int {
	return 2*asm.SliceSize(m, k) + asm.SliceSize(n, k)
}

// fetchedBySlices returns how many values the product of m rows, n columns and k steps
// fetches ahead.
func fetchedBySlices(m, n, k int) int { return m * n * k / 32 }

// slicesProducts reports whether the products of the kernel's spectrum take sliced matrices: where its rows and
// columns fill seven eighths of the blocks of the matrix unit, and those of its gradient are sliced.
func slicesProducts(s *Shape) bool {
	enough := func(n int) bool { return 8*n >= 7*filled(n) }
	kinds := kinds(elementsOf(s, s.NIn))
	return slicesGradient(s) && enough(s.Sources()/kinds) && enough(s.Targets()/kinds)
}

// slicesGradient reports whether the products for the gradient of the kernel's spectrum take sliced matrices: where
// rows, columns and steps, the batch, fill a block of the matrix unit, and three quarters of the blocks that they are
// filled up to.
func slicesGradient(s *Shape) bool {
	enough := func(n int) bool { return n >= splitTile && 4*n >= 3*filled(n) }
	kinds := kinds(elementsOf(s, s.NIn))
	return asm.FastSplit() && s.B <= asm.MaxSliceSteps && enough(s.B) && enough(s.Sources()/kinds) && enough(s.Targets()/kinds)
}

// filled returns the number of steps of whole blocks for k.
func filled(k int) int { return blocksOf(k, splitTile) * splitTile }

// after returns x from value n on, or what is left of it.
func after(x []float32, n int) []float32 { return x[min(n, len(x)):] }

// parts returns x and what is a distance behind it: real and imaginary parts, or kinds.
func parts(x []float32, distance int) [2][]float32 { return [2][]float32{x, after(x, distance)} }
