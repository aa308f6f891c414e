//go:build (amd64 || arm64) && !noasm

package tensor

// pause tells the processor n times that it runs in a spin loop: it yields
// pipeline and power to the other hardware thread and leaves the loop without
// a memory-order flush.
//
//go:noescape
func pause(n uint32)
