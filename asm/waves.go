package asm

// GemmWaves multiplies complex columns by waves: a Fourier transform along the rows of X + iY, to
// w positions counted from their middle. For positions p from the middle on, that is for i < (w+1)/2,
//
//	Re[w/2+i] + i Im[w/2+i] = sum over frequencies f of (X[f] + i Y[f]) (C[f, i] + i S[f, i])
//
// and position (w-1)/2-i is the same with S negated, where w is odd that for i = 0 but once. Row f of C is the
// cosines of frequency f, for f <= period/2, and that of S its sines, for 1 <= f < period/2, given one behind the
// other in waves; those of period-f are the same, the sines negated. With turned it is the
// transform of -i (X + iY).
//
// X and Y have period rows of groups*n values, ldx apart, which is best not a multiple of 1024: such rows share
// few lines of the cache. Re and Im of a group have w rows of n values, and the groups are a distance apart. They
// must not overlap each other or the operands.
//
// Sums over f and period-f are taken in registers or, where no kernel does, in spare, of 2*period*groups*n
// values. Each result is summed in the order of the frequencies.
func GemmWaves(w, n, groups, period int, waves, x, y []float32, ldx int, re, im []float32, distance int, turned bool, spare []float32) {
	const op = "GemmWaves"
	if w < 0 || n < 0 || groups < 0 || period < 1 {
		panic(&Error{op, "negative size, or no frequency"})
	}
	if w == 0 || n == 0 || groups == 0 {
		return
	}
	m, part, line := over(w, 2), times(groups, n), times(w, n)
	checkRows(op, "waves", waves, period, m, m)
	checkRows(op, "x", x, period, part, ldx)
	checkRows(op, "y", y, period, part, ldx)
	checkDst(op, "re", re, groups, line, distance)
	checkDst(op, "im", im, groups, line, distance)
	if len(spare) < times(times(2, period), part) {
		panic(&Error{op, "spare is too short"})
	}
	if raceEnabled {
		raceRead(waves[:period*m])
		raceReadRows(x, period, part, ldx)
		raceReadRows(y, period, part, ldx)
		raceWriteRows(re, groups, line, distance)
		raceWriteRows(im, groups, line, distance)
		raceWrite(spare[:2*period*part])
	}
	v := waveProduct{w: w, n: n, groups: groups, period: period, waves: waves, x: x, y: y, ldx: ldx, re: re, im: im, distance: distance, turned: turned}
	v.multiply(spare)
}

// waveProduct is a call of GemmWaves.
type waveProduct struct {
	w, n, groups, period int
	waves, x, y          []float32
	ldx                  int
	re, im               []float32
	distance             int
	turned               bool
}

// folded takes the sums over opposite frequencies first, and then one product after the other.
func (v *waveProduct) folded(spare []float32) {
	part, half := v.groups*v.n, v.period/2
	even := half + 1
	m := (v.w + 1) / 2
	ofRe, ofIm := spare[:v.period*part], spare[v.period*part:][:v.period*part]
	for f := range even {
		x, y := v.x[f*v.ldx:][:part], v.y[f*v.ldx:][:part]
		if f == 0 || 2*f == v.period {
			copy(ofRe[f*part:], x)
			copy(ofIm[f*part:], y)
			continue
		}
		x2, y2 := v.x[(v.period-f)*v.ldx:][:part], v.y[(v.period-f)*v.ldx:][:part]
		sumDiff(ofRe[f*part:][:part], ofIm[(half+f)*part:][:part], x, x2)
		sumDiff(ofIm[f*part:][:part], ofRe[(half+f)*part:][:part], y2, y)
	}
	re, im := v.re, v.im
	if v.turned {
		re, im = im, re
	}
	for g := range v.groups {
		v.mirror(ofRe[g*v.n:], part, even, m, re[g*v.distance:])
		v.mirror(ofIm[g*v.n:], part, even, m, im[g*v.distance:])
		if v.turned {
			line := re[g*v.distance:][:v.w*v.n]
			affine(line, line, -1, 0)
		}
	}
}

func (v *waveProduct) mirror(x []float32, part, even, m int, line []float32) {
	GemmMirrored(m, v.n, even, v.period-even, v.waves, v.waves[even*m:], m, x, from(x, even*part), part, line[v.w/2*v.n:], line, v.n, v.w%2 == 1, false)
}
