package tensor

import "fmt"

// alignment is in values: 64 bytes, a cache line and the widest vector.
const alignment = 16

// Arena plans the buffers of a network and then binds them to one allocation.
// Reserve, Share and ReserveFor note where each buffer is wanted; Bind allocates
// once and fills the buffers in. Sizes are in float32 values.
//
// Buffers that are never alive at the same moment of a step may get the same
// memory. For that the arena counts the layers: Next ends the planning of one.
// Without Next there is one layer, and only Share's buffers have memory in
// common.
type Arena struct {
	spans    []span
	aliases  []alias
	layer    int  // which is being planned
	sum      int  // of all sizes, which is more than is needed
	tooLarge bool // the sum is not an int
	dev      Device
	block    Buffer
}

// span is one planned buffer.
type span struct {
	dst    *Buffer
	n      int
	life   *Lifetime // nil: alive always, or scratch
	shared bool      // scratch of the layer
	layer  int       // which was being planned
	off    int       // set by Bind
}

// alias is a buffer that is another one.
type alias struct{ dst, src *Buffer }

// Moment is a moment of a step, in which all layers run forward in the order in
// which they were planned and then backward in reverse. Later moments are
// larger.
type Moment int

const (
	Turn Moment = 1 << 29 // after all forward passes, before all backward ones
	End  Moment = 1 << 30 // after the step
)

// ForwardOf returns the moment of the forward pass of a layer, counted from
// zero.
func ForwardOf(layer int) Moment { return Moment(layer) }

// BackwardOf returns the moment of the backward pass of a layer, counted from
// zero.
func BackwardOf(layer int) Moment { return End - 1 - Moment(layer) }

// Lifetime is how long the contents of a buffer matter: from the moment that
// writes them to the last one that reads them, both included. One that ends before it
// begins is that of a buffer that nobody needs, which stays the zero Buffer.
type Lifetime struct{ From, To Moment }

// none reports whether nobody needs the buffer.
func (l *Lifetime) none() bool { return l.To < l.From }

// Next ends the planning of a layer: what is planned from now on belongs to the
// one behind it.
func (a *Arena) Next() { a.layer++ }

// Layer returns the number of the layer that is being planned, counted from
// zero.
func (a *Arena) Layer() int { return a.layer }

// Reserve plans n values at *dst, aligned to 64 bytes, with memory of their own.
// The buffer is set by Bind.
func (a *Arena) Reserve(dst *Buffer, n int) { a.plan("Reserve", span{dst: dst, n: n}) }

// ReserveFor plans n values at *dst whose contents matter during life only.
// Bind looks at life: it may change until then.
func (a *Arena) ReserveFor(dst *Buffer, n int, life *Lifetime) {
	a.plan("ReserveFor", span{dst: dst, n: n, life: life})
}

// Share plans n values at *dst in one block that all Share calls of a layer have
// in common: scratch whose contents matter only within its Forward or Backward.
// A layer that needs several scratch buffers at a time shares one and slices it.
func (a *Arena) Share(dst *Buffer, n int) { a.plan("Share", span{dst: dst, n: n, shared: true}) }

// Alias plans that *dst is what *src is: the same memory, which needs no more. Bind
// sets it after all others; src may be an alias that was planned before.
func (a *Arena) Alias(dst, src *Buffer) {
	a.unbound("Alias")
	if dst == nil || src == nil {
		panic(&Error{"Arena.Alias", fmt.Sprintf("%p is to be %p", dst, src)})
	}
	a.aliases = append(a.aliases, alias{dst, src})
}

// unbound panics where nothing can be planned any more.
func (a *Arena) unbound(op string) {
	if a.dev != nil {
		panic(&Error{"Arena." + op, "the arena is already bound"})
	}
}

func (a *Arena) plan(op string, s span) {
	a.unbound(op)
	if s.dst == nil || s.n < 0 {
		panic(&Error{"Arena." + op, fmt.Sprintf("%d values at %p", s.n, s.dst)})
	}
	if s.n > maxValues/2-alignment-a.sum {
		a.tooLarge = true // for Bind to tell: the sizes come from a configuration
		return
	}
	s.layer = a.layer
	a.spans = append(a.spans, s)
	a.sum += roundUp(s.n)
}

// roundUp returns n values and what keeps the next buffer aligned.
func roundUp(n int) int { return (n + alignment - 1) / alignment * alignment }

// Size returns the planned number of values.
func (a *Arena) Size() int {
	if a.dev != nil {
		return a.block.Len()
	}
	return place(blocks(a.spans))
}

// Live returns the largest number of values that are alive at the same moment,
// which Size cannot be less than.
func (a *Arena) Live() int { return liveAtOnce(blocks(a.spans)) }

// Bind allocates the planned size on dev and sets every reserved buffer. The
// error says how many bytes were wanted; the arena then stays as it is, so that
// Bind can be called again. It panics with *Error where it is bound already, or dev is nil.
func (a *Arena) Bind(dev Device) error {
	switch {
	case a.dev != nil:
		panic(&Error{"Arena.Bind", "already bound"})
	case dev == nil:
		panic(&Error{"Arena.Bind", "the device is nil; one such as NewCPU returns is needed"})
	}
	if a.tooLarge {
		return fmt.Errorf("tensor: the planned buffers need more than %d bytes, which no memory has", 4*maxValues)
	}
	list := blocks(a.spans)
	mem, err := dev.Alloc(place(list))
	if err != nil {
		return err
	}
	a.dev, a.block = dev, mem
	for _, b := range list {
		for _, s := range b.spans {
			s.off = b.off
			*s.dst = mem.Slice(b.off, b.off+s.n)
		}
	}
	for _, l := range a.aliases {
		*l.dst = *l.src
	}
	return nil
}

// Poison sets every value that is not alive after a moment to v, for tests: a
// step whose results change when NaN is put there reads what is dead. Reserve's
// buffers are alive always; the others are where their lifetime begins at or
// before that moment and ends later.
func (a *Arena) Poison(after Moment, v float32) {
	if a.dev == nil {
		panic(&Error{"Arena.Poison", "the arena is not bound"})
	}
	at := 0
	for _, s := range survivors(a.spans, after) {
		if s.off > at {
			a.dev.Fill(a.block.Slice(at, s.off), v)
		}
		at = max(at, s.off+s.n)
	}
	a.dev.Fill(a.block.Slice(at, a.block.Len()), v)
}

// Release frees the allocation and clears every reserved buffer. The arena can
// then be planned anew. Release on an unbound arena does nothing.
func (a *Arena) Release() {
	if a.dev == nil {
		return
	}
	for _, s := range a.spans {
		*s.dst = Buffer{}
	}
	for _, l := range a.aliases {
		*l.dst = Buffer{}
	}
	a.dev.Free(a.block)
	*a = Arena{}
}
