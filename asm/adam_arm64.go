//go:build !noasm

package asm

//go:noinline
func adam(p, m, v, g []float32, s *AdamStep) {
	if level != NEON {
		adamGeneric(p, m, v, g, s)
		return
	}
	// In the order of the registers that the kernel keeps them in.
	scalars := [8]float32{s.Step, s.Beta1, s.Beta2, s.Correction2, s.Eps, s.Decay, 1 - s.Beta1, 1 - s.Beta2}
	n := len(p) &^ 3
	if n > 0 {
		adamNEON(n, &p[0], &m[0], &v[0], &g[0], &scalars)
	}
	if n < len(p) {
		pp, pm, pv, pg := pad(p[n:]), pad(m[n:]), pad(v[n:]), pad(g[n:])
		adamNEON(4, &pp[0], &pm[0], &pv[0], &pg[0], &scalars)
		copy(p[n:], pp[:])
		copy(m[n:], pm[:])
		copy(v[n:], pv[:])
	}
}

//go:noescape
func adamNEON(n int, p, m, v, grad *float32, s *[8]float32)
