//go:build noasm || (!amd64 && !arm64)

package asm

func fold(even, odd []float32, step int, late, early []float32, pairs, run int) {
	foldGeneric(even, odd, step, late, early, pairs, run, 0)
}
