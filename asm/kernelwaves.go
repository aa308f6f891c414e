package asm

// KernelTaps are the taps (row, column) of a kernel of 7 x 7 in the order in which KernelWaves takes them: the
// middle one, and one of each pair t and -t, by their distance from the middle. A disc has the first ones.
var KernelTaps = [25][2]int{
	{0, 0},
	{0, 1}, {1, 0},
	{1, -1}, {1, 1},
	{0, 2}, {2, 0},
	{1, -2}, {1, 2}, {2, -1}, {2, 1},
	{2, -2}, {2, 2},
	{0, 3}, {3, 0},
	{1, -3}, {1, 3}, {3, -1}, {3, 1},
	{2, -3}, {2, 3}, {3, -2}, {3, 2},
	{3, -3}, {3, 3},
}

// KernelWaves takes kernels of 7 x 7 taps to a row of their spectra, one axis after the other, for n of them
// side by side.
//
// Slots are the taps folded about both axes, rows lds apart: the middle one, and two for each of
// the first pairs taps of KernelTaps behind it, an odd one and an even one, in this order. The slots of
// a tap (r, c) are sums over its mirror images (±r, ±c) with the sign of cosines or sines of the angles: of
//
//	even: sin r sin c for c < 0, else cos r cos c      odd: cos r sin c for c < 0 or r = 0, else sin r cos c
//
// With y = cos 1..3, sin 1..3 of the multiples of the angle between rows, and x [m-mirrored, 6] the same between
// columns for the first frequencies, the spectrum is
//
//	re[f] = sum over even slots of cos r cos c slot - sum of sin r sin c slot
//	im[f] = sum over odd slots of sin r cos c slot + sum of cos r sin c slot
//
// for m frequencies, rows ld apart, of which the last mirrored ones are opposite to others: f and m-f,
// 1 <= f <= mirrored. pairs is one of 0, 2, 4, 6, 10, 12, 14, 18, 22 and 24: all taps of a distance, or none.
//
// Meanwhile the processor is asked to bring as many slots to its caches, those ahead, which is a hint, or nil.
func KernelWaves(n, pairs, m, mirrored int, y *[6]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, ahead []float32) {
	const op = "KernelWaves"
	if !checkKernel(op, n, pairs, m, mirrored) {
		return
	}
	checkRows(op, "x", x, m-mirrored, len(y), len(y))
	checkRows(op, "slots", slots, 2*pairs+1, n, lds)
	checkDst(op, "re", re, m, n, ld)
	checkDst(op, "im", im, m, n, ld)
	if raceEnabled {
		raceRead(y[:])
		raceReadRows(x, m-mirrored, len(y), len(y))
		raceReadRows(slots, 2*pairs+1, n, lds)
		raceWriteRows(re, m, n, ld)
		raceWriteRows(im, m, n, ld)
	}
	for cols := kernelColumns(n, pairs, m); n > cols; n -= cols {
		kernelWaves(cols, pairs, m, mirrored, y, x, slots, lds, re, im, ld, ahead)
		slots, re, im, ahead = slots[cols:], re[cols:], im[cols:], from(ahead, cols)
	}
	kernelWaves(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld, ahead)
}

// KernelWavesGrad is the adjoint of KernelWaves: it takes re and im back to slots, or adds that to them with
// accumulate. y and x [m-mirrored, 7] have the cosine of no angle, or what frequencies and slots are to be weighted
// with in its place, before the others.
func KernelWavesGrad(n, pairs, m, mirrored int, y *[7]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, accumulate bool, ahead []float32) {
	const op = "KernelWavesGrad"
	if !checkKernel(op, n, pairs, m, mirrored) {
		return
	}
	checkRows(op, "x", x, m-mirrored, len(y), len(y))
	checkDst(op, "slots", slots, 2*pairs+1, n, lds)
	checkRows(op, "re", re, m, n, ld)
	checkRows(op, "im", im, m, n, ld)
	if raceEnabled {
		raceRead(y[:])
		raceReadRows(x, m-mirrored, len(y), len(y))
		raceWriteRows(slots, 2*pairs+1, n, lds)
		raceReadRows(re, m, n, ld)
		raceReadRows(im, m, n, ld)
	}
	for cols := kernelColumns(n, pairs, m); n > cols; n -= cols {
		kernelWavesGrad(cols, pairs, m, mirrored, y, x, slots, lds, re, im, ld, accumulate, ahead)
		slots, re, im, ahead = slots[cols:], re[cols:], im[cols:], from(ahead, cols)
	}
	kernelWavesGrad(n, pairs, m, mirrored, y, x, slots, lds, re, im, ld, accumulate, ahead)
}

// kernelColumns returns how many of n kernels one call of the assembly takes, which cannot be preempted: all of them, or as
// many as have so many slots and values of spectra.
func kernelColumns(n, pairs, m int) int {
	if values := 2*pairs + 1 + 2*m; n*values > stripStep {
		return stripColumns(values, 16)
	}
	return n
}

// checkKernel reports whether there is something to do.
func checkKernel(op string, n, pairs, m, mirrored int) bool {
	if n < 0 || m < 0 || mirrored < 0 || m > 0 && mirrored >= m-mirrored {
		panic(&Error{op, "negative size, or too many mirrored frequencies"})
	}
	distance := func(e int) int { return KernelTaps[e][0]*KernelTaps[e][0] + KernelTaps[e][1]*KernelTaps[e][1] }
	if pairs < 0 || pairs >= len(KernelTaps) || pairs+1 < len(KernelTaps) && distance(pairs) == distance(pairs+1) {
		panic(&Error{op, "pairs are not those of a disc"})
	}
	return n > 0 && m > 0
}

// kernelSlot says what a slot is multiplied with: the cosine or the sine of a row's angle, and of a column's.
type kernelSlot struct {
	row, col         int // >= 0
	sineRow, sineCol bool
}

// oddSlot and evenSlot return those of KernelTaps[e].
func oddSlot(e int) kernelSlot {
	r, c := KernelTaps[e][0], KernelTaps[e][1]
	ofCol := c < 0 || r == 0
	return kernelSlot{r, max(c, -c), !ofCol, ofCol}
}

func evenSlot(e int) kernelSlot {
	r, c := KernelTaps[e][0], KernelTaps[e][1]
	return kernelSlot{r, max(c, -c), c < 0, c < 0}
}

// wave returns the factor of a row or column in a table of the cosines of 1..3 and the sines of 1..3, with one
// before them of no angle.
func wave(table *[7]float32, angle int, sine bool) float32 {
	if sine {
		return table[3+angle]
	}
	return table[angle]
}

// eachKernelSlot calls f with each slot's number, the sum along columns that it is a part of, and the
// factor of its row. There are four kinds of four sums: of re by cosines and by sines along columns, and
// of im.
func eachKernelSlot(pairs int, y *[7]float32, f func(slot, sum int, factor float32)) {
	for e := 0; e <= pairs; e++ {
		s := evenSlot(e)
		kind := 0
		if s.sineCol {
			kind = 1
		}
		f(2*e, kind*4+s.col, wave(y, s.row, s.sineRow))
		if e == 0 {
			continue
		}
		s, kind = oddSlot(e), 2
		if s.sineCol {
			kind = 3
		}
		f(2*e-1, kind*4+s.col, wave(y, s.row, s.sineRow))
	}
}

// kernelWavesOf is KernelWaves, kernel by kernel.
func kernelWavesOf(n, pairs, m, mirrored int, y *[6]float32, x []float32, slots []float32, lds int, re, im []float32, ld int) {
	all := [7]float32{1, y[0], y[1], y[2], y[3], y[4], y[5]}
	for j := range n {
		var sums [16]float32
		eachKernelSlot(pairs, &all, func(slot, sum int, factor float32) {
			sums[sum] = float32(factor*slots[slot*lds+j]) + sums[sum]
		})
		for f := range m - mirrored {
			var parts [4]float32
			parts[0], parts[2] = sums[0], sums[8]
			for c := 1; c <= 3; c++ {
				cos, sin := x[f*6+c-1], x[f*6+c+2]
				parts[0], parts[2] = float32(cos*sums[c])+parts[0], float32(cos*sums[8+c])+parts[2]
				parts[1], parts[3] = float32(sin*sums[4+c])+parts[1], float32(sin*sums[12+c])+parts[3]
			}
			re[f*ld+j], im[f*ld+j] = parts[0]-parts[1], parts[2]+parts[3]
			if f >= 1 && f <= mirrored {
				re[(m-f)*ld+j], im[(m-f)*ld+j] = parts[0]+parts[1], parts[2]-parts[3]
			}
		}
	}
}

// kernelWavesGradOf is KernelWavesGrad, kernel by kernel.
func kernelWavesGradOf(n, pairs, m, mirrored int, y *[7]float32, x []float32, slots []float32, lds int, re, im []float32, ld int, accumulate bool) {
	for j := range n {
		var sums [16]float32
		for f := range m - mirrored {
			r, i := re[f*ld+j], im[f*ld+j]
			parts := [4]float32{r, -r, i, i}
			if f >= 1 && f <= mirrored {
				r, i := re[(m-f)*ld+j], im[(m-f)*ld+j]
				parts = [4]float32{parts[0] + r, r - parts[0], parts[2] + i, parts[2] - i}
			}
			for kind, part := range parts {
				for c := kind % 2; c <= 3; c++ {
					sums[kind*4+c] = float32(x[f*7+c+kind%2*3]*part) + sums[kind*4+c]
				}
			}
		}
		eachKernelSlot(pairs, y, func(slot, sum int, factor float32) {
			to := &slots[slot*lds+j]
			if accumulate {
				*to += float32(factor * sums[sum])
			} else {
				*to = factor * sums[sum]
			}
		})
	}
}
