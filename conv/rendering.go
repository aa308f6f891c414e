package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// The kernel network ends in a linear map, and slots are sums and differences of a kernel's values. So
// they are rendered from sums and differences of features (kernelFactors), and the kernel itself never is:
// with g [(j,i), slot, k] those of scale f_k, and of scale for k = h, behind the h features,
//
//	slot[(o,i), e, (j,c)] = sum over k of  g[(j,i),e,k] w[(o,c),k],   w[(o,c),h] = b[(o,c)]
//	dg[(j,i), e, k]       = sum over o, c of  dslot[(o,i),e,(j,c)] w[(o,c),k]
//	dw[(o,c), k]          = sum over j, i, e of  g[(j,i),e,k] dslot[(o,i),e,(j,c)]
//
// products for each o and j whose results, or operands, are slots as they lie: rows (i,e) are as far apart
// from one another for all i and e.

// featureFolding takes features to g, [j, i, kind, slot, k], or the gradient of g back to that of the
// features. Kinds are those of slotBlocks. Items are pairs (j,i) with j in the first half.
type featureFolding struct {
	shape    *Shape
	cpu      *tensor.CPU
	features int
	*slotWaves
	f, scale []float32 // [h, (i,j,t)] and [(i,j,t)], or no scale
	folded   []float32

	// Back:
	df, dscale []float32 // dscale is nil where it is not wanted
	parts      int       // of the gradient of g, one behind the other, to be summed; 0 for the way there

	taps, kinds, width, positions int
}

var _ tensor.Task = (*featureFolding)(nil)

// foldedSize returns the number of values of g.
func foldedSize(s *Shape, features int) int {
	return s.rendered() * s.NIn * len(s.Offsets) * (features + 1)
}

// featureFoldingLocal returns the size of a worker's memory: both kinds of a pair, and one more to spare.
func featureFoldingLocal(s *Shape, features int) int { return 3 * len(s.Offsets) * (features + 1) }

func (p *featureFolding) run() {
	pairs := p.shape.rendered() * p.shape.NIn
	p.taps, p.kinds, p.width = len(p.shape.Offsets), kinds(elementsOf(p.shape, p.shape.NIn)), p.features+1
	p.positions = pairs * p.taps
	p.cpu.Team().For(pairs/p.kinds, 4, p)
}

// Do folds the pairs lo <= item < hi.
func (p *featureFolding) Do(lo, hi, worker int) {
	size, n, rendered := p.taps*p.width, p.shape.NIn/p.kinds, p.shape.rendered()
	local := p.cpu.Workspace(worker)
	rows, spare := local[:p.kinds*size], local[p.kinds*size:][:size]
	for item := lo; item < hi; item++ {
		j, i := item/rendered, item%rendered
		g := p.folded[item*p.kinds*size:][:p.kinds*size]
		if p.parts > 0 {
			p.sum(g, item)
			for kind := range p.kinds {
				p.unfold(rows[kind*size:], g[kind*size:])
			}
			p.pair(rows, spare)
		}
		for kind := range p.kinds {
			at := (i*p.shape.NIn + kind*n + j) * p.taps
			if p.parts > 0 {
				p.write(rows[kind*size:][:size], spare, at)
			} else {
				p.read(rows[kind*size:][:size], at)
			}
		}
		if p.parts == 0 {
			p.pair(rows, spare)
			for kind := range p.kinds {
				p.fold(g[kind*size:], rows[kind*size:])
			}
		}
	}
}

// read takes the features at the taps from position at on to rows [t, k].
func (p *featureFolding) read(rows []float32, at int) {
	asm.Transpose(rows, p.width, p.f[at:], p.positions, p.features, p.taps)
	for t := range p.taps {
		row := rows[t*p.width:][:p.width]
		row[p.features] = 1
		if p.scale != nil {
			asm.Affine(row, row, p.scale[at+t], 0)
		}
	}
}

// write takes the gradient of scaled features at the taps from position at on, rows [t, k], to those of the
// features and of the scale.
func (p *featureFolding) write(rows, spare []float32, at int) {
	if p.dscale != nil {
		asm.Transpose(spare, p.width, p.f[at:], p.positions, p.features, p.taps)
	}
	for t := range p.taps {
		row := rows[t*p.width:][:p.width]
		if p.dscale != nil {
			p.dscale[at+t] = asm.Dot(row[:p.features], spare[t*p.width:][:p.features]) + row[p.features]
		}
		if p.scale != nil {
			asm.Affine(row, row, p.scale[at+t], 0)
		}
	}
	asm.Transpose(p.df[at:], p.positions, rows, p.width, p.taps, p.features)
}

// pair replaces what belongs to the first and the second kind by half their sums and differences.
func (p *featureFolding) pair(rows, spare []float32) {
	if p.kinds == 1 {
		return
	}
	first, second := rows[:len(spare)], rows[len(spare):]
	asm.Combine(spare, first, second, 0.5, -0.5, 0)
	asm.Combine(first, first, second, 0.5, 0.5, 0)
	copy(second, spare)
}

// fold takes rows by taps to rows by slots.
func (p *featureFolding) fold(bySlot, byTap []float32) {
	mid, n := p.taps/2, p.width
	copy(bySlot[:n], byTap[mid*n:])
	for e := 1; e <= mid; e++ {
		t := p.order[e]
		asm.SumDiff(bySlot[2*e*n:][:n], bySlot[(2*e-1)*n:][:n], byTap[(mid+t)*n:][:n], byTap[(mid-t)*n:][:n])
	}
	p.cross(bySlot)
}

// unfold takes the gradient by slots, which is lost, to that by taps.
func (p *featureFolding) unfold(byTap, bySlot []float32) {
	mid, n := p.taps/2, p.width
	p.cross(bySlot)
	copy(byTap[mid*n:][:n], bySlot)
	for e := 1; e <= mid; e++ {
		t := p.order[e]
		asm.SumDiff(byTap[(mid+t)*n:][:n], byTap[(mid-t)*n:][:n], bySlot[2*e*n:][:n], bySlot[(2*e-1)*n:][:n])
	}
}

// cross replaces the slots of mirror images by their differences and sums.
func (p *featureFolding) cross(bySlot []float32) {
	n := p.width
	for e, crossed := range p.crossed {
		if crossed { // odd and even slot of either lie together
			first, second := bySlot[(2*e-1)*n:][:2*n], bySlot[(2*e+1)*n:][:2*n]
			asm.SumDiff(second, first, second, first)
		}
	}
}

// sum adds the further parts to those of an item.
func (p *featureFolding) sum(g []float32, item int) {
	size := foldedSize(p.shape, p.features)
	for part := 1; part < p.parts; part++ {
		asm.Add(g, g, p.folded[part*size+item*len(g):][:len(g)])
	}
}

// rendering makes slots of folded features. Items are pairs (o,j), with j in the first half of paired
// elements.
type rendering struct {
	shape    *Shape
	cpu      *tensor.CPU
	features int
	folded   []float32 // [j, i, kind, slot, k]
	w, b     []float32 // [(o,c), k] and [(o,c)]
	slots    []float32 // as layout says
	discs

	layout slotBlocks
}

var _ tensor.Task = (*rendering)(nil)

// renderingLocal returns the size of a worker's memory: the weights of one output channel.
func renderingLocal(s *Shape, features int) int { return (features + 1) * roundUp(s.In) }

func (p *rendering) run() {
	p.layout = slotBlocksOf(p.shape)
	n := p.shape.NIn / p.layout.kinds
	p.cpu.Team().For(p.shape.Out*n, n, p)
}

// Do renders the items lo <= item < hi.
func (p *rendering) Do(lo, hi, worker int) {
	s, h, ld := p.shape, p.features, roundUp(p.shape.In)
	n, rows := s.NIn/p.layout.kinds, s.rendered()*p.layout.kinds*p.layout.taps
	weights := p.cpu.Workspace(worker)[:renderingLocal(s, h)]
	for item := lo; item < hi; item++ {
		o, j := item/n, item%n
		if item == lo || j == 0 {
			asm.Transpose(weights, ld, p.w[o*s.In*h:], h, s.In, h)
			copy(weights[h*ld:], p.b[o*s.In:][:s.In])
		}
		for c := 0; c < s.In; {
			slots, lds, columns := p.layout.piece(p.slots, o*s.rendered(), j*s.In+c, (j+1)*s.In)
			for _, r := range p.runs {
				to := slots[r.first*lds:]
				gemmFetchingNN(r.count, columns, h+1, p.folded[(j*rows+r.first)*(h+1):], h+1, weights[c:], ld, to, lds, false, to, lds, columns)
			}
			c += columns
		}
	}
}

// renderingParts is how many parts the output channels are cut into, each with a gradient of g of its own,
// which are summed in order; fewer where they would have less than partChannels.
const (
	renderingParts = 8
	partChannels   = 4
)

// renderingGrad takes the gradient of slots to that of folded features, a part for each item, and to those
// of weights and offsets. Items are parts of the output channels.
type renderingGrad struct {
	shape    *Shape
	cpu      *tensor.CPU
	features int
	slots    []float32 // their gradient, and parts of it behind one another
	folded   []float32
	w, b     []float32
	discs

	dfolded []float32 // [part, j, i, kind, slot, k], at k = h only where wanted
	offsets bool      // it is wanted there
	dw, db  []float32

	layout slotBlocks
	parts  int
}

var _ tensor.Task = (*renderingGrad)(nil)

// renderingGradParts returns the number of parts.
func renderingGradParts(s *Shape) int { return max(1, min(s.Out/partChannels, renderingParts)) }

func (p *renderingGrad) run() {
	p.layout, p.parts = slotBlocksOf(p.shape), renderingGradParts(p.shape)
	p.cpu.Team().For(p.parts, 1, p)
}

// Do computes the parts lo <= part < hi.
func (p *renderingGrad) Do(lo, hi, worker int) {
	s, h, ld := p.shape, p.features, roundUp(p.shape.In)
	dweights := p.cpu.Workspace(worker)[:renderingLocal(s, h)]
	for part := lo; part < hi; part++ {
		first, end := share(s.Out, p.parts, part)
		dfolded := p.dfolded[part*foldedSize(s, h):][:foldedSize(s, h)]
		clear(dfolded)
		for o := first; o < end; o++ {
			p.gather(o)
			p.channel(o, dfolded, dweights)
			asm.Transpose(p.dw[o*s.In*h:], h, dweights, ld, h, s.In)
			copy(p.db[o*s.In:][:s.In], dweights[h*ld:])
		}
	}
}

// channel adds what the slots of an output channel contribute to the gradient of folded features, and writes
// dweights [k, c], that of its weights.
func (p *renderingGrad) channel(o int, dfolded, dweights []float32) {
	s, h, width, ld := p.shape, p.features, p.features+1, roundUp(p.shape.In)
	rows := s.rendered() * p.layout.kinds * p.layout.taps
	for j := range s.NIn / p.layout.kinds {
		for c := 0; c < s.In; {
			slots, lds, columns := p.layout.piece(p.slots, o*s.rendered(), j*s.In+c, (j+1)*s.In)
			for i, r := range p.runs {
				d, at := slots[r.first*lds:], (j*rows+r.first)*width
				gemmFetchingNN(r.count, h, columns, d, lds, p.w[(o*s.In+c)*h:], h, dfolded[at:], width, true, d, lds, columns)
				if p.offsets {
					addProducts(dfolded[at+h:], width, r.count, columns, d, lds, p.b[o*s.In+c:])
				}
				gemmTN(width, columns, r.count, p.folded[at:], width, d, lds, dweights[c:], ld, i+j > 0)
			}
			c += columns
		}
	}
}

// gather adds what further parts have of an output channel.
func (p *renderingGrad) gather(o int) {
	size, rows := p.layout.size(), p.shape.rendered()
	for c := 0; c < p.layout.width; c += p.layout.block {
		first := p.layout.at(o*rows, 0, 0, c)
		sum := p.slots[first:][:rows*p.layout.row(c)]
		for at := size + first; at < len(p.slots); at += size {
			asm.Add(sum, sum, p.slots[at:][:len(sum)])
		}
	}
}

// gemmFetchingNN is gemmNN for slots, which come from the third-level cache or from memory: before each strip of rows
// but the last, so many columns of far in the rows of the next strip are fetched, distance apart.
func gemmFetchingNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool, far []float32, distance, columns int) {
	for s, strips := 0, asm.RowStrips(m); s < strips; s++ {
		from, to := asm.RowStrip(s, m)
		if s+1 < strips {
			_, end := asm.RowStrip(s+1, m)
			asm.Prefetch(far[to*distance:], distance, end-to, columns)
		}
		asm.GemmStripNN(to-from, n, k, a[from*lda:], lda, b, ldb, c[from*ldc:], ldc, accumulate)
	}
}

// addProducts adds the product of A [m, k] and a vector to m values, step apart: by scalar products, where there is
// a kernel for them, since all but one column of a register tile would be idle.
func addProducts(to []float32, step, m, k int, a []float32, lda int, vector []float32) {
	rows, _ := asm.DotTile()
	if rows == 0 {
		gemmNN(m, 1, k, a, lda, vector, 1, to, step, true)
		return
	}
	for at := 0; at < m; at += rows {
		asm.GemmDots(min(rows, m-at), 1, k, a[at*lda:], lda, vector, k, to[at*step:], step, true)
	}
}
