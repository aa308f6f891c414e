package conv

import (
	"fmt"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// lowRank is the low-rank algorithm of the CPU. The kernel network ends in a
// linear map of features, so the convolution is one with the features, channel by
// channel, and a mixing of channels after it, a plain matrix product:
//
//	z[c,k,i,p] = sum over j, t of f_k(i,j,t) x[c,j,p+t]
//	y[o,i,p]   = sum over c, k of w[(o,c),k] z[c,k,i,p] + sum over c of b[(o,c)] s[c,p]
//	s[c,p]     = sum over j, t of x[c,j,p+t]
//
// The kernel itself is never made. With h features it takes h (n_in T + C_out)
// multiplications where the direct convolution takes n_in T C_out.
//
// An output row and batch is one long row of columns q = (col, b), cut into
// panels as wide as the register tile. For a panel everything happens in the
// second-level cache: the columns under every tap are packed to xcol [c, (t,j),
// q], made to z [(c,k), (i,q)] and mixed to y [o, (i,q)].
//
// Backward goes through all panels for one block of input channels at a time,
//
//	dw[o,(c,k)] = sum over (i,q) of dy z      dz[(c,k),(i,q)] = sum over o of w dy
//	df[k,i,j,t] = sum over c, q of xcol dz    dxcol[c,(t,j),q] = sum over (k,i) of f dz
//
// and adds dxcol to dx in the product that makes it. z is made anew, for keeping
// it would take h times the memory of a map. All but df belong to one block of
// channels; df is added up over the blocks in order.
type lowRank struct {
	features int
	team     *tensor.Team
	locals   []lowRankLocal // for each worker
	biased   bool           // the last Prepare had a bias

	pass lowRankPass
}

var _ FeaturePasses = (*lowRank)(nil)

func newLowRank(features int) *lowRank { return &lowRank{features: features} }

const (
	// lowRankDepth is how many rows (c,k) of z are mixed at a time, lowRankWidth
	// how many a block of channels of a backward pass has: what lies in the
	// second-level cache together.
	lowRankDepth = 256
	lowRankWidth = 128
	// lowRankBlocks is how many blocks of channels a backward pass has at least,
	// where there are so many channels.
	lowRankBlocks = 4
)

// factors is where the parts of a prepared kernel lie.
type factors struct {
	f     []float32 // [(k,i), (t,j)]
	back  []float32 // [(t,j), (k,i) and 1]: its transpose, and ones for b
	w     []float32 // [o, (c,k)], ldw
	turn  []float32 // [(c,k), o], ldo
	b     []float32 // [o, c]
	bTurn []float32 // [c, o]
	bias  []float32 // [o]
	ones  []float32 // [(t,j)]

	ldw, ldo int
}

// layOut returns the parts of prepared and their total size.
func (p *lowRank) layOut(prepared []float32, s *Shape) (factors, int) {
	rows, taps := p.features*s.NOut, len(s.Offsets)*s.NIn
	wide := s.In * p.features
	ldw, ldo := columns(wide), columns(s.Out)
	at := 0
	piece := func(n int) []float32 {
		from := at
		at += roundUp(n)
		if prepared == nil {
			return nil
		}
		return prepared[from : from+n]
	}
	return factors{
		f: piece(rows * taps), back: piece(taps * (rows + 1)),
		w: piece(s.Out * ldw), turn: piece(wide * ldo),
		b: piece(s.Out * s.In), bTurn: piece(s.In * s.Out),
		bias: piece(s.Out), ones: piece(taps),
		ldw: ldw, ldo: ldo,
	}, at
}

// lowRankOperations returns the number of floating-point operations of a forward
// pass.
func lowRankOperations(s *Shape, features int) float64 {
	perColumn := float64(features*s.NOut) * float64(s.In) * float64(s.NIn*len(s.Offsets)+s.Out)
	return 2 * perColumn * float64(s.OutH*s.OutW*s.B)
}

// lowRankPays reports whether the low-rank algorithm is the quickest by the numbers
// of operations of a forward pass: it takes h (n_in T + C_out) multiplications for
// each value of y and channel of x where the direct convolution takes n_in T C_out
// and the frequency domain, in three products at half the places of the period,
// about 3/2 n_in C_out. A tenth less does not pay for the thinner products.
func lowRankPays(s *Shape, features int) bool {
	radius := 0
	if s.OutH == s.H {
		radius = s.Offsets[len(s.Offsets)-1].Row
	}
	period := float64((s.H + radius) * (s.W + radius))
	other := s.Operations()
	if inFrequency(s) {
		other = min(other, 3*float64(s.Sources()*s.Targets()*s.B)*period)
	}
	return lowRankOperations(s, features) < 0.9*other
}

// Sizes returns the sizes of the prepared factors and of the scratch memory.
func (p *lowRank) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	_, prepared = p.layOut(nil, s)
	if inference {
		return prepared, 0
	}
	blocks := blocksOf(s.In, p.blockChannels(s))
	return prepared, s.Out*s.OutH*s.OutW*s.B + blocks*p.featuresSize(s)
}

// featuresSize returns the number of values of df.
func (p *lowRank) featuresSize(s *Shape) int {
	return p.features * s.NOut * s.NIn * len(s.Offsets)
}

// mixChannels returns how many channels a forward pass mixes at a time.
func (p *lowRank) mixChannels(s *Shape) int {
	return min(s.In, max(1, lowRankDepth/p.features))
}

// blockChannels returns how many channels a block of a backward pass has.
func (p *lowRank) blockChannels(s *Shape) int {
	return max(1, min(lowRankWidth/p.features, (s.In+lowRankBlocks-1)/lowRankBlocks))
}

// Bind names the CPU and the largest shape. The memory of the workers is sized
// for the level of assembly that is active now.
func (p *lowRank) Bind(dev tensor.Device, s *Shape) error {
	cpu, ok := dev.(*tensor.CPU)
	if !ok {
		return fmt.Errorf("conv: planned for a CPU, bound to %s: name the device in nn.Plan.Device", dev.Name())
	}
	p.team = cpu.Team()
	p.locals = make([]lowRankLocal, p.team.Size())
	for i := range p.locals {
		p.locals[i] = p.newLocal(s)
	}
	return nil
}

// Prepare rearranges features, weights and bias.
func (p *lowRank) Prepare(prepared, f, w, b, bias, _ tensor.Buffer, s *Shape) {
	x, _ := p.layOut(prepared.Host(), s)
	from := f.Host()
	taps := len(s.Offsets)
	rows, deep, wide := p.features*s.NOut, s.NIn*taps, s.In*p.features
	for row := range rows {
		asm.Transpose(x.f[row*deep:], s.NIn, from[row*deep:], taps, s.NIn, taps)
	}
	asm.Transpose(x.back, rows+1, x.f, deep, rows, deep)
	for t := range deep {
		x.back[t*(rows+1)+rows] = 1
		x.ones[t] = 1
	}
	for o := range s.Out {
		copy(x.w[o*x.ldw:], w.Host()[o*wide:(o+1)*wide])
	}
	asm.Transpose(x.turn, x.ldo, w.Host(), wide, s.Out, wide)
	copy(x.b, b.Host()[:s.Out*s.In])
	asm.Transpose(x.bTurn, s.Out, x.b, s.In, s.Out, s.In)
	clear(x.bias)
	if !bias.IsZero() {
		copy(x.bias, bias.Host())
	}
}

// lowRankLocal is the memory of a worker.
type lowRankLocal struct {
	xcol   []float32 // [c, (t,j), q]
	z      []float32 // [(c,k), (i,q)]
	s      []float32 // [c, q]
	y      []float32 // [o, (i,q)], lowRankPass.ldy
	common []float32 // [o, q], what all i have in common

	// For a backward pass; y and common hold the gradients.
	dz     []float32 // [c, ((k,i) and b, q)]
	ds     []float32 // [c, q]
	dw     []float32 // [o, (c,k)]
	db     []float32 // [o, c]
	df     []float32 // [(t,j), (k,i)]
	panels []float32
}

func (p *lowRank) newLocal(s *Shape) lowRankLocal {
	_, nr := asm.GemmTile()
	mix, block := p.mixChannels(s), p.blockChannels(s)
	most := max(mix, block)
	rows := p.features * s.NOut
	blockRows := block * p.features
	return lowRankLocal{
		xcol:   aligned(most * len(s.Offsets) * s.NIn * nr),
		z:      aligned(most * rows * nr),
		s:      aligned(s.In * nr),
		y:      aligned(s.Out * columns(s.NOut*nr)),
		common: aligned(s.Out * nr),
		dz:     aligned(block * (rows + 1) * nr),
		ds:     aligned(block * nr),
		dw:     aligned(s.Out * columns(blockRows)),
		db:     aligned(s.Out * columns(block)),
		df:     aligned(len(s.Offsets) * s.NIn * rows),
		panels: aligned(max(nr*s.NOut*nr, (max(rows, block)+nr-1)/nr*nr*nr)),
	}
}

// lowRankPass is one pass over the panels of the output.
type lowRankPass struct {
	*lowRank
	factors
	shape *Shape
	x, y  []float32 // y or dy

	nr     int
	ldy    int
	chunks int // parts that the batch is cut into, or 1
	across int // panels of a row and chunk

	// For a backward pass:
	sums       []float32 // [o, (row,col,b)] dy summed over i
	dx         []float32
	dw, db, df []float32
	parts      []float32 // [block, (t,j), (k,i)]
	block      int       // channels of a block
	blocks     int
	accumulate bool
}

func (p *lowRank) newPass(x, y, prepared tensor.Buffer, s *Shape) *lowRankPass {
	l := &p.pass
	*l = lowRankPass{lowRank: p, shape: s, x: x.Host(), y: y.Host()}
	l.factors, _ = p.layOut(prepared.Host(), s)
	_, l.nr = asm.GemmTile()
	l.ldy = columns(s.NOut * l.nr)
	// Going down the columns with part of the batch, what neighbouring panels
	// share stays in the cache.
	l.chunks, l.across = 1, (s.OutW*s.B+l.nr-1)/l.nr
	if s.B%l.nr == 0 {
		l.chunks, l.across = s.B/l.nr, s.OutW
	}
	return l
}

// panelCount returns the number of panels.
func (l *lowRankPass) panelCount() int { return l.chunks * l.across * l.shape.OutH }

// panel returns the row of panel i, its first column q = (col, b) and the number
// of columns.
func (l *lowRankPass) panel(i int) (row, q, n int) {
	s := l.shape
	at, rest := i%l.across, i/l.across
	row = rest % s.OutH
	if l.chunks > 1 || s.B == l.nr {
		return row, at*s.B + rest/s.OutH*l.nr, l.nr
	}
	return row, at * l.nr, min(l.nr, s.OutW*s.B-at*l.nr)
}

// Forward computes y.
func (p *lowRank) Forward(y, x, prepared, _ tensor.Buffer, s *Shape) {
	l := p.newPass(x, y, prepared, s)
	n := l.panelCount()
	p.team.For(n, max(1, min(n/16, l.across)), (*lowRankForward)(l))
	p.pass = lowRankPass{}
}

// lowRankForward computes y, item by item a panel.
type lowRankForward lowRankPass

var _ tensor.Task = (*lowRankForward)(nil)

// Do computes the panels lo <= i < hi.
func (t *lowRankForward) Do(lo, hi, worker int) {
	l := (*lowRankPass)(t)
	for i := lo; i < hi; i++ {
		row, q, n := l.panel(i)
		l.forward(row, q, n, &l.locals[worker])
	}
}

func (l *lowRankPass) forward(row, q, n int, m *lowRankLocal) {
	s := l.shape
	wide := s.NOut * l.nr
	count := blocksOf(s.In, l.mixChannels(s))
	for part := range count {
		c0, c1 := share(s.In, count, part)
		for c := c0; c < c1; c++ {
			l.gather(m.xcol, c, row, q, n)
			l.convolve(m.z[(c-c0)*l.features*wide:], m.s[c*l.nr:], m.xcol)
		}
		gemmNN(s.Out, wide, (c1-c0)*l.features, l.w[c0*l.features:], l.ldw, m.z, wide, m.y, l.ldy, part > 0)
	}
	gemmNN(s.Out, l.nr, s.In, l.b, s.In, m.s, l.nr, m.common, l.nr, false)
	plane := s.OutH * s.OutW * s.B
	at := row*s.OutW*s.B + q
	for o := range s.Out {
		common := m.common[o*l.nr:][:n]
		asm.Affine(common, common, 1, l.bias[o])
		for i := range s.NOut {
			asm.Add(l.y[(o*s.NOut+i)*plane+at:][:n], m.y[o*l.ldy+i*l.nr:][:n], common)
		}
	}
}

// meets returns the part lo <= k < hi of n columns from q on at which a tap stays
// inside the input plane, and the place of column q+k in the row of that plane,
// at + k. It is empty where the row lies outside.
func (l *lowRankPass) meets(o Offset, row, q, n int) (lo, hi, at int) {
	s := l.shape
	r := row + o.Row
	if r < 0 || r >= s.H {
		return 0, 0, 0
	}
	at = q + o.Col*s.B
	lo, hi = max(0, -at), min(n, s.W*s.B-at)
	if lo >= hi {
		return 0, 0, 0
	}
	return lo, hi, r*s.W*s.B + at
}

// gather packs what the taps meet of channel c: xcol [(t,j), q], zero outside the
// plane and beyond n columns.
func (l *lowRankPass) gather(xcol []float32, c, row, q, n int) {
	s := l.shape
	plane := s.H * s.W * s.B
	x := l.x[c*s.NIn*plane:]
	for t, o := range s.Offsets {
		dst := xcol[t*s.NIn*l.nr:][:s.NIn*l.nr]
		lo, hi, at := l.meets(o, row, q, n)
		switch {
		case lo >= hi:
			clear(dst)
		case lo == 0:
			asm.PackPanel(dst, x[at:], plane, s.NIn, hi)
		default:
			clear(dst)
			for j := range s.NIn {
				copy(dst[j*l.nr+lo:], x[j*plane+at+lo:j*plane+at+hi])
			}
		}
	}
}

// convolve makes z [(k,i), q] and s [q] of one channel.
func (l *lowRankPass) convolve(z, sum, xcol []float32) {
	s := l.shape
	deep := len(s.Offsets) * s.NIn
	gemmNN(l.features*s.NOut, l.nr, deep, l.f, deep, xcol, l.nr, z, l.nr, false)
	asm.GemmNN(1, l.nr, deep, l.ones, deep, xcol, l.nr, sum, l.nr, false)
}
