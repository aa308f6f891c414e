package tensor

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
)

// vectorKind names the operations of vectorTask.
type vectorKind uint8

const (
	vectorCopy vectorKind = iota
	vectorFill
	vectorAdd
	vectorMul
	vectorAxpy
	vectorScale
	vectorSinCos
	vectorReLU
	vectorReLUGrad
	vectorAdam
	vectorSGD
)

// vectorTask is an elementwise operation; its items are the values.
type vectorTask struct {
	kind vectorKind
	dst  []float32
	x, y []float32
	z    []float32
	a    float32
	adam asm.AdamStep
	sgd  sgdStep
}

// strip is the number of values that operations of several passes take at a
// time, so that the later passes find them in the L1 cache.
const strip = 2048

// minusZero is the neutral element of addition: x + -0 is x for every x, 0
// and -0 included, while x + 0 turns -0 into 0.
var minusZero = float32(math.Copysign(0, -1))

func (t *vectorTask) Do(lo, hi, _ int) {
	dst := t.dst[lo:hi]
	switch t.kind {
	case vectorCopy:
		copy(dst, t.x[lo:hi])
	case vectorFill:
		asm.Fill(dst, t.a)
	case vectorAdd:
		asm.Add(dst, t.x[lo:hi], t.y[lo:hi])
	case vectorMul:
		asm.Mul(dst, t.x[lo:hi], t.y[lo:hi])
	case vectorAxpy:
		asm.Axpy(dst, t.a, t.x[lo:hi])
	case vectorScale:
		asm.Affine(dst, t.x[lo:hi], t.a, minusZero)
	case vectorSinCos:
		t.sinCos(lo, hi)
	case vectorReLU:
		asm.Relu(dst, t.x[lo:hi])
	case vectorReLUGrad:
		asm.ReluGrad(dst, t.x[lo:hi], t.y[lo:hi])
	case vectorAdam:
		asm.Adam(dst, t.x[lo:hi], t.y[lo:hi], t.z[lo:hi], t.adam)
	case vectorSGD:
		t.sgdStep(lo, hi)
	}
}

// sinCos computes dst = sin(a*x) and, where y is wanted, y = a*cos(a*x).
func (t *vectorTask) sinCos(lo, hi int) {
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		s, x := t.dst[lo:end], t.x[lo:end]
		if t.a != 1 {
			asm.Affine(s, x, t.a, minusZero)
			x = s
		}
		if t.y == nil {
			asm.Sin(s, x)
			continue
		}
		c := t.y[lo:end]
		asm.SinCos(s, c, x)
		if t.a != 1 {
			asm.Affine(c, c, t.a, minusZero)
		}
	}
}

// each runs t over n values.
func (d *CPU) each(n int, t vectorTask) {
	d.vector = t
	d.team.For(n, grain, &d.vector)
	d.vector = vectorTask{}
}

// Upload copies src to the beginning of dst.
func (d *CPU) Upload(dst Buffer, src []float32) {
	d.each(len(src), vectorTask{kind: vectorCopy, dst: host("Upload", "dst", dst, len(src)), x: src})
}

// Download copies the beginning of src to dst.
func (d *CPU) Download(dst []float32, src Buffer) {
	d.each(len(dst), vectorTask{kind: vectorCopy, dst: dst, x: host("Download", "src", src, len(dst))})
}

// Copy copies src to dst; the lengths must be equal.
func (d *CPU) Copy(dst, src Buffer) {
	n := dst.Len()
	d.each(n, vectorTask{kind: vectorCopy, dst: same("Copy", "dst", dst, n), x: same("Copy", "src", src, n)})
}

// Fill sets all values of dst to v.
func (d *CPU) Fill(dst Buffer, v float32) {
	n := dst.Len()
	d.each(n, vectorTask{kind: vectorFill, dst: same("Fill", "dst", dst, n), a: v})
}

// Add computes dst = x + y; dst may be x or y.
func (d *CPU) Add(dst, x, y Buffer) {
	n := dst.Len()
	d.each(n, vectorTask{kind: vectorAdd, dst: same("Add", "dst", dst, n),
		x: same("Add", "x", x, n), y: same("Add", "y", y, n)})
}

// Mul computes dst = x * y elementwise; dst may be x or y.
func (d *CPU) Mul(dst, x, y Buffer) {
	n := dst.Len()
	d.each(n, vectorTask{kind: vectorMul, dst: same("Mul", "dst", dst, n),
		x: same("Mul", "x", x, n), y: same("Mul", "y", y, n)})
}

// Axpy computes y += a*x.
func (d *CPU) Axpy(y Buffer, a float32, x Buffer) {
	n := y.Len()
	d.each(n, vectorTask{kind: vectorAxpy, dst: same("Axpy", "y", y, n), a: a, x: same("Axpy", "x", x, n)})
}

// Scale computes dst = a*x; dst may be x.
func (d *CPU) Scale(dst Buffer, a float32, x Buffer) {
	n := dst.Len()
	d.each(n, vectorTask{kind: vectorScale, dst: same("Scale", "dst", dst, n), a: a, x: same("Scale", "x", x, n)})
}

// SinCos writes sin(w*x) to s and w*cos(w*x) to c, where c is not the zero
// Buffer; s may be x. The product w*x is rounded to float32 first.
func (d *CPU) SinCos(s, c, x Buffer, w float32) {
	n := s.Len()
	t := vectorTask{kind: vectorSinCos, dst: same("SinCos", "s", s, n), x: same("SinCos", "x", x, n), a: w}
	if !c.IsZero() {
		t.y = same("SinCos", "c", c, n)
	}
	d.each(n, t)
}

// ReLU computes y = max(x, 0); y may be x. NaN stays NaN.
func (d *CPU) ReLU(y, x Buffer) {
	n := y.Len()
	d.each(n, vectorTask{kind: vectorReLU, dst: same("ReLU", "y", y, n), x: same("ReLU", "x", x, n)})
}

// ReLUGrad computes dx = dy where y > 0 and 0 elsewhere; dx may be dy.
func (d *CPU) ReLUGrad(dx, dy, y Buffer) {
	n := dx.Len()
	d.each(n, vectorTask{kind: vectorReLUGrad, dst: same("ReLUGrad", "dx", dx, n),
		x: same("ReLUGrad", "dy", dy, n), y: same("ReLUGrad", "y", y, n)})
}

// rowsTask writes the rows of x [rows, cols], each plus a bias or times v, to y. Its
// items are pieces of rows, each of one row and at most grain columns.
type rowsTask struct {
	y, x, bias, v []float32
	cols          int
	pieces        int // of one row
}

func (t *rowsTask) Do(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		r, p := i/t.pieces, i%t.pieces
		at := r*t.cols + p*grain
		end := min(at+grain, (r+1)*t.cols)
		y, x := t.y[at:end], t.x[at:end]
		if t.v != nil {
			asm.Mul(y, x, t.v[p*grain:][:len(y)])
		} else {
			asm.Affine(y, x, 1, t.bias[r])
		}
	}
}

// AddRows adds bias[r] to row r of y [rows, cols].
func (d *CPU) AddRows(y, bias Buffer, rows, cols int) {
	n := product("AddRows", rows, cols)
	rowsOf := host("AddRows", "y", y, n)
	d.eachRow(rows, rowsTask{y: rowsOf, x: rowsOf, bias: host("AddRows", "bias", bias, rows), cols: cols})
}

// MulRows writes each row of x [rows, cols] times v [cols] to dst; dst may be x.
func (d *CPU) MulRows(dst, x, v Buffer, rows, cols int) {
	const op = "MulRows"
	n := product(op, rows, cols)
	d.eachRow(rows, rowsTask{y: host(op, "dst", dst, n), x: host(op, "x", x, n), v: host(op, "v", v, cols), cols: cols})
}

func (d *CPU) eachRow(rows int, t rowsTask) {
	if len(t.y) == 0 {
		return
	}
	t.pieces = (t.cols-1)/grain + 1
	d.rows = t
	d.team.For(rows*t.pieces, perClaim(min(t.cols, grain)), &d.rows)
	d.rows = rowsTask{}
}

// checkPositive panics unless v > 0.
func checkPositive(op, arg string, v float64) {
	if !(v > 0) {
		panic(&Error{op, fmt.Sprintf("%s is %v, want more than 0", arg, v)})
	}
}
