package asm

import (
	"math"
	"math/bits"
)

// Sizes are computed by times and plus, which return the largest int where the result is
// more. No slice has as many values, so a check that compares lengths with such sizes
// refuses what overflows, where the sum or product itself might wrap around to a size that
// fits, and assembly would leave the slice.

// times returns x*y for x, y >= 0.
func times(x, y int) int {
	high, low := bits.Mul(uint(x), uint(y))
	if high != 0 || low > math.MaxInt {
		return math.MaxInt
	}
	return int(low)
}

// plus returns x+y for x, y >= 0.
func plus(x, y int) int {
	if sum := x + y; sum >= 0 {
		return sum
	}
	return math.MaxInt
}

// over returns x/y, rounded up, for x >= 0 and y > 0.
func over(x, y int) int {
	n := x / y
	if n*y < x {
		n++
	}
	return n
}
