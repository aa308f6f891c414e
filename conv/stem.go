package conv

import (
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// stem computes a lifting convolution together with the batch normalisation, pooling and
// ReLU that follow it, tile by tile, so that the largest map of a network is never stored.
//
// That takes mean and variance before the convolution. With p_a what tap and channel a
// meet at a position of an image, less a pivot of the channel, and k_m the kernel of target m = (o,i),
//
//	z_m = sum over a of k_ma p_a,   mean(z_m) = k_m mean(p),   var(z_m) = k_m Cov(p) k_m
//
// and y is z and a constant, which the normalisation takes away again. Backward, with d for what
// of the gradient passes ReLU and pooling, h = (y - mean)*invstd, and means over the
// channel's n values,
//
//	dz = scale (d - mean(d) - h mean(d h)),   dk_ma = sum over positions of dz_m (p_a + pivot)
//
// where the sums of d p_a are products, those of p_a are known, and those of h p_a are Cov(p) k_m, so
// that dz is never made either. Sums over channels are in float64.
type stem struct {
	norm *nn.BatchNorm
	tapPanels
	p       *taps
	shape   *Shape
	phase   stemPhase
	train   bool
	trained bool // the last pass had train

	kernel []float32 // as Forward of taps has it: [m, (t,s)]
	lda    int

	// Products take taps by distance from the middle, q, since a window leaves the first ones.
	order   []int     // the tap at place q
	place   []int     // of a tap
	window  *window   // of the kernel, or nil
	live    []int     // how many taps each element has
	ordered []float32 // the kernel as [i, o, (q,s)]
	rows    []int     // offsets of what the taps meet at a position, (q,s)

	y, dy   []float32 // of the result
	sums    []float32 // [parts, m, 1 and (q,s)]: of d, and of d p_a
	dkernel []float32
	tile    stemTile
	parts   int

	// Of what the taps meet, p.
	pivot   []float64   // [source]
	sample  []float32   // of a channel
	before  []float64   // [source][1 and position with border]: sums over the batch, then over all positions before
	moments [][]float64 // [part][(s,t), (s,t)]
	mean    []float64   // [(s,t)]
	cov     []float64   // [(s,t), (s,t)]

	// Of the targets m, in the last Forward.
	maps    []asm.NormMap // what the normalisation does to z
	shift   []float64     // by how much y exceeds z, the bias apart
	image   []float64     // [m, (s,t)]: Cov(p) k_m
	rowMean []float64     // of z
	rowVar  []float64

	channelMean, invStd []float64 // [o], the mean of y without the bias

	totals []float64   // [m, 1 and (q,s)]: of the sums
	local  [][]float64 // of each worker: a target's kernel
}

type stemPhase uint8

const (
	stemSums stemPhase = iota
	stemMoments
	stemStatistics
	stemForward
	stemProducts
	stemGradient
)

// stemTile is a piece of the plane that the taps are packed for at a time.
type stemTile struct {
	side   int // rows of it, 2 with pooling
	span   int // positions of a row
	lines  int // tiles below each other
	blocks int // tiles side by side
	ld     int // distance of what a strip of targets has of it
}

// stemTerms is how many positions, batch included, a tile has at most if a window has not more: a strip of
// targets then fits the first-level cache.
const stemTerms = 512

// momentTerms is how many products are summed up in float32 at most, if a batch has not more, before they are added
// in float64. Where images have few values sums grow by the same again and again, and are rounded the same way.
const momentTerms = 192

// stemSample is of how many values at most a channel's pivot is the median.
const stemSample = 512

// newStemTile returns the tiles of a shape, in whole windows of pooling.
func newStemTile(s *Shape, pool bool) stemTile {
	t := stemTile{side: 1}
	if pool {
		t.side = 2
	}
	windows := s.OutW / t.side
	t.lines, t.blocks = s.OutH/t.side, blocksOf(windows, max(1, stemTerms/(t.side*t.side*s.B)))
	t.span = blocksOf(windows, t.blocks) * t.side
	t.blocks = blocksOf(windows*t.side, t.span)
	// Rows a power of two apart would share a few lines of the cache.
	t.ld = roundUp(t.side*t.span*s.B) + vector
	return t
}

// thickStem is how many targets there have to be for each column: the moments take as many products as so many
// targets' convolution, and maps of few targets are in the cache when they are normalised.
const thickStem = 4

// takesStem reports whether a normalisation behind the layer can be computed with it, and should be.
func (l *layer) takesStem(p *nn.Plan) bool {
	s, n := &l.shape, l.behind
	_, cpu := p.Device.(*tensor.CPU)
	columns := s.Sources() * len(s.Offsets)
	switch {
	case n == nil || l.inputGrad || l.outEl.Weighted || s.PerElement:
		return false
	case p.Device != nil && !cpu || l.cfg.Algorithm != Auto && l.cfg.Algorithm != Taps:
		return false
	case s.B < thinBatch || s.Sources() >= thinSources || columns >= depth || s.Targets() < thickStem*columns:
		return false
	case s.OutH*s.OutW == 1 || n.Pool && min(s.OutH, s.OutW) < 2:
		return false
	}
	var f frame
	f.forward(s, s)
	return f.form == bordered
}

// newStem returns the stem of a layer that takes it.
func newStem(p *taps, n *nn.BatchNorm, s *Shape) *stem {
	columns := s.Sources() * len(s.Offsets)
	t := &stem{norm: n, p: p, tile: newStemTile(s, n.Pool)}
	floats := func(n int) []float64 { return make([]float64, n) }
	for range thinParts {
		t.moments = append(t.moments, floats(columns*columns))
	}
	t.pivot, t.mean, t.cov = floats(s.Sources()), floats(columns), floats(columns*columns)
	t.maps = make([]asm.NormMap, s.Targets())
	t.rowMean, t.rowVar, t.shift = floats(s.Targets()), floats(s.Targets()), floats(s.Targets())
	t.image, t.totals = floats(s.Targets()*columns), floats(s.Targets()*(columns+1))
	t.channelMean, t.invStd = floats(s.Out), floats(s.Out)
	t.sample = make([]float32, 0, stemSample)
	t.frame.forward(s, s)
	t.before = floats(s.Sources() * (1 + t.positionsWithBorder()))
	t.rows, t.runs = make([]int, columns), make([]line, 0, len(s.Offsets))
	t.ordered, t.live = make([]float32, s.Targets()*columns), make([]int, s.NOut)
	t.order, t.place = make([]int, len(s.Offsets)), make([]int, len(s.Offsets))
	for tap := range t.order {
		t.order[tap] = tap
	}
	distance := func(tap int) int {
		o := s.Offsets[tap]
		return o.Row*o.Row + o.Col*o.Col
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return distance(a) - distance(b) })
	for q, tap := range t.order {
		t.place[tap] = q
	}
	return t
}

// out returns height and width of the result.
func (t *stem) out(s *Shape) (h, w int) { return s.OutH / t.tile.side, s.OutW / t.tile.side }

// bind reserves the memory of the workers. The error says which parameter of the normalisation has none.
func (t *stem) bind(s *Shape) error {
	if p := nn.Unbound(t.norm.Parameters()); p != nil {
		return fmt.Errorf("the parameter %q is not bound to a device; call Parameters.Bind first", p.Name)
	}
	t.local = t.local[:0]
	for range t.p.team.Size() {
		t.local = append(t.local, make([]float64, len(t.mean)))
	}
	return t.p.cpu.ReserveWorkspace(t.stripSize() + t.sourceSize() + t.panelSize(max(t.tile.side*t.tile.span*s.B, depth)))
}

// stripSize returns the size of a strip of targets, or of the moments of a block.
func (t *stem) stripSize() int {
	mr, _ := asm.GemmTile()
	return roundUp(max(mr*t.tile.ld, len(t.mean)*len(t.mean)))
}

// sourceSize returns the size of ones, and what the taps meet, in a tile.
func (t *stem) sourceSize() int { return t.tile.ld * (len(t.mean) + 1) }

// panelSize returns the size of the same transposed, for so many terms.
func (t *stem) panelSize(terms int) int {
	_, nr := asm.GemmTile()
	return blocksOf(len(t.mean)+1, nr) * nr * terms
}

// work cuts a worker's memory.
func (t *stem) work(worker int) stemWork {
	local, strip, source := t.p.cpu.Workspace(worker), t.stripSize(), t.sourceSize()
	return stemWork{strip: local[:strip], source: local[strip:][:source], panels: local[strip+source:], kernel: t.local[worker]}
}

// stemWork is the memory of a worker.
type stemWork struct {
	strip  []float32 // of targets: z or d
	source []float32 // [1 and (q,s), line, n]: ones, and what the taps meet
	panels []float32 // the same transposed
	kernel []float64 // a target's
}

// median returns that of a sample of x: the background, if images have one, which adds nothing to moments then,
// or else a value so near the mean that moments, and their rounding errors, are small.
func (t *stem) median(x []float32) float32 {
	t.sample = t.sample[:0]
	for i := 0; i < len(x); i += blocksOf(len(x), stemSample) | 1 { // odd, to meet all of a batch of 2^n images
		t.sample = append(t.sample, x[i])
	}
	slices.Sort(t.sample)
	return t.sample[len(t.sample)/2]
}

// source copies the images into a border, with train less their pivots.
func (t *stem) source(x, scratch tensor.Buffer, s *Shape) {
	t.shape = s
	t.frame.forward(s, &t.p.max)
	t.view.source(t.p, x.Host(), scratch.Host(), s.Sources(), s.B)
	for c := range t.sources {
		pivot := float32(0)
		if t.train {
			pivot = t.median(x.Host()[c*s.H*s.W*s.B:][:s.H*s.W*s.B])
		}
		t.pivot[c] = float64(pivot)
		plane := t.src[c*t.plane:][:t.plane]
		asm.Affine(plane, plane, 1, -pivot)
	}
	t.runs = t.lines(t.runs)
	for a := range t.rows {
		q, c := a/t.sources, a%t.sources
		t.rows[a] = t.at(t.order[q], 0, 0) + c*t.plane
	}
}

// arrange orders the kernel, and counts the taps that each element has.
func (t *stem) arrange() {
	s := t.shape
	taps, columns := len(s.Offsets), len(t.mean)
	for i := range s.NOut {
		t.live[i] = taps // where a window is zero there is no gradient either
		for t.window != nil && t.live[i] > 0 && t.window.host[i*taps+t.order[t.live[i]-1]] == 0 {
			t.live[i]--
		}
		for o := range s.Out {
			from, to := t.kernel[(o*s.NOut+i)*t.lda:], t.ordered[(i*s.Out+o)*columns:]
			for q, tap := range t.order {
				copy(to[q*t.sources:][:t.sources], from[tap*t.sources:])
			}
		}
	}
}

// Forward computes the result of x, and with train the statistics that it takes.
func (t *stem) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape, train bool) {
	n, team := t.norm, t.p.team
	t.train, t.trained = train, train
	t.source(x, scratch, s)
	t.kernel, t.lda = prepared.Host(), lead(len(t.mean)+1)
	if train {
		t.prepareMoments()
		t.run(stemSums, t.sources*t.positionsWithBorder(), 64)
		t.run(stemMoments, t.parts, 1)
		t.joinMoments()
	}
	t.run(stemStatistics, s.Out, 1)
	if train {
		n.Batches.Value.Host()[0]++
	}
	t.arrange()
	t.y = y.Host()
	items := t.tile.lines * t.tile.blocks
	t.run(stemForward, items, max(1, items/(8*team.Size())))
	t.forget()
}

// Backward writes the gradient of the kernel, given that of the result, y, and adds to those of the
// normalisation's weight and bias. The convolution's bias has none, since a constant has no effect.
func (t *stem) Backward(dkernel, dy, y, x, prepared, scratch tensor.Buffer, s *Shape) {
	if !t.trained {
		refuse("Backward", "no Forward(true) before it")
	}
	size := thinParts * thinSums(s)
	t.source(x, scratch.Slice(size, scratch.Len()), s)
	t.kernel, t.lda = prepared.Host(), lead(len(t.mean)+1)
	t.sums, t.dkernel, t.dy, t.y = scratch.Host()[:size], dkernel.Host(), dy.Host(), y.Host()
	t.parts = min(thinParts, t.tile.lines*t.tile.blocks)
	t.run(stemProducts, t.parts, 1)
	t.run(stemGradient, s.Out, 1)
	t.forget()
}

func (t *stem) run(phase stemPhase, items, chunk int) {
	t.phase = phase
	t.p.team.For(items, chunk, t)
}

// forget lets go of the maps.
func (t *stem) forget() {
	t.shape, t.src, t.kernel, t.y, t.dy, t.sums, t.dkernel = nil, nil, nil, nil, nil, nil, nil
}

var _ tensor.Task = (*stem)(nil)

// Do computes parts of a sum, channels or tiles, as the phase says.
func (t *stem) Do(lo, hi, worker int) {
	w := t.work(worker)
	for i := lo; i < hi; i++ {
		switch t.phase {
		case stemSums:
			t.sumBatch(i)
		case stemMoments:
			t.addMoments(i, w.strip, w.panels)
		case stemStatistics:
			t.statistics(i, w.kernel)
		case stemForward:
			t.forward(i, &w)
		case stemProducts:
			t.products(i, &w)
		case stemGradient:
			t.gradient(i, w.kernel)
		}
	}
}

// prepareMoments sets what the positions are summed in: blocks of a row, of momentTerms values.
func (t *stem) prepareMoments() {
	span := min(max(1, momentTerms/t.batch), t.outW)
	t.deep = span * t.batch
	t.parts = min(thinParts, t.outH)
}

// positionsWithBorder returns how many positions the taps meet in a source.
func (t *stem) positionsWithBorder() int { return t.padH*t.padW + t.left }

// sumBatch sums up what the batch has at position number i of all sources.
func (t *stem) sumBatch(i int) {
	n := t.positionsWithBorder()
	c, position := i/n, i%n
	t.before[c*(n+1)+position+1], _ = asm.Moments(t.src[c*t.plane+position*t.batch:][:t.batch], 0)
}

// addMoments sums up products of what taps meet over a part of the rows.
func (t *stem) addMoments(part int, sums, panels []float32) {
	columns := len(t.mean)
	sums = sums[:columns*columns]
	total := t.moments[part]
	clear(total)
	mr, nr := asm.GemmTile()
	t.clearLast(panels, columns)
	first, last := share(t.outH, t.parts, part)
	for row := first; row < last; row++ {
		for col := 0; col < t.outW; col += t.deep / t.batch {
			terms := min(t.deep, (t.outW-col)*t.batch)
			t.pack(panels, row, col, 0, terms)
			for c := range t.sources {
				for _, l := range t.runs {
					for i := 0; i < l.n; i += mr {
						a := t.src[c*t.plane+t.at(l.t+i, row, col):]
						to := sums[(c*len(t.offsets)+l.t+i)*columns:]
						for q := 0; q < columns; q += nr {
							asm.GemmNN(min(mr, l.n-i), min(nr, columns-q), terms, a, t.batch, panels[q*t.deep:], nr, to[q:], columns, false)
						}
					}
				}
			}
			for i, v := range sums {
				total[i] += float64(v)
			}
		}
	}
}

// joinMoments adds up the parts, and makes mean and covariance.
func (t *stem) joinMoments() {
	columns := len(t.mean)
	total := t.moments[0]
	for _, part := range t.moments[1:t.parts] {
		for i, v := range part {
			total[i] += v
		}
	}
	n := t.positions()
	for c := range t.sources {
		t.means(t.mean[c*len(t.offsets):], c, n)
	}
	for a, ma := range t.mean {
		for b, mb := range t.mean {
			t.cov[a*columns+b] = total[a*columns+b]/n - float64(ma*mb)
		}
	}
}

// means writes what the taps meet of source c in the mean over n values.
func (t *stem) means(mean []float64, c int, n float64) {
	size := t.positionsWithBorder() + 1
	before := t.before[c*size:][:size]
	for i := range before[1:] {
		before[i+1] += before[i]
	}
	for tap := range t.offsets {
		sum := 0.0
		for row := range t.outH {
			from := t.at(tap, row, 0) / t.batch
			sum += before[from+t.outW] - before[from]
		}
		mean[tap] = sum / n
	}
}

// positions returns the number of values of a target.
func (t *stem) positions() float64 { return float64(t.outH * t.outW * t.batch) }

// row writes the kernel of target m, in the order (s,t), to k, and returns by how much y exceeds z, the
// bias apart.
func (t *stem) row(k []float64, m int) (shift float64) {
	for c := range t.sources {
		sum := 0.0
		for tap := range t.offsets {
			v := float64(t.kernel[m*t.lda+tap*t.sources+c])
			k[c*len(t.offsets)+tap] = v
			sum += v
		}
		shift += float64(sum * t.pivot[c])
	}
	return shift
}

// statistics makes what happens to the values of channel o, from the statistics of the pass or, without
// train, from the running ones.
func (t *stem) statistics(o int, k []float64) {
	n, of := t.norm, t.shape.NOut
	columns := len(t.mean)
	bias := 0.0
	if t.p.biased {
		bias = float64(t.kernel[o*of*t.lda+columns])
	}
	for m := o * of; m < (o+1)*of; m++ {
		t.shift[m] = t.row(k, m)
		if t.train {
			t.rowMean[m], t.rowVar[m] = t.project(k, m)
		}
	}
	mean := float64(n.RunningMean.Value.Host()[o]) - bias
	variance := float64(n.RunningVar.Value.Host()[o])
	if t.train {
		mean, variance = t.ofChannel(o)
		t.update(o, mean+bias, variance)
	}
	t.channelMean[o], t.invStd[o] = mean, 1/math.Sqrt(variance+float64(n.Eps))
	floor := float32(math.Inf(-1))
	if n.ReLU {
		floor = 0
	}
	scale := t.invStd[o] * float64(n.Weight.Value.Host()[o])
	for m := o * of; m < (o+1)*of; m++ {
		t.maps[m] = asm.NormMap{Mean: float32(mean - t.shift[m]), Scale: float32(scale), Shift: n.Bias.Value.Host()[o], Floor: floor}
	}
}

// project returns mean and variance of z_m for the kernel k, and keeps Cov(p) k.
func (t *stem) project(k []float64, m int) (mean, variance float64) {
	columns := len(k)
	image := t.image[m*columns:][:columns]
	for a := range image {
		image[a] = dot(t.cov[a*columns:][:columns], k)
	}
	return dot(t.mean, k), dot(image, k)
}

// dot returns the scalar product of a and as many values of b.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64 // four sums, since one would wait for each addition
	b = b[:len(a)]
	for len(a) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += float64(v * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// ofChannel joins mean and variance of the targets of a channel.
func (t *stem) ofChannel(o int) (mean, variance float64) {
	of := t.shape.NOut
	for m := o * of; m < (o+1)*of; m++ {
		mean += t.rowMean[m] + t.shift[m]
	}
	mean /= float64(of)
	for m := o * of; m < (o+1)*of; m++ {
		d := t.rowMean[m] + t.shift[m] - mean
		variance += t.rowVar[m] + float64(d*d)
	}
	return mean, max(0, variance/float64(of))
}

// update moves the running statistics of channel o.
func (t *stem) update(o int, mean, variance float64) {
	n, k := t.norm, float64(t.norm.Momentum)
	count := float64(float64(t.shape.NOut) * t.positions())
	runningMean, runningVar := &n.RunningMean.Value.Host()[o], &n.RunningVar.Value.Host()[o]
	*runningMean = float32(float64((1-k)*float64(*runningMean)) + float64(k*mean))
	*runningVar = float32(float64((1-k)*float64(*runningVar)) + float64(k*variance)*count/max(count-1, 1))
}

// corner returns the first row and column of tile number i, and the number of values of a row of it.
func (t *stem) corner(i int) (row, col, n int) {
	g := &t.tile
	row, col = i/g.blocks*g.side, i%g.blocks*g.span
	return row, col, min(g.span, t.outW/g.side*g.side-col) * t.batch
}

// gather copies what the taps meet in a tile, n values of each row of it.
func (t *stem) gather(source []float32, row, col, n int) {
	for a, offset := range t.rows {
		for line := range t.tile.side {
			from := ((row+line)*t.width+col)*t.batch + offset
			copy(source[(a+1)*t.tile.ld+line*n:][:n], t.src[from:])
		}
	}
}

// stemStrip is a strip of targets: of one element, and some channels.
type stemStrip struct{ i, o, channels int }

// strips returns how many strips each element has.
func (t *stem) strips() int {
	mr, _ := asm.GemmTile()
	return blocksOf(t.shape.Out, mr)
}

// strip returns strip number k of all.
func (t *stem) strip(k int) stemStrip {
	each := t.strips()
	o0, o1 := share(t.shape.Out, each, k%each)
	return stemStrip{k / each, o0, o1 - o0}
}

// target returns the target of channel number r of a strip.
func (t *stem) target(p stemStrip, r int) int { return (p.o+r)*t.shape.NOut + p.i }

// convolve computes z of a strip.
func (t *stem) convolve(w *stemWork, p stemStrip, n int) {
	columns := len(t.mean)
	kernel := t.ordered[(p.i*t.shape.Out+p.o)*columns:]
	asm.GemmStripNN(p.channels, t.tile.side*n, t.live[p.i]*t.sources, kernel, columns, w.source[t.tile.ld:], t.tile.ld, w.strip, t.tile.ld, false)
}

// result returns where the result, or its gradient, of target m has what belongs to the tile at (row, col).
func (t *stem) result(m, row, col int) int {
	side := t.tile.side
	return ((m*(t.outH/side)+row/side)*(t.outW/side) + col/side) * t.batch
}

// fetch brings into the cache what x, the result or its gradient, has of strip number k in a tile: pieces so
// short that the processor does not see them coming.
func (t *stem) fetch(x []float32, k, row, col, n int) {
	if k < t.strips()*t.shape.NOut {
		p := t.strip(k)
		asm.Prefetch(x[t.result(t.target(p, 0), row, col):], t.result(t.shape.NOut, 0, 0), p.channels, n/t.tile.side)
	}
}

// forward computes tile number i of the result.
func (t *stem) forward(i int, w *stemWork) {
	row, col, n := t.corner(i)
	t.fetch(t.y, 0, row, col, n)
	t.gather(w.source, row, col, n)
	for k := range t.strips() * t.shape.NOut {
		p := t.strip(k)
		t.fetch(t.y, k+1, row, col, n)
		t.convolve(w, p, n)
		for r := range p.channels {
			m := t.target(p, r)
			z, at := w.strip[r*t.tile.ld:], t.result(m, row, col)
			if t.tile.side == 1 {
				asm.Norm(t.y[at:at+n], z[:n], &t.maps[m])
			} else {
				asm.NormPool(t.y[at:at+n/2], z[:n], z[n:2*n], t.batch, &t.maps[m])
			}
		}
	}
}

// products adds up, over the tiles of a part, d, and d times what taps meet.
func (t *stem) products(part int, w *stemWork) {
	_, nr := asm.GemmTile()
	all, of := len(t.mean)+1, t.shape.NOut
	sums := t.sums[part*thinSums(t.shape):]
	asm.Fill(w.source[:t.tile.ld], 1)
	first, last := share(t.tile.lines*t.tile.blocks, t.parts, part)
	for i := first; i < last; i++ {
		row, col, n := t.corner(i)
		t.fetch(t.dy, 0, row, col, n)
		t.gather(w.source, row, col, n)
		terms := t.tile.side * n
		for q := 0; q < all; q += nr {
			asm.PackCols(w.panels[q*terms:], w.source[q*t.tile.ld:], t.tile.ld, terms, min(nr, all-q))
		}
		for k := range t.strips() * of {
			p := t.strip(k)
			t.fetch(t.dy, k+1, row, col, n)
			t.passed(w, p, row, col, n)
			columns := 1 + t.live[p.i]*t.sources
			for q := 0; q < columns; q += nr {
				asm.GemmNN(p.channels, min(nr, columns-q), terms, w.strip, t.tile.ld, w.panels[q*terms:], nr,
					sums[t.target(p, 0)*all+q:], of*all, i > first)
			}
		}
	}
}

// passed writes to a strip what of the gradient passes ReLU and pooling.
func (t *stem) passed(w *stemWork, p stemStrip, row, col, n int) {
	if t.tile.side == 2 {
		t.convolve(w, p, n)
	}
	for r := range p.channels {
		m := t.target(p, r)
		d, at := w.strip[r*t.tile.ld:], t.result(m, row, col)
		switch {
		case t.tile.side == 2:
			asm.NormPoolGrad(d[:n], d[n:2*n], t.dy[at:at+n/2], d[:n], d[n:2*n], t.batch, &t.maps[m], 1, 0, 0)
		case t.norm.ReLU:
			asm.ReluGrad(d[:n], t.dy[at:at+n], t.y[at:at+n])
		default:
			copy(d[:n], t.dy[at:at+n])
		}
	}
}

// gradient makes the gradients of channel o.
func (t *stem) gradient(o int, k []float64) {
	s, n := t.shape, t.norm
	columns, taps, of := len(t.mean), len(s.Offsets), s.NOut
	first, second := 0.0, 0.0 // sums of d and of d*h
	for m := o * of; m < (o+1)*of; m++ {
		t.row(k, m)
		sum := t.total(m)
		first += sum[0]
		second -= float64((t.channelMean[o] - t.shift[m]) * sum[0])
		for a := range t.live[m%of] * t.sources {
			q, c := a/t.sources, a%t.sources
			second += float64(k[c*taps+t.order[q]] * sum[1+a])
		}
	}
	invStd := t.invStd[o]
	second *= invStd
	n.Bias.Grad.Host()[o] += float32(first)
	n.Weight.Grad.Host()[o] += float32(second)

	scale := invStd * float64(n.Weight.Value.Host()[o])
	mean, slope := first/float64(of), second/float64(of)*invStd
	for i := range of {
		m := o*of + i
		sum, image := t.totals[m*(columns+1):][:columns+1], t.image[m*columns:][:columns]
		offset := t.rowMean[m] + t.shift[m] - t.channelMean[o]
		dz := scale * (sum[0] - mean - float64(slope*offset))
		for c := range s.In {
			to := t.dkernel[((o*s.In+c)*of+i)*taps:][:taps]
			for tap := range to {
				q := t.place[tap]
				if q >= t.live[i] { // the window is zero there
					to[tap] = 0
					continue
				}
				a := c*taps + tap
				dp := sum[1+q*t.sources+c] - float64(mean*t.mean[a]) - float64(slope*(image[a]+float64(offset*t.mean[a])))
				to[tap] = float32(float64(scale*dp) + float64(t.pivot[c]*dz))
			}
		}
	}
}

// total adds up the parts of the products of target m.
func (t *stem) total(m int) []float64 {
	columns := len(t.mean) + 1
	total := t.totals[m*columns:][:columns]
	clear(total)
	live := 1 + t.live[m%t.shape.NOut]*t.sources
	for part := range t.parts {
		for a, v := range t.sums[part*thinSums(t.shape)+m*columns:][:live] {
			total[a] += float64(v)
		}
	}
	return total
}
