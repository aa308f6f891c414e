package conv

import "github.com/noether-go/noether/tensor"

// frame is the geometry of one pass of the tap-sparse algorithm: which value of
// the source planes each tap meets at each position of the other planes. For
// Forward and KernelGrad the source is x and the other y; for InputGrad the
// source is dy and the other dx.
type frame struct {
	h, w       int // source planes
	outH, outW int // the other planes
	offsets    []Offset

	// copied says that the source is read from a copy with a border of zeros,
	// in which no tap leaves the plane: for thin planes and small batches.
	copied       bool
	padH, padW   int // planes of the copy
	rowLo, colLo int // least offset: the border above and to the left, negated

	negated []Offset // storage for InputGrad
}

// forward sets the frame of Forward. The choice to copy is made for the largest
// shape, for which memory was planned.
func (f *frame) forward(s, largest *Shape) {
	f.set(s.H, s.W, s.OutH, s.OutW, s.Offsets, largest.Sources() < thinSources || s.B < thinBatch)
}

func (f *frame) inputGrad(s, largest *Shape) {
	f.negated = f.negated[:0]
	for _, o := range s.Offsets {
		f.negated = append(f.negated, Offset{-o.Row, -o.Col})
	}
	f.set(s.OutH, s.OutW, s.H, s.W, f.negated, largest.Targets() < thinSources || s.B < thinBatch)
}

// kernelGrad sets the frame of KernelGrad, where taps are clipped one by one, so
// that a small batch needs no copy.
func (f *frame) kernelGrad(s, largest *Shape) {
	f.set(s.H, s.W, s.OutH, s.OutW, s.Offsets, largest.Sources() < thinSources)
}

func (f *frame) set(h, w, outH, outW int, offsets []Offset, thin bool) {
	f.h, f.w, f.outH, f.outW, f.offsets = h, w, outH, outW, offsets
	if len(offsets) == 1 && offsets[0] == (Offset{}) {
		// Without extent the plane is one long row.
		f.h, f.w, f.outH, f.outW = 1, h*w, 1, outH*outW
	}
	lo, hi := offsets[0], offsets[0]
	for _, o := range offsets {
		lo.Row, hi.Row = min(lo.Row, o.Row), max(hi.Row, o.Row)
		lo.Col, hi.Col = min(lo.Col, o.Col), max(hi.Col, o.Col)
	}
	inside := lo.Row >= 0 && lo.Col >= 0 && hi.Row+f.outH <= f.h && hi.Col+f.outW <= f.w
	f.copied = thin && !inside
	f.rowLo, f.colLo = min(lo.Row, 0), min(lo.Col, 0)
	f.padH = max(f.h, hi.Row+f.outH) - f.rowLo
	f.padW = max(f.w, hi.Col+f.outW) - f.colLo
}

// always returns a tap that no position of the other plane has outside the
// source. Forward has one: the centre, or every tap.
func (f *frame) always() int {
	for t, o := range f.offsets {
		if o.Row >= 0 && o.Col >= 0 && o.Row+f.outH <= f.h && o.Col+f.outW <= f.w {
			return t
		}
	}
	panic(&Error{"always", "every tap leaves the plane somewhere"})
}

// padded returns the size of the copy of planes source planes, 0 for none.
func (f *frame) padded(planes, b int) int {
	if !f.copied {
		return 0
	}
	return planes * lead(f.padH*f.padW*b)
}

// view is a frame with its source in memory. Position (row, col) of the source,
// and batch entry b, is at origin + (row*width+col)*batch + b of each plane.
type view struct {
	frame
	src           []float32
	plane, origin int
	width         int // of the source in memory
	height        int // rows in memory, for the test whether a tap is inside
	sources       int
	batch         int
}

// source sets where the source planes are, copying them to scratch when the
// frame says so.
func (v *view) source(p *taps, x, scratch []float32, sources, b int) {
	v.src, v.sources, v.batch = x, sources, b
	v.width, v.height = v.w, v.h
	v.plane, v.origin = v.h*v.w*b, 0
	if !v.copied {
		return
	}
	size := v.padded(sources, b)
	p.pad = padding{view: v, dst: scratch[:size], x: x}
	v.plane, v.width, v.height = lead(v.padH*v.padW*b), v.padW, v.padH
	v.origin = (-v.rowLo*v.padW - v.colLo) * b
	p.team.For(sources, max(1, 16384/v.plane), &p.pad)
	v.src = p.pad.dst
	p.pad = padding{}
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
	return v.copied || uint(row+v.offsets[t].Row) < uint(v.h)
}

// columns returns the columns lo <= col < hi of the other plane at which tap t
// stays inside the source.
func (v *view) columns(t int) (lo, hi int) {
	if v.copied {
		return 0, v.outW
	}
	c := v.offsets[t].Col
	return max(0, -c), min(v.outW, v.w-c)
}

// padding copies planes into the middle of zeros.
type padding struct {
	*view
	dst, x []float32
}

// Do copies the planes lo <= plane < hi.
func (p *padding) Do(lo, hi, _ int) {
	b := p.batch
	plane, row := lead(p.padH*p.padW*b), p.padW*b
	left := -p.colLo * b
	for s := lo; s < hi; s++ {
		dst := p.dst[s*plane : (s+1)*plane]
		src := p.x[s*p.h*p.w*b:][:p.h*p.w*b]
		top := -p.rowLo * row
		clear(dst[:top])
		for r := range p.h {
			line := dst[top+r*row:][:row]
			clear(line[:left])
			n := copy(line[left:], src[r*p.w*b:(r+1)*p.w*b])
			clear(line[left+n:])
		}
		clear(dst[top+p.h*row:])
	}
}

var _ tensor.Task = (*padding)(nil)
