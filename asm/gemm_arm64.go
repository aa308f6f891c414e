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

func gemmNN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	if level != NEON {
		gemmNNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
		return
	}
	for q := 0; q < n; q += neonNR {
		gemmTileNN(m, min(neonNR, n-q), k, a, lda, b, ldb, c[q:], ldc, accumulate)
		b = nextPanel(b, distance)
	}
}

// gemmTileNN is gemmNN for one tile. It is not inlined and calls something, so
// that it has the prologue in which the scheduler can stop a goroutine that
// calls it in a loop.
//
//go:noinline
func gemmTileNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	rows, cols := neonShape(m, n)
	if m == rows && n == cols && k > 0 {
		mode := gemmOverwrite
		if accumulate {
			mode = gemmAdd
		}
		neonNN(rows, cols, m, k, &a[0], lda, &b[0], ldb, &c[0], ldc, mode)
		return
	}
	// The kernels load whole rows of B. Where such a load would lead out of b,
	// the rows are copied first.
	var tile [neonMR * neonNR]float32
	safe := neonSteps(len(b), ldb, cols, k)
	if safe > 0 {
		neonNN(rows, cols, m, safe, &a[0], lda, &b[0], ldb, &tile[0], neonNR, gemmResume)
	}
	var rest [neonRest * neonNR]float32
	for p := safe; p < k; p += neonRest {
		steps := min(neonRest, k-p)
		neonCopy(&rest, b, p, steps, ldb, n, neonNR)
		neonNN(rows, cols, m, steps, &a[p], lda, &rest[0], neonNR, &tile[0], neonNR, gemmResume)
	}
	neonStore(m, n, &tile, c, ldc, accumulate)
}

func gemmTN(m, n, k int, a []float32, lda int, b []float32, ldb, distance int, c []float32, ldc int, accumulate bool) {
	if level != NEON {
		gemmTNGeneric(m, n, k, a, lda, b, ldb, distance, c, ldc, accumulate)
		return
	}
	for q := 0; q < n; q += neonNR {
		gemmTileTN(m, min(neonNR, n-q), k, a, lda, b, ldb, c[q:], ldc, accumulate)
		b = nextPanel(b, distance)
	}
}

// gemmTileTN is gemmTN for one tile. It is not inlined and calls something, so
// that it has the prologue in which the scheduler can stop a goroutine that
// calls it in a loop.
//
//go:noinline
func gemmTileTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	rows, cols := neonShape(m, n)
	if m == rows && n == cols && k > 0 {
		mode := gemmOverwrite
		if accumulate {
			mode = gemmAdd
		}
		neonTN(rows, cols, k, &a[0], lda, &b[0], ldb, &c[0], ldc, mode)
		return
	}
	var tile [neonMR * neonNR]float32
	safe := min(neonSteps(len(a), lda, rows, k), neonSteps(len(b), ldb, cols, k))
	if safe > 0 {
		neonTN(rows, cols, safe, &a[0], lda, &b[0], ldb, &tile[0], neonNR, gemmResume)
	}
	var restA, restB [neonRest * neonNR]float32
	for p := safe; p < k; p += neonRest {
		steps := min(neonRest, k-p)
		neonCopy(&restA, a, p, steps, lda, m, neonMR)
		neonCopy(&restB, b, p, steps, ldb, n, neonNR)
		neonTN(rows, cols, steps, &restA[0], neonMR, &restB[0], neonNR, &tile[0], neonNR, gemmResume)
	}
	neonStore(m, n, &tile, c, ldc, accumulate)
}

// neonShape returns the smallest kernel that covers m x n.
func neonShape(m, n int) (rows, cols int) {
	switch {
	case n <= 4:
		return 8, 4
	case m <= 4:
		return 4, neonNR
	}
	return neonMR, neonNR
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

func neonNN(rows, cols, m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode int) {
	switch {
	case cols == 4:
		gemm8x4NNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	case rows == 4:
		gemm4x12NNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	default:
		gemm8x12NNNEON(m, k, a, lda, b, ldb, c, ldc, mode)
	}
}

func neonTN(rows, cols, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc, mode int) {
	switch {
	case cols == 4:
		gemm8x4TNNEON(k, a, lda, b, ldb, c, ldc, mode)
	case rows == 4:
		gemm4x12TNNEON(k, a, lda, b, ldb, c, ldc, mode)
	default:
		gemm8x12TNNEON(k, a, lda, b, ldb, c, ldc, mode)
	}
}

// gemm8x12NNNEON computes a tile of 8 rows and 12 columns. Rows i >= m of A are
// not read; those of C are computed from some other row of A.
//
//go:noescape
func gemm8x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm4x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm8x4NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

// gemm8x12TNNEON is gemm8x12NNNEON with A stored k-major, a[p*lda+i]. It reads
// all 8 rows.
//
//go:noescape
func gemm8x12TNNEON(k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm4x12TNNEON(k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)

//go:noescape
func gemm8x4TNNEON(k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
