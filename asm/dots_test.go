package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// dotsCase compares GemmDots with float64, demands that an element has the same
// bits when it is computed alone, and that nothing outside of C changes. What
// surrounds A and B is NaN.
func dotsCase(t *testing.T, m, n, k, pad int, accumulate bool, value func(i, j int) float32) {
	t.Helper()
	a, b := newGuarded(m, k, k+pad, pad), newGuarded(n, k, k+2*pad, 1)
	a.fill(value)
	b.fill(value)
	c, start := newGuarded(m, n, n+pad, 3), newGuarded(m, n, n, 0)
	start.fill(value)
	if accumulate {
		c.fill(start.at)
	}
	GemmDots(m, n, k, a.data(), a.ld, b.data(), b.ld, c.data(), c.ld, accumulate)
	for i := range m {
		for j := range n {
			var want, abs float64
			if accumulate {
				want = float64(start.at(i, j))
				abs = math.Abs(want)
			}
			for p := range k {
				x := float64(a.at(i, p)) * float64(b.at(j, p))
				want += x
				abs += math.Abs(x)
			}
			if d := math.Abs(float64(c.at(i, j)) - want); !(d <= sumBound(k)*abs) {
				t.Fatalf("m=%d n=%d k=%d accumulate=%v: C[%d][%d] = %v, want %v", m, n, k, accumulate, i, j, c.at(i, j), want)
			}
			alone := []float32{start.at(i, j)}
			GemmDots(1, 1, k, a.data()[i*a.ld:], 0, b.data()[j*b.ld:], 0, alone, 1, accumulate)
			if math.Float32bits(alone[0]) != math.Float32bits(c.at(i, j)) {
				t.Fatalf("m=%d n=%d k=%d accumulate=%v: C[%d][%d] is %v, but %v when computed alone", m, n, k, accumulate, i, j, c.at(i, j), alone[0])
			}
		}
	}
	c.intact(t, m, n)
}

// TestGemmDots runs every number of rows, columns around and between the
// multiples of the tile, and k around the multiples of the vectors and of the
// unrolled loop; the last cases take several calls of a kernel.
func TestGemmDots(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, nr := DotTile()
		if mr == 0 {
			mr, nr = 3, 4 // portable code takes any
		}
		rng := rand.New(rand.NewPCG(9, 10))
		value := func(int, int) float32 { return float32(rng.NormFloat64()) }
		for m := 1; m <= mr; m++ {
			for n := 1; n <= 2*nr+1; n++ {
				for k := 0; k <= 70; k++ {
					if raceEnabled && k%3 != 0 {
						continue
					}
					dotsCase(t, m, n, k, 3, (m+n+k)%2 == 0, value)
				}
			}
		}
		for _, k := range []int{1000, 9000} {
			dotsCase(t, mr, 2*stripColumns(k, 16)+5, k, 1, true, value)
		}
	})
}

// FuzzGemmDots takes any sizes and magnitudes from 2^-20 to 2^20.
func FuzzGemmDots(f *testing.F) {
	f.Add(uint8(6), uint8(9), uint16(100), uint8(0), true, uint64(1))
	f.Add(uint8(1), uint8(1), uint16(0), uint8(3), false, uint64(2))
	f.Add(uint8(3), uint8(30), uint16(333), uint8(1), true, uint64(3))
	f.Fuzz(func(t *testing.T, m8, n8 uint8, k16 uint16, pad uint8, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		before := Active()
		defer func() { _ = SetLevel(before) }()
		for _, l := range Available() {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			mr, _ := DotTile()
			dotsCase(t, 1+int(m8)%max(1, mr), 1+int(n8)%40, int(k16)%500, int(pad)%20, accumulate, func(int, int) float32 {
				return float32(math.Ldexp(2*rng.Float64()-1, rng.IntN(41)-20))
			})
		}
	})
}

// TestGemmDotsNonFinite: infinities and NaN arrive in C, also through the last,
// masked step, and only where they belong.
func TestGemmDotsNonFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		for _, k := range []int{1, 16, 33, 47} {
			a, b, c := make([]float32, k), make([]float32, 2*k), make([]float32, 2)
			for p := range k {
				a[p], b[p], b[k+p] = 1, 2, 3
			}
			b[k-1], b[k] = inf, poison
			GemmDots(1, 2, k, a, k, b, k, c, 2, false)
			if c[0] != inf || c[1] == c[1] {
				t.Fatalf("k=%d: got %v, want +Inf and NaN", k, c)
			}
		}
	})
}

// TestGemmDotsPanics: what a caller could have checked is refused.
func TestGemmDotsPanics(t *testing.T) {
	x := make([]float32, 64)
	for name, f := range map[string]func(){
		"m above the tile":  func() { GemmDots(7, 1, 1, x, 1, x, 1, x, 1, false) },
		"negative m":        func() { GemmDots(-1, 1, 1, x, 1, x, 1, x, 1, false) },
		"negative n":        func() { GemmDots(1, -1, 1, x, 1, x, 1, x, 1, false) },
		"negative k":        func() { GemmDots(1, 1, -1, x, 1, x, 1, x, 1, false) },
		"short a":           func() { GemmDots(2, 1, 5, x[:9], 5, x, 5, x, 1, false) },
		"short b":           func() { GemmDots(1, 2, 5, x, 5, x[:9], 5, x, 2, false) },
		"short c":           func() { GemmDots(2, 2, 1, x, 1, x, 1, x[:3], 2, false) },
		"rows of c overlap": func() { GemmDots(2, 2, 1, x, 1, x, 1, x, 1, false) },
	} {
		t.Run(name, func(t *testing.T) {
			if mr, _ := DotTile(); mr == 0 && name == "m above the tile" {
				t.Skip("portable code takes any number of rows")
			}
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Fatal("no panic with *Error")
				}
			}()
			f()
		})
	}
}

// BenchmarkGemmDots multiplies full tiles that stay in the second-level cache.
func BenchmarkGemmDots(b *testing.B) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		m, _ := DotTile()
		for _, s := range [][2]int{{3, 1856}, {32, 256}, {32, 1856}} {
			n, k := s[0], s[1]
			rows := max(1, m)
			b.Run(fmt.Sprintf("impl=%v/m=%d/n=%d/k=%d", l, rows, n, k), func(b *testing.B) {
				x, y, c := make([]float32, rows*k), make([]float32, n*k), make([]float32, rows*n)
				for b.Loop() {
					GemmDots(rows, n, k, x, k, y, k, c, n, false)
				}
				b.ReportMetric(2*float64(rows*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
