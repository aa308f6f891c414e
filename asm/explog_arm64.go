//go:build !noasm

package asm

func exp(dst, x []float32) { expGeneric(dst, x) }

func log(dst, x []float32) { logGeneric(dst, x) }
