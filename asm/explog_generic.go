package asm

import "math"

// The domain of Exp in which every level computes e^x. Outside it the result
// is 0 below and +Inf above.
const (
	expMin = -0x1.5d589ep+6 // -87.33654, the least float32 with e^x >= 2^-126
	expMax = 0x1.62e42ep+6  // 88.72283, the greatest with e^x rounding to a finite float32
)

func expGeneric(dst, x []float32) {
	for i, v := range x {
		if v < expMin {
			dst[i] = 0
			continue
		}
		dst[i] = float32(math.Exp(float64(v)))
	}
}

func logGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Log(float64(v)))
	}
}
