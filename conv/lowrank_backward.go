package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// Backward computes the gradients of features, weights and x.
func (p *lowRank) Backward(df, dw, db, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	l := p.newPass(x, dy, prepared, s)
	l.df, l.dw, l.db, l.dx, l.accumulate = df.Host(), dw.Host(), db.Host(), dx.Host(), accumulate
	size := s.Out * s.OutH * s.OutW * s.B
	l.sums, l.parts = scratch.Host()[:size], scratch.Host()[size:]
	l.blocks = blocksOf(s.In, p.blockChannels(s))
	p.team.For(s.Out, 1, (*lowRankSums)(l))
	p.team.For(l.blocks, 1, (*lowRankBackward)(l))
	l.reduce()
	p.pass = lowRankPass{}
}

// lowRankSums sums dy over the output elements, item by item a channel.
type lowRankSums lowRankPass

// Do sums the channels lo <= o < hi.
func (l *lowRankSums) Do(lo, hi, _ int) {
	n := l.shape.NOut
	plane := l.shape.OutH * l.shape.OutW * l.shape.B
	for o := lo; o < hi; o++ {
		sum, dy := l.sums[o*plane:(o+1)*plane], l.y[o*n*plane:]
		copy(sum, dy)
		for i := 1; i < n; i++ {
			asm.Add(sum, sum, dy[i*plane:(i+1)*plane])
		}
	}
}

// reduce adds up df [(t,j), (k,i)] over the blocks and brings it to [k, (i,j,t)].
func (l *lowRankPass) reduce() {
	s := l.shape
	taps, rows := len(s.Offsets), l.features*s.NOut
	size := taps * s.NIn * rows
	sum := l.parts[:size]
	for b := 1; b < l.blocks; b++ {
		asm.Add(sum, sum, l.parts[b*size:(b+1)*size])
	}
	for t := range taps {
		for j := range s.NIn {
			from := sum[(t*s.NIn+j)*rows:][:rows]
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

func (l *lowRankPass) backward(block, c0, c1 int, m *lowRankLocal) {
	s := l.shape
	rows, deep := l.features*s.NOut, len(s.Offsets)*s.NIn
	wide := (c1 - c0) * l.features
	ldw, ldb := columns(wide), columns(c1-c0)
	dw, db, df := m.dw[:s.Out*ldw], m.db[:s.Out*ldb], l.parts[block*deep*rows:][:deep*rows]
	clear(dw)
	clear(db)
	clear(df)
	if l.dx != nil && !l.accumulate {
		plane := s.NIn * s.H * s.W * s.B
		clear(l.dx[c0*plane : c1*plane])
	}
	for i := range l.panelCount() {
		row, q, n := l.panel(i)
		l.gatherGradient(row, q, n, m)
		for c := c0; c < c1; c++ {
			at := c - c0
			xcol := m.xcol[at*deep*l.nr:]
			l.gather(xcol, c, row, q, n)
			l.convolve(m.z[at*rows*l.nr:], m.s[at*l.nr:], xcol)
		}
		l.weightsGrad(dw, db, ldw, ldb, c1-c0, m)
		gemmNN(c1-c0, l.nr, s.Out, l.bTurn[c0*s.Out:], s.Out, m.common, l.nr, m.ds, l.nr, false)
		for c := c0; c < c1; c++ {
			at := c - c0
			dz := m.dz[at*(rows+1)*l.nr:]
			gemmNN(l.features, s.NOut*l.nr, s.Out, l.turn[c*l.features*l.ldo:], l.ldo, m.y, l.ldy, dz, s.NOut*l.nr, false)
			copy(dz[rows*l.nr:][:l.nr], m.ds[at*l.nr:])
			if l.dx != nil {
				l.inputGrad(c, row, q, n, dz)
			}
			distance := l.turnRows(m.panels, dz, rows)
			gemmPanels(deep, rows, l.nr, m.xcol[at*deep*l.nr:], l.nr, m.panels, distance, df, rows)
		}
	}
	for o := range s.Out {
		copy(l.dw[(o*s.In+c0)*l.features:][:wide], dw[o*ldw:])
		copy(l.db[o*s.In+c0:][:c1-c0], db[o*ldb:])
	}
}

// gatherGradient brings a panel of dy to y [o, (i,q)] and its sums over i to
// common [o, q], zero beyond n columns.
func (l *lowRankPass) gatherGradient(row, q, n int, m *lowRankLocal) {
	s := l.shape
	plane := s.OutH * s.OutW * s.B
	at := row*s.OutW*s.B + q
	for o := range s.Out {
		for i := range s.NOut {
			l.take(m.y[o*l.ldy+i*l.nr:], l.y[(o*s.NOut+i)*plane+at:], n)
		}
		l.take(m.common[o*l.nr:], l.sums[o*plane+at:], n)
	}
}

// take copies n values and zeros behind them.
func (l *lowRankPass) take(dst, src []float32, n int) {
	dst = dst[:l.nr]
	copy(dst, src[:n])
	clear(dst[n:])
}

// weightsGrad adds a panel's share to dw [o, (c,k)] and db [o, c].
func (l *lowRankPass) weightsGrad(dw, db []float32, ldw, ldb, channels int, m *lowRankLocal) {
	s := l.shape
	wide := channels * l.features
	across := s.NOut * l.nr
	for r := 0; r < wide; r += l.nr {
		n := min(l.nr, wide-r)
		asm.PackCols(m.panels, m.z[r*across:], across, across, n)
		gemmPanels(s.Out, n, across, m.y, l.ldy, m.panels, across*l.nr, dw[r:], ldw)
	}
	distance := l.turnRows(m.panels, m.s, channels)
	gemmPanels(s.Out, channels, l.nr, m.common, l.nr, m.panels, distance, db, ldb)
}

// turnRows packs the transpose of x [rows, nr] and returns the distance of the
// panels.
func (l *lowRankPass) turnRows(panels, x []float32, rows int) (distance int) {
	distance = l.nr * l.nr
	for r := 0; r < rows; r += l.nr {
		asm.PackCols(panels[r/l.nr*distance:], x[r*l.nr:], l.nr, l.nr, min(l.nr, rows-r))
	}
	return distance
}

// inputGrad adds what channel c has of dx under a panel.
func (l *lowRankPass) inputGrad(c, row, q, n int, dz []float32) {
	s := l.shape
	rows := l.features*s.NOut + 1
	plane := s.H * s.W * s.B
	dx := l.dx[c*s.NIn*plane:]
	for t, o := range s.Offsets {
		lo, hi, at := l.meets(o, row, q, n)
		if lo < hi {
			gemmNN(s.NIn, hi-lo, rows, l.back[t*s.NIn*rows:], rows, dz[lo:], l.nr, dx[at+lo:], plane, true)
		}
	}
}

// gemmPanels adds the product of A [m, k] with B in panels, see
// asm.GemmPanelsNN, to C.
func gemmPanels(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int) {
	mr, _ := asm.GemmTile()
	count := (m + mr - 1) / mr
	for i := range count {
		from, to := share(m, count, i)
		asm.GemmPanelsNN(to-from, n, k, a[from*lda:], lda, b, distance, c[from*ldc:], ldc, true)
	}
}
