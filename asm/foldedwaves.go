package asm

// FoldedWaves multiplies a plane [h, w, n] by waves along y: a Fourier transform to m frequencies, whose
// results are split into the even and the odd part about the middle of x. With rows y and h-1-y, and
// columns x and w-1-x, for x < (w+1)/2 and frequency g,
//
//	r[x], i[x] = sum over y of C[y, g] plane[y, x], of S[y, g] plane[y, x]
//	even part of r, for one of its columns: r[w-1-x] + r[x], the middle one as it is
//	odd part of r, for x < w/2:             r[w-1-x] - r[x]
//
// Row y < h/2 of C and of S is for row h-1-y of the plane and, negated in S, for row y. Where h is odd, C has one more, for
// the middle row. Rows of both are ldw apart.
//
// The even part of r and the odd part of i are written to one, the even part of i and the odd part of r to
// other: the columns of the one behind those of the other, position values apart, and frequencies ld apart. They
// must not overlap the operands. Sums of rows and columns are taken in registers or in spare, of (h+2)*w*n values.
func FoldedWaves(m, h, w, n int, c, s []float32, ldw int, plane, one, other []float32, position, ld int, spare []float32) {
	const op = "FoldedWaves"
	if m < 0 || h < 1 || w < 1 || n < 0 {
		panic(&Error{op, "negative size, or no plane"})
	}
	if m == 0 || n == 0 {
		return
	}
	line := times(w, n)
	checkRows(op, "c", c, over(h, 2), m, ldw)
	checkRows(op, "s", s, h/2, m, ldw)
	checkRows(op, "plane", plane, h, line, line)
	width := plus(times(w-1, max(0, position)), n) // of a frequency
	if position < n || m > 1 && ld < width {
		panic(&Error{op, "results overlap"})
	}
	checkRows(op, "one", one, m, width, ld)
	checkRows(op, "other", other, m, width, ld)
	if len(spare) < times(plus(h, 2), line) {
		panic(&Error{op, "spare is too short"})
	}
	if raceEnabled {
		raceReadRows(c, over(h, 2), m, ldw)
		raceReadRows(s, h/2, m, ldw)
		raceRead(plane[:h*line])
		raceWrite(spare[:(h+2)*line])
		for g := range m {
			raceWriteRows(one[g*ld:], w, n, position)
			raceWriteRows(other[g*ld:], w, n, position)
		}
	}
	f := foldedWaves{m: m, h: h, w: w, n: n, c: c, s: s, ldw: ldw, plane: plane, one: one, other: other, position: position, ld: ld}
	f.multiply(spare)
}

// foldedWaves is a call of FoldedWaves.
type foldedWaves struct {
	m, h, w, n        int
	c, s              []float32
	ldw               int
	plane, one, other []float32
	position, ld      int
}

// folded splits the plane first, and then makes one product after the other.
func (f *foldedWaves) folded(spare []float32) {
	line, half, ahead := f.w*f.n, f.h/2, (f.w+1)/2
	even, odd, spare := spare[:(f.h-half)*line], spare[(f.h-half)*line:][:half*line], spare[f.h*line:]
	sum, difference := spare[:line], spare[line:][:line]
	split := func(to, from []float32) { Fold(to, to[ahead*f.n:], f.n, from, f.w) }
	for y := range half {
		sumDiff(sum, difference, f.plane[(f.h-1-y)*line:][:line], f.plane[y*line:][:line])
		split(even[y*line:][:line], sum)
		split(odd[y*line:][:line], difference)
	}
	if f.h%2 == 1 {
		split(even[half*line:][:line], f.plane[half*line:][:line])
	}
	together := 1 // columns whose values follow one another
	if f.position == f.n {
		together = f.w
	}
	for x := 0; x < f.w; x += together {
		f.columns(even, odd, line, x, min(x+together, ahead), f.one, f.other)
		f.columns(even, odd, line, max(x, ahead), x+together, f.other, f.one)
	}
}

// columns multiplies columns from first to last, of the even or the odd part along x, whose real row belongs to re and
// whose imaginary row to im.
func (f *foldedWaves) columns(even, odd []float32, line, first, last int, re, im []float32) {
	if first >= last {
		return
	}
	_, nr := gemmTile()
	n, at, to := (last-first)*f.n, first*f.n, first*f.position
	gemmRows(f.m, n, f.h-f.h/2, f.c, 1, f.ldw, even[at:], line, nr, re[to:], f.ld, false)
	gemmRows(f.m, n, f.h/2, f.s, 1, f.ldw, from(odd, at), line, nr, im[to:], f.ld, false)
}
