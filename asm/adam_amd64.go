//go:build !noasm

package asm

//go:noescape
func adamAVX2(p, m, v, grad *float32, n int, s *AdamStep)

//go:noescape
func adamAVX512(p, m, v, grad *float32, n int, s *AdamStep)

//go:noinline
func adam(p, m, v, g []float32, s *AdamStep) {
	switch level {
	case AVX512:
		adamAVX512(&p[0], &m[0], &v[0], &g[0], len(p), s)
	case AVX2:
		adamAVX2(&p[0], &m[0], &v[0], &g[0], len(p), s)
	default:
		adamGeneric(p, m, v, g, s)
	}
}
