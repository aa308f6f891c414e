//go:build !noasm

package asm

// Packing moves values and computes nothing, so what does not fill a NEON
// vector is moved by the portable code.

//go:noinline
func packPanel(dst, src []float32, ldsrc, k, n int) {
	switch {
	case level != NEON:
		packPanelGeneric(dst, genericNR, src, ldsrc, k, n)
	case n == neonNR && k > 0:
		packPanel12NEON(k, &dst[0], &src[0], ldsrc)
	default:
		packPanelGeneric(dst, neonNR, src, ldsrc, k, n)
	}
}

//go:noinline
func packRows(dst, src []float32, offsets []int, n int) {
	switch {
	case level != NEON:
		packRowsGeneric(dst, genericNR, src, offsets, n)
	case n == neonNR && len(offsets) > 0:
		packRows12NEON(len(offsets), &dst[0], &src[0], &offsets[0])
	default:
		packRowsGeneric(dst, neonNR, src, offsets, n)
	}
}

//go:noinline
func packCols(dst, src []float32, ldsrc, k, n int) {
	if level != NEON {
		packColsGeneric(dst, genericNR, src, ldsrc, k, n)
		return
	}
	packColsNEON(dst, neonNR, src, ldsrc, k, n)
}

//go:noinline
func packA(dst, src []float32, ldsrc, k, m int) {
	if level != NEON {
		packColsGeneric(dst, genericMR, src, ldsrc, k, m)
		return
	}
	packColsNEON(dst, neonMR, src, ldsrc, k, m)
}

//go:noinline
func packAT(dst, src []float32, ldsrc, k, m int) {
	switch {
	case level != NEON:
		packPanelGeneric(dst, genericMR, src, ldsrc, k, m)
	case m == neonMR && k > 0:
		packPanel8NEON(k, &dst[0], &src[0], ldsrc)
	default:
		packPanelGeneric(dst, neonMR, src, ldsrc, k, m)
	}
}

//go:noinline
func transpose(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	if level != NEON {
		transposeGeneric(dst, lddst, src, ldsrc, rows, cols)
		return
	}
	transposeNEON(dst, lddst, src, ldsrc, rows, cols)
}

// packColsNEON is packColsGeneric: a transposition with zeros beyond column n.
func packColsNEON(dst []float32, width int, src []float32, ldsrc, k, n int) {
	transposeNEON(dst, width, src, ldsrc, n, k)
	if n < width {
		for p := range k {
			clear(dst[p*width+n : (p+1)*width])
		}
	}
}

// transposeNEON turns bands of four rows in assembly, whose length is a
// multiple of four, and the rest one by one.
func transposeNEON(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	r, c := rows&^3, cols&^3
	if c > 0 {
		for i := 0; i < r; i += 4 {
			// A call moves 4*chunk values at most, so that it can be preempted soon.
			for j := 0; j < c; j += chunk {
				transpose4NEON(&dst[j*lddst+i], lddst, &src[i*ldsrc+j], ldsrc, min(chunk, c-j))
			}
		}
	}
	if c < cols && r > 0 {
		transposeGeneric(dst[c*lddst:], lddst, src[c:], ldsrc, r, cols-c)
	}
	if r < rows {
		transposeGeneric(dst[r:], lddst, src[r*ldsrc:], ldsrc, rows-r, cols)
	}
}

//go:noescape
func packPanel12NEON(k int, dst, src *float32, ldsrc int)

//go:noescape
func packPanel8NEON(k int, dst, src *float32, ldsrc int)

//go:noescape
func packRows12NEON(k int, dst, src *float32, offsets *int)

//go:noescape
func transpose4NEON(dst *float32, lddst int, src *float32, ldsrc, cols int)
