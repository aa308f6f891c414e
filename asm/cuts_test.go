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
