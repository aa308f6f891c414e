//go:build !noasm

package asm

// y[i] = fma(a[t], x[at[t]+i], y[i]) for each of so many rows, at least one, in turn
//
//go:noescape
func addShiftedAVX2(y, x *float32, at *int, a *float32, rows, n int)

//go:noescape
func addShiftedAVX512(y, x *float32, at *int, a *float32, rows, n int)

//go:noinline
func addShifted(y, x []float32, at []int, a []float32) {
	switch level {
	case AVX512:
		addShiftedAVX512(&y[0], &x[0], &at[0], &a[0], len(at), len(y))
	case AVX2:
		addShiftedAVX2(&y[0], &x[0], &at[0], &a[0], len(at), len(y))
	default:
		addShiftedGeneric(y, x, at, a)
	}
}
