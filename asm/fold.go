package asm

// SumDiff writes x[i] + y[i] to sum[i] and x[i] - y[i] to diff[i]. Either may be x or
// y. It panics with *Error unless the lengths are equal.
func SumDiff(sum, diff, x, y []float32) {
	n := len(sum)
	same("SumDiff", "sum", n, "diff", len(diff))
	same("SumDiff", "sum", n, "x", len(x))
	same("SumDiff", "sum", n, "y", len(y))
	raceRead(x)
	raceRead(y)
	raceWrite(sum)
	raceWrite(diff)
	sumDiff(sum, diff, x, y)
}

func sumDiff(sum, diff, x, y []float32) {
	for len(x) > chunk {
		fold(sum[:chunk], diff[:chunk], 0, x[:chunk], y[:chunk], 1, chunk)
		sum, diff, x, y = sum[chunk:], diff[chunk:], x[chunk:], y[chunk:]
	}
	if len(x) > 0 {
		fold(sum, diff, 0, x, y, 1, len(x))
	}
}

// Fold splits x, n runs of values, into its even and its odd part about the middle: for
// q < n/2, run by run,
//
//	even[q] = x[n-1-q] + x[q]
//	odd[q]  = x[n-1-q] - x[q]
//
// and even[n/2] = x[n/2], the middle run of an odd number. The runs of x lie one behind the
// other, those of even and odd begin step values apart, no less than a run has. They must
// not overlap x. It panics with *Error where a slice is too short.
func Fold(even, odd []float32, step int, x []float32, n int) {
	if n <= 0 || len(x)%n != 0 {
		panic(&Error{"Fold", "x is not n > 0 runs of the same length"})
	}
	run, pairs := len(x)/n, n/2
	if step < run {
		panic(&Error{"Fold", "step is less than a run"})
	}
	if run == 0 {
		return
	}
	checkDst("Fold", "even", even, n-pairs, run, step)
	checkDst("Fold", "odd", odd, pairs, run, step)
	raceRead(x)
	if raceEnabled {
		raceWriteRows(even, n-pairs, run, step)
		raceWriteRows(odd, pairs, run, step)
	}
	late := x[(n-pairs)*run:]
	if len(late) <= chunk && pairs > 0 {
		fold(even, odd, step, late, x, pairs, run)
	} else {
		for q := range pairs {
			sumDiff(even[q*step:][:run], odd[q*step:][:run], late[(pairs-1-q)*run:][:run], x[q*run:][:run])
		}
	}
	if n%2 == 1 {
		copy(even[pairs*step:][:run], x[pairs*run:])
	}
}
