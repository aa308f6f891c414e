//go:build !noasm

package asm

// With NEON the functions are put together from kernels of other files, on pieces of
// rows, or of one row, that stay in the first-level cache.

// colPiece is the number of values of a piece.
const colPiece = 2 << 10

// colScratch holds what belongs to a piece: t = x - mean, z normalised, and vectors of
// the columns.
type colScratch struct{ t, z, ones, shift [colPiece]float32 }

// colPieces calls f for all pieces of rows of so many columns: where it begins in the
// matrix and in a row, and the numbers of its rows and columns.
func colPieces(values, cols int, f func(at, c, rows, n int)) {
	rows := values / cols
	step := max(1, colPiece/cols)
	for r := 0; r < rows; r += step {
		for c := 0; c < cols; c += colPiece {
			f(r*cols+c, c, min(step, rows-r), min(colPiece, cols-c))
		}
	}
}

// distance returns t of the piece of x with the means of its columns.
func (v *colScratch) distance(x, mean []float32) []float32 {
	t, n := v.t[:len(x)], len(mean)
	Fill(v.ones[:n], 1)
	Affine(v.shift[:n], mean, -1, 0)
	ColAffine(t, x, v.ones[:n], v.shift[:n])
	return t
}

// load returns t and z of the piece of x that begins with column c.
func (v *colScratch) load(x []float32, m *ColNormMap, c, n int) (t, z []float32) {
	t, z = v.distance(x, m.Mean[c:c+n]), v.z[:len(x)]
	ColAffine(z, t, m.Scale[c:c+n], m.Shift[c:c+n])
	return t, z
}

// passed replaces z by dy where that passes, and else by 0.
func passed(z, dy []float32, floor float32) {
	if floor == 0 {
		ReluGrad(z, dy, z)
		return
	}
	for i, v := range z {
		z[i] = 0
		if passes(v, floor) {
			z[i] = dy[i]
		}
	}
}

//go:noinline
func colNorm(dst, x []float32, m *ColNormMap) {
	if level != NEON {
		colNormGeneric(dst, x, m)
		return
	}
	var v colScratch
	colPieces(len(x), len(m.Mean), func(at, c, rows, n int) {
		_, z := v.load(x[at:at+rows*n], m, c, n)
		if m.Floor == 0 {
			Relu(dst[at:at+rows*n], z)
			return
		}
		for i, y := range z {
			if m.Floor > y {
				y = m.Floor
			}
			dst[at+i] = y
		}
	})
}

//go:noinline
func colNormSums(sum, dot []float64, dy, x []float32, m *ColNormMap) {
	if level != NEON {
		colNormSumsGeneric(sum, dot, dy, x, m)
		return
	}
	var v colScratch
	var sums [colPiece]float32
	colPieces(len(x), len(m.Mean), func(at, c, rows, n int) {
		t, g := v.load(x[at:at+rows*n], m, c, n)
		passed(g, dy[at:at+rows*n], m.Floor)
		ColSum(sums[:n], g)
		widen(sum[c:c+n], &sums)
		ColDot(sums[:n], g, t)
		widen(dot[c:c+n], &sums)
	})
}

// widen adds v to sums.
func widen(sums []float64, v *[colPiece]float32) {
	for j := range sums {
		sums[j] += float64(v[j])
	}
}

//go:noinline
func colNormGrad(dst, dy, x []float32, m *ColNormMap, p, q, r []float32) {
	if level != NEON {
		colNormGradGeneric(dst, dy, x, m, p, q, r)
		return
	}
	var v colScratch
	colPieces(len(x), len(m.Mean), func(at, c, rows, n int) {
		end := at + rows*n
		t, g := v.load(x[at:end], m, c, n)
		passed(g, dy[at:end], m.Floor)
		ColAffine(t, t, q[c:c+n], r[c:c+n])
		for i := 0; i < len(t); i += n {
			MulAdd(t[i:i+n], p[c:c+n], g[i:i+n])
		}
		copy(dst[at:end], t)
	})
}

//go:noinline
func colMoments(sum, squares []float64, x, pivot []float32) {
	if level != NEON {
		colMomentsGeneric(sum, squares, x, pivot)
		return
	}
	var v colScratch
	var sums [colPiece]float32
	colPieces(len(x), len(pivot), func(at, c, rows, n int) {
		t := v.distance(x[at:at+rows*n], pivot[c:c+n])
		ColSum(sums[:n], t)
		widen(sum[c:c+n], &sums)
		ColDot(sums[:n], t, t)
		widen(squares[c:c+n], &sums)
	})
}
