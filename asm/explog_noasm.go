//go:build noasm || (!amd64 && !arm64)

package asm

func exp(dst, x []float32) { expGeneric(dst, x) }

func log(dst, x []float32) { logGeneric(dst, x) }
