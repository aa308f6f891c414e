package asm

// GradSplit are the operands of LinearGradSplit, matrices row-major with leading
// dimensions in values.
type GradSplit struct {
	M, N, K int

	// Y [M, N] is the gradient of C in C = A*B + bias.
	Y   []float32
	LDY int
	// W are the transposes of 32 rows of A after another, [K, 32] each, and H is the
	// transpose of B [N, K]: each of W from SplitLeft, H from SplitRight.
	W, H []float32

	// DW [M, K] is Y*H, DB [M] the sums of the rows of Y, DH [K, N] is A'*Y. With
	// AddW, DW and DB are added to what is there, with AddH DH.
	DW, DB, DH []float32
	LDDW, LDDH int
	AddW, AddH bool

	// Work is scratch, GradSplitWork values.
	Work []float32
	// Ahead is how many values behind the last 32 rows of Y those lie that will be taken
	// next, which the processor is asked to bring. It is a hint and may be anything.
	Ahead int
}

// GradSplitWork is the number of values of scratch that LinearGradSplit needs.
const GradSplitWork = 2 * splitBlock

// LinearGradSplit goes back through LinearSplit. Y is read once, 32 rows at a time:
//
//	DW[i*LDDW+p] = sum over j < N of Y[i*LDY+j]*B[p, j]
//	DB[i]        = sum over j < N of Y[i*LDY+j]
//	DH[p*LDDH+j] = sum over i < M of A[i, p]*Y[i*LDY+j]
//
// DW and DH have the bits of GemmSplit added up block by block of 32 rows and 32
// columns; the sums of DB are taken in float32, in an order that depends on the
// level and on N alone.
func LinearGradSplit(g *GradSplit) {
	const op = "LinearGradSplit"
	if g.M < 0 || g.N < 0 || g.K < 1 {
		panic(&Error{op, "M or N below 0, or K below 1"})
	}
	if g.M == 0 || g.N == 0 {
		return
	}
	strips := over(g.M, splitTile)
	checkRows(op, "Y", g.Y, g.M, g.N, g.LDY)
	checkDst(op, "DW", g.DW, g.M, g.K, g.LDDW)
	checkDst(op, "DH", g.DH, g.K, g.N, g.LDDH)
	for _, c := range []struct {
		name        string
		have, least int
	}{
		{"W", len(g.W), times(strips, SplitSize(g.K, splitTile))},
		{"H", len(g.H), SplitSize(g.K, g.N)},
		{"DB", len(g.DB), g.M},
		{"Work", len(g.Work), GradSplitWork},
	} {
		if c.have < c.least {
			panic(&Error{op, c.name + " is too short"})
		}
	}
	if raceEnabled {
		raceReadRows(g.Y, g.M, g.N, g.LDY)
		raceRead(g.W[:strips*SplitSize(g.K, splitTile)])
		raceRead(g.H[:SplitSize(g.K, g.N)])
		raceWriteRows(g.DW, g.M, g.K, g.LDDW)
		raceWriteRows(g.DH, g.K, g.N, g.LDDH)
		raceWrite(g.DB[:g.M])
		raceWrite(g.Work[:GradSplitWork])
	}
	linearGradSplit(g)
}

// parts is LinearGradSplit for rows i to m and columns j to n.
func (g *GradSplit) parts(i, j, m, n int) {
	left, right := g.Work[:splitBlock], g.Work[splitBlock:2*splitBlock]
	sizeH, sizeW := splitSteps(g.N)*splitBlock, SplitSize(g.K, splitTile)
	for ; i < m; i += splitTile {
		rows := min(splitTile, m-i)
		for j := j; j < n; j += splitTile {
			cols := min(splitTile, n-j)
			y := g.Y[i*g.LDY+j:]
			splitLeft(left, y, g.LDY, rows, cols)
			splitRight(right, y, g.LDY, rows, cols)
			add := g.AddW || j > 0
			for r := range rows {
				v := float32(sum(y[r*g.LDY:][:cols]))
				if add {
					v += g.DB[i+r]
				}
				g.DB[i+r] = v
			}
			for p := 0; p < g.K; p += splitTile {
				width := min(splitTile, g.K-p)
				h := g.H[p/splitTile*sizeH+j/splitTile*splitBlock:]
				gemmSplit(rows, width, 1, left, h, g.DW[i*g.LDDW+p:], g.LDDW, add)
				w := g.W[i/splitTile*sizeW+p/splitTile*splitBlock:]
				gemmSplit(width, cols, 1, w, right, g.DH[p*g.LDDH+j:], g.LDDH, g.AddH || i > 0)
			}
		}
	}
}
