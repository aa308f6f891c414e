package tensor

import "github.com/noether-go/noether/asm"

// Sums are taken in three stages whose sizes never depend on the number of
// threads: a kernel adds a block in float32 (or better), block sums are added in
// float64 to the sum of a segment, and segment sums in float64, in order, to
// the result. Segments are what threads share.
const (
	sumBlock   = 4096
	sumSegment = 16 * sumBlock
)

// segments returns the number of segments of a row of cols values.
func segments(cols int) int { return (cols + sumSegment - 1) / sumSegment }

// segment returns where segment s of row r of [rows, cols] lies.
func segment(r, s, cols int) (lo, hi int) {
	lo = r*cols + s*sumSegment
	return lo, min(lo+sumSegment, (r+1)*cols)
}

func sumBlocks(x []float32) float64 {
	var total float64
	for ; len(x) > sumBlock; x = x[sumBlock:] {
		total += float64(asm.Sum(x[:sumBlock]))
	}
	return total + float64(asm.Sum(x))
}

func dotBlocks(x, y []float32) float64 {
	var total float64
	for ; len(x) > sumBlock; x, y = x[sumBlock:], y[sumBlock:] {
		total += float64(asm.Dot(x[:sumBlock], y[:sumBlock]))
	}
	return total + float64(asm.Dot(x, y))
}

func sumSquaresBlocks(x []float32, mean float32) float64 {
	var total float64
	for ; len(x) > sumBlock; x = x[sumBlock:] {
		total += float64(asm.SumSquares(x[:sumBlock], mean))
	}
	return total + float64(asm.SumSquares(x, mean))
}

// reduceKind names the operations of reduceTask.
type reduceKind uint8

const (
	reduceSum reduceKind = iota
	reduceDot
	reduceSumSquares
)

// reduceTask sums the rows of x [rows, cols]; its items are the segments of all
// rows, and it writes the sum of each to partial.
type reduceTask struct {
	kind    reduceKind
	x, y    []float32
	cols    int
	segs    int // of one row
	partial []float64
}

func (t *reduceTask) Do(lo, hi, _ int) {
	for i := lo; i < hi; i++ {
		from, to := segment(i/t.segs, i%t.segs, t.cols)
		x := t.x[from:to]
		switch t.kind {
		case reduceSum:
			t.partial[i] = sumBlocks(x)
		case reduceDot:
			t.partial[i] = dotBlocks(x, t.y[from:to])
		case reduceSumSquares:
			t.partial[i] = sumSquaresBlocks(x, 0)
		}
	}
}

// sums runs t over rows rows and returns the sums of the segments
// [rows, t.segs].
func (d *CPU) sums(rows int, t reduceTask) []float64 {
	t.segs = segments(t.cols)
	items := rows * t.segs
	d.reserve(items, 0)
	t.partial = d.partial[:items]
	d.reduce = t
	d.team.For(items, perClaim(min(t.cols, sumSegment)), &d.reduce)
	d.reduce = reduceTask{}
	return t.partial
}

// total adds float64 values in order.
func total(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum
}

// SumRows writes (or, with accumulate, adds) the sum of each row of
// x [rows, cols] to dst [rows].
func (d *CPU) SumRows(dst, x Buffer, rows, cols int, accumulate bool) {
	n := product("SumRows", rows, cols)
	out := host("SumRows", "dst", dst, rows)
	partial := d.sums(rows, reduceTask{kind: reduceSum, x: host("SumRows", "x", x, n), cols: cols})
	segs := segments(cols)
	for r := range out {
		sum := total(partial[r*segs : (r+1)*segs])
		if accumulate {
			sum += float64(out[r])
		}
		out[r] = float32(sum)
	}
}

// DotRows writes the scalar product of each row of x [rows, cols] with that of y to
// dst [rows].
func (d *CPU) DotRows(dst, x, y Buffer, rows, cols int) {
	const op = "DotRows"
	n := product(op, rows, cols)
	out := host(op, "dst", dst, rows)
	partial := d.sums(rows, reduceTask{kind: reduceDot, x: host(op, "x", x, n), y: host(op, "y", y, n), cols: cols})
	segs := segments(cols)
	for r := range out {
		out[r] = float32(total(partial[r*segs : (r+1)*segs]))
	}
}

// columnsTask writes the scalar products of the columns of x and y [rows, cols] to dst.
// Its items are columns.
type columnsTask struct {
	dst, x, y  []float32
	rows, cols int
}

func (t *columnsTask) Do(lo, hi, _ int) {
	for ; lo < hi; lo += strip {
		end := min(lo+strip, hi)
		dst := t.dst[lo:end]
		clear(dst)
		for r := range t.rows {
			asm.MulAdd(dst, t.x[r*t.cols+lo:r*t.cols+end], t.y[r*t.cols+lo:r*t.cols+end])
		}
	}
}

// DotColumns writes the scalar product of each column of x [rows, cols] with that of y to
// dst [cols].
func (d *CPU) DotColumns(dst, x, y Buffer, rows, cols int) {
	const op = "DotColumns"
	n := product(op, rows, cols)
	d.columns = columnsTask{dst: host(op, "dst", dst, cols), x: host(op, "x", x, n), y: host(op, "y", y, n), rows: rows, cols: cols}
	d.team.For(cols, strip, &d.columns)
	d.columns = columnsTask{}
}

// SumSquares writes the sum of squares of x to dst[0].
func (d *CPU) SumSquares(dst, x Buffer) {
	n := x.Len()
	out := host("SumSquares", "dst", dst, 1)
	out[0] = float32(total(d.sums(1, reduceTask{kind: reduceSumSquares,
		x: same("SumSquares", "x", x, n), cols: n})))
}
