package nn

import "github.com/noether-go/noether/tensor"

// planes is how a map between a convolution and a Standardize can do without memory of its own. A plane is what an
// element has of a channel: [H, W, B], number c*N+e of the map.
//
// A convolution that reads one plane after the other takes them as well from the layer that computes them, so what a
// Standardize makes, and on the way back the gradient that it passes on, need not be stored. Whether a map is read by
// such layers alone is known when it has ended (Plan.Next).
type planes struct {
	readers int  // layers that were planned on the map
	whole   bool // one of them needs the value in memory

	source *Standardize // whose output the map is, or nil
	reader *Standardize // that reads it, or nil
	taken  bool         // the layer that makes the map takes its gradient plane by plane
}

// ReadPlanes is KeepValue for a layer that takes planes from Planes, too.
func (m *Map) ReadPlanes() {
	whole := m.memory != nil && m.memory.whole
	m.KeepValue()
	if m.memory != nil {
		m.memory.whole = whole
	}
}

// TakePlanes notes, while planning, that the layer whose output m is calls what PlaneWritten returns, and takes planes
// of the gradient from GradPlanes, too.
func (m *Map) TakePlanes() {
	if m.memory != nil {
		m.memory.taken = true
	}
}

// Planes returns what computes a plane of Value, on any goroutine, where that is not in memory, else nil.
func (m *Map) Planes() func(dst []float32, plane int) {
	if !m.Value.IsZero() || m.memory == nil || m.memory.source == nil {
		return nil
	}
	return m.memory.source.value
}

// reserved reports whether the map has the memory that was planned for it.
func (m *Map) reserved() bool {
	return !m.Value.IsZero() || m.memory != nil && m.memory.source != nil && !m.Grad.IsZero()
}

// GradPlanes returns what computes a plane of Grad, on any goroutine, where that is not in memory, else nil.
func (m *Map) GradPlanes() func(dst []float32, plane int) {
	if !m.Grad.IsZero() || m.memory == nil || m.memory.reader == nil {
		return nil
	}
	return m.memory.reader.gradient
}

// PlaneWritten returns what is to be called, by any goroutine, with the number of each plane of Value once that is
// written, or nil. It is for the pass that Written began.
func (m *Map) PlaneWritten() func(plane int) {
	if m.memory == nil || m.memory.reader == nil || m.memory.reader.in != m {
		return nil
	}
	return m.memory.reader.begin()
}

// settle decides, when no other layer can be planned on the maps of b, what has no memory.
func (b *memory) settle() {
	none := tensor.Lifetime{From: tensor.End, To: tensor.End - 1}
	if b.inference || b.readers == 0 {
		return
	}
	if b.source != nil && !b.whole {
		b.value = none
	}
	if b.reader != nil && b.taken && b.readers == 1 {
		// The reader computes the gradient in the backward pass of the layer that made the map.
		to := b.grad.To
		b.reader.extend(to)
		b.value.To, b.grad = to, none
	}
}
