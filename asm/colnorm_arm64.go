//go:build !noasm

package asm

import "unsafe"

// normStrip is the number of columns of a strip: what belongs to them fits the registers.
const normStrip = 16

// normColumns returns how many columns the kernels take at a time when left columns are
// left: a strip, or a vector, whose last columns may be missing.
func normColumns(left int) int {
	if left >= normStrip {
		return normStrip
	}
	return min(left, 4)
}

//go:noescape
func colNormNEON(s *colStrip)

//go:noescape
func colNormSumsNEON(s *colStrip)

//go:noescape
func colNormGradNEON(s *colStrip)

//go:noescape
func colMomentsNEON(s *colStrip)

//go:noinline
func (s *colStrip) norm() {
	if s.n < 4 {
		var w normColumnsCopy
		t := w.of(s)
		colNormNEON(&t)
		w.dst.scatter(s.values(s.dst), s.rows, s.n, s.stride)
		return
	}
	colNormNEON(s)
}

//go:noinline
func (s *colStrip) normSums() {
	if s.n < 4 {
		var w normColumnsCopy
		t := w.of(s)
		colNormSumsNEON(&t)
		w.sums(s)
		return
	}
	colNormSumsNEON(s)
}

//go:noinline
func (s *colStrip) normGrad() {
	if s.n < 4 {
		var w normColumnsCopy
		t := w.of(s)
		colNormGradNEON(&t)
		w.dst.scatter(s.values(s.dst), s.rows, s.n, s.stride)
		return
	}
	colNormGradNEON(s)
}

//go:noinline
func (s *colStrip) moments() {
	if s.n < 4 {
		var w normColumnsCopy
		t := w.of(s)
		colMomentsNEON(&t)
		w.sums(s)
		return
	}
	colMomentsNEON(s)
}

// values returns the values of s's rows in one of its matrices, from x on.
func (s *colStrip) values(x *float32) []float32 {
	return unsafe.Slice(x, (s.rows-1)*s.stride+s.n)
}

// normColumnsCopy holds a strip of up to three columns, padded to a vector.
type normColumnsCopy struct {
	dst, dy, x                  narrow
	mean, scale, shift, p, q, r vec
	sum, dot                    vec
}

// of copies s, and returns the strip of the copy.
func (w *normColumnsCopy) of(s *colStrip) colStrip {
	w.x.gather(s.values(s.x), s.rows, s.n, s.stride)
	if s.dy != nil {
		w.dy.gather(s.values(s.dy), s.rows, s.n, s.stride)
	}
	for _, v := range [...]struct {
		to   *vec
		from *float32
	}{{&w.mean, s.mean}, {&w.scale, s.scale}, {&w.shift, s.shift}, {&w.p, s.p}, {&w.q, s.q}, {&w.r, s.r}} {
		if v.from != nil {
			copy(v.to[:], unsafe.Slice(v.from, s.n))
		}
	}
	return colStrip{
		dst: &w.dst[0], dy: &w.dy[0], x: &w.x[0], mean: &w.mean[0], scale: &w.scale[0], shift: &w.shift[0],
		p: &w.p[0], q: &w.q[0], r: &w.r[0], sum: &w.sum[0], dot: &w.dot[0],
		rows: s.rows, stride: 4, n: 4, floor: s.floor,
	}
}

// sums brings the sums of the copy back.
func (w *normColumnsCopy) sums(s *colStrip) {
	copy(unsafe.Slice(s.sum, s.n), w.sum[:])
	copy(unsafe.Slice(s.dot, s.n), w.dot[:])
}
