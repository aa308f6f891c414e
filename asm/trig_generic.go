package asm

import "math"

// Package math works in float64, so the portable functions are correctly
// rounded but for about one argument in 2^28.

func sinGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Sin(float64(v)))
	}
}

func cosGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Cos(float64(v)))
	}
}

func sinCosGeneric(s, c, x []float32) {
	for i, v := range x {
		a, b := math.Sincos(float64(v))
		s[i], c[i] = float32(a), float32(b)
	}
}
