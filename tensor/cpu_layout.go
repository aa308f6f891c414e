package tensor

import "github.com/noether-go/noether/asm"

// layoutTask transposes x [rows, cols] into y [cols, rows]; its items are the
// columns of x when wide, else its rows: the longer side is shared out. It
// takes claim items at a time.
type layoutTask struct {
	x, y       []float32
	rows, cols int
	wide       bool
	claim      int
}

func (t *layoutTask) Do(lo, hi, _ int) {
	for ; lo < hi; lo += t.claim {
		n := min(t.claim, hi-lo)
		if t.wide {
			asm.Transpose(t.y[lo*t.rows:], t.rows, t.x[lo:], t.cols, t.rows, n)
		} else {
			asm.Transpose(t.y[lo:], t.rows, t.x[lo*t.cols:], t.cols, n, t.cols)
		}
	}
}

// transpose writes x [rows, cols] to y [cols, rows].
func (d *CPU) transpose(op string, y, x Buffer, rows, cols int) {
	n := product(op, rows, cols)
	if n == 0 {
		return
	}
	// A multiple of 16 items keeps every write a whole cache line.
	claim := (perClaim(min(rows, cols)) + 15) / 16 * 16
	d.layout = layoutTask{host(op, "x", x, n), host(op, "y", y, n), rows, cols, cols > rows, claim}
	d.team.For(max(rows, cols), claim, &d.layout)
	d.layout = layoutTask{}
}

// BatchInnermost writes x [b, s] to y [s, b]: images to feature maps.
func (d *CPU) BatchInnermost(y, x Buffer, b, s int) { d.transpose("BatchInnermost", y, x, b, s) }

// BatchOutermost writes x [s, b] to y [b, s].
func (d *CPU) BatchOutermost(y, x Buffer, s, b int) { d.transpose("BatchOutermost", y, x, s, b) }
