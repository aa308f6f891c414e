package tensor

// Buffer is a span of float32 values in some device's memory. It is a small
// value: copy it, slice it, keep it. It carries no shape. The zero Buffer is
// empty and belongs to no device.
type Buffer struct {
	host []float32 // CPU memory; nil for memory that only the device can reach
	addr uintptr   // device address in bytes when host is nil
	n    int       // length in float32 values
}

// HostBuffer wraps CPU memory.
func HostBuffer(x []float32) Buffer { return Buffer{host: x, n: len(x)} }

// DeviceBuffer wraps n float32 values at the device address addr (bytes).
func DeviceBuffer(addr uintptr, n int) Buffer { return Buffer{addr: addr, n: n} }

// Len returns the number of float32 values.
func (b Buffer) Len() int { return b.n }

// IsZero reports whether b is the zero Buffer.
func (b Buffer) IsZero() bool { return b.n == 0 && b.host == nil && b.addr == 0 }

// Host returns the values when they lie in CPU memory, and nil otherwise.
func (b Buffer) Host() []float32 { return b.host }

// Addr returns the device address (bytes) of memory that the CPU cannot reach.
func (b Buffer) Addr() uintptr { return b.addr }

// Slice returns the values i <= index < j, sharing memory with b. It panics
// when the range does not lie within b.
func (b Buffer) Slice(i, j int) Buffer {
	if i < 0 || j < i || j > b.n {
		panic(rangeError("Buffer.Slice", i, j, b.n))
	}
	if b.host != nil {
		return Buffer{host: b.host[i:j:j], n: j - i}
	}
	return Buffer{addr: b.addr + 4*uintptr(i), n: j - i}
}
