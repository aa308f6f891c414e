package tensor

import "fmt"

// alignment is in values: 64 bytes, a cache line and the widest vector.
const alignment = 16

// Arena plans the buffers of a network and then binds them to one allocation.
// Reserve notes where each buffer is wanted; Bind allocates once and fills the
// buffers in. Sizes are in float32 values.
type Arena struct {
	spans    []span
	size     int
	shared   int  // length of the block that Share's buffers have in common
	tooLarge bool // the planned size is not an int
	dev      Device
	block    Buffer
}

type span struct {
	dst    *Buffer
	off    int
	n      int
	shared bool // off counts from the shared block, which ends the allocation
}

// Reserve plans n values at *dst, aligned to 64 bytes. The buffer is set by
// Bind.
func (a *Arena) Reserve(dst *Buffer, n int) {
	if a.dev != nil {
		panic(&Error{"Arena.Reserve", "the arena is already bound"})
	}
	if dst == nil || n < 0 {
		panic(&Error{"Arena.Reserve", fmt.Sprintf("%d values at %p", n, dst)})
	}
	if !a.fits(a.size, n) {
		return
	}
	a.spans = append(a.spans, span{dst: dst, off: a.size, n: n})
	a.size += roundUp(n)
}

// Share plans n values at *dst in one block that all Share calls have in common:
// scratch whose contents matter only within one layer's Forward or Backward. A
// layer that needs several scratch buffers at a time shares one and slices it.
func (a *Arena) Share(dst *Buffer, n int) {
	if a.dev != nil {
		panic(&Error{"Arena.Share", "the arena is already bound"})
	}
	if dst == nil || n < 0 {
		panic(&Error{"Arena.Share", fmt.Sprintf("%d values at %p", n, dst)})
	}
	if !a.fits(0, n) {
		return
	}
	a.spans = append(a.spans, span{dst: dst, n: n, shared: true})
	a.shared = max(a.shared, roundUp(n))
}

// fits reports whether n values fit behind size others. Where they do not, Bind
// returns an error: the sizes come from a configuration.
func (a *Arena) fits(size, n int) bool {
	if n > maxValues/2-alignment-size {
		a.tooLarge = true
		return false
	}
	return true
}

// roundUp returns n values and what keeps the next buffer aligned.
func roundUp(n int) int { return (n + alignment - 1) / alignment * alignment }

// Size returns the planned number of values.
func (a *Arena) Size() int { return a.size + a.shared }

// Bind allocates the planned size on dev and sets every reserved buffer. The
// error says how many bytes were wanted; the arena then stays as it is, so that
// Bind can be called again.
func (a *Arena) Bind(dev Device) error {
	if a.dev != nil {
		panic(&Error{"Arena.Bind", "already bound"})
	}
	if a.tooLarge {
		return fmt.Errorf("tensor: the planned buffers need more than %d bytes, which no memory has", 4*maxValues)
	}
	block, err := dev.Alloc(a.Size())
	if err != nil {
		return err
	}
	a.dev, a.block = dev, block
	for _, s := range a.spans {
		if s.shared {
			s.off += a.size
		}
		*s.dst = block.Slice(s.off, s.off+s.n)
	}
	return nil
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
	a.dev.Free(a.block)
	*a = Arena{}
}
