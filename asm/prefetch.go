package asm

// Prefetch asks the processor to bring rows rows of cols values, ld apart, into
// its second-level cache. It is a hint: a level without such an instruction does
// nothing, and so does a processor that is busy.
func Prefetch(x []float32, ld, rows, cols int) {
	if rows < 1 || cols < 1 {
		return
	}
	checkRows("Prefetch", "x", x, rows, cols, ld)
	prefetch(x, ld, rows, cols)
}
