package asm

import "math"

func sumGeneric(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// A product of two float32 is exact in float64, so fusing cannot change it.
func dotGeneric(x, y []float32) float64 {
	var s float64
	for i, v := range x {
		s += float64(v) * float64(y[i])
	}
	return s
}

func sumSquaresGeneric(x []float32, mean float32) float64 {
	var s float64
	for _, v := range x {
		d := float64(v) - float64(mean)
		s += float64(d * d)
	}
	return s
}

// strip is the most columns that the column reductions take at a time, so that
// their accumulators lie on the stack.
const strip = 64

func colSumGeneric(dst, x []float32) {
	cols := len(dst)
	for c := 0; c < cols; c += strip {
		n := min(strip, cols-c)
		var acc [strip]float64
		for r := c; r < len(x); r += cols {
			for j, v := range x[r : r+n] {
				acc[j] += float64(v)
			}
		}
		round(dst[c:c+n], &acc)
	}
}

func round(dst []float32, acc *[strip]float64) {
	for j := range dst {
		dst[j] = float32(acc[j])
	}
}

func colAffineGeneric(dst, x, scale, shift []float32) {
	cols := len(scale)
	for r := 0; r < len(x); r += cols {
		for j := range cols {
			dst[r+j] = float32(scale[j]*x[r+j]) + shift[j]
		}
	}
}

func colMaxGeneric(max, index, x []float32) {
	cols := len(max)
	for j := range max {
		max[j], index[j] = float32(math.Inf(-1)), 0
	}
	for r := 0; r*cols < len(x); r++ {
		for j, v := range x[r*cols : (r+1)*cols] {
			if v > max[j] || v != v && max[j] == max[j] {
				max[j], index[j] = v, float32(r)
			}
		}
	}
}
