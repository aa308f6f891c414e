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
	// As equal parts as can be, for the kernels of AVX2 take no less than 8 values.
	cols := stripColumns(2*f.h, 16)
	parts := (f.n + cols - 1) / cols
	for x := range (f.w + 1) / 2 {
		for part := range parts {
			j, end := part*f.n/parts, (part+1)*f.n/parts
			if level == AVX2 {
				f.foldedColumn(x, j, end-j, spare)
			} else {
				f.column(x, j, end-j)
			}
		}
	}
}

// column multiplies n values, from value j on, of a column and the one opposite.
func (f *foldedWaves) column(x, j, n int) {
	strips := (f.m + waveRows - 1) / waveRows
	for s := range strips {
		f.strip(s*f.m/strips, (s+1)*f.m/strips, x, j, n)
	}
}

// results returns where the even and the odd part of the real row begin, and those of the imaginary one, and how many
// of the two parts there are: in the middle there is no odd one.
func (f *foldedWaves) results(x, j int) (re, ro, ie, io []float32, kinds int) {
	at := x*f.position + j
	re, ie = f.one[at:], f.other[at:]
	if x >= f.w/2 {
		return re, re, ie, ie, 1 // the others are not written
	}
	odd := ((f.w+1)/2+x)*f.position + j
	return re, f.other[odd:], ie, f.one[odd:], 2
}

// strip is column for the frequencies from g to end.
//
//go:noinline
func (f *foldedWaves) strip(g, end, x, j, n int) {
	re, ro, ie, io, _ := f.results(x, j)
	p, opposite := unsafe.SliceData(f.plane[x*f.n+j:]), unsafe.SliceData(f.plane[(f.w-1-x)*f.n+j:])
	at := g * f.ld
	sfoldedWaves6x16AVX512(end-g, n, f.h, &f.c[g], unsafe.SliceData(from(f.s, g)), f.ldw, p, opposite, f.w*f.n, &re[at], &ro[at], &ie[at], &io[at], f.ld, f.n)
}

// foldedColumn does the same in two steps: the column is folded once, to where the first-level cache keeps it for
// all strips.
func (f *foldedWaves) foldedColumn(x, j, n int, spare []float32) {
	f.foldColumn(x, j, n, spare)
	strips := (f.m + waveRows - 1) / waveRows
	for s := range strips {
		f.products(s*f.m/strips, (s+1)*f.m/strips, x, j, n, spare)
	}
}

// at returns where values from j on stand in row y of column x.
func (f *foldedWaves) at(x, y, j int) *float32 {
	return unsafe.SliceData(from(f.plane, (y*f.w+x)*f.n+j))
}

//go:noinline
func (f *foldedWaves) foldColumn(x, j, n int, spare []float32) {
	sfoldColumnsAVX2(n, f.h, f.at(x, 0, j), f.at(f.w-1-x, 0, j), f.w*f.n, &spare[0])
}

// products multiplies what is folded, for the frequencies from g to end. It has the next column fetched.
//
//go:noinline
func (f *foldedWaves) products(g, end, x, j, n int, folded []float32) {
	re, ro, ie, io, kinds := f.results(x, j)
	line, half, rest := f.w*f.n, (f.h+1)/2, f.h/2
	next := min(x+1, (f.w-1)/2)
	opposite := f.w - 1 - next
	at := g * f.ld
	sfoldedProducts6x16AVX2(end-g, n, half, kinds, &f.c[g], f.ldw, &folded[0], &re[at], &ro[at], f.ld,
		f.at(next, 0, j), f.at(opposite, 0, j), line)
	sfoldedProducts6x16AVX2(end-g, n, rest, kinds, unsafe.SliceData(from(f.s, g)), f.ldw, unsafe.SliceData(folded[kinds*half*n:]), &ie[at], &io[at], f.ld,
		f.at(next, half, j), f.at(opposite, half, j), line)
}
