package conv

// The cost model of Auto: operations by kind, each divided by the rate that it
// reaches, as a share of the processor's peak, in the benchmarks of this package.
const (
	tapsRate      = 0.72 // products over live taps
	tapsSplit     = 0.90 // the same by a matrix unit whose columns are full: 0.8 to 1.5, by processor
	thinSplit     = 0.95 // the same by a matrix unit of a thin batch
	productRate   = 0.80 // products for each frequency
	productSplit  = 1.00 // the same by a matrix unit
	spectrumRate  = 0.33 // the kernel to and from its spectrum: bound by memory
	transformRate = 0.35 // planes to and from their spectra
	rowsRate      = 0.60 // rows of a few images, the spectrum of the kernel included
	vector        = 16   // columns that one instruction computes at most
)

// rateOfTaps returns the rate of products over live taps. With a thin batch a matrix unit
// computes Forward at 0.9 to 1.4 of the peak, the slicing of the kernel included, but
// KernelGrad, in float32, below tapsRate: thinSplit stands between. For k = 7 taps then win up
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
	rate := productRate
	if slicesProducts(s) {
		rate = productSplit
	}
	products := 3 * 3 * 2 * count * sources * targets * batch
	spectra := 3 * 2 * count * sources * targets * float64(len(s.Offsets))
	// A plane along y, then its half plane along x.
	plane := func(h, w int) float64 {
		return 2 * batch * float64(l.periodH*h*w+2*w*l.count)
	}
	in, out := plane(s.H, s.W), plane(s.OutH, s.OutW)
	transforms := 3*sources*in + 2*targets*out
	return products/rate + spectra/spectrumRate + transforms/transformRate
}
