//go:build !noasm

package asm

import "unsafe"

// sfoldedWaves6x16AVX512 computes a strip of 1 <= m <= 6 frequencies, of n >= 1 values at column p and at the one
// opposite, which is p itself in the middle. Next is how many values further the next column begins.
//
//go:noescape
func sfoldedWaves6x16AVX512(m, n, h int, cos, minusSin *float32, ldw int, p, opposite *float32, line int, re, ro, ie, io *float32, ldc, next int)

func (f *foldedWaves) multiply(spare []float32) {
	if level != AVX512 {
		f.folded(spare)
		return
	}
	for x := range (f.w + 1) / 2 {
		f.column(x)
	}
}

// column multiplies a column and the one opposite.
//
//go:noinline
func (f *foldedWaves) column(x int) {
	re, ie := f.one[x*f.position:], f.other[x*f.position:]
	ro, io := re, ie // not written in the middle
	if x < f.w/2 {
		odd := ((f.w+1)/2 + x) * f.position
		ro, io = f.other[odd:], f.one[odd:]
	}
	p, opposite := unsafe.SliceData(f.plane[x*f.n:]), unsafe.SliceData(f.plane[(f.w-1-x)*f.n:])
	strips := (f.m + waveRows - 1) / waveRows
	for s := range strips {
		g, end := s*f.m/strips, (s+1)*f.m/strips
		at := g * f.ld
		sfoldedWaves6x16AVX512(end-g, f.n, f.h, &f.c[g], unsafe.SliceData(from(f.s, g)), f.ldw, p, opposite, f.w*f.n, &re[at], &ro[at], &ie[at], &io[at], f.ld, f.n)
	}
}
