package asm

// The tile of the portable kernel. Its inner block is 2x4; the tile is larger
// so that the driver above does not call for every block.
const (
	genericMR = 8
	genericNR = 16
)

// gemmNNGeneric multiplies a strip by panels of genericNR columns of B that are
// distance values apart.
func gemmNNGeneric(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	for q := 0; q < n; q += genericNR {
		gemmGeneric(m, min(genericNR, n-q), k, a, lda, 1, b, ldb, c[q:], ldc, accumulate)
		b = nextPanel(b, distance)
	}
}

// gemmTNGeneric does the same with A stored k-major.
func gemmTNGeneric(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	for q := 0; q < n; q += genericNR {
		gemmGeneric(m, min(genericNR, n-q), k, a, 1, lda, b, ldb, c[q:], ldc, accumulate)
		b = nextPanel(b, distance)
	}
}

// gemmGeneric is the reference of all kernels, for any m and n. Element (i, p)
// of A is a[i*rs+p*cs]. Products are rounded before they are added, so that the
// bits are the same on every architecture.
func gemmGeneric(m, n, k int, a []float32, rs, cs int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	i := 0
	for ; i+2 <= m; i += 2 {
		j := 0
		for ; j+4 <= n; j += 4 {
			gemmBlock2x4(k, a, i*rs, (i+1)*rs, cs, b, j, ldb, c[i*ldc+j:], ldc, accumulate)
		}
		for ; j < n; j++ {
			gemmElement(k, a, i*rs, cs, b, j, ldb, &c[i*ldc+j], accumulate)
			gemmElement(k, a, (i+1)*rs, cs, b, j, ldb, &c[(i+1)*ldc+j], accumulate)
		}
	}
	for ; i < m; i++ {
		for j := range n {
			gemmElement(k, a, i*rs, cs, b, j, ldb, &c[i*ldc+j], accumulate)
		}
	}
}

// gemmBlock2x4 keeps eight sums in registers. A's rows start at a0 and a1.
func gemmBlock2x4(k int, a []float32, a0, a1, cs int, b []float32, j, ldb int, c []float32, ldc int, accumulate bool) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	for range k {
		bp := b[j : j+4 : j+4]
		x, y := a[a0], a[a1]
		s00 += float32(x * bp[0])
		s01 += float32(x * bp[1])
		s02 += float32(x * bp[2])
		s03 += float32(x * bp[3])
		s10 += float32(y * bp[0])
		s11 += float32(y * bp[1])
		s12 += float32(y * bp[2])
		s13 += float32(y * bp[3])
		a0 += cs
		a1 += cs
		j += ldb
	}
	c0, c1 := c[:4:4], c[ldc:ldc+4:ldc+4]
	if accumulate {
		s00, s01, s02, s03 = s00+c0[0], s01+c0[1], s02+c0[2], s03+c0[3]
		s10, s11, s12, s13 = s10+c1[0], s11+c1[1], s12+c1[2], s13+c1[3]
	}
	c0[0], c0[1], c0[2], c0[3] = s00, s01, s02, s03
	c1[0], c1[1], c1[2], c1[3] = s10, s11, s12, s13
}

func gemmElement(k int, a []float32, ai, cs int, b []float32, j, ldb int, c *float32, accumulate bool) {
	var s float32
	for range k {
		s += float32(a[ai] * b[j])
		ai += cs
		j += ldb
	}
	if accumulate {
		s += *c
	}
	*c = s
}
