package stream

import "math"

// boxMuller maps two uniforms in [0, 1) to one standard normal number.
func boxMuller(u, v float64) float64 {
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}
