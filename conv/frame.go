package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// frame is the geometry of one pass of the tap-sparse algorithm: which value of
// the source planes each tap meets at each position of the other planes. For
// Forward and KernelGrad the source is x and the other y; for InputGrad the
// source is dy and the other dx.
type frame struct {
	h, w       int // source planes
	outH, outW int // the other planes
	offsets    []Offset
	form       form
	mirrored   bool // neighbouring taps have descending columns

	// The copy with a border: its planes, but for the border at the end of the last
	// row, and the border above and to the left.
	padH, padW, top, left int

	negated []Offset // storage for InputGrad
}

// form says how the source is read.
type form uint8

const (
	asIs         form = iota
	bordered          // from a copy with a border of zeros, in which no tap leaves the plane
	spread            // from a copy whose planes do not fall into the same lines of the cache
	inBlocks          // from a copy in blocks, see blocked.go
	inSplits          // from a copy in blocks that is split, see tapsplit.go
	inBands           // from copies of rows that are split, see reducesplit.go
	inThinSlices      // from a copy in long rows that is sliced, see thinslices.go
	inColumns         // from a copy of what the taps meet, see dots.go
	inPoints          // from sliced blocks of columns, see pointslices.go
)

// Below these numbers a plane or batch is too thin to be read where it lies, and
// a copy with a border is made first.
const (
	thinSources = 8
	thinBatch   = 16
)

// manyTaps is the number of taps from which on a copy for the sake of the cache
// pays.
const manyTaps = 5

// forward sets the frame of Forward. What needs a border is decided for the
// largest shape, for which memory was planned.
func (f *frame) forward(s, largest *Shape) {
	f.set(s.H, s.W, s.OutH, s.OutW, s.Offsets)
	f.choose(s.Sources(), largest.Sources(), s.Targets(), largest.Targets(), s.B)
	f.mirrored = false
}

func (f *frame) inputGrad(s, largest *Shape) {
	f.negated = f.negated[:0]
	for _, o := range s.Offsets {
		f.negated = append(f.negated, Offset{-o.Row, -o.Col})
	}
	f.set(s.OutH, s.OutW, s.H, s.W, f.negated)
	f.choose(s.Targets(), largest.Targets(), s.Sources(), largest.Sources(), s.B)
	f.mirrored = true
}

// choose decides how a correlation reads its source: so many planes, at most largest, for m
// others, at most largestM.
func (f *frame) choose(sources, largest, m, largestM, b int) {
	switch {
	case f.isDots(largest, b):
		f.form = inColumns
	case b < thinBatch && slicesThin(largestM, largest, f.longRow(f.outH, b)):
		f.form = inThinSlices
	case f.slicesPoint(sources, m, b):
		f.form = inPoints
	case largest < thinSources || b < thinBatch:
		if !f.inside() {
			f.form = bordered
		}
	case sources >= thickSources && f.outH*f.outW*len(f.offsets) >= 2*f.h*f.w:
		f.form = inBlocks // each value is needed at least twice
		if fillsSplit(b) {
			f.form = inSplits
		}
	}
}

// kernelGrad sets the frame of KernelGrad, where taps are clipped one by one, so
// that a small batch needs no border.
func (f *frame) kernelGrad(s, largest *Shape) {
	f.set(s.H, s.W, s.OutH, s.OutW, s.Offsets)
	plane := f.h * f.w * s.B
	apart := plane % page
	switch {
	case largest.Sources() < thinSources:
		if !f.inside() {
			f.form = bordered
		}
	case f.slicesPointGrad(s.Sources(), s.Targets(), s.B):
		f.form = inPoints
	case s.Sources() >= thickSources && fillsSplit(s.B) && len(f.offsets) > 1:
		f.form = inBands
	case len(f.offsets) >= manyTaps && plane > page/2 && min(apart, page-apart) < page/20: // smaller planes lie close together
		f.form = spread
	}
}

// page is 4 KiB in values, the distance at which addresses share a set of the
// first-level cache.
const page = 1024

func (f *frame) set(h, w, outH, outW int, offsets []Offset) {
	f.h, f.w, f.outH, f.outW, f.offsets, f.form = h, w, outH, outW, offsets, asIs
	if len(offsets) == 1 && offsets[0] == (Offset{}) {
		// Without extent the plane is one long row.
		f.h, f.w, f.outH, f.outW = 1, h*w, 1, outH*outW
	}
	lo, hi := offsets[0], offsets[0]
	for _, o := range offsets {
		lo.Row, hi.Row = min(lo.Row, o.Row), max(hi.Row, o.Row)
		lo.Col, hi.Col = min(lo.Col, o.Col), max(hi.Col, o.Col)
	}
	f.top, f.left = max(-lo.Row, 0), max(-lo.Col, 0)
	f.padH = f.top + max(f.h, hi.Row+f.outH)
	// The border at the right of a row is that at the left of the next.
	f.padW = f.w + max(f.left, hi.Col+f.outW-f.w, 0)
}

// inside reports whether no tap ever leaves the source.
func (f *frame) inside() bool { return f.padH == f.h && f.padW == f.w }

// pitch returns the distance of the source's planes, in values, where it is
// read from.
func (f *frame) pitch(b int) int {
	n := f.h * f.w * b
	switch f.form {
	case bordered:
		return lead((f.padH*f.padW + f.left) * b)
	case spread:
		// Rows of depth values at this distance fill the sets evenly.
		const place = depth + 16
		return (n-place+page-1)/page*page + place
	}
	return n
}

// copySize returns the size of the copy of that many source planes, 0 for none.
func (f *frame) copySize(sources, b int) int {
	switch f.form {
	case bordered, spread:
		return sources * f.pitch(b)
	case inBlocks:
		_, nr := asm.GemmTile()
		return sources * f.h * f.w * max(blocksOf(b, widestTile)*widestTile, blocksOf(b, nr)*nr)
	case inSplits:
		return f.h * f.rowFold(b).width * blocksOf(b, splitTile) * splitPiece(sources)
	case inThinSlices:
		return f.slicedRows(b) * asm.SliceRow(halfOf(sources))
	case inColumns:
		return f.outH * f.outW * b * f.dotPitch(sources)
	}
	return 0
}

// kernelSize returns the size of the copy of a kernel for m rows, 0 for none.
func (f *frame) kernelSize(m, sources int) int {
	strips := len(f.offsets) * blocksOf(m, splitTile)
	switch {
	case f.form == inThinSlices:
		return strips * thinPiece(sources)
	case f.isPoint():
		return strips * pointPiece(sources)
	case f.form == inSplits:
		return strips * splitPiece(sources)
	}
	return 0
}

// line is a run of taps side by side.
type line struct{ t, n int }

// lines lists the taps line by line, in the memory of to.
func (f *frame) lines(to []line) []line {
	to = to[:0]
	step := 1
	if f.mirrored {
		step = -1
	}
	for t := 0; t < len(f.offsets); {
		n := 1
		for t+n < len(f.offsets) && f.offsets[t+n] == (Offset{f.offsets[t].Row, f.offsets[t].Col + step*n}) {
			n++
		}
		to = append(to, line{t, n})
		t += n
	}
	return to
}

// view is a frame with its source in memory. Position (row, col) of the source,
// and batch entry b, is at origin + (row*width+col)*batch + b of each plane.
type view struct {
	frame
	src     []float32
	sources int
	batch   int
	plane   int // distance of planes
	width   int // of a row, in positions
	origin  int

	inBlocks []float32 // where the source goes in blocks
}

// source sets where the source planes are, copying them to scratch when the
// frame says so, save for a copy in blocks.
func (v *view) source(p *taps, x, scratch []float32, sources, b int) {
	v.src, v.sources, v.batch = x, sources, b
	v.plane, v.width, v.origin = v.pitch(b), v.w, 0
	size := v.copySize(sources, b)
	switch v.form {
	case bordered:
		v.width, v.origin = v.padW, (v.top*v.padW+v.left)*b
		fallthrough
	case spread:
		p.copies = copying{view: v, dst: scratch[:size], x: x}
		p.team.For(sources, max(1, 16384/v.plane), &p.copies)
		v.src = p.copies.dst
		p.copies = copying{}
	case inBlocks:
		v.inBlocks = scratch[:size]
	case inSplits, inThinSlices, inBands, inColumns, inPoints:
		v.inBlocks = scratch // and more behind it
	}
}

// at returns the index in the first source plane of what tap t meets at
// position (row, col) of the other plane. It may lie outside for a tap that
// leaves the source there.
func (v *view) at(t, row, col int) int {
	o := v.offsets[t]
	return v.origin + ((row+o.Row)*v.width+col+o.Col)*v.batch
}

// rowInside reports whether tap t stays inside the source at this row.
func (v *view) rowInside(t, row int) bool {
	return v.form == bordered || uint(row+v.offsets[t].Row) < uint(v.h)
}

// columns returns the columns lo <= col < hi of the other plane at which tap t
// stays inside the source.
func (v *view) columns(t int) (lo, hi int) {
	if v.form == bordered {
		return 0, v.outW
	}
	c := v.offsets[t].Col
	return max(0, -c), min(v.outW, v.w-c)
}

// copying copies planes to another distance and, if need be, into zeros.
type copying struct {
	*view
	dst, x []float32
}

var _ tensor.Task = (*copying)(nil)

// Do copies the planes lo <= plane < hi.
func (c *copying) Do(lo, hi, _ int) {
	size, line := c.h*c.w*c.batch, c.w*c.batch
	for s := lo; s < hi; s++ {
		dst, src := c.dst[s*c.plane:(s+1)*c.plane], c.x[s*size:(s+1)*size]
		if c.form == spread {
			copy(dst, src)
			continue
		}
		at := 0
		for row := range c.h {
			next := c.origin + row*c.width*c.batch
			clear(dst[at:next])
			at = next + copy(dst[next:], src[row*line:(row+1)*line])
		}
		clear(dst[at:])
	}
}
