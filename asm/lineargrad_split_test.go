package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// newGradSplit returns operands with random values, also in the gaps between the rows
// and behind the ends.
func newGradSplit(rng *rand.Rand, m, n, k int, addW, addH bool) *GradSplit {
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	g := &GradSplit{M: m, N: n, K: k, LDY: n + 3, LDDW: k + 2, LDDH: n + 1, AddW: addW, AddH: addH, Ahead: rng.IntN(3) * 500}
	a, b := random(m*k), random(n*k) // b transposed
	g.Y = random(m * g.LDY)
	turned := make([]float32, k*splitTile)
	for i := 0; i < m; i += splitTile {
		rows := min(splitTile, m-i)
		Transpose(turned, splitTile, a[i*k:], k, rows, k)
		w := make([]float32, SplitSize(k, splitTile))
		SplitLeft(w, turned, splitTile, k, rows)
		g.W = append(g.W, w...)
	}
	g.H = make([]float32, SplitSize(k, n))
	SplitRight(g.H, b, k, n, k)
	g.DW, g.DB, g.DH = random(m*g.LDDW+5), random(m+5), random(k*g.LDDH+5)
	g.Work = make([]float32, GradSplitWork)
	return g
}

// rowSums returns what DB must become, and within which bounds.
func rowSums(g *GradSplit) (sums, bounds []float64) {
	for i := range g.M {
		sum, size := 0.0, 0.0
		if g.AddW {
			sum = float64(g.DB[i])
			size = math.Abs(sum)
		}
		for _, v := range g.Y[i*g.LDY:][:g.N] {
			sum, size = sum+float64(v), size+math.Abs(float64(v))
		}
		sums, bounds = append(sums, sum), append(bounds, float64(g.N/16+8)*eps*size)
	}
	return sums, bounds
}

// TestLinearGradSplit wants the bits of the portable code for the products, sums
// within the rounding of the longest chain of additions, and nothing else touched, around
// all edges of the blocks.
func TestLinearGradSplit(t *testing.T) {
	sizes := []int{1, 31, 32, 33, 64, 96, 97, 170}
	if raceEnabled || testing.Short() {
		sizes = []int{1, 64, 97}
	}
	eachLevel(t, func(t *testing.T) {
		sizes := sizes
		if !FastSplit() {
			sizes = []int{1, 40}
		}
		rng := rand.New(rand.NewPCG(8, 1))
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range []int{1, 31, 32, 40} {
					for variant := range 4 {
						g := newGradSplit(rng, m, n, k, variant&1 != 0, variant&2 != 0)
						want := *g
						want.DW, want.DB, want.DH = append([]float32(nil), g.DW...), append([]float32(nil), g.DB...), append([]float32(nil), g.DH...)
						exact, bound := rowSums(g)
						LinearGradSplit(g)
						want.parts(0, 0, m, n)
						for i, v := range exact {
							if !(math.Abs(float64(g.DB[i])-v) <= bound[i]) {
								t.Errorf("sum %d is %v, want %v", i, g.DB[i], v)
							}
						}
						sameBits(t, "DW and its gaps", g.DW, want.DW)
						sameBits(t, "DH and its gaps", g.DH, want.DH)
						sameBits(t, "what is behind DB", g.DB[m:], want.DB[m:])
						if t.Failed() {
							t.Fatalf("m=%d n=%d k=%d variant %d", m, n, k, variant)
						}
					}
				}
			}
		}
	})
}

func TestLinearGradSplitErrors(t *testing.T) {
	for name, spoil := range map[string]func(g *GradSplit){
		"M":    func(g *GradSplit) { g.M = -1 },
		"K":    func(g *GradSplit) { g.K = 0 },
		"Y":    func(g *GradSplit) { g.Y = g.Y[:39*g.LDY] },
		"LDDW": func(g *GradSplit) { g.LDDW = 4 },
		"W":    func(g *GradSplit) { g.W = g.W[1:] },
		"H":    func(g *GradSplit) { g.H = g.H[1:] },
		"DW":   func(g *GradSplit) { g.DW = g.DW[:39*g.LDDW] },
		"DB":   func(g *GradSplit) { g.DB = g.DB[:39] },
		"DH":   func(g *GradSplit) { g.DH = g.DH[:4*g.LDDH] },
		"Work": func(g *GradSplit) { g.Work = g.Work[1:] },
	} {
		g := newGradSplit(rand.New(rand.NewPCG(8, 2)), 40, 35, 5, false, false)
		spoil(g)
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no panic with *Error", name)
				}
			}()
			LinearGradSplit(g)
		}()
	}
}
