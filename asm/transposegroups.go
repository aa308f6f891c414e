package asm

// TransposeGroups transposes groups of rows that are stride apart, and writes them side by side:
//
//	dst[j*lddst+g*rows+i] = src[g*stride+i*ldsrc+j] // g < groups, i < rows, j < cols
func TransposeGroups(dst []float32, lddst int, src []float32, ldsrc, stride, groups, rows, cols int) {
	const op = "TransposeGroups"
	checkGroups(op, "src", src, groups, rows, cols, ldsrc, stride)
	checkDst(op, "dst", dst, cols, times(groups, rows), lddst)
	if groups == 0 || rows == 0 || cols == 0 {
		return
	}
	if raceEnabled {
		for g := range groups {
			raceReadRows(src[g*stride:], rows, cols, ldsrc)
		}
		raceWriteRows(dst, cols, groups*rows, lddst)
	}
	transposeGroups(dst, lddst, src, ldsrc, stride, groups, rows, cols)
}

// TransposeToGroups is TransposeGroups back: it transposes groups of columns that lie side by side,
// and writes them stride apart,
//
//	dst[g*stride+j*lddst+i] = src[i*ldsrc+g*cols+j] // g < groups, j < cols, i < rows
//
// Groups of dst must not overlap.
func TransposeToGroups(dst []float32, lddst, stride int, src []float32, ldsrc, rows, groups, cols int) {
	const op = "TransposeToGroups"
	checkGroups(op, "dst", dst, groups, cols, rows, lddst, stride)
	checkRows(op, "src", src, rows, times(groups, cols), ldsrc)
	if groups == 0 || rows == 0 || cols == 0 {
		return
	}
	if raceEnabled {
		raceReadRows(src, rows, groups*cols, ldsrc)
		for g := range groups {
			raceWriteRows(dst[g*stride:], cols, rows, lddst)
		}
	}
	transposeToGroups(dst, lddst, stride, src, ldsrc, rows, groups, cols)
}

func groupByGroup(dst []float32, lddst int, src []float32, ldsrc, stride, groups, rows, cols int) {
	for g := range groups {
		transpose(dst[g*rows:], lddst, src[g*stride:], ldsrc, rows, cols)
	}
}

func toGroupByGroup(dst []float32, lddst, stride int, src []float32, ldsrc, rows, groups, cols int) {
	for g := range groups {
		transpose(dst[g*stride:], lddst, src[g*cols:], ldsrc, rows, cols)
	}
}

// checkGroups panics unless groups of [rows, cols], stride apart, lie in x.
func checkGroups(op, name string, x []float32, groups, rows, cols, ld, stride int) {
	if groups < 0 || rows < 0 || cols < 0 || stride < 0 {
		panic(&Error{op, "negative size"})
	}
	if groups == 0 {
		return
	}
	last := times(groups-1, stride)
	if last > len(x) {
		panic(&Error{op, name + " is shorter than its groups"})
	}
	checkRows(op, name, x[last:], rows, cols, ld)
}
