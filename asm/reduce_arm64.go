//go:build !noasm

package asm

import "math"

// Reductions: the kernels leave four partial sums, which are added in float64.
// The last one to three values go through the kernel in a padded copy, and the
// lanes of the padding are left out.

//go:noinline
func sum(x []float32) float64 {
	if level != NEON {
		return sumGeneric(x)
	}
	var acc vec
	var total float64
	n := len(x) &^ 3
	if n > 0 {
		sumNEON(n, &x[0], &acc)
		total = lanes(acc[:])
	}
	if n < len(x) {
		p := pad(x[n:])
		sumNEON(4, &p[0], &acc)
		total += lanes(acc[:len(x)-n])
	}
	return total
}

//go:noinline
func dot(x, y []float32) float64 {
	if level != NEON {
		return dotGeneric(x, y)
	}
	var acc vec
	var total float64
	n := len(x) &^ 3
	if n > 0 {
		dotNEON(n, &x[0], &y[0], &acc)
		total = lanes(acc[:])
	}
	if n < len(x) {
		p, q := pad(x[n:]), pad(y[n:])
		dotNEON(4, &p[0], &q[0], &acc)
		total += lanes(acc[:len(x)-n])
	}
	return total
}

//go:noinline
func sumSquares(x []float32, mean float32) float64 {
	if level != NEON {
		return sumSquaresGeneric(x, mean)
	}
	var acc vec
	var total float64
	n := len(x) &^ 3
	if n > 0 {
		sumSquaresNEON(n, &x[0], mean, &acc)
		total = lanes(acc[:])
	}
	if n < len(x) {
		p := pad(x[n:])
		sumSquaresNEON(4, &p[0], mean, &acc)
		total += lanes(acc[:len(x)-n])
	}
	return total
}

// lanes adds up what a kernel left in the lanes of its sum.
func lanes(acc []float32) float64 {
	var s float64
	for _, v := range acc {
		s += float64(v)
	}
	return s
}

// Column operations. Matrices are cut into strips of columns, and these into
// blocks of rows that one call of a kernel works on. The last one to three
// columns of a strip are taken in one of two ways. A reduction repeats some
// columns before them, which gives those the same result once more. Where there
// are none, and where values are overwritten in place, the columns are copied to
// a narrow matrix that is padded with zeros.

// colBlock is the number of rows that a column is summed over in float32.
const colBlock = 128

// narrow is a padded copy of up to three columns.
type narrow [colBlock * 4]float32

// gather copies n columns of the given rows of x, ld apart.
func (w *narrow) gather(x []float32, rows, n, ld int) {
	for r := range rows {
		copy(w[4*r:4*r+n], x[r*ld:])
	}
}

// scatter copies n columns back.
func (w *narrow) scatter(x []float32, rows, n, ld int) {
	for r := range rows {
		copy(x[r*ld:], w[4*r:4*r+n])
	}
}

// stripWidth returns the width of the next strip when left columns are left: a
// whole strip, but never such that fewer than four remain for the last.
func stripWidth(left int) int {
	if n := left - strip; n > 0 && n < 4 {
		return strip - 4
	}
	return min(left, strip)
}

//go:noinline
func colSum(dst, x []float32) {
	if level != NEON {
		colSumGeneric(dst, x)
		return
	}
	cols := len(dst)
	rows := len(x) / cols
	for c := 0; c < cols; {
		n := stripWidth(cols - c)
		var total [strip]float64
		var block [strip]float32
		for r := 0; r < rows; r += colBlock {
			h := min(colBlock, rows-r)
			colSumBlock(x[r*cols+c:], h, n, cols, &block)
			for j, v := range block[:n] {
				total[j] += float64(v)
			}
		}
		round(dst[c:c+n], &total)
		c += n
	}
}

// colSumBlock sums n columns of the given rows of x, ld apart, in float32.
func colSumBlock(x []float32, rows, n, ld int, sums *[strip]float32) {
	if n < 4 {
		var w narrow
		w.gather(x, rows, n, ld)
		colSumNEON(rows, 4, 4, &w[0], &sums[0])
		return
	}
	colSumNEON(rows, n&^3, ld, &x[0], &sums[0])
	if n&3 != 0 {
		colSumNEON(rows, 4, ld, &x[n-4], &sums[n-4])
	}
}

//go:noinline
func colAffine(dst, x, scale, shift []float32) {
	if level != NEON {
		colAffineGeneric(dst, x, scale, shift)
		return
	}
	cols := len(scale)
	rows := len(x) / cols
	for c := 0; c+4 <= cols; c += strip {
		n := min(strip, cols-c) &^ 3
		for r := 0; r < rows; r += colBlock {
			i := r*cols + c
			colAffineNEON(min(colBlock, rows-r), n, cols, &dst[i], &x[i], &scale[c], &shift[c])
		}
	}
	if n := cols & 3; n > 0 {
		c := cols - n
		var d, xs narrow
		a, b := pad(scale[c:]), pad(shift[c:])
		for r := 0; r < rows; r += colBlock {
			h, i := min(colBlock, rows-r), r*cols+c
			xs.gather(x[i:], h, n, cols)
			colAffineNEON(h, 4, 4, &d[0], &xs[0], &a[0], &b[0])
			d.scatter(dst[i:], h, n, cols)
		}
	}
}

//go:noinline
func colMax(max, index, x []float32) {
	if level != NEON {
		colMaxGeneric(max, index, x)
		return
	}
	for j := range max {
		max[j], index[j] = float32(math.Inf(-1)), 0
	}
	cols := len(max)
	rows := len(x) / cols
	for c := 0; c < cols; {
		n := stripWidth(cols - c)
		if n < 4 {
			var xs narrow
			m, at := pad(max[c:]), pad(index[c:])
			for r := 0; r < rows; r += colBlock {
				h, first := min(colBlock, rows-r), float32(r)
				xs.gather(x[r*cols+c:], h, n, cols)
				colMaxNEON(h, 4, 4, &xs[0], &m[0], &at[0], &first)
			}
			copy(max[c:], m[:])
			copy(index[c:], at[:])
		} else {
			for r := 0; r < rows; r += colBlock {
				h, i, first := min(colBlock, rows-r), r*cols+c, float32(r)
				colMaxNEON(h, n&^3, cols, &x[i], &max[c], &index[c], &first)
				if n&3 != 0 {
					last := n - 4
					colMaxNEON(h, 4, cols, &x[i+last], &max[c+last], &index[c+last], &first)
				}
			}
		}
		c += n
	}
}

//go:noescape
func sumNEON(n int, x *float32, acc *vec)

//go:noescape
func dotNEON(n int, x, y *float32, acc *vec)

//go:noescape
func sumSquaresNEON(n int, x *float32, mean float32, acc *vec)

//go:noescape
func colSumNEON(rows, cols, ld int, x, acc *float32)

//go:noescape
func colAffineNEON(rows, cols, ld int, dst, x, scale, shift *float32)

//go:noescape
func colMaxNEON(rows, cols, ld int, x, max, index, first *float32)
