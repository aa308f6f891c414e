//go:build !noasm

package asm

// linearGradSplitAMX is LinearGradSplit for strips*32 rows and panels*32 columns, K = 32;
// it writes the sums of the rows without regard to addW. ahead is in bytes.
//
//go:noescape
func linearGradSplitAMX(strips, panels int, y *float32, ldy int, w, h, dw *float32, lddw int, dh *float32, lddh int, sums *float32, ahead int, addW, addH bool)

//go:noinline
func linearGradSplit(g *GradSplit) {
	rows, cols := g.M&^(splitTile-1), g.N&^(splitTile-1)
	if !fastSplit || g.K != splitTile || rows == 0 || cols == 0 {
		g.parts(0, 0, g.M, g.N)
		return
	}
	// Rows for one call, which cannot be preempted: some ten microseconds.
	const most = 8 * splitTile
	var sums [most]float32
	for i := 0; i < rows; i += most {
		m := min(most, rows-i)
		ahead := splitTile * g.LDY
		if i+m == rows {
			ahead = g.Ahead
		}
		linearGradSplitAMX(m/splitTile, cols/splitTile, &g.Y[i*g.LDY], g.LDY, &g.W[i/splitTile*splitBlock], &g.H[0], &g.DW[i*g.LDDW], g.LDDW, &g.DH[0], g.LDDH, &sums[0], 4*ahead, g.AddW, g.AddH || i > 0)
		if g.AddW {
			add(g.DB[i:i+m], g.DB[i:i+m], sums[:m])
		} else {
			copy(g.DB[i:i+m], sums[:m])
		}
	}
	if cols < g.N {
		g.parts(0, cols, rows, g.N)
	}
	if rows < g.M {
		g.parts(rows, 0, g.M, g.N)
	}
}
