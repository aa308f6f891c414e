//go:build !noasm

package asm

func adam(p, m, v, g []float32, s *AdamStep) { adamGeneric(p, m, v, g, s) }
