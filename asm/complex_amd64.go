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

// sgemmComplex6x16AVX2 computes a strip of 1 <= m <= 6 rows by 1 <= n <= 16 columns. Elements (i, p) of A and
// of the sum of both its parts stand at i*row + p*step. The panel is that of scomplexPanelAVX2, with 96 spare values
// behind it. It asks for k lines of 64 bytes from ahead on.
//
//go:noescape
func sgemmComplex6x16AVX2(m, n, k int, sum *float32, sumRow, sumStep int, ar, ai *float32, row, step int, panel, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

// scomplexPanelAVX2 brings 1 <= n <= 16 columns of B, of k >= 1 rows, to a panel [3, k, 16]: Br, Bi - Br and
// Bi + Br.
//
//go:noescape
func scomplexPanelAVX2(n, k int, br, bi *float32, ldb int, panel *float32)

// saddRowsAVX2 adds rows of n >= 1 values, ld apart, to rows that follow one another.
//
//go:noescape
func saddRowsAVX2(rows, n int, x, y *float32, ld int, sum *float32)

func (c *complexProduct) multiply(m, n, k int, accumulate bool, spare []float32) {
	switch level {
	case AVX512:
		for p := 0; p == 0 || p < k; p += complexSteps {
			for j := 0; j < n; j += avx512NR {
				c.strips(m, min(avx512NR, n-j), min(complexSteps, k-p), j, p, accumulate || p > 0)
			}
		}
	case AVX2:
		c.blocks(m, n, k, accumulate, spare)
	default:
		c.tiles(m, n, k, accumulate, spare)
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

// blocks multiplies block by block. The panel stays in the first-level cache, and sums of A, which are made once for
// all panels, in the second.
func (c *complexProduct) blocks(m, n, k int, accumulate bool, spare []float32) {
	const most = 2 * complexTogether // rows
	sums, panel := spare[:most*complexSteps], spare[most*complexSteps:][:3*complexSteps*avx2NR+avx2MR*avx2NR]
	blocks := (m + most - 1) / most
	for p := 0; p == 0 || p < k; p += complexSteps {
		steps := min(complexSteps, k-p)
		for i := range blocks {
			first, end := i*m/blocks, (i+1)*m/blocks
			for j := 0; j < n; j += avx2NR {
				b := c.block(first, j, p, avx2NR)
				if j == 0 {
					b.sums(sums, end-first, steps)
				}
				b.panel(panel, min(avx2NR, n-j), steps)
				b.column(end-first, min(avx2NR, n-j), steps, sums, panel, accumulate || p > 0, &c.ahead)
			}
		}
	}
}

// sums adds both parts of A, which sums has without gaps in the order in which they are stored.
//
//go:noinline
func (c *complexProduct) sums(sums []float32, m, k int) {
	if k == 0 {
		return
	}
	if c.step == 1 {
		saddRowsAVX2(m, k, unsafe.SliceData(c.ar), unsafe.SliceData(c.ai), c.row, unsafe.SliceData(sums))
	} else {
		saddRowsAVX2(k, m, unsafe.SliceData(c.ar), unsafe.SliceData(c.ai), c.step, unsafe.SliceData(sums))
	}
}

// panel brings n <= 16 columns of B to a panel.
//
//go:noinline
func (c *complexProduct) panel(panel []float32, n, k int) {
	if k > 0 {
		scomplexPanelAVX2(n, k, unsafe.SliceData(c.br), unsafe.SliceData(c.bi), c.ldb, &panel[0])
	}
}

// column multiplies n <= 16 columns, given the sums of A and the panel.
//
//go:noinline
func (c *complexProduct) column(m, n, k int, sums, panel []float32, accumulate bool, ahead *lookahead) {
	sumRow, sumStep := k, 1
	if c.step != 1 {
		sumRow, sumStep = 1, m
	}
	strips := (m + avx2MR - 1) / avx2MR
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		to := i * c.ldc
		sgemmComplex6x16AVX2(end-i, n, k, &sums[i*sumRow], sumRow, sumStep, unsafe.SliceData(from(c.ar, i*c.row)), unsafe.SliceData(from(c.ai, i*c.row)), c.row, c.step,
			&panel[0], &c.cr[to], &c.ci[to], c.ldc, accumulate, ahead.next(k, &c.cr[to]))
	}
}
