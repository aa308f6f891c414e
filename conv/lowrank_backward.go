package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Backward computes the gradients of features, weights, the bias and x.
func (p *lowRank) Backward(d, _ kernelFactors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	addBiasGrad(p.cpu, dbias, dy, s)
	l := p.newPass(x, dy, prepared, s)
	l.df, l.dw, l.db, l.dx, l.accumulate = d.F.Host(), d.W.Host(), d.B.Host(), dx.Host(), accumulate
	memory := pieces{scratch.Host()}
	in, out := s.H*s.W, s.OutH*s.OutW
	l.packed, l.dxPacked = memory.cut(in*s.Sources()*l.width), memory.cut(in*s.Sources()*l.width)
	l.dyPacked, l.sums = memory.cut(out*s.Out*l.ldy), memory.cut(out*s.Out*l.width)
	l.blocks = blocksOf(s.In, p.blockChannels(s))
	l.parts = memory.cut(l.blocks * p.featuresGradSize(s))
	chunks, _ := chunksOf(s)
	for i := range chunks {
		l.chunk(i)
		l.run(blocksOf(in, packing), (*lowRankPack)(l))
		l.run(blocksOf(out, packing), (*lowRankPackGradient)(l))
		p.team.For(l.blocks, 1, (*lowRankBackward)(l))
		if l.dx != nil {
			l.run(blocksOf(in, packing), (*lowRankUnpack)(l))
		}
	}
	l.reduce()
	p.pass = lowRankPass{}
}

// lowRankPackGradient brings dy to dyPacked and sums it over the output elements,
// item by item some positions.
type lowRankPackGradient lowRankPass

// Do packs the items lo <= i < hi.
func (l *lowRankPackGradient) Do(lo, hi, _ int) {
	s := l.shape
	plane := s.OutH * s.OutW
	for item := lo; item < hi; item++ {
		p0, p1 := item*packing, min((item+1)*packing, plane)
		for o := range s.Out {
			for i := range s.NOut {
				for p := p0; p < p1; p++ {
					take(l.dyPacked[(p*s.Out+o)*l.ldy+i*l.width:][:l.width], l.y[((o*s.NOut+i)*plane+p)*s.B+l.b0:], l.n)
				}
			}
			for p := p0; p < p1; p++ {
				at := p*s.Out + o
				asm.ColSum(l.sums[at*l.width:][:l.width], l.dyPacked[at*l.ldy:][:s.NOut*l.width])
			}
		}
	}
}

// lowRankUnpack brings dxPacked to dx, item by item some positions.
type lowRankUnpack lowRankPass

// Do unpacks the items lo <= i < hi.
func (l *lowRankUnpack) Do(lo, hi, _ int) {
	s := l.shape
	plane := s.H * s.W
	for i := lo; i < hi; i++ {
		p0, p1 := i*packing, min((i+1)*packing, plane)
		for c := range s.Sources() {
			for p := p0; p < p1; p++ {
				to, from := l.dx[(c*plane+p)*s.B+l.b0:][:l.n], l.dxPacked[(p*s.Sources()+c)*l.width:][:l.n]
				if l.accumulate {
					asm.Add(to, to, from)
				} else {
					copy(to, from)
				}
			}
		}
	}
}

// reduce adds up df [(t,j), (k,i)] over the blocks and brings it to [k, (i,j,t)].
func (l *lowRankPass) reduce() {
	s := l.shape
	taps, rows := len(s.Offsets), l.features*s.NOut
	size, ld := l.featuresGradSize(s), l.ldf(s)
	sum := l.parts[:size]
	for b := 1; b < l.blocks; b++ {
		asm.Add(sum, sum, l.parts[b*size:(b+1)*size])
	}
	for t := range taps {
		for j := range s.NIn {
			from := sum[(t*s.NIn+j)*ld:][:rows]
			for r, v := range from {
				l.df[(r*s.NIn+j)*taps+t] = v
			}
		}
	}
}

// lowRankBackward computes the gradients, item by item a block of channels.
type lowRankBackward lowRankPass

var _ tensor.Task = (*lowRankBackward)(nil)

// Do computes the blocks lo <= b < hi.
func (t *lowRankBackward) Do(lo, hi, worker int) {
	l := (*lowRankPass)(t)
	m := &l.locals[worker]
	for b := lo; b < hi; b++ {
		c0, c1 := share(l.shape.In, l.blocks, b)
		l.backward(b, c0, c1, m)
	}
}

// lowRankBlock is a block of channels in a backward pass.
type lowRankBlock struct {
	first, channels int
	dw, db          []float32 // [o, (c,k)] and [o, c] of these channels
	ldw, ldb        int
	df              []float32 // [(t,j), (k,i)], what they add to it
	turn            []float32 // the transpose of their w, where it is split
}

// backward computes the gradients of the channels c0 <= c < c1, or what they add to them.
func (l *lowRankPass) backward(block, c0, c1 int, m *lowRankLocal) {
	s := l.shape
	b := l.beginBlock(block, c0, c1, m)
	for position := range s.OutH * s.OutW {
		dy := l.dyPacked[position*s.Out*l.ldy:][:s.Out*l.ldy]
		sums := l.sums[position*s.Out*l.width:][:s.Out*l.width]
		z, xSums := l.blockFeatures(&b, position, m)
		l.weightsGrad(&b, dy, sums, z, xSums, m)
		if lowRankSplits(s) {
			across := s.NOut * l.width
			asm.SplitRight(m.dySplit, dy, l.ldy, s.Out, across)
			asm.GemmSplit(b.channels*l.features, across, s.Out, b.turn, m.dySplit, m.dzAll, across, false)
		}
		gemmNN(b.channels, l.width, s.Out, l.bTurn[c0*s.Out:], s.Out, sums, l.width, m.ds, l.width, false)
		for at := range b.channels {
			l.fetchGradient(position+1, at, b.channels)
			l.channelGrad(&b, at, position, dy, m)
		}
		if l.slices {
			l.featuresGrad(b.df, b.channels, m)
		}
	}
	for o := range s.Out {
		l.store(l.dw[(o*s.In+c0)*l.features:], b.dw[o*b.ldw:][:b.channels*l.features])
		l.store(l.db[o*s.In+c0:], b.db[o*b.ldb:][:b.channels])
	}
}

// beginBlock clears what the channels c0 <= c < c1 add to.
func (l *lowRankPass) beginBlock(block, c0, c1 int, m *lowRankLocal) lowRankBlock {
	s := l.shape
	size := l.featuresGradSize(s)
	b := lowRankBlock{first: c0, channels: c1 - c0, df: l.parts[block*size:][:size], turn: l.turnSplit}
	b.ldw, b.ldb = columns(b.channels*l.features), columns(b.channels)
	b.dw, b.db = m.dw[:s.Out*b.ldw], m.db[:s.Out*b.ldb]
	if lowRankSplits(s) {
		for part := range block {
			b.turn = b.turn[l.splitPart(s, l.blocks, part, true):]
		}
	}
	clear(b.dw)
	clear(b.db)
	if l.b0 == 0 {
		clear(b.df)
	}
	if l.dx != nil {
		for p := range s.H * s.W {
			clear(l.dxPacked[(p*s.In+c0)*s.NIn*l.width : (p*s.In+c1)*s.NIn*l.width])
		}
	}
	return b
}

// blockFeatures gathers what the taps meet at a position, and returns z [(c,k), (i,b)] and s [c, b] there, made
// anew unless they were kept.
func (l *lowRankPass) blockFeatures(b *lowRankBlock, position int, m *lowRankLocal) (z, xSums []float32) {
	rows, deep := l.features*l.shape.NOut, len(l.shape.Offsets)*l.shape.NIn
	z, xSums = m.z, m.s
	if l.kept {
		z, xSums = l.ofOutput(position, b.first)
	}
	for at := range b.channels {
		xcol := m.xcol[at*deep*l.width:]
		l.gather(xcol, b.first+at, 1, position)
		if !l.kept {
			l.multiply(z[at*rows*l.width:], xSums[at*l.width:], xcol, l.width, m)
		}
	}
	return z, xSums
}

// channelGrad makes dz of channel at of the block at a position, and adds what it comes to: dx and, unless products
// are sliced, df.
func (l *lowRankPass) channelGrad(b *lowRankBlock, at, position int, dy []float32, m *lowRankLocal) {
	s, c := l.shape, b.first+at
	rows, deep, across := l.features*s.NOut, len(s.Offsets)*s.NIn, s.NOut*l.width
	dz := m.dz[at*(rows+1)*l.width:]
	if lowRankSplits(s) {
		copy(dz[:rows*l.width], m.dzAll[at*rows*l.width:])
	} else {
		gemmNN(l.features, across, s.Out, l.turn[c*l.features*l.ldo:], l.ldo, dy, l.ldy, dz, across, false)
	}
	copy(dz[rows*l.width:][:l.width], m.ds[at*l.width:])
	if l.dx != nil {
		l.inputGrad(c, position, dz, m)
	}
	if !l.slices {
		distance := l.turnRows(m.panels, dz, rows)
		gemmPanels(deep, rows, l.width, m.xcol[at*deep*l.width:], l.width, m.panels, distance, b.df, l.ldf(s), true)
	}
}

// store writes x, or adds it to what earlier chunks gave.
func (l *lowRankPass) store(to, x []float32) {
	to = to[:len(x)]
	if l.b0 == 0 {
		copy(to, x)
	} else {
		asm.Add(to, to, x)
	}
}

// fetchGradient brings part number part of parts of dy at a position closer.
func (l *lowRankPass) fetchGradient(position, part, parts int) {
	s := l.shape
	if position == s.OutH*s.OutW {
		return
	}
	if r0, r1 := share(s.Out, parts, part); r0 < r1 {
		asm.Prefetch(l.dyPacked[(position*s.Out+r0)*l.ldy:], 0, 1, (r1-r0)*l.ldy)
	}
}

// weightsGrad adds the share of a position to dw and db, given z and s there.
func (l *lowRankPass) weightsGrad(b *lowRankBlock, dy, sums, z, xSums []float32, m *lowRankLocal) {
	s := l.shape
	_, nr := asm.GemmTile()
	wide, across := b.channels*l.features, s.NOut*l.width
	if lowRankSplits(s) {
		asm.Transpose(m.turned, wide, z, across, wide, across)
		asm.SplitRight(m.zSplit, m.turned, wide, across, wide)
		asm.SplitLeft(m.dySplit, dy, l.ldy, s.Out, across)
		asm.GemmSplit(s.Out, wide, across, m.dySplit, m.zSplit, b.dw, b.ldw, true)
	} else {
		for r := 0; r < wide; r += nr {
			n := min(nr, wide-r)
			asm.PackCols(m.panels, z[r*across:], across, across, n)
			gemmPanels(s.Out, n, across, dy, l.ldy, m.panels, across*nr, b.dw[r:], b.ldw, true)
		}
	}
	distance := l.turnRows(m.panels, xSums, b.channels)
	gemmPanels(s.Out, b.channels, l.width, sums, l.width, m.panels, distance, b.db, b.ldb, true)
}

// turnRows packs the transpose of x [rows, width] and returns the distance of the
// panels.
func (l *lowRankPass) turnRows(panels, x []float32, rows int) (distance int) {
	_, nr := asm.GemmTile()
	distance = l.width * nr
	for r := 0; r < rows; r += nr {
		asm.PackCols(panels[r/nr*distance:], x[r*l.width:], l.width, l.width, min(nr, rows-r))
	}
	return distance
}

// featuresGrad adds the share of a position to df by sliced products, two channels side by side.
func (l *lowRankPass) featuresGrad(df []float32, channels int, m *lowRankLocal) {
	s := l.shape
	rows, deep, steps := l.features*s.NOut, len(s.Offsets)*s.NIn, l.width
	for c := 0; c < channels; c += 2 {
		x, dz := m.xcol[c*deep*l.width:], m.dz[c*(rows+1)*l.width:]
		if c+1 < channels {
			asm.SliceLeft(m.left, x, x[deep*l.width:], l.width, deep, l.width)
			asm.SliceTransposed(m.right, dz, dz[(rows+1)*l.width:], l.width, l.width, rows)
		} else {
			asm.SliceLeftHalves(m.left, x, l.width, deep, l.width)
			asm.SliceTransposedHalves(m.right, dz, l.width, l.width, rows)
			steps = halfOf(l.width)
		}
		asm.GemmSlices(deep, rows, steps, [2][]float32{m.left}, m.right, [2][]float32{df}, l.ldf(s), true, [2][]float32{})
	}
}

// inputGrad adds what channel c has of dx under the taps at a position.
func (l *lowRankPass) inputGrad(c, position int, dz []float32, m *lowRankLocal) {
	s := l.shape
	rows := l.features*s.NOut + 1
	if l.slices {
		asm.SliceHalves(m.right, dz, l.width, rows, l.width)
		asm.GemmSlices(s.NIn*len(s.Offsets), l.width, halfOf(rows), [2][]float32{l.backSliced}, m.right, [2][]float32{m.dxcol}, l.width, false, [2][]float32{})
		n := s.NIn * l.width
		for t, o := range s.Offsets {
			if at := l.meets(o, position); at >= 0 {
				to := l.dxPacked[(at*s.In+c)*n:][:n]
				asm.Add(to, to, m.dxcol[t*n:][:n])
			}
		}
		return
	}
	for t, o := range s.Offsets {
		if at := l.meets(o, position); at >= 0 {
			gemmNN(s.NIn, l.width, rows, l.back[t*s.NIn*rows:], rows, dz, l.width, l.dxPacked[(at*s.In+c)*s.NIn*l.width:], l.width, true)
		}
	}
}
