package asm

import (
	"math"
	"slices"
	"testing"
)

func TestSizes(t *testing.T) {
	const most = math.MaxInt
	for _, c := range []struct{ have, want int }{
		{times(0, most), 0},
		{times(1, most), most},
		{times(3, 5), 15},
		{times(2, most/2+1), most},
		{times(4, most/2+1), most}, // whose low word is 0
		{times(most, most), most},
		{plus(3, 5), 8},
		{plus(most, 0), most},
		{plus(most-1, 2), most},
		{plus(most, most), most},
		{over(0, 16), 0},
		{over(16, 16), 1},
		{over(17, 16), 2},
		{over(most, 2), most/2 + 1},
		{SliceSize(most, 1), most},
		{SliceSize(16, most), most},
		{SplitSize(most, most), most},
	} {
		if c.have != c.want {
			t.Errorf("%d, want %d", c.have, c.want)
		}
	}
}

// TestHugeSizes wants an error from every function for distances and numbers whose product with another size wraps
// around to one that fits.
func TestHugeSizes(t *testing.T) {
	x := make([]float32, 8<<10)
	spare := make([]float32, ComplexSpare)
	var none [4][]float32
	calls := map[string]func(n int){
		"GemmNN, a":                func(n int) { GemmNN(3, 4, 4, x, n, x, 4, x, 4, true) },
		"GemmNN, b":                func(n int) { GemmNN(3, 4, 5, x, 5, x, n, x, 4, true) },
		"GemmNN, c":                func(n int) { GemmNN(3, 4, 1, x, 1, x, 4, x, n, true) },
		"GemmTN, a":                func(n int) { GemmTN(3, 4, 5, x, n, x, 4, x, 4, true) },
		"GemmTN, b":                func(n int) { GemmTN(3, 4, 5, x, 3, x, n, x, 4, true) },
		"GemmTN, c":                func(n int) { GemmTN(3, 4, 5, x, 3, x, 4, x, n, true) },
		"GemmStripNN, b":           func(n int) { GemmStripNN(3, 40, 5, x, 5, x, n, x, 40, true) },
		"GemmStripNN, c":           func(n int) { GemmStripNN(3, 40, 5, x, 5, x, 40, x, n, true) },
		"GemmStripNN, k":           func(n int) { GemmStripNN(1, 1, n, x, 0, x, 2, x, 1, true) },
		"GemmStripTN, a":           func(n int) { GemmStripTN(3, 40, 5, x, n, x, 40, x, 40, true) },
		"GemmStripTN, c":           func(n int) { GemmStripTN(3, 40, 5, x, 3, x, 40, x, n, true) },
		"GemmPanelsNN, b":          func(n int) { GemmPanelsNN(3, 140, 5, x, 5, x, n, x, 140, true) },
		"GemmPanelsNN, c":          func(n int) { GemmPanelsNN(3, 40, 5, x, 5, x, 200, x, n, true) },
		"GemmPanelsNN, k":          func(n int) { GemmPanelsNN(1, 40, n, x, 1, x, 0, x, 40, true) },
		"GemmPanelsTN, b":          func(n int) { GemmPanelsTN(3, 140, 5, x, 3, x, n, x, 140, true) },
		"GemmDots, a":              func(n int) { GemmDots(2, 4, 5, x, n, x, 5, x, 4, true) },
		"GemmDots, b":              func(n int) { GemmDots(2, 5, 5, x, 5, x, n, x, 5, true) },
		"GemmDots, c":              func(n int) { GemmDots(2, 4, 5, x, 5, x, 5, x, n, true) },
		"GemmMirrored, a":          func(n int) { GemmMirrored(3, 4, 5, 3, x, x, n, x, x, 4, x, x, 4, true, true) },
		"GemmMirrored, b":          func(n int) { GemmMirrored(3, 4, 5, 3, x, x, 3, x, x, n, x, x, 4, true, true) },
		"GemmMirrored, c":          func(n int) { GemmMirrored(3, 4, 5, 3, x, x, 3, x, x, 4, x, x, n, true, true) },
		"GemmPair, a":              func(n int) { p := PairPart{3, 5, n, x, x, x}; GemmPair(4, &p, &p, 4, 4, true, nil) },
		"GemmPair, b":              func(n int) { p := PairPart{3, 5, 5, x, x, x}; GemmPair(4, &p, &p, n, 4, true, nil) },
		"GemmPair, c":              func(n int) { p := PairPart{3, 5, 5, x, x, x}; GemmPair(4, &p, &p, 4, n, true, nil) },
		"GemmTwinNN, a":            func(n int) { GemmTwinNN(3, 4, 5, x, n, x, x, 4, x, x, 4, true, none) },
		"GemmTwinNN, b":            func(n int) { GemmTwinNN(3, 4, 5, x, 5, x, x, n, x, x, 4, true, none) },
		"GemmTwinTN, c":            func(n int) { GemmTwinTN(3, 4, 5, x, 3, x, x, 4, x, x, n, true, none) },
		"GemmTwinPanelsNN, b":      func(n int) { GemmTwinPanelsNN(3, 140, 5, x, 5, x, x, n, x, x, 140, true, none) },
		"GemmComplexNN, a":         func(n int) { GemmComplexNN(3, 4, 5, x, x, n, x, x, 4, x, x, 4, true, none, spare) },
		"GemmComplexNN, b":         func(n int) { GemmComplexNN(3, 4, 5, x, x, 5, x, x, n, x, x, 4, true, none, spare) },
		"GemmComplexTN, c":         func(n int) { GemmComplexTN(3, 4, 5, x, x, 3, x, x, 4, x, x, n, true, none, spare) },
		"GemmComplexPanelsNN, b":   func(n int) { GemmComplexPanelsNN(3, 140, 5, x, x, 5, x, x, n, x, x, 140, true, none, spare) },
		"PackQuads":                func(n int) { PackQuads(x, x, n, 8, 3) },
		"GemmComplexQuads, a":      func(n int) { GemmComplexQuads(3, 4, 8, x, x, n, x, x, 64, x, x, 4, true, none) },
		"GemmComplexQuads, b":      func(n int) { GemmComplexQuads(3, 40, 8, x, x, 8, x, x, n, x, x, 40, true, none) },
		"GemmComplexQuads, c":      func(n int) { GemmComplexQuads(3, 4, 8, x, x, 8, x, x, 64, x, x, n, true, none) },
		"PackPanel":                func(n int) { PackPanel(x, x, n, 5, 3) },
		"PackPanel, k":             func(n int) { PackPanel(x, x, 0, n, 3) },
		"PackRows":                 func(n int) { PackRows(x, x, []int{0, n}, 3) },
		"PackRows, at the end":     func(int) { PackRows(x, x, []int{0, math.MaxInt - 1}, 3) },
		"PackCols":                 func(n int) { PackCols(x, x, n, 5, 3) },
		"PackA":                    func(n int) { PackA(x, x, n, 5, 3) },
		"PackAT":                   func(n int) { PackAT(x, x, n, 5, 3) },
		"Transpose, src":           func(n int) { Transpose(x, 3, x, n, 3, 4) },
		"Transpose, dst":           func(n int) { Transpose(x, n, x, 5, 3, 5) },
		"TransposeGroups, src":     func(n int) { TransposeGroups(x, 12, x, n, 8, 3, 4, 2) },
		"TransposeGroups, stride":  func(n int) { TransposeGroups(x, 12, x, 2, n, 3, 4, 2) },
		"TransposeGroups, dst":     func(n int) { TransposeGroups(x, n, x, 3, 12, 3, 4, 3) },
		"TransposeGroups, groups":  func(n int) { TransposeGroups(x, 0, x, 1, 0, n, 4, 1) },
		"TransposeToGroups, dst":   func(n int) { TransposeToGroups(x, n, 16, x, 12, 4, 3, 4) },
		"TransposeToGroups, step":  func(n int) { TransposeToGroups(x, 4, n, x, 12, 4, 3, 4) },
		"TransposeToGroups, src":   func(n int) { TransposeToGroups(x, 5, 20, x, n, 5, 3, 4) },
		"TransposeToGroups, width": func(n int) { TransposeToGroups(x, 1, 0, x, 0, 1, n, 4) },
		"Prefetch":                 func(n int) { Prefetch(x, n, 3, 4) },
		"Fold":                     func(n int) { Fold(x, x, n, x[:24], 6) },
		"CopyRows, src":            func(n int) { CopyRows(x, 4, x, n, 3, 4, x) },
		"CopyRows, dst":            func(n int) { CopyRows(x, n, x, 4, 3, 4, x) },
		"Linear, a":                func(n int) { Linear(3, 4, 5, x, n, x, 4, x, x, 4, false) },
		"Linear, b":                func(n int) { Linear(3, 4, 5, x, 5, x, n, x, x, 4, false) },
		"Linear, c":                func(n int) { Linear(3, 4, 5, x, 5, x, 4, x, x, n, false) },
		"LinearGrad, a":            func(n int) { LinearGrad(3, 4, 5, x, n, x, 4, x, 4, true, nil, 0) },
		"LinearGrad, b":            func(n int) { LinearGrad(3, 4, 5, x, 3, x, n, x, 4, true, nil, 0) },
		"LinearGrad, c":            func(n int) { LinearGrad(3, 4, 5, x, 3, x, 4, x, n, true, nil, 0) },
		"SplitLeft":                func(n int) { SplitLeft(x, x, n, 3, 4) },
		"SplitLeft, m":             func(n int) { SplitLeft(x, x, 0, n, 4) },
		"SplitRight":               func(n int) { SplitRight(x, x, n, 5, 4) },
		"GemmSplit, c":             func(n int) { GemmSplit(3, 4, 5, x, x, x, n, true) },
		"GemmSplit, k":             func(n int) { GemmSplit(3, 4, n, x, x, x, 4, true) },
		"GemmSplitPanels, b":       func(n int) { GemmSplitPanels(3, 70, 5, x, x, n, x, 70, true, nil, 0) },
		"GemmSplitPanels, c":       func(n int) { GemmSplitPanels(3, 4, 5, x, x, 1536, x, n, true, nil, 0) },
		"LinearSplit, c":           func(n int) { LinearSplit(3, 4, 5, x, x, x, x, n, false) },
		"LinearSplit, k":           func(n int) { LinearSplit(3, 4, n, x, x, x, x, 4, false) },
		"SliceLeft":                func(n int) { SliceLeft(x, x, x, n, 3, 4) },
		"SliceLeft, k":             func(n int) { SliceLeft(x, x, x, 0, 3, n) },
		"SliceLeftConjugate":       func(n int) { SliceLeftConjugate(x, x, x, x, n, 3, 4) },
		"SliceRight":               func(n int) { SliceRight(x, x, x, n, 5, 4) },
		"SliceTransposed":          func(n int) { SliceTransposed(x, x, x, n, 5, 4) },
		"SliceHalves":              func(n int) { SliceHalves(x, x, n, 9, 4) },
		"SliceHalves, k":           func(n int) { SliceHalves(x, x, 0, n, 4) },
		"SliceTransposedHalves":    func(n int) { SliceTransposedHalves(x, x, n, 9, 4) },
		"SliceLeftHalves":          func(n int) { SliceLeftHalves(x, x, n, 4, 9) },
		"SliceColumns":             func(n int) { SliceColumns(x, x, x, n, 5, 4, x) },
		"GemmSlices, c":            func(n int) { GemmSlices(3, 4, 5, [2][]float32{x}, x, [2][]float32{x}, n, true, [2][]float32{}) },
		"GemmSlices, m":            func(n int) { GemmSlices(n, 4, 5, [2][]float32{x}, x, [2][]float32{x}, 4, true, [2][]float32{}) },
		"GemmSliceShifts, c":       func(n int) { GemmSliceShifts(16, 5, x, []int{0}, x, x, n, true, nil) },
		"GemmSliceShifts, rows":    func(n int) { GemmSliceShifts(16, 5, x, []int{n}, x, x, 32, true, nil) },
		"GaussFactors, b":          func(n int) { GaussFactors(2, 4, 2, x, x, n, x, 4, 12) },
		"GaussFactors, planes":     func(n int) { GaussFactors(2, 4, 2, x, x, 4, x, n, 12) },
		"GaussFactors, c":          func(n int) { GaussFactors(3, 4, 2, x, x, 4, x, 4, n) },
		"GaussFactors, e":          func(n int) { GaussFactors(2, 4, n, x, x, 0, x, 4, 12) },
		"GemmWaves, x":             func(n int) { GemmWaves(5, 4, 2, 3, x, x, x, n, x, x, 20, false, x) },
		"GemmWaves, re":            func(n int) { GemmWaves(5, 4, 3, 3, x, x, x, 12, x, x, n, false, x) },
		"GemmWaves, w":             func(n int) { GemmWaves(n, 4, 2, 3, x, x, x, 8, x, x, 20, false, x) },
		"FoldedWaves, c":           func(n int) { FoldedWaves(2, 7, 3, 2, x, x, n, x, x, x, 2, 6, x) },
		"FoldedWaves, position":    func(n int) { FoldedWaves(2, 4, 3, 2, x, x, 2, x, x, x, n, 6, x) },
		"FoldedWaves, one":         func(n int) { FoldedWaves(3, 4, 3, 2, x, x, 3, x, x, x, 2, n, x) },
		"FoldedWaves, h":           func(n int) { FoldedWaves(2, n, 3, 2, x, x, 0, x, x, x, 2, 6, x) },
		"KernelWaves, slots":       func(n int) { KernelWaves(4, 2, 5, 2, new([6]float32), x, x, n, x, x, 4, nil) },
		"KernelWaves, re":          func(n int) { KernelWaves(4, 2, 5, 2, new([6]float32), x, x, 4, x, x, n, nil) },
		"KernelWaves, mirrored":    func(n int) { KernelWaves(4, 2, 5, n, new([6]float32), x, x, 4, x, x, 4, nil) },
		"KernelWavesGrad, slots":   func(n int) { KernelWavesGrad(4, 2, 5, 2, new([7]float32), x, x, n, x, x, 4, false, nil) },
		"KernelWavesGrad, re":      func(n int) { KernelWavesGrad(4, 2, 5, 2, new([7]float32), x, x, 4, x, x, n, false, nil) },
	}
	for name, change := range map[string]func(g *GradSplit, n int){
		"Y":  func(g *GradSplit, n int) { g.LDY = n },
		"DW": func(g *GradSplit, n int) { g.LDDW = n },
		"DH": func(g *GradSplit, n int) { g.LDDH = n },
		"K":  func(g *GradSplit, n int) { g.K = n },
	} {
		calls["LinearGradSplit, "+name] = func(n int) {
			g := GradSplit{M: 3, N: 4, K: 5, Y: x, LDY: 4, W: x, H: x, DW: x, DB: x, DH: x, LDDW: 5, LDDH: 4, Work: x}
			change(&g, n)
			LinearGradSplit(&g)
		}
	}
	for name, change := range map[string]func(o *OuterSplit, n int){
		"strips of A": func(o *OuterSplit, n int) { o.StripA = n },
		"parts of A":  func(o *OuterSplit, n int) { o.PartA = n },
		"panels of B": func(o *OuterSplit, n int) { o.Panels = n },
		"strips of U": func(o *OuterSplit, n int) { o.StripU = n },
		"rows of C":   func(o *OuterSplit, n int) { o.LDC = n },
		"strips of C": func(o *OuterSplit, n int) { o.StripC = n },
		"panels of C": func(o *OuterSplit, n int) { o.Strips, o.StripC, o.Panels, o.PanelC = 1, 0, 3, n },
	} {
		calls["GemmSplitOuter, "+name] = func(n int) {
			o := OuterSplit{Strips: 3, Panels: 1, A: x, PartA: 256, B: x, U: x, V: x, C: x, LDC: 32}
			change(&o, n)
			GemmSplitOuter(&o)
		}
	}
	for name, change := range map[string]func(s *GaussShape, n int){
		"planes of X": func(s *GaussShape, n int) { s.XPlane = n },
		"planes of Y": func(s *GaussShape, n int) { s.YPlane = n },
		"rows":        func(s *GaussShape, n int) { s.Rows = n },
		"sources":     func(s *GaussShape, n int) { s.N = n },
		"targets":     func(s *GaussShape, n int) { s.M = n },
		"slots":       func(s *GaussShape, n int) { s.Columns[0].Slot = n },
	} {
		calls["GaussRows, "+name] = func(n int) {
			s := GaussShape{Columns: []GaussColumn{{0, x[:1]}}, Rows: 4, End: 4, N: 2, M: 4, XPlane: 16, YPlane: 16}
			change(&s, n)
			GaussRows(&s, x, x, x, true, nil)
		}
		for op, call := range map[string]func(s *GaussShape){
			"GaussPanel":     func(s *GaussShape) { GaussPanel(s, x, 4, x, x, 4, make([]float32, GaussSpare), true) },
			"GaussPanelGrad": func(s *GaussShape) { GaussPanelGrad(s, x, 4, x, 4, x, make([]float32, GaussSpare)) },
		} {
			calls[op+", "+name] = func(n int) {
				s := GaussShape{Columns: []GaussColumn{{0, x[:1]}}, Rows: 4, N: 2, M: 4, XPlane: 16, YPlane: 16}
				change(&s, n)
				call(&s)
			}
		}
	}
	panel := func() *GaussShape {
		return &GaussShape{Columns: []GaussColumn{{0, x[:1]}}, Rows: 4, N: 2, M: 4, XPlane: 16, YPlane: 16}
	}
	gaussSpare := make([]float32, GaussSpare)
	calls["GaussPanel, sources of X"] = func(n int) { GaussPanel(panel(), x, n, x, x, 4, gaussSpare, true) }
	calls["GaussPanel, rows of Y"] = func(n int) { GaussPanel(panel(), x, 4, x, x, n, gaussSpare, true) }
	calls["GaussPanelGrad, sources of X"] = func(n int) { GaussPanelGrad(panel(), x, n, x, 4, x, gaussSpare) }
	calls["GaussPanelGrad, rows of DY"] = func(n int) { GaussPanelGrad(panel(), x, 4, x, n, x, gaussSpare) }
	for name, call := range calls {
		for _, n := range []int{math.MaxInt/4 + 1, math.MaxInt/4 + 1000, math.MaxInt/2 + 1, math.MaxInt/2 + 1000, math.MaxInt - 1, math.MaxInt} {
			func() {
				defer func() {
					if _, ok := recover().(*Error); !ok {
						t.Errorf("%s, %d: no *Error", name, n)
					}
				}()
				call(n)
			}()
		}
	}
}

// TestNegativeSizes takes -1 in the place of each size that a function is given.
func TestNegativeSizes(t *testing.T) {
	x, y := make([]float32, 8<<10), make([]float32, 8<<10)
	var none [4][]float32
	for name, c := range map[string]struct {
		sizes []int // these are fine
		call  func(s []int)
	}{
		"GemmNN":          {[]int{2, 3, 4}, func(s []int) { GemmNN(s[0], s[1], s[2], x, 4, x, 4, y, 4, false) }},
		"GemmStripTN":     {[]int{2, 3, 4}, func(s []int) { GemmStripTN(s[0], s[1], s[2], x, 4, x, 4, y, 4, false) }},
		"GemmSplit":       {[]int{2, 3, 4}, func(s []int) { GemmSplit(s[0], s[1], s[2], x, x, y, 4, false) }},
		"Linear":          {[]int{2, 3, 4}, func(s []int) { Linear(s[0], s[1], s[2], x, 4, x, 4, x, y, 4, false) }},
		"LinearSplit":     {[]int{2, 3, 4}, func(s []int) { LinearSplit(s[0], s[1], s[2], x, x, x, y, 4, false) }},
		"SplitLeft":       {[]int{2, 3}, func(s []int) { SplitLeft(y, x, 4, s[0], s[1]) }},
		"SliceColumns":    {[]int{2, 3}, func(s []int) { SliceColumns(y, x, x, 4, s[0], s[1], y[4<<10:]) }},
		"CopyRows":        {[]int{2, 3}, func(s []int) { CopyRows(y, 4, x, 4, s[0], s[1], y[64:]) }},
		"Transpose":       {[]int{2, 3}, func(s []int) { Transpose(y, 4, x, 4, s[0], s[1]) }},
		"PackPanel":       {[]int{2, 3}, func(s []int) { PackPanel(y, x, 4, s[0], s[1]) }},
		"TransposeGroups": {[]int{16, 2, 3, 4}, func(s []int) { TransposeGroups(y, 8, x, 4, s[0], s[1], s[2], s[3]) }},
		"GaussFactors":    {[]int{2, 3, 4}, func(s []int) { GaussFactors(s[0], s[1], s[2], x, x, 4, y, 4, 12) }},
		"GemmMirrored": {[]int{2, 3, 4, 4}, func(s []int) {
			GemmMirrored(s[0], s[1], s[2], s[3], x, x, 4, x, x, 4, y, y[64:], 4, false, false)
		}},
		"GemmSplitPanels": {[]int{2, 3, 4, 0, 0}, func(s []int) {
			GemmSplitPanels(s[0], s[1], s[2], x, x, s[3], y, 4, false, x, s[4])
		}},
		"FoldedWaves": {[]int{2, 3, 3, 1}, func(s []int) {
			FoldedWaves(s[0], s[1], s[2], s[3], x, x, 4, x, y, y[64:], 4, 16, y[128:])
		}},
		"GemmWaves": {[]int{2, 3, 2, 3}, func(s []int) {
			GemmWaves(s[0], s[1], s[2], s[3], x, x, x, 8, y, y[64:], 16, false, y[128:])
		}},
		"KernelWaves": {[]int{4, 2, 5, 2}, func(s []int) {
			KernelWaves(s[0], s[1], s[2], s[3], new([6]float32), x, x, 4, y, y[64:], 4, nil)
		}},
		"GemmTwinNN": {[]int{2, 3, 4}, func(s []int) {
			GemmTwinNN(s[0], s[1], s[2], x, 4, x, x, 4, y, y[64:], 4, false, none)
		}},
		"GemmSliceShifts": {[]int{1, 4}, func(s []int) {
			GemmSliceShifts(s[0]*sliceTile, s[1], x, []int{0}, x, y, 32, false, nil)
		}},
		"LinearGrad": {[]int{2, 3, 4, 0}, func(s []int) {
			LinearGrad(s[0], s[1], s[2], x, 4, x, 4, y, 4, false, x, s[3])
		}},
		"GemmPair": {[]int{2, 3, 4}, func(s []int) {
			GemmPair(s[0], &PairPart{s[1], 4, s[2], x, x, y}, &PairPart{}, 4, 4, false, nil)
		}},
		"LinearGradSplit": {[]int{2, 3, 4}, func(s []int) {
			LinearGradSplit(&GradSplit{
				M: s[0], N: s[1], K: s[2], Y: x, LDY: 4, W: x, H: x, DW: y, DB: y[64:], DH: y[128:],
				LDDW: 4, LDDH: 4, Work: y[256:],
			})
		}},
		"GemmSplitOuter": {[]int{1, 1, 0, 0, 0, 0}, func(s []int) {
			GemmSplitOuter(&OuterSplit{
				Strips: s[0], Panels: s[1], A: x, PartA: splitPart / 2, StripA: s[2], B: x, U: x, V: x, StripU: s[3],
				C: y, LDC: splitTile, StripC: s[4], PanelC: s[5],
			})
		}},
		"GaussRows": {[]int{2, 3, 4, 16, 0}, func(s []int) {
			GaussRows(&GaussShape{
				Columns: []GaussColumn{{0, x[:1]}}, Rows: s[0], N: s[1], M: s[2], XPlane: s[3], First: s[4], End: 2, YPlane: 16,
			}, x, x, y, false, nil)
		}},
		"GaussPanel": {[]int{2, 3, 4, 16, 2, 4}, func(s []int) {
			GaussPanel(&GaussShape{Columns: []GaussColumn{{0, x[:1]}}, Rows: s[0], N: s[1], M: s[2], XPlane: s[3], YPlane: 16}, x, s[4], x, y, s[5], make([]float32, GaussSpare), false)
		}},
		"GaussPanelGrad": {[]int{2, 3, 4, 16, 2, 4}, func(s []int) {
			GaussPanelGrad(&GaussShape{Columns: []GaussColumn{{0, x[:1]}}, Rows: s[0], N: s[1], M: s[2], XPlane: s[3], YPlane: 16}, x, s[4], x, s[5], y, make([]float32, GaussSpare))
		}},
	} {
		refused := func(s []int) (yes bool) {
			defer func() {
				r := recover()
				if _, yes = r.(*Error); r != nil && !yes {
					t.Errorf("%s, sizes %v: panic with %v", name, s, r)
				}
			}()
			c.call(s)
			return false
		}
		if refused(c.sizes) {
			t.Errorf("%s: sizes %v are refused", name, c.sizes)
		}
		for i := range c.sizes {
			s := slices.Clone(c.sizes)
			s[i] = -1
			if !refused(s) {
				t.Errorf("%s, sizes %v: no *Error", name, s)
			}
		}
	}
}
