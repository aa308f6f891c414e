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

	// On are the group elements, if they may have weights, and nil if not. Layers plan
	// by it, and hand it on to maps on the same elements (Plan.Like).
	On Weighted

	gradSet bool
	kept    keep

	// While planning: what Value and Grad are needed for, see Plan.Next.
	arena       *tensor.Arena // nil for a map that was not made by Plan.Map
	inference   bool
	done        bool
	value, grad tensor.Lifetime
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

// KeepValue notes, while planning, that the backward pass of the layer that is
// being planned reads Value after the forward pass is over: no layer planned
// later may then overwrite it in place. Every layer whose Backward reads its
// input's or output's Value calls it. It does nothing in a plan for inference.
func (m *Map) KeepValue() { m.keep(keepAll) }

func (m *Map) keep(what keep) {
	if m.inference {
		return
	}
	if m.done {
		refuse("Map.KeepValue", "no layer was to read the map any more, see Plan.Next")
	}
	if m.kept == keepNothing && m.arena != nil {
		m.value.To = tensor.BackwardOf(m.arena.Layer()) // later layers run backward before
	}
	m.kept = max(m.kept, what)
}

// Plan carries what layers need to reserve their buffers.
//
// Whoever plans a network may tell, by Next, where a layer ends and which maps no
// later layer reads. Buffers that are not needed at the same time then share
// memory. Without Next all have memory of their own.
type Plan struct {
	Arena     *tensor.Arena
	Batch     int
	Inference bool // reserve no gradients; Backward must not be called

	// KeepDerived, with Inference, has layers keep from pass to pass what they derive from
	// parameters that stay as they are, where that can save time. It takes more memory.
	KeepDerived bool

	// NormPenalty, without Inference, is the weight in the loss of the Euclidean norms (not
	// squared) of what each convolution multiplies by and of what it adds: its kernel, all
	// values of it together, and its bias. Of other layers there is no penalty.
	NormPenalty float64

	// Device is the device that the arena will be bound to, for layers that
	// need different buffers on different devices; nil means a CPU.
	Device tensor.Device
}

// Map reserves a feature map. Its value is needed from the layer that is being
// planned on, its gradient until that layer's backward pass; see Next for the
// other ends.
func (p *Plan) Map(c, n, h, w int) *Map {
	m := &Map{C: c, MaxN: n, N: n, H: h, W: w, B: p.Batch}
	m.arena, m.inference = p.Arena, p.Inference
	layer := p.Arena.Layer()
	m.value = tensor.Lifetime{From: tensor.ForwardOf(layer), To: tensor.End}
	m.grad = tensor.Lifetime{From: tensor.Turn, To: tensor.BackwardOf(layer)}
	size := m.Size()
	p.Arena.ReserveFor(&m.Value, size, &m.value)
	if !p.Inference {
		p.Arena.ReserveFor(&m.Grad, size, &m.grad)
	}
	return m
}

// Like is Map for a map on the group elements of in.
func (p *Plan) Like(in *Map, c, h, w int) *Map {
	m := p.Map(c, in.MaxN, h, w)
	m.On = in.On
	return m
}

// Carry reserves n values at *dst for what the forward pass of the layer that is
// being planned leaves for its backward pass.
func (p *Plan) Carry(dst *tensor.Buffer, n int) {
	layer := p.Arena.Layer()
	life := &tensor.Lifetime{From: tensor.ForwardOf(layer), To: tensor.BackwardOf(layer)}
	if p.Inference {
		life.To = life.From
	}
	p.Arena.ReserveFor(dst, n, life)
}

// Next ends the planning of a layer. The maps in done are read by no layer that
// is planned later: their values end with this layer, or with the backward pass
// of the first layer that called KeepValue, and their gradients begin with this
// layer's backward pass. The layers must run in the order in which they were
// planned. A map that is never done, such as the result, stays.
func (p *Plan) Next(done ...*Map) {
	layer := p.Arena.Layer()
	for _, m := range done {
		if m.arena != p.Arena || m.done {
			refuse("Plan.Next", "the map is of another plan, or was done before")
		}
		m.done = true
		m.grad.From = tensor.BackwardOf(layer)
		if m.kept == keepNothing {
			m.value.To = tensor.ForwardOf(layer)
		}
	}
	p.Arena.Next()
}

// inPlace returns in itself when a layer that respects allowed may overwrite its
// value, and otherwise a new map of the same size.
func (p *Plan) inPlace(in *Map, allowed keep) *Map {
	if in.kept <= allowed {
		return in
	}
	return p.Like(in, in.C, in.H, in.W)
}
