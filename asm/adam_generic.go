package asm

import "math"

func adamGeneric(p, m, v, g []float32, s *AdamStep) {
	rest1, rest2 := 1-s.Beta1, 1-s.Beta2
	for i, gi := range g {
		mi := float32(s.Beta1*m[i]) + float32(rest1*gi)
		vi := float32(s.Beta2*v[i]) + float32(float32(rest2*gi)*gi)
		root := float32(math.Sqrt(float64(float32(vi * s.Correction2))))
		step := float32(s.Step*mi) / (root + s.Eps)
		m[i], v[i] = mi, vi
		p[i] = float32(s.Decay*p[i]) - step
	}
}
