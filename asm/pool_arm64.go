//go:build !noasm

package asm

func max4(dst, a, b, c, d []float32) { max4Generic(dst, a, b, c, d) }

func max4Grad(da, db, dc, dd, dy, y, a, b, c, d []float32) {
	max4GradGeneric(da, db, dc, dd, dy, y, a, b, c, d)
}
