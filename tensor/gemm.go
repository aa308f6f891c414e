package tensor

import (
	"fmt"

	"github.com/noether-go/noether/asm"
)

// Sgemm computes C = alpha*op(A)*op(B) + beta*C like the BLAS routine of that
// name, row-major. op(A) is [m, k], op(B) is [k, n], C is [m, n]; A is stored
// [k, m] when transA, B [n, k] when transB. Leading dimensions are in values.
// With beta = 0 C is not read, with alpha = 0 neither A nor B is; C must not
// overlap A or B.
//
// Sgemm panics with *Error on sizes that do not fit. It allocates nothing once a
// call as large has been made with the team.
func Sgemm(team *Team, transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	team.gemm.run(team, "Sgemm", gemmJob{
		transA: transA, transB: transB, m: m, n: n, k: k, batch: 1,
		a: a, lda: lda, b: b, ldb: ldb, c: c, ldc: ldc,
		alpha: alpha, beta: beta,
	})
}

// Block sizes, in values unless said otherwise. They bound what the inner loops
// touch: a strip of A (mr x kc) stays in the first-level cache while the panels
// of B (kc x nr) stream past it from the second level.
const (
	// gemmKC is the largest part of k that is multiplied at a time: a strip of
	// 14 rows takes 21 KiB.
	gemmKC = 384

	// gemmPanelValues is how much of B one pass over a strip of A streams:
	// 768 KiB, which a second-level cache of 1 to 2 MiB keeps for the next strip.
	gemmPanelValues = 192 << 10

	// gemmLongKC replaces gemmKC where C is so narrow that A is read but once
	// and all of B fits into gemmPanelValues.
	gemmLongKC = 4096

	// gemmPackedB bounds the memory for packed B: 8 MiB.
	gemmPackedB = 2 << 20

	// gemmInPlace is the largest A or B that is read in place although many
	// panels or strips use it: what a second-level cache holds.
	gemmInPlace = 384 << 10

	// gemmPackSteps is how many steps of k of a panel one item of the packing
	// job handles.
	gemmPackSteps = 512

	// gemmGroupStrips is the most strips of A that an item of the multiplying
	// job handles.
	gemmGroupStrips = 24

	// An item is worth at least gemmItem multiplications, some microseconds
	// against the half of one that dispatching costs; there are gemmItems of
	// them where the product is large enough. Neither depends on the number of
	// threads: the epilogue's blocks, and with them its bits, follow the items.
	gemmItem  = 1 << 19
	gemmItems = 16
)

// gemmState is what a Team keeps for its products: the job at hand and scratch
// memory, which grows to the largest product and is then used again.
type gemmState struct {
	job gemmJob
	b   []float32   // packed panels of B, shared
	a   [][]float32 // packed strips of A, one slice for each worker
}

// gemmJob is a batch of products and the way in which they are computed.
//
// C is cut into strips of at most mr rows and panels of nr columns, the tile of
// package asm. op(B) is read in place or, block by block of k, from panels that
// the workers packed together; op(A) is read in place or from strips that a
// worker packs for itself. An element is always summed over the same blocks of
// k in the same order, so its bits do not depend on who computes it.
type gemmJob struct {
	transA, transB            bool
	m, n, k, batch            int
	a, b, c                   []float32
	lda, ldb, ldc             int
	strideA, strideB, strideC int
	alpha, beta               float32

	bias       []float32 // [m] or nil
	epilogue   Epilogue
	omega      float32
	derivative []float32 // like c or nil

	// The plan.
	mr, nr          int
	packA, packB    bool
	kc              int // steps of k in a block
	strips, panels  int // of C
	groupStrips     int // strips and panels of an item
	groupPanels     int
	streamPanels    int // panels that one pass over a strip takes
	packedPanels    int // panels of B, and batches, that are packed at a time
	packedBatches   int
	scratch         *gemmState
	batch0, batches int // the batches at hand
	panel0, panelN  int // the panels at hand
	p0, steps       int // the block of k at hand; all of k when B is read in place
}

// run checks, plans and computes a job.
func (s *gemmState) run(team *Team, op string, job gemmJob) {
	job.check(op)
	if job.m == 0 || job.n == 0 || job.batch == 0 {
		return
	}
	if job.alpha == 0 {
		job.k = 0
	}
	s.job = job
	j := &s.job
	defer func() { s.job = gemmJob{} }() // keep nobody's memory alive
	j.plan()
	j.scratch = s
	s.reserve(j, team.Size())

	if !j.packB {
		j.batches, j.panelN, j.steps = j.batch, j.panels, j.k
		team.For(j.items(), 1, (*gemmMultiply)(j))
		return
	}
	for j.batch0 = 0; j.batch0 < j.batch; j.batch0 += j.packedBatches {
		j.batches = min(j.packedBatches, j.batch-j.batch0)
		for j.panel0 = 0; j.panel0 < j.panels; j.panel0 += j.packedPanels {
			j.panelN = min(j.packedPanels, j.panels-j.panel0)
			for j.p0 = 0; j.p0 == 0 || j.p0 < j.k; j.p0 += j.kc {
				j.steps = min(j.kc, j.k-j.p0)
				// Neighbouring panels share lines and pages.
				team.For(j.packItems(), max(1, j.packItems()/gemmItems), (*gemmPack)(j))
				team.For(j.items(), 1, (*gemmMultiply)(j))
			}
		}
	}
}

// check panics unless sizes and lengths fit.
func (j *gemmJob) check(op string) {
	if j.m < 0 || j.n < 0 || j.k < 0 || j.batch < 0 {
		panic(&Error{op, fmt.Sprintf("negative size: m=%d n=%d k=%d batch=%d", j.m, j.n, j.k, j.batch)})
	}
	if j.m == 0 || j.n == 0 || j.batch == 0 {
		return
	}
	if j.alpha != 0 && j.k > 0 {
		rows, cols := j.m, j.k
		if j.transA {
			rows, cols = cols, rows
		}
		checkMatrix(op, "a", j.a, rows, cols, j.lda, j.strideA, j.batch)
		rows, cols = j.k, j.n
		if j.transB {
			rows, cols = cols, rows
		}
		checkMatrix(op, "b", j.b, rows, cols, j.ldb, j.strideB, j.batch)
	}
	checkMatrix(op, "c", j.c, j.m, j.n, j.ldc, j.strideC, j.batch)
	if j.batch > 1 && j.strideC == 0 {
		panic(&Error{op, "the products of a batch share one C: its stride is 0"})
	}
	if j.derivative != nil {
		checkMatrix(op, "derivative", j.derivative, j.m, j.n, j.ldc, j.strideC, j.batch)
	}
}

// checkMatrix panics unless x holds batch matrices [rows, cols].
func checkMatrix(op, name string, x []float32, rows, cols, ld, stride, batch int) {
	if ld < cols {
		panic(&Error{op, fmt.Sprintf("leading dimension of %s is %d: want at least %d", name, ld, cols)})
	}
	if stride < 0 {
		panic(&Error{op, fmt.Sprintf("stride of %s is %d", name, stride)})
	}
	if want := (batch-1)*stride + (rows-1)*ld + cols; len(x) < want {
		panic(&Error{op, fmt.Sprintf("%s has %d values, want %d", name, len(x), want)})
	}
}

// plan chooses the path and the blocks, by the sizes and the level alone.
func (j *gemmJob) plan() {
	j.mr, j.nr = asm.GemmTile()
	j.strips, j.panels = ceilDiv(j.m, j.mr), ceilDiv(j.n, j.nr)
	if tiles := j.strips * j.panels * j.batch; tiles < gemmItems && tiles%2 == 1 && j.m > 1 {
		j.strips++ // or two workers would have uneven shares
	}

	// B in place costs a page and a cache line for each step; at a distance of
	// 4 KiB the lines also share one set of the cache. Packing pays when
	// several strips use the panel.
	far := aliased(j.ldb)
	j.packB = j.transB || j.strips >= 2 && far || j.strips >= 4 && j.k*j.n > gemmInPlace
	// A strip in place is read once for each panel, so it should stay in the
	// first-level cache; k-major, its lines are far apart. The first reading of
	// rows from beyond the second-level cache is quicker in a pack than in a tile.
	j.packA = j.alpha != 1 || j.panels >= 4 && (j.transA || aliased(j.lda) || j.m*j.k > gemmInPlace)

	j.kc = gemmKC
	if width := j.panels * j.nr; j.packB && width*gemmKC < gemmPanelValues {
		j.kc = min(gemmLongKC, gemmPanelValues/width)
	}
	if j.k > 0 {
		// Equal blocks, of a multiple of the kernels' four steps.
		j.kc = (ceilDiv(j.k, ceilDiv(j.k, j.kc)) + 3) &^ 3
	}
	j.streamPanels = max(1, gemmPanelValues/(j.kc*j.nr))

	j.packedPanels = min(j.panels, max(1, gemmPackedB/(j.kc*j.nr)))
	j.packedBatches = max(1, gemmPackedB/(j.kc*j.nr*j.packedPanels))
	if j.strideB == 0 {
		j.packedBatches = j.batch
	}
	j.packedBatches = min(j.packedBatches, j.batch)

	j.groupStrips, j.groupPanels = j.strips, j.panels
	if j.packB {
		j.groupPanels = j.packedPanels
	}
	tile := j.mr * j.nr * max(1, j.k)
	target := max(gemmItem, j.m*j.n*max(1, j.k)*j.batch/gemmItems)
	for j.groupStrips > gemmGroupStrips || j.groupStrips*j.groupPanels*tile > target {
		// Where A is packed, rows are split before columns: an item packs all its
		// strips.
		rows, cols := j.groupStrips*j.mr, j.groupPanels*j.nr
		if j.groupStrips > 1 && (rows >= cols || j.groupStrips > gemmGroupStrips || j.packA && j.groupStrips > 4) {
			j.groupStrips = ceilDiv(j.groupStrips, 2)
		} else if j.groupPanels > 1 {
			j.groupPanels = ceilDiv(j.groupPanels, 2)
		} else {
			break
		}
	}
}

// aliased reports whether rows ld values apart fall into the same few sets of
// the first-level cache.
func aliased(ld int) bool { return ld%1024 == 0 }

func ceilDiv(x, y int) int { return (x + y - 1) / y }

// items returns the number of items of the multiplying job.
func (j *gemmJob) items() int {
	return j.batches * ceilDiv(j.strips, j.groupStrips) * ceilDiv(j.panelN, j.groupPanels)
}

// packItems returns the number of items of the packing job.
func (j *gemmJob) packItems() int {
	return j.packedSlots() * j.panelN * ceilDiv(j.steps, gemmPackSteps)
}

// packedSlots returns how many matrices B are packed at a time.
func (j *gemmJob) packedSlots() int {
	if j.strideB == 0 {
		return 1
	}
	return j.batches
}

// reserve grows the scratch memory to what j needs.
func (s *gemmState) reserve(j *gemmJob, workers int) {
	if j.packB {
		slots := j.packedBatches
		if j.strideB == 0 {
			slots = 1
		}
		s.b = grown(s.b, slots*j.packedPanels*j.kc*j.nr)
	}
	if j.packA {
		for len(s.a) < workers {
			s.a = append(s.a, nil)
		}
		for w := range s.a {
			s.a[w] = grown(s.a[w], j.groupStrips*j.mr*j.kc)
		}
	}
}

// grown returns x when it has n values, else new memory with n values.
func grown(x []float32, n int) []float32 {
	if len(x) >= n {
		return x
	}
	y, err := allocate(n)
	if err != nil {
		panic(&Error{"Gemm", err.Error()})
	}
	return y
}

// gemmPack is a gemmJob as the Task of packing B.
type gemmPack gemmJob

// Do packs parts lo <= i < hi of the panels at hand. See Task.
func (t *gemmPack) Do(lo, hi, _ int) {
	j := (*gemmJob)(t)
	parts := ceilDiv(j.steps, gemmPackSteps)
	for i := lo; i < hi; i++ {
		part, panel, slot := i%parts, i/parts%j.panelN, i/parts/j.panelN
		p := part * gemmPackSteps
		steps := min(gemmPackSteps, j.steps-p)
		col := (j.panel0 + panel) * j.nr
		cols := min(j.nr, j.n-col)
		dst := j.packed(slot, panel)[p*j.nr : (p+steps)*j.nr]
		b := j.b[(j.batch0+slot)*j.strideB:]
		if j.transB {
			asm.PackCols(dst, b[col*j.ldb+j.p0+p:], j.ldb, steps, cols)
		} else {
			asm.PackPanel(dst, b[(j.p0+p)*j.ldb+col:], j.ldb, steps, cols)
		}
	}
}

// packed returns the packed panel of B, [steps, nr], that begins at column
// (panel0+panel)*nr of the given matrix of those at hand.
func (j *gemmJob) packed(slot, panel int) []float32 {
	if j.strideB == 0 {
		slot = 0
	}
	size := j.steps * j.nr
	return j.scratch.b[(slot*j.panelN+panel)*size:][:size]
}

// gemmMultiply is a gemmJob as the Task of multiplying.
type gemmMultiply gemmJob

// Do computes items lo <= i < hi of the strips and panels at hand. See Task.
func (t *gemmMultiply) Do(lo, hi, worker int) {
	j := (*gemmJob)(t)
	rowGroups, colGroups := ceilDiv(j.strips, j.groupStrips), ceilDiv(j.panelN, j.groupPanels)
	for i := lo; i < hi; i++ {
		row, col, item := i%rowGroups, i/rowGroups%colGroups, i/rowGroups/colGroups
		s0, q0 := row*j.groupStrips, col*j.groupPanels
		s1, q1 := min(s0+j.groupStrips, j.strips), min(q0+j.groupPanels, j.panelN)
		if j.packB {
			j.multiply(item, s0, s1, q0, q1, j.p0, j.steps, worker)
			continue
		}
		for p := 0; p == 0 || p < j.k; p += j.kc {
			j.multiply(item, s0, s1, q0, q1, p, min(j.kc, j.k-p), worker)
		}
	}
}

// multiply adds steps p0 <= p < p0+steps of k to strips s0..s1 and panels
// q0..q1 (counted from panel0) of a product, and finishes them after the last.
func (j *gemmJob) multiply(item, s0, s1, q0, q1, p0, steps, worker int) {
	batch := j.batch0 + item
	a, b, c := j.operand(j.a, batch*j.strideA), j.operand(j.b, batch*j.strideB), j.c[batch*j.strideC:]
	accumulate := p0 > 0 || j.beta != 0
	var strips []float32
	if j.packA {
		strips = j.packStrips(a, s0, s1, p0, steps, worker)
	}
	for from := q0; from < q1; from += j.streamPanels {
		to := min(from+j.streamPanels, q1)
		col0 := (j.panel0 + from) * j.nr
		col1 := min(j.n, (j.panel0+to)*j.nr)
		for s := s0; s < s1; s++ {
			row, end := j.strip(s)
			rows := end - row
			if p0 == 0 && j.beta != 0 && j.beta != 1 {
				for r := row; r < end; r++ {
					x := c[r*j.ldc+col0 : r*j.ldc+col1]
					asm.Affine(x, x, j.beta, 0)
				}
			}
			for q := from; q < to; q++ {
				if s+1 < s1 && !j.packA {
					j.prefetch(a, s+1, p0, steps, q-from, to-from)
				}
				col := (j.panel0 + q) * j.nr
				cols := min(j.nr, j.n-col)
				panel, ldb := b, j.ldb
				if j.packB {
					panel, ldb = j.packed(item, q), j.nr
				} else if steps > 0 {
					panel = b[p0*j.ldb+col:]
				}
				out := c[row*j.ldc+col:]
				switch {
				case steps == 0:
					asm.GemmNN(rows, cols, 0, nil, 0, nil, 0, out, j.ldc, accumulate)
				case j.packA:
					asm.GemmTN(rows, cols, steps, strips[(s-s0)*j.mr*steps:], j.mr, panel, ldb, out, j.ldc, accumulate)
				case j.transA:
					asm.GemmTN(rows, cols, steps, a[p0*j.lda+row:], j.lda, panel, ldb, out, j.ldc, accumulate)
				default:
					asm.GemmNN(rows, cols, steps, a[row*j.lda+p0:], j.lda, panel, ldb, out, j.ldc, accumulate)
				}
			}
			if p0+steps == j.k {
				j.finish(batch*j.strideC, row, end, col0, col1)
			}
		}
	}
}

// prefetch fetches part of parts of a strip that is read in place next: the
// first pass over it would otherwise wait for a row of lines every few steps.
func (j *gemmJob) prefetch(a []float32, s, p0, steps, part, parts int) {
	row, end := j.strip(s)
	if j.transA {
		from, to := part*steps/parts, (part+1)*steps/parts
		if from < to {
			asm.Prefetch(a[(p0+from)*j.lda+row:], j.lda, to-from, end-row)
		}
		return
	}
	from, to := row+part*(end-row)/parts, row+(part+1)*(end-row)/parts
	if from < to && steps > 0 {
		asm.Prefetch(a[from*j.lda+p0:], j.lda, to-from, steps)
	}
}

// operand returns x from offset on; x may be anything when k is zero.
func (j *gemmJob) operand(x []float32, offset int) []float32 {
	if j.k == 0 {
		return nil
	}
	return x[offset:]
}

// strip returns the rows of strip s: all strips are equally high, give or take
// one row, for a low last one would leave most of its kernel's registers idle.
func (j *gemmJob) strip(s int) (row, end int) {
	return s * j.m / j.strips, (s + 1) * j.m / j.strips
}

// packStrips packs alpha times strips s0..s1 of op(A), steps p0 <= p < p0+steps.
func (j *gemmJob) packStrips(a []float32, s0, s1, p0, steps, worker int) []float32 {
	dst := j.scratch.a[worker][:(s1-s0)*j.mr*steps]
	if steps == 0 {
		return dst
	}
	for s := s0; s < s1; s++ {
		row, end := j.strip(s)
		d := dst[(s-s0)*j.mr*steps:][:j.mr*steps]
		if j.transA {
			asm.PackAT(d, a[p0*j.lda+row:], j.lda, steps, end-row)
		} else {
			asm.PackA(d, a[row*j.lda+p0:], j.lda, steps, end-row)
		}
		if j.alpha != 1 {
			asm.Affine(d, d, j.alpha, 0)
		}
	}
	return dst
}
