package asm

// gemmDotsGeneric is the reference. Products are rounded before they are added,
// so that the bits are the same on every architecture.
func gemmDotsGeneric(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	for i := range m {
		for j := range n {
			var s float32
			if k > 0 {
				y := b[j*ldb:][:k]
				for p, x := range a[i*lda:][:k] {
					s += float32(x * y[p])
				}
			}
			if accumulate {
				s += c[i*ldc+j]
			}
			c[i*ldc+j] = s
		}
	}
}
