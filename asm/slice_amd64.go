//go:build !noasm

package asm

import "unsafe"

// sliceLeftAVX512 slices a strip of m <= 16 rows.
//
//go:noescape
func sliceLeftAVX512(dst, x0, x1 *float32, ld, m, k int)

// sliceLeftConjugateAVX512 slices a strip of m <= 16 rows.
//
//go:noescape
func sliceLeftConjugateAVX512(re, im, x0, x1 *float32, ld, m, k int)

// sliceRightAVX512 slices a panel of n <= 16 columns.
//
//go:noescape
func sliceRightAVX512(dst, x0, x1 *float32, ldx, k, n int)

// transposeSlicesAVX512 transposes slices of 16 rows, or columns, in their place.
//
//go:noescape
func transposeSlicesAVX512(slices *float32, count int)

// gemmSlicesAMX multiplies strips of 16 rows of a0, and of a1 unless that is nil, by panels of 16
// columns. Strips begin distance values apart; their rows are pitch apart, what the sums of rows are
// multiplied with scales, and slices slice. Only addresses are made from ahead: a
// block of a tile fetches 16 lines, stride values from those of the one before.
//
//go:noescape
func gemmSlicesAMX(strips, panels, steps int, a0, a1 *float32, pitch, slice, scales, distance int, b, c0, c1 *float32, ldc int, accumulate bool, ahead0, ahead1 *float32, stride int)

//go:noinline
func sliceLeft(dst, x0, x1 []float32, ld, m, k int) {
	if level != AVX512 || k == 0 {
		sliceLeftGeneric(dst, x0, x1, ld, m, k)
		return
	}
	sliceLeftAVX512(&dst[0], &x0[0], &x1[0], ld, m, k)
}

//go:noinline
func sliceLeftConjugate(re, im, x0, x1 []float32, ld, m, k int) {
	if level != AVX512 || k == 0 {
		sliceLeftConjugateGeneric(re, im, x0, x1, ld, m, k)
		return
	}
	sliceLeftConjugateAVX512(&re[0], &im[0], &x0[0], &x1[0], ld, m, k)
}

//go:noinline
func sliceRight(dst, x0, x1 []float32, ld, k, n int) {
	if level != AVX512 || k == 0 {
		sliceRightGeneric(dst, x0, x1, ld, k, n)
		return
	}
	sliceRightAVX512(&dst[0], &x0[0], &x1[0], ld, k, n)
}

//go:noinline
func sliceTransposed(dst, x0, x1 []float32, ld, k, n int) {
	if level != AVX512 || k == 0 {
		sliceTransposedGeneric(dst, x0, x1, ld, k, n)
		return
	}
	sliceLeftAVX512(&dst[0], &x0[0], &x1[0], ld, n, k)
	slices := dst[sliceTile:sliceStrip(k)]
	if n < sliceTile {
		for i := 0; i < len(slices); i += slicePart {
			clear(slices[i+n*16:][:slicePart-n*16])
		}
	}
	transposeSlicesAVX512(&slices[0], len(slices)/slicePart)
}

//go:noinline
func gemmSlices(m, n, steps int, a [2][]float32, b []float32, c [2][]float32, ldc int, accumulate bool, ahead [2][]float32) {
	if !fastSplit || steps == 0 {
		gemmSlicesGeneric(m, n, steps, a, b, c, ldc, accumulate)
		return
	}
	strips, panels, size := m/sliceTile, n/sliceTile, sliceTile+steps*sliceBlock
	if strips > 0 && panels > 0 {
		var fetch [2]*float32
		for w := range operands(a) {
			if fetch[w] = unsafe.SliceData(ahead[w]); len(ahead[w]) == 0 {
				fetch[w] = &a[w][0]
			}
		}
		gemmStrips(strips, panels, steps, &a[0][0], unsafe.SliceData(a[1]), &b[0], &c[0][0], unsafe.SliceData(c[1]), ldc, accumulate, fetch[0], fetch[1], sliceFetched)
	}

	// What fills no tile: the rows of the last strip, and of the others the columns of the
	// last panel.
	edge := func(i, j, rows, columns int) {
		var left, dst [2][]float32
		for w := range operands(a) {
			left[w], dst[w] = a[w][i/sliceTile*size:], c[w][i*ldc+j:]
		}
		gemmSlicesEdge(rows, columns, steps, left, b[j/sliceTile*size:], dst, ldc, accumulate)
	}
	const most = edgeTiles * sliceTile
	whole := strips * sliceTile
	if whole < m {
		for j := 0; j < n; j += most {
			edge(whole, j, m-whole, min(most, n-j))
		}
	}
	if last := panels * sliceTile; last < n {
		for i := 0; i < whole; i += most {
			edge(i, last, min(most, whole-i), n-last)
		}
	}
}

// edgeTiles is the number of tiles, side by side or one below the other, of the copy in which
// edges are computed.
const edgeTiles = 4

// gemmSlicesEdge multiplies at most edgeTiles tiles, in a copy of C.
func gemmSlicesEdge(m, n, steps int, a [2][]float32, b []float32, c [2][]float32, ldc int, accumulate bool) {
	var tiles [2][edgeTiles * sliceTile * sliceTile]float32
	strips, panels := (m+sliceTile-1)/sliceTile, (n+sliceTile-1)/sliceTile
	ld := panels * sliceTile
	if accumulate {
		for w := range operands(a) {
			for i := range m {
				copy(tiles[w][i*ld:][:n], c[w][i*ldc:])
			}
		}
	}
	second := unsafe.SliceData(a[1])
	gemmStrips(strips, panels, steps, &a[0][0], second, &b[0], &tiles[0][0], &tiles[1][0], ld, accumulate, &a[0][0], second, 0)
	for w := range operands(a) {
		for i := range m {
			copy(c[w][i*ldc:][:n], tiles[w][i*ld:])
		}
	}
}

// gemmStrips is gemmSlicesAMX for strips as SliceLeft makes them.
func gemmStrips(strips, panels, steps int, a0, a1, b, c0, c1 *float32, ldc int, accumulate bool, ahead0, ahead1 *float32, stride int) {
	gemmSlicesAMX(strips, panels, steps, a0, a1, 16, slicePart, 1, sliceTile+steps*sliceBlock, b, c0, c1, ldc, accumulate, ahead0, ahead1, stride)
}

//go:noinline
func gemmSliceShifts(m, steps int, a, b, c []float32, ldc int, accumulate bool, ahead []float32, perStrip int) {
	if !fastSplit {
		gemmSliceShiftsGeneric(m, steps, a, b, c, ldc, accumulate)
		return
	}
	if len(ahead) == 0 {
		ahead = b
	}
	const line = 16
	pitch := SliceRow(steps * sliceSteps)
	stride := (perStrip/(2*steps) + line - 1) / line * line
	gemmSlicesAMX(m/sliceTile, 2, steps, &a[0], nil, pitch, sliceTile, pitch, sliceTile*pitch, &b[0], &c[0], nil, ldc, accumulate, &ahead[0], nil, stride)
}
