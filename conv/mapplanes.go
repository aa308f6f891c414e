package conv

// Maps next to a standardisation need not be in memory (package nn): transforms read a plane of a map after the
// other, from there or from what computes it, and tell who wants to know of each that they have written.

// planMaps says how the maps are read, by Backward too.
func (l *layer) planMaps() {
	f := l.byFrequencies()
	if f != nil {
		l.out.TakePlanes()
	}
	if f != nil && l.weights == nil {
		l.in.ReadPlanes()
	} else {
		l.in.KeepValue()
	}
}

// byFrequencies returns the passes that take planes of maps one after the other, or nil.
func (l *layer) byFrequencies() *frequency {
	f, _ := l.factored.(*frequency)
	return f
}

// mapPlanes are what computes planes of maps that are not in memory, and what is told of each plane of y. All may be
// nil.
type mapPlanes struct {
	x, dy   func(dst []float32, plane int)
	written func(plane int)
}

// planeSource is where planes of a map are read: in memory, or computed if there is what does so.
type planeSource struct {
	values  []float32
	compute func(dst []float32, plane int)
}

// read returns a plane of so many values, computed in memory that is given for it if it is in none.
func (s *planeSource) read(plane, size int, memory []float32) []float32 {
	if s.compute == nil {
		return s.values[plane*size:][:size]
	}
	s.compute(memory[:size], plane)
	return memory[:size]
}

// planeSink is where planes of a map are written or, to accumulate, added to, and what is told of each, or nil.
type planeSink struct {
	values     []float32
	accumulate bool
	written    func(plane int)
}
