//go:build !noasm

package asm

import "unsafe"

// twinRows is the most rows of a strip, narrowTwinRows of one of up to 16 columns.
const (
	twinRows       = 6
	narrowTwinRows = 14
)

// sgemmTwin6x32AVX512 computes a strip of 1 <= m <= 6 rows by 1 <= n <= 32 columns. Element (i, p) of A stands
// at i*row + p*step; row or step is 1. It asks for k/4*2 lines of 64 bytes from ahead on, with
// fewer than 32 columns for k.
//
//go:noescape
func sgemmTwin6x32AVX512(m, n, k int, a *float32, row, step int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, accumulate bool, ahead *float32)

// sgemmTwin14x16AVX512 does the same with a strip of 7 <= m <= 14 rows by 1 <= n <= 16 columns, and asks for k/4*2 lines.
//
//go:noescape
func sgemmTwin14x16AVX512(m, n, k int, a *float32, row, step int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, accumulate bool, ahead *float32)

func (t *twin) multiply(m, n, k int, accumulate bool) {
	if level != AVX512 {
		t.tiles(m, n, k, accumulate)
		return
	}
	for j := 0; j < n; j += avx512NR {
		t.strips(m, min(avx512NR, n-j), k, j, accumulate)
	}
}

// strips multiplies n <= 32 columns from column j on, a panel.
//
//go:noinline
func (t *twin) strips(m, n, k, j int, accumulate bool) {
	at := j / avx512NR * t.distance
	b0, b1 := unsafe.SliceData(from(t.b0, at)), unsafe.SliceData(from(t.b1, at))
	narrow := n <= avx512NR/2 && m >= narrowTwinRows/2
	mr, lines := twinRows, k/4*2
	switch {
	case narrow:
		mr = narrowTwinRows
	case n < avx512NR:
		lines = k
	}
	strips := (m + mr - 1) / mr
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		a, c := unsafe.SliceData(from(t.a, i*t.row)), i*t.ldc+j
		ahead := t.ahead.next(lines, &t.c0[c])
		if narrow {
			sgemmTwin14x16AVX512(end-i, n, k, a, t.row, t.step, b0, b1, t.ldb, &t.c0[c], &t.c1[c], t.ldc, accumulate, ahead)
		} else {
			sgemmTwin6x32AVX512(end-i, n, k, a, t.row, t.step, b0, b1, t.ldb, &t.c0[c], &t.c1[c], t.ldc, accumulate, ahead)
		}
	}
}
