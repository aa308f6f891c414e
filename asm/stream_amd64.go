//go:build !noasm

package asm

import "unsafe"

// dst[i] = src[i] for i < n, a multiple of 16; dst lies at a multiple of 64
// bytes.
//
//go:noescape
func streamAVX2(dst, src *float32, n int)

//go:noinline
func stream(dst, src []float32) {
	head := int(-uintptr(unsafe.Pointer(&dst[0]))%64) / 4 // to the next line
	if level == Generic || len(dst) < head+16 {
		copy(dst, src)
		return
	}
	end := head + (len(dst)-head)&^15
	copy(dst[:head], src[:head])
	streamAVX2(&dst[head], &src[head], end-head)
	copy(dst[end:], src[end:])
}
