package tensor

import (
	"fmt"

	"github.com/noether-go/noether/asm"
)

// narrowBatch is the batch size below which pooling gathers a whole row of
// windows before it calls a kernel, which would otherwise see b values a call.
const narrowBatch = 16

// poolTask is 2x2 max pooling of planes of [h, w, b]. Its items are the output
// rows of all planes; the last of a plane also covers an odd last input row.
type poolTask struct {
	grad         bool
	h, w, b      int
	x, y, dx, dy []float32
	scratch      [][]float32
}

func (t *poolTask) Do(lo, hi, worker int) {
	oh, ow := t.h/2, t.w/2
	line, out := t.w*t.b, ow*t.b
	for i := lo; i < hi; i++ {
		plane, row := i/oh, i%oh
		top := (plane*t.h + 2*row) * line
		bottom := top + line
		at := i * out
		if t.grad {
			if t.w%2 != 0 {
				clear(t.dx[top+2*out : top+line])
				clear(t.dx[bottom+2*out : bottom+line])
			}
			if t.h%2 != 0 && row == oh-1 {
				clear(t.dx[bottom+line : bottom+2*line])
			}
		}
		if t.b < narrowBatch {
			t.narrow(top, bottom, at, out, t.scratch[worker])
			continue
		}
		for o := 0; o < out; o += t.b {
			p, q := top+2*o, bottom+2*o
			t.windows(at+o, p, p+t.b, q, q+t.b)
		}
	}
}

// windows pools the b windows whose corners begin at the given places of x.
func (t *poolTask) windows(at, i, j, k, l int) {
	b := t.b
	y := t.y[at : at+b]
	x0, x1, x2, x3 := t.x[i:i+b], t.x[j:j+b], t.x[k:k+b], t.x[l:l+b]
	if !t.grad {
		asm.Max4(y, x0, x1, x2, x3)
		return
	}
	asm.Max4Grad(t.dx[i:i+b], t.dx[j:j+b], t.dx[k:k+b], t.dx[l:l+b], t.dy[at:at+b], y, x0, x1, x2, x3)
}

// narrow pools one row of windows through scratch, where the four corners of
// all windows lie in four vectors of n values.
func (t *poolTask) narrow(top, bottom, at, n int, scratch []float32) {
	x0, x1, x2, x3 := scratch[:n], scratch[n:2*n], scratch[2*n:3*n], scratch[3*n:4*n]
	t.split(x0, x1, t.x[top:])
	t.split(x2, x3, t.x[bottom:])
	y := t.y[at : at+n]
	if !t.grad {
		asm.Max4(y, x0, x1, x2, x3)
		return
	}
	asm.Max4Grad(x0, x1, x2, x3, t.dy[at:at+n], y, x0, x1, x2, x3)
	t.merge(t.dx[top:], x0, x1)
	t.merge(t.dx[bottom:], x2, x3)
}

// split writes the pixels (of b values) of x to even and odd in turn.
func (t *poolTask) split(even, odd, x []float32) {
	b := t.b
	if b == 1 {
		x = x[:2*len(even)]
		odd = odd[:len(even)]
		for i := range even {
			even[i], odd[i] = x[2*i], x[2*i+1]
		}
		return
	}
	for i := 0; i < len(even); i += b {
		copy(even[i:i+b], x[2*i:])
		copy(odd[i:i+b], x[2*i+b:])
	}
}

// merge is the inverse of split.
func (t *poolTask) merge(x, even, odd []float32) {
	b := t.b
	if b == 1 {
		x = x[:2*len(even)]
		odd = odd[:len(even)]
		for i := range even {
			x[2*i], x[2*i+1] = even[i], odd[i]
		}
		return
	}
	for i := 0; i < len(even); i += b {
		copy(x[2*i:], even[i:i+b])
		copy(x[2*i+b:], odd[i:i+b])
	}
}

// pool2 runs t over planes planes.
func (d *CPU) pool2(planes int, t poolTask) {
	row := 4 * (t.w / 2) * t.b // of windows
	if row == 0 {
		return
	}
	if t.b < narrowBatch {
		d.reserve(0, row)
	}
	t.scratch = d.scratch
	d.pool = t
	d.team.For(planes*(t.h/2), perClaim(row), &d.pool)
	d.pool = poolTask{}
}

// MaxPool2 takes the maximum over 2x2 windows, stride 2, of x [planes, h, w, b]
// into y [planes, h/2, w/2, b]; an odd last row or column is dropped. The
// maximum is NaN where one of the four is.
func (d *CPU) MaxPool2(y, x Buffer, planes, h, w, b int) {
	const op = "MaxPool2"
	n := product(op, planes, h, w, b)
	d.pool2(planes, poolTask{
		h: h, w: w, b: b,
		x: host(op, "x", x, n),
		y: host(op, "y", y, planes*(h/2)*(w/2)*b),
	})
}

// MaxPool2Grad sends dy to the first maximum of each window (row-major order)
// and writes zero elsewhere in dx. A window whose maximum is NaN gets zeros.
func (d *CPU) MaxPool2Grad(dx, dy, x, y Buffer, planes, h, w, b int) {
	const op = "MaxPool2Grad"
	n := product(op, planes, h, w, b)
	m := planes * (h / 2) * (w / 2) * b
	t := poolTask{
		grad: true, h: h, w: w, b: b,
		x: host(op, "x", x, n), y: host(op, "y", y, m),
		dx: host(op, "dx", dx, n), dy: host(op, "dy", dy, m),
	}
	if m == 0 { // no window: x is one row or column
		d.each(n, vectorTask{kind: vectorFill, dst: t.dx})
		return
	}
	d.pool2(planes, t)
}

// globalMaxTask takes maxima over the middle axis of x [c, s, b], or spreads
// their gradient; its items are the channels.
type globalMaxTask struct {
	grad         bool
	s, b         int
	x, y, dx, dy []float32
	index        []float32
}

func (t *globalMaxTask) Do(lo, hi, _ int) {
	size := t.s * t.b
	for c := lo; c < hi; c++ {
		index := t.index[c*t.b : (c+1)*t.b]
		if !t.grad {
			asm.ColMax(t.y[c*t.b:(c+1)*t.b], index, t.x[c*size:(c+1)*size])
			continue
		}
		dx := t.dx[c*size : (c+1)*size]
		asm.Fill(dx, 0)
		for j, at := range index {
			if !(at >= 0 && at < float32(t.s)) {
				panic(&Error{"GlobalMaxGrad", fmt.Sprintf("index %v outside 0..%d", at, t.s-1)})
			}
			dx[int(at)*t.b+j] = t.dy[c*t.b+j]
		}
	}
}

// maxPositions is the number of indices that float32 holds exactly.
const maxPositions = 1 << 24

func checkPositions(op string, s int) {
	if s < 1 || s > maxPositions {
		panic(&Error{op, fmt.Sprintf("%d positions, want 1..2^24", s)})
	}
}

// GlobalMax takes the maximum over the middle axis of x [c, s, b] into y [c, b]
// and notes the first maximal index (0..s-1, as float32) in index. NaN counts
// as larger than any number.
func (d *CPU) GlobalMax(y, index, x Buffer, c, s, b int) {
	const op = "GlobalMax"
	n, m := product(op, c, s, b), product(op, c, b)
	checkPositions(op, s)
	d.globalMax = globalMaxTask{
		s: s, b: b,
		x: host(op, "x", x, n), y: host(op, "y", y, m), index: host(op, "index", index, m),
	}
	d.team.For(c, perClaim(s*b), &d.globalMax)
	d.globalMax = globalMaxTask{}
}

// GlobalMaxGrad writes dy [c, b] to the noted positions of dx [c, s, b] and
// zero elsewhere.
func (d *CPU) GlobalMaxGrad(dx, dy, index Buffer, c, s, b int) {
	const op = "GlobalMaxGrad"
	n, m := product(op, c, s, b), product(op, c, b)
	checkPositions(op, s)
	d.globalMax = globalMaxTask{
		grad: true, s: s, b: b,
		dx: host(op, "dx", dx, n), dy: host(op, "dy", dy, m), index: host(op, "index", index, m),
	}
	d.team.For(c, perClaim(s*b), &d.globalMax)
	d.globalMax = globalMaxTask{}
}
