//go:build !noasm

package asm

import "unsafe"

// complexRows is the most rows of a strip.
const complexRows = 4

// sgemmComplex4x32AVX512 computes a strip of 1 <= m <= 4 rows by 1 <= n <= 32 columns. Element (i, p) of A
// stands at i*row + p*step. It asks for k lines of 64 bytes from ahead on.
//
//go:noescape
func sgemmComplex4x32AVX512(m, n, k int, ar, ai *float32, row, step int, br, bi *float32, ldb int, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

func (c *complexProduct) multiply(m, n, k int, accumulate bool, spare []float32) {
	if level != AVX512 {
		c.tiles(m, n, k, accumulate, spare)
		return
	}
	for p := 0; p == 0 || p < k; p += complexSteps {
		for j := 0; j < n; j += avx512NR {
			c.strips(m, min(avx512NR, n-j), min(complexSteps, k-p), j, p, accumulate || p > 0)
		}
	}
}

// strips multiplies n <= 32 columns from column j on, a panel, and k steps from step p on. The rows of both
// parts of B stay in the first-level cache.
//
//go:noinline
func (c *complexProduct) strips(m, n, k, j, p int, accumulate bool) {
	at := j/avx512NR*c.distance + p*c.ldb
	br, bi := unsafe.SliceData(from(c.br, at)), unsafe.SliceData(from(c.bi, at))
	strips := (m + complexRows - 1) / complexRows
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		a, to := i*c.row+p*c.step, i*c.ldc+j
		sgemmComplex4x32AVX512(end-i, n, k, unsafe.SliceData(from(c.ar, a)), unsafe.SliceData(from(c.ai, a)), c.row, c.step,
			br, bi, c.ldb, &c.cr[to], &c.ci[to], c.ldc, accumulate, c.ahead.next(k, &c.cr[to]))
	}
}
