//go:build !noasm

package asm

// For q < pairs, with x = late[(pairs-1-q)*run+i] and y = early[q*run+i],
//
//	even[q*step+i], odd[q*step+i] = x + y, x - y
//
//go:noescape
func foldAVX2(even, odd, late, early *float32, step, pairs, run int)

//go:noescape
func foldAVX512(even, odd, late, early *float32, step, pairs, run int)

//go:noinline
func fold(even, odd []float32, step int, late, early []float32, pairs, run int) {
	switch level {
	case AVX512:
		foldAVX512(&even[0], &odd[0], &late[0], &early[0], step, pairs, run)
	case AVX2:
		foldAVX2(&even[0], &odd[0], &late[0], &early[0], step, pairs, run)
	default:
		foldGeneric(even, odd, step, late, early, pairs, run, 0)
	}
}
