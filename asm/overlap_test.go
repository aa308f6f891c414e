//go:build linux

package asm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// overlapping hands out the operands of a call at a fence: integers, the same ones for every call.
type overlapping struct {
	*fence
	distance func(width int) int // of rows that are read
	apart    bool                // each of these rows is stored by itself instead
	source   rand.PCG
	results  [][]float32
}

// values returns n values that are read.
func (o *overlapping) values(n int) []float32 {
	x, rng := o.take(n), rand.New(&o.source)
	for i := range x {
		x[i] = integer(rng)
	}
	return x
}

// matrix returns rows that are read, and their distance.
func (o *overlapping) matrix(rows, width int) ([]float32, int) {
	ld := o.distance(width)
	x := o.values((rows-1)*ld + width)
	if !o.apart {
		return x, ld
	}
	stored := make([]float32, 0, rows*width)
	for i := range rows {
		stored = append(stored, x[i*ld:][:width]...)
	}
	return stored, width
}

// result returns n values that are written.
func (o *overlapping) result(n int) []float32 {
	x := o.values(n)
	o.results = append(o.results, x)
	return x
}

// run returns what a call writes.
func (o *overlapping) run(apart bool, call func()) [][]float32 {
	o.apart, o.used, o.results = apart, 0, nil
	o.source.Seed(7, 4)
	call()
	for i, x := range o.results {
		o.results[i] = slices.Clone(x)
	}
	return o.results
}

// TestOverlappingRows runs every function whose operands may have rows that overlap, down to one row for all, and demands
// the bits that rows stored apart give it. Sums of integers are exact.
func TestOverlappingRows(t *testing.T) {
	if raceEnabled {
		t.Skip("the assembly is the same without the race detector, and Go checks its own bounds")
	}
	o := &overlapping{fence: newFence(t, 12, 12000)}
	spare := make([]float32, ComplexSpare)
	distances := map[string]func(width int) int{
		"0":     func(int) int { return 0 },
		"1":     func(int) int { return 1 },
		"w/2":   func(w int) int { return w / 2 },
		"w - 1": func(w int) int { return w - 1 },
	}
	eachLevel(t, func(t *testing.T) {
		calls := overlappingCalls(o, spare)
		for of, distance := range distances {
			o.distance = distance
			for name, call := range calls {
				for _, m := range []int{1, 2, 3, 6, 14, 20} {
					for _, n := range []int{1, 7, 16, 33} {
						for _, k := range []int{1, 2, 4, 5, 16} {
							what := fmt.Sprintf("%s of m=%d, n=%d, k=%d with rows of w values %s apart", name, m, n, k, of)
							o.check(t, what, func() {
								want := o.run(true, func() { call(m, n, k) })
								for i, got := range o.run(false, func() { call(m, n, k) }) {
									sameBits(t, fmt.Sprintf("%s, result %d", what, i), got, want[i])
								}
							})
							if t.Failed() {
								return
							}
						}
					}
				}
			}
		}
	})
}

// overlappingCalls returns the calls of TestOverlappingRows at the active level.
func overlappingCalls(o *overlapping, spare []float32) map[string]func(m, n, k int) {
	x, y, matrix := o.values, o.result, o.matrix
	mr, nr := GemmTile()
	var ahead [4][]float32
	gaussSpare := make([]float32, GaussSpare)
	panel := func(m, n, rows int) GaussShape {
		s := GaussShape{Columns: []GaussColumn{{0, []float32{1}}, {1, []float32{1, 2, 3}}}, Rows: min(rows, 15), N: min(n, 17), M: min(m, 16)}
		s.YPlane = s.Rows * s.M
		return s
	}
	// A panel has rows of its own, which follow one another.
	panels := func(n, k int) ([]float32, int) {
		last := (n - 1) / nr
		return x(last*k*nr + (k-1)*nr + n - last*nr), k * nr
	}
	return map[string]func(m, n, k int){
		"GemmNN": func(m, n, k int) {
			m, n = min(m, mr), min(n, nr)
			a, lda := matrix(m, k)
			b, ldb := matrix(k, n)
			GemmNN(m, n, k, a, lda, b, ldb, y(m*n), n, true)
		},
		"GemmTN": func(m, n, k int) {
			m, n = min(m, mr), min(n, nr)
			a, lda := matrix(k, m)
			b, ldb := matrix(k, n)
			GemmTN(m, n, k, a, lda, b, ldb, y(m*n), n, true)
		},
		"GemmStripNN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(m, k)
			b, ldb := matrix(k, n)
			GemmStripNN(m, n, k, a, lda, b, ldb, y(m*n), n, false)
		},
		"GemmStripTN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(k, m)
			b, ldb := matrix(k, n)
			GemmStripTN(m, n, k, a, lda, b, ldb, y(m*n), n, false)
		},
		"GemmPanelsNN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(m, k)
			b, distance := panels(n, k)
			GemmPanelsNN(m, n, k, a, lda, b, distance, y(m*n), n, true)
		},
		"GemmPanelsTN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(k, m)
			b, distance := panels(n, k)
			GemmPanelsTN(m, n, k, a, lda, b, distance, y(m*n), n, true)
		},
		"GemmPanelsAheadNN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(m, k)
			b, distance := panels(n, k)
			GemmPanelsAheadNN(m, n, k, a, lda, b, distance, y(m*n), n, Ahead{b, n, 3}, false)
		},
		"GemmPanelsAheadTN": func(m, n, k int) {
			m = min(m, mr)
			a, lda := matrix(k, m)
			b, distance := panels(n, k)
			GemmPanelsAheadTN(m, n, k, a, lda, b, distance, y(m*n), n, Ahead{b, n, 3}, false)
		},
		"GemmComplexNN": func(m, n, k int) {
			ar, lda := matrix(m, k)
			ai, _ := matrix(m, k)
			br, ldb := matrix(k, n)
			bi, _ := matrix(k, n)
			GemmComplexNN(m, n, k, ar, ai, lda, br, bi, ldb, y(m*n), y(m*n), n, true, ahead, spare)
		},
		"GemmComplexTN": func(m, n, k int) {
			ar, lda := matrix(k, m)
			ai, _ := matrix(k, m)
			br, ldb := matrix(k, n)
			bi, _ := matrix(k, n)
			GemmComplexTN(m, n, k, ar, ai, lda, br, bi, ldb, y(m*n), y(m*n), n, false, ahead, spare)
		},
		"GemmComplexPanelsNN": func(m, n, k int) {
			ar, lda := matrix(m, k)
			ai, _ := matrix(m, k)
			br, distance := panels(n, k)
			bi, _ := panels(n, k)
			GemmComplexPanelsNN(m, n, k, ar, ai, lda, br, bi, distance, y(m*n), y(m*n), n, false, ahead, spare)
		},
		"GemmComplexQuads": func(m, n, k int) {
			n, k = min(n, QuadColumns), 4*k
			ar, lda := matrix(m, k)
			ai, _ := matrix(m, k)
			size := (k/4-1)*4*QuadColumns + 4*n
			GemmComplexQuads(m, n, k, ar, ai, lda, x(size), x(size), 0, y(m*n), y(m*n), n, true, ahead)
		},
		"GemmTwinNN": func(m, n, k int) {
			a, lda := matrix(m, k)
			b0, ldb := matrix(k, n)
			b1, _ := matrix(k, n)
			GemmTwinNN(m, n, k, a, lda, b0, b1, ldb, y(m*n), y(m*n), n, true, ahead)
		},
		"GemmTwinTN": func(m, n, k int) {
			a, lda := matrix(k, m)
			b0, ldb := matrix(k, n)
			b1, _ := matrix(k, n)
			GemmTwinTN(m, n, k, a, lda, b0, b1, ldb, y(m*n), y(m*n), n, false, ahead)
		},
		"GemmTwinPanelsNN": func(m, n, k int) {
			a, lda := matrix(m, k)
			b0, distance := panels(n, k)
			b1, _ := panels(n, k)
			GemmTwinPanelsNN(m, n, k, a, lda, b0, b1, distance, y(m*n), y(m*n), n, true, ahead)
		},
		"GemmPair": func(m, n, k int) {
			a, lda := matrix(m, k)
			b0, ldb := matrix(k, n)
			b1, _ := matrix(k, n)
			GemmPair(n, &PairPart{m, k, lda, a, b0, y(m * n)}, &PairPart{m, k, lda, a, b1, y(m * n)}, ldb, n, true, nil)
		},
		"GemmMirrored": func(m, n, k int) {
			a0, lda := matrix(k, m)
			a1, _ := matrix(k, m)
			b0, ldb := matrix(k, n)
			b1, _ := matrix(k, n)
			GemmMirrored(m, n, k, k, a0, a1, lda, b0, b1, ldb, y(m*n), y(m*n), n, false, true)
		},
		"GemmDots": func(m, n, k int) {
			if tile, _ := DotTile(); tile > 0 {
				m = min(m, tile)
			}
			a, lda := matrix(m, k)
			b, ldb := matrix(n, k)
			GemmDots(m, n, k, a, lda, b, ldb, y(m*n), n, true)
		},
		"Linear": func(m, n, k int) {
			a, lda := matrix(m, k)
			b, ldb := matrix(k, n)
			Linear(m, n, k, a, lda, b, ldb, x(m), y(m*n), n, n%2 == 0)
			Fence()
		},
		"LinearGrad": func(m, n, k int) {
			a, lda := matrix(k, m)
			b, ldb := matrix(k, n)
			LinearGrad(m, n, k, a, lda, b, ldb, y(m*n), n, true, nil, 0)
		},
		"LinearGradSplit": func(m, n, k int) {
			g := &GradSplit{M: m, N: n, K: k, W: x(SplitSize(k, splitTile)), H: x(SplitSize(k, n)), LDDW: k, LDDH: n, Work: x(GradSplitWork)}
			g.Y, g.LDY = matrix(m, n)
			g.DW, g.DB, g.DH = y(m*k), y(m), y(k*n)
			LinearGradSplit(g)
		},
		"GemmWaves": func(w, n, period int) {
			const groups = 2
			part, line := groups*n, w*n
			re, ldx := matrix(period, part)
			im, _ := matrix(period, part)
			GemmWaves(w, n, groups, period, x(period*((w+1)/2)), re, im, ldx, y(groups*line), y(groups*line), line, w%2 == 0, spare)
		},
		"FoldedWaves": func(m, n, side int) {
			side = 1 + side%5
			c, ldw := matrix((side+1)/2, m)
			var s []float32
			if side > 1 {
				s, _ = matrix(side/2, m)
			}
			line := side * n
			FoldedWaves(m, side, side, n, c, s, ldw, x(side*line), y(m*line), y(m*line), n, line, spare)
		},
		"GaussFactors": func(m, n, k int) {
			e := k % 5
			b, ldb := matrix(2*e+1, n)
			GaussFactors(m, n, e, x(m*(2*e+1)), b, ldb, y(3*m*n), n, 3*n)
		},
		"GaussRows": func(m, n, rows int) {
			m, n, rows = min(m, 6), min(n, 17), min(rows, 5)
			s := GaussShape{Columns: []GaussColumn{{0, []float32{1}}, {1, []float32{1, 2, 3}}}, Rows: rows, End: rows + 1, N: n, M: m, YPlane: rows * m}
			var planes []float32
			planes, s.XPlane = matrix(3, (rows+1)*n)
			GaussRows(&s, planes, x(4*n*m), y(3*s.YPlane), true, nil)
		},
		"GaussPanel, planes": func(m, n, rows int) {
			s := panel(m, n, rows)
			var planes []float32
			planes, s.XPlane = matrix(3, s.N*(s.Rows+1))
			GaussPanel(&s, planes, s.Rows+1, x(s.N*4*16), y(3*s.YPlane), s.M, gaussSpare, true)
		},
		"GaussPanel, sources": func(m, n, rows int) {
			s := panel(m, n, rows)
			s.Real = true
			sources, apart := matrix(s.N, s.Rows+1)
			GaussPanel(&s, sources, apart, x(s.N*4*16), y(s.YPlane), s.M, gaussSpare, true)
		},
		"GaussPanelGrad, planes": func(m, n, rows int) {
			s := panel(m, n, rows)
			var planes, dy []float32
			planes, s.XPlane = matrix(3, s.N*(s.Rows+1))
			dy, s.YPlane = matrix(3, s.Rows*s.M)
			GaussPanelGrad(&s, planes, s.Rows+1, dy, s.M, y(s.N*4*16), gaussSpare)
		},
		"GaussPanelGrad, rows": func(m, n, rows int) {
			s := panel(m, n, rows)
			s.Real = true
			sources, apart := matrix(s.N, s.Rows+1)
			dy, below := matrix(s.Rows, s.M)
			GaussPanelGrad(&s, sources, apart, dy, below, y(s.N*4*16), gaussSpare)
		},
		"KernelWaves": func(m, n, k int) {
			pairs, mirrored := kernelPairs[k%len(kernelPairs)], (m-1)/2
			slots, lds := matrix(2*pairs+1, n)
			KernelWaves(n, pairs, m, mirrored, (*[6]float32)(x(6)), x((m-mirrored)*6), slots, lds, y(m*n), y(m*n), n, nil)
		},
		"KernelWavesGrad": func(m, n, k int) {
			pairs, mirrored := kernelPairs[k%len(kernelPairs)], (m-1)/2
			re, ld := matrix(m, n)
			im, _ := matrix(m, n)
			KernelWavesGrad(n, pairs, m, mirrored, (*[7]float32)(x(7)), x((m-mirrored)*7), y((2*pairs+1)*n), n, re, im, ld, true, nil)
		},
		"CopyRows": func(m, n, _ int) {
			src, ld := matrix(m, n)
			CopyRows(y(m*n), n, src, ld, m, n, y(m))
		},
		"Transpose": func(m, n, _ int) {
			src, ld := matrix(m, n)
			Transpose(y(m*n), m, src, ld, m, n)
		},
		"TransposeGroups": func(m, n, groups int) {
			src, ld := matrix(m, n) // groups of the same rows
			TransposeGroups(y(groups*m*n), groups*m, src, ld, 0, groups, m, n)
		},
		"TransposeToGroups": func(m, n, groups int) {
			src, ld := matrix(m, groups*n)
			TransposeToGroups(y(groups*m*n), m, m*n, src, ld, m, groups, n)
		},
		"Packs": func(m, n, k int) {
			m, n = min(m, mr), min(n, nr)
			rows, ld := matrix(k, n)
			PackPanel(y(k*nr), rows, ld, k, n)
			rows, ld = matrix(n, k)
			PackCols(y(k*nr), rows, ld, k, n)
			rows, ld = matrix(m, k)
			PackA(y(k*mr), rows, ld, k, m)
			rows, ld = matrix(k, m)
			PackAT(y(k*mr), rows, ld, k, m)
		},
		"PackQuads": func(_, n, k int) {
			n, k = min(n, QuadColumns), 4*k
			rows, ld := matrix(n, k)
			PackQuads(y((k/4-1)*4*QuadColumns+4*n), rows, ld, k, n)
		},
		"Splits": func(_, n, k int) {
			rows, ld := matrix(n, k)
			SplitLeft(y(SplitSize(n, k)), rows, ld, n, k)
			rows, ld = matrix(k, n)
			SplitRight(y(SplitSize(n, k)), rows, ld, k, n)
		},
		"Slices of rows": func(_, n, k int) {
			x0, ld := matrix(n, k)
			x1, _ := matrix(n, k)
			SliceLeft(y(SliceSize(n, k)), x0, x1, ld, n, k)
			SliceLeftConjugate(y(SliceSize(n, k)), y(SliceSize(n, k)), x0, x1, ld, n, k)
			SliceTransposed(y(SliceSize(n, k)), x0, x1, ld, k, n)
		},
		"Slices of columns": func(_, n, k int) {
			x0, ld := matrix(k, n)
			x1, _ := matrix(k, n)
			SliceRight(y(SliceSize(n, k)), x0, x1, ld, k, n)
			SliceColumns(y(n*SliceRow(k)), x0, x1, ld, k, n, spare)
		},
		"Slices of halves": func(_, n, k int) {
			half := (k + 1) / 2
			rows, ld := matrix(n, k)
			SliceLeftHalves(y(SliceSize(n, half)), rows, ld, n, k)
			SliceTransposedHalves(y(SliceSize(n, half)), rows, ld, k, n)
			rows, ld = matrix(k, n)
			SliceHalves(y(SliceSize(n, half)), rows, ld, k, n)
		},
	}
}
