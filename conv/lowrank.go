package conv

import (
	"unsafe"

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
// The batch is cut into chunks as wide as the register tile at most, and the maps
// of a chunk are brought to the order [position, (c,j), b] first: planes lie a
// multiple of some power of two apart, so that what one position of all planes has
// would fall into a few sets of any cache. For a position of the output everything
// then happens in the second-level cache: what the taps meet is copied to xcol [c,
// (t,j), b], made to z [(c,k), (i,b)] and mixed to y [o, (i,b)]. Some channels lie side by side in xcol where
// the columns of one are too few for a register tile. Where the level has a
// matrix unit, the products with w are split, and those with the features sliced if there
// are so many of these that they fill its blocks.
//
// Where the output has so few positions that z takes no more memory than x, z is made as a whole first: such a
// layer, above all with a single image, has more channels to share out than positions.
//
// Backward goes through all positions for one block of input channels at a time,
//
//	dw[o,(c,k)] = sum over (i,b) of dy z      dz[(c,k),(i,b)] = sum over o of w dy
//	df[k,i,j,t] = sum over c, b of xcol dz    dxcol[c,(t,j),b] = sum over (k,i) of f dz
//
// and adds dxcol to dx in the product that makes it. z is made anew, for keeping
// it would take h times the memory of a map, but where the output has so few positions
// that it takes no more than x. All but df belong to one block of channels; df is added
// up over the blocks in order.
type lowRank struct {
	features int
	whole    bool // z is made as a whole,
	keeps    bool // and stays from Forward to Backward
	kept     bool // z is that of a Forward since Prepare
	slices   bool // products with features are sliced: memory is laid out for them, or not, whatever is live
	cpu      *tensor.CPU
	team     *tensor.Team
	locals   []lowRankLocal // for each worker

	pass lowRankPass
}

var _ featurePasses = (*lowRank)(nil)

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
	bias  []float32 // [o, b], the same for all b
	ones  []float32 // [(t,j)] or [b]

	// Where products are split: w by parts of the channels that are mixed at a time,
	// turn by blocks of them. Where those with features are sliced: f and back.
	wSplit, turnSplit   []float32
	fSliced, backSliced []float32

	// What Forward makes as a whole: z [chunk, position, (c,k), (i,b)] and s [chunk, position, c, b].
	z, s []float32

	ldw, ldo int
}

// layOut returns the parts of prepared and their total size.
func (p *lowRank) layOut(prepared []float32, s *Shape) (factors, int) {
	rows, taps := p.features*s.NOut, len(s.Offsets)*s.NIn
	wide := s.In * p.features
	ldw, ldo := columns(wide), columns(s.Out)
	_, width := chunksOf(s)
	ofZ, ofS := 0, 0
	if p.keeps {
		ofZ, ofS = p.sizesOfZ(s)
	}
	at := 0
	piece := func(n int) []float32 {
		from := at
		at += roundUp(n)
		if prepared == nil {
			return nil
		}
		return prepared[from : from+n]
	}
	ofF, ofBack := 0, 0
	if p.slices {
		ofF, ofBack = asm.SliceSize(rows, halfOf(taps)), asm.SliceSize(taps, halfOf(rows+1))
	}
	return factors{
		fSliced: piece(ofF), backSliced: piece(ofBack),
		f: piece(rows * taps), back: piece(taps * (rows + 1)),
		w: piece(s.Out * ldw), turn: piece(wide * ldo),
		b: piece(s.Out * s.In), bTurn: piece(s.In * s.Out),
		bias: piece(s.Out * width), ones: piece(max(taps, width)),
		wSplit: piece(p.splitSize(s, p.mixChannels(s), false)), turnSplit: piece(p.splitSize(s, p.blockChannels(s), true)),
		z: piece(ofZ), s: piece(ofS),
		ldw: ldw, ldo: ldo,
	}, at
}

// sizesOfZ returns the sizes of z and s for all chunks and positions.
func (p *lowRank) sizesOfZ(s *Shape) (z, sums int) {
	chunks, width := chunksOf(s)
	sums = chunks * s.OutH * s.OutW * s.In * width
	return sums * p.features * s.NOut, sums
}

// lowRankSplits reports whether the products with w are split: where the level has a
// matrix unit. It does not depend on how many elements are live.
func lowRankSplits(s *Shape) bool { return asm.FastSplit() && s.Out >= splitTile }

// slicesFeatures reports whether the products with features are sliced: where there are so many of
// them, and of taps, that they fill most of the blocks of the matrix unit.
func slicesFeatures(s *Shape, features int) bool {
	const steps = 2 * splitTile
	deep := s.NIn * len(s.Offsets)
	if halfOf(max(deep, features*s.NOut+1)) > asm.MaxSliceSteps {
		return false
	}
	return lowRankSplits(s) && fillsTiles(features*s.NOut) && fillsTiles(deep) && 4*deep >= 3*blocksOf(deep, steps)*steps
}

// splitSize returns the size of w split by parts of the channels, or of its transpose.
func (p *lowRank) splitSize(s *Shape, channels int, turned bool) (size int) {
	if !lowRankSplits(s) {
		return 0
	}
	count := blocksOf(s.In, channels)
	for part := range count {
		size += p.splitPart(s, count, part, turned)
	}
	return size
}

// splitPart returns the size of one part of count.
func (p *lowRank) splitPart(s *Shape, count, part int, turned bool) int {
	c0, c1 := share(s.In, count, part)
	if turned {
		return asm.SplitSize((c1-c0)*p.features, s.Out)
	}
	return asm.SplitSize(s.Out, (c1-c0)*p.features)
}

// split fills wSplit and turnSplit.
func (p *lowRank) split(x factors, s *Shape) {
	if !lowRankSplits(s) {
		return
	}
	count := blocksOf(s.In, p.mixChannels(s))
	for part, at := 0, 0; part < count; part++ {
		c0, c1 := share(s.In, count, part)
		asm.SplitLeft(x.wSplit[at:], x.w[c0*p.features:], x.ldw, s.Out, (c1-c0)*p.features)
		at += p.splitPart(s, count, part, false)
	}
	count = blocksOf(s.In, p.blockChannels(s))
	for part, at := 0, 0; part < count; part++ {
		c0, c1 := share(s.In, count, part)
		asm.SplitLeft(x.turnSplit[at:], x.turn[c0*p.features*x.ldo:], x.ldo, (c1-c0)*p.features, s.Out)
		at += p.splitPart(s, count, part, true)
	}
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
// about 3/2 n_in C_out. Those two render the kernel, too. The factors are what
// measurements of the three at 2 to 8 elements and planes of 4 to 16 say of their
// speeds. A thin batch is filled up. A matrix unit makes each of the three faster whose
// products it takes. Elements that come in pairs take two products in the frequency domain where these
// are not sliced.
func lowRankPays(s *Shape, features int, pairs bool) bool {
	radius := 0
	if s.OutH == s.H {
		radius = s.Offsets[len(s.Offsets)-1].Row
	}
	period := float64((s.H + radius) * (s.W + radius))
	gain := 1.0
	if lowRankSplits(s) {
		gain = 1.3
	}
	other := 0.9 * gain * tapsRate / rateOfTaps(s) * s.Operations()
	if inFrequency(s) {
		products := 3.0
		switch {
		case slicesProducts(s):
			gain = 1
		case pairs:
			products = 2
		}
		other = min(other, 1.3*products*gain*float64(s.Sources()*s.Targets()*s.B)*period)
	}
	filled := float64(blocksOf(s.B, vector)*vector) / float64(s.B)
	return filled*lowRankOperations(s, features) < other+2*float64(features*s.KernelSize())
}

// Sizes returns the sizes of the prepared factors and of the scratch memory.
func (p *lowRank) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	p.slices = slicesFeatures(s, p.features)
	p.whole = s.OutH*s.OutW*p.features*s.NOut <= s.H*s.W*s.NIn
	p.keeps = p.whole && !inference
	_, prepared = p.layOut(nil, s)
	chunks, width := chunksOf(s)
	in := roundUp(s.H * s.W * s.Sources() * width)
	if inference {
		scratch = chunks * in
		if p.whole {
			z, sums := p.sizesOfZ(s)
			scratch += roundUp(z) + sums
		}
		return prepared, scratch
	}
	out := s.OutH * s.OutW * s.Out
	blocks := blocksOf(s.In, p.blockChannels(s))
	return prepared, max(chunks*in, 2*in+out*columns(s.NOut*width)+roundUp(out*width)+blocks*p.featuresGradSize(s))
}

// chunksOf returns how many chunks a batch is cut into, and their width. The last
// may be filled up with zeros.
func chunksOf(s *Shape) (count, width int) {
	_, nr := asm.GemmTile()
	count = blocksOf(s.B, nr)
	return count, blocksOf(s.B, count)
}

// featuresSize returns the number of values of f and of df.
func (p *lowRank) featuresSize(s *Shape) int {
	return p.features * s.NOut * s.NIn * len(s.Offsets)
}

// ldf returns how far apart the rows [(k,i)] of df are while it is summed up: whole cache lines.
func (p *lowRank) ldf(s *Shape) int { return roundUp(p.features * s.NOut) }

// featuresGradSize returns the size of such a sum.
func (p *lowRank) featuresGradSize(s *Shape) int { return len(s.Offsets) * s.NIn * p.ldf(s) }

// sideBySide returns of how many channels the columns are multiplied together.
func (p *lowRank) sideBySide(s *Shape) int {
	if p.slices {
		return 1
	}
	_, width := chunksOf(s)
	return min(s.In, max(1, vector/width))
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
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu, p.team = cpu, cpu.Team()
	p.locals = make([]lowRankLocal, p.team.Size())
	for i := range p.locals {
		p.locals[i] = p.newLocal(s)
	}
	return nil
}

// Scales returns false.
func (p *lowRank) Scales() bool { return false }

// Prepare rearranges features, weights and bias.
func (p *lowRank) Prepare(prepared tensor.Buffer, k kernelFactors, bias, _ tensor.Buffer, s *Shape) {
	p.kept = false
	x, _ := p.layOut(prepared.Host(), s)
	from := k.F.Host()
	taps := len(s.Offsets)
	rows, deep, wide := p.features*s.NOut, s.NIn*taps, s.In*p.features
	for row := range rows {
		asm.Transpose(x.f[row*deep:], s.NIn, from[row*deep:], taps, s.NIn, taps)
	}
	asm.Transpose(x.back, rows+1, x.f, deep, rows, deep)
	for t := range deep {
		x.back[t*(rows+1)+rows] = 1
	}
	asm.Fill(x.ones, 1)
	for o := range s.Out {
		copy(x.w[o*x.ldw:], k.W.Host()[o*wide:(o+1)*wide])
	}
	asm.Transpose(x.turn, x.ldo, k.W.Host(), wide, s.Out, wide)
	copy(x.b, k.B.Host()[:s.Out*s.In])
	asm.Transpose(x.bTurn, s.Out, x.b, s.In, s.Out, s.In)
	p.split(x, s)
	if p.slices {
		asm.SliceLeftHalves(x.fSliced, x.f, deep, rows, deep)
		asm.SliceLeftHalves(x.backSliced, x.back, rows+1, deep, rows+1)
	}
	clear(x.bias)
	if !bias.IsZero() {
		width := len(x.bias) / s.Out
		for o, v := range bias.Host()[:s.Out] {
			asm.Fill(x.bias[o*width:(o+1)*width], v)
		}
	}
}

// lowRankLocal is the memory of a worker, for one position.
type lowRankLocal struct {
	xcol   []float32 // [c, (t,j), b], or [(t,j), (c,b)] for channels side by side
	beside []float32 // [(k,i), (c,b)] z of channels side by side
	z      []float32 // [(c,k), (i,b)]
	s      []float32 // [c, b]
	y      []float32 // [o, (i,b)], lowRankPass.ldy
	common []float32 // [o, b], what all i have in common

	// For a backward pass.
	dz     []float32 // [c, ((k,i) and b, b)]
	ds     []float32 // [c, b]
	dw     []float32 // [o, (c,k)]
	db     []float32 // [o, c]
	panels []float32

	// Where products are split:
	zSplit  []float32 // z, or its transpose, on the right
	dySplit []float32 // dy on the left and on the right
	turned  []float32 // [(i,b), (c,k)] z
	dzAll   []float32 // [(c,k), (i,b)]

	// Where those with features are sliced:
	left, right []float32 // the operands
	dxcol       []float32 // [(t,j), b]
}

func (p *lowRank) newLocal(s *Shape) lowRankLocal {
	_, nr := asm.GemmTile()
	_, width := chunksOf(s)
	mix, block := p.mixChannels(s), p.blockChannels(s)
	most := max(mix, block)
	rows, beside := p.features*s.NOut, p.sideBySide(s)
	var split lowRankLocal
	if lowRankSplits(s) {
		across := s.NOut * width
		split = lowRankLocal{
			zSplit:  aligned(max(asm.SplitSize(across, mix*p.features), asm.SplitSize(block*p.features, across))),
			dySplit: aligned(max(asm.SplitSize(s.Out, across), asm.SplitSize(across, s.Out))),
			turned:  aligned(across * block * p.features),
			dzAll:   aligned(block * rows * width),
		}
	}
	deep := s.NIn * len(s.Offsets)
	left, right, dxcol := 0, 0, 0
	if p.slices {
		left = asm.SliceSize(deep, width)
		right = max(asm.SliceSize(width, halfOf(max(deep, rows+1))), asm.SliceSize(rows, width))
		dxcol = deep * width
	}
	return lowRankLocal{
		left: aligned(left), right: aligned(right), dxcol: aligned(dxcol),
		zSplit: split.zSplit, dySplit: split.dySplit, turned: split.turned, dzAll: split.dzAll,
		xcol:   aligned(max(most, beside) * deep * width),
		beside: aligned(beside * rows * width),
		z:      aligned(most * rows * width),
		s:      aligned(s.In * width),
		y:      aligned(s.Out * columns(s.NOut*width)),
		common: aligned(s.Out * width),
		dz:     aligned(block * (rows + 1) * width),
		ds:     aligned(block * width),
		dw:     aligned(s.Out * columns(block*p.features)),
		db:     aligned(s.Out * columns(block)),
		panels: aligned(max(nr*s.NOut*width, blocksOf(max(rows, block), nr)*nr*width)),
	}
}

// lowRankPass is one pass over the positions of the output, for one chunk of the
// batch.
type lowRankPass struct {
	*lowRank
	factors
	shape *Shape

	x, y       []float32 // the maps, [plane, position, B]; y or dy
	packed     []float32 // [position, (c,j), b] x of the chunk
	b0, n      int       // the chunk: its first batch entry, the number of them
	width, ldy int

	// For a backward pass:
	dx         []float32
	dxPacked   []float32 // like packed
	dyPacked   []float32 // [position, o, (i,b)], ldy
	sums       []float32 // [position, o, b] dy summed over i
	dw, db     []float32
	df         []float32 // [k, (i,j,t)]
	parts      []float32 // [block, (t,j), (k,i)], lowRank.ldf
	blocks     int
	accumulate bool // onto dx
}

func (p *lowRank) newPass(x, y, prepared tensor.Buffer, s *Shape) *lowRankPass {
	l := &p.pass
	*l = lowRankPass{lowRank: p, shape: s, x: x.Host(), y: y.Host()}
	l.factors, _ = p.layOut(prepared.Host(), s)
	_, l.width = chunksOf(s)
	l.ldy = columns(s.NOut * l.width)
	return l
}

// packing is how many positions are brought to another order at a time.
const packing = 4

// run runs a task over n items in pieces that keep neighbours together.
func (l *lowRankPass) run(n int, task tensor.Task) { l.team.For(n, max(1, n/32), task) }

// chunk makes chunk i of the batch the one that is worked on.
func (l *lowRankPass) chunk(i int) {
	l.b0 = i * l.width
	l.n = min(l.width, l.shape.B-l.b0)
}

// Forward computes y.
func (p *lowRank) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	l := p.newPass(x, y, prepared, s)
	chunks, width := chunksOf(s)
	all, size := scratch.Host(), roundUp(s.H*s.W*s.Sources()*width)
	for i := range chunks {
		l.chunk(i)
		l.packed = all[i*size : (i+1)*size]
		l.run(blocksOf(s.H*s.W, packing), (*lowRankPack)(l))
	}
	l.packed = all[:chunks*size]
	outputs := chunks * s.OutH * s.OutW
	if p.whole {
		if !p.keeps {
			z, sums := p.sizesOfZ(s)
			l.z, l.factors.s = all[chunks*size:][:z], all[chunks*size+roundUp(z):][:sums]
		}
		l.run(outputs*blocksOf(s.In, p.sideBySide(s)), (*lowRankFeatures)(l))
	}
	l.run(outputs, (*lowRankForward)(l))
	p.pass, p.kept = lowRankPass{}, p.keeps
}

// lowRankPack brings x to packed, item by item some positions.
type lowRankPack lowRankPass

// Do packs the items lo <= i < hi.
func (l *lowRankPack) Do(lo, hi, _ int) {
	s := l.shape
	plane := s.H * s.W
	for i := lo; i < hi; i++ {
		p0, p1 := i*packing, min((i+1)*packing, plane)
		for c := range s.Sources() {
			for p := p0; p < p1; p++ {
				take(l.packed[(p*s.Sources()+c)*l.width:][:l.width], l.x[(c*plane+p)*s.B+l.b0:], l.n)
			}
		}
	}
}

// take copies n values to dst and sets the rest to zero.
func take(dst, src []float32, n int) {
	copy(dst, src[:n])
	clear(dst[n:])
}

// at returns the pass over the chunk of an output, and the position.
func (l *lowRankPass) at(output int) (of lowRankPass, position int) {
	s := l.shape
	plane, size := s.OutH*s.OutW, roundUp(s.H*s.W*s.Sources()*l.width)
	of = *l
	of.chunk(output / plane)
	of.packed = l.packed[output/plane*size:][:size]
	return of, output % plane
}

// lowRankFeatures makes z as a whole, item by item some channels at a position of a chunk.
type lowRankFeatures lowRankPass

// Do computes the items lo <= item < hi.
func (t *lowRankFeatures) Do(lo, hi, worker int) {
	s := t.shape
	blocks := blocksOf(s.In, t.sideBySide(s))
	for item := lo; item < hi; item++ {
		l, position := (*lowRankPass)(t).at(item / blocks)
		c0, c1 := share(s.In, blocks, item%blocks)
		z, sums := l.ofOutput(position, c0)
		l.convolve(z, sums, c0, c1-c0, position, &l.locals[worker])
	}
}

// lowRankForward computes y, item by item a position of a chunk: a last layer has
// one position alone.
type lowRankForward lowRankPass

var _ tensor.Task = (*lowRankForward)(nil)

// Do computes the items lo <= item < hi.
func (t *lowRankForward) Do(lo, hi, worker int) {
	for item := lo; item < hi; item++ {
		l, position := (*lowRankPass)(t).at(item)
		l.forward(position, &l.locals[worker])
	}
}

func (l *lowRankPass) forward(position int, m *lowRankLocal) {
	s := l.shape
	across := s.NOut * l.width
	count := blocksOf(s.In, l.mixChannels(s))
	for part, at := 0, 0; part < count; part++ {
		c0, c1 := share(s.In, count, part)
		z, sums := m.z, m.s[c0*l.width:]
		if l.whole {
			z, _ = l.ofOutput(position, c0)
		} else {
			blocks := blocksOf(c1-c0, l.sideBySide(s))
			for i := range blocks {
				from, to := share(c1-c0, blocks, i)
				l.convolve(z[from*l.features*across:], sums[from*l.width:], c0+from, to-from, position, m)
			}
		}
		depth := (c1 - c0) * l.features
		if lowRankSplits(s) {
			asm.SplitRight(m.zSplit, z, across, depth, across)
			asm.GemmSplit(s.Out, across, depth, l.wSplit[at:], m.zSplit, m.y, l.ldy, part > 0)
			at += l.splitPart(s, count, part, false)
			continue
		}
		gemmNN(s.Out, across, depth, l.w[c0*l.features:], l.ldw, z, across, m.y, l.ldy, part > 0)
	}
	copy(m.common, l.bias)
	sums := m.s
	if l.whole {
		_, sums = l.ofOutput(position, 0)
	}
	gemmNN(s.Out, l.width, s.In, l.b, s.In, sums, l.width, m.common, l.width, true)
	plane := s.OutH * s.OutW
	for o := range s.Out {
		y := m.y[o*l.ldy:][:across]
		asm.ColAffine(y, y, l.ones[:l.width], m.common[o*l.width:][:l.width])
		for i := range s.NOut {
			copy(l.y[((o*s.NOut+i)*plane+position)*s.B+l.b0:][:l.n], y[i*l.width:])
		}
	}
}

// ofOutput returns what is made as a whole, from channel c on, of z and s at a position of the chunk.
func (l *lowRankPass) ofOutput(position, c int) (z, sums []float32) {
	s := l.shape
	at := ((l.b0/l.width*s.OutH*s.OutW+position)*s.In + c) * l.width
	return l.z[at*l.features*s.NOut:], l.factors.s[at:]
}

// meets returns the position of the input plane that a tap meets at a position of
// the output plane, negative if it leaves the plane.
func (l *lowRankPass) meets(o Offset, position int) int {
	s := l.shape
	row, col := position/s.OutW+o.Row, position%s.OutW+o.Col
	if row < 0 || row >= s.H || col < 0 || col >= s.W {
		return -1
	}
	return row*s.W + col
}

// gather copies what the taps meet of n channels from c on: xcol [(t,j), (c,b)], zero outside the
// plane.
func (l *lowRankPass) gather(xcol []float32, c, n, position int) {
	s := l.shape
	size := s.NIn * n * l.width
	for t, o := range s.Offsets {
		dst := xcol[t*size:][:size]
		if at := l.meets(o, position); at >= 0 {
			exchange(dst, l.packed[(at*s.In+c)*s.NIn*l.width:], n, s.NIn, l.width)
		} else {
			clear(dst)
		}
	}
}

// exchange copies src [m, n, width] to dst [n, m, width].
func exchange(dst, src []float32, m, n, width int) {
	switch {
	case m == 1 || n == 1:
		copy(dst[:m*n*width], src)
	case width == 1:
		asm.Transpose(dst, m, src, n, m, n)
	default:
		for i := range m {
			for j := range n {
				copy(dst[(j*m+i)*width:][:width], src[(i*n+j)*width:])
			}
		}
	}
}

// convolve makes z [(c,k), (i,b)] and s [c, b] of n channels from c on, side by side, at a position.
func (l *lowRankPass) convolve(z, sums []float32, c, n, position int, m *lowRankLocal) {
	l.gather(m.xcol, c, n, position)
	rows, columns, to := l.features*l.shape.NOut, n*l.width, z
	if n > 1 {
		to = m.beside
	}
	l.multiply(to, sums, m.xcol, columns, m)
	if n > 1 {
		exchange(z, to, rows, n, l.width)
	}
}

// multiply makes z [(k,i), (c,b)] and s [c, b] of so many columns of xcol.
func (l *lowRankPass) multiply(z, sums, xcol []float32, columns int, m *lowRankLocal) {
	s := l.shape
	deep, rows := len(s.Offsets)*s.NIn, l.features*s.NOut
	if l.slices {
		asm.SliceHalves(m.right, xcol, columns, deep, columns)
		asm.GemmSlices(rows, columns, halfOf(deep), [2][]float32{l.fSliced}, m.right, [2][]float32{z}, columns, false, [2][]float32{})
	} else {
		gemmNN(rows, columns, deep, l.f, deep, xcol, columns, z, columns, false)
	}
	gemmNN(1, columns, deep, l.ones, deep, xcol, columns, sums, columns, false)
}

// aligned returns n values at a multiple of 64 bytes.
func aligned(n int) []float32 {
	x := make([]float32, n+15)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(x)))/4) & 15
	return x[skip : skip+n : skip+n]
}
