//go:build !amd64 || noasm

package asm

// FastGaussRows reports whether at the active level GaussRows, or GaussPanel, takes less time than products with what
// GaussFactors makes.
func FastGaussRows(s *GaussShape) bool { return false }

func gaussRows(s *GaussShape, x, b, y []float32, accumulate bool, ahead []float32) []float32 {
	gaussRowsOf(s, x, b, y, accumulate)
	return ahead
}

func gaussPanel(s *GaussShape, x []float32, xsource int, b, y []float32, yrow int, _ []float32, accumulate bool) {
	gaussPanelOf(s, x, xsource, b, y, yrow, accumulate)
}

func gaussPanelGrad(s *GaussShape, x []float32, xsource int, dy []float32, dyrow int, db, _ []float32) {
	gaussPanelGradOf(s, x, xsource, dy, dyrow, db)
}
