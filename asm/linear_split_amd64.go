//go:build !noasm

package asm

import "unsafe"

// linearSplitAMX is LinearSplit for strips*32 rows and panels*32 columns, all at
// least 1. It writes c through the caches with stores = 0, past them with 2, and past
// them but for every eighth row with 1; then c and ldc must be multiples of 64 bytes.
//
//go:noescape
func linearSplitAMX(strips, panels, steps int, a, b, bias, c *float32, ldc int, stores uint8)

//go:noinline
func linearSplit(m, n, steps int, a, b, bias, c []float32, ldc int, stream, few bool) {
	rows, cols := m&^(splitTile-1), n&^(splitTile-1)
	if !fastSplit || rows == 0 || cols == 0 {
		linearSplitParts(m, n, steps, a, b, bias, c, ldc)
		return
	}
	line := uintptr(unsafe.Pointer(unsafe.SliceData(c)))%64 == 0 && ldc%16 == 0
	var stores uint8
	switch {
	case stream && line && few:
		stores = 1
	case stream && line:
		stores = 2
	}
	linearSplitAMX(rows/splitTile, cols/splitTile, steps, &a[0], &b[0], &bias[0], &c[0], ldc, stores)
	if cols < n {
		linearSplitParts(rows, n-cols, steps, a, b[cols*steps*splitBlock/splitTile:], bias, c[cols:], ldc)
	}
	if rows < m {
		linearSplitParts(m-rows, n, steps, a[rows*steps*splitBlock/splitTile:], b, bias[rows:], c[rows*ldc:], ldc)
	}
}
