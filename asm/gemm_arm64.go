//go:build !noasm

package asm

// The register tile of NEON: 24 vectors of C, three of B, the rest for A.
const (
	neonMR = 8
	neonNR = 12
)

// What a NEON kernel does with C, see gemm_arm64.s.
const (
	gemmOverwrite = iota
	gemmAdd
	gemmResume
)

func gemmTile() (mr, nr int) {
	if level == NEON {
		return neonMR, neonNR
	}
	return genericMR, genericNR
}

// fullStrips: the kernels compute 4 or 8 rows.
func fullStrips() bool { return level == NEON }

// fewStepRows: there are no kernels for few steps.
func fewStepRows(int) int { return 0 }

// gemmNN is not inlined and calls something, so that it has the prologue in which the
// scheduler can stop a goroutine that calls it in a loop.
//
//go:noinline
func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	if level != NEON {
		gemmNNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
		return
	}
	if tiles := n / neonNR; tiles > 0 && k > 0 {
		neonTilesNN(m, k, &a[0], lda, &b[0], ldb, &c[0], ldc, neonMode(accumulate), tiles, distance)
		b, c, n = from(b, tiles*distance), c[tiles*neonNR:], n-tiles*neonNR
	}
	if whole := n &^ 3; whole > 0 && k > 0 {
		neonNN(m, whole, k, &a[0], lda, &b[0], ldb, &c[0], ldc, neonMode(accumulate))
		b, c, n = from(b, whole), c[whole:], n-whole
	}
	for q := 0; q < n; q += neonNR {
		gemmRestNN(m, min(neonNR, n-q), k, a, lda, from(b, q), ldb, c[q:], ldc, accumulate)
	}
}

// gemmRestNN takes columns that are no whole vectors. The kernels load whole rows of B. Where
// such a load would lead out of b, the rows are copied first.
func gemmRestNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	cols := neonColumns(n)
	var tile [neonMR * neonNR]float32
	safe := neonSteps(len(b), ldb, cols, k)
	if safe > 0 {
		neonNN(m, cols, safe, &a[0], lda, &b[0], ldb, &tile[0], neonNR, gemmResume)
	}
	var rest [neonRest * neonNR]float32
	for p := safe; p < k; p += neonRest {
		steps := min(neonRest, k-p)
		neonCopy(&rest, b, p, steps, ldb, n, neonNR)
		neonNN(m, cols, steps, &a[p], lda, &rest[0], neonNR, &tile[0], neonNR, gemmResume)
	}
	neonStore(m, n, &tile, c, ldc, accumulate)
}

// gemmTN is not inlined, like gemmNN.
//
//go:noinline
func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	if level != NEON {
		gemmTNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
		return
	}
	if tiles := n / neonNR; tiles > 0 && k > 0 && neonSteps(len(a), lda, neonRows(m, neonNR), k) == k {
		neonTilesTN(m, k, &a[0], lda, &b[0], ldb, &c[0], ldc, neonMode(accumulate), tiles, distance)
		b, c, n = from(b, tiles*distance), c[tiles*neonNR:], n-tiles*neonNR
	}
	if whole := n &^ 3; whole > 0 && whole < neonNR && k > 0 && neonSteps(len(a), lda, neonMR, k) == k {
		neonTN(m, whole, k, &a[0], lda, &b[0], ldb, &c[0], ldc, neonMode(accumulate))
		b, c, n = from(b, whole), c[whole:], n-whole
	}
	for ; n > 0; n -= neonNR {
		gemmRestTN(m, min(neonNR, n), k, a, lda, b, ldb, c, ldc, accumulate)
		b, c = from(b, distance), c[min(len(c), neonNR):]
	}
}

// gemmRestTN takes what would lead out of a or b, like gemmRestNN.
func gemmRestTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	cols := neonColumns(n)
	var tile [neonMR * neonNR]float32
	safe := min(neonSteps(len(a), lda, neonRows(m, cols), k), neonSteps(len(b), ldb, cols, k))
	if safe > 0 {
		neonTN(m, cols, safe, &a[0], lda, &b[0], ldb, &tile[0], neonNR, gemmResume)
	}
	var restA, restB [neonRest * neonNR]float32
	for p := safe; p < k; p += neonRest {
		steps := min(neonRest, k-p)
		neonCopy(&restA, a, p, steps, lda, m, neonMR)
		neonCopy(&restB, b, p, steps, ldb, n, neonNR)
		neonTN(m, cols, steps, &restA[0], neonMR, &restB[0], neonNR, &tile[0], neonNR, gemmResume)
	}
	neonStore(m, n, &tile, c, ldc, accumulate)
}

// neonMode returns what a kernel does with C.
func neonMode(accumulate bool) int {
	if accumulate {
		return gemmAdd
	}
	return gemmOverwrite
}

// neonColumns returns the columns of the smallest kernel that covers n.
func neonColumns(n int) int { return (n + 3) &^ 3 }

// neonRows returns the rows that a kernel of so many columns takes for m.
func neonRows(m, cols int) int {
	if m <= 4 && cols == neonNR {
		return 4
	}
	return neonMR
}

// neonSteps returns how many leading rows of a matrix with k rows, ld apart in
// size values, can be read width values wide.
func neonSteps(size, ld, width, k int) int {
	switch {
	case size < width:
		return 0
	case ld == 0:
		return k
	}
	return min(k, (size-width)/ld+1)
}

// neonRest is the number of rows that are copied at a time. With a leading
// dimension not below the width of a kernel there is never more than one.
const neonRest = 4

// neonCopy copies n values of each of the rows p..p+steps-1 of src to rows of
// dst that are width apart. What dst holds beyond them does not matter: it
// enters rows and columns of the tile that are dropped.
func neonCopy(dst *[neonRest * neonNR]float32, src []float32, p, steps, ld, n, width int) {
	for s := range steps {
		copy(dst[s*width:s*width+n], src[(p+s)*ld:])
	}
}

// neonStore writes the upper left m x n of tile to c, in the arithmetic of the
// kernels.
func neonStore(m, n int, tile *[neonMR * neonNR]float32, c []float32, ldc int, accumulate bool) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		for j, s := range tile[i*neonNR : i*neonNR+n] {
			if accumulate {
				s += row[j]
			}
			row[j] = s
		}
	}
}

// neonTilesNN multiplies m rows by tiles of 12 columns.
func neonTilesNN(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode, tiles, distance int) {
	if m <= 4 {
		gemm4x12NNNEON(m, k, a, lda, b, ldb, c, ldc, mode, tiles, distance)
	} else {
		gemm8x12NNNEON(m, k, a, lda, b, ldb, c, ldc, mode, tiles, distance)
	}
}

// neonTilesTN is neonTilesNN with A stored k-major, of which it reads neonRows rows.
func neonTilesTN(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode, tiles, distance int) {
	if m <= 4 {
		gemm4x12TNNEON(m, k, a, lda, b, ldb, c, ldc, mode, tiles, distance)
	} else {
		gemm8x12TNNEON(m, k, a, lda, b, ldb, c, ldc, mode, tiles, distance)
	}
}

// neonNN multiplies m rows by 4, 8 or 12 columns.
func neonNN(m, cols, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode int) {
	switch cols {
	case 4:
		gemm8x4NNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	case 8:
		gemm8x8NNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	default:
		neonTilesNN(m, k, a, lda, b, ldb, c, ldc, mode, 1, 0)
	}
}

// neonTN is neonNN with A stored k-major, of which it reads neonRows rows.
func neonTN(m, cols, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode int) {
	switch cols {
	case 4:
		gemm8x4TNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	case 8:
		gemm8x8TNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	default:
		neonTilesTN(m, k, a, lda, b, ldb, c, ldc, mode, 1, 0)
	}
}

// gemm8x12NNNEON computes tiles of 1 <= m <= 8 rows and 12 columns, beside each other in C and a
// distance apart in B. Other rows of A are not read.
//
//go:noescape
func gemm8x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)

//go:noescape
func gemm4x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)

//go:noescape
func gemm8x8NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm8x4NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

// gemm8x12TNNEON is gemm8x12NNNEON with A stored k-major, a[p*lda+i]. It reads
// all 8 rows.
//
//go:noescape
func gemm8x12TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)

//go:noescape
func gemm4x12TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)

//go:noescape
func gemm8x8TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm8x4TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
