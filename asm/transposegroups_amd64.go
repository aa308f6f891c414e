//go:build !noasm

package asm

// transposeQuadsAVX512 transposes at most 16 rows and 16 columns. Rows 4, 8 and 12 of src begin at
// s1, s2 and s3, and so do columns 4, 8 and 12, which are rows of dst, at d1, d2 and d3.
//
//go:noescape
func transposeQuadsAVX512(dst *float32, lddst, d1, d2, d3 int, src *float32, ldsrc, s1, s2, s3, rows, cols int)

// transposeGroups takes 16 rows at a time, whichever groups they are of, if these have a multiple of four.
func transposeGroups(dst []float32, lddst int, src []float32, ldsrc, stride, groups, rows, cols int) {
	if level != AVX512 || rows%4 != 0 {
		groupByGroup(dst, lddst, src, ldsrc, stride, groups, rows, cols)
		return
	}
	for i := 0; i < groups*rows; i += 16 {
		at := quadsOf(i, groups*rows, rows, ldsrc, stride)
		for j := 0; j < cols; j += quadsStep {
			transposeQuadRows(dst[j*lddst+i:], lddst, src[at[0]+j:], ldsrc, &at, min(16, groups*rows-i), min(quadsStep, cols-j))
		}
	}
}

// transposeToGroups takes 16 columns at a time in the same way.
func transposeToGroups(dst []float32, lddst, stride int, src []float32, ldsrc, rows, groups, cols int) {
	if level != AVX512 || cols%4 != 0 {
		toGroupByGroup(dst, lddst, stride, src, ldsrc, rows, groups, cols)
		return
	}
	for j := 0; j < groups*cols; j += 16 {
		at := quadsOf(j, groups*cols, cols, lddst, stride)
		for i := 0; i < rows; i += quadsStep {
			transposeQuadColumns(dst[at[0]+i:], lddst, src[i*ldsrc+j:], ldsrc, &at, min(quadsStep, rows-i), min(16, groups*cols-j))
		}
	}
}

// quadsStep is how many lines of 16 values are transposed before a goroutine can be stopped.
const quadsStep = packStep / 16

// transposeQuadRows transposes rows <= 16 rows, of which those of at begin four each.
//
//go:noinline
func transposeQuadRows(dst []float32, lddst int, src []float32, ldsrc int, at *[4]int, rows, cols int) {
	for j := 0; j < cols; j += 16 {
		transposeQuadsAVX512(&dst[j*lddst], lddst, 4*lddst, 8*lddst, 12*lddst,
			&src[j], ldsrc, at[1]-at[0], at[2]-at[0], at[3]-at[0], rows, min(16, cols-j))
	}
}

// transposeQuadColumns transposes cols <= 16 columns in the same way.
//
//go:noinline
func transposeQuadColumns(dst []float32, lddst int, src []float32, ldsrc int, at *[4]int, rows, cols int) {
	for i := 0; i < rows; i += 16 {
		transposeQuadsAVX512(&dst[i], lddst, at[1]-at[0], at[2]-at[0], at[3]-at[0],
			&src[i*ldsrc], ldsrc, 4*ldsrc, 8*ldsrc, 12*ldsrc, min(16, rows-i), cols)
	}
}

// quadsOf returns where lines i, i+4, i+8 and i+12 of so many begin that lie in groups of n, as far as
// they are there.
func quadsOf(i, lines, n, ld, stride int) (at [4]int) {
	for q := range at {
		line := min(i+4*q, lines-4)
		at[q] = line/n*stride + line%n*ld
	}
	return at
}
