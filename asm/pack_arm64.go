//go:build !noasm

package asm

func packPanel(dst, src []float32, ldsrc, k, n int) {
	packPanelGeneric(dst, genericNR, src, ldsrc, k, n)
}

func packRows(dst, src []float32, offsets []int, n int) {
	packRowsGeneric(dst, genericNR, src, offsets, n)
}

func packCols(dst, src []float32, ldsrc, k, n int) {
	packColsGeneric(dst, genericNR, src, ldsrc, k, n)
}

func packA(dst, src []float32, ldsrc, k, m int) {
	packColsGeneric(dst, genericMR, src, ldsrc, k, m)
}

func packAT(dst, src []float32, ldsrc, k, m int) {
	packPanelGeneric(dst, genericMR, src, ldsrc, k, m)
}

func transpose(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	transposeGeneric(dst, lddst, src, ldsrc, rows, cols)
}
