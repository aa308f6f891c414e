package asm

import (
	"math/rand/v2"
	"testing"
)

// TestCuts takes sizes beyond what a kernel is given in one call, which cannot be preempted: some ten microseconds.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	value := func() float32 { return float32(rng.NormFloat64()) }
	eachLevel(t, func(t *testing.T) {
		checkGauss(t, 260, 101, 2, value, 1e-5)
		for _, back := range []bool{false, true} {
			newKernelCase(1000, 24, 17, 8, back, back, value).check(t, 1e-5)
		}
		newFoldedCase(7, 200, 3, 171, value).check(t, 1e-5)
		newWaveCase(5, 171, 2, 200, true, value).check(t, 1e-5)
		transposeGroupsCase(t, 3, 4, 2100, 3)
		newGaussRowsCase(9, 1, 14, 130, 70, gaussHeights[5], false, true, value).check(t, 1e-5)
	})
}

// TestCutGaussRowsAhead wants as much fetched in the calls of a strip as in one, of both parts of its rows and sources.
func TestCutGaussRowsAhead(t *testing.T) {
	const rows, n, m = 9, 130, 40
	s := newGaussRowsCase(rows, 0, rows+2, n, m, []int{0, 1, 0}, false, false, func() float32 { return 1 })
	ahead := make([]float32, 100000)
	left := GaussRows(&s.GaussShape, s.x.data(), s.b.data(), s.y.data(), false, ahead)
	const tiles = (m + 15) / 16
	if fetched := len(ahead) - len(left); FastGaussRows(&s.GaussShape) && fetched != 2*3*n*tiles*16 {
		t.Errorf("%d values were fetched, want %d", fetched, 2*3*n*tiles*16)
	}
}

// TestCutProducts wants of products that take several calls of a kernel the bits of their parts, each of which takes
// one.
func TestCutProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	value := func() float32 { return float32(rng.NormFloat64()) }
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	eachLevel(t, func(t *testing.T) {
		const m, n, k, part = 20, 500, 300, 100
		a, b, bias := random(m*k), random(k*n), random(m)
		got, want := make([]float32, m*n), make([]float32, m*n)
		Linear(m, n, k, a, k, b, n, bias, got, n, false)
		for j := 0; j < n; j += part {
			Linear(m, part, k, a, k, b[j:], n, bias, want[j:], n, false)
		}
		sameBits(t, "Linear", got, want)
		LinearGrad(m, n, k, a, m, b, n, got, n, false, nil, 0)
		for j := 0; j < n; j += part {
			LinearGrad(m, part, k, a, m, b[j:], n, want[j:], n, false, nil, 0)
		}
		sameBits(t, "LinearGrad", got, want)

		const side, steps = splitTile + 1, 33
		s := newSplitCase(side, side, steps*splitTile, value)
		got, want = make([]float32, side*side), make([]float32, side*side)
		for i := 0; i < side; i += splitTile {
			for j := 0; j < side; j += splitTile {
				GemmSplit(min(splitTile, side-i), min(splitTile, side-j), s.k, s.a[i*steps*splitBlock/splitTile:], s.b[j*steps*splitBlock/splitTile:], want[i*side+j:], side, false)
			}
		}
		GemmSplit(side, side, s.k, s.a, s.b, got, side, false)
		sameBits(t, "GemmSplit", got, want)
		clear(got)
		GemmSplitPanels(side, side, s.k, s.a, s.b, steps*splitBlock, got, side, false, nil, 0)
		sameBits(t, "GemmSplitPanels", got, want)
		bias = random(side)
		LinearSplit(side, side, s.k, s.a, s.b, bias, got, side, false)
		for i, v := range bias {
			row := want[i*side:][:side]
			Affine(row, row, 1, v)
		}
		sameBits(t, "LinearSplit", got, want)
	})
}

// TestCutCopies wants the same of copies.
func TestCutCopies(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const rows, cols = 9, chunk / 4
		src := make([]float32, rows*cols)
		ramp(src, 3)
		got, want := make([]float32, rows*cols), make([]float32, rows)
		sums := make([]float32, rows)
		CopyRows(got, cols, src, cols, rows, cols, sums)
		sameBits(t, "copies of rows", got, src)
		for r := range rows {
			CopyRows(got, cols, src[r*cols:], cols, 1, cols, want[r:])
		}
		sameBits(t, "sums of rows", sums, want)

		const k, n = 4100, 6
		got, want = make([]float32, k*QuadColumns), make([]float32, k*QuadColumns)
		PackQuads(got, src, k, k, n)
		packQuadsGeneric(want, src, k, k, n)
		sameBits(t, "quads", got, want)
	})
}
