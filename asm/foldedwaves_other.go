//go:build noasm || !amd64

package asm

func (f *foldedWaves) multiply(spare []float32) { f.folded(spare) }
