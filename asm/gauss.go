package asm

// GaussFactors makes what Gauss' three products take of the spectrum of a real kernel, at m
// frequencies, from n values of each of its folded taps b [2e+1, n], rows ldb apart: the middle one,
// e sums and e differences. With the waves a [m, 2e+1], cosines and then sines,
//
//	re[f] = sum over r <= e of a[f][r] b[r], im[f] = sum over e < r <= 2e of a[f][r] b[r]
//	c[f]  = re[f]+im[f], im[f], re[f]
//
// where the three are distance values apart, and those of the next frequency ldc.
func GaussFactors(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	const op = "GaussFactors"
	if m < 0 || n < 0 || e < 0 {
		panic(&Error{op, "negative size"})
	}
	if m == 0 || n == 0 {
		return
	}
	count := plus(times(2, e), 1)
	checkRows(op, "a", a, m, count, count)
	checkRows(op, "b", b, count, n, ldb)
	checkDst(op, "c", c, 3, n, distance)
	checkDst(op, "c", c, m, 2*distance+n, ldc)
	if raceEnabled {
		raceReadRows(a, m, count, count)
		raceReadRows(b, count, n, ldb)
		for f := range m {
			raceWriteRows(c[f*ldc:], 3, n, distance)
		}
	}
	gaussFactors(m, n, e, a, b, ldb, c, distance, ldc)
}

// gaussFactorsOf multiplies real and imaginary part.
func gaussFactorsOf(m, n, e int, a []float32, b []float32, ldb int, c []float32, distance, ldc int) {
	count := 2*e + 1
	mr, nr := gemmTile()
	step := stripColumns(count, nr)
	for f := 0; f < m; f += mr {
		rows := min(mr, m-f)
		for j := 0; j < n; j += step {
			cols := min(step, n-j)
			to := c[f*ldc+j:]
			gemmNN(rows, cols, e+1, a[f*count:], count, b[j:], ldb, nr, to[2*distance:], ldc, false)
			gemmNN(rows, cols, e, from(a, f*count+e+1), count, from(b, (e+1)*ldb+j), ldb, nr, to[distance:], ldc, false)
		}
	}
	for f := range m {
		to := c[f*ldc:]
		add(to[:n], to[2*distance:][:n], to[distance:][:n])
	}
}
