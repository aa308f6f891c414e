package conv

import (
	"math"
	"slices"

	"github.com/noether-go/noether/asm"
)

// rowLattice holds the frequencies of the transform along the columns of a plane
// (over its rows) and the matrices of the algorithms that convolve rows (rowPass),
// for the largest shape of a layer; they do not depend on the element counts.
//
// The cyclic period is just large enough that what wraps around is zero: H + k/2
// for Same padding, H for Valid. Of the Hermitian spectrum the frequencies 0 to
// period/2 are kept; the first, and the last of an even period, are real.
//
// A frequency is three planes, of products as well as of their factors (see
// rowPass), or where it is real one.
//
// A kernel without extent needs no transform: its plane is one row of all
// positions, of period one.
type rowLattice struct {
	period, count int   // frequencies
	plane         []int // the first plane of each frequency, and the number of planes
	radius        int   // of the columns s = -radius..radius
	h, w          int   // input plane
	outH, outW    int   // output plane
	top, left     int   // where the output plane begins on the input plane

	// Taps and slots. Column s has heights[s+radius] taps above and below its
	// middle one. Its slots are numbered from first[s+radius] on, that of the
	// middle, then the sums, then the differences. In the columns tall the kernel's
	// spectrum is not real.
	heights, first []int
	tall           span
	fold           []float32 // [tap, slot]
	unfold         []float32 // [slot, tap], its transpose
	foldedOnes     []float32 // [slot], a column of ones folded

	forward, adjoint rowPass
	// From the spectrum's gradient to that of slots, [slots of the column, count].
	back []float32
	// The same as waves of asm.GaussPanelGrad, [count].
	gradShapes []asm.GaussShape

	at []int // where the matrices of a column begin here and in rowPass.kernel

	dy []float32 // [plane, outH]: planes re+im, im and re of the output plane
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
	planes := 0
	for f := range l.count {
		l.plane = append(l.plane, planes)
		if planes++; !l.real(f) {
			planes += 2
		}
	}
	l.plane = append(l.plane, planes)
	l.slots(s, mid)
	l.matrices()
	return l
}

// planes returns the number of planes of a spectrum.
func (l *rowLattice) planes() int { return l.plane[l.count] }

// real reports whether the spectra of real planes are real at a frequency.
func (l *rowLattice) real(f int) bool { return f == 0 || 2*f == l.period }

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
		if e > 0 {
			if l.tall.count == 0 {
				l.tall.first = c
			}
			l.tall.count = c + 1 - l.tall.first
		}
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

func (l *rowLattice) matrices() {
	l.forward = rowPass{rowLattice: l, fromH: l.h, fromW: l.w, toH: l.outH, toW: l.outW, before: l.radius - l.left}
	l.adjoint = rowPass{rowLattice: l, fromH: l.outH, fromW: l.outW, toH: l.h, toW: l.w, before: l.radius + l.left, reversed: true}
	l.forward.analysis = l.transform(l.h, 0, func(re, im float64) [3]float64 { return [...]float64{re, -(re + im), im - re} })
	l.adjoint.analysis = l.transform(l.outH, l.top, func(re, im float64) [3]float64 { return [...]float64{re, -(re + im), im - re} })
	l.dy = l.transform(l.outH, l.top, func(re, im float64) [3]float64 { return [...]float64{re + im, im, re} })
	l.forward.synthesis, l.adjoint.synthesis = l.inverse(l.outH, l.top), l.inverse(l.h, 0)

	for c, e := range l.heights {
		n := 2*e + 1
		l.at = append(l.at, l.first[c]*l.count)
		sum, adjoint, back := make([]float32, l.count*n), make([]float32, l.count*n), make([]float32, n*l.count)
		for f := range l.count {
			for r := range e + 1 {
				cos, sin := l.turn(f, r)
				sum[f*n+r], adjoint[f*n+r] = float32(cos), float32(cos)
				back[r*l.count+f] = float32(l.weight(f) * cos)
				if r > 0 {
					sum[f*n+e+r], adjoint[f*n+e+r] = float32(sin), float32(-sin)
					back[(e+r)*l.count+f] = float32(l.weight(f) * sin)
				}
			}
		}
		l.forward.kernel, l.adjoint.kernel, l.back = append(l.forward.kernel, sum...), append(l.adjoint.kernel, adjoint...), append(l.back, back...)
	}
	l.forward.shape()
	l.adjoint.shape()
	for f, s := range l.forward.shapes {
		s.Columns = slices.Clone(s.Columns)
		for c := range s.Columns {
			waves := make([]float32, 2*l.heights[c]+1)
			for r := range waves {
				waves[r] = l.back[l.at[c]+r*l.count+f]
			}
			s.Columns[c].Waves = waves
		}
		l.gradShapes = append(l.gradShapes, s)
	}
}

// shape sets the shapes of the frequencies.
func (p *rowPass) shape() {
	for f := range p.count {
		s := asm.GaussShape{Real: p.real(f), Rows: p.toW, First: p.before, End: p.before + p.fromW, Columns: make([]asm.GaussColumn, len(p.heights))}
		for c, e := range p.heights {
			n := 2*e + 1
			s.Columns[p.column(c)] = asm.GaussColumn{Slot: p.first[c], Waves: p.kernel[p.at[c]+f*n:][:n]}
		}
		p.shapes = append(p.shapes, s)
	}
}

// turn returns the wave of a frequency at a row.
func (l *rowLattice) turn(f, row int) (cos, sin float64) {
	sin, cos = math.Sincos(2 * math.Pi * float64(f*row%l.period) / float64(l.period))
	if l.real(f) {
		sin = 0
	}
	return cos, sin
}

// weight returns that of a frequency in the inverse transform.
func (l *rowLattice) weight(f int) float64 {
	if l.real(f) {
		return 1 / float64(l.period)
	}
	return 2 / float64(l.period)
}

// transform returns the matrix [plane, rows] to a spectrum: the parts of what real
// and imaginary part are, or the real part alone.
func (l *rowLattice) transform(rows, from int, parts func(re, im float64) [3]float64) []float32 {
	m := make([]float32, l.planes()*rows)
	for f := range l.count {
		for row := range rows {
			cos, sin := l.turn(f, row+from)
			if at := l.plane[f]*rows + row; l.real(f) {
				m[at] = float32(cos)
			} else {
				for i, v := range parts(cos, -sin) {
					m[at+i*rows] = float32(v)
				}
			}
		}
	}
	return m
}

// inverse returns the matrix [rows, plane] from the planes S, T and D of
// spectra S+T + i (S+D), or from real ones.
func (l *rowLattice) inverse(rows, from int) []float32 {
	m := make([]float32, rows*l.planes())
	for row := range rows {
		for f := range l.count {
			cos, sin := l.turn(f, row+from)
			w := l.weight(f)
			at := m[row*l.planes()+l.plane[f]:]
			if at[0] = float32(w * (cos - sin)); !l.real(f) {
				at[1], at[2] = float32(w*cos), float32(-w*sin)
			}
		}
	}
	return m
}
