//go:build !noasm

package asm

// The stubs work on the windows of two rows of pixels, on n values of each of b; n is a
// multiple of 4. The last one to three values of the pixels go through them in padded
// copies.

//go:noescape
func normPoolNEON(dst, top, bottom *float32, windows, n, b int, m *NormMap)

//go:noescape
func normPoolSumsNEON(sums *[2]vec, dy, top, bottom *float32, windows, n, b int, m *NormMap)

//go:noescape
func normPoolGradNEON(dtop, dbottom, dy, top, bottom *float32, windows, n, b int, m *NormMap, p, q, r float32)

// narrowWindows is the number of windows of a padded copy.
const narrowWindows = colBlock / 2

// narrowPixels is a copy of the last values of the pixels of some windows.
type narrowPixels struct{ top, bottom, window narrow }

// gather copies the pixels of windows first..first+n-1 from value at on.
func (w *narrowPixels) gather(top, bottom []float32, first, n, at, b int) {
	from := 2*first*b + at
	w.top.gather(top[from:], 2*n, b-at, b)
	w.bottom.gather(bottom[from:], 2*n, b-at, b)
}

//go:noinline
func normPool(dst, top, bottom []float32, windows, b int, m *NormMap) {
	if level != NEON {
		normPoolGeneric(dst, top, bottom, b, m)
		return
	}
	n := b &^ 3
	if n > 0 {
		normPoolNEON(&dst[0], &top[0], &bottom[0], windows, n, b, m)
	}
	if n == b {
		return
	}
	var w narrowPixels
	for first := 0; first < windows; first += narrowWindows {
		h := min(narrowWindows, windows-first)
		w.gather(top, bottom, first, h, n, b)
		normPoolNEON(&w.window[0], &w.top[0], &w.bottom[0], h, 4, 4, m)
		w.window.scatter(dst[first*b+n:], h, b-n, b)
	}
}

// poolSums is the number of values of windows that are added in float32, in four sums.
const poolSums = 1024

//go:noinline
func normPoolSums(dy, top, bottom []float32, windows, b int, m *NormMap) (sumOf, dotOf float64) {
	if level != NEON {
		return normPoolSumsGeneric(dy, top, bottom, b, m)
	}
	var sums [2]vec
	n := b &^ 3
	step := max(1, poolSums/b)
	for first := 0; first < windows; first += step {
		h := min(step, windows-first)
		for j := 0; j < n; j += poolSums {
			at, from := first*b+j, 2*first*b+j
			normPoolSumsNEON(&sums, &dy[at], &top[from], &bottom[from], h, min(poolSums, n-j), b, m)
			sumOf += lanes(sums[0][:])
			dotOf += lanes(sums[1][:])
		}
	}
	if n == b {
		return sumOf, dotOf
	}
	var w narrowPixels
	for first := 0; first < windows; first += narrowWindows {
		h := min(narrowWindows, windows-first)
		w.gather(top, bottom, first, h, n, b)
		w.window.gather(dy[first*b+n:], h, b-n, b)
		normPoolSumsNEON(&sums, &w.window[0], &w.top[0], &w.bottom[0], h, 4, 4, m)
		sumOf += lanes(sums[0][:b-n])
		dotOf += lanes(sums[1][:b-n])
	}
	return sumOf, dotOf
}

//go:noinline
func normPoolGrad(dtop, dbottom, dy, top, bottom []float32, windows, b int, m *NormMap, p, q, r float32) {
	if level != NEON {
		normPoolGradGeneric(dtop, dbottom, dy, top, bottom, b, m, p, q, r)
		return
	}
	n := b &^ 3
	if n > 0 {
		normPoolGradNEON(&dtop[0], &dbottom[0], &dy[0], &top[0], &bottom[0], windows, n, b, m, p, q, r)
	}
	if n == b {
		return
	}
	var w narrowPixels
	for first := 0; first < windows; first += narrowWindows {
		h, to := min(narrowWindows, windows-first), 2*first*b+n
		w.gather(top, bottom, first, h, n, b)
		w.window.gather(dy[first*b+n:], h, b-n, b)
		normPoolGradNEON(&w.top[0], &w.bottom[0], &w.window[0], &w.top[0], &w.bottom[0], h, 4, 4, m, p, q, r)
		w.top.scatter(dtop[to:], 2*h, b-n, b)
		w.bottom.scatter(dbottom[to:], 2*h, b-n, b)
	}
}
