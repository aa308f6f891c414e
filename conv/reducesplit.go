package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

const (
	// bandSplit is how many values of split planes the gradient of the kernel keeps: 48
	// MiB. Planes that take more are gone through in bands of rows.
	bandSplit = 12 << 20
	// unitsSplit, wideSplit and spanSplit are how many strips of sums, how many columns
	// of those, and how many steps are worked on at a time: the sums, 512 KiB, share the
	// second-level cache with what is split of dy for those columns and steps, 384 KiB.
	unitsSplit = 16
	wideSplit  = 256
	spanSplit  = 256
)

// bands are the split planes of the gradient of the kernel where the level has a
// matrix unit (asm.GemmSplitPanels). Steps are (position, batch):
//
//	source  [row, strip of 32 planes, col, piece]
//	dy      [row, panel of 32 planes, col, piece]
//
// A piece is the storage of the batch at one position, or at those of a folded row
// (rowFold), filled up to whole blocks of the matrix unit with zeros, so that a tap
// shifts whole pieces.
type bands struct {
	fold        rowFold
	left, right []float32 // of the source, of dy
	row0, row1  int       // of dy
	first, last int       // rows of the source that these meet: first <= row < last
}

// bandRows returns how many rows of dy a band has that may keep so many values. It is for the largest shape, for
// which memory was planned: with fewer planes there could be more rows, and more values.
func (f *frame) bandRows(largest *Shape, most int) int {
	source, dy := f.bandSizes(largest.Sources(), largest.Targets(), largest.B)
	lo, hi := f.rowOffsets()
	return max(1, min(f.outH, (most-(hi-lo)*source)/(source+dy)))
}

// bandSizes returns the sizes of a row of the split source and of dy.
func (f *frame) bandSizes(sources, targets, b int) (source, dy int) {
	fold, piece := f.rowFold(b), splitPiece(b)
	return blocksOf(sources, splitTile) * fold.width * piece, blocksOf(targets, splitTile) * fold.out * piece
}

// rowOffsets returns the least and the largest offset of rows.
func (f *frame) rowOffsets() (lo, hi int) {
	lo, hi = f.offsets[0].Row, f.offsets[0].Row
	for _, o := range f.offsets {
		lo, hi = min(lo, o.Row), max(hi, o.Row)
	}
	return lo, hi
}

// bandSize returns the size of the split planes of the largest shape, 0 for none.
func (f *frame) bandSize(largest *Shape, most int) int {
	if f.form != inBands {
		return 0
	}
	source, dy := f.bandSizes(largest.Sources(), largest.Targets(), largest.B)
	lo, hi := f.rowOffsets()
	rows := f.bandRows(largest, most)
	return min(f.h, rows+hi-lo)*source + rows*dy
}

// runSplit computes all sums, band after band.
func (r *reduction) runSplit(p *taps) {
	r.cpu, r.bands.fold = p.cpu, r.rowFold(r.batch)
	rows := r.bandRows(&p.max, p.bandSplit)
	source, _ := r.bandSizes(r.sources, r.targets, r.batch)
	lo, hi := r.rowOffsets()
	most := min(r.h, rows+hi-lo) * source
	r.bands.left, r.bands.right = r.inBlocks[:most], r.inBlocks[most:]
	strips, panels := blocksOf(r.sources, splitTile), blocksOf(r.targets, splitTile)
	units := strips * len(r.offsets)
	p.bandSplitting = bandSplitting{r}
	for r.bands.row0 = 0; r.bands.row0 < r.outH; r.bands.row0 = r.bands.row1 {
		r.bands.row1 = min(r.outH, r.bands.row0+rows)
		r.bands.first, r.bands.last = max(0, r.bands.row0+lo), max(0, min(r.h, r.bands.row1+hi))
		p.team.For(max(0, r.bands.last-r.bands.first)*strips+(r.bands.row1-r.bands.row0)*panels, 1, &p.bandSplitting)
		n := p.team.Size()
		p.team.For(units, blocksOf(units, 2*n), r)
	}
	r.src, r.dy, r.sums, r.inBlocks, r.bands = nil, nil, nil, nil, bands{}
}

// bandSplitting splits the rows of a band. Items are pairs (row, strip) of the source
// and then pairs (row, panel) of dy.
type bandSplitting struct{ *reduction }

var _ tensor.Task = (*bandSplitting)(nil)

// Do splits the items lo <= item < hi.
func (s *bandSplitting) Do(lo, hi, worker int) {
	piece := splitPiece(s.batch)
	strips, panels := blocksOf(s.sources, splitTile), blocksOf(s.targets, splitTile)
	sources := max(0, s.bands.last-s.bands.first) * strips
	spare := s.cpu.Workspace(worker)
	fold := s.bands.fold
	for item := lo; item < hi; item++ {
		if item < sources {
			row, plane := s.bands.first+item/strips, item%strips*splitTile
			n := min(splitTile, s.sources-plane)
			for col := range fold.width {
				dst, src := s.bands.left[(item*fold.width+col)*piece:], s.src[plane*s.plane+row*s.w*s.batch:]
				if fold.folds == 1 {
					asm.SplitLeft(dst, src[col*s.batch:], s.plane, n, s.batch)
					continue
				}
				fold.gather(spare[:n*splitTile], src, s.plane, n, s.w, s.batch, fold.first+col)
				asm.SplitLeft(dst, spare, splitTile, n, splitTile)
			}
			continue
		}
		item := item - sources
		row, plane := s.bands.row0+item/panels, item%panels*splitTile
		n := min(splitTile, s.targets-plane)
		size := s.outH * s.outW * s.batch
		for col := range fold.out {
			steps := 0
			for x := col; x < s.outW; x += fold.out {
				asm.Transpose(spare[steps*splitTile:], splitTile, s.dy[plane*size+(row*s.outW+x)*s.batch:], size, n, s.batch)
				steps += s.batch
			}
			asm.SplitRight(s.bands.right[(item*fold.out+col)*piece:], spare, splitTile, steps, n)
		}
	}
}

// doSplit adds what the band contributes to the units lo <= u < hi, each a strip of
// source planes at one tap.
func (r *reduction) doSplit(lo, hi int) {
	for u := lo; u < hi; u += unitsSplit {
		for m := 0; m < r.targets; m += wideSplit {
			r.sweepSplit(u, min(hi, u+unitsSplit), m, min(wideSplit, r.targets-m))
		}
	}
}

// sweepSplit goes through the band once for some units and columns.
func (r *reduction) sweepSplit(lo, hi, m, columns int) {
	if r.bands.row0 == 0 {
		for u := lo; u < hi; u++ {
			t, plane, n := r.splitUnit(u)
			for i := range n {
				clear(r.sums[(t*r.sources+plane+i)*r.targets+m:][:columns])
			}
		}
	}
	span := max(1, spanSplit/filled(r.batch))
	for row := r.bands.row0; row < r.bands.row1; row++ {
		for col := 0; col < r.bands.fold.out; col += span {
			for u := lo; u < hi; u++ {
				r.blockSplit(u, m, columns, row, col, min(r.bands.fold.out, col+span))
			}
		}
	}
}

// splitUnit returns a unit's tap, first plane and number of planes.
func (r *reduction) splitUnit(u int) (t, plane, n int) {
	t, plane = u%len(r.offsets), u/len(r.offsets)*splitTile
	return t, plane, min(splitTile, r.sources-plane)
}

// blockSplit adds what the panels col <= x < end of a row of dy contribute to some
// columns of a unit.
func (r *reduction) blockSplit(u, m, columns, row, col, end int) {
	t, plane, n := r.splitUnit(u)
	if !r.rowInside(t, row) {
		return
	}
	fold, shift := r.bands.fold, r.offsets[t].Col-r.bands.fold.first
	x0, x1 := max(col, -shift), min(end, fold.width-shift)
	if x0 >= x1 {
		return
	}
	piece := splitPiece(r.batch)
	strips, panels := blocksOf(r.sources, splitTile), blocksOf(r.targets, splitTile)
	left := (row+r.offsets[t].Row-r.bands.first)*strips + plane/splitTile
	right := (row-r.bands.row0)*panels + m/splitTile
	asm.GemmSplitPanels(n, columns, (x1-x0)*filled(r.batch),
		r.bands.left[(left*fold.width+x0+shift)*piece:],
		r.bands.right[(right*fold.out+x0)*piece:], fold.out*piece,
		r.sums[(t*r.sources+plane)*r.targets+m:], r.targets, true, nil, 0)
}
