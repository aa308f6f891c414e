package nn

import "github.com/noether-go/noether/tensor"

// Map is a feature map [C, n, H, W, B] on a group, batch innermost, with the
// gradient of the loss beside it. N is the number of live group elements of the
// present pass; it may change from pass to pass but never exceeds MaxN, for
// which the buffers are sized. The live values are the first
// C*N*H*W*B of each buffer, without gaps.
type Map struct {
	C, MaxN, H, W, B int
	N                int
	Value, Grad      tensor.Buffer

	gradSet bool
	kept    keep
}

// Size returns the number of live values.
func (m *Map) Size() int { return m.C * m.N * m.H * m.W * m.B }

// PerChannel returns the number of live values of one channel, n*H*W*B.
func (m *Map) PerChannel() int { return m.N * m.H * m.W * m.B }

// Live returns the live part of Value.
func (m *Map) Live() tensor.Buffer { return m.Value.Slice(0, m.Size()) }

// LiveGrad returns the live part of Grad.
func (m *Map) LiveGrad() tensor.Buffer { return m.Grad.Slice(0, m.Size()) }

// Written notes that Value was computed afresh for n elements, so that no
// gradient has reached the map yet. Every layer calls it on its output map.
func (m *Map) Written(n int) {
	if n < 1 || n > m.MaxN {
		refuse("Map.Written", "%d elements, allowed are 1 to %d", n, m.MaxN)
	}
	m.N, m.gradSet = n, false
}

// Accumulate reports whether a gradient has already been written to Grad in
// this pass: the layer that asks must then add to it rather than overwrite it.
// It marks the gradient as written.
func (m *Map) Accumulate() bool {
	was := m.gradSet
	m.gradSet = true
	return was
}

// keep says what a layer planned later may do to the value of a map.
type keep uint8

const (
	keepNothing  keep = iota // overwrite it
	keepPositive             // overwrite values <= 0 by 0 (a ReLU)
	keepAll                  // leave it alone
)

// KeepValue notes, while planning, that a backward pass reads Value after the
// forward pass is over: no layer planned later may then overwrite it in place.
// Every layer whose Backward reads its input's or output's Value calls it.
func (m *Map) KeepValue() { m.kept = keepAll }

// Plan carries what layers need to reserve their buffers.
type Plan struct {
	Arena     *tensor.Arena
	Batch     int
	Inference bool // reserve no gradients; Backward must not be called

	// Device is the device that the arena will be bound to, for layers that
	// need different buffers on different devices; nil means a CPU.
	Device tensor.Device
}

// Map reserves a feature map.
func (p *Plan) Map(c, n, h, w int) *Map {
	m := &Map{C: c, MaxN: n, N: n, H: h, W: w, B: p.Batch}
	size := m.Size()
	p.Arena.Reserve(&m.Value, size)
	if !p.Inference {
		p.Arena.Reserve(&m.Grad, size)
	}
	return m
}

// inPlace returns in itself when a layer that respects allowed may overwrite its
// value, and otherwise a new map of the same size.
func (p *Plan) inPlace(in *Map, allowed keep) *Map {
	if in.kept <= allowed {
		return in
	}
	return p.Map(in.C, in.MaxN, in.H, in.W)
}
