//go:build !noasm

package asm

func sin(dst, x []float32) { sinGeneric(dst, x) }

func cos(dst, x []float32) { cosGeneric(dst, x) }

func sinCos(s, c, x []float32) { sinCosGeneric(s, c, x) }
