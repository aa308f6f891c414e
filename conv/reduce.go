package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

const (
	// wide is the most columns (o,i) that are packed at a time.
	wide = 512
	// resident is how many values of sums are worked on at a time: they pass
	// through the second-level cache once for each packed block.
	resident = 1 << 18
)

// reduction computes the gradient of the kernel,
//
//	sums[(t,s), m] = sum over row, col, b of src[s, row+t.Row, col+t.Col, b] dy[m, row, col, b]
//
// as a matrix product: rows of the source planes, shifted by the tap, are A as
// they lie; dy is packed, transposed, once for all taps. Taps are clipped to the
// plane. A sum takes the blocks of dy one after another, so it has one order
// whatever the rows are split over, and each block is summed in registers.
//
// Rows of A are the sources of one tap. Where columns leave a quarter of the panels idle or more, sums are scalar
// products of rows as they lie, and nothing is packed. Few sources go another way (reducethin.go).
type reduction struct {
	view
	dy      []float32 // [m, outH, outW, batch]
	targets int
	sums    []float32 // [(t,s), m]

	mr, nr int
	dots   bool // scalar products
	step   int  // rows of A taken at a time
	tiles  int  // of the sources of one tap
	span   int  // positions of a block; 0: part of one position's batch
	deep   int  // packed rows of a block
	cpu    *tensor.CPU
	parts  int // where products are sliced
	bands      // where they are split
}

// unit is one tile of rows of A.
type unit struct {
	rows     int
	a, lda   int // A's first row, at tap t and source (0, 0)
	t        int
	sum, ldc int
}

var _ tensor.Task = (*reduction)(nil)

func (r *reduction) bind(s *Shape) int {
	_, nr := asm.GemmTile()
	return max((min(s.Targets(), wide)+nr-1)/nr*nr*depth, splitTile*max(splitTile, s.B))
}

func (r *reduction) run(p *taps) {
	switch r.form {
	case inBands:
		r.runSplit(p)
		return
	case inPoints:
		r.runPoint(p)
		return
	}
	r.mr, r.nr = asm.GemmTile()
	mr, _ := asm.DotTile()
	r.dots = mr > 0 && 4*r.targets <= 3*blocksOf(r.targets, r.nr)*r.nr
	if r.dots {
		r.mr = mr
	}
	r.tiles = (r.sources + r.mr - 1) / r.mr
	r.step = (r.sources + r.tiles - 1) / r.tiles
	r.span = min(depth/r.batch, r.outW)
	r.deep = r.span * r.batch
	if r.span == 0 {
		r.deep = depth
	}
	r.cpu = p.cpu
	units := len(r.offsets) * r.tiles
	// One chunk for each worker: dy is packed anew for each.
	p.team.For(units, blocksOf(units, p.team.Size()), r)
	r.src, r.dy, r.sums = nil, nil, nil
}

// unit returns the tile of that number.
func (r *reduction) unit(u int) unit {
	t, s := u/r.tiles, u%r.tiles*r.step
	return unit{
		rows: min(r.step, r.sources-s),
		a:    s * r.plane, lda: r.plane,
		t:   t,
		sum: (t*r.sources + s) * r.targets, ldc: r.targets,
	}
}

// Do computes the units lo <= u < hi.
func (r *reduction) Do(lo, hi, worker int) {
	switch r.form {
	case inBands:
		r.doSplit(lo, hi)
		return
	case inPoints:
		r.doPoint(lo, hi, worker)
		return
	}
	for m := 0; m < r.targets; m += wide {
		columns := min(wide, r.targets-m)
		most := max(1, resident/(r.step*columns))
		for u := lo; u < hi; u += most {
			r.sweep(u, min(hi, u+most), m, columns, r.cpu.Workspace(worker))
		}
	}
}

// sweep goes through dy once for some units and columns.
func (r *reduction) sweep(lo, hi, m, columns int, panels []float32) {
	for u := lo; u < hi; u++ {
		t := r.unit(u)
		for i := range t.rows {
			clear(r.sums[t.sum+i*t.ldc+m:][:columns])
		}
	}
	for row := range r.outH {
		if r.span > 0 {
			for col := 0; col < r.outW; col += r.span {
				end := min(r.outW, col+r.span)
				r.block(lo, hi, m, columns, panels, row, col, end, 0, r.batch)
			}
			continue
		}
		for col := range r.outW {
			for b := 0; b < r.batch; b += r.deep {
				r.block(lo, hi, m, columns, panels, row, col, col+1, b, min(r.batch, b+r.deep))
			}
		}
	}
}

// block adds what the positions col <= x < end of a row, and the batch entries
// b0 <= b < b1, contribute. More than one position comes with the whole batch.
func (r *reduction) block(lo, hi, m, columns int, panels []float32, row, col, end, b0, b1 int) {
	plane := r.outH * r.outW * r.batch
	depth := (end - col) * (b1 - b0)
	dy := r.dy[m*plane+(row*r.outW+col)*r.batch+b0:]
	for q, dst := 0, 0; q < columns && !r.dots; q, dst = q+r.nr, dst+r.deep*r.nr {
		asm.PackCols(panels[dst:], dy[q*plane:], plane, depth, min(r.nr, columns-q))
	}
	for u := lo; u < hi; u++ {
		t := r.unit(u)
		if !r.rowInside(t.t, row) {
			continue
		}
		x0, x1 := r.columns(t.t)
		x0, x1 = max(x0, col), min(x1, end)
		if x0 >= x1 {
			continue
		}
		k := (x1 - x0) * (b1 - b0)
		a := r.src[t.a+r.at(t.t, row, x0)+b0:]
		if r.dots {
			asm.GemmDots(t.rows, columns, k, a, t.lda, dy[(x0-col)*r.batch:], plane, r.sums[t.sum+m:], t.ldc, true)
			continue
		}
		skip := (x0 - col) * r.batch * r.nr
		for q, b := 0, skip; q < columns; q, b = q+r.nr, b+r.deep*r.nr {
			asm.GemmNN(t.rows, min(r.nr, columns-q), k, a, t.lda, panels[b:], r.nr, r.sums[t.sum+m+q:], t.ldc, true)
		}
	}
}
