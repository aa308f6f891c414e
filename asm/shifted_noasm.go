//go:build noasm || (!amd64 && !arm64)

package asm

func addShifted(y, x []float32, at []int, a []float32) { addShiftedGeneric(y, x, at, a) }
