//go:build !noasm

package asm

// colStrip is what a kernel works on: rows rows, stride values apart, of n columns, 64 or
// at most one vector. A kernel that does not need a field leaves it alone.
type colStrip struct {
	dst, dy, x         *float32 // [rows, n]
	mean, scale, shift *float32 // [n]
	p, q, r            *float32 // [n]
	sum, dot           *float32 // [n]
	rows, stride, n    int
	floor              float32
}

//go:noescape
func colNormAVX2(s *colStrip)

//go:noescape
func colNormAVX512(s *colStrip)

//go:noescape
func colNormSumsAVX2(s *colStrip)

//go:noescape
func colNormSumsAVX512(s *colStrip)

//go:noescape
func colNormGradAVX2(s *colStrip)

//go:noescape
func colNormGradAVX512(s *colStrip)

//go:noescape
func colMomentsAVX2(s *colStrip)

//go:noescape
func colMomentsAVX512(s *colStrip)

// strip returns the strip of m's columns from c on in so many rows of x, where it begins at
// value at.
func (m *ColNormMap) strip(x []float32, at, c, rows int) colStrip {
	return colStrip{
		x: &x[at], mean: &m.Mean[c], scale: &m.Scale[c], shift: &m.Shift[c], floor: m.Floor,
		rows: min(colBlock, rows), stride: len(m.Mean), n: columns(len(m.Mean) - c),
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

//go:noinline
func (s *colStrip) norm() {
	if level == AVX512 {
		colNormAVX512(s)
	} else {
		colNormAVX2(s)
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

//go:noinline
func (s *colStrip) normSums() {
	if level == AVX512 {
		colNormSumsAVX512(s)
	} else {
		colNormSumsAVX2(s)
	}
}

// stripSums are the sums of the columns of a strip.
type stripSums struct{ sum, dot [strip]float32 }

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

//go:noinline
func (s *colStrip) normGrad() {
	if level == AVX512 {
		colNormGradAVX512(s)
	} else {
		colNormGradAVX2(s)
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

//go:noinline
func (s *colStrip) moments() {
	if level == AVX512 {
		colMomentsAVX512(s)
	} else {
		colMomentsAVX2(s)
	}
}
