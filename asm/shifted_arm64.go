//go:build !noasm

package asm

//go:noinline
func addShifted(y, x []float32, at []int, a []float32) {
	if level != NEON {
		addShiftedGeneric(y, x, at, a)
		return
	}
	n := len(y) &^ 3
	if n > 0 {
		addShiftedNEON(n, len(at), &y[0], &x[0], &at[0], &a[0])
	}
	if n == len(y) {
		return
	}
	m, begin := pad(y[n:]), 0
	for t, o := range at {
		p := pad(x[o+n : o+len(y)])
		addShiftedNEON(4, 1, &m[0], &p[0], &begin, &a[t])
	}
	copy(y[n:], m[:])
}

//go:noescape
func addShiftedNEON(n, rows int, y, x *float32, at *int, a *float32)
