//go:build !noasm

package asm

import "unsafe"

// splitLeftAVX512 splits m rows.
//
//go:noescape
func splitLeftAVX512(dst, x *float32, ld, m, k int)

// splitRightAVX512 splits n <= 32 columns.
//
//go:noescape
func splitRightAVX512(dst, x *float32, ld, k, n int)

//go:noinline
func splitLeft(dst, x []float32, ld, m, k int) {
	if level != AVX512 {
		splitLeftGeneric(dst, x, ld, m, k)
		return
	}
	splitLeftAVX512(&dst[0], &x[0], ld, m, k)
}

//go:noinline
func splitRight(dst, x []float32, ld, k, n int) {
	if level != AVX512 {
		splitRightGeneric(dst, x, ld, k, n)
		return
	}
	splitRightAVX512(&dst[0], &x[0], ld, k, n)
}

//go:noinline
func gemmSplit(m, n, steps int, a, b, c []float32, ldc int, accumulate bool) {
	if !fastSplit || steps == 0 {
		gemmSplitGeneric(m, n, steps, a, b, c, ldc, accumulate)
		return
	}
	done := 0
	if m == splitTile {
		if panels := n / splitTile; panels > 0 {
			gemmSplitPanelsAMX(1, panels, steps, &a[0], &b[0], steps*splitBlock, &c[0], ldc, accumulate, &a[0], 0)
			done = panels * splitTile
		}
	}
	for ; done < n; done += splitTile {
		gemmSplitEdge(m, min(splitTile, n-done), steps, a, b[done*steps*splitBlock/splitTile:], c[done:], ldc, accumulate)
	}
}

// gemmSplitEdge multiplies a block of fewer rows or columns, in a copy of C.
func gemmSplitEdge(m, n, steps int, a, b, c []float32, ldc int, accumulate bool) {
	var block [splitTile * splitTile]float32
	if accumulate {
		for i := range m {
			copy(block[i*splitTile:][:n], c[i*ldc:])
		}
	}
	gemmSplitPanelsAMX(1, 1, steps, &a[0], &b[0], 0, &block[0], splitTile, accumulate, &a[0], 0)
	for i := range m {
		copy(c[i*ldc:][:n], block[i*splitTile:])
	}
}

// gemmSplitPanelsAMX multiplies strips of 32 rows by panels of 32 columns, distance
// values apart. Only addresses are made from ahead.
//
//go:noescape
func gemmSplitPanelsAMX(strips, panels, steps int, a, b *float32, distance int, c *float32, ldc int, accumulate bool, ahead *float32, stride int)

//go:noinline
func gemmSplitPanels(m, n, steps int, a, b []float32, distance int, c []float32, ldc int, accumulate bool, ahead []float32, stride int) {
	strips, panels := m/splitTile, n/splitTile
	if !fastSplit || strips == 0 || panels == 0 || steps == 0 {
		gemmSplitPanelsParts(m, n, steps, a, b, distance, c, ldc, accumulate)
		return
	}
	fetch := unsafe.SliceData(ahead)
	if len(ahead) == 0 {
		fetch, stride = &a[0], 0
	}
	gemmSplitPanelsAMX(strips, panels, steps, &a[0], &b[0], distance, &c[0], ldc, accumulate, fetch, stride)
	rows, cols := strips*splitTile, panels*splitTile
	if rows < m {
		gemmSplitPanelsParts(m-rows, cols, steps, a[strips*steps*splitBlock:], b, distance, c[rows*ldc:], ldc, accumulate)
	}
	if cols < n {
		gemmSplitPanelsParts(m, n-cols, steps, a, b[panels*distance:], distance, c[cols:], ldc, accumulate)
	}
}
