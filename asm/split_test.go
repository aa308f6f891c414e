package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSplit splits matrices of every number of steps up to beyond two blocks, with
// gaps between the rows and NaN around, and compares with the portable code.
func TestSplit(t *testing.T) {
	step := 3 // meets 1, 16, 31, 64
	if raceEnabled || testing.Short() {
		step = 9
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 1))
		for k := 1; k <= 70; k++ {
			for rows := 1; rows <= 66; rows += step {
				size := SplitSize(rows, k)
				for _, name := range []string{"left", "right"} {
					x := newGuarded(rows, k, k+3, 5)
					if name == "right" {
						x = newGuarded(k, rows, rows+3, 5)
					}
					x.fill(func(int, int) float32 { return float32(rng.NormFloat64()) })
					got, want := newGuarded(1, size, size, 16), newGuarded(1, size, size, 16)
					block := splitSteps(k) * splitBlock
					for i := 0; i < rows; i += splitTile {
						n, at := min(splitTile, rows-i), i/splitTile*block
						switch name {
						case "left":
							splitLeftGeneric(want.data()[at:], x.data()[i*x.ld:], x.ld, n, k)
						case "right":
							splitRightGeneric(want.data()[at:], x.data()[i:], x.ld, k, n)
						}
					}
					switch name {
					case "left":
						SplitLeft(got.data(), x.data(), x.ld, rows, k)
					case "right":
						SplitRight(got.data(), x.data(), x.ld, k, rows)
					}
					for i := range want.buf {
						a, b := math.Float32bits(got.buf[i]), math.Float32bits(want.buf[i])
						if a != b {
							t.Fatalf("%s of %d rows and %d steps: value %d of %d is %#x, want %#x", name, rows, k, i-16, size, a, b)
						}
					}
				}
			}
		}
	})
}

// TestSplitExact checks that the parts of a value sum up to it, with significands of
// eight bits.
func TestSplitExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for range 100000 {
		x := math.Float32frombits(rng.Uint32())
		if e := math.Float32bits(x) >> 23 & 0xff; e == 255 || e < 1+16 {
			continue // the parts of smaller ones would be denormal
		}
		var sum float64
		for _, part := range splitValue(x) {
			sum += float64(math.Float32frombits(part))
		}
		if sum != float64(x) {
			t.Fatalf("the parts of %v sum up to %v", x, sum)
		}
	}
}

// splitCase is a product of random matrices, split.
type splitCase struct {
	m, n, k int
	x, y    []float32
	a, b    []float32
}

func newSplitCase(m, n, k int, value func() float32) *splitCase {
	c := &splitCase{m: m, n: n, k: k, x: make([]float32, m*k), y: make([]float32, k*n), a: make([]float32, SplitSize(m, k)), b: make([]float32, SplitSize(n, k))}
	for i := range c.x {
		c.x[i] = value()
	}
	for i := range c.y {
		c.y[i] = value()
	}
	for i := range c.a {
		c.a[i] = poison // rows that are not there must not matter
	}
	SplitLeft(c.a, c.x, k, m, k)
	SplitRight(c.b, c.y, n, k, n)
	return c
}

// TestGemmSplit multiplies matrices of all sizes around the blocks and compares with
// the portable code bit by bit, and with float64.
func TestGemmSplit(t *testing.T) {
	sizes := []int{1, 2, 15, 16, 17, 31, 32, 33, 48, 64, 65, 97}
	if raceEnabled || testing.Short() {
		sizes = []int{1, 17, 32, 65}
	}
	eachLevel(t, func(t *testing.T) {
		sizes := sizes
		if !FastSplit() {
			sizes = []int{1, 17, 40} // the portable code against float64
		}
		rng := rand.New(rand.NewPCG(5, 3))
		normal := func() float32 { return float32(rng.NormFloat64()) }
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range []int{0, 1, 16, 31, 32, 33, 70} {
					for _, accumulate := range []bool{false, true} {
						s := newSplitCase(m, n, k, normal)
						got, want := newGuarded(m, n, n+5, 7), newGuarded(m, n, n+5, 7)
						if accumulate {
							got.fill(func(i, j int) float32 { return float32(i-j) / 7 })
							copy(want.buf, got.buf)
						}
						GemmSplit(m, n, k, s.a, s.b, got.data(), got.ld, accumulate)
						size := splitSteps(k) * splitBlock
						for i := 0; i < m; i += splitTile {
							gemmSplitGeneric(min(splitTile, m-i), n, splitSteps(k), s.a[i/splitTile*size:], s.b, want.data()[i*want.ld:], want.ld, accumulate)
						}
						got.intact(t, m, n)
						for i := range m {
							for j := range n {
								if math.Float32bits(got.at(i, j)) != math.Float32bits(want.at(i, j)) {
									t.Fatalf("m=%d n=%d k=%d accumulate=%v: C[%d][%d] = %v, want %v", m, n, k, accumulate, i, j, got.at(i, j), want.at(i, j))
								}
								var exact, magnitude float64
								if accumulate {
									exact = float64(float32(i-j) / 7)
									magnitude = math.Abs(exact)
								}
								for p := range k {
									v := float64(s.x[i*k+p]) * float64(s.y[p*n+j])
									exact += v
									magnitude += math.Abs(v)
								}
								if bound := float64(k+16) * magnitude / (1 << 24); !(math.Abs(exact-float64(got.at(i, j))) <= bound) {
									t.Fatalf("m=%d n=%d k=%d: C[%d][%d] = %v, want %v within %g", m, n, k, i, j, got.at(i, j), exact, bound)
								}
							}
						}
					}
				}
			}
		}
	})
}

// TestGemmSplitPanels compares with GemmSplit bit by bit: panels apart and
// overlapping, fetching what is there and what is not.
func TestGemmSplitPanels(t *testing.T) {
	sizes := []int{1, 31, 32, 33, 64, 97}
	if raceEnabled || testing.Short() {
		sizes = []int{17, 65}
	}
	eachLevel(t, func(t *testing.T) {
		sizes := sizes
		if !FastSplit() {
			sizes = []int{17, 65}
		}
		rng := rand.New(rand.NewPCG(5, 5))
		normal := func() float32 { return float32(rng.NormFloat64()) }
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range []int{0, 5, 64, 70} {
					s := newSplitCase(m, n, k, normal)
					size := splitSteps(k) * splitBlock
					panels := SplitSize(n, 1) / splitBlock
					if size > splitBlock && n == splitTile*panels {
						// Each panel begins one block after the last, and shares the others.
						row := newSplitCase(1, splitTile, (panels+size/splitBlock)*splitTile, normal).b
						got, want := newGuarded(m, n, n, 7), newGuarded(m, n, n, 7)
						GemmSplitPanels(m, n, k, s.a, row, splitBlock, got.data(), n, false, nil, 0)
						for p := range panels {
							GemmSplit(m, splitTile, k, s.a, row[p*splitBlock:], want.data()[p*splitTile:], n, false)
						}
						for i, v := range want.buf {
							if math.Float32bits(v) != math.Float32bits(got.buf[i]) {
								t.Fatalf("m=%d n=%d k=%d, panels overlap: value %d is %v, want %v", m, n, k, i, got.buf[i], v)
							}
						}
					}
					apart := make([]float32, panels*(size+64))
					for p := range panels {
						copy(apart[p*(size+64):], s.b[p*size:][:size])
					}
					for _, accumulate := range []bool{false, true} {
						got, want := newGuarded(m, n, n+5, 7), newGuarded(m, n, n+5, 7)
						got.fill(func(i, j int) float32 { return float32(i + j) })
						copy(want.buf, got.buf)
						GemmSplit(m, n, k, s.a, s.b, want.data(), want.ld, accumulate)
						GemmSplitPanels(m, n, k, s.a, apart, size+64, got.data(), got.ld, accumulate, apart[:min(len(apart), 3)], 5)
						for i, v := range want.buf {
							if math.Float32bits(v) != math.Float32bits(got.buf[i]) {
								t.Fatalf("m=%d n=%d k=%d accumulate=%v: value %d is %v, want %v", m, n, k, accumulate, i, got.buf[i], v)
							}
						}
					}
				}
			}
		}
	})
}

// TestGemmSplitError compares the error of split products with that of products
// in float32, both against float64.
func TestGemmSplitError(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 40, 70, 256
		rng := rand.New(rand.NewPCG(5, 4))
		for name, value := range map[string]func() float32{
			"normal":   func() float32 { return float32(rng.NormFloat64()) },
			"positive": func() float32 { return rng.Float32() },
			"scales":   func() float32 { return float32(rng.NormFloat64() * math.Exp(8*rng.NormFloat64())) },
		} {
			s := newSplitCase(m, n, k, value)
			c := make([]float32, m*n)
			GemmSplit(m, n, k, s.a, s.b, c, n, false)
			var split, float, norm float64
			for i := range m {
				for j := range n {
					var exact float64
					var plain float32
					for p := range k {
						exact += float64(s.x[i*k+p]) * float64(s.y[p*n+j])
						plain += float32(s.x[i*k+p] * s.y[p*n+j])
					}
					norm += exact * exact
					split += (exact - float64(c[i*n+j])) * (exact - float64(c[i*n+j]))
					float += (exact - float64(plain)) * (exact - float64(plain))
				}
			}
			t.Logf("%s: relative error %.2g, in float32 %.2g", name, math.Sqrt(split/norm), math.Sqrt(float/norm))
			if math.Sqrt(split/norm) > 4e-7 {
				t.Errorf("%s: relative error %g", name, math.Sqrt(split/norm))
			}
		}
	})
}

// TestGemmSplitSpecial checks what the documentation says about infinities, NaN and
// numbers below the normal ones.
func TestGemmSplitSpecial(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 3, 40, 33
		for _, special := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0x7f800001)} {
			s := newSplitCase(m, n, k, func() float32 { return 1 })
			s.x[1*k+32] = special
			SplitLeft(s.a, s.x, k, m, k)
			c := make([]float32, m*n)
			GemmSplit(m, n, k, s.a, s.b, c, n, false)
			for i, v := range c {
				if i/n == 1 && v == v || i/n != 1 && v != k {
					t.Fatalf("with %v in row 1: C[%d][%d] = %v", special, i/n, i%n, v)
				}
			}
		}
		for _, x := range []float32{1e-39, 1e-44, -1e-40} {
			s := newSplitCase(m, n, k, func() float32 { return x })
			for i := range s.y {
				s.y[i] = 1
			}
			SplitRight(s.b, s.y, n, k, n)
			c := make([]float32, m*n)
			GemmSplit(m, n, k, s.a, s.b, c, n, false)
			for _, v := range c {
				if v != 0 {
					t.Fatalf("sums of %v are %v, want 0", x, v)
				}
			}
		}
		largest := newSplitCase(1, 1, 1, func() float32 { return math.MaxFloat32 })
		SplitRight(largest.b, []float32{1}, 1, 1, 1)
		c := make([]float32, 1)
		GemmSplit(1, 1, 1, largest.a, largest.b, c, 1, false)
		if c[0] != math.MaxFloat32 {
			t.Errorf("1 times the largest float32 is %v", c[0])
		}
	})
}

func TestSplitErrors(t *testing.T) {
	x := make([]float32, 4*splitBlock)
	for name, call := range map[string]func(){
		"dst":           func() { SplitLeft(x[:splitBlock], x, 40, 20, 40) },
		"dst right":     func() { SplitRight(x[:splitBlock], x, 40, 20, 40) },
		"rows":          func() { SplitLeft(x, x[:30], 8, 4, 8) },
		"negative":      func() { SplitLeft(x, x, 8, -1, 8) },
		"a":             func() { GemmSplit(33, 1, 1, x[:splitBlock], x, x, 1, false) },
		"b":             func() { GemmSplit(1, 33, 1, x, x[:splitBlock], x, 33, false) },
		"c":             func() { GemmSplit(2, 2, 1, x, x, x[:3], 2, false) },
		"ldc":           func() { GemmSplit(2, 2, 1, x, x, x, 1, false) },
		"a of panels":   func() { GemmSplitPanels(33, 1, 1, x[:splitBlock], x, 0, x, 1, false, nil, 0) },
		"c of panels":   func() { GemmSplitPanels(2, 2, 1, x, x, 0, x[:3], 2, false, nil, 0) },
		"panels":        func() { GemmSplitPanels(2, 33, 1, x, x[:splitBlock+7], 8, x, 33, false, nil, 0) },
		"distance":      func() { GemmSplitPanels(2, 33, 1, x, x, -8, x, 33, false, nil, 0) },
		"negative size": func() { GemmSplit(-2, 2, 1, x, x, x, 2, false) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no panic with *Error", name)
				}
			}()
			call()
		}()
	}
}

func FuzzGemmSplit(f *testing.F) {
	f.Add(uint8(33), uint8(17), uint8(40), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(33), uint8(17), uint8(40), []byte("00080\r0 000\x06")) // products below the normal numbers
	f.Fuzz(func(t *testing.T, m, n, k uint8, data []byte) {
		values := floats(data)
		if len(values) == 0 {
			return
		}
		at := 0
		s := newSplitCase(int(m%70), int(n%70), int(k%70), func() float32 { at++; return values[at%len(values)] })
		got, want := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
		if len(got) == 0 {
			return
		}
		GemmSplit(s.m, s.n, s.k, s.a, s.b, got, s.n, false)
		for i := 0; i < s.m; i += splitTile {
			gemmSplitGeneric(min(splitTile, s.m-i), s.n, splitSteps(s.k), s.a[i/splitTile*splitSteps(s.k)*splitBlock:], s.b, want[i*s.n:], s.n, false)
		}
		for i, v := range want {
			if math.Float32bits(v) != math.Float32bits(got[i]) && (v == v || got[i] == got[i]) {
				t.Fatalf("%dx%dx%d: C[%d] = %v, want %v", s.m, s.n, s.k, i, got[i], v)
			}
		}
	})
}

func BenchmarkGemmSplit(b *testing.B) {
	for _, size := range [][3]int{{64, 64, 128}, {256, 64, 256}, {64, 64, 64}, {1024, 96, 32}} {
		m, n, k := size[0], size[1], size[2]
		s := newSplitCase(m, n, k, func() float32 { return 1 })
		c := make([]float32, m*n)
		for name, call := range map[string]func(){
			"left":    func() { SplitLeft(s.a, s.x, k, m, k) },
			"right":   func() { SplitRight(s.b, s.y, n, k, n) },
			"product": func() { GemmSplit(m, n, k, s.a, s.b, c, n, false) },
		} {
			b.Run(fmt.Sprintf("pass=%s/m=%d/n=%d/k=%d", name, m, n, k), func(b *testing.B) {
				for b.Loop() {
					call()
				}
				if name == "product" {
					b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
				} else {
					values := m * k
					if name == "right" {
						values = k * n
					}
					b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(values*b.N), "ns/value")
				}
			})
		}
	}
}
