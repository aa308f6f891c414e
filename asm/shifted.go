package asm

// AddShifted adds shifted rows of x to y, as a convolution of one plane with one kernel
// does: for each i, in the order of t,
//
//	y[i] += a[t] * x[at[t]+i] // fused where the level has FMA
//
// y must not overlap x. It panics with *Error unless at and a have the same length and
// every row lies in x.
func AddShifted(y, x []float32, at []int, a []float32) {
	same("AddShifted", "at", len(at), "a", len(a))
	for _, o := range at {
		if o < 0 || o > len(x)-len(y) {
			panic(&Error{"AddShifted", "an offset leads out of x"})
		}
		if raceEnabled {
			raceRead(x[o : o+len(y)])
		}
	}
	raceRead(a)
	raceWrite(y)
	if len(at) == 0 {
		return
	}
	// A value costs as many operations as there are rows.
	step := max(shiftedBlock, min(chunk, 16*chunk/len(at)/shiftedBlock*shiftedBlock))
	for len(y) > step {
		addShifted(y[:step], x, at, a)
		y, x = y[step:], x[step:]
	}
	if len(y) > 0 {
		addShifted(y, x, at, a)
	}
}

// shiftedBlock is the most values that a kernel of AddShifted has in registers.
const shiftedBlock = 128
