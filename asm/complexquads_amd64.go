//go:build !noasm

package asm

import "unsafe"

func complexQuads() bool { return level == AVX512 }

// sgemmComplexQuads4x8AVX512 computes a strip of 1 <= m <= 4 rows by 1 <= n <= 8 columns, of k quads of steps. It asks
// for 2k lines of 64 bytes from ahead on.
//
//go:noescape
func sgemmComplexQuads4x8AVX512(m, n, k int, ar, ai *float32, lda int, br, bi, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

// spackQuadsAVX512 packs 1 <= n <= 4 columns of k >= 1 quads.
//
//go:noescape
func spackQuadsAVX512(dst, src *float32, ldsrc, k, n int)

//go:noinline
func packQuads(dst, src []float32, ldsrc, k, n int) {
	if level != AVX512 {
		packQuadsGeneric(dst, src, ldsrc, k, n)
		return
	}
	const most = packStep / QuadColumns // steps of a call
	for p := 0; p < k; p += most {
		steps := min(most, k-p)
		for j := 0; j < n; j += 4 {
			spackQuadsAVX512(&dst[p*QuadColumns+4*j], &src[j*ldsrc+p], ldsrc, steps/4, min(4, n-j))
		}
	}
}

// panel multiplies n columns from column j on, a panel, and k steps from step p on.
//
//go:noinline
func (c *quadProduct) panel(m, n, k, j, p int, accumulate bool) {
	if level != AVX512 {
		c.panelGeneric(m, n, k, j, p, accumulate)
		return
	}
	at := j/QuadColumns*c.distance + p*QuadColumns
	br, bi := unsafe.SliceData(from(c.br, at)), unsafe.SliceData(from(c.bi, at))
	strips := (m + complexRows - 1) / complexRows
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		a, to := i*c.lda+p, i*c.ldc+j
		sgemmComplexQuads4x8AVX512(end-i, n, k/4, unsafe.SliceData(from(c.ar, a)), unsafe.SliceData(from(c.ai, a)), c.lda,
			br, bi, &c.cr[to], &c.ci[to], c.ldc, accumulate, c.ahead.next(k/2, &c.cr[to]))
	}
}
