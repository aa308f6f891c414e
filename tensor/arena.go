package tensor

// alignment is in values: 64 bytes, a cache line and the widest vector.
const alignment = 16

// Arena plans the buffers of a network and then binds them to one allocation.
// Reserve notes where each buffer is wanted; Bind allocates once and fills the
// buffers in. Sizes are in float32 values.
type Arena struct {
	spans []span
	size  int
	dev   Device
	block Buffer
}

type span struct {
	dst *Buffer
	off int
	n   int
}

// Reserve plans n values at *dst. The buffer is set by Bind.
func (a *Arena) Reserve(dst *Buffer, n int) {
	if n < 0 || a.dev != nil {
		panic(&Error{"Arena.Reserve", "negative size, or the arena is already bound"})
	}
	a.spans = append(a.spans, span{dst, a.size, n})
	a.size += (n + alignment - 1) / alignment * alignment
}

// Size returns the planned number of values.
func (a *Arena) Size() int { return a.size }

// Bind allocates the planned size on dev and sets every reserved buffer.
func (a *Arena) Bind(dev Device) error {
	if a.dev != nil {
		panic(&Error{"Arena.Bind", "already bound"})
	}
	block, err := dev.Alloc(a.size)
	if err != nil {
		return err
	}
	a.dev, a.block = dev, block
	for _, s := range a.spans {
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
