package nn

import (
	"math"

	"github.com/noether-go/noether/tensor"
)

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

	// While planning.
	state  state
	memory *memory // of Value and Grad; nil for a map that was not made by a Plan
}

// state says whether a layer that is planned from now on may read a map.
type state uint8

const (
	readable state = iota
	summed         // overwritten by a sum that no other layer reads
	replaced       // overwritten: another map has the memory now
	ended          // by Plan.Next
)

// memory is the place of a map, and of those that layers made of it without copying.
type memory struct {
	arena     *tensor.Arena
	inference bool
	kept      keep
	backward  bool // the value is read by a backward pass
	maps      int  // that are neither replaced nor ended
	planes

	value, grad tensor.Lifetime // what they are needed for, see Plan.Next
}

// Size returns the number of live values.
func (m *Map) Size() int { return m.C * m.N * m.H * m.W * m.B }

// PerChannel returns the number of live values of one channel, n*H*W*B.
func (m *Map) PerChannel() int { return m.N * m.H * m.W * m.B }

// Live returns the live part of Value, or the zero Buffer where that is not in memory.
func (m *Map) Live() tensor.Buffer { return m.live(m.Value) }

// LiveGrad returns the live part of Grad, or the zero Buffer where that is not in memory.
func (m *Map) LiveGrad() tensor.Buffer { return m.live(m.Grad) }

func (m *Map) live(b tensor.Buffer) tensor.Buffer {
	if b.IsZero() {
		return b
	}
	return b.Slice(0, m.Size())
}

// Written notes that Value was computed afresh for n elements, so that no
// gradient has reached the map yet. Every layer calls it on its output map; whoever writes
// the input map of a network calls it on that before each Forward, for else the
// gradient of the pass before is added to and n stays. It panics with *Error unless
// 1 <= n <= MaxN.
func (m *Map) Written(n int) {
	if n < 1 || n > m.MaxN {
		refuse("Map.Written", "%d elements, allowed are 1 to %d", n, m.MaxN)
	}
	m.N, m.gradSet = n, false
	if m.memory != nil && m.memory.reader != nil {
		m.memory.reader.forget()
	}
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

// Read notes, while planning, that the layer that is being planned reads Value in its
// forward pass. Every layer calls it, or KeepValue, for each map that it reads. It panics
// with *Error where the value is not there any more, because Plan.Next ended it or a layer
// that was planned before overwrites it in place.
func (m *Map) Read() {
	m.check("Map.Read")
	b := m.memory
	if b == nil {
		return
	}
	b.needWhole()
	if b.kept == keepPositive {
		b.kept = keepAll // the layer may pass a gradient where the value is not positive
	}
}

// needWhole notes that a layer needs the value in memory.
func (b *memory) needWhole() { b.readers, b.whole = b.readers+1, true }

// KeepValue is Read for a layer whose backward pass reads Value, after the forward pass
// is over: no layer planned later may then overwrite it in place. Every layer whose
// Backward reads its input's or output's Value calls it, in a plan for inference too, so
// that the same maps are overwritten and the results are the same.
func (m *Map) KeepValue() { m.keep(keepAll) }

func (m *Map) keep(what keep) {
	m.check("Map.KeepValue")
	b := m.memory
	if b == nil {
		return
	}
	if !b.inference && !b.backward {
		b.backward, b.value.To = true, tensor.BackwardOf(b.arena.Layer()) // later layers run backward before
	}
	b.needWhole()
	b.kept = max(b.kept, what)
}

// hold is Read for a layer whose output map may be in itself, so that no layer planned
// later may overwrite it.
func (m *Map) hold() {
	m.Read()
	if m.memory != nil {
		m.memory.kept = keepAll
	}
}

// isKept reports whether a layer that is planned later must not put a sum in the place of
// the value.
func (m *Map) isKept() bool { return m.memory != nil && m.memory.kept != keepNothing }

// check panics where a layer that is being planned cannot read the map.
func (m *Map) check(op string) {
	switch m.state {
	case ended:
		refuse(op, "no layer was to read the map any more, see Plan.Next")
	case summed, replaced:
		refuse(op, "a layer that was planned before overwrites the map: read what its Plan returned, or call Map.KeepValue before it is planned")
	}
}

// shares reports whether both maps have the same memory.
func (m *Map) shares(with *Map) bool { return m.memory != nil && m.memory == with.memory }

// Plan carries what layers need to reserve their buffers.
//
// Whoever plans a network may tell, by Next, where a layer ends and which maps no
// later layer reads. Buffers that are not needed at the same time then share
// memory. Without Next all have memory of their own.
type Plan struct {
	Arena     *tensor.Arena
	Batch     int  // B of every map
	Inference bool // reserve no gradients; neither Forward(true) nor Backward must be called

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

// check panics unless the plan can reserve buffers.
func (p *Plan) check(op string) {
	switch {
	case p == nil:
		refuse(op, "the plan is nil; a Plan with Arena and Batch is needed")
	case p.Arena == nil:
		refuse(op, "Plan.Arena is nil; a tensor.Arena is needed")
	case p.Batch < 1:
		refuse(op, "Plan.Batch is %d; at least 1 is needed", p.Batch)
	}
}

// addressable is the largest number of values whose size in bytes is an int.
const addressable = math.MaxInt / 4

// product returns the product of sizes that are not negative, and whether it is addressable.
func product(sizes ...int) (n int, ok bool) {
	n = 1
	for _, s := range sizes {
		if s > 0 && n > addressable/s {
			return 0, false
		}
		n *= s
	}
	return n, true
}

// Map reserves a feature map. Its value is needed from the layer that is being
// planned on, its gradient until that layer's backward pass; see Next for the
// other ends. It panics with *Error where the plan has no arena or batch, a size is
// below 1, or the map is larger than any memory.
func (p *Plan) Map(c, n, h, w int) *Map {
	const op = "Plan.Map"
	p.check(op)
	if min(c, n, h, w) < 1 {
		refuse(op, "a map [%d %d %d %d %d]; every size must be at least 1", c, n, h, w, p.Batch)
	}
	if _, ok := product(c, n, h, w, p.Batch); !ok {
		refuse(op, "a map [%d %d %d %d %d] has more than %d values, which no memory has", c, n, h, w, p.Batch, addressable)
	}
	layer := p.Arena.Layer()
	b := &memory{
		arena: p.Arena, inference: p.Inference, maps: 1,
		value: tensor.Lifetime{From: tensor.ForwardOf(layer), To: tensor.End},
		grad:  tensor.Lifetime{From: tensor.Turn, To: tensor.BackwardOf(layer)},
	}
	m := &Map{C: c, MaxN: n, N: n, H: h, W: w, B: p.Batch, memory: b}
	size := m.Size()
	p.Arena.ReserveFor(&m.Value, size, &b.value)
	if !p.Inference {
		p.Arena.ReserveFor(&m.Grad, size, &b.grad)
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
	life := p.carried()
	p.Arena.ReserveFor(dst, n, &life)
}

// carried returns how long what Carry reserves lives.
func (p *Plan) carried() tensor.Lifetime {
	layer := p.Arena.Layer()
	life := tensor.Lifetime{From: tensor.ForwardOf(layer), To: tensor.BackwardOf(layer)}
	if p.Inference {
		life.To = life.From
	}
	return life
}

// Next ends the planning of a layer. The maps in done are read by no layer that
// is planned later: their values end with this layer, or with the backward pass
// of the first layer that called KeepValue, and their gradients begin with this
// layer's backward pass. The layers must run in the order in which they were
// planned. A map that is never done, such as the result, stays.
func (p *Plan) Next(done ...*Map) {
	layer := p.Arena.Layer()
	for _, m := range done {
		if m.memory == nil || m.memory.arena != p.Arena || m.state == ended {
			refuse("Plan.Next", "the map is of another plan, or was done before")
		}
		if m.state != replaced {
			m.memory.end(layer)
		}
		m.state = ended
	}
	p.Arena.Next()
}

// end notes that one map less has the memory after a layer.
func (b *memory) end(layer int) {
	if b.maps--; b.maps > 0 {
		return
	}
	b.grad.From = tensor.BackwardOf(layer)
	if !b.backward {
		b.value.To = tensor.ForwardOf(layer)
	}
	b.settle()
}

// inPlace returns the output map of a layer that may overwrite in with values of the same
// size and respects allowed: one with the memory of in, which no other layer can read any
// more, where that may be, and otherwise one of its own.
func (p *Plan) inPlace(in *Map, allowed keep) *Map {
	in.check("Map.Read")
	if b := in.memory; b == nil || b.arena != p.Arena || b.kept > allowed {
		in.Read()
		return p.Like(in, in.C, in.H, in.W)
	}
	out := p.alias(in)
	in.state = replaced
	out.memory.maps--
	return out
}

// alias returns a map with the memory of in.
func (p *Plan) alias(in *Map) *Map {
	out := *in
	in.memory.maps++
	in.memory.needWhole()
	p.Arena.Alias(&out.Value, &in.Value)
	if !p.Inference {
		p.Arena.Alias(&out.Grad, &in.Grad)
	}
	return &out
}
