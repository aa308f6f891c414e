package conv

import "math"

// rowLattice holds the frequencies of the transform along the columns of a plane
// (over its rows) and the matrices of the per-element algorithm, for the largest
// shape of a layer; they do not depend on the element counts.
//
// The cyclic period is just large enough that what wraps around is zero: H + k/2
// for Same padding, H for Valid. Of the Hermitian spectrum the frequencies 0 to
// period/2 are kept; the first, and the last of an even period, are real.
//
// A kernel without extent needs no transform: its plane is one row of all
// positions, of period one.
type rowLattice struct {
	period, count int // frequencies
	radius        int // of the columns s = -radius..radius
	h, w          int // input plane
	outH, outW    int // output plane
	top, left     int // where the output plane begins on the input plane

	// Taps and slots. Column s has heights[s+radius] taps above and below its
	// middle one. Its slots are numbered from first[s+radius] on, that of the
	// middle, then the sums, then the differences.
	heights, first []int
	fold           []float32 // [tap, slot]
	unfold         []float32 // [slot, tap], its transpose
	foldedOnes     []float32 // [slot], a column of ones folded

	// From slots to the spectrum, for each column [count, slots of the column]:
	// real and imaginary part, and their sum; then the same of the conjugate.
	sum, adjointSum []float32
	// From the spectrum's gradient to that of slots, [slots of the column, count].
	back []float32
	at   []int // where the matrices of a column begin in all these

	in  []float32 // [(f,plane), h]: planes re, -(re+im), im-re
	out []float32 // the same of the output plane, [(f,plane), outH]
	dy  []float32 // planes re+im, im, re of the output plane
	// From spectra [(f,part), col] to the planes.
	toOut, toIn []float32 // [outH, 2 count], [h, 2 count]
}

func newRowLattice(s *Shape) *rowLattice {
	l := &rowLattice{h: s.H, w: s.W, outH: s.OutH, outW: s.OutW}
	mid := s.Offsets[len(s.Offsets)/2]
	l.top, l.left = mid.Row, mid.Col
	for _, o := range s.Offsets {
		l.radius = max(l.radius, o.Col-mid.Col)
	}
	if l.radius == 0 {
		l.h, l.w, l.outH, l.outW = 1, s.H*s.W, 1, s.OutH*s.OutW
	}
	l.period = l.h
	if l.top == 0 {
		l.period += l.radius
	}
	l.count = l.period/2 + 1
	l.slots(s, mid)
	l.matrices()
	return l
}

// slots numbers the slots of the taps.
func (l *rowLattice) slots(s *Shape, mid Offset) {
	taps := len(s.Offsets)
	k := 2*l.radius + 1
	l.heights, l.first = make([]int, k), make([]int, k+1)
	for _, o := range s.Offsets {
		c := o.Col - mid.Col + l.radius
		l.heights[c] = max(l.heights[c], o.Row-mid.Row)
	}
	for c, e := range l.heights {
		l.first[c+1] = l.first[c] + 2*e + 1
	}
	l.fold, l.unfold, l.foldedOnes = make([]float32, taps*taps), make([]float32, taps*taps), make([]float32, taps)
	set := func(t, slot int, v float32) {
		l.fold[t*taps+slot], l.unfold[slot*taps+t] = v, v
		l.foldedOnes[slot] += v
	}
	for t, o := range s.Offsets {
		c, r := o.Col-mid.Col+l.radius, o.Row-mid.Row
		switch {
		case r == 0:
			set(t, l.first[c], 1)
		case r > 0:
			set(t, l.first[c]+r, 1)
			set(t, l.first[c]+l.heights[c]+r, 1)
		default:
			set(t, l.first[c]-r, 1)
			set(t, l.first[c]+l.heights[c]-r, -1)
		}
	}
}

// real reports whether the spectra of real planes are real at a frequency.
func (l *rowLattice) real(f int) bool { return f == 0 || 2*f == l.period }

func (l *rowLattice) matrices() {
	turn := func(f, row int) (cos, sin float64) {
		sin, cos = math.Sincos(2 * math.Pi * float64(f*row%l.period) / float64(l.period))
		if l.real(f) {
			sin = 0
		}
		return cos, sin
	}
	planes := func(rows, from int) (source, target []float32) {
		source, target = make([]float32, 3*l.count*rows), make([]float32, 3*l.count*rows)
		for f := range l.count {
			for row := range rows {
				re, im := turn(f, row+from)
				im = -im
				for plane, v := range []float64{re, -(re + im), im - re} {
					source[(3*f+plane)*rows+row] = float32(v)
				}
				for plane, v := range []float64{re + im, im, re} {
					target[(3*f+plane)*rows+row] = float32(v)
				}
			}
		}
		return source, target
	}
	l.in, _ = planes(l.h, 0)
	l.out, l.dy = planes(l.outH, l.top)

	weight := func(f int) float64 {
		if l.real(f) {
			return 1 / float64(l.period)
		}
		return 2 / float64(l.period)
	}
	inverse := func(rows, from int) []float32 {
		m := make([]float32, rows*2*l.count)
		for row := range rows {
			for f := range l.count {
				cos, sin := turn(f, row+from)
				m[row*2*l.count+2*f] = float32(weight(f) * cos)
				m[row*2*l.count+2*f+1] = float32(-weight(f) * sin)
			}
		}
		return m
	}
	l.toOut, l.toIn = inverse(l.outH, l.top), inverse(l.h, 0)

	for c, e := range l.heights {
		n := 2*e + 1
		l.at = append(l.at, l.first[c]*l.count)
		sum, adjoint, back := make([]float32, l.count*n), make([]float32, l.count*n), make([]float32, n*l.count)
		for f := range l.count {
			for r := range e + 1 {
				cos, sin := turn(f, r)
				sum[f*n+r], adjoint[f*n+r] = float32(cos), float32(cos)
				back[r*l.count+f] = float32(weight(f) * cos)
				if r > 0 {
					sum[f*n+e+r], adjoint[f*n+e+r] = float32(sin), float32(-sin)
					back[(e+r)*l.count+f] = float32(weight(f) * sin)
				}
			}
		}
		l.sum, l.adjointSum, l.back = append(l.sum, sum...), append(l.adjointSum, adjoint...), append(l.back, back...)
	}
}
