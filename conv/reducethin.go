package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// thinParts is how many parts the sum over positions and batch is cut into.
const thinParts = 8

// thinReduction computes the gradient of the kernel where sources are few, as in a
// lifting convolution,
//
//	sums[m, (s,t)] = sum over row, col, b of dy[m, row, col, b] src[s, row+t.Row, col+t.Col, b]
//
// as a matrix product: rows of dy are A as they lie, read once, and what the taps meet
// is packed, transposed. The sum goes over all positions and batch entries in parts,
// which are what workers share, and which are added up in order. A last column of ones
// gives the gradient of the bias.
type thinReduction struct {
	tapPanels
	shape  *Shape
	cpu    *tensor.CPU
	dy     []float32 // [m, outH, outW, batch]
	kernel []float32 // what the parts are added up to
	sums   []float32 // [part, m, columns]

	columns int // (s,t), and the last of ones
	span    int // positions of a block; 0: part of one position's batch
	blocks  int // of a row
	parts   int
}

// tapPanels packs what the taps of a few sources meet.
type tapPanels struct {
	view
	runs []line // of taps side by side
	deep int    // rows of a panel
}

// thinSums returns the size of a part.
func thinSums(s *Shape) int { return roundUp(s.Targets() * (s.Sources()*len(s.Offsets) + 1)) }

// bind sizes what depends on the largest shape and returns the size of a worker's panels.
func (r *thinReduction) bind(s *Shape) int {
	if n := len(s.Offsets); n > cap(r.runs) {
		r.runs = make([]line, 0, n)
	}
	_, nr := asm.GemmTile()
	return blocksOf(s.Sources()*len(s.Offsets)+1, nr) * nr * depth
}

// run computes the sums and writes them to kernel [(o,c), (i,j,t)].
func (r *thinReduction) run(p *taps, s *Shape) {
	r.shape, r.cpu = s, p.cpu
	r.columns, r.runs = r.sources*len(r.offsets)+1, r.lines(r.runs)
	r.span = min(depth/r.batch, r.outW)
	if r.span > 0 {
		r.deep, r.blocks = r.span*r.batch, blocksOf(r.outW, r.span)
	} else {
		r.deep, r.blocks = depth, r.outW*blocksOf(r.batch, depth)
	}
	r.parts = min(thinParts, r.outH*r.blocks)
	p.team.For(r.parts, 1, r)
	p.team.For(s.Targets(), max(1, 4096/r.columns), (*thinTotal)(r))
}

var _ tensor.Task = (*thinReduction)(nil)

// Do computes the parts lo <= part < hi.
func (r *thinReduction) Do(lo, hi, worker int) {
	panels := r.cpu.Workspace(worker)
	r.fillUp(panels, r.columns)
	for part := lo; part < hi; part++ {
		first, last := share(r.outH*r.blocks, r.parts, part)
		for i := first; i < last; i++ {
			r.block(r.sums[part*thinSums(r.shape):], panels, i/r.blocks, i%r.blocks, i > first)
		}
	}
}

// block adds what one block of a row contributes to the sums of a part, or writes it.
func (r *thinReduction) block(sums, panels []float32, row, block int, accumulate bool) {
	col, b, terms := block*r.span, 0, min(r.span, r.outW-block*r.span)*r.batch
	if r.span == 0 {
		parts := blocksOf(r.batch, r.deep)
		col, b = block/parts, block%parts*r.deep
		terms = min(r.deep, r.batch-b)
	}
	r.pack(panels, row, col, b, terms)
	mr, nr := asm.GemmTile()
	plane := r.outH * r.outW * r.batch
	dy := r.dy[(row*r.outW+col)*r.batch+b:]
	for m := 0; m < r.shape.Targets(); m += mr {
		rows := min(mr, r.shape.Targets()-m)
		for q := 0; q < r.columns; q += nr {
			asm.GemmNN(rows, min(nr, r.columns-q), terms, dy[m*plane:], plane, panels[q*r.deep:], nr, sums[m*r.columns+q:], r.columns, accumulate)
		}
	}
}

// fillUp writes the last of so many columns, ones, and zeros in what fills up its panel.
func (p *tapPanels) fillUp(panels []float32, columns int) {
	_, nr := asm.GemmTile()
	panel := p.clearLast(panels, columns)
	for at := (columns - 1) % nr; at < len(panel); at += nr {
		panel[at] = 1
	}
}

// clearLast clears the panel of the last of so many columns, and returns it: values that are by chance in what
// fills it up may be denormal, and slow.
func (p *tapPanels) clearLast(panels []float32, columns int) []float32 {
	_, nr := asm.GemmTile()
	panel := panels[(columns-1)/nr*nr*p.deep:][:nr*p.deep]
	clear(panel)
	return panel
}

// pack fills the columns (s,t) with what the taps meet from a position and batch entry on.
func (p *tapPanels) pack(panels []float32, row, col, b, terms int) {
	_, nr := asm.GemmTile()
	for s := range p.sources {
		for _, l := range p.runs {
			src := p.src[s*p.plane+p.at(l.t, row, col)+b:]
			for t := 0; t < l.n; {
				column := s*len(p.offsets) + l.t + t
				n := min(l.n-t, nr-column%nr)
				asm.Transpose(panels[column/nr*nr*p.deep+column%nr:], nr, src[t*p.batch:], p.batch, n, terms)
				t += n
			}
		}
	}
}

// addBias adds the sums of the last column.
func (r *thinReduction) addBias(dbias []float32) {
	for m := range r.shape.Targets() {
		for part := range r.parts {
			dbias[m/r.shape.NOut] += r.sums[part*thinSums(r.shape)+(m+1)*r.columns-1]
		}
	}
}

// thinTotal adds up the parts, item by item a row (o,i).
type thinTotal thinReduction

// Do adds up the rows lo <= m < hi.
func (r *thinTotal) Do(lo, hi, _ int) {
	s := r.shape
	n := s.NIn * len(s.Offsets)
	for m := lo; m < hi; m++ {
		o, i := m/s.NOut, m%s.NOut
		for c := range s.In {
			to := r.kernel[((o*s.In+c)*s.NOut+i)*n:][:n]
			from := r.sums[m*r.columns+c*n:]
			copy(to, from[:n])
			for part := 1; part < r.parts; part++ {
				asm.Add(to, to, from[part*thinSums(s):][:n])
			}
		}
	}
}
