//go:build !noasm

package asm

//go:noinline
func fold(even, odd []float32, step int, late, early []float32, pairs, run int) {
	n := 0
	if level == NEON {
		n = run &^ 3
	}
	if n > 0 {
		foldNEON(n, &even[0], &odd[0], &late[0], &early[0], step, pairs, run)
	}
	// A value is one operation, so its bits are those of the vectors.
	foldGeneric(even, odd, step, late, early, pairs, run, n)
}

//go:noescape
func foldNEON(n int, even, odd, late, early *float32, step, pairs, run int)
