package asm

import "math"

// The two matrices side by side of a sliced operand may be the halves of one matrix: steps from 0 on,
// and as many up to the last. If the number k of steps is odd, (k+1)/2 are a half and the middle one
// is in both, but counts in the first alone.

// SliceHalves slices the row-major matrix x [k, n], with rows ld apart, for the right side, its steps
// cut in halves of (k+1)/2: into the first SliceSize(n, (k+1)/2) values of dst.
func SliceHalves(dst, x []float32, ld, k, n int) {
	half := halfSteps("SliceHalves", k)
	SliceRight(dst, x, from(x, (k-half)*ld), ld, half, n)
	dropMiddle(dst, k, n)
}

// SliceTransposedHalves is SliceHalves of the transpose of the row-major matrix x [n, k].
func SliceTransposedHalves(dst, x []float32, ld, k, n int) {
	half := halfSteps("SliceTransposedHalves", k)
	SliceTransposed(dst, x, from(x, k-half), ld, half, n)
	dropMiddle(dst, k, n)
}

// SliceLeftHalves slices the row-major matrix x [m, k], with rows ld apart, for the left side, its
// steps cut in halves. The middle one of an odd number stays in both: of a product, the right side
// counts it once.
func SliceLeftHalves(dst, x []float32, ld, m, k int) {
	half := halfSteps("SliceLeftHalves", k)
	SliceLeft(dst, x, from(x, k-half), ld, m, half)
}

// halfSteps returns how many of k steps are a half.
func halfSteps(op string, k int) int {
	if k < 0 {
		panic(&Error{op, "negative number of steps"})
	}
	return over(k, 2)
}

// dropMiddle takes the middle one of an odd number of steps out of the second half: there it is the first.
func dropMiddle(dst []float32, k, n int) {
	if k%2 == 0 {
		return
	}
	const first = 0x0000ff00 // of the second matrix, in the first quad
	for j := range n {
		panel := dst[j/sliceTile*sliceStrip(over(k, 2))+sliceTile+j%sliceTile:]
		for slice := range 3 {
			word := &panel[slice*slicePart]
			*word = math.Float32frombits(math.Float32bits(*word) &^ first)
		}
	}
}
