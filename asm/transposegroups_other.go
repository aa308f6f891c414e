//go:build noasm || !amd64

package asm

func transposeGroups(dst []float32, lddst int, src []float32, ldsrc, stride, groups, rows, cols int) {
	groupByGroup(dst, lddst, src, ldsrc, stride, groups, rows, cols)
}

func transposeToGroups(dst []float32, lddst, stride int, src []float32, ldsrc, rows, groups, cols int) {
	toGroupByGroup(dst, lddst, stride, src, ldsrc, rows, groups, cols)
}
