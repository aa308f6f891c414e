package conv

// The cost model of Auto: operations by kind, each divided by the rate that it
// reaches, as a share of the processor's peak, in the benchmarks of this package.
const (
	tapsRate      = 0.72 // products over live taps
	tapsSplit     = 0.90 // the same by a matrix unit whose columns are full: 0.8 to 1.5, by processor
	thinSplit     = 1.65 // the same by a matrix unit of a thin batch
	productRate   = 0.80 // products for each frequency
	productSplit  = 1.00 // the same by a matrix unit
	spectrumRate  = 0.70 // the kernel to and from its spectrum, by products
	axesRate      = 0.33 // the same by axes, or for products that slice it: bound by memory
	transformRate = 0.80 // planes to and from their spectra
	slicedRate    = 0.35 // the same where products slice them
	rowsRate      = 0.85 // rows of a few images, the spectrum of the kernel included
	vector        = 16   // columns that one instruction computes at most
)

// rateOfTaps returns the rate of products over live taps. With thinSplit, for k = 7 taps win up
// to four images and lose from twelve on, in inference and in training.
func rateOfTaps(s *Shape) float64 {
	switch {
	case tapsSplits(s):
		fold := splitTile / s.B * s.B
		return tapsSplit * float64(max(s.B, fold)) / float64(blocksOf(s.B, splitTile)*splitTile)
	case slicesThinTaps(s):
		return thinSplit
	}
	return tapsRate
}

// slicesThinTaps reports whether Forward slices long rows of a thin batch.
func slicesThinTaps(s *Shape) bool {
	var f frame
	f.forward(s, s)
	return f.form == inThinSlices
}

// tapsCost returns the cost of the three passes by taps, in operations at peak.
// Taps outside the plane are skipped, but by FMA with a thin batch.
func tapsCost(s *Shape) float64 {
	inside := 0
	for _, o := range s.Offsets {
		rows := min(s.OutH, s.H-o.Row) - max(0, -o.Row)
		cols := min(s.OutW, s.W-o.Col) - max(0, -o.Col)
		inside += max(0, rows) * max(0, cols)
	}
	if s.B < thinBatch && s.Sources() >= thinSources && !slicesThinTaps(s) {
		inside = len(s.Offsets) * ((s.OutH-1)*(s.W+largestOffset(s)) + s.OutW) // one long row
	}
	return 3 * 2 * float64(s.Sources()*s.Targets()*inside) * float64(s.B) / rateOfTaps(s)
}

// cost returns the cost of three passes by rows, in operations at peak.
func (l *rowLattice) cost(s *Shape) float64 {
	products, spectrum := 0, 0
	for f := range l.count {
		if l.real(f) {
			products += len(l.heights)
			spectrum += len(s.Offsets)
		} else {
			products += 2*len(l.heights) + l.tall.count
			spectrum += 2 * len(s.Offsets)
		}
	}
	return 3 * 2 * float64(s.Sources()*s.Targets()*(s.B*products*l.outW+spectrum)) / rowsRate
}

// cost returns the cost of the three passes by frequencies, in operations at
// peak.
func (l *lattice) cost(s *Shape) float64 {
	sources, targets, count := float64(s.Sources()), float64(s.Targets()), float64(l.count)
	batch := float64(blocksOf(s.B, vector) * vector)
	rate, slots, transformRate := productRate, float64(l.count*len(s.Offsets))/spectrumRate, transformRate
	switch {
	case slicesProducts(s):
		rate, slots, transformRate = productSplit, slots*spectrumRate/axesRate, slicedRate
	case l.byAxes(): // four sums by cosines and three by sines, for two frequencies and two parts
		slots = float64(len(l.groups)*len(s.Offsets)+7*l.count) / axesRate
	}
	products := 3 * 3 * 2 * count * sources * targets * batch
	// A plane along y, then its half plane along x.
	plane := func(h, w int) float64 {
		return 2 * batch * float64(l.periodH*h*w+2*w*l.count)
	}
	in, out := plane(s.H, s.W), plane(s.OutH, s.OutW)
	transforms := float64(3*sources*in) + float64(2*targets*out)
	return products/rate + float64(3*2*slots*sources*targets) + transforms/transformRate
}
