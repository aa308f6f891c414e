package asm

// foldGeneric computes the values from..run-1 of each run.
func foldGeneric(even, odd []float32, step int, late, early []float32, pairs, run, from int) {
	for q := range pairs {
		for i := from; i < run; i++ {
			x, y := late[(pairs-1-q)*run+i], early[q*run+i]
			even[q*step+i], odd[q*step+i] = x+y, x-y
		}
	}
}
