//go:build !noasm

package asm

import (
	"math"
	"unsafe"
)

// packStep is the most values that one call of a packing kernel copies. Memory
// may be slow, so this is well below what fits into the time that a kernel may
// hold up a garbage collection.
const packStep = 32 << 10

// onOff holds sixteen masks that are on and sixteen that are off, for
// VMASKMOVPS; see vectorMasks. The AVX2 tile reads it too.
var onOff = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// vectorMasks points to sixteen masks of which the first n are on.
func vectorMasks(n int) *int32 { return &onOff[16-n] }

func packPanel(dst, src []float32, ldsrc, k, n int) {
	switch level {
	case AVX512:
		packWidth(dst, avx512NR, src, ldsrc, k, n)
	case AVX2:
		packWidth(dst, avx2NR, src, ldsrc, k, n)
	default:
		packPanelGeneric(dst, genericNR, src, ldsrc, k, n)
	}
}

func packAT(dst, src []float32, ldsrc, k, m int) {
	switch level {
	case AVX512:
		packWidth(dst, avx512MR, src, ldsrc, k, m)
	case AVX2:
		packWidth(dst, avx2MR, src, ldsrc, k, m)
	default:
		packPanelGeneric(dst, genericMR, src, ldsrc, k, m)
	}
}

// packWidth packs panels of width values a step by the assembly of AVX2 or
// AVX512. The functions that call assembly are not inlined, so that they have
// the prologue in which the scheduler can stop a goroutine.
//
//go:noinline
func packWidth(dst []float32, width int, src []float32, ldsrc, k, n int) {
	for p := 0; p < k; {
		steps := min(k-p, packStep/width)
		d, s := &dst[p*width], unsafe.SliceData(src)
		if n > 0 {
			s = &src[p*ldsrc]
		}
		if level == AVX512 {
			packRowsAVX512(d, width, s, ldsrc, steps, columnMask(n), columnMask(width))
		} else {
			packRowsAVX2(d, width, s, ldsrc, steps, vectorMasks(n))
		}
		p += steps
	}
}

//go:noinline
func packRows(dst, src []float32, offsets []int, n int) {
	if level == Generic {
		packRowsGeneric(dst, genericNR, src, offsets, n)
		return
	}
	for len(offsets) > 0 {
		var width int
		steps := min(len(offsets), packStep/avx512NR)
		if level == AVX512 {
			width = avx512NR
			gatherRowsAVX512(&dst[0], unsafe.SliceData(src), &offsets[0], steps, columnMask(n))
		} else {
			width = avx2NR
			gatherRowsAVX2(&dst[0], unsafe.SliceData(src), &offsets[0], steps, vectorMasks(n))
		}
		dst, offsets = dst[steps*width:], offsets[steps:]
	}
}

func packCols(dst, src []float32, ldsrc, k, n int) {
	switch level {
	case AVX512:
		packTransposed(dst, avx512NR, src, ldsrc, k, n)
	case AVX2:
		packTransposed(dst, avx2NR, src, ldsrc, k, n)
	default:
		packColsGeneric(dst, genericNR, src, ldsrc, k, n)
	}
}

func packA(dst, src []float32, ldsrc, k, m int) {
	switch level {
	case AVX512:
		packTransposed(dst, avx512MR, src, ldsrc, k, m)
	case AVX2:
		packTransposed(dst, avx2MR, src, ldsrc, k, m)
	default:
		packColsGeneric(dst, genericMR, src, ldsrc, k, m)
	}
}

// packTransposed packs n rows of src to a panel of width values a step.
func packTransposed(dst []float32, width int, src []float32, ldsrc, k, n int) {
	if k == 0 {
		return
	}
	strip := stripRows(n)
	for j := 0; j < width; j += strip {
		// Rows beyond n are zeros of the panel.
		transposeStrip(dst[j:], width, from(src, j*ldsrc), ldsrc, max(0, min(strip, n-j)), k, min(strip, width-j))
	}
}

func transpose(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	if level == Generic {
		transposeGeneric(dst, lddst, src, ldsrc, rows, cols)
		return
	}
	if level == AVX512 && cols <= narrowColumns && ldsrc <= math.MaxInt32/16 {
		transposeNarrow(dst, lddst, src, ldsrc, rows, cols)
		return
	}
	for i := 0; i < rows; {
		strip := stripRows(rows - i)
		if level == AVX2 && rows > strip {
			i = min(i, rows-strip) // the last rows, some of them again: fewer than 8 are stored in parts
		}
		n := min(strip, rows-i)
		transposeStrip(dst[i:], lddst, src[i*ldsrc:], ldsrc, n, cols, n)
		i += n
	}
}

// narrowColumns is the largest number of columns that are gathered one by one:
// the blocks of transposeStrip would be nearly empty.
const narrowColumns = 4

// transposeNarrow is transpose for AVX512, few columns and distances of which 16
// fit into an int32.
//
//go:noinline
func transposeNarrow(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	const step = 4096 // rows, of a line each
	var index [16]int32
	for i := range index {
		index[i] = int32(i * ldsrc)
	}
	for i := 0; i < rows; i += step {
		for j := range cols {
			gatherColumnAVX512(&dst[j*lddst+i], &src[i*ldsrc+j], ldsrc, min(step, rows-i), &index)
		}
	}
}

// stripRows returns how many rows of so many transposeStrip takes.
func stripRows(rows int) int {
	if level == AVX2 && rows < 16 {
		return 8
	}
	return 16
}

// transposeStrip writes the transpose of rows rows to the first lanes values of
// each row of dst, zeros where lanes exceeds rows.
//
//go:noinline
func transposeStrip(dst []float32, lddst int, src []float32, ldsrc, rows, cols, lanes int) {
	const step = packStep / 16
	for j := 0; j < cols; j += step {
		n := min(step, cols-j)
		d, s := dst[j*lddst:], src
		if rows > 0 {
			s = src[j:]
		}
		if level == AVX512 {
			transposeStripAVX512(&d[0], lddst, unsafe.SliceData(s), ldsrc, rows, n, columnMask(lanes))
			continue
		}
		if whole := n &^ 3; whole > 0 {
			transposeStripAVX2(&d[0], lddst, unsafe.SliceData(s), ldsrc, rows, whole, lanes)
			if whole < n { // the last four columns, some of them again
				at := n - 4
				transposeStripAVX2(&d[at*lddst], lddst, unsafe.SliceData(from(s, at)), ldsrc, rows, 4, lanes)
			}
			continue
		}
		for c := range n {
			out := d[c*lddst:][:lanes]
			for i := range out {
				out[i] = 0
				if i < rows {
					out[i] = s[i*ldsrc+c]
				}
			}
		}
	}
}

// packRowsAVX512 copies k rows of as many values as load has bits to rows of
// width values, of which store has the bits. k >= 1.
//
//go:noescape
func packRowsAVX512(dst *float32, width int, src *float32, ldsrc, k int, load, store uint32)

// gatherColumnAVX512 copies n >= 1 values that are ldsrc apart; index holds the
// first 16 multiples of ldsrc.
//
//go:noescape
func gatherColumnAVX512(dst, src *float32, ldsrc, n int, index *[16]int32)

// packRowsAVX2 does the same with vectorMasks and a width of 16 or 6.
//
//go:noescape
func packRowsAVX2(dst *float32, width int, src *float32, ldsrc, k int, load *int32)

// gatherRowsAVX512 is PackRows for k = len(offsets) >= 1.
//
//go:noescape
func gatherRowsAVX512(dst, src *float32, offsets *int, k int, load uint32)

// gatherRowsAVX2 does the same with vectorMasks.
//
//go:noescape
func gatherRowsAVX2(dst, src *float32, offsets *int, k int, load *int32)

// transposeStripAVX512 is transposeStrip for rows <= 16, lanes by the bits of
// store, cols >= 1.
//
//go:noescape
func transposeStripAVX512(dst *float32, lddst int, src *float32, ldsrc, rows, cols int, store uint32)

// transposeStripAVX2 is transposeStrip for lanes <= 8 or rows = lanes = 16, cols >= 4 and a multiple of 4.
//
//go:noescape
func transposeStripAVX2(dst *float32, lddst int, src *float32, ldsrc, rows, cols, lanes int)
