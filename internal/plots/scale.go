package plots

import (
	"math"
	"strconv"
)

// Axis is one direction of a chart. Where Min equals Max the range follows from
// the data.
type Axis struct {
	Label    string
	Min, Max float64
	Ticks    []float64            // nil: round numbers
	Whole    bool                 // round numbers are whole, as for counts
	Round    bool                 // Max grows to a round number
	Format   func(float64) string // of ticks; nil: as few digits as tell them apart
}

// fitted returns the axis with its range and its ticks, about n of them.
func (a Axis) fitted(values []float64, n int) Axis {
	if a.Min == a.Max {
		a.Min, a.Max = math.Inf(1), math.Inf(-1)
		for _, v := range values {
			if finite(v) {
				a.Min, a.Max = min(a.Min, v), max(a.Max, v)
			}
		}
		switch {
		case a.Min > a.Max: // no data
			a.Min, a.Max = 0, 1
		case a.Min == a.Max && a.Round: // it begins there
			a.Max++
		case a.Min == a.Max:
			a.Min, a.Max = a.Min-1, a.Max+1
		}
	}
	step := 0.0
	if a.Ticks == nil {
		a.Ticks, step = ticks(a.Min, a.Max, n, a.Whole)
		if last := a.Ticks[len(a.Ticks)-1]; a.Round && last < a.Max-1e-9*step {
			a.Max = last + step
			a.Ticks = append(a.Ticks, a.Max)
		}
	}
	if a.Format == nil {
		a.Format = format(step, max(math.Abs(a.Min), math.Abs(a.Max)))
	}
	return a
}

// longStep is where ticks are written with an exponent: in full they would be wider than
// their place.
const longStep = 1e6

// format returns how ticks are written, a step apart and at most so large.
func format(step, largest float64) func(float64) string {
	verb, digits := byte('f'), 0
	switch {
	case step >= longStep:
		verb, digits = 'g', 1+int(math.Ceil(math.Log10(largest/step)))
	case step > 0:
		digits = max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	}
	return func(v float64) string { return trimMinus(strconv.FormatFloat(v, verb, digits, 64)) }
}

// ticks returns the multiples of a round step (1, 2 or 5 times a power of ten)
// within [lo, hi], at most n+1 of them, and that step.
func ticks(lo, hi float64, n int, whole bool) ([]float64, float64) {
	if !(hi > lo) || !finite(lo) || !finite(hi) || n < 1 {
		return []float64{lo}, 0
	}
	raw := (hi - lo) / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, f := range []float64{1, 2, 5} {
		if f*power >= raw*(1-1e-9) {
			step = f * power
			break
		}
	}
	if whole {
		step = max(1, math.Round(step))
	}
	var list []float64
	// Multiples are counted, not added up, so that rounding does not add up either.
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		list = append(list, k*step)
	}
	return list, step
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// trimMinus takes the sign off a zero and makes the others typographic.
func trimMinus(s string) string {
	if len(s) > 0 && s[0] == '-' {
		if v, err := strconv.ParseFloat(s, 64); err == nil && v == 0 {
			return s[1:]
		}
		return "\u2212" + s[1:]
	}
	return s
}
