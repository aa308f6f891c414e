//go:build noasm || !amd64

package asm

func (t *twin) multiply(m, n, k int, accumulate bool) { t.tiles(m, n, k, accumulate) }
