package stream

import "math"

// Gamma returns the next number of the gamma distribution of that shape, above 0,
// and rate 1 (Marsaglia & Tsang, "A simple method for generating gamma variables",
// ACM TOMS 26, 2000). It consumes a random number of draws: give it a stream of
// its own where what follows must not depend on it. It panics unless shape is
// positive and finite.
func (s *Stream) Gamma(shape float64) float64 {
	if !(shape > 0) || math.IsInf(shape, 1) {
		panic("stream: Gamma needs a positive, finite shape")
	}
	if shape < 1 {
		// Their section 6: a number of shape+1, times a power of a uniform one.
		return s.Gamma(shape+1) * math.Pow(1-s.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-s.Float64()) < float64(0.5*x*x)+float64(d*(1-v+math.Log(v))) {
			return d * v
		}
	}
}
