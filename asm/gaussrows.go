package asm

// gaussRowsColumns is the most columns of taps that a tile of GaussRows has.
const gaussRowsColumns = 7

// GaussColumn is a column of taps of GaussRows, folded about its middle tap.
type GaussColumn struct {
	Slot  int       // the first of its 2E+1 slots: the middle tap, E sums, E differences
	Waves []float32 // [2E+1]: one, the cosines of the sums, the sines of the differences
}

// GaussShape says what GaussRows multiplies.
type GaussShape struct {
	Columns        []GaussColumn
	Real           bool // there are no sines, and one plane of X and Y
	Rows           int  // of Y
	First, End     int  // the rows of X that are not zero, of Rows + len(Columns) - 1
	N, M           int  // sources and targets: columns of X and of Y
	XPlane, YPlane int  // distances of planes of X and of Y
}

// planes returns the number of planes of X and Y.
func (s *GaussShape) planes() int {
	if s.Real {
		return 1
	}
	return 3
}

// slots returns the number of slots that the columns reach to.
func (s *GaussShape) slots() int {
	count := 0
	for i := range s.Columns {
		count = max(count, plus(s.Columns[i].Slot, len(s.Columns[i].Waves)))
	}
	return count
}

// GaussRows convolves complex rows with columns of taps, in Gauss' three products, where the
// factors that the taps make are used as they are made, in registers. With b [slots, N, M],
//
//	re[s] = sum over r <= e of Waves[r] b[Slot+r], im[s] = sum over e < r <= 2e of Waves[r] b[Slot+r]
//	y[0][q] = sum over s of x[0][q+s] (re[s] + im[s])
//	y[1][q] = sum over s of x[1][q+s] im[s]
//	y[2][q] = sum over s of x[2][q+s] re[s]
//
// for the rows q of planes y [Rows, M] and x [Rows+len(Columns)-1, N], or, to accumulate, these sums added to y.
// Rows of x outside First..End-1 are neither read nor multiplied with. y may overlap neither x nor b.
//
// Meanwhile the processor is asked to bring ahead, such as the next slots, to its caches, a line of 64 bytes for each
// step of a tile. That is a hint: ahead may be shorter, or nil. What is left of it is returned.
func GaussRows(s *GaussShape, x, b, y []float32, accumulate bool, ahead []float32) []float32 {
	s.check(x, b, y)
	if s.Rows == 0 || s.M == 0 {
		return ahead
	}
	return gaussRows(s, x, b, y, accumulate, ahead)
}

// checkShape panics unless sizes fit.
func (s *GaussShape) checkShape(op string) {
	if s.Rows < 0 || s.N < 0 || s.M < 0 || s.XPlane < 0 {
		panic(&Error{op, "negative size"})
	}
	width := plus(s.Rows, len(s.Columns)) - 1
	if s.First < 0 || s.First > s.End || s.End > max(0, width) {
		panic(&Error{op, "rows of x that are not zero outside its planes"})
	}
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Slot < 0 || len(c.Waves)%2 == 0 {
			panic(&Error{op, "a column has one wave for its middle tap, and two for each of the others"})
		}
	}
}

// check panics unless sizes and lengths fit.
func (s *GaussShape) check(x, b, y []float32) {
	const op = "GaussRows"
	s.checkShape(op)
	if s.Rows == 0 || s.M == 0 {
		return
	}
	if s.First < s.End {
		checkRows(op, "x", x, s.planes(), times(s.End, s.N), s.XPlane)
	}
	checkRows(op, "slots", b, s.slots(), times(s.N, s.M), times(s.N, s.M))
	checkDst(op, "y", y, s.planes(), times(s.Rows, s.M), s.YPlane)
	if raceEnabled {
		raceReadRows(from(x, s.First*s.N), s.planes(), (s.End-s.First)*s.N, s.XPlane)
		raceReadRows(b, s.slots(), s.N*s.M, s.N*s.M)
		for i := range s.Columns {
			raceRead(s.Columns[i].Waves)
		}
		raceWriteRows(y, s.planes(), s.Rows*s.M, s.YPlane)
	}
}

// gaussRowsOf is GaussRows, target by target.
func gaussRowsOf(s *GaussShape, x, b, y []float32, accumulate bool) {
	for q := range s.Rows {
		for j := range s.M {
			var sums [3]float32
			for shift := max(0, s.First-q); shift < min(len(s.Columns), s.End-q); shift++ {
				for c := range s.N {
					factors := s.factors(&s.Columns[shift], b[c*s.M+j:], s.N*s.M)
					for plane := range s.planes() {
						sums[plane] = float32(x[plane*s.XPlane+(q+shift)*s.N+c]*factors[plane]) + sums[plane]
					}
				}
			}
			for plane, sum := range sums[:s.planes()] {
				if to := &y[plane*s.YPlane+q*s.M+j]; accumulate {
					*to += sum
				} else {
					*to = sum
				}
			}
		}
	}
}

// factors returns what x is multiplied with, from the slots of a target, so far apart in b.
func (s *GaussShape) factors(c *GaussColumn, b []float32, apart int) (factors [3]float32) {
	var parts [2]float32
	for r, wave := range c.Waves {
		part := 0
		if r > len(c.Waves)/2 {
			part = 1
		}
		parts[part] = float32(wave*b[(c.Slot+r)*apart]) + parts[part]
	}
	if s.Real {
		return [3]float32{parts[0]}
	}
	return [3]float32{parts[0] + parts[1], parts[1], parts[0]}
}
