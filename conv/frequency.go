package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// frequency is the frequency-domain algorithm of the CPU: whole planes are
// transformed, and for each frequency f one complex product per pass remains,
//
//	y^[(o,i), b]     = sum over (j,c) of  K^[(o,i),(j,c)]  x^[(j,c), b]
//	dx^[(j,c), b]    = sum over (o,i) of  K^[(o,i),(j,c)]* dy^[(o,i), b]
//	dK^[(o,i),(j,c)] = sum over b     of  x^[(j,c), b]     dy^[(o,i), b]*
//
// each in three real products rather than four (Gauss). With F frequencies those are
// 6 F operations for each pair of planes and image, where T taps take 2 T H W: a
// thirteenth of them for k = 7 on a plane of 14 x 14.
//
// The transforms (lattice.go, transform.go) are small matrix products, batch
// innermost. The spectrum of the kernel is never stored: it is made of the live
// taps, folded into even and odd slots, for some frequencies, rows and columns at a
// time (blockSizes), and multiplied there (product.go); that of its
// gradient is folded back into slots in the same way (slots.go). The spectra of
// the maps are made band by band of frequencies where they are large.
//
// Where the elements come in pairs half a turn apart, as those of an equivariant
// layer do, two real products suffice (paired.go).
//
// Kernels are kept as slots [(o,i), slot, (j,c)], rendered from features (rendering.go), or as spectra of
// features, where the kernel's is made of them (kernelspectra.go); spectra as [f, part, channel, batch], real
// part and imaginary part.
//
// Work is split over outputs only and every sum has one order, so the bits do
// not depend on the number of threads.
type frequency struct {
	features int
	lattice  *lattice
	cpu      *tensor.CPU
	folded   int // where folded features are in the prepared memory, or 0 for inference
	discs    discs
	keep     bool // the kernel's spectrum, from Prepare on
	biased   bool // the last Prepare had a bias
	keptMap  keptMap
	planes   mapPlanes // for the next pass

	// The tasks, kept so that a pass allocates nothing.
	folding        featureFolding
	rendering      rendering
	renderingGrad  renderingGrad
	spectra        kernelSpectra
	analysis       analysis
	synthesis      synthesis
	product        product
	paired         pairedProduct
	gradient       gradient
	pairedGradient pairedGradient
	turning        turning
	mapSlices      mapSlices
}

var _ featurePasses = (*frequency)(nil)

// inFrequency reports whether the algorithm can compute a shape.
func inFrequency(s *Shape) bool { return len(s.Offsets) > 1 && symmetric(s.Offsets) }

func newFrequency(s *Shape, features int) *frequency {
	return &frequency{features: features, lattice: newLattice(s)}
}

const (
	// bandValues bounds the spectra of the maps that are kept at a time, but for
	// those of one group.
	bandValues = 18 << 20
	// wholeValues bounds them where a pass does not go through shares of its results.
	wholeValues = 4 << 20
	// shareTargets and shareSources are how many rows (o,i), and columns (j,c) of both kinds, make a share:
	// those of a block of a product, and of a gradient.
	shareTargets, shareSources = 64, blockColumns
	// blockColumns bounds the columns (j,c), of both kinds, of a block of slots, and of the panels of x^.
	blockColumns = 128
	// skew keeps planes and rows from lying a multiple of 4 KiB apart.
	skew = 16
)

// blockSizes bounds a block of a kernel's spectrum, or of its gradient: the number of
// frequencies, of rows (o,i) and of columns (j,c) of a kind, and the numbers of rows and columns for
// dx^. Planes of a sliced block take at most three quarters of a second-level cache of 2 MB; fewer
// frequencies would mean more passages over the slots. Those of the gradient, which are read and
// written, exceed the cache: it has more frequencies and fewer rows at a time, unless there are
// few of these. Plain blocks may exceed it, since products of float32 read them slowly enough for
// what is fetched ahead; the more rows they have, the fewer passages over the maps there are, and the
// more columns, the fewer over the sums.
type blockSizes struct {
	planes int // of the kernel's spectrum for each frequency

	frequencies, rows, columns, adjointRows, adjointColumns int

	gradientFrequencies, gradientRows int

	unit int // that rows and columns are counted in
	slab int // steps that are sliced at a time, or 0

	groups int // that make the frequencies of a block, or 0 where it may have a part of one
}

var (
	plainBlocks  = blockSizes{planes: 2, frequencies: 14, rows: 64, columns: 128, adjointRows: 112, adjointColumns: 128, gradientFrequencies: 14, gradientRows: 64, unit: 1}
	pairedBlocks = blockSizes{planes: 4, frequencies: 14, rows: 64, columns: 128, adjointRows: 128, adjointColumns: 64, gradientFrequencies: 14, gradientRows: 64, unit: 1}
	// Blocks of whole groups, whose spectra take little time beside reading the slots, have more frequencies
	// and in exchange fewer columns. narrowGroupBlocks are those of layers that have no more columns, nor rows of a
	// gradient. No cache may decide: sums are taken block by block, and bits are the same on all machines of a level.
	groupBlocks        = blockSizes{planes: 2, frequencies: mostInGroup, rows: 64, columns: 64, adjointRows: 64, adjointColumns: 128, gradientRows: 64, unit: 1}
	narrowGroupBlocks  = blockSizes{planes: 2, frequencies: mostInGroup, rows: 64, columns: 96, adjointRows: 64, adjointColumns: 128, gradientRows: 96, unit: 1}
	pairedGroupBlocks  = blockSizes{planes: 4, frequencies: mostInGroup, rows: 64, columns: 64, adjointRows: 64, adjointColumns: 64, gradientRows: 64, unit: 1}
	slicedBlocks       = blockSizes{planes: 2, frequencies: 16, rows: 64, columns: 128, adjointRows: 64, adjointColumns: 128, gradientFrequencies: 48, gradientRows: 32, unit: splitTile, slab: 64}
	pairedSlicedBlocks = blockSizes{planes: 4, frequencies: 16, rows: 64, columns: 64, adjointRows: 64, adjointColumns: 64, gradientFrequencies: 48, gradientRows: 32, unit: splitTile, slab: 64}
	// narrowBlocks are those of sliced matrices that have no more rows and columns.
	narrowBlocks = blockSizes{planes: 2, frequencies: 16, rows: 96, columns: 96, adjointRows: 96, adjointColumns: 96, gradientFrequencies: 16, gradientRows: 96, unit: splitTile, slab: 96}
)

// blockSizesOf returns the sizes of blocks for a shape.
func (l *lattice) blockSizesOf(s *Shape) blockSizes {
	b := blocksOfProducts(s)
	switch {
	case b.slab > 0 || !l.byAxes():
		return b
	case asm.Active() == asm.AVX2:
		return l.wideGroups(b)
	case s.Paired:
		return l.wholeGroups(pairedGroupBlocks)
	case max(s.Sources(), s.Targets()) <= narrowGroupBlocks.columns:
		return l.wholeGroups(narrowGroupBlocks)
	}
	return l.wholeGroups(groupBlocks)
}

// gradientSizesOf returns the sizes of blocks of a kernel's gradient for a shape.
func (l *lattice) gradientSizesOf(s *Shape) blockSizes {
	if !slicesGradient(s) {
		return l.blockSizesOf(s)
	}
	b := blocksOfSlices(s)
	if b == narrowBlocks && l.byAxes() {
		b = l.wholeGroups(narrowGroupBlocks)
		b.unit = splitTile
	}
	return b
}

// blockSizesOfAny returns all sizes of blocks that a shape may have.
func (l *lattice) blockSizesOfAny() []blockSizes {
	all := []blockSizes{plainBlocks, pairedBlocks, slicedBlocks, pairedSlicedBlocks, narrowBlocks}
	if l.axes != nil {
		all = append(all, l.wholeGroups(groupBlocks), l.wholeGroups(narrowGroupBlocks), l.wholeGroups(pairedGroupBlocks), l.wideGroups(plainBlocks), l.wideGroups(pairedBlocks))
	}
	return all
}

// wholeGroups returns blocks of whole groups with no more frequencies than b has, or of one group.
func (l *lattice) wholeGroups(b blockSizes) blockSizes {
	b.groups = max(1, b.frequencies/l.periodW)
	b.frequencies = b.groups * l.periodW
	b.gradientFrequencies = b.frequencies
	return b
}

// wideFrequencies is how many frequencies blocks of whole groups have at level AVX2, but for those of one group.
const wideFrequencies = 20

// wideGroups returns blocks of whole groups with the rows and columns of b, at level AVX2: few frequencies, since the
// second-level cache may be a quarter of what it is with AVX-512, and fewer passages over the sums in exchange.
func (l *lattice) wideGroups(b blockSizes) blockSizes {
	b.frequencies = wideFrequencies
	return l.wholeGroups(b)
}

// blocksOfProducts returns the sizes of blocks that suit the products.
func blocksOfProducts(s *Shape) blockSizes {
	switch {
	case slicesProducts(s):
		return blocksOfSlices(s)
	case s.Paired:
		return pairedBlocks
	}
	return plainBlocks
}

// blocksOfSlices returns the sizes of blocks for products of sliced matrices.
func blocksOfSlices(s *Shape) blockSizes {
	switch {
	case s.Paired:
		return pairedSlicedBlocks
	case max(s.Sources(), s.Targets()) <= narrowBlocks.rows:
		return narrowBlocks
	}
	return slicedBlocks
}

// band is a range of groups whose spectra are in memory together.
type band struct {
	groups       []frequencies
	fy           int // of the first group
	first, count int // frequencies
	imaginary    int // the imaginary row of the first group
	rows         int // of the real transform along y: the real ones of all groups, then the imaginary ones
}

func (l *lattice) band(from, groups int) band {
	b := band{groups: l.groups[from:min(len(l.groups), from+groups)], fy: from}
	last := b.groups[len(b.groups)-1]
	b.first, b.imaginary = b.groups[0].first, b.groups[0].imaginary
	b.count = last.first + last.count - b.first
	b.rows = len(b.groups) + last.imaginary + last.rows - 1 - b.imaginary
	return b
}

// units returns how many units blocks of frequencies are made of, and how many a block has at most: frequencies, or
// groups.
func (b *band) units(size *blockSizes) (count, most int) {
	if size.groups > 0 {
		return len(b.groups), size.groups
	}
	return b.count, size.frequencies
}

// gradientUnits is units for blocks of a gradient.
func (b *band) gradientUnits(size *blockSizes) (count, most int) {
	if size.groups > 0 {
		return b.units(size)
	}
	return b.count, size.gradientFrequencies
}

// at returns the frequency, of the band's, that a unit begins with.
func (b *band) at(unit int, size *blockSizes) int {
	switch {
	case size.groups == 0:
		return unit
	case unit == len(b.groups):
		return b.count
	}
	return b.groups[unit].first - b.first
}

// nearest returns the unit that begins nearest to a frequency.
func (b *band) nearest(f int, size *blockSizes) (unit int) {
	count, _ := b.units(size)
	for unit < count && b.at(unit, size)+b.at(unit+1, size) <= 2*f {
		unit++
	}
	return unit
}

// between returns the frequencies of the band from one unit to another.
func (b *band) between(from, to int, size *blockSizes) span {
	first := b.at(from, size)
	return span{first, b.at(to, size) - first}
}

// frequencies returns block i of count blocks.
func (b *band) frequencies(count, i int, size *blockSizes) span {
	units, _ := b.units(size)
	from, to := share(units, count, i)
	return b.between(from, to, size)
}

// frequencyBlocks returns how many blocks the frequencies are cut into, beside so many others.
func (b *band) frequencyBlocks(size *blockSizes, others, workers int) int {
	units, most := b.units(size)
	return forWorkers(workers, blocksOf(units, most), units, others)
}

// planeSize returns the distance of the planes of a spectrum.
func planeSize(channels, batch int) int { return channels*batch + skew }

// blockSize returns the distance of the planes of a block of nm rows.
func blockSize(nm, ld int) int { return nm*ld + skew }

// columns returns the distance of rows of n values.
func columns(n int) int { return (n+15)&^15 + skew }

// schedule says how a pass goes through the spectra of its maps: in bands of groups of
// frequencies, and in each band through one share of its results after the other. One map,
// x in Forward and dy in Backward, is needed whole for each frequency, but of the others a
// share at a time. The less of those is in memory, the fewer are the bands, in each of which
// every plane is read and written once, and the nearer is a share when it is transformed.
type schedule struct {
	groups int // of a band
	shares int
	total  int // rows (o,i) or columns (j,c), of a kind
	count  int // of the largest share
	unit   int // that they are shared out in
	most   int // frequencies of a band
	per    int // values of all spectra for each of them
}

// perForward and perBackward return the values of all spectra for each frequency, with
// so many rows of y, or columns of x and dx, of a kind at a time.
func perForward(s *Shape, rows int) int {
	return 2*planeSize(s.Sources(), s.B) + 2*planeSize(kinds(elementsOf(s, s.NOut))*rows, s.B)
}

func perBackward(s *Shape, columns int) int {
	ofX := widestPanels(s, columns)
	return 2*planeSize(s.Targets(), s.B) + max(ofX.size(), 2*planeSize(ofX.kinds*columns, s.B))
}

func (p *frequency) forward(s *Shape) schedule {
	rows := s.Out * s.rendered()
	share := p.lattice.shareTargets
	if p.keep { // its blocks follow one another in whole bands
		share = rows
	}
	return p.lattice.schedule(s, rows, share, slicesProducts(s), perForward)
}

func (p *frequency) backward(s *Shape) schedule {
	kinds := kinds(elementsOf(s, s.NIn))
	return p.lattice.schedule(s, s.Sources()/kinds, max(1, p.lattice.shareSources/kinds), slicesGradient(s), perBackward)
}

// schedule shares out rows or columns of a kind, so many at a time, for products whose operands are sliced or not.
func (l *lattice) schedule(s *Shape, total, share int, sliced bool, per func(s *Shape, count int) int) schedule {
	c := schedule{groups: len(l.groups), shares: 1, total: total, count: total, unit: 1, most: l.count, per: per(s, total)}
	if c.most*c.per > min(l.budget, wholeValues) {
		c.shares = blocksOf(total, share)
		switch {
		case !sliced:
		case s.In%splitTile == 0 && total%splitTile == 0: // columns are whole chunks then, see kernelSpectra
			c.unit, c.shares = splitTile, min(c.shares, total/splitTile)
		case c.shares*splitTile/2 <= total:
			c.unit = splitTile / 2
		}
		c.count = blocksOf(blocksOf(total, c.unit), c.shares) * c.unit
		c.per = per(s, c.count)
	}
	if c.most*c.per > l.budget {
		c.groups = max(1, min(c.groups, l.budget/c.per/l.periodW))
		c.most = min(l.count, c.groups*l.periodW)
	}
	return c
}

// share returns share i.
func (c *schedule) share(i int) span { return shareSpan(c.total, c.shares, i, c.unit) }

// span is a range of rows (o,i), or of columns (j,c), of a kind.
type span struct{ first, count int }

// Pairs returns true: two real products do for elements in pairs.
func (p *frequency) Pairs() bool { return true }

// Sizes returns the sizes of the slots, with the bias, and of the scratch
// memory, enough for any element counts up to those of s, paired or not.
func (p *frequency) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	slots, dslots, spectra, kept := 0, 0, 0, 0
	for n := range s.NIn * s.NOut {
		live := *s
		live.NIn, live.NOut = n/s.NOut+1, n%s.NOut+1
		for _, live.Paired = range []bool{false, true} {
			if live.Paired && (live.NIn%2 == 1 || live.NOut%2 == 1) {
				continue
			}
			forward, backward := p.forward(&live), p.backward(&live)
			slots, spectra = max(slots, slotsSize(&live)), max(spectra, forward.most*forward.per)
			if !inference {
				spectra = max(spectra, backward.most*backward.per, renderingGradParts(s)*foldedSize(&live, p.features))
				dslots = max(dslots, p.lattice.gradientParts(&live)*slotsSize(&live))
			}
			if p.keep {
				kept = max(kept, p.keptSize(&live))
			}
		}
	}
	prepared = keptAt(slots, s) + kept
	p.keptMap, p.folded = keptMap{}, 0
	if inference {
		return prepared, max(spectra+4*skew, foldedSize(s, p.features))
	}
	p.folded = roundUp(prepared)
	p.keptMap = p.lattice.keepMap(s, p.folded+foldedSize(s, p.features))
	return p.folded + foldedSize(s, p.features) + p.keptMap.size, spectra + 4*skew + dslots
}

// keptAt returns where a kept spectrum begins, behind slots and bias.
func keptAt(slots int, s *Shape) int { return roundUp(slots + s.Out) }

// KeepSpectra has Prepare make the spectrum of the kernel, for Forward alone: a call
// before Sizes.
func (p *frequency) KeepSpectra() { p.keep = true }

// Bind names the CPU and the largest shape.
func (p *frequency) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu = cpu
	p.discs = discs{even: make([]int, s.NOut), runs: make([]span, 0, s.NOut)}
	l := p.lattice
	return cpu.ReserveWorkspace(max(p.renderingLocal(s), l.kernelSpectraLocal(s), l.analysisLocal(s), l.productLocal(s), l.synthesisLocal(s), l.gradientLocal(s)))
}

// Scales returns true: scaled features do for a scaled kernel.
func (p *frequency) Scales() bool { return true }

// Prepare renders slots, and makes the spectrum that is to be kept.
func (p *frequency) Prepare(prepared tensor.Buffer, k kernelFactors, bias, scratch tensor.Buffer, s *Shape) {
	size := slotsSize(s)
	p.keptMap.valid = false
	folded := scratch.Host()
	if p.folded > 0 {
		folded = prepared.Host()[p.folded:]
	}
	p.discs.measure(p.lattice, k, s)
	p.render(prepared.Host()[:size], k, folded[:foldedSize(s, p.features)], s)
	p.biased = !bias.IsZero()
	if p.biased {
		copy(prepared.Host()[size:size+s.Out], bias.Host())
	}
	if p.keep {
		p.fill(prepared.Host()[keptAt(size, s):], prepared.Host()[:size], s)
	}
}

// Forward computes y.
func (p *frequency) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	l := p.lattice
	size := slotsSize(s)
	slots := prepared.Host()[:size]
	var bias, kept []float32
	if p.biased {
		bias = prepared.Host()[size : size+s.Out]
	}
	if p.keep {
		kept = prepared.Host()[keptAt(size, s):]
	}
	c := p.forward(s)
	memory := pieces{scratch.Host()}
	from := memory.cut(c.most * 2 * planeSize(s.Sources(), s.B))
	to := memory.cut(c.most * (c.per - 2*planeSize(s.Sources(), s.B)))
	spare := from // where the spectrum is not made there
	p.keptMap.valid = p.keptMap.size > 0
	for g := 0; g < len(l.groups); g += c.groups {
		b := l.band(g, c.groups)
		var slices []float32
		if p.keptMap.valid {
			if l.slicesMap(s) {
				slices = spare
			}
			from = p.keptMap.of(prepared, b, s)
		}
		p.analyse(b, &l.in, planeSource{x.Host(), p.planes.x}, from, sourceOrder(s), s.Sources(), s.NIn, s)
		if slices != nil {
			p.mapSlices = mapSlices{shape: s, lattice: l, from: from, to: slices}
			p.cpu.Team().For(b.count, 1, &p.mapSlices)
		}
		for i := range c.shares {
			f := productArgs{slots: slots, spectra: p.spectraIn(slots, s), bias: bias, from: from, slices: slices, to: to, targets: c.share(i)}
			kept = f.kept.cut(kept, l, b, s)
			p.multiply(b, s, f)
			whole := planeSink{values: y.Host(), accumulate: g > 0}
			if g+c.groups >= len(l.groups) { // the last band
				whole.written = p.planes.written
			}
			p.synthesise(b, &l.out, to, whole, targetOrder(s), f.targets, s.NOut, s)
		}
	}
	p.release()
}

// Backward computes the gradients of the features, of weights and offsets, of the bias and of x.
func (p *frequency) Backward(d, k kernelFactors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	l := p.lattice
	size := slotsSize(s)
	slots := prepared.Host()[:size]
	c := p.backward(s)
	memory := pieces{scratch.Host()}
	dslots := memory.cut(l.gradientParts(s) * size)
	spare := memory.rest
	from := memory.cut(c.most * 2 * planeSize(s.Targets(), s.B))
	ofShare := memory.cut(c.most * (c.per - 2*planeSize(s.Targets(), s.B))) // x^ and then dx^
	for g := 0; g < len(l.groups); g += c.groups {
		b := l.band(g, c.groups)
		p.analyse(b, &l.grad, planeSource{dy.Host(), p.planes.dy}, from, targetOrder(s), s.Targets(), s.NOut, s)
		if g == 0 && !dbias.IsZero() {
			addConstants(dbias.Host(), from, s)
		}
		var kept []float32
		if p.keptMap.valid {
			kept = p.keptMap.of(prepared, b, s)
		}
		for i := range c.shares {
			share := c.share(i)
			p.reduce(b, planeSource{x.Host(), p.planes.x}, kept, from, ofShare, dslots, share, s, g > 0)
			if !dx.IsZero() {
				p.multiply(b, s, productArgs{slots: slots, spectra: p.spectraIn(slots, s), from: from, to: ofShare, targets: share, adjoint: true})
				p.synthesise(b, &l.back, ofShare, planeSink{values: dx.Host(), accumulate: accumulate || g > 0}, sourceOrder(s), share, s.NIn, s)
			}
		}
	}
	p.renderBackward(d, k, dslots, prepared.Host()[p.folded:][:foldedSize(s, p.features)], spare, s)
	p.release()
}

// render makes slots, or what the kernel's spectrum is made of in their place, by way of folded features.
func (p *frequency) render(slots []float32, k kernelFactors, folded []float32, s *Shape) {
	p.folding = p.foldingOf(k, folded, s)
	p.folding.run()
	if p.spectraOfFeatures(s) {
		p.spectra = kernelSpectra{shape: s, cpu: p.cpu, features: p.features, lattice: p.lattice, folded: folded, w: k.W.Host(), b: k.B.Host(), values: slots}
		p.spectra.run()
		return
	}
	p.rendering = rendering{shape: s, cpu: p.cpu, features: p.features, folded: folded, w: k.W.Host(), b: k.B.Host(), slots: slots, discs: p.discs}
	p.rendering.run()
}

// spectraIn returns what makes the kernel's spectrum of what render wrote, or nil where that is slots.
func (p *frequency) spectraIn(slots []float32, s *Shape) *kernelSpectra {
	if !p.spectraOfFeatures(s) {
		return nil
	}
	p.spectra = kernelSpectra{shape: s, lattice: p.lattice, values: slots}
	return &p.spectra
}

// renderBackward takes the gradient of slots to those of the features, of weights and offsets, and of the
// scale.
func (p *frequency) renderBackward(d, k kernelFactors, dslots, folded, dfolded []float32, s *Shape) {
	p.renderingGrad = renderingGrad{
		shape: s, cpu: p.cpu, features: p.features, slots: dslots, folded: folded, w: k.W.Host(), b: k.B.Host(), discs: p.discs,
		dfolded: dfolded, offsets: !d.Scale.IsZero(), dw: d.W.Host(), db: d.B.Host(),
	}
	p.renderingGrad.run()
	p.folding = p.foldingOf(k, dfolded, s)
	p.folding.parts, p.folding.df = renderingGradParts(s), d.F.Host()
	if !d.Scale.IsZero() {
		p.folding.dscale = d.Scale.Host()
	}
	p.folding.run()
}

// foldingOf returns the task between features and folded ones.
func (p *frequency) foldingOf(k kernelFactors, folded []float32, s *Shape) featureFolding {
	f := featureFolding{shape: s, cpu: p.cpu, features: p.features, slotWaves: &p.lattice.slotWaves, f: k.F.Host(), folded: folded}
	if !k.Scale.IsZero() {
		f.scale = k.Scale.Host()
	}
	return f
}

// renderingLocal returns the size of a worker's memory on the way between features and slots.
func (p *frequency) renderingLocal(s *Shape) int {
	return max(featureFoldingLocal(s, p.features), renderingLocal(s, p.features))
}

// addConstants adds the sums over the planes of dy to the gradient of the bias: they are the spectrum,
// whose first frequency is zero, there. Of paired elements it has the sums first.
func addConstants(dbias, spectrum []float32, s *Shape) {
	n := s.rendered() * s.B
	for o := range s.Out {
		dbias[o] += asm.Sum(spectrum[o*n : (o+1)*n])
	}
}

// reduce adds what a band contributes to the gradient of the slots, for a share of the columns. kept
// is the band of the spectrum of x that Forward made, or nil.
func (p *frequency) reduce(b band, x planeSource, kept, dy, spectrum, dslots []float32, share span, s *Shape, accumulate bool) {
	l := p.lattice
	ofX := panelsOf(s, share.count)
	turns := kept != nil && l.gradientParts(s) > 1 && !ofX.sliced // what was just sliced would be slow to load
	if kept != nil {
		p.turning = turning{shape: s, panels: ofX, column: share.first, from: kept, to: spectrum}
		if !turns {
			p.cpu.Team().For(b.count, 1, &p.turning)
		}
	} else {
		p.analysis = analysis{lattice: l, transform: &l.in, band: b, cpu: p.cpu,
			planes: x, order: sourceOrder(s), start: share.first, channels: ofX.kinds * share.count, elements: elementsOf(s, s.NIn), batch: s.B,
			spectrum: spectrum, turned: true, panels: ofX}
		p.analysis.run()
	}
	if s.Paired {
		p.pairedGradient = pairedGradient{lattice: l, discs: p.discs, shape: s, band: b, cpu: p.cpu, dy: dy, x: spectrum, dslots: dslots, panels: ofX, column: share.first, accumulate: accumulate}
		p.pairedGradient.run()
		return
	}
	p.gradient = gradient{lattice: l, discs: p.discs, shape: s, band: b, cpu: p.cpu, dy: dy, x: spectrum, dslots: dslots, panels: ofX, column: share.first, accumulate: accumulate}
	if turns {
		p.gradient.turning = &p.turning
	}
	p.gradient.run()
}

// multiply multiplies the spectra of a band with that of the kernel.
func (p *frequency) multiply(b band, s *Shape, f productArgs) {
	all := bandProducts{lattice: p.lattice, discs: p.discs, shape: s, band: b, cpu: p.cpu, productArgs: f}
	if s.Paired {
		p.paired = pairedProduct{all}
		p.paired.run()
		return
	}
	p.product = product{all}
	p.product.run()
}

// analyse transforms the planes of a map to their spectra.
func (p *frequency) analyse(b band, t *transform, planes planeSource, spectrum []float32, order planeOrder, channels, elements int, s *Shape) {
	p.analysis = analysis{lattice: p.lattice, transform: t, band: b, cpu: p.cpu,
		planes: planes, order: order, channels: channels, elements: elementsOf(s, elements), batch: s.B, spectrum: spectrum}
	p.analysis.run()
}

// synthesise adds what a band contributes to a share of the planes of a map, or writes it.
func (p *frequency) synthesise(b band, v *inverse, spectrum []float32, planes planeSink, order planeOrder, of span, elements int, s *Shape) {
	elements = elementsOf(s, elements)
	p.synthesis = synthesis{lattice: p.lattice, inverse: v, band: b, cpu: p.cpu,
		spectrum: spectrum, order: order, start: of.first, channels: kinds(elements) * of.count, elements: elements, batch: s.B, planes: planes}
	p.synthesis.run()
}

// release lets go of the maps of the last pass.
func (p *frequency) release() {
	p.folding, p.rendering, p.renderingGrad, p.spectra = featureFolding{}, rendering{}, renderingGrad{}, kernelSpectra{}
	p.analysis, p.synthesis = analysis{}, synthesis{}
	p.product, p.paired, p.gradient, p.pairedGradient = product{}, pairedProduct{}, gradient{}, pairedGradient{}
	p.turning, p.mapSlices = turning{}, mapSlices{}
	p.planes = mapPlanes{}
}

// pieces is memory that buffers are cut off, each at a multiple of 64 bytes.
type pieces struct{ rest []float32 }

func (p *pieces) cut(n int) []float32 {
	piece := p.rest[:n:n]
	p.rest = p.rest[min(len(p.rest), (n+15)&^15):]
	return piece
}

// share returns block number i of n items cut into count blocks of nearly equal
// size.
func share(n, count, i int) (from, to int) { return i * n / count, (i + 1) * n / count }

// shareWhole is share in whole units, but for the last.
func shareWhole(n, count, i, unit int) (from, to int) {
	from, to = share(blocksOf(n, unit), count, i)
	return from * unit, min(n, to*unit)
}

// shareSpan is shareWhole for rows or columns.
func shareSpan(n, count, i, unit int) span {
	from, to := shareWhole(n, count, i, unit)
	return span{from, to - from}
}

// forWorkers returns how many blocks something is cut into: at least so many, and more, but
// not above most, where with others of something else they would be fewer than workers.
func forWorkers(workers, least, most, others int) int {
	return max(least, min(most, blocksOf(workers, others)))
}

// gemmNN multiplies like asm.GemmStripNN any number of rows.
func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	for s := range asm.RowStrips(m) {
		from, to := asm.RowStrip(s, m)
		asm.GemmStripNN(to-from, n, k, a[from*lda:], lda, b, ldb, c[from*ldc:], ldc, accumulate)
	}
}

// gemmPanels is gemmNN with B in panels.
func gemmPanels(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, accumulate bool) {
	for s := range asm.RowStrips(m) {
		from, to := asm.RowStrip(s, m)
		asm.GemmPanelsNN(to-from, n, k, a[from*lda:], lda, b, distance, c[from*ldc:], ldc, accumulate)
	}
}

// gemmTN is gemmNN with A stored k-major.
func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	for s := range asm.RowStrips(m) {
		from, to := asm.RowStrip(s, m)
		asm.GemmStripTN(to-from, n, k, a[from:], lda, b, ldb, c[from*ldc:], ldc, accumulate)
	}
}
