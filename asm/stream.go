package asm

// Stream copies src to dst past the caches, where the processor can. It is for
// results much larger than the caches: an ordinary store reads the line that it
// is about to overwrite, and puts out what the caches hold. What was written is
// seen by others as after an ordinary copy. It panics with *Error unless the
// lengths are equal; the slices must not overlap.
func Stream(dst, src []float32) {
	n := len(dst)
	same("Stream", "dst", n, "src", len(src))
	raceRead(src)
	raceWrite(dst)
	for n > chunk {
		stream(dst[:chunk], src[:chunk])
		dst, src = dst[chunk:], src[chunk:]
		n -= chunk
	}
	if n > 0 {
		stream(dst, src)
	}
}
