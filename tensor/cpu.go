package tensor

import (
	"errors"
	"fmt"
	"math/bits"
)

// CPU is the Device that computes at once, on the calling goroutine and the
// workers of a Team, with the kernels of package asm. Its buffers are ordinary
// memory: Buffer.Host shows it.
//
// Results do not depend on the number of threads, bit for bit: work is split
// over outputs, and a sum is always taken over the same blocks in the same
// order.
//
// Buffers longer than an operation's sizes ask for are welcome; the operation
// touches their beginning. Shorter ones panic with *Error.
type CPU struct {
	team   *Team
	blocks map[uintptr]block // what Alloc returned, by address
	closed bool

	// The tasks of the operations, kept so that a call allocates nothing.
	vector      vectorTask
	rows        rowsTask
	columns     columnsTask
	reduce      reduceTask
	batchNorm   batchNormTask
	standardize standardizeTask
	layerNorm   layerNormTask
	pool        poolTask
	globalMax   globalMaxTask
	softmax     softmaxTask
	layout      layoutTask

	partial []float64   // sums of blocks, see reserve
	moments []moments   // of segments, for normalisations
	scratch [][]float32 // one for each worker, see reserve

	workspace Buffer // of all workers, see ReserveWorkspace
}

var _ Device = (*CPU)(nil)

var errClosed = errors.New("tensor: the device is closed")

// NewCPU returns a device that uses the given number of threads, the caller's
// included: 1..1024, and best not more than there are processors.
func NewCPU(threads int) (*CPU, error) {
	team, err := NewTeam(threads)
	if err != nil {
		return nil, err
	}
	return &CPU{
		team:    team,
		blocks:  make(map[uintptr]block),
		scratch: make([][]float32, threads),
	}, nil
}

// Name returns "cpu".
func (d *CPU) Name() string { return "cpu" }

// Team returns the workers of the device.
func (d *CPU) Team() *Team { return d.team }

// Threads returns the number of threads, the caller's included.
func (d *CPU) Threads() int { return d.team.Size() }

// Sync returns nil: all work is done when a call returns.
func (d *CPU) Sync() error { return nil }

// Alloc returns n zeroed values, aligned to 64 bytes. Blocks of 2 MiB and more
// have pages of their own, which Free returns to the system. The error says how
// many bytes were wanted, or that the device is closed.
func (d *CPU) Alloc(n int) (Buffer, error) {
	if d.closed {
		return Buffer{}, errClosed
	}
	if err := checkSize(n); err != nil {
		return Buffer{}, err
	}
	if n == 0 {
		return HostBuffer([]float32{}), nil
	}
	b, err := newBlock(n)
	if err != nil {
		return Buffer{}, &AllocError{n, err}
	}
	d.blocks[address(b.values)] = b
	return HostBuffer(b.values), nil
}

// Free gives back what Alloc returned. It does nothing for an empty Buffer, nor
// after Close, which has freed all memory. It panics with *Error for a Buffer
// that Alloc did not return or that is free already.
func (d *CPU) Free(b Buffer) {
	if b.n == 0 || d.closed {
		return
	}
	key := address(b.host)
	blk, ok := d.blocks[key]
	if !ok || len(blk.values) != b.n {
		panic(&Error{"Free", "not a buffer that Alloc returned, or freed twice"})
	}
	delete(d.blocks, key)
	blk.release()
}

// Close ends the workers and frees all memory that Alloc returned, so no buffer
// of the device may be touched afterwards. Closing again does nothing.
func (d *CPU) Close() error {
	d.team.Close()
	d.closed = true
	for _, blk := range d.blocks {
		blk.release()
	}
	clear(d.blocks)
	d.workspace = Buffer{}
	return nil
}

// grain is the number of values that are worth handing to a worker: 64 KiB, a
// few microseconds of streaming against the 0.5 us of a dispatch.
const grain = 16384

// perClaim returns how many items of the given number of values make a grain.
func perClaim(values int) int { return max(1, grain/max(1, values)) }

// reserve makes partial at least sums long, and every worker's scratch at least
// values long. Only a call that is larger than all before it allocates.
func (d *CPU) reserve(sums, values int) {
	if len(d.partial) < sums {
		d.partial = make([]float64, sums)
	}
	for i := range d.scratch {
		if len(d.scratch[i]) < values {
			d.scratch[i] = make([]float32, values)
		}
	}
}

// host returns the first n values of b. It panics when b is shorter or is not
// in CPU memory; arg is the name of the argument.
func host(op, arg string, b Buffer, n int) []float32 {
	if b.n < n || (b.host == nil && n > 0) {
		panic(bufferError(op, arg, b, n))
	}
	return b.host[:n:n]
}

func bufferError(op, arg string, b Buffer, n int) *Error {
	if b.host == nil && b.n > 0 {
		return &Error{op, arg + " lies in the memory of another device"}
	}
	return &Error{op, fmt.Sprintf("%s has %d values, want %d", arg, b.n, n)}
}

// optional is host for an operand that may be left out: nil then.
func optional(op, arg string, b Buffer, n int) []float32 {
	if b.IsZero() {
		return nil
	}
	return host(op, arg, b, n)
}

// same is host for the operands of an elementwise operation, which must have
// exactly n values.
func same(op, arg string, b Buffer, n int) []float32 {
	if b.n != n {
		panic(bufferError(op, arg, b, n))
	}
	return host(op, arg, b, n)
}

// product returns the product of sizes. It panics when one is negative or the
// product is too large to be a number of values.
func product(op string, sizes ...int) int {
	p := 1
	for _, s := range sizes {
		hi, lo := bits.Mul64(uint64(p), uint64(s))
		if s < 0 || hi != 0 || lo > maxValues {
			panic(&Error{op, fmt.Sprintf("sizes %v", append([]int(nil), sizes...))})
		}
		p = int(lo)
	}
	return p
}
