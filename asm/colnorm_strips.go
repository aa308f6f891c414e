//go:build !noasm && (amd64 || arm64)

package asm

// colStrip is what a kernel works on: rows rows, stride values apart, of n columns, normStrip or
// at most one vector. A kernel that does not need a field leaves it alone.
type colStrip struct {
	dst, dy, x         *float32 // [rows, n]
	mean, scale, shift *float32 // [n]
	p, q, r            *float32 // [n]
	sum, dot           *float32 // [n]
	rows, stride, n    int
	floor              float32
}

// strip returns the strip of m's columns from c on in so many rows of x, where it begins at
// value at.
func (m *ColNormMap) strip(x []float32, at, c, rows int) colStrip {
	return colStrip{
		x: &x[at], mean: &m.Mean[c], scale: &m.Scale[c], shift: &m.Shift[c], floor: m.Floor,
		rows: min(colBlock, rows), stride: len(m.Mean), n: normColumns(len(m.Mean) - c),
	}
}

func colNorm(dst, x []float32, m *ColNormMap) {
	if level == Generic {
		colNormGeneric(dst, x, m)
		return
	}
	cols := len(m.Mean)
	rows := len(x) / cols
	for r := 0; r < rows; r += colBlock {
		for c, n := 0, 0; c < cols; c += n {
			at := r*cols + c
			s := m.strip(x, at, c, rows-r)
			s.dst, n = &dst[at], s.n
			s.norm()
		}
	}
}

func colNormSums(sum, dot []float64, dy, x []float32, m *ColNormMap) {
	if level == Generic {
		colNormSumsGeneric(sum, dot, dy, x, m)
		return
	}
	cols := len(m.Mean)
	rows := len(x) / cols
	for r := 0; r < rows; r += colBlock {
		for c, n := 0, 0; c < cols; c += n {
			at := r*cols + c
			s := m.strip(x, at, c, rows-r)
			var part stripSums
			s.dy, s.sum, s.dot, n = &dy[at], &part.sum[0], &part.dot[0], s.n
			s.normSums()
			part.addTo(sum[c:c+n], dot[c:c+n])
		}
	}
}

// stripSums are the sums of the columns of a strip.
type stripSums struct{ sum, dot [normStrip]float32 }

// addTo adds the sums to those of all rows.
func (p *stripSums) addTo(sum, dot []float64) {
	for j := range sum {
		sum[j] += float64(p.sum[j])
		dot[j] += float64(p.dot[j])
	}
}

func colNormGrad(dst, dy, x []float32, m *ColNormMap, p, q, r []float32) {
	if level == Generic {
		colNormGradGeneric(dst, dy, x, m, p, q, r)
		return
	}
	cols := len(m.Mean)
	rows := len(x) / cols
	for i := 0; i < rows; i += colBlock {
		for c, n := 0, 0; c < cols; c += n {
			at := i*cols + c
			s := m.strip(x, at, c, rows-i)
			s.dst, s.dy, n = &dst[at], &dy[at], s.n
			s.p, s.q, s.r = &p[c], &q[c], &r[c]
			s.normGrad()
		}
	}
}

func colMoments(sum, squares []float64, x, pivot []float32) {
	if level == Generic {
		colMomentsGeneric(sum, squares, x, pivot)
		return
	}
	cols := len(pivot)
	rows := len(x) / cols
	m := ColNormMap{Mean: pivot, Scale: pivot, Shift: pivot}
	for r := 0; r < rows; r += colBlock {
		for c, n := 0, 0; c < cols; c += n {
			at := r*cols + c
			s := m.strip(x, at, c, rows-r)
			var part stripSums
			s.sum, s.dot, n = &part.sum[0], &part.dot[0], s.n
			s.moments()
			part.addTo(sum[c:c+n], squares[c:c+n])
		}
	}
}
