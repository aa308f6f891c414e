//go:build !noasm

package asm

import "unsafe"

//go:noinline
func prefetch(x []float32, ld, rows, cols int) {
	if level != Generic {
		prefetchT1(unsafe.SliceData(x), ld, rows, cols)
	}
}

// prefetchT1 is Prefetch for rows, cols >= 1. Every processor has it.
//
//go:noescape
func prefetchT1(x *float32, ld, rows, cols int)
