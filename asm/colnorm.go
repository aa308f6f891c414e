package asm

// ColNormMap is a NormMap with a mean, scale and shift of its own for each column j
// of a matrix: y = max((x-Mean[j])*Scale[j] + Shift[j], Floor). The slices have the
// length of a row.
type ColNormMap struct {
	Mean, Scale, Shift []float32
	Floor              float32
}

// ColNorm writes y to dst. dst and x are [rows, cols]; dst may be x. The result is
// that of ColAffine, ColAffine and Relu. It panics with *Error unless the lengths
// fit.
func ColNorm(dst, x []float32, m *ColNormMap) {
	const op = "ColNorm"
	m.check(op, len(x))
	same(op, "x", len(x), "dst", len(dst))
	m.race()
	raceRead(x)
	raceWrite(dst)
	if len(x) > 0 {
		colNorm(dst, x, m)
	}
}

// ColNormSums adds to sum and dot [cols], for the gradient dy [rows, cols] of
// ColNorm's result, the sums of dy and of dy*(x-Mean) over the rows whose y is above
// Floor, all of them if that is -Inf. Up to 256 rows are added in float32. It panics
// with *Error unless the lengths fit.
func ColNormSums(sum, dot []float64, dy, x []float32, m *ColNormMap) {
	const op = "ColNormSums"
	m.check(op, len(x))
	same(op, "x", len(x), "dy", len(dy))
	same(op, "Mean", len(m.Mean), "sum", len(sum))
	same(op, "Mean", len(m.Mean), "dot", len(dot))
	m.race()
	raceRead(x)
	raceRead(dy)
	if len(x) > 0 {
		colNormSums(sum, dot, dy, x, m)
	}
}

// ColNormGrad writes p[j]*g + (q[j]*(x-Mean[j]) + r[j]) to dst [rows, cols], where
// g is dy where y is above Floor or that is -Inf, and 0 elsewhere. p, q and r are [cols].
// dst may be dy or x. It panics with *Error unless the lengths fit.
func ColNormGrad(dst, dy, x []float32, m *ColNormMap, p, q, r []float32) {
	const op = "ColNormGrad"
	m.check(op, len(x))
	same(op, "x", len(x), "dst", len(dst))
	same(op, "x", len(x), "dy", len(dy))
	same(op, "Mean", len(m.Mean), "p", len(p))
	same(op, "Mean", len(m.Mean), "q", len(q))
	same(op, "Mean", len(m.Mean), "r", len(r))
	m.race()
	raceRead(p)
	raceRead(q)
	raceRead(r)
	raceRead(x)
	raceRead(dy)
	raceWrite(dst)
	if len(x) > 0 {
		colNormGrad(dst, dy, x, m, p, q, r)
	}
}

// ColMoments adds to sum and squares [cols] the sums of x-pivot[j] and of (x-pivot[j])^2
// over the rows of x [rows, cols]. Up to 256 rows are added in float32. It panics with
// *Error unless the lengths fit.
func ColMoments(sum, squares []float64, x, pivot []float32) {
	const op = "ColMoments"
	matrix(op, len(x), len(pivot))
	same(op, "pivot", len(pivot), "sum", len(sum))
	same(op, "pivot", len(pivot), "squares", len(squares))
	raceRead(pivot)
	raceRead(x)
	if len(x) > 0 {
		colMoments(sum, squares, x, pivot)
	}
}

// check panics unless m's slices have the length of a row of x.
func (m *ColNormMap) check(op string, x int) {
	matrix(op, x, len(m.Mean))
	same(op, "Mean", len(m.Mean), "Scale", len(m.Scale))
	same(op, "Mean", len(m.Mean), "Shift", len(m.Shift))
}

// race tells the race detector that m is read.
func (m *ColNormMap) race() {
	raceRead(m.Mean)
	raceRead(m.Scale)
	raceRead(m.Shift)
}

// A vector is a matrix of rows of normStrip values, and a last, shorter one, whose columns
// all have the same map. The race detector does not hear of the values for columns, which would
// move them from the stack to the heap: no other goroutine knows them.

// stripMap holds the values of a NormMap for each column of a strip.
type stripMap struct{ mean, scale, shift [normStrip]float32 }

// repeat sets all values of v.
func repeat(v *[normStrip]float32, value float32) {
	for i := range v {
		v[i] = value
	}
}

func (s *stripMap) set(m *NormMap) {
	repeat(&s.mean, m.Mean)
	repeat(&s.scale, m.Scale)
	repeat(&s.shift, m.Shift)
}

// rows returns the map for rows of n values.
func (s *stripMap) rows(n int, floor float32) ColNormMap {
	return ColNormMap{s.mean[:n], s.scale[:n], s.shift[:n], floor}
}

// byStrips cuts a vector into those rows and the last one.
func byStrips(x []float32) (rows, last []float32) {
	whole := len(x) / normStrip * normStrip
	return x[:whole], x[whole:]
}

// Norm writes y to dst. dst may be x. It panics with *Error unless the lengths are
// equal.
func Norm(dst, x []float32, m *NormMap) {
	same("Norm", "x", len(x), "dst", len(dst))
	var s stripMap
	s.set(m)
	rows, last := byStrips(x)
	raceRead(x)
	raceWrite(dst)
	if wide := s.rows(normStrip, m.Floor); len(rows) > 0 {
		colNorm(dst[:len(rows)], rows, &wide)
	}
	if narrow := s.rows(len(last), m.Floor); len(last) > 0 {
		colNorm(dst[len(rows):], last, &narrow)
	}
}

// NormSums returns, for the gradient dy of Norm's result, the sums of dy and of
// dy*(x-Mean) over the values whose y is above Floor, all of them if that is -Inf. It
// panics with *Error unless the lengths are equal.
func NormSums(dy, x []float32, m *NormMap) (sum, dot float64) {
	same("NormSums", "x", len(x), "dy", len(dy))
	var s stripMap
	s.set(m)
	var sums, dots [normStrip]float64
	rows, last := byStrips(x)
	n := len(last)
	raceRead(x)
	raceRead(dy)
	if wide := s.rows(normStrip, m.Floor); len(rows) > 0 {
		colNormSums(sums[:], dots[:], dy[:len(rows)], rows, &wide)
	}
	if narrow := s.rows(n, m.Floor); n > 0 {
		colNormSums(sums[:n], dots[:n], dy[len(rows):], last, &narrow)
	}
	return sumStrip(&sums), sumStrip(&dots)
}

// NormGrad writes p*g + (q*(x-Mean) + r) to dst, where g is dy where y is above Floor or
// that is -Inf, and 0 elsewhere. dst may be dy or x. It panics with *Error unless the
// lengths are equal.
func NormGrad(dst, dy, x []float32, m *NormMap, p, q, r float32) {
	same("NormGrad", "x", len(x), "dst", len(dst))
	same("NormGrad", "x", len(x), "dy", len(dy))
	var s stripMap
	s.set(m)
	var ps, qs, rs [normStrip]float32
	repeat(&ps, p)
	repeat(&qs, q)
	repeat(&rs, r)
	rows, last := byStrips(x)
	whole, n := len(rows), len(last)
	raceRead(x)
	raceRead(dy)
	raceWrite(dst)
	if wide := s.rows(normStrip, m.Floor); whole > 0 {
		colNormGrad(dst[:whole], dy[:whole], rows, &wide, ps[:], qs[:], rs[:])
	}
	if narrow := s.rows(n, m.Floor); n > 0 {
		colNormGrad(dst[whole:], dy[whole:], last, &narrow, ps[:n], qs[:n], rs[:n])
	}
}

// Moments returns the sums of x-pivot and of (x-pivot)^2.
func Moments(x []float32, pivot float32) (sum, squares float64) {
	var sums, dots [normStrip]float64
	var pivots [normStrip]float32
	repeat(&pivots, pivot)
	rows, last := byStrips(x)
	n := len(last)
	raceRead(x)
	if len(rows) > 0 {
		colMoments(sums[:], dots[:], rows, pivots[:])
	}
	if n > 0 {
		colMoments(sums[:n], dots[:n], last, pivots[:n])
	}
	return sumStrip(&sums), sumStrip(&dots)
}

// sumStrip returns the sum of v, in order.
func sumStrip(v *[normStrip]float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}
