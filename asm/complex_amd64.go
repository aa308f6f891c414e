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

// sgemmThird14x32AVX512 computes one of the three products of strips of 7 <= m <= 14 rows by 32 columns, of k >= 1 steps:
// S, which it writes to s, or the second or third product, of which and S it makes C. Rows of s are 32 values apart, and 14 are
// written for the last strip whatever m is. Element (i, p) of A stands at i*row + p*step; row or step is 1. Where bi is not
// nil the first strip writes a panel [2, k, 32], Bi - B and Bi + B. Each other asks for k/4*2 lines of 64 bytes from ahead on.
//
//go:noescape
func sgemmThird14x32AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead *float32)

// sgemmThird6x64AVX512 does the same with strips of 4 <= m <= 6 rows by 64 columns, of which the last 32 of B are at beside,
// and those of Bi as far behind bi.
//
//go:noescape
func sgemmThird6x64AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead, beside *float32)

// sgemmThird14x16AVX512 is sgemmThird14x32AVX512 by 16 columns, with rows of s 16 values apart and a panel [2, k, 16].
//
//go:noescape
func sgemmThird14x16AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead *float32)

// saddRowsAVX2 adds rows of n >= 1 values, ld apart, to rows that follow one another.
//
//go:noescape
func saddRowsAVX2(rows, n int, x, y *float32, ld int, sum *float32)

func (c *complexProduct) multiply(m, n, k int, accumulate bool, spare []float32) {
	switch level {
	case AVX512:
		byThirds := thirdsColumns(m, n, k)
		if byThirds > 0 {
			c.thirds(m, byThirds, k, accumulate, spare)
		}
		for p := 0; p == 0 || p < k; p += complexSteps {
			for j := byThirds; j < n; j += avx512NR {
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

// thirdsColumns returns for how many columns, of whole panels and of a last half of one, sums of operands that are made once
// for many tiles take less time than sums in registers. With fewer rows or steps there are none.
func thirdsColumns(m, n, k int) int {
	if !sharedPorts || m < avx512MR || k < 32 {
		return 0
	}
	if n%avx512NR == narrowNR {
		return n
	}
	return n / avx512NR * avx512NR
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

const (
	// thirdsRows is the most rows of a block of thirds, and thirdsStrips the most strips that one call multiplies.
	thirdsRows   = 2 * complexTogether
	thirdsStrips = 4

	// The wide tile has wideMR rows and two panels of columns, which take 32 KiB of a first-level cache of at least
	// wideCache bytes.
	wideMR    = 6
	wideCache = 48 << 10

	narrowNR = avx512NR / 2 // columns of the narrow tile
)

// firstLevelCache is the size in bytes of that for data, -1 where it is unknown.
var firstLevelCache = cpuid.CPU.Cache.L1D

// thirds multiplies n columns, see thirdsColumns, by one real product after the other. What a tile needs of B stays in the
// first-level cache for all strips of a block of rows, the sums of A and the products S in the second.
func (c *complexProduct) thirds(m, n, k int, accumulate bool, spare []float32) {
	blocks := (m + thirdsRows - 1) / thirdsRows
	for p := 0; p == 0 || p < k; p += complexSteps {
		t := thirds{k: min(complexSteps, k-p), accumulate: accumulate || p > 0}
		for j := 0; j < n; j += t.nr {
			t.mr, t.nr = avx512MR, avx512NR
			switch {
			case n-j < avx512NR:
				t.nr = narrowNR
			case n-j >= 2*avx512NR && firstLevelCache >= wideCache:
				t.mr, t.nr = wideMR, 2*avx512NR
			}
			t.cut(spare)
			for i := range blocks {
				first, end := i*m/blocks, (i+1)*m/blocks
				t.complexProduct, t.m, t.makes = c.block(first, j, p, avx512NR), end-first, i == 0
				t.multiply(&c.ahead)
			}
		}
	}
}

// thirds is a block of m rows and k steps by the columns of a tile, mr by nr.
type thirds struct {
	complexProduct
	mr, nr, m, k      int
	makes, accumulate bool // makes says that the panel is to be made

	left, panel, products []float32 // sums of A; Bi - Br and Bi + Br; S
}

// cut shares out spare memory.
func (t *thirds) cut(spare []float32) {
	t.panel, spare = spare[:2*t.nr*complexSteps], spare[2*t.nr*complexSteps:ComplexSpare]
	t.left, t.products = spare[:thirdsRows*complexSteps], spare[thirdsRows*complexSteps:]
}

// multiply computes the three products.
//
//go:noinline
func (t *thirds) multiply(ahead *lookahead) {
	t.sums(t.left, t.m, t.k)
	row, step := t.k, 1 // of the sums
	if t.step != 1 {
		row, step = 1, t.m
	}
	var bi *float32
	if t.makes {
		bi = &t.bi[0]
	}
	t.third(0, t.left, row, step, t.br, t.distance, t.ldb, bi, t.products, t.nr, ahead)
	t.third(1, t.ai, t.row, t.step, t.panel[t.nr*t.k:], t.nr/2, t.nr, nil, t.cr, t.ldc, ahead)
	t.third(2, t.ar, t.row, t.step, t.panel, t.nr/2, t.nr, nil, t.ci, t.ldc, ahead)
}

// third computes one product of all strips, by B whose second half, of a wide tile, lies beside values behind the first.
func (t *thirds) third(number int, a []float32, row, step int, b []float32, beside, ldb int, bi *float32, c []float32, ldc int, ahead *lookahead) {
	strips := (t.m + t.mr - 1) / t.mr
	for s, i := 0, 0; s < strips; {
		rows, n := t.m/strips, min(thirdsStrips, strips-s)
		if higher := t.m%strips - s; higher > 0 { // the first strips have a row more
			rows, n = rows+1, min(n, higher)
		}
		asking := n // strips
		if bi != nil {
			asking--
		}
		product, to := &t.products[i*t.nr], &c[i*ldc]
		next := ahead.next(asking*(t.k/4*2), to)
		switch t.nr {
		case narrowNR:
			sgemmThird14x16AVX512(n, rows, t.k, &a[i*row], row, step, &b[0], ldb, bi, &t.panel[0], number, product, to, ldc, t.accumulate, next)
		case avx512NR:
			sgemmThird14x32AVX512(n, rows, t.k, &a[i*row], row, step, &b[0], ldb, bi, &t.panel[0], number, product, to, ldc, t.accumulate, next)
		default:
			sgemmThird6x64AVX512(n, rows, t.k, &a[i*row], row, step, &b[0], ldb, bi, &t.panel[0], number, product, to, ldc, t.accumulate, next, &b[beside])
		}
		s, i, bi = s+n, i+n*rows, nil
	}
}

// blocks multiplies block by block: as many columns as there is memory for, whose panels are made once, by one block of
// rows after the other. Sums of A, which are made once for these columns, stay in the second-level cache, and the panel at
// hand in the first. Where A is k-major its columns, which may lie in few sets of the first-level cache, come with them.
func (c *complexProduct) blocks(m, n, k int, accumulate bool, spare []float32) {
	const panelsMost = 3*complexTogether*complexSteps + avx2MR*complexTogether
	panels, sums := spare[:panelsMost], spare[panelsMost:ComplexSpare]
	most := 2 * complexTogether // rows
	if c.step != 1 {
		most = len(sums) / stripValues(complexSteps) * avx2MR
	}
	blocks := (m + most - 1) / most
	for p := 0; p == 0 || p < k; p += complexSteps {
		steps := min(complexSteps, k-p)
		size := 3*avx2NR*steps + avx2MR*avx2NR // the tile of products is behind its panel
		wide := panelsMost / size * avx2NR
		for column := 0; column < n; column += wide {
			to := min(n, column+wide)
			for i := range blocks {
				first, end := i*m/blocks, (i+1)*m/blocks
				for j := column; j < to; j += avx2NR {
					b := c.block(first, j, p, avx2NR)
					if j == column && steps > 0 {
						b.sums(sums, end-first, steps)
					}
					cols, panel := min(avx2NR, to-j), panels
					if blocks > 1 { // or the same lines of the cache will do for all
						panel = panels[(j-column)/avx2NR*size:]
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
