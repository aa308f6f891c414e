package gumbel

import "math"

// MaxRho bounds the parameter of a relaxed Bernoulli distribution, [-MaxRho,
// MaxRho], so that the probability of keeping an element stays within 0.047 and 0.953
// (Distribution.Clamp): training goes on to try both, so that what was kept or dropped by
// chance before the task was found does not stay so for want of a draw that shows better.
const MaxRho = 1.5

// certain is a parameter at which no draw drops an element, and -certain one at which
// none keeps it.
const certain = 50

// eps keeps uniform numbers, and under Compat probabilities, away from 0 and 1. It
// is the rounding of float32, as in the published implementation.
const eps = 0x1p-23

// relaxed returns a sample of the relaxed Bernoulli distribution at the logit of its
// probability and a temperature T, from a uniform number u (Maddison, Mnih & Teh
// 2017, section 3.3; Jang, Gu & Poole 2017), and its derivative with respect to the
// logit:
//
//	soft = sigmoid((logit + log u - log(1-u)) / T)    d soft = soft (1 - soft) / T
func relaxed(logit, u, temperature float64) (soft, slope float64) {
	u = min(max(u, eps), 1-eps)
	soft = sigmoid((logit + math.Log(u) - math.Log1p(-u)) / temperature)
	return soft, soft * (1 - soft) / temperature
}

// hard rounds a relaxed sample to 0 or 1; NaN stays NaN.
func hard(soft float64) float64 {
	switch {
	case soft > 0.5:
		return 1
	case soft <= 0.5:
		return 0
	}
	return soft
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logit returns the logit of the probability of keeping an element whose parameter
// is rho, and its derivative. The probability is sigmoid(2 rho).
func (d *Distribution) logit(rho float32) (logit, slope float64) {
	x := 2 * float64(rho)
	if !d.cfg.Compat {
		return x, 2
	}
	p := sigmoid(x)
	if !d.cfg.mirrors() {
		return p, 2 * p * (1 - p) // the probability is mistaken for its logit
	}
	p = float64(float32(p))
	if p < eps || p > 1-eps {
		p, slope = min(max(p, eps), 1-eps), 0
	} else {
		slope = 2
	}
	return math.Log(p) - math.Log1p(-p), slope
}

// temperature returns the temperature after so many draws of training,
// T0 - (c/I) (T0 - T1), no lower than T1. Under Compat it falls on.
func (d *Distribution) temperature(draws float32) float64 {
	c := &d.cfg
	if c.Steps == 0 {
		return c.InitTemperature
	}
	t := c.InitTemperature - float64(float64(draws)/float64(c.Steps)*(c.InitTemperature-c.EndTemperature))
	if c.Compat {
		return t
	}
	return min(max(t, c.EndTemperature), c.InitTemperature) // a count out of a file may be anything
}
