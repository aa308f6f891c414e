package asm

func addShiftedGeneric(y, x []float32, at []int, a []float32) {
	for t, o := range at {
		axpyGeneric(y, a[t], x[o:o+len(y)])
	}
}
