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

func (s *colStrip) norm()     { s.run(colNormOp) }
func (s *colStrip) normSums() { s.run(colNormSumsOp) }
func (s *colStrip) normGrad() { s.run(colNormGradOp) }
func (s *colStrip) moments()  { s.run(colMomentsOp) }

// colOp is one of the four kernels. A variable of a function would move strips to the heap.
type colOp int

const (
	colNormOp colOp = iota
	colNormSumsOp
	colNormGradOp
	colMomentsOp
)

// run calls the kernel, where columns are missing on a padded copy.
//
//go:noinline
func (s *colStrip) run(op colOp) {
	if s.n < 4 {
		s.runPadded(op)
		return
	}
	switch op {
	case colNormOp:
		colNormNEON(s)
	case colNormSumsOp:
		colNormSumsNEON(s)
	case colNormGradOp:
		colNormGradNEON(s)
	case colMomentsOp:
		colMomentsNEON(s)
	}
}

func (s *colStrip) runPadded(op colOp) {
	var w paddedStrip
	t := w.of(s)
	t.run(op)
	if s.dst != nil {
		w.dst.scatter(s.values(s.dst), s.rows, s.n, s.stride)
	}
	if s.sum != nil {
		copy(unsafe.Slice(s.sum, s.n), w.sum[:])
		copy(unsafe.Slice(s.dot, s.n), w.dot[:])
	}
}

// values returns the values of s's rows in one of its matrices, from x on.
func (s *colStrip) values(x *float32) []float32 {
	return unsafe.Slice(x, (s.rows-1)*s.stride+s.n)
}

// paddedStrip holds a strip of up to three columns, padded to a vector.
type paddedStrip struct {
	dst, dy, x                  narrow
	mean, scale, shift, p, q, r vec
	sum, dot                    vec
}

// of copies s, and returns the strip of the copy.
func (w *paddedStrip) of(s *colStrip) colStrip {
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
