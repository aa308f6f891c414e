//go:build noasm || !amd64

package asm

func (v *waveProduct) multiply(spare []float32) { v.folded(spare) }
