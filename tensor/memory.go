package tensor

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// hugePage is the size of a huge page in bytes, and that from which on memory is taken from the
// system in pages of its own rather than from the Go heap.
const hugePage = 2 << 20

// maxValues is the largest number of values whose size in bytes is an int.
const maxValues = math.MaxInt / 4

// AllocError reports memory that there is not enough of, or that cannot be asked for.
type AllocError struct {
	Values int   // that were wanted
	Err    error // the reason
}

func (e *AllocError) Error() string {
	bytes := fmt.Sprint(4 * int64(e.Values))
	if e.Values > maxValues {
		bytes = fmt.Sprintf("%.3g", 4*float64(e.Values))
	}
	return fmt.Sprintf("tensor: allocation of %d values (%s bytes): %v", e.Values, bytes, e.Err)
}

// Unwrap returns the reason.
func (e *AllocError) Unwrap() error { return e.Err }

// checkSize returns the error of an allocation that cannot even be asked for.
func checkSize(n int) error {
	if n < 0 {
		return &AllocError{n, errors.New("the number is negative")}
	}
	if n > maxValues-hugePage/4 {
		return &AllocError{n, errors.New("more than can be addressed")}
	}
	return nil
}

// allocate returns n zeroed values of the Go heap, aligned to 64 bytes. It
// takes care of sizes beyond the address space, which make panics on; beyond
// the memory at hand the Go runtime ends the program.
func allocate(n int) (x []float32, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	x = make([]float32, n+alignment-1)
	skip := 0
	if rest := uintptr(unsafe.Pointer(unsafe.SliceData(x))) % (4 * alignment); rest != 0 {
		skip = alignment - int(rest/4)
	}
	return x[skip : skip+n : skip+n], nil
}

// address returns where x lies.
func address(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// block is one allocation. The zero block has no values.
type block struct {
	values  []float32
	mapping []byte // the pages that it lies in, nil for memory of the Go heap
}

// newBlock returns n zeroed values, aligned to 64 bytes, from hugePage bytes on in pages of their own.
func newBlock(n int) (b block, err error) {
	if 4*n >= hugePage {
		return mapPages(n)
	}
	b.values, err = allocate(n)
	return b, err
}

// release gives mapped pages back to the system. Nothing may touch the values afterwards.
func (b block) release() {
	if b.mapping == nil {
		return
	}
	if err := unmapPages(b.mapping); err != nil {
		panic(&Error{"Free", err.Error()})
	}
}
