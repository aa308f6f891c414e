//go:build !noasm

package asm

import "unsafe"

// waveRows is the most rows of a strip.
const waveRows = 6

// sgemmWaves6x16AVX512 computes a strip of 1 <= m <= 6 positions from the middle on, and as many before it, by n >= 1
// columns. Sign is the bit that is flipped in the first result. With middle nothing is stored at down for the
// first row.
//
//go:noescape
func sgemmWaves6x16AVX512(m, n, period int, cos, sin *float32, ldw int, x, y *float32, ldx int, up0, down0, up1, down1 *float32, ldc int, sign uint32, middle bool)

// sgemmWaves2x8AVX2 does the same for any m >= 1.
//
//go:noescape
func sgemmWaves2x8AVX2(m, n, period int, cos, sin *float32, ldw int, x, y *float32, ldx int, up0, down0, up1, down1 *float32, ldc int, sign uint32, middle bool)

func (v *waveProduct) multiply(spare []float32) {
	if level != AVX512 && level != AVX2 {
		v.folded(spare)
		return
	}
	m := (v.w + 1) / 2
	rows, cols := waveRows, stripColumns(2*v.period, 16)
	if level == AVX2 {
		// The kernel goes over the rows itself, column by column: what is read of X and Y, and folded anew for each
		// tile, then stays in the first-level cache. So many columns take some ten microseconds.
		rows, cols = m, stripColumns(v.period*m/16, 16)
	}
	strips := (m + rows - 1) / rows
	for g := range v.groups {
		for j := 0; j < v.n; j += cols {
			for s := range strips {
				v.block(g, s*m/strips, (s+1)*m/strips, j, min(cols, v.n-j))
			}
		}
	}
}

// block multiplies n columns of a group from column j on, to the positions from i to end from the middle, and to those
// before it.
//
//go:noinline
func (v *waveProduct) block(g, i, end, j, n int) {
	at := g*v.distance + j
	re, im, sign := v.re[at:], v.im[at:], uint32(0)
	if v.turned {
		re, im, sign = im, re, 1<<31
	}
	m := (v.w + 1) / 2
	up, down := (v.w/2+i)*v.n, (m-1-i)*v.n
	x, y := &v.x[g*v.n+j], &v.y[g*v.n+j]
	cos, sin := &v.waves[i], unsafe.SliceData(from(v.waves, (v.period/2+1)*m+i))
	middle := i == 0 && v.w%2 == 1
	switch level {
	case AVX512:
		sgemmWaves6x16AVX512(end-i, n, v.period, cos, sin, m, x, y, v.ldx, &re[up], &re[down], &im[up], &im[down], v.n, sign, middle)
	case AVX2:
		sgemmWaves2x8AVX2(end-i, n, v.period, cos, sin, m, x, y, v.ldx, &re[up], &re[down], &im[up], &im[down], v.n, sign, middle)
	}
}
