//go:build !noasm

package asm

import "unsafe"

// sfoldedWaves6x16AVX512 computes a strip of 1 <= m <= 6 frequencies, of n >= 1 values at column p and at the one
// opposite, which is p itself in the middle. Next is how many values further the next column begins.
//
//go:noescape
func sfoldedWaves6x16AVX512(m, n, h int, cos, minusSin *float32, ldw int, p, opposite *float32, line int, re, ro, ie, io *float32, ldc, next int)

// sfoldColumnsAVX2 folds n >= 8 values at column p and at the one opposite, which is p itself in the middle.
//
//go:noescape
func sfoldColumnsAVX2(n, h int, p, opposite *float32, line int, folded *float32)

// sfoldedProducts6x16AVX2 computes a strip of 1 <= m <= 6 frequencies, of n >= 8 values and k rows of one or two
// kinds. Rows of next0 and next1 are fetched for calls to come.
//
//go:noescape
func sfoldedProducts6x16AVX2(m, n, k, kinds int, waves *float32, ldw int, folded, to0, to1 *float32, ldc int, next0, next1 *float32, line int)

func (f *foldedWaves) multiply(spare []float32) {
	if level != AVX512 && (level != AVX2 || f.n < 8) {
		f.folded(spare)
		return
	}
	// Some ten microseconds at a time. Parts are as equal as can be, for the kernels of AVX2 take no less than 8 values.
	cols := stripColumns(2*f.h*((f.m+waveRows-1)/waveRows), 16)
	parts := (f.n + cols - 1) / cols
	for x := range (f.w + 1) / 2 {
		for part := range parts {
			j, end := part*f.n/parts, (part+1)*f.n/parts
			if level == AVX512 {
				f.column(x, j, end-j)
			} else {
				f.foldedColumn(x, j, end-j, spare)
			}
		}
	}
}

// column multiplies n values, from value j on, of a column and of the one opposite.
//
//go:noinline
func (f *foldedWaves) column(x, j, n int) {
	re, ie := f.one[x*f.position+j:], f.other[x*f.position+j:]
	ro, io := re, ie // not written in the middle
	if x < f.w/2 {
		odd := ((f.w+1)/2+x)*f.position + j
		ro, io = f.other[odd:], f.one[odd:]
	}
	p, opposite := unsafe.SliceData(f.plane[x*f.n+j:]), unsafe.SliceData(f.plane[(f.w-1-x)*f.n+j:])
	strips := (f.m + waveRows - 1) / waveRows
	for s := range strips {
		g, end := s*f.m/strips, (s+1)*f.m/strips
		at := g * f.ld
		sfoldedWaves6x16AVX512(end-g, n, f.h, &f.c[g], unsafe.SliceData(from(f.s, g)), f.ldw, p, opposite, f.w*f.n, &re[at], &ro[at], &ie[at], &io[at], f.ld, f.n)
	}
}

// foldedColumn does the same in two steps: the column is folded once, to where the first-level cache keeps it for
// all strips.
//
//go:noinline
func (f *foldedWaves) foldedColumn(x, j, n int, spare []float32) {
	re, ie := f.one[x*f.position+j:], f.other[x*f.position+j:]
	ro, io, kinds := re, ie, 1 // not written in the middle
	if x < f.w/2 {
		odd := ((f.w+1)/2+x)*f.position + j
		ro, io, kinds = f.other[odd:], f.one[odd:], 2
	}
	line, half, rest := f.w*f.n, (f.h+1)/2, f.h/2
	column := func(x, y int) *float32 { return unsafe.SliceData(from(f.plane, y*line+x*f.n+j)) }
	folded := spare[:kinds*f.h*n]
	sfoldColumnsAVX2(n, f.h, column(x, 0), column(f.w-1-x, 0), line, &folded[0])
	next := min(x+1, (f.w-1)/2)
	opposite := f.w - 1 - next
	differences := unsafe.SliceData(folded[kinds*half*n:])
	strips := (f.m + waveRows - 1) / waveRows
	for s := range strips {
		g, end := s*f.m/strips, (s+1)*f.m/strips
		at := g * f.ld
		sfoldedProducts6x16AVX2(end-g, n, half, kinds, &f.c[g], f.ldw, &folded[0], &re[at], &ro[at], f.ld,
			column(next, 0), column(opposite, 0), line)
		sfoldedProducts6x16AVX2(end-g, n, rest, kinds, unsafe.SliceData(from(f.s, g)), f.ldw, differences, &ie[at], &io[at], f.ld,
			column(next, half), column(opposite, half), line)
	}
}
