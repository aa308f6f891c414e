package nn

import (
	"fmt"
	"math"
	"slices"
)

// Schedule gives the learning rate of each optimiser step as a function of the
// step alone, so that a resumed run goes on where it was. (PlateauLR looks at the scores
// of a run instead.)
type Schedule interface {
	// LR returns the rate of step 0, 1, 2, ... for a base rate.
	LR(base float64, step int) float64
}

// ConstantLR keeps the base rate.
type ConstantLR struct{}

// LR returns base.
func (ConstantLR) LR(base float64, step int) float64 { return base }

// cosineFloor is the rate at which CosineLR ends.
const cosineFloor = 1e-6

// CosineLR is half a cosine from the base rate down to the floor 1e-6
// (Loshchilov & Hutter 2017, without restarts) after a linear warm-up, all per step:
//
//	step s <  Warmup: base * (s+1)/Warmup
//	step s >= Warmup: floor + (base-floor) * (1 + cos(pi*(s-Warmup)/(Steps-Warmup)))/2
//
// From step Steps on the rate is the floor, which is never above base.
//
// With Compat the rates are those of the published reference program: the first
// step has rate 0, step s has base*s/Warmup up to s = Warmup+1, which
// is above base, and PyTorch's recursive cosine of Steps-Warmup steps then starts
// from that value. Its recursion
//
//	lr[t] = floor + (lr[t-1]-floor) * (1 + cos(pi*t/T)) / (1 + cos(pi*(t-1)/T))
//
// telescopes, so here too a rate depends on its step alone.
type CosineLR struct {
	Steps  int // of the whole run, warm-up included
	Warmup int // 0: none
	Compat bool
}

// NewCosineLR returns the schedule of a run, or an error unless
// 0 <= warmup < steps.
func NewCosineLR(steps, warmup int, compat bool) (*CosineLR, error) {
	if steps < 1 {
		return nil, &ConfigError{"cosine schedule", "steps", steps, "at least 1"}
	}
	if warmup < 0 || warmup >= steps {
		return nil, &ConfigError{"cosine schedule", "warm-up steps", warmup, fmt.Sprintf("0 to %d, less than the steps", steps-1)}
	}
	return &CosineLR{steps, warmup, compat}, nil
}

// LR returns the rate of a step for a base rate.
func (c *CosineLR) LR(base float64, step int) float64 {
	if c.Compat {
		return c.compat(base, step)
	}
	if step < c.Warmup {
		return base * float64(step+1) / float64(c.Warmup)
	}
	floor := min(base, cosineFloor)
	return half(base, floor, min(step, c.Steps)-c.Warmup, c.Steps-c.Warmup)
}

func (c *CosineLR) compat(base float64, step int) float64 {
	start, t := base, step // of the cosine
	if c.Warmup > 0 {
		if step <= c.Warmup+1 {
			return base * float64(step) / float64(c.Warmup)
		}
		start, t = base*float64(c.Warmup+1)/float64(c.Warmup), step-c.Warmup-1
	}
	period := c.Steps - c.Warmup
	if t > period {
		start = base // PyTorch begins to rise again from its own base rate
	}
	return half(start, cosineFloor, t, period)
}

// half returns the cosine from base at t = 0 to floor at t = period.
func half(base, floor float64, t, period int) float64 {
	return floor + (base-floor)*(1+math.Cos(math.Pi*float64(t)/float64(period)))/2
}

// MultiStepLR divides the base rate by Factor at each of a few steps.
type MultiStepLR struct {
	Steps  []int // rising; from step Steps[i] on the rate is base/Factor^(i+1)
	Factor float64
}

// NewMultiStepLR returns the schedule, or an error unless the steps rise from 1 on and
// the factor is from 1 to 1e6.
func NewMultiStepLR(steps []int, factor float64) (*MultiStepLR, error) {
	for i, s := range steps {
		if s < 1 || i > 0 && s <= steps[i-1] {
			return nil, &ConfigError{"multistep schedule", "steps", steps, "positive numbers that rise"}
		}
	}
	if err := checkFactor("multistep schedule", factor); err != nil {
		return nil, err
	}
	return &MultiStepLR{steps, factor}, nil
}

// checkFactor returns an error unless rates can be divided by a factor.
func checkFactor(schedule string, factor float64) error {
	if !(factor >= 1 && factor <= 1e6) {
		return &ConfigError{schedule, "factor", factor, "1 to 1e6"}
	}
	return nil
}

// LR returns the rate of a step for a base rate.
func (m *MultiStepLR) LR(base float64, step int) float64 {
	passed, _ := slices.BinarySearch(m.Steps, step+1)
	return base / math.Pow(m.Factor, float64(passed))
}

// plateauThreshold is by how much, relatively, a score must exceed the best one to count
// as better: PyTorch's default.
const plateauThreshold = 1e-4

// PlateauLR divides the base rate by Factor whenever a score, the higher the better, has
// not improved Patience+1 times in a row. What it does is a function of the scores alone:
// whoever resumes a run hands them to Observe again.
type PlateauLR struct {
	Factor   float64
	Patience int

	best     float64
	observed bool
	bad      int // scores since the best, or since the last division
	passed   int // divisions
}

// NewPlateauLR returns the schedule, or an error unless the factor is from 1 to 1e6 and
// the patience at least 0.
func NewPlateauLR(factor float64, patience int) (*PlateauLR, error) {
	if err := checkFactor("plateau schedule", factor); err != nil {
		return nil, err
	}
	if patience < 0 {
		return nil, &ConfigError{"plateau schedule", "patience", patience, "at least 0"}
	}
	return &PlateauLR{Factor: factor, Patience: patience}, nil
}

// Observe takes the next score, at least 0. One that is NaN is not an improvement, also where it is the first.
func (p *PlateauLR) Observe(score float64) {
	first := !p.observed && !math.IsNaN(score) // nothing exceeds NaN: as the best it would stay
	if first || score > p.best*(1+plateauThreshold) {
		p.best, p.observed, p.bad = score, true, 0
		return
	}
	if p.bad++; p.bad > p.Patience {
		p.bad = 0
		p.passed++
	}
}

// LR returns the rate, for a base rate, after the scores observed so far.
func (p *PlateauLR) LR(base float64, step int) float64 {
	return base / math.Pow(p.Factor, float64(p.passed))
}
