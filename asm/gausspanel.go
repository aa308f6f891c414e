package asm

const (
	// gaussPanelSteps is the most sources of a strip of GaussPanel.
	gaussPanelSteps = 32
	// GaussSpare is the number of values of the spare memory of GaussPanel and GaussPanelGrad.
	GaussSpare = gaussRowsColumns * gaussPanelSteps * 32
)

// GaussPanel is GaussRows for a panel of s.M <= 16 targets, with all of x the other way around: with b [N, slots, 16],
// where no value beyond the targets is used, and re and im as they are there,
//
//	y[0][q] = sum over s, c of x[0][c][q+s] (re[s][c] + im[s][c])
//	y[1][q] = sum over s, c of x[1][c][q+s] im[s][c]
//	y[2][q] = sum over s, c of x[2][c][q+s] re[s][c]
//
// for planes y [Rows, M], whose rows are yrow apart, and x [N, Rows+len(Columns)-1], whose sources are xsource apart, and
// may overlap. x has zeros where a plane has no rows: First and End do not count. One of the three products is taken
// after the other, for longer strips of rows, and spare has what the taps make for the next one: GaussSpare values, which
// overlap nothing else.
func GaussPanel(s *GaussShape, x []float32, xsource int, b, y []float32, yrow int, spare []float32, accumulate bool) {
	const op = "GaussPanel"
	if s.checkPanel(op, spare); s.Rows == 0 || s.M == 0 {
		return
	}
	s.checkX(op, x, xsource)
	checkRows(op, "slots", b, s.N, times(s.slots(), 16), times(s.slots(), 16))
	checkDst(op, "y", y, s.Rows, s.M, yrow)
	checkDst(op, "y", y, s.planes(), plus(times(s.Rows-1, yrow), s.M), s.YPlane)
	if raceEnabled {
		s.raceX(x, xsource)
		raceRead(b[:s.N*s.slots()*16])
		for plane := range s.planes() {
			raceWriteRows(y[plane*s.YPlane:], s.Rows, s.M, yrow)
		}
		raceWrite(spare[:GaussSpare])
	}
	gaussPanel(s, x, xsource, b, y, yrow, spare, accumulate)
}

// GaussPanelGrad adds to db [N, slots, 16] the gradient of slots of such a panel, by waves that need not be those of
// GaussPanel,
//
//	db[c][Slot+r] += Waves[r] sum over q of dy[0][q] x[0][c][q+s] + dy[1][q] x[2][c][q+s]  // r <= e
//	db[c][Slot+r] += Waves[r] sum over q of dy[0][q] x[0][c][q+s] + dy[2][q] x[1][c][q+s]  // r > e
//
// for planes dy [Rows, M], YPlane apart, whose rows are dyrow apart. Where x is real there is the first product alone,
// and nothing is added for r > e. Beyond the targets zeros are added.
func GaussPanelGrad(s *GaussShape, x []float32, xsource int, dy []float32, dyrow int, db, spare []float32) {
	const op = "GaussPanelGrad"
	if s.checkPanel(op, spare); s.Rows == 0 || s.M == 0 {
		return
	}
	s.checkX(op, x, xsource)
	checkRows(op, "dy", dy, s.Rows, s.M, dyrow)
	checkRows(op, "dy", dy, s.planes(), plus(times(s.Rows-1, dyrow), s.M), s.YPlane)
	checkRows(op, "slots", db, s.N, times(s.slots(), 16), times(s.slots(), 16))
	if raceEnabled {
		s.raceX(x, xsource)
		for plane := range s.planes() {
			raceReadRows(dy[plane*s.YPlane:], s.Rows, s.M, dyrow)
		}
		raceWrite(db[:s.N*s.slots()*16])
		raceWrite(spare[:GaussSpare])
	}
	gaussPanelGrad(s, x, xsource, dy, dyrow, db, spare)
}

// checkPanel panics unless the shape and the spare memory fit.
func (s *GaussShape) checkPanel(op string, spare []float32) {
	s.checkShape(op)
	if s.M > 16 {
		panic(&Error{op, "more than 16 targets"})
	}
	if len(spare) < GaussSpare {
		panic(&Error{op, "spare is shorter than GaussSpare"})
	}
}

// checkX panics unless planes of x have all rows of a panel.
func (s *GaussShape) checkX(op string, x []float32, xsource int) {
	width := plus(s.Rows, len(s.Columns)) - 1
	checkRows(op, "x", x, s.N, width, xsource)
	if s.N > 0 {
		checkRows(op, "x", x, s.planes(), plus(times(s.N-1, xsource), width), s.XPlane)
	}
}

// raceX tells the race detector that these are about to be read.
func (s *GaussShape) raceX(x []float32, xsource int) {
	for plane := range s.planes() {
		raceReadRows(from(x, plane*s.XPlane), s.N, s.Rows+len(s.Columns)-1, xsource)
	}
}

// gaussPanelOf is GaussPanel, target by target.
func gaussPanelOf(s *GaussShape, x []float32, xsource int, b, y []float32, yrow int, accumulate bool) {
	slots := s.slots()
	for q := range s.Rows {
		for j := range s.M {
			var sums [3]float32
			for shift := range s.Columns {
				for c := range s.N {
					factors := s.factors(&s.Columns[shift], b[c*slots*16+j:], 16)
					for plane := range s.planes() {
						sums[plane] = float32(x[plane*s.XPlane+c*xsource+q+shift]*factors[plane]) + sums[plane]
					}
				}
			}
			for plane, sum := range sums[:s.planes()] {
				if to := &y[plane*s.YPlane+q*yrow+j]; accumulate {
					*to += sum
				} else {
					*to = sum
				}
			}
		}
	}
}

// gaussPanelGradOf is GaussPanelGrad, value by value.
func gaussPanelGradOf(s *GaussShape, x []float32, xsource int, dy []float32, dyrow int, db []float32) {
	slots := s.slots()
	for shift := range s.Columns {
		waves := s.Columns[shift].Waves
		for c := range s.N {
			for j := range s.M {
				product := func(plane, with int) (sum float32) {
					for q := range s.Rows {
						sum = float32(dy[plane*s.YPlane+q*dyrow+j]*x[with*s.XPlane+c*xsource+q+shift]) + sum
					}
					return sum
				}
				re := product(0, 0)
				im := re
				if !s.Real {
					re += product(1, 2)
					im += product(2, 1)
				}
				for r, wave := range waves {
					to := &db[(c*slots+s.Columns[shift].Slot+r)*16+j]
					switch {
					case r <= len(waves)/2:
						*to += float32(wave * re)
					case !s.Real:
						*to += float32(wave * im)
					}
				}
			}
		}
	}
}
