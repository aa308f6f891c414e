//go:build !noasm

package asm

import "math/bits"

// gaussPanelRows has a bit for each number of rows that a strip of GaussPanel may have.
const gaussPanelRows = 1<<1 | 1<<2 | 1<<4 | 1<<7 | 1<<8 | 1<<14 | 1<<16 | 1<<28

// gaussPanelGradSteps and gaussPanelGradRows are the most sources and rows of a call of GaussPanelGrad's kernel, which
// takes up to ten microseconds.
const gaussPanelGradSteps, gaussPanelGradRows = 16, 128

// gaussPanelStrip returns the length of the next strip of so many rows.
func gaussPanelStrip(rows int) int { return bits.Len32(gaussPanelRows&(1<<(min(rows, 28)+1)-1)) - 1 }

// gaussPanelTaps is a column of taps as the kernels below read it.
type gaussPanelTaps struct {
	slots, waves *float32
	taps         int // above the middle
}

// sgaussPanelAVX512 computes a strip of m rows, one of gaussPanelRows, by 1 <= width <= 16 targets, from count >= 1
// columns of n >= 1 sources, of the first plane alone where x is real. The talls columns from tall on may have an
// imaginary part.
//
//go:noescape
func sgaussPanelAVX512(columns *gaussPanelTaps, count, m, n int, x *float32, xsource, xplane, slots int, y *float32, yrow, yplane, width int, spare *float32, tall, talls int, accumulate, real bool)

// sgaussPanelGradAVX512 computes the gradient of the slots of such columns, from rows >= 1 rows.
//
//go:noescape
func sgaussPanelGradAVX512(columns *gaussPanelTaps, count, n int, x *float32, xsource, xplane, slots int, dy *float32, dyrow, dyplane, rows, width int, spare *float32, tall, talls int, real bool)

func gaussPanel(s *GaussShape, x []float32, xsource int, b, y []float32, yrow int, spare []float32, accumulate bool) {
	if !FastGaussRows(s) || s.N == 0 || len(s.Columns) == 0 {
		gaussPanelOf(s, x, xsource, b, y, yrow, accumulate)
		return
	}
	slots := s.slots()
	for p := 0; p < s.N; p += gaussPanelSteps {
		var columns [gaussRowsColumns]gaussPanelTaps
		tall, talls := s.panelColumns(&columns, b[p*slots*16:])
		n := min(gaussPanelSteps, s.N-p)
		for q := 0; q < s.Rows; {
			m := gaussPanelStrip(s.Rows - q)
			sgaussPanelAVX512(&columns[0], len(s.Columns), m, n, &x[p*xsource+q], xsource, s.XPlane, slots, &y[q*yrow], yrow, s.YPlane, s.M, &spare[0], tall, talls, accumulate || p > 0, s.Real)
			q += m
		}
	}
}

// panelColumns sets the columns, with slots from b on, and returns where those begin that have more than one tap, and how
// many there are up to the last of these.
func (s *GaussShape) panelColumns(columns *[gaussRowsColumns]gaussPanelTaps, b []float32) (tall, talls int) {
	for i := range s.Columns {
		c := &s.Columns[i]
		columns[i] = gaussPanelTaps{&b[c.Slot*16], &c.Waves[0], len(c.Waves) / 2}
		if len(c.Waves) > 1 {
			if talls == 0 {
				tall = i
			}
			talls = i + 1 - tall
		}
	}
	return tall, talls
}

func gaussPanelGrad(s *GaussShape, x []float32, xsource int, dy []float32, dyrow int, db, spare []float32) {
	if !FastGaussRows(s) || s.N == 0 || len(s.Columns) == 0 {
		gaussPanelGradOf(s, x, xsource, dy, dyrow, db)
		return
	}
	slots := s.slots()
	for p := 0; p < s.N; p += gaussPanelGradSteps {
		var columns [gaussRowsColumns]gaussPanelTaps
		tall, talls := s.panelColumns(&columns, db[p*slots*16:])
		n := min(gaussPanelGradSteps, s.N-p)
		for q := 0; q < s.Rows; q += gaussPanelGradRows {
			rows := min(gaussPanelGradRows, s.Rows-q)
			sgaussPanelGradAVX512(&columns[0], len(s.Columns), n, &x[p*xsource+q], xsource, s.XPlane, slots, &dy[q*dyrow], dyrow, s.YPlane, rows, s.M, &spare[0], tall, talls, s.Real)
		}
	}
}
