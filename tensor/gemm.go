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
	j := &team.gemm.job
	j.transA, j.transB, j.m, j.n, j.k, j.batch = transA, transB, m, n, k, 1
	j.a, j.lda, j.b, j.ldb, j.c, j.ldc = a, lda, b, ldb, c, ldc
	j.alpha, j.beta = alpha, beta
	team.gemm.run(team, "Sgemm")
}

// Block sizes, in values unless said otherwise. They bound what the inner loops
// touch: a strip of A (mr x kc) stays in the first-level cache while the panels
// of B (kc x nr) stream past it from the second level.
const (
	// gemmKC is the largest part of k that is multiplied at a time.
	gemmKC = 512

	// gemmLongKC replaces it where C is at most gemmNarrow panels wide: A is
	// read so few times that it need not stay in the first-level cache, but all
	// of B must fit into gemmPanelValues.
	gemmLongKC = 4096
	gemmNarrow = 3

	// Where B is stored transposed and C is low, packing B takes as long as
	// multiplying a few strips by it; where C is narrow, most of a tile would be
	// idle. Sums of at least gemmDotSteps terms are then computed as scalar
	// products, gemmDotKC terms at a time, for up to gemmDotRows rows of C, or for
	// any number where C is no wider than the tile of asm.GemmDots.
	gemmDotSteps = 256
	gemmDotRows  = 48
	gemmDotKC    = 4096

	// gemmPanelValues is how much of B one pass over a strip of A streams:
	// 768 KiB, which a second-level cache of 1 to 2 MiB keeps for the next strip.
	gemmPanelValues = 192 << 10

	// gemmInPlaceValues is the same where B is read in place: with 128 KiB products of 32 to 64 steps take 3 to 12%
	// less time than with 768 where the second-level cache has 512 KiB, and as long where it has 1 MiB. It has to be
	// gemmInPlaceColumns wide, or reading A again for each part costs more.
	gemmInPlaceValues  = 32 << 10
	gemmInPlaceColumns = 512

	// Where C is wide enough, each worker packs the panels that it multiplies,
	// gemmOwnColumns columns at a time: what another has packed would come from that one's
	// cache. It takes gemmOwnItems items. In teams of at most gemmOwnMost it packs A as
	// well, all strips, if they have less than gemmOwnA values, 4 MiB. Low strips gain by
	// it only where A is in place and B is fetched ahead.
	gemmOwnColumns = 256
	gemmOwnItems   = 4
	gemmOwnMost    = 4
	gemmOwnA       = 1 << 20

	// gemmPackedA and gemmPackedB bound the memory for packed matrices: 4 and
	// 8 MiB, and a strip or a panel more.
	gemmPackedA = 1 << 20
	gemmPackedB = 2 << 20

	// gemmInPlace is the largest B that is read in place although many strips use
	// it, and the largest A whose strips need not be fetched ahead: what a
	// second-level cache holds.
	gemmInPlace = 192 << 10

	// Where the second-level cache has gemmLargeCache bytes and rows of B begin where lines do, in place pays for
	// up to gemmInPlaceLines values, 2.3 MiB, since a pass takes a part of it, and for up to gemmFewInPlace where C
	// has fewer than gemmFewRows rows. From other rows each vector would take two lines. With a cache of 1 MiB
	// 512 x 512 values take 1% longer in place.
	gemmLargeCache   = 2 << 20
	gemmInPlaceLines = 600 << 10
	gemmFewInPlace   = 4 << 20
	gemmFewRows      = 128

	// Low strips, of at most half a line of a k-major A, read B more often. From gemmLowInPlace
	// values on, 128 KiB, packing either operand pays, A where at least gemmLowPanels panels use it.
	gemmLowInPlace = 32 << 10
	gemmLowPanels  = 16

	// gemmLine is the size of a cache line in bytes.
	gemmLine = 64

	// gemmFewPanels is the largest number of panels for which low strips of a small A
	// are read in place k-major, which takes more lines of the cache, gemmHighPanels that for
	// which high ones are although their lines fall into an eighth of the sets, or fewer. At a
	// distance of 4 KiB they share one of the first-level cache, and are packed.
	gemmFewPanels  = 16
	gemmHighPanels = 32

	// gemmManyRows is the number of rows of C from which on packing pays for a B
	// beyond that.
	gemmManyRows = 48

	// gemmPackSteps is how many steps of k of a panel, or of a strip, one item of
	// the packing job handles.
	gemmPackSteps = 512

	// gemmFetchSteps is how many steps of the next strip are fetched ahead.
	gemmFetchSteps = 64

	// A strip of A is read anew for each item of the multiplying job, so an item
	// has gemmItemPanels panels if it can. Where there are fewer than
	// gemmEqualTiles tiles in all, halving evenly comes first.
	gemmItemPanels = 8
	gemmEqualTiles = 64

	// gemmOddTiles is the number of tiles from which on an odd one more or less is no
	// matter for two workers.
	gemmOddTiles = 256

	// An item of the multiplying job is worth at least 1<<gemmItemBits
	// multiplications, about two microseconds against the half of one that
	// dispatching costs. There is one for each worker as soon as that allows it, and up
	// to gemmManyItems where each is worth 1<<gemmLargeBits: 128 x 128 x 128 in eight items takes two
	// workers a tenth longer than in two. No bit depends on the items.
	gemmItemBits  = 17
	gemmLargeBits = 21
	gemmManyItems = 32
)

// gemmState is what a Team keeps for its products: the job at hand and scratch
// memory, which grows to the largest product and is then used again.
type gemmState struct {
	job   gemmJob
	split splitJob
	a     block // packed strips of A, or what is split of A and B
	b     block // packed panels of B
	packs []int // the block of which a worker has packed all strips
}

// release gives the scratch memory back. No product may follow.
func (s *gemmState) release() {
	s.a.release()
	s.b.release()
	s.a, s.b = block{}, block{}
}

// gemmJob is a batch of products and the way in which they are computed.
//
// C is cut into strips of at most mr rows and panels of nr columns, the tile of
// package asm. op(A) and op(B) are read in place or, block by block, from strips
// and panels that the workers packed together. An element is always summed over
// the same blocks of k in the same order, so its bits do not depend on who
// computes it.
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
	mr, nr         int
	dots           bool // scalar products of rows: asm.GemmDots
	packA, packB   bool
	ownA, ownB     bool // each worker packs what it multiplies
	blocked        bool // all workers compute the same block at a time
	fetchA         bool // fetch the strips of A ahead
	kc             int  // steps of k in a block
	strips, panels int  // of C
	streamPanels   int  // panels that one pass over a strip takes
	packedStrips   int  // strips of A, panels of B and batches that are packed at a time
	packedPanels   int
	packedBatches  int
	scratch        *gemmState

	// The block at hand. Unless blocked it is everything.
	block                int // number of the block, from 1
	batch0, batches      int
	strip0, stripN       int
	panel0, panelN       int
	p0, steps            int
	packsA, packsB       int // items of the packing job
	rowGroups, colGroups int // items of the multiplying job, for each of batches
}

// run checks, plans and computes the job that the caller has written to s.job: copies of it would take as long as a
// small product.
func (s *gemmState) run(team *Team, op string) {
	j := &s.job
	defer func() { s.job = gemmJob{} }() // keep nobody's memory alive
	j.check(op)
	if j.m == 0 || j.n == 0 || j.batch == 0 {
		return
	}
	if j.alpha == 0 {
		j.k = 0
	}
	if j.splitPays() {
		s.split = splitJob{gemmJob: j}
		s.split.run(team, s)
		return
	}
	j.plan(team.Size())
	j.scratch = s
	if j.dots && !j.transB {
		turned := s.b.grow(j.n * j.k)
		asm.Transpose(turned, j.k, j.b, j.ldb, j.k, j.n)
		j.b, j.ldb = turned, j.k
	}
	if j.packA || j.packB {
		s.reserve(j, team.Size())
	}
	if !j.blocked {
		j.batches, j.stripN, j.panelN, j.steps = j.batch, j.strips, j.panels, j.k
		j.share(j.k, team.Size())
		team.For(j.items(), 1, (*gemmMultiply)(j))
		return
	}
	j.runBlocks(team)
}

// runBlocks computes block after block, all workers the same one: they pack it, unless it is there from
// the block before, and multiply.
func (j *gemmJob) runBlocks(team *Team) {
	for j.batch0 = 0; j.batch0 < j.batch; j.batch0 += j.packedBatches {
		j.batches = min(j.packedBatches, j.batch-j.batch0)
		for j.panel0 = 0; j.panel0 < j.panels; j.panel0 += j.packedPanels {
			j.panelN = min(j.packedPanels, j.panels-j.panel0)
			for j.p0 = 0; j.p0 == 0 || j.p0 < j.k; j.p0 += j.kc {
				j.steps = min(j.kc, j.k-j.p0)
				for j.strip0 = 0; j.strip0 < j.strips; j.strip0 += j.packedStrips {
					j.stripN = min(j.packedStrips, j.strips-j.strip0)
					j.runBlock(team)
				}
			}
		}
	}
}

// runBlock packs and multiplies the block at hand.
func (j *gemmJob) runBlock(team *Team) {
	j.block++
	if packs := j.packItems(); packs > 0 {
		// Neighbouring panels share lines and pages.
		team.For(packs, max(1, packs/gemmManyItems), (*gemmPack)(j))
	}
	j.share(j.steps, team.Size())
	team.For(j.items(), 1, (*gemmMultiply)(j))
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
	left := len(x) - cols
	if reaches(&left, rows, ld) && reaches(&left, batch, stride) && left >= 0 {
		return
	}
	panic(&Error{op, fmt.Sprintf("%s has %d values, fewer than %d x [%d, %d] at distances of %d and %d", name, len(x), batch, rows, cols, stride, ld)})
}

// reaches reports whether n > 0 steps lie in the values that are left, which it lowers. The
// product of both numbers may be more than an int.
func reaches(left *int, n, step int) bool {
	if n > 1 && step > *left/(n-1) {
		return false
	}
	*left -= (n - 1) * step
	return true
}

// plan chooses the path and the blocks, by the sizes and the level; the number of workers has a
// say in the height of strips, which bits do not depend on.
func (j *gemmJob) plan(workers int) {
	j.planTiles(workers)
	j.planPacking()
	// Packed strips have the height of a tile.
	if rows := asm.StripRows(j.k); rows > j.mr && !j.dots && !j.packA && !j.packB {
		j.mr, j.strips = rows, ceilDiv(j.m, rows)
	}
	j.planSteps()
	j.planStreams(workers)
	j.blocked = j.packA || j.packB && !j.ownB || j.dots && j.k > j.kc
	if j.blocked {
		j.planBlocks()
	}
}

// planTiles chooses the kernel, and cuts C into strips and panels.
func (j *gemmJob) planTiles(workers int) {
	j.mr, j.nr = asm.GemmTile()
	if mr, nr := asm.DotTile(); mr > 0 && !j.transA && j.alpha == 1 && j.k >= gemmDotSteps &&
		(j.n <= nr && (j.transB || j.batch == 1) || j.transB && j.m <= gemmDotRows) {
		j.dots, j.mr, j.nr = true, mr, nr
	}
	j.strips, j.panels = ceilDiv(j.m, j.mr), ceilDiv(j.n, j.nr)
	if tiles := j.strips * j.panels * j.batch; workers > 1 && tiles < gemmOddTiles && tiles%2 == 1 && j.m > j.strips {
		j.strips++ // or two workers would have uneven shares
	}
}

// high reports whether a strip of a k-major A takes more than half of a cache line.
func (j *gemmJob) high() bool { return 4*j.mr > gemmLine/2 }

// planPacking decides which operands are packed.
func (j *gemmJob) planPacking() {
	// B in place costs a page and a cache line for each step; at a distance of
	// 4 KiB the lines also share one set of the cache. Packing pays when
	// several strips use the panel.
	small := gemmInPlace
	if !j.high() {
		small = gemmLowInPlace
	}
	j.packB = j.k > 0 && !j.dots && (j.transB || j.strips >= 2 && aliased(j.ldb) || j.m >= gemmManyRows && j.k*j.n > j.mostInPlace(small))
	j.packA = j.k > 0 && !j.dots && (j.alpha != 1 || j.panels >= 4 && j.crowdedA(small))
	j.fetchA = !j.packA && j.m*j.k > gemmInPlace
}

// mostInPlace returns the most values that a B of many strips may have and be read in place: small, or more where
// the cache and the beginnings of its rows allow it.
func (j *gemmJob) mostInPlace(small int) int {
	switch {
	case !j.high() || secondLevelCache < gemmLargeCache || !wholeLines(j.b, j.ldb, j.strideB):
		return small
	case j.m < gemmFewRows:
		return gemmFewInPlace
	}
	return gemmInPlaceLines
}

// secondLevelCache is its size in bytes, zero where that is unknown.
var secondLevelCache = asm.SecondLevelCache()

// crowdedA reports whether the lines of a strip of A in place would drive each other out of the
// caches, where it should stay, since it is read once for each panel. A low strip uses little of
// its lines where it is k-major; small is the largest B in place.
func (j *gemmJob) crowdedA(small int) bool {
	switch {
	case aliased(j.lda):
		return true
	case j.high():
		return j.transA && narrowSets(j.lda) && j.panels > gemmHighPanels
	case j.transA && (j.panels > gemmFewPanels || j.m*j.k > gemmInPlace):
		return true
	}
	return j.panels >= gemmLowPanels && (quarterAliased(j.lda) || j.m*j.k > small)
}

// planSteps cuts k into blocks.
func (j *gemmJob) planSteps() {
	j.kc = gemmKC
	switch {
	case j.dots:
		j.kc = gemmDotKC
	case j.panels <= gemmNarrow:
		j.kc = min(gemmLongKC, gemmPanelValues/(j.panels*j.nr))
	}
	if j.k > j.kc {
		// Equal blocks, of a multiple of the kernels' four steps.
		j.kc = (ceilDiv(j.k, ceilDiv(j.k, j.kc)) + 3) &^ 3
	} else {
		j.kc = max(1, j.k)
	}
}

// planStreams chooses how many panels stream past a strip, and whether each worker packs its own.
func (j *gemmJob) planStreams(workers int) {
	j.streamPanels = max(1, gemmPanelValues/(j.kc*j.nr))
	if !j.packB && !j.dots && j.kc*gemmInPlaceColumns <= gemmInPlaceValues {
		j.streamPanels = gemmInPlaceValues / (j.kc * j.nr)
	}
	own := gemmOwnColumns / j.nr
	if j.packB && j.batch == 1 && j.panels >= own*workers && (j.high() || !j.packA && !j.transB) {
		j.ownB, j.ownA = true, j.packA && workers <= gemmOwnMost && j.strips*j.mr*j.kc < gemmOwnA
		j.streamPanels = own
	}
}

// planBlocks bounds what is packed at a time.
func (j *gemmJob) planBlocks() {
	j.packedStrips, j.packedPanels, j.packedBatches = j.strips, j.panels, j.batch
	if j.packA {
		j.packedStrips = evenBlock(j.strips, gemmPackedA, j.kc*j.mr)
		if j.strideA != 0 {
			j.packedBatches = min(j.packedBatches, max(1, gemmPackedA/(j.kc*j.mr*j.packedStrips)))
		}
	}
	if j.packB && !j.ownB {
		j.packedPanels = evenBlock(j.panels, gemmPackedB, j.kc*j.nr)
		if j.strideB != 0 {
			j.packedBatches = min(j.packedBatches, max(1, gemmPackedB/(j.kc*j.nr*j.packedPanels)))
		}
	}
}

// evenBlock returns how many of n strips or panels, each of size values, a block has: as many as hold most values, the
// last one in part, or fewer, so that blocks are equal. A low last block would take the other operand as long as a
// high one does, and 2048 rows, a strip more than fits 4 MiB, would have one.
func evenBlock(n, most, size int) int { return ceilDiv(n, ceilDiv(n, ceilDiv(most, size))) }

// share cuts the block at hand into items, one for a team of one worker: each item
// begins its strips anew.
func (j *gemmJob) share(steps, workers int) {
	j.rowGroups, j.colGroups = 1, 1
	if workers == 1 {
		return
	}
	work := j.stripN * j.mr * j.panelN * j.nr * max(1, steps) * j.batches
	want := min(work>>gemmItemBits, max(workers, min(work>>gemmLargeBits, gemmManyItems)))
	strips, panels := j.stripN, j.panelN
	if j.ownB { // a panel is packed once for all strips
		for want = min(want, gemmOwnItems*workers); j.colGroups < want && panels > j.streamPanels/2; panels = (panels + 1) / 2 {
			j.colGroups *= 2
		}
		return
	}
	for items := j.batches; items < want && (strips > 1 || panels > 1); items *= 2 {
		byRows := panels <= gemmItemPanels
		if even := strips%2 == 0; strips*panels < gemmEqualTiles && even != (panels%2 == 0) {
			byRows = even
		}
		if panels == 1 || byRows && strips > 1 {
			j.rowGroups *= 2
			strips = (strips + 1) / 2
		} else {
			j.colGroups *= 2
			panels = (panels + 1) / 2
		}
	}
}

// aliased reports whether rows ld values apart fall into the same few sets of
// the first-level cache, quarterAliased whether the six rows of a strip do of one that takes a
// way by a hash of the address (Zen), narrowSets whether hundreds of rows are too many for the
// sets of the second-level one.
func aliased(ld int) bool        { return ld%1024 == 0 }
func quarterAliased(ld int) bool { return ld%256 == 0 }
func narrowSets(ld int) bool     { return ld%128 == 0 }

// wholeLines reports whether all rows of a batch of matrices begin where a cache line does.
func wholeLines(x []float32, ld, stride int) bool {
	return address(x)%gemmLine == 0 && 4*ld%gemmLine == 0 && 4*stride%gemmLine == 0
}

func ceilDiv(x, y int) int { return (x + y - 1) / y }

// cut returns where part i begins of n items in equal parts. It divides only if it has to: a small product takes no
// longer than a few divisions.
func cut(n, i, parts int) int {
	if parts == 1 {
		return i * n
	}
	return i * n / parts
}

// items returns the number of items of the multiplying job.
func (j *gemmJob) items() int { return j.batches * j.rowGroups * j.colGroups }

// packItems counts the items of the packing job: those for B, which lasts for all
// strips, and then those for A.
func (j *gemmJob) packItems() int {
	parts := ceilDiv(j.steps, gemmPackSteps)
	j.packsA, j.packsB = 0, 0
	if j.packB && !j.ownB && j.strip0 == 0 {
		j.packsB = parts * j.panelN
		if j.strideB != 0 {
			j.packsB *= j.batches
		}
	}
	if j.packA && !j.ownA {
		j.packsA = parts * j.stripN
		if j.strideA != 0 {
			j.packsA *= j.batches
		}
	}
	return j.packsA + j.packsB
}

// reserve grows the scratch memory to what j needs.
func (s *gemmState) reserve(j *gemmJob, workers int) {
	if j.packA {
		slots := j.packedBatches
		if j.strideA == 0 {
			slots = 1
		}
		if j.ownA {
			slots = workers
		}
		s.a.grow(slots * j.packedStrips * j.kc * j.mr)
	}
	if j.packB {
		slots, panels := j.packedBatches, j.packedPanels
		if j.strideB == 0 {
			slots = 1
		}
		if j.ownB {
			slots, panels = workers, j.streamPanels
		}
		s.b.grow(slots * panels * j.kc * j.nr)
	}
	if j.ownA {
		s.packs = append(s.packs[:0], make([]int, workers)...)
	}
}

// grow returns the values of b, at least n, which it allocates anew if there are fewer: from an eighth
// of a huge page on in whole ones. Packed matrices are gone through again and again: with small pages
// 1024 x 1024 x 1024 takes 3 to 7% longer.
func (b *block) grow(n int) []float32 {
	if len(b.values) >= n {
		return b.values
	}
	if page := hugePage / 4; n >= page/8 {
		n = ceilDiv(n, page) * page
	}
	larger, err := newBlock(n)
	if err != nil {
		panic(&Error{"Gemm", (&AllocError{n, err}).Error()})
	}
	b.release()
	*b = larger
	return b.values
}

// strip returns the rows of strip s, and stripRow where it begins: all strips are equally high,
// give or take one row, for a low last one would leave most of its kernel's registers idle.
func (j *gemmJob) strip(s int) (row, end int) { return j.stripRow(s), j.stripRow(s + 1) }
func (j *gemmJob) stripRow(s int) int         { return s * j.m / j.strips }
