//go:build noasm || !amd64

package asm

func (c *complexProduct) multiply(m, n, k int, accumulate bool, spare []float32) {
	c.tiles(m, n, k, accumulate, spare)
}
