package tensor

import "github.com/noether-go/noether/asm"

// Where the processor has a matrix unit, products that are large enough are
// computed as products of split matrices (see asm.GemmSplit): twice the rate of
// float32, and as exact.
//
// C is cut into blocks, and a block is one worker's from beginning to end: it
// splits the parts of A and of B that it needs into memory of its own, a block of
// k at a time. Neighbours of a block split some of that too, but that costs less
// than fetching it from another core's cache, and nobody waits for anybody. An
// element is summed in the order of k alone, so that its bits do not depend on the
// blocks.

const (
	// splitKC is the largest part of k that is multiplied at a time, splitTall the
	// number of rows of a block of C: split rows of A, of up to 768 KiB, stay in the
	// second-level cache while all columns of B pass.
	splitKC   = 256
	splitTall = 512

	// splitStretch is the number of values of storage of B that are split before they
	// are used, 192 KiB, and splitStretchOnce that for a single strip of rows: it uses
	// them once, so that they need not leave the first-level cache, 12 KiB.
	splitStretch     = 48 << 10
	splitStretchOnce = 3 << 10

	// splitItemBits: a worker is worth 1<<splitItemBits multiplications.
	splitItemBits = 17
)

// splitTile is the number of rows and of columns that asm.GemmSplit is best given
// a multiple of.
const splitTile = asm.SplitTile

// splitJob is a gemmJob computed with split matrices. Items are blocks of C.
type splitJob struct {
	*gemmJob
	kc                   int
	stretch              int // columns of B that are split at a time
	rowGroups, colGroups int // of a product
	a, b, rows           int // values of a worker's memory for A, for B, for rows on the way
	memory               []float32
}

var _ Task = (*splitJob)(nil)

// splitPays reports whether a product is faster with split matrices, by estimates in
// nanoseconds of a core that runs at 2 GHz: multiplying, splitting, writing C.
func (j *gemmJob) splitPays() bool {
	if !asm.FastSplit() {
		return false
	}
	up := func(n int) float64 { return float64(ceilDiv(n, splitTile) * splitTile) }
	m, n, k := float64(j.m), float64(j.n), float64(j.k)
	plain := m * n * k / 55
	split := up(j.m)*up(j.n)*up(j.k)/160 + float64(0.27*k*(m+n)) + float64(0.06*m*n) + 1000
	return split < plain
}

// run plans and computes the job.
func (j *splitJob) run(team *Team, s *gemmState) {
	j.plan(team.Size())
	worker := j.a + j.b + j.rows
	j.memory = s.a.grow(worker * team.Size())
	team.For(j.batch*j.rowGroups*j.colGroups, 1, j)
	*j = splitJob{} // keep nobody's memory alive
}

// plan chooses the blocks of k by the shape alone, those of C also such that the
// workers have equal shares.
func (j *splitJob) plan(workers int) {
	j.kc = ceilDiv(ceilDiv(j.k, ceilDiv(j.k, splitKC)), splitTile) * splitTile
	strips, panels := ceilDiv(j.m, splitTile), ceilDiv(j.n, splitTile)
	j.rowGroups, j.colGroups = ceilDiv(j.m, splitTall), 1
	workers = min(workers, j.batch*j.m*j.n*j.k>>splitItemBits)
	for workers > 1 {
		items := j.batch * j.rowGroups * j.colGroups
		if items%workers == 0 || items > 4*workers || items == j.batch*strips*panels {
			break
		}
		if panels*j.rowGroups >= strips*j.colGroups {
			j.colGroups++
		} else {
			j.rowGroups++
		}
	}
	strips = ceilDiv(strips, j.rowGroups)
	stretch := splitStretch
	if strips == 1 {
		stretch = splitStretchOnce
	}
	j.stretch = min(ceilDiv(panels, j.colGroups), max(1, stretch/asm.SplitSize(splitTile, j.kc))) * splitTile
	j.a, j.b = asm.SplitSize(strips*splitTile, j.kc), asm.SplitSize(j.stretch, j.kc)
	j.rows = splitTile * j.kc
}

// Do computes the blocks lo <= i < hi. See Task.
func (j *splitJob) Do(lo, hi, worker int) {
	memory := j.memory[worker*(j.a+j.b+j.rows):]
	strips, panels := ceilDiv(j.m, splitTile), ceilDiv(j.n, splitTile)
	for i := lo; i < hi; i++ {
		row, col, batch := i%j.rowGroups, i/j.rowGroups%j.colGroups, i/j.rowGroups/j.colGroups
		edge := func(i, of, tiles, most int) int { return min(i*tiles/of*splitTile, most) }
		j.block(batch,
			edge(row, j.rowGroups, strips, j.m), edge(row+1, j.rowGroups, strips, j.m),
			edge(col, j.colGroups, panels, j.n), edge(col+1, j.colGroups, panels, j.n), memory)
	}
}

// block computes rows row..end and columns col0..col1 of a product.
func (j *splitJob) block(batch, row, end, col0, col1 int, memory []float32) {
	left, right, rows := memory[:j.a], memory[j.a:][:j.b], memory[j.a+j.b:][:j.rows]
	a, b, c := j.gemmJob.a[batch*j.strideA:], j.gemmJob.b[batch*j.strideB:], j.c[batch*j.strideC:]
	if j.beta != 0 && j.beta != 1 {
		for r := row; r < end; r++ {
			x := c[r*j.ldc+col0 : r*j.ldc+col1]
			asm.Affine(x, x, j.beta, 0)
		}
	}
	for p := 0; p < j.k; p += j.kc {
		steps := min(j.kc, j.k-p)
		strip := asm.SplitSize(splitTile, steps)
		for r := row; r < end; r += splitTile {
			j.splitRows(left[(r-row)/splitTile*strip:], a, r, min(splitTile, end-r), p, steps, rows)
		}
		for col := col0; col < col1; col += j.stretch {
			cols := min(j.stretch, col1-col)
			j.splitColumns(right, b, col, cols, p, steps, rows)
			for r := row; r < end; r += splitTile {
				n := min(splitTile, end-r)
				asm.GemmSplit(n, cols, steps, left[(r-row)/splitTile*strip:], right, c[r*j.ldc+col:], j.ldc, p > 0 || j.beta != 0)
				if p+steps == j.k {
					j.finish(batch*j.strideC, r, r+n, col, col+cols)
				}
			}
		}
	}
}

// splitRows splits alpha times n <= 32 rows of op(A).
func (j *splitJob) splitRows(dst, a []float32, row, n, p, steps int, rows []float32) {
	if !j.transA && j.alpha == 1 {
		asm.SplitLeft(dst, a[row*j.lda+p:], j.lda, n, steps)
		return
	}
	if j.transA {
		asm.Transpose(rows, steps, a[p*j.lda+row:], j.lda, steps, n)
		if j.alpha != 1 {
			asm.Affine(rows[:n*steps], rows[:n*steps], j.alpha, 0)
		}
	} else {
		for i := range n {
			asm.Affine(rows[i*steps:][:steps], a[(row+i)*j.lda+p:][:steps], j.alpha, 0)
		}
	}
	asm.SplitLeft(dst, rows, steps, n, steps)
}

// splitColumns splits columns of op(B).
func (j *splitJob) splitColumns(dst, b []float32, col, n, p, steps int, rows []float32) {
	if !j.transB {
		asm.SplitRight(dst, b[p*j.ldb+col:], j.ldb, steps, n)
		return
	}
	for ; n > 0; n -= splitTile {
		cols := min(splitTile, n)
		asm.Transpose(rows, splitTile, b[col*j.ldb+p:], j.ldb, cols, steps)
		asm.SplitRight(dst, rows, splitTile, steps, cols)
		col += splitTile
		dst = dst[min(len(dst), asm.SplitSize(splitTile, steps)):]
	}
}
