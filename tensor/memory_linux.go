package tensor

import (
	"syscall"
	"unsafe"
)

// mapPages returns n zeroed values in pages of their own, from the beginning of a
// huge page on. The kernel is asked to back them by such: streaming over a large map
// misses the TLB at every 4 KiB otherwise.
func mapPages(n int) (block, error) {
	// Where a mapping begins is the kernel's choice, so it is a huge page longer. What is not
	// touched takes no memory.
	mapping, err := syscall.Mmap(-1, 0, 4*n+hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return block{}, err
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(mapping))) % hugePage)
	values := mapping[skip:][:4*n]
	// Only advice: a kernel without huge pages refuses it and all is well.
	_ = syscall.Madvise(values, syscall.MADV_HUGEPAGE)
	return block{unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(values))), n), mapping}, nil
}

// unmapPages gives back what mapPages has mapped.
func unmapPages(mapping []byte) error { return syscall.Munmap(mapping) }
