//go:build noasm || (!amd64 && !arm64)

package asm

func sin(dst, x []float32) { sinGeneric(dst, x) }

func cos(dst, x []float32) { cosGeneric(dst, x) }

func sinCos(s, c, x []float32) { sinCosGeneric(s, c, x) }

// sinStream is sin: no kernel bypasses the caches.
func sinStream(dst, x []float32) { sin(dst, x) }

func sinAffine(dst, x []float32, scale, shift float32) { sinAffineParts(dst, x, scale, shift) }

func sinCosAffine(s, c, x []float32, scale, shift float32) { sinCosAffineParts(s, c, x, scale, shift) }
