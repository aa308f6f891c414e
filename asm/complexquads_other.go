//go:build noasm || !amd64

package asm

func complexQuads() bool { return false }

func packQuads(dst, src []float32, ldsrc, k, n int) { packQuadsGeneric(dst, src, ldsrc, k, n) }

func (c *quadProduct) panel(m, n, k, j, p int, accumulate bool) {
	c.panelGeneric(m, n, k, j, p, accumulate)
}
