//go:build linux

package asm

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// fence hands out slices that touch memory which nobody may access: the
// processor itself reports a kernel that reads or writes outside.
type fence struct {
	regions [][]byte // each lies between two inaccessible pages
	used    int
	back    bool // slices end at the page behind; otherwise they begin at the one before
}

// newFence maps count regions of at least the given number of values.
func newFence(t *testing.T, count, values int) *fence {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*values + page - 1) / page * page
	f := new(fence)
	for range count {
		all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Munmap(all); err != nil {
				t.Error(err)
			}
		})
		region := all[page : page+size : page+size]
		if err := syscall.Mprotect(region, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			t.Fatal(err)
		}
		f.regions = append(f.regions, region)
	}
	return f
}

// take returns n ones at the fence. Each slice of one call of a function comes
// from another region.
func (f *fence) take(n int) []float32 {
	region := f.regions[f.used]
	f.used++
	all := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(region))), len(region)/4)
	x := all[:n:n]
	if f.back {
		x = all[len(all)-n:]
	}
	for i := range x {
		x[i] = 1
	}
	return x
}

// check makes a call twice, with slices at either fence, and fails the test where it leaves them.
func (f *fence) check(t *testing.T, name string, call func()) {
	t.Helper()
	for _, f.back = range []bool{false, true} {
		f.used = 0
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("%s, slices end at the page %v: %v", name, f.back, r)
				}
			}()
			call()
		}()
	}
}

// TestStayInside runs every function on slices of exactly the length that it
// needs, at an inaccessible page, for each number of values around and between
// the widths of the vectors.
func TestStayInside(t *testing.T) {
	if raceEnabled {
		t.Skip("the assembly is the same without the race detector, and Go checks its own bounds")
	}
	const most = 70
	f := newFence(t, 10, 2*most*(most+1))
	check, x := f.check, f.take
	elementwise := map[string]func(n int){
		"Sin":          func(n int) { Sin(x(n), x(n)) },
		"Cos":          func(n int) { Cos(x(n), x(n)) },
		"SinAffine":    func(n int) { SinAffine(x(n), x(n), 2, 3) },
		"SinCosAffine": func(n int) { SinCosAffine(x(n), x(n), x(n), 2, 3) },
		"SinCos":       func(n int) { SinCos(x(n), x(n), x(n)) },
		"Exp":          func(n int) { Exp(x(n), x(n)) },
		"Log":          func(n int) { Log(x(n), x(n)) },
		"Add":          func(n int) { Add(x(n), x(n), x(n)) },
		"Sub":          func(n int) { Sub(x(n), x(n), x(n)) },
		"Mul":          func(n int) { Mul(x(n), x(n), x(n)) },
		"MulAdd":       func(n int) { MulAdd(x(n), x(n), x(n)) },
		"Axpy":         func(n int) { Axpy(x(n), 2, x(n)) },
		"AddShifted":   func(n int) { AddShifted(x(n), x(n+3), []int{0, 3, 1}, x(3)) },
		"Affine":       func(n int) { Affine(x(n), x(n), 2, 3) },
		"Combine":      func(n int) { Combine(x(n), x(n), x(n), 2, 3, 4) },
		"Relu":         func(n int) { Relu(x(n), x(n)) },
		"ReluGrad":     func(n int) { ReluGrad(x(n), x(n), x(n)) },
		"Stream":       func(n int) { Stream(x(n), x(n)) },
		"Fill":         func(n int) { Fill(x(n), 2) },
		"Sum":          func(n int) { Sum(x(n)) },
		"Dot":          func(n int) { Dot(x(n), x(n)) },
		"SumSquares":   func(n int) { SumSquares(x(n), 2) },
		"Linear": func(n int) {
			mr, _ := GemmTile()
			Linear(mr, n, 5, x(mr*5), 5, x(5*n), n, x(mr), x(mr*n), n, n%2 == 0)
			Fence()
		},
		"LinearGrad": func(n int) { LinearGrad(11, n, 5, x(55), 11, x(5*n), n, x(11*n), n, n%2 == 0, x(5*n), n) },
		"CopyRows":   func(n int) { CopyRows(x(3*n), n, x(3*n), n, 3, n, x(3)) },
		"Max4":       func(n int) { Max4(x(n), x(n), x(n), x(n), x(n)) },
		"Max4Grad":   func(n int) { Max4Grad(x(n), x(n), x(n), x(n), x(n), x(n), x(n), x(n), x(n), x(n)) },
		"SumDiff":    func(n int) { SumDiff(x(n), x(n), x(n), x(n)) },
		"Adam":       func(n int) { Adam(x(n), x(n), x(n), x(n), AdamStep{1, 1, 1, 1, 1, 1}) },
	}
	columns := map[string]func(rows, cols int){
		"ColSum":       func(r, c int) { ColSum(x(c), x(r*c)) },
		"ColAffine":    func(r, c int) { ColAffine(x(r*c), x(r*c), x(c), x(c)) },
		"NormPool":     func(w, b int) { NormPool(x(w*b), x(2*w*b), x(2*w*b), b, new(NormMap)) },
		"NormPoolSums": func(w, b int) { NormPoolSums(x(w*b), x(2*w*b), x(2*w*b), b, new(NormMap)) },
		"NormPoolGrad": func(w, b int) {
			NormPoolGrad(x(2*w*b), x(2*w*b), x(w*b), x(2*w*b), x(2*w*b), b, new(NormMap), 1, 2, 3)
		},
		"ColNorm": func(r, c int) { ColNorm(x(r*c), x(r*c), &ColNormMap{x(c), x(c), x(c), 0}) },
		"ColNormSums": func(r, c int) {
			ColNormSums(make([]float64, c), make([]float64, c), x(r*c), x(r*c), &ColNormMap{x(c), x(c), x(c), 0})
		},
		"ColNormGrad": func(r, c int) {
			ColNormGrad(x(r*c), x(r*c), x(r*c), &ColNormMap{x(c), x(c), x(c), 0}, x(c), x(c), x(c))
		},
		"ColMoments": func(r, c int) {
			ColMoments(make([]float64, c), make([]float64, c), x(r*c), x(c))
		},
		"Fold":      func(r, c int) { Fold(x((r-r/2)*c), x(r/2*c), c, x(r*c), r) },
		"ColMax":    func(r, c int) { ColMax(x(c), x(c), x(r*c)) },
		"Transpose": func(r, c int) { Transpose(x(r*c), r, x(r*c), c, r, c) },
	}
	eachLevel(t, func(t *testing.T) {
		for name, call := range elementwise {
			for n := 1; n <= most; n++ {
				check(t, fmt.Sprintf("%s of %d", name, n), func() { call(n) })
			}
		}
		for name, call := range columns {
			for cols := 1; cols <= most; cols++ {
				for _, rows := range []int{1, 2, 3, 4, 7} {
					check(t, fmt.Sprintf("%s of %dx%d", name, rows, cols), func() { call(rows, cols) })
				}
			}
		}
		for _, rows := range []int{3, 4, 8, 12} {
			for cols := 1; cols <= 34; cols++ {
				const groups = 3
				check(t, fmt.Sprintf("TransposeGroups of %dx%d", rows, cols), func() {
					n := groups * rows
					TransposeGroups(x(n*cols), n, x(n*cols), cols, rows*cols, groups, rows, cols)
					TransposeToGroups(x(n*cols), cols, rows*cols, x(n*cols), n, cols, groups, rows)
				})
			}
		}
		for w := 1; w <= 13; w++ {
			for n := 1; n <= 18; n++ {
				for _, period := range []int{1, 2, 5, 6} {
					check(t, fmt.Sprintf("GemmWaves of %d positions, %d columns, %d frequencies", w, n, period), func() {
						GemmWaves(w, n, 1, period, x(period*((w+1)/2)), x(period*n), x(period*n), n, x(w*n), x(w*n), w*n, w%2 == 0, x(2*period*n))
					})
				}
			}
		}
		for m := 1; m <= 8; m++ {
			for n := 1; n <= 34; n++ {
				for _, k := range [][2]int{{1, 0}, {0, 1}, {2, 2}, {3, 5}} {
					middle, accumulate := n%2 == 0, (m+k[0])%2 == 0
					check(t, fmt.Sprintf("GemmMirrored of %dx%d, steps %v, middle %v, accumulate %v", m, n, k, middle, accumulate), func() {
						below := m
						if middle {
							below--
						}
						GemmMirrored(m, n, k[0], k[1], x(k[0]*m), x(k[1]*m), m, x(k[0]*n), x(k[1]*n), n, x(m*n), x(below*n), n, middle, accumulate)
					})
				}
			}
		}
		for m := 1; m <= 7; m++ {
			for n := 1; n <= 34; n++ {
				for _, side := range []int{1, 2, 5} {
					check(t, fmt.Sprintf("FoldedWaves of %d frequencies, side %d, %d values", m, side, n), func() {
						line := side * n
						FoldedWaves(m, side, side, n, x((side+1)/2*m), x(side/2*m), m, x(side*line), x(m*line), x(m*line), n, line, x((side+2)*line))
					})
				}
			}
		}
		for m := 1; m <= 4; m++ {
			for n := 1; n <= 34; n++ {
				for e := range 5 {
					check(t, fmt.Sprintf("GaussFactors of %d frequencies, %d values, %d taps", m, n, 2*e+1), func() {
						count := 2*e + 1
						GaussFactors(m, n, e, x(m*count), x(count*n), n, x(3*m*n), n, 3*n)
					})
				}
			}
		}
		for rows := 1; rows <= 8; rows++ {
			for m := 1; m <= 18; m++ {
				for _, n := range []int{1, 2, 3} {
					check(t, fmt.Sprintf("GaussRows of %d rows, %d sources, %d targets", rows, n, m), func() {
						s := GaussShape{
							Columns: []GaussColumn{{0, x(1)}, {1, x(7)}, {8, x(3)}, {11, x(5)}},
							Real:    n == 2, Rows: rows, End: rows + 3, N: n, M: m, XPlane: (rows + 3) * n, YPlane: rows * m,
						}
						GaussRows(&s, x(s.planes()*s.XPlane), x(16*n*m), x(s.planes()*s.YPlane), m%2 == 0, x(5))
					})
				}
			}
		}
		for _, rows := range []int{1, 2, 4, 7, 8, 14, 16, 28, 31} {
			for m := 1; m <= 16; m++ {
				for _, n := range []int{1, 2, 3, 4, 5} {
					check(t, fmt.Sprintf("GaussPanel of %d rows, %d sources, %d targets", rows, n, m), func() {
						s := GaussShape{
							Columns: []GaussColumn{{0, x(1)}, {1, x(7)}, {8, x(3)}, {11, x(5)}},
							Real:    n == 2, Rows: rows, N: n, M: m, XPlane: n * (rows + 3), YPlane: rows * m,
						}
						gaussSpare := make([]float32, GaussSpare)
						GaussPanel(&s, x(s.planes()*s.XPlane), rows+3, x(n*16*16), x(s.planes()*s.YPlane), m, gaussSpare, m%2 == 0)
						GaussPanelGrad(&s, x(s.planes()*s.XPlane), rows+3, x(s.planes()*s.YPlane), m, x(n*16*16), gaussSpare)
					})
				}
			}
		}
		for strips := 1; strips <= 3; strips++ {
			for panels := 1; panels <= 2; panels++ {
				check(t, fmt.Sprintf("GemmSplitOuter of %d strips, %d panels", strips, panels), func() {
					const part = splitPart / 2
					line := panels * splitTile
					GemmSplitOuter(&OuterSplit{
						Strips: strips, Panels: panels, A: x(3 * strips * part), PartA: strips * part, StripA: part,
						B: x(panels * splitBlock), U: x(strips * outerRows), V: x(line), StripU: outerRows,
						C: x(strips * outerRows * line), LDC: line, StripC: outerRows * line, PanelC: splitTile, Conjugate: strips == 2,
					})
				})
			}
		}
		for n := 1; n <= 18; n++ {
			for _, pairs := range kernelPairs {
				check(t, fmt.Sprintf("KernelWaves of %d kernels of %d pairs", n, pairs), func() {
					count, m, mirrored := 2*pairs+1, 6, 2
					KernelWaves(n, pairs, m, mirrored, (*[6]float32)(x(6)), x((m-mirrored)*6), x(count*n), n, x(m*n), x(m*n), n, nil)
					KernelWavesGrad(n, pairs, m, mirrored, (*[7]float32)(x(7)), x((m-mirrored)*7), x(count*n), n, x(m*n), x(m*n), n, n%2 == 0, nil)
				})
			}
		}
		spare := make([]float32, ComplexSpare)
		mr, nr := GemmTile()
		for m := 1; m <= mr; m++ {
			for n := 1; n <= nr; n++ {
				for _, k := range []int{1, 2, 3, 4, 5, 9} {
					check(t, fmt.Sprintf("GemmNN of %dx%dx%d", m, n, k), func() {
						GemmNN(m, n, k, x(m*k), k, x(k*n), n, x(m*n), n, true)
					})
					check(t, fmt.Sprintf("GemmTN of %dx%dx%d", m, n, k), func() {
						GemmTN(m, n, k, x(m*k), m, x(k*n), n, x(m*n), n, false)
					})
				}
			}
		}
		for _, m := range []int{1, mr - 1, mr} {
			for n := nr - 2; n <= 2*nr+2 && n <= most; n++ {
				for _, k := range []int{1, 2, 5} {
					check(t, fmt.Sprintf("GemmStripNN of %dx%dx%d", m, n, k), func() {
						GemmStripNN(m, n, k, x(m*k), k, x(k*n), n, x(m*n), n, true)
					})
					check(t, fmt.Sprintf("GemmStripTN of %dx%dx%d", m, n, k), func() {
						GemmStripTN(m, n, k, x(m*k), m, x(k*n), n, x(m*n), n, false)
					})
					check(t, fmt.Sprintf("GemmMirrored of %dx%dx%d", m, n, k), func() {
						GemmMirrored(m, n, k, k, x(k*m), x(k*m), m, x(k*n), x(k*n), n, x(m*n), x(m*n), n, false, true)
					})
					check(t, fmt.Sprintf("GemmPair of %dx%dx%d", m, n, k), func() {
						GemmPair(n, &PairPart{m, k, k, x(m * k), x(k * n), x(m * n)}, &PairPart{m, k, k, x(m * k), x(k * n), x(m * n)}, n, n, false, x(5))
					})
					ahead := [4][]float32{x(5), x(3)}
					check(t, fmt.Sprintf("GemmComplexNN of %dx%dx%d", m, n, k), func() {
						GemmComplexNN(m, n, k, x(m*k), x(m*k), k, x(k*n), x(k*n), n, x(m*n), x(m*n), n, true, ahead, spare)
					})
					check(t, fmt.Sprintf("GemmComplexTN of %dx%dx%d", m, n, k), func() {
						GemmComplexTN(m, n, k, x(m*k), x(m*k), m, x(k*n), x(k*n), n, x(m*n), x(m*n), n, false, ahead, spare)
					})
					check(t, fmt.Sprintf("GemmTwinNN of %dx%dx%d", m, n, k), func() {
						GemmTwinNN(m, n, k, x(m*k), k, x(k*n), x(k*n), n, x(m*n), x(m*n), n, true, ahead)
					})
					check(t, fmt.Sprintf("GemmTwinTN of %dx%dx%d", m, n, k), func() {
						GemmTwinTN(m, n, k, x(m*k), m, x(k*n), x(k*n), n, x(m*n), x(m*n), n, false, ahead)
					})
					last := (n - 1) / nr
					size := last*k*nr + (k-1)*nr + n - last*nr
					check(t, fmt.Sprintf("GemmPanelsNN of %dx%dx%d", m, n, k), func() {
						GemmPanelsNN(m, n, k, x(m*k), k, x(size), k*nr, x(m*n), n, true)
					})
					check(t, fmt.Sprintf("GemmPanelsAheadNN of %dx%dx%d", m, n, k), func() {
						GemmPanelsAheadNN(m, n, k, x(m*k), k, x(size), k*nr, x(m*n), n, Ahead{x(5), n, 3}, false)
					})
					check(t, fmt.Sprintf("GemmPanelsAheadTN of %dx%dx%d", m, n, k), func() {
						GemmPanelsAheadTN(m, n, k, x(m*k), m, x(size), k*nr, x(m*n), n, Ahead{x(5), n, 3}, true)
					})
					check(t, fmt.Sprintf("GemmComplexPanelsNN of %dx%dx%d", m, n, k), func() {
						GemmComplexPanelsNN(m, n, k, x(m*k), x(m*k), k, x(size), x(size), k*nr, x(m*n), x(m*n), n, true, ahead, spare)
					})
					steps, columns := 4*k, min(n, QuadColumns)
					quads := max(0, (k-1)*4*QuadColumns+4*columns)
					check(t, fmt.Sprintf("PackQuads of %dx%d", columns, steps), func() {
						PackQuads(x(quads), x(columns*steps), steps, steps, columns)
					})
					check(t, fmt.Sprintf("GemmComplexQuads of %dx%dx%d", m, columns, steps), func() {
						GemmComplexQuads(m, columns, steps, x(m*steps), x(m*steps), steps, x(quads), x(quads), 0, x(m*columns), x(m*columns), columns, true, ahead)
					})
					check(t, fmt.Sprintf("GemmTwinPanelsNN of %dx%dx%d", m, n, k), func() {
						GemmTwinPanelsNN(m, n, k, x(m*k), k, x(size), x(size), k*nr, x(m*n), x(m*n), n, true, ahead)
					})
					check(t, fmt.Sprintf("GemmPanelsTN of %dx%dx%d", m, n, k), func() {
						GemmPanelsTN(m, n, k, x(m*k), m, x(size), k*nr, x(m*n), n, false)
					})
				}
			}
		}
		for rows := 1; rows <= 2*splitTile+1; rows += 3 {
			for _, k := range []int{1, 15, 16, 17, 32, 33} {
				size := SplitSize(rows, k)
				if size > 2*most*(most+1) {
					continue
				}
				check(t, fmt.Sprintf("SplitLeft of %dx%d", rows, k), func() { SplitLeft(x(size), x(rows*k), k, rows, k) })
				check(t, fmt.Sprintf("SplitRight of %dx%d", k, rows), func() { SplitRight(x(size), x(rows*k), rows, k, rows) })
				check(t, fmt.Sprintf("GemmSplitPanels of %dx%dx%d", rows, 37, k), func() {
					GemmSplitPanels(rows, 37, k, x(size), x(SplitSize(37, k)), SplitSize(1, k), x(rows*37), 37, true, x(5), 3)
				})
				check(t, fmt.Sprintf("LinearSplit of %dx%dx%d", 33, rows, k), func() {
					LinearSplit(33, rows, k, x(SplitSize(33, k)), x(size), x(33), x(33*rows), rows, rows%2 == 0)
					Fence()
				})
				check(t, fmt.Sprintf("LinearGradSplit of %dx%dx%d", 33, rows, k), func() {
					LinearGradSplit(&GradSplit{
						M: 33, N: rows, K: k, Y: x(33 * rows), LDY: rows, W: x(2 * SplitSize(k, splitTile)), H: x(SplitSize(k, rows)),
						DW: x(33 * k), LDDW: k, DB: x(33), DH: x(k * rows), LDDH: rows, Work: x(GradSplitWork), Ahead: 8 * rows,
					})
				})
				check(t, fmt.Sprintf("GemmSplit of %dx%dx%d", rows, 5, k), func() {
					GemmSplit(rows, 5, k, x(size), x(SplitSize(5, k)), x(rows*5), 5, true)
				})
			}
		}
		for rows := 1; rows <= 2*sliceTile+1; rows += 4 {
			for _, k := range []int{1, 15, 16, 17, 32, 33} {
				size := SliceSize(rows, k)
				check(t, fmt.Sprintf("SliceLeft of %dx%d", rows, k), func() { SliceLeft(x(size), x(rows*k), x(rows*k), k, rows, k) })
				check(t, fmt.Sprintf("SliceLeftConjugate of %dx%d", rows, k), func() {
					SliceLeftConjugate(x(size), x(size), x(rows*k), x(rows*k), k, rows, k)
				})
				check(t, fmt.Sprintf("SliceTransposed of %dx%d", rows, k), func() { SliceTransposed(x(size), x(rows*k), x(rows*k), k, k, rows) })
				halves := SliceSize(rows, (k+1)/2)
				check(t, fmt.Sprintf("SliceHalves of %dx%d", k, rows), func() { SliceHalves(x(halves), x(rows*k), rows, k, rows) })
				check(t, fmt.Sprintf("SliceLeftHalves of %dx%d", rows, k), func() { SliceLeftHalves(x(halves), x(rows*k), k, rows, k) })
				check(t, fmt.Sprintf("SliceTransposedHalves of %dx%d", rows, k), func() { SliceTransposedHalves(x(halves), x(rows*k), k, k, rows) })
				line := SliceRow(k)
				check(t, fmt.Sprintf("SliceColumns of %dx%d", k, rows), func() { SliceColumns(x(rows*line), x(rows*k), x(rows*k), rows, k, rows, x(SliceSize(1, k))) })
				check(t, fmt.Sprintf("GemmSliceShifts of %d rows", k&16+16), func() {
					m := k&16 + 16
					GemmSliceShifts(m, k, x(m*line), []int{0}, x(SliceSize(2*sliceTile, k)), x(2*sliceTile*m), 2*sliceTile, true, x(5))
				})
				check(t, fmt.Sprintf("SliceRight of %dx%d", k, rows), func() { SliceRight(x(size), x(rows*k), x(rows*k), rows, k, rows) })
				for _, n := range []int{16, 21} {
					check(t, fmt.Sprintf("GemmSlices of %dx%dx%d", rows, n, k), func() {
						c := [2][]float32{x(rows * n), x(rows * n)}
						GemmSlices(rows, n, k, [2][]float32{x(size), x(size)}, x(SliceSize(n, k)), c, n, true, [2][]float32{x(5), x(3)})
					})
				}
			}
		}
		offsets := []int{0, 1, 2, 1, 0}
		for k := range len(offsets) + 1 {
			for n := 1; n <= nr; n++ {
				check(t, fmt.Sprintf("PackPanel of %dx%d", k, n), func() { PackPanel(x(k*nr), x(k*n), n, k, n) })
				check(t, fmt.Sprintf("PackCols of %dx%d", k, n), func() { PackCols(x(k*nr), x(k*n), k, k, n) })
				check(t, fmt.Sprintf("PackRows of %dx%d", k, n), func() { PackRows(x(k*nr), x(n+2), offsets[:k], n) })
			}
			for m := 1; m <= mr; m++ {
				check(t, fmt.Sprintf("PackA of %dx%d", k, m), func() { PackA(x(k*mr), x(k*m), k, k, m) })
				check(t, fmt.Sprintf("PackAT of %dx%d", k, m), func() { PackAT(x(k*mr), x(k*m), m, k, m) })
			}
		}
	})
}
