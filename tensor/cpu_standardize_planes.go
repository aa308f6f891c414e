package tensor

import "github.com/noether-go/noether/asm"

// Standardization is Standardize and StandardizeGrad for a map [C, N, S/N, B] of more than one
// sample whose result, or gradient, is not in memory: whoever reads it has it computed, plane by plane. A plane is
// what an element has of a channel, number c*N+e of the map.
//
// Forward, Measure takes the moments of a plane of X, best while it is in a cache, Statistics is what there is to do for all
// of them, and Value computes a plane of Y. Backward, Gradient computes one of DX behind Slopes. Any goroutine may call
// Measure, Value and Gradient, for different planes at the same time. Bits are those of Standardize and StandardizeGrad
// with N.
type Standardization struct {
	cpu *CPU
	t   standardizeTask
	n   int // elements

	first, second []float64 // [segments of all planes, b]
	pivots        []float32 // [planes, b]
	slopeQ        []float32 // [planes, b]
	slopeR        []float32
	zeros         []float32 // [b]
}

// NewStandardization returns a standardisation of at most so many planes of s rows of b values.
func (d *CPU) NewStandardization(planes, s, b int) *Standardization {
	sums, values := planes*segmentsOf(1, s)*b, planes*b
	return &Standardization{
		cpu: d, first: make([]float64, sums), second: make([]float64, sums),
		pivots: make([]float32, values), slopeQ: make([]float32, values), slopeR: make([]float32, values), zeros: make([]float32, b),
	}
}

// Begin says that all planes of a.X are going to be measured before Statistics, which is to have the same C, N, S, B
// and X.
func (s *Standardization) Begin(a *StandardizeArgs) {
	const op = "Standardization.Begin"
	s.set(standardizeTask{c: a.C, s: a.S, b: a.B, parts: a.N, x: host(op, "X", a.X, product(op, a.C, a.S, a.B)), measure: unmeasured})
	s.t.measured = true
}

// Forget drops what has been measured.
func (s *Standardization) Forget() { s.t.measured = false }

// set sets the task, with memory of its own for sums.
func (s *Standardization) set(t standardizeTask) {
	t.cut()
	sums := t.c * t.segs * t.b
	t.first, t.second, t.slopeQ, t.slopeR = s.first[:sums], s.second[:sums], s.slopeQ, s.slopeR
	s.t, s.n = t, t.parts
}

// Measure takes the moments of a plane of X.
func (s *Standardization) Measure(plane int) {
	v := columnScratch{pivot: s.pivots[plane*s.t.b:][:s.t.b]}
	per := s.t.segs / s.n
	for i := range per {
		s.t.sum(plane*per+i, &v)
	}
}

// Statistics is Standardize but for Y. It looks at X unless all of it has been measured since Begin.
func (s *Standardization) Statistics(a *StandardizeArgs) {
	t := a.task("Standardization.Statistics")
	t.measured, t.alone = s.t.measured, true
	s.set(t)
	s.t.run(s.cpu)
	s.t.measured = false
}

// Slopes is StandardizeGrad but for DX.
func (s *Standardization) Slopes(a *StandardizeArgs) {
	t := a.gradTask("Standardization.Slopes")
	t.alone = true
	s.set(t)
	s.t.run(s.cpu)
}

// plane returns a plane of a map, and its channel.
func (s *Standardization) plane(of []float32, plane int) (values []float32, c int) {
	size := s.t.s / s.n * s.t.b
	return of[plane*size:][:size], plane / s.n
}

// Value computes a plane of Y, behind Statistics.
func (s *Standardization) Value(dst []float32, plane int) {
	v := columnScratch{zeros: s.zeros}
	x, c := s.plane(s.t.x, plane)
	asm.ColNorm(dst, x, s.t.normal(c, &v))
}

// Gradient computes a plane of DX, behind Slopes.
func (s *Standardization) Gradient(dst []float32, plane int) {
	v := columnScratch{zeros: s.zeros}
	x, c := s.plane(s.t.x, plane)
	dy, _ := s.plane(s.t.dy, plane)
	m := s.t.normal(c, &v)
	at := plane
	if s.t.measure.elements == 1 {
		at = c
	}
	asm.ColNormGrad(dst, dy, x, m, m.Scale, s.slopeQ[at*s.t.b:][:s.t.b], s.slopeR[at*s.t.b:][:s.t.b])
}
