package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// points is taps for kernels of one tap, whose elements may come in pairs (Shape.Paired). Between the
// elements i, i+n/2 and j, j+n/2 such a kernel is
//
//	| a  b |
//	| b  a |
//
// and in the basis x_j + x_(j+n/2), x_j - x_(j+n/2) of either side
//
//	| a+b     |
//	|     a-b |
//
// so that pairs take half the operations. The basis is changed where columns are gathered and where sums
// are written, within the caches. Kernels have two kinds then, half the sums (a+b)/2 and half the
// differences (a-b)/2, each [(o,i), (c,j)] with the first half of the i and of the j.
type points struct {
	taps
	pairs bool

	halving  pairHalving
	products pairProducts
	gradient pairGradient
}

func newPoints() *points { return &points{taps: *newTaps()} }

var _ Passes = (*points)(nil)

const (
	// pairColumns is the number of columns (position, batch) that are gathered at a time.
	pairColumns = 128
	// pairPitch is the distance of rows of so many columns.
	pairPitch = pairColumns + skew
	// pairSources is the most columns (c,j) of a kind whose gradient is summed at a time.
	pairSources = 256
)

// pairsPoints reports whether elements of a shape may be taken in pairs: with planes enough for products, and runs
// of a batch that are long enough for vectors.
func pairsPoints(s *Shape) bool {
	return len(s.Offsets) == 1 && s.Offsets[0] == (Offset{}) && s.NIn > 1 && s.NOut > 1 &&
		min(s.Sources(), s.Targets()) >= 2*thinSources && s.B >= thinBatch
}

// Pairs reports whether elements in pairs are taken together. Where products are sliced they are not.
func (p *points) Pairs() bool { return p.pairs }

// Bind is that of taps.
func (p *points) Bind(dev tensor.Device, s *Shape) error {
	if err := p.taps.Bind(dev, s); err != nil {
		return err
	}
	var f frame
	f.forward(s, s)
	p.pairs = f.form != inPoints
	return p.cpu.ReserveWorkspace(max(productWorkspace(s.Sources()/2), productWorkspace(s.Targets()/2), gradientWorkspace()))
}

// Prepare rearranges kernel and bias for Forward.
func (p *points) Prepare(prepared, kernel, bias, scratch tensor.Buffer, s *Shape) {
	if !s.Paired {
		p.taps.Prepare(prepared, kernel, bias, scratch, s)
		return
	}
	p.biased = !bias.IsZero()
	p.halving = pairHalving{shape: s, kernel: kernel.Host(), bias: bias.Host(), pair: pairOf(prepared.Host(), s.Targets()/2, s.Sources()/2+1)}
	p.team.For(s.Targets()/2, max(1, 16384/s.Sources()), &p.halving)
	p.halving = pairHalving{}
}

// Forward computes y from a prepared kernel.
func (p *points) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	if !s.Paired {
		p.taps.Forward(y, x, prepared, scratch, s)
		return
	}
	p.multiply(pairProducts{
		kernel: pairOf(prepared.Host(), s.Targets()/2, s.Sources()/2+1), biased: p.biased,
		from: x.Host(), sources: s.pairsIn(), to: y.Host(), targets: s.pairsOut(),
	}, s)
}

// Backward computes the gradients of the kernel, of the bias and of x.
func (p *points) Backward(dkernel, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	if !s.Paired {
		p.taps.Backward(dkernel, dbias, dx, x, dy, prepared, scratch, s, accumulate)
		return
	}
	if !dkernel.IsZero() {
		p.kernelGrad(dkernel.Host(), x.Host(), dy.Host(), scratch.Host(), s)
	}
	addBiasGrad(p.cpu, dbias, dy, s)
	if dx.IsZero() {
		return
	}
	p.multiply(pairProducts{
		kernel: pairOf(prepared.Host(), s.Targets()/2, s.Sources()/2+1), turned: true, accumulate: accumulate,
		from: dy.Host(), sources: s.pairsOut(), to: dx.Host(), targets: s.pairsIn(),
	}, s)
}

func (p *points) multiply(t pairProducts, s *Shape) {
	t.cpu, t.plane = p.cpu, s.H*s.W*s.B
	p.products = t
	p.team.For(blocksOf(t.plane, pairColumns), 1, &p.products)
	p.products = pairProducts{}
}

// kernelGrad sums both kinds of the gradient and brings them back to elements.
func (p *points) kernelGrad(dkernel, x, dy, scratch []float32, s *Shape) {
	columns := s.Sources() / 2
	g := &p.gradient
	*g = pairGradient{shape: s, cpu: p.cpu, x: x, dy: dy, plane: s.H * s.W * s.B, sums: pairOf(scratch, columns, s.Targets()/2)}
	p.team.For(columns, blocksOf(columns, p.team.Size()), g)
	p.halving = pairHalving{shape: s, kernel: dkernel, pair: g.sums, back: true}
	p.team.For(s.Targets()/2, max(1, 16384/s.Sources()), &p.halving)
	p.halving, *g = pairHalving{}, pairGradient{}
}

// pair are two matrices of the same size, one for each kind.
type pair struct {
	kinds [2][]float32
	lead  int
}

// pairOf returns two matrices of so many rows and columns that lie one behind the other.
func pairOf(values []float32, rows, columns int) pair {
	ld := lead(columns)
	size := rows * ld
	return pair{[2][]float32{values[:size], values[size:][:size]}, ld}
}

// pairPlanes are the planes of a feature map of half as many pairs as elements, those of a pair a turn apart.
type pairPlanes struct{ channels, half, turn int }

// pairsIn and pairsOut return those of the input and of the output map.
func (s *Shape) pairsIn() pairPlanes  { return pairPlanes{s.In, s.NIn / 2, s.turn(s.NIn)} }
func (s *Shape) pairsOut() pairPlanes { return pairPlanes{s.Out, s.NOut / 2, s.turn(s.NOut)} }

// count returns the number of planes of a kind.
func (p pairPlanes) count() int { return p.channels * p.half }

// at returns the numbers of the two planes of pair k.
func (p pairPlanes) at(k int) (first, second int) {
	first = k/p.half*2*p.half + firstOfPair(k%p.half, p.turn)
	return first, first + p.turn
}

// gather writes sums and differences of the n columns from one on of pair k of x, whose planes have so many values.
func (p pairPlanes) gather(sum, diff, x []float32, k, plane, from, n int) {
	i, j := p.at(k)
	asm.SumDiff(sum[:n], diff[:n], x[i*plane+from:][:n], x[j*plane+from:][:n])
}

// pairHalving changes a kernel [(o,c), (i,j)] to its two kinds, with the bias as last column of the first. Or back, for the
// kinds of a gradient, which are turned. Items are rows (o,i).
type pairHalving struct {
	shape        *Shape
	kernel, bias []float32
	pair
	back bool
}

var _ tensor.Task = (*pairHalving)(nil)

// Do takes the rows lo <= row < hi.
func (h *pairHalving) Do(lo, hi, _ int) {
	s := h.shape
	n, m := s.NOut/2, s.NIn/2
	for row := lo; row < hi; row++ {
		o, i := row/n, row%n
		for c := range s.In {
			a := h.kernel[((o*s.In+c)*n+i)*2*m:][:2*m]
			if h.back {
				h.add(a[:m], a[m:], row, c*m)
			} else {
				h.halve(a[:m], a[m:], row, c*m)
			}
		}
		if h.bias != nil {
			h.kinds[0][row*h.lead+s.In*m] = h.bias[o]
		}
	}
}

// halve writes the columns from one on of a row.
func (h *pairHalving) halve(a, b []float32, row, column int) {
	at := row*h.lead + column
	sum, diff := h.kinds[0][at:][:len(a)], h.kinds[1][at:][:len(a)]
	for j, v := range a {
		sum[j], diff[j] = 0.5*(v+b[j]), 0.5*(v-b[j])
	}
}

// add reads them, of a gradient, whose rows are columns.
func (h *pairHalving) add(a, b []float32, row, column int) {
	sum, diff := h.kinds[0][column*h.lead+row:], h.kinds[1][column*h.lead+row:]
	for j := range a {
		v, w := sum[j*h.lead], diff[j*h.lead]
		a[j], b[j] = 0.5*(v+w), 0.5*(v-w)
	}
}

// pairProducts computes to (+)= kernel from, or that with the transposed kernel, for maps of the same plane. Items are
// blocks of columns.
type pairProducts struct {
	kernel           pair
	turned           bool
	biased           bool // the kernel's first kind has a last column for ones
	accumulate       bool
	from, to         []float32
	sources, targets pairPlanes
	plane            int
	cpu              *tensor.CPU
}

var _ tensor.Task = (*pairProducts)(nil)

// productWorkspace returns the size of a worker's memory, for so many sources of a kind.
func productWorkspace(sources int) int {
	mr, _ := asm.GemmTile()
	return 2 * (sources + 1 + mr) * pairPitch
}

// Do computes the blocks lo <= block < hi.
func (p *pairProducts) Do(lo, hi, worker int) {
	memory := pieces{p.cpu.Workspace(worker)}
	mr, _ := asm.GemmTile()
	k, rows := p.sources.count(), p.targets.count()
	sum, diff := memory.cut((k+1)*pairPitch), memory.cut(k*pairPitch)
	y, z := memory.cut(mr*pairPitch), memory.cut(mr*pairPitch)
	strips := blocksOf(rows, mr)
	steps := [2]int{k, k}
	if p.biased {
		asm.Fill(sum[k*pairPitch:][:pairColumns], 1)
		steps[0]++
	}
	for block := lo; block < hi; block++ {
		from := block * pairColumns
		n := min(pairColumns, p.plane-from)
		for s := range k {
			p.sources.gather(sum[s*pairPitch:], diff[s*pairPitch:], p.from, s, p.plane, from, n)
		}
		for i := range strips {
			r, end := share(rows, strips, i)
			m := end - r
			asm.Prefetch(p.to[2*r*p.plane+from:], p.plane, 2*m, n)
			if block+1 < hi {
				p.fetch(2*r*k/rows, 2*end*k/rows, from+pairColumns)
			}
			p.rows(0, r, m, n, steps[0], sum, y)
			p.rows(1, r, m, n, steps[1], diff, z)
			for i := range m {
				p.store(r+i, from, y[i*pairPitch:][:n], z[i*pairPitch:][:n])
			}
		}
	}
}

// fetch fetches the planes first <= plane < end of the block of columns that comes next: a share for each strip, which the
// products then leave time for.
func (p *pairProducts) fetch(first, end, from int) {
	asm.Prefetch(p.from[first*p.plane+from:], p.plane, end-first, min(pairColumns, p.plane-from))
}

// rows multiplies m rows from one on of a kind.
func (p *pairProducts) rows(kind, first, m, n, k int, b, to []float32) {
	a, ld := p.kernel.kinds[kind], p.kernel.lead
	if p.turned {
		gemmTN(m, n, k, a[first:], ld, b, pairPitch, to, pairPitch, false)
		return
	}
	gemmNN(m, n, k, a[first*ld:], ld, b, pairPitch, to, pairPitch, false)
}

// store writes sums of both kinds, which it overwrites, to the planes of pair k, or adds them.
func (p *pairProducts) store(k, from int, y, z []float32) {
	i, j := p.targets.at(k)
	first, second := p.to[i*p.plane+from:][:len(y)], p.to[j*p.plane+from:][:len(y)]
	if !p.accumulate {
		asm.SumDiff(first, second, y, z)
		return
	}
	asm.SumDiff(y, z, y, z)
	asm.Add(first, first, y)
	asm.Add(second, second, z)
}

// pairGradient sums both kinds of the gradient of a kernel,
//
//	sums[(c,j), (o,i)] = sum over columns of x[(c,j)] dy[(o,i)]
//
// Items are rows (c,j). A sum takes the blocks of columns one after another, so it has one order whatever the rows are
// split over.
type pairGradient struct {
	shape *Shape
	cpu   *tensor.CPU
	x, dy []float32
	plane int
	sums  pair
}

var _ tensor.Task = (*pairGradient)(nil)

// gradientWorkspace returns the size of a worker's memory.
func gradientWorkspace() int {
	_, nr := asm.GemmTile()
	return 2 * ((pairSources+nr)*pairPitch + nr*pairColumns)
}

// Do sums the rows lo <= row < hi.
func (g *pairGradient) Do(lo, hi, worker int) {
	for lo < hi {
		rows := min(pairSources, hi-lo)
		for kind := range g.sums.kinds {
			clear(g.sums.kinds[kind][lo*g.sums.lead : (lo+rows)*g.sums.lead])
		}
		for from := 0; from < g.plane; from += pairColumns {
			g.block(lo, rows, from, pieces{g.cpu.Workspace(worker)})
		}
		lo += rows
	}
}

// block adds what the columns from one on contribute to some rows.
func (g *pairGradient) block(first, rows, from int, memory pieces) {
	s := g.shape
	_, nr := asm.GemmTile()
	sources, targets := s.pairsIn(), s.pairsOut()
	n := min(pairColumns, g.plane-from)
	var x, dy, panel [2][]float32
	for kind := range x {
		x[kind], dy[kind], panel[kind] = memory.cut(rows*pairPitch), memory.cut(nr*pairPitch), memory.cut(nr*pairColumns)
	}
	for r := range rows {
		sources.gather(x[0][r*pairPitch:], x[1][r*pairPitch:], g.x, first+r, g.plane, from, n)
	}
	for q := 0; q < targets.count(); q += nr {
		columns := min(nr, targets.count()-q)
		for t := range columns {
			targets.gather(dy[0][t*pairPitch:], dy[1][t*pairPitch:], g.dy, q+t, g.plane, from, n)
		}
		for kind := range x {
			asm.PackCols(panel[kind], dy[kind], pairPitch, n, columns)
			gemmNN(rows, columns, n, x[kind], pairPitch, panel[kind], nr, g.sums.kinds[kind][first*g.sums.lead+q:], g.sums.lead, true)
		}
	}
}
