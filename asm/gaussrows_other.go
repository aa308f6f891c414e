//go:build !amd64 || noasm

package asm

// FastGaussRows reports whether at the active level GaussRows takes less time than products with what
// GaussFactors makes.
func FastGaussRows(s *GaussShape) bool { return false }

func gaussRows(s *GaussShape, x, b, y []float32, accumulate bool, ahead []float32) []float32 {
	gaussRowsOf(s, x, b, y, accumulate)
	return ahead
}
