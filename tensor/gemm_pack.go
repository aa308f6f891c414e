package tensor

import "github.com/noether-go/noether/asm"

// gemmPack is a gemmJob as the Task of packing.
type gemmPack gemmJob

// Do packs parts lo <= i < hi of the panels and strips at hand. See Task.
func (t *gemmPack) Do(lo, hi, _ int) {
	j := (*gemmJob)(t)
	parts := ceilDiv(j.steps, gemmPackSteps)
	for i := lo; i < hi; i++ {
		if i < j.packsB {
			slot, panel := i/parts/j.panelN, i/parts%j.panelN
			p := i % parts * gemmPackSteps
			j.packPanel(j.panel(slot, panel)[p*j.nr:], slot, panel, j.p0+p, min(gemmPackSteps, j.steps-p))
		} else {
			x := i - j.packsB
			slot, strip := x/parts/j.stripN, x/parts%j.stripN
			p := x % parts * gemmPackSteps
			j.packStrip(j.packedStrip(slot, strip)[p*j.mr:], slot, strip, j.p0+p, min(gemmPackSteps, j.steps-p))
		}
	}
}

// packPanel packs steps p0 <= p < p0+steps of a panel of B to dst. Slots count from
// batch0, panels from panel0.
func (j *gemmJob) packPanel(dst []float32, slot, panel, p0, steps int) {
	col := (j.panel0 + panel) * j.nr
	cols := min(j.nr, j.n-col)
	b := j.b[(j.batch0+slot)*j.strideB:]
	if j.transB {
		asm.PackCols(dst[:steps*j.nr], b[col*j.ldb+p0:], j.ldb, steps, cols)
	} else {
		asm.PackPanel(dst[:steps*j.nr], b[p0*j.ldb+col:], j.ldb, steps, cols)
	}
}

// panel returns the packed panel of B, [steps, nr], and those that follow it.
func (j *gemmJob) panel(slot, panel int) []float32 {
	if j.strideB == 0 {
		slot = 0
	}
	return j.scratch.b.values[(slot*j.panelN+panel)*j.steps*j.nr:]
}

// packOwn packs panels from <= q < to of B for one worker and returns them, each
// [steps, nr].
func (j *gemmJob) packOwn(from, to, p0, steps, worker int) []float32 {
	panels := j.scratch.b.values[worker*j.streamPanels*j.kc*j.nr:]
	for q := from; q < to; q++ {
		j.packPanel(panels[(q-from)*steps*j.nr:], 0, q, p0, steps)
	}
	return panels
}

// packStrip packs alpha times steps p0 <= p < p0+steps of a strip of A to dst. Slots
// count from batch0, strips from strip0.
func (j *gemmJob) packStrip(dst []float32, slot, strip, p0, steps int) {
	row, end := j.strip(j.strip0 + strip)
	dst = dst[:steps*j.mr]
	a := j.a[(j.batch0+slot)*j.strideA:]
	if j.transA {
		asm.PackAT(dst, a[p0*j.lda+row:], j.lda, steps, end-row)
	} else {
		asm.PackA(dst, a[row*j.lda+p0:], j.lda, steps, end-row)
	}
	if j.alpha != 1 {
		asm.Affine(dst, dst, j.alpha, 0)
	}
}

// packedStrip returns the packed strip of A, [steps, mr]. Where workers pack for
// themselves, the slot is the worker.
func (j *gemmJob) packedStrip(slot, strip int) []float32 {
	if j.strideA == 0 && !j.ownA {
		slot = 0
	}
	size := j.steps * j.mr
	return j.scratch.a.values[(slot*j.stripN+strip)*size:][:size]
}
