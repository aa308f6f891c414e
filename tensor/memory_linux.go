package tensor

import (
	"syscall"
	"unsafe"
)

// mapPages returns n zeroed values in pages of their own, which unmapPages
// gives back to the system at once. The kernel is asked to back them by huge
// pages: streaming over a large map misses the TLB at every 4 KiB otherwise.
func mapPages(n int) ([]float32, error) {
	mem, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	// Only advice: a kernel without huge pages refuses it and all is well.
	_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mem))), n), nil
}

// unmapPages gives back what mapPages returned.
func unmapPages(x []float32) error {
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x)))
}
