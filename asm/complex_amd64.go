//go:build !noasm

package asm

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// complexRows is the most rows of a strip.
const complexRows = 4

// sgemmComplex4x32AVX512 computes a strip of 1 <= m <= 4 rows by 1 <= n <= 32 columns. Element (i, p) of A
// stands at i*row + p*step. It asks for k lines of 64 bytes from ahead on.
//
//go:noescape
func sgemmComplex4x32AVX512(m, n, k int, ar, ai *float32, row, step int, br, bi *float32, ldb int, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

// sgemmComplex6x16AVX2 computes a strip of 1 <= m <= 6 rows by 1 <= n <= 16 columns. Rows of A are row values
// apart, those of the sum of both its parts sumRow; where both are -1 all three are strips [k, 6] as
// scomplexStripAVX2 makes them. The panel is that of scomplexPanelAVX2, with 96 spare values behind it. It asks for k/4*6 lines of 64
// bytes from ahead on.
//
//go:noescape
func sgemmComplex6x16AVX2(m, n, k int, sum *float32, sumRow int, ar, ai *float32, row int, panel, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

// scomplexStripAVX2 brings 1 <= m <= 6 columns of both parts of A, of k >= 1 rows, and their sum to a strip
// [3, k+1, 6]: the sum, ai and ar.
//
//go:noescape
func scomplexStripAVX2(m, k int, ar, ai *float32, ld int, strip *float32)

// scomplexPanelAVX2 brings 1 <= n <= 16 columns of B, of k >= 1 rows, to a panel [3, k, 16]: Br, Bi - Br and
// Bi + Br.
//
//go:noescape
func scomplexPanelAVX2(n, k int, br, bi *float32, ldb int, panel *float32)

// sgemmComplex14x32AVX512 computes a strip of 7 <= m <= 14 rows by 32 columns, of k >= 1 steps. Element (i, p) of A stands
// at i*row + p*step; row or step is 1. The rows of its sum are sumLD apart or, unless step is 1, its steps. The panel
// [2, k, 32], Bi - Br and Bi + Br, is written where makes says so, and has 448 spare values behind it. It asks for k/4*6
// lines of 64 bytes from ahead on, k/4*4 where it writes the panel.
//
//go:noescape
func sgemmComplex14x32AVX512(m, k int, sum *float32, sumLD int, ar, ai *float32, row, step int, br, bi *float32, ldb int, panel *float32, makes bool, cr, ci *float32, ldc int, accumulate bool, ahead *float32)

// saddRowsAVX2 adds rows of n >= 1 values, ld apart, to rows that follow one another.
//
//go:noescape
func saddRowsAVX2(rows, n int, x, y *float32, ld int, sum *float32)

func (c *complexProduct) multiply(m, n, k int, accumulate bool, spare []float32) {
	switch level {
	case AVX512:
		whole := 0 // columns of whole panels
		if tallPays(m, k) {
			whole = n / avx512NR * avx512NR
			c.blocks(m, whole, k, accumulate, spare)
		}
		for p := 0; p == 0 || p < k; p += complexSteps {
			for j := whole; j < n; j += avx512NR {
				c.strips(m, min(avx512NR, n-j), min(complexSteps, k-p), j, p, accumulate || p > 0)
			}
		}
	case AVX2:
		c.blocks(m, n, k, accumulate, spare)
	default:
		c.tiles(m, n, k, accumulate, spare)
	}
}

// sharedPorts says that sums of 512 bits are issued through the ports of products, as they are by Intel's processors:
// others have adders with ports of their own.
var sharedPorts = cpuid.CPU.VendorID == cpuid.Intel

// tallPays reports whether sums of operands that are made once for many tiles take less time than sums in registers. With
// fewer rows or steps they do not.
func tallPays(m, k int) bool { return sharedPorts && m >= avx512MR && k >= 32 }

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

// blocks multiplies block by block: as many columns as there is memory for, whose panels are made once, by one block of
// rows after the other. Sums of A, which are made once for these columns, stay in the second-level cache, and the panel at
// hand in the first. With AVX2, where A is k-major its columns, which may lie in few sets of the first-level cache, come
// with them; with AVX-512 columns fill tiles.
func (c *complexProduct) blocks(m, n, k int, accumulate bool, spare []float32) {
	mr, nr := gemmTile()
	behind := mr * nr // values behind each panel, of three matrices or, with AVX-512, of two
	panelsMost := complexTogether * (3*complexSteps + mr)
	panels, sums := spare[:panelsMost], spare[panelsMost:ComplexSpare]
	most := 2 * complexTogether // rows
	if c.step != 1 && level == AVX2 {
		most = len(sums) / stripValues(complexSteps) * avx2MR
	}
	blocks := (m + most - 1) / most
	for p := 0; p == 0 || p < k; p += complexSteps {
		steps := min(complexSteps, k-p)
		size := 3*nr*steps + behind
		wide := panelsMost / size * nr
		for column := 0; column < n; column += wide {
			to := min(n, column+wide)
			for i := range blocks {
				first, end := i*m/blocks, (i+1)*m/blocks
				for j := column; j < to; j += nr {
					b := c.block(first, j, p, nr)
					if j == column && steps > 0 {
						b.sums(sums, end-first, steps)
					}
					cols, panel := min(nr, to-j), panels
					if blocks > 1 { // or the same lines of the cache will do for all
						panel = panels[(j-column)/nr*size:]
					}
					if level == AVX512 {
						b.tall(end-first, steps, sums, panel, i == 0, accumulate || p > 0, &c.ahead)
						continue
					}
					if i == 0 {
						b.panel(panel, cols, steps)
					}
					b.column(end-first, cols, steps, sums, panel, accumulate || p > 0, &c.ahead)
				}
			}
		}
	}
}

// stripValues returns the size of a strip of A and of its sum.
func stripValues(k int) int { return 3 * (k + 1) * avx2MR }

// sums adds both parts of A, to rows without gaps, as A has them, or with AVX2 to strips where it is k-major.
//
//go:noinline
func (c *complexProduct) sums(sums []float32, m, k int) {
	if c.step == 1 {
		saddRowsAVX2(m, k, unsafe.SliceData(c.ar), unsafe.SliceData(c.ai), c.row, unsafe.SliceData(sums))
		return
	}
	if level == AVX512 {
		saddRowsAVX2(k, m, unsafe.SliceData(c.ar), unsafe.SliceData(c.ai), c.step, unsafe.SliceData(sums))
		return
	}
	strips := (m + avx2MR - 1) / avx2MR
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		scomplexStripAVX2(end-i, k, &c.ar[i], &c.ai[i], c.step, &sums[s*stripValues(k)])
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

// tall multiplies 32 columns by strips of 14 rows, given the sums of A. The first strip writes the panel or, unless makes
// says so, finds it.
//
//go:noinline
func (c *complexProduct) tall(m, k int, sums, panel []float32, makes, accumulate bool, ahead *lookahead) {
	sum, ld := k, k // values from one row to the next, and where A is k-major from one step
	if c.step != 1 {
		sum, ld = 1, m
	}
	for s := range RowStrips(m) {
		i, end := RowStrip(s, m)
		a, to, lines := i*c.row, i*c.ldc, k/4*6
		if makes {
			lines = k / 4 * 4
		}
		sgemmComplex14x32AVX512(end-i, k, &sums[i*sum], ld, &c.ar[a], &c.ai[a], c.row, c.step, &c.br[0], &c.bi[0], c.ldb,
			&panel[0], makes, &c.cr[to], &c.ci[to], c.ldc, accumulate, ahead.next(lines, &c.cr[to]))
		makes = false
	}
}

// column multiplies n <= 16 columns, given the sums of A and the panel.
//
//go:noinline
func (c *complexProduct) column(m, n, k int, sums, panel []float32, accumulate bool, ahead *lookahead) {
	strips := (m + avx2MR - 1) / avx2MR
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		sum, row, sumRow := &sums[i*k], c.row, k
		ar, ai := unsafe.SliceData(from(c.ar, i*row)), unsafe.SliceData(from(c.ai, i*row))
		if c.step != 1 {
			strip := sums[s*stripValues(k):]
			sum, row, sumRow = &strip[0], -1, -1
			ai, ar = &strip[stripValues(k)/3], &strip[stripValues(k)/3*2]
		}
		to := i * c.ldc
		sgemmComplex6x16AVX2(end-i, n, k, sum, sumRow, ar, ai, row, &panel[0], &c.cr[to], &c.ci[to], c.ldc, accumulate, ahead.next(k/4*6, &c.cr[to]))
	}
}
