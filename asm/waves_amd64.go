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

func (v *waveProduct) multiply(spare []float32) {
	if level != AVX512 {
		v.folded(spare)
		return
	}
	for g := range v.groups {
		v.group(g)
	}
}

// group multiplies the columns of one group.
//
//go:noinline
func (v *waveProduct) group(g int) {
	re, im, sign := v.re[g*v.distance:], v.im[g*v.distance:], uint32(0)
	if v.turned {
		re, im, sign = im, re, 1<<31
	}
	m := (v.w + 1) / 2
	x, y := unsafe.SliceData(v.x[g*v.n:]), unsafe.SliceData(v.y[g*v.n:])
	sines := from(v.waves, (v.period/2+1)*m)
	strips := (m + waveRows - 1) / waveRows
	for s := range strips {
		i, end := s*m/strips, (s+1)*m/strips
		up, down := (v.w/2+i)*v.n, (m-1-i)*v.n
		sgemmWaves6x16AVX512(end-i, v.n, v.period, &v.waves[i], unsafe.SliceData(from(sines, i)), m, x, y, v.ldx,
			&re[up], &re[down], &im[up], &im[down], v.n, sign, i == 0 && v.w%2 == 1)
	}
}
