//go:build !noasm

package asm

import "math"

//go:noescape
func sumAVX2(x *float32, n int) float32

//go:noescape
func sumAVX512(x *float32, n int) float32

//go:noinline
func sum(x []float32) float64 {
	switch level {
	case AVX512:
		return float64(sumAVX512(&x[0], len(x)))
	case AVX2:
		return float64(sumAVX2(&x[0], len(x)))
	}
	return sumGeneric(x)
}

//go:noescape
func dotAVX2(x, y *float32, n int) float32

//go:noescape
func dotAVX512(x, y *float32, n int) float32

//go:noinline
func dot(x, y []float32) float64 {
	switch level {
	case AVX512:
		return float64(dotAVX512(&x[0], &y[0], len(x)))
	case AVX2:
		return float64(dotAVX2(&x[0], &y[0], len(x)))
	}
	return dotGeneric(x, y)
}

//go:noescape
func sumSquaresAVX2(x *float32, n int, mean float32) float32

//go:noescape
func sumSquaresAVX512(x *float32, n int, mean float32) float32

//go:noinline
func sumSquares(x []float32, mean float32) float64 {
	switch level {
	case AVX512:
		return float64(sumSquaresAVX512(&x[0], len(x), mean))
	case AVX2:
		return float64(sumSquaresAVX2(&x[0], len(x), mean))
	}
	return sumSquaresGeneric(x, mean)
}

// colBlock is the number of rows that one call of a column kernel goes through,
// and so the number of values of a column that are added in float32.
const colBlock = 256

// columns returns how many columns the kernels take at a time when left columns
// are left: a strip of 64, or at most one vector.
func columns(left int) int {
	switch {
	case left >= strip:
		return strip
	case level == AVX512:
		return min(left, 16)
	}
	return min(left, 8)
}

// The stubs: part[j] = sum over the rows r of x[r*stride+j] and so on, for
// j < n, n = 64 or at most one vector; rows >= 1.

//go:noescape
func colSumAVX2(part, x *float32, rows, stride, n int)

//go:noescape
func colSumAVX512(part, x *float32, rows, stride, n int)

func colSum(dst, x []float32) {
	if level == Generic {
		colSumGeneric(dst, x)
		return
	}
	cols, rows := len(dst), len(x)/len(dst)
	for c, n := 0, 0; c < cols; c += n {
		n = columns(cols - c)
		var acc [strip]float64
		for r := 0; r < rows; r += colBlock {
			colSumBlock(&acc, &x[r*cols+c], min(colBlock, rows-r), cols, n)
		}
		round(dst[c:c+n], &acc)
	}
}

//go:noinline
func colSumBlock(acc *[strip]float64, x *float32, rows, stride, n int) {
	var part [strip]float32
	if level == AVX512 {
		colSumAVX512(&part[0], x, rows, stride, n)
	} else {
		colSumAVX2(&part[0], x, rows, stride, n)
	}
	for j, v := range part[:n] {
		acc[j] += float64(v)
	}
}

//go:noescape
func colAffineAVX2(dst, x, scale, shift *float32, rows, stride, n int)

//go:noescape
func colAffineAVX512(dst, x, scale, shift *float32, rows, stride, n int)

func colAffine(dst, x, scale, shift []float32) {
	if level == Generic {
		colAffineGeneric(dst, x, scale, shift)
		return
	}
	cols, rows := len(scale), len(x)/len(scale)
	for r := 0; r < rows; r += colBlock {
		for c, n := 0, 0; c < cols; c += n {
			n = columns(cols - c)
			i := r*cols + c
			colAffineBlock(&dst[i], &x[i], &scale[c], &shift[c], min(colBlock, rows-r), cols, n)
		}
	}
}

//go:noinline
func colAffineBlock(dst, x, scale, shift *float32, rows, stride, n int) {
	if level == AVX512 {
		colAffineAVX512(dst, x, scale, shift, rows, stride, n)
	} else {
		colAffineAVX2(dst, x, scale, shift, rows, stride, n)
	}
}

//go:noescape
func colMaxAVX2(max, index, x *float32, rows, stride, n int, row float32)

//go:noescape
func colMaxAVX512(max, index, x *float32, rows, stride, n int, row float32)

func colMax(max, index, x []float32) {
	if level == Generic {
		colMaxGeneric(max, index, x)
		return
	}
	cols, rows := len(max), len(x)/len(max)
	for c := range max {
		max[c], index[c] = float32(math.Inf(-1)), 0
	}
	for c, n := 0, 0; c < cols; c += n {
		n = columns(cols - c)
		for r := 0; r < rows; r += colBlock {
			colMaxBlock(&max[c], &index[c], &x[r*cols+c], min(colBlock, rows-r), cols, n, float32(r))
		}
	}
}

//go:noinline
func colMaxBlock(max, index, x *float32, rows, stride, n int, row float32) {
	if level == AVX512 {
		colMaxAVX512(max, index, x, rows, stride, n, row)
	} else {
		colMaxAVX2(max, index, x, rows, stride, n, row)
	}
}
