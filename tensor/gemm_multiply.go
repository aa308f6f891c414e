package tensor

import "github.com/noether-go/noether/asm"

// gemmMultiply is a gemmJob as the Task of multiplying.
type gemmMultiply gemmJob

// Do computes items lo <= i < hi of the strips and panels at hand. See Task.
func (t *gemmMultiply) Do(lo, hi, worker int) {
	j := (*gemmJob)(t)
	for i := lo; i < hi; i++ {
		var row, col, slot int
		if i > 0 { // see cut
			row, col, slot = i%j.rowGroups, i/j.rowGroups%j.colGroups, i/j.rowGroups/j.colGroups
		}
		x := gemmPass{
			worker: worker, slot: slot,
			s0: cut(j.stripN, row, j.rowGroups), s1: cut(j.stripN, row+1, j.rowGroups),
		}
		q0, q1 := cut(j.panelN, col, j.colGroups), cut(j.panelN, col+1, j.colGroups)
		parts := min(1, q1-q0) // an item may be empty
		if q1-q0 > j.streamPanels {
			parts = ceilDiv(q1-q0, j.streamPanels)
		}
		for part := range parts {
			x.q0, x.q1 = q0+cut(q1-q0, part, parts), q0+cut(q1-q0, part+1, parts)
			if j.blocked {
				x.p0, x.steps = j.p0, j.steps
				j.multiply(&x, j.next(&x, q1))
				continue
			}
			for x.p0 = 0; x.p0 == 0 || x.p0 < j.k; x.p0 += j.kc {
				x.steps = min(j.kc, j.k-x.p0)
				j.multiply(&x, j.next(&x, q1))
			}
		}
	}
}

// gemmPass is what a worker multiplies at a time: steps p0 <= p < p0+steps of k of
// strips s0..s1 and panels q0..q1, counted from strip0 and panel0, of a product.
type gemmPass struct {
	worker, slot   int
	s0, s1, q0, q1 int
	p0, steps      int
}

// next returns B from where the pass after x begins to pack it, for a worker whose panels
// end at q1. It returns nil where nothing is to be fetched.
func (j *gemmJob) next(x *gemmPass, q1 int) []float32 {
	if !j.ownB || j.transB {
		return nil
	}
	p, q := x.p0, x.q1
	if !j.blocked {
		if p += x.steps; p < j.k {
			q = x.q0
		} else {
			p = 0
		}
	}
	if q == q1 {
		return nil
	}
	return j.b[p*j.ldb+(j.panel0+q)*j.nr:]
}

// multiply adds a pass to C and finishes it after the last step of k. It has the
// first rows of next fetched meanwhile, as many as it has steps.
func (j *gemmJob) multiply(x *gemmPass, next []float32) {
	batch, p0, steps := j.batch0+x.slot, x.p0, x.steps
	a, b, c := j.operand(j.a, batch*j.strideA), j.operand(j.b, batch*j.strideB), j.c[batch*j.strideC:]
	accumulate := p0 > 0 || j.beta != 0
	col0, col1 := (j.panel0+x.q0)*j.nr, min(j.n, (j.panel0+x.q1)*j.nr)
	var panels []float32
	switch {
	case j.ownB:
		panels = j.packOwn(x.q0, x.q1, p0, steps, x.worker)
	case j.packB:
		panels = j.panel(x.slot, x.q0)
	}
	slotA, packsA := x.slot, false
	if j.ownA {
		slotA, packsA = x.worker, j.scratch.packs[x.worker] != j.block
		j.scratch.packs[x.worker] = j.block
	}
	row, end := 0, j.stripRow(j.strip0+x.s0)
	for s := x.s0; s < x.s1; s++ {
		row, end = end, j.stripRow(j.strip0+s+1)
		rows := end - row
		if p0 == 0 && j.beta != 0 && j.beta != 1 {
			for r := row; r < end; r++ {
				y := c[r*j.ldc+col0 : r*j.ldc+col1]
				asm.Affine(y, y, j.beta, 0)
			}
		}
		if j.fetchA && s+1 < x.s1 {
			j.fetch(a, s+1, p0, steps)
		}
		if packsA {
			j.packStrip(j.packedStrip(slotA, s), 0, s, p0, steps)
		}
		var ahead asm.Ahead
		if next != nil {
			ahead = j.ahead(next, steps, s-x.s0, x.s1-x.s0)
		}
		cols, out := col1-col0, c[row*j.ldc+col0:]
		switch {
		case j.dots:
			asm.GemmDots(rows, cols, steps, a[row*j.lda+p0:], j.lda, b[col0*j.ldb+p0:], j.ldb, out, j.ldc, accumulate)
		case steps == 0:
			asm.GemmStripNN(rows, cols, 0, nil, 0, nil, 0, out, j.ldc, accumulate)
		case j.packA && j.packB:
			asm.GemmPanelsAheadTN(rows, cols, steps, j.packedStrip(slotA, s), j.mr, panels, steps*j.nr, out, j.ldc, ahead, accumulate)
		case j.packA:
			asm.GemmStripTN(rows, cols, steps, j.packedStrip(slotA, s), j.mr, b[p0*j.ldb+col0:], j.ldb, out, j.ldc, accumulate)
		case j.transA && j.packB:
			asm.GemmPanelsAheadTN(rows, cols, steps, a[p0*j.lda+row:], j.lda, panels, steps*j.nr, out, j.ldc, ahead, accumulate)
		case j.transA:
			asm.GemmStripTN(rows, cols, steps, a[p0*j.lda+row:], j.lda, b[p0*j.ldb+col0:], j.ldb, out, j.ldc, accumulate)
		case j.packB:
			asm.GemmPanelsAheadNN(rows, cols, steps, a[row*j.lda+p0:], j.lda, panels, steps*j.nr, out, j.ldc, ahead, accumulate)
		default:
			asm.GemmStripNN(rows, cols, steps, a[row*j.lda+p0:], j.lda, b[p0*j.ldb+col0:], j.ldb, out, j.ldc, accumulate)
		}
		if p0+steps == j.k {
			j.finish(batch*j.strideC, row, end, col0, col1)
		}
	}
}

// ahead names the part of the first steps rows of next that is fetched with strip s of
// n.
func (j *gemmJob) ahead(next []float32, steps, s, n int) asm.Ahead {
	r0, r1 := s*steps/n, (s+1)*steps/n
	if at := r0 * j.ldb; at < len(next) {
		return asm.Ahead{X: next[at:], LD: j.ldb, Rows: r1 - r0}
	}
	return asm.Ahead{}
}

// fetch fetches the beginning of a strip that is read in place next; within its
// rows the kernel fetches ahead itself.
func (j *gemmJob) fetch(a []float32, s, p0, steps int) {
	row, end := j.strip(j.strip0 + s)
	if j.transA {
		asm.Prefetch(a[p0*j.lda+row:], j.lda, min(steps, gemmFetchSteps), end-row)
	} else {
		asm.Prefetch(a[row*j.lda+p0:], j.lda, end-row, min(steps, gemmFetchSteps))
	}
}

// operand returns x from offset on; x may be anything when k is zero.
func (j *gemmJob) operand(x []float32, offset int) []float32 {
	if j.k == 0 {
		return nil
	}
	return x[offset:]
}
