package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
)

// poison is a NaN that no arithmetic makes: it surrounds every matrix, so that
// a value taken from outside shows in the result and a value written outside
// shows as its absence.
var poison = math.Float32frombits(0x7fc5a5a5)

// guarded is a matrix of rows x cols values, ld apart, in a poisoned buffer that
// begins off values before it and ends some values after it.
type guarded struct {
	rows, cols, ld int
	off            int
	buf            []float32
}

func newGuarded(rows, cols, ld, off int) *guarded {
	x := &guarded{rows, cols, ld, off, make([]float32, off+rows*ld+cols+40)}
	for i := range x.buf {
		x.buf[i] = poison
	}
	return x
}

func (x *guarded) data() []float32         { return x.buf[x.off:] }
func (x *guarded) set(i, j int, v float32) { x.buf[x.off+i*x.ld+j] = v }
func (x *guarded) at(i, j int) float32     { return x.buf[x.off+i*x.ld+j] }
func (x *guarded) fill(f func(i, j int) float32) {
	for i := range x.rows {
		for j := range x.cols {
			x.set(i, j, f(i, j))
		}
	}
}

// intact fails the test when anything but the first rows x cols values changed.
func (x *guarded) intact(t *testing.T, rows, cols int) {
	t.Helper()
	want := math.Float32bits(poison)
	for i, v := range x.buf {
		r, c := (i-x.off)/x.ld, (i-x.off)%x.ld
		if i >= x.off && r < rows && c < cols {
			continue
		}
		if math.Float32bits(v) != want {
			t.Fatalf("wrote %v outside of the matrix, at row %d column %d of %dx%d", v, r, c, rows, cols)
		}
	}
}

// integer is small enough for all sums below to be exact in float32, so that
// every level must give equal results.
func integer(rng *rand.Rand) float32 { return float32(rng.IntN(17) - 8) }

func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := Active()
	defer func() {
		if err := SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	for _, l := range Available() {
		t.Run(l.String(), func(t *testing.T) {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			if Active() != l {
				t.Fatalf("level %v is active", Active())
			}
			t.Logf("level %v", l)
			f(t)
		})
	}
}

type gemmFunc func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool)

// TestGemmTiles runs every tile m x n at k = 0..70 (each remainder of the
// unrolled loop, and none of its rounds) and some larger ones. Strides leave gaps
// and bases are misaligned; values that do not belong are NaN.
func TestGemmTiles(t *testing.T) {
	for _, kind := range []string{"NN", "TN"} {
		t.Run(kind, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				gemm, maxK, step := gemmFunc(GemmNN), 70, 1
				if kind == "TN" {
					gemm = GemmTN
				}
				if raceEnabled || runtime.GOARCH != "amd64" {
					step = 5 // one of each remainder of four still comes up
				}
				testTiles(t, gemm, kind == "TN", maxK, step)
			})
		})
	}
}

func testTiles(t *testing.T, gemm gemmFunc, trans bool, maxK, step int) {
	mr, nr := GemmTile()
	rng := rand.New(rand.NewPCG(1, 2))
	var a *guarded
	if trans {
		a = newGuarded(maxK, mr, mr+3, 5)
	} else {
		a = newGuarded(mr, maxK, maxK+7, 3)
	}
	b := newGuarded(maxK, nr, nr+9, 1)
	sum := make([]float32, mr*nr)
	for k := 0; k <= maxK; k++ {
		if k > 0 {
			// Column k-1 of A and row k-1 of B come to life; those after stay NaN.
			for i := range mr {
				if trans {
					a.set(k-1, i, integer(rng))
				} else {
					a.set(i, k-1, integer(rng))
				}
			}
			for j := range nr {
				b.set(k-1, j, integer(rng))
			}
			for i := range mr {
				for j := range nr {
					x := a.at(min(i, a.rows-1), k-1)
					if trans {
						x = a.at(k-1, i)
					}
					sum[i*nr+j] += x * b.at(k-1, j)
				}
			}
		}
		if k%step != 0 && k > 8 {
			continue
		}
		for m := 0; m <= mr; m++ {
			for n := 0; n <= nr; n++ {
				if step > 1 && (m+n+k)%3 != 0 && m != mr && n != nr {
					continue
				}
				for _, accumulate := range []bool{false, true} {
					c := newGuarded(m, n, nr+5, 7)
					if accumulate {
						c.fill(func(i, j int) float32 { return float32(100*i + j) })
					}
					gemm(m, n, k, a.data(), a.ld, b.data(), b.ld, c.data(), c.ld, accumulate)
					for i := range m {
						for j := range n {
							want := sum[i*nr+j]
							if accumulate {
								want += float32(100*i + j)
							}
							if got := c.at(i, j); got != want {
								t.Fatalf("m=%d n=%d k=%d accumulate=%v: C[%d][%d] = %v, want %v", m, n, k, accumulate, i, j, got, want)
							}
						}
					}
					c.intact(t, m, n)
				}
			}
		}
	}
}

// TestGemmLarge takes real values, long sums and packed strides.
func TestGemmLarge(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, nr := GemmTile()
		rng := rand.New(rand.NewPCG(3, 4))
		for _, k := range []int{127, 384, 1001} {
			for _, s := range [][2]int{{mr, nr}, {mr - 1, nr - 1}, {1, nr/2 + 1}, {mr/2 + 1, 1}} {
				m, n := s[0], s[1]
				a, at, b := newGuarded(m, k, k, 0), newGuarded(k, m, mr, 0), newGuarded(k, n, nr, 0)
				a.fill(func(i, j int) float32 { return float32(rng.NormFloat64()) })
				at.fill(func(i, j int) float32 { return a.at(j, i) })
				b.fill(func(i, j int) float32 { return float32(rng.NormFloat64()) })
				c, ct := newGuarded(m, n, n, 0), newGuarded(m, n, n, 0)
				GemmNN(m, n, k, a.data(), a.ld, b.data(), b.ld, c.data(), c.ld, false)
				GemmTN(m, n, k, at.data(), at.ld, b.data(), b.ld, ct.data(), ct.ld, false)
				for i := range m {
					for j := range n {
						var want, abs float64
						for p := range k {
							x := float64(a.at(i, p)) * float64(b.at(p, j))
							want += x
							abs += math.Abs(x)
						}
						if d := math.Abs(float64(c.at(i, j)) - want); !(d <= sumBound(k)*abs) {
							t.Fatalf("m=%d n=%d k=%d: C[%d][%d] = %v, want %v", m, n, k, i, j, c.at(i, j), want)
						}
						if math.Float32bits(c.at(i, j)) != math.Float32bits(ct.at(i, j)) {
							t.Fatalf("m=%d n=%d k=%d: C[%d][%d] is %v with A row-major, %v with A k-major", m, n, k, i, j, c.at(i, j), ct.at(i, j))
						}
					}
				}
			}
		}
	})
}

// sumBound bounds the error of a sum of k products, relative to the sum of
// their magnitudes: k rounding errors, two where product and sum are rounded
// apart (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
func sumBound(k int) float64 { return float64(k+2) * 0x1p-24 }

// TestGemmTileIndependence demands the same bits of an element whatever tile it
// is computed in: the driver may then cut C as it likes.
func TestGemmTileIndependence(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, nr := GemmTile()
		const k = 67
		rng := rand.New(rand.NewPCG(5, 6))
		a, b := newGuarded(mr, k, k, 0), newGuarded(k, nr, nr, 0)
		a.fill(func(i, j int) float32 { return float32(rng.NormFloat64()) })
		b.fill(func(i, j int) float32 { return float32(rng.NormFloat64()) })
		whole := newGuarded(mr, nr, nr, 0)
		GemmNN(mr, nr, k, a.data(), k, b.data(), nr, whole.data(), nr, false)
		for i := range mr {
			for j := range nr {
				for _, s := range [][2]int{{1, 1}, {mr - i, nr - j}, {1, nr - j}, {mr - i, 1}} {
					part := newGuarded(s[0], s[1], nr, 0)
					GemmNN(s[0], s[1], k, a.data()[i*k:], k, b.data()[j:], nr, part.data(), nr, false)
					if x, y := part.at(0, 0), whole.at(i, j); math.Float32bits(x) != math.Float32bits(y) {
						t.Fatalf("C[%d][%d] is %v in a %dx%d tile and %v in the full one", i, j, x, s[0], s[1], y)
					}
				}
			}
		}
	})
}

// stripFuncs are the functions that multiply strips. B in panels is made from a
// row-major one by panelsOf.
var stripFuncs = []struct {
	name        string
	trans       bool // A is k-major
	tile, strip gemmFunc
	panels      func(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, accumulate bool)
	ahead       func(m, n, k int, a []float32, lda int, b []float32, distance int, c []float32, ldc int, ahead Ahead, accumulate bool)
}{
	{"NN", false, GemmNN, GemmStripNN, GemmPanelsNN, GemmPanelsAheadNN},
	{"TN", true, GemmTN, GemmStripTN, GemmPanelsTN, GemmPanelsAheadTN},
}

// panelsOf copies b to panels of nr columns that lie gap values apart. They are
// poisoned in the gaps and beyond the last column; the slice ends with the last
// value of b.
func panelsOf(b *guarded, nr, gap int) (panels []float32, distance int) {
	distance = b.rows*nr + gap
	last := (b.cols - 1) / nr
	panels = make([]float32, last*distance+(b.rows-1)*nr+b.cols-last*nr)
	for i := range panels {
		panels[i] = poison
	}
	for p := range b.rows {
		for j := range b.cols {
			panels[j/nr*distance+p*nr+j%nr] = b.at(p, j)
		}
	}
	return panels, distance
}

// stripCase compares a strip, with B in place and in panels, bit by bit with the
// tiles that it consists of.
func stripCase(t *testing.T, rng *rand.Rand, m, n, k, pad int, accumulate bool, value func(i, j int) float32) {
	t.Helper()
	mr, nr := GemmTile()
	for _, f := range stripFuncs {
		rows, cols := m, k
		if f.trans {
			rows, cols = k, m
		}
		a, b := newGuarded(rows, cols, cols+pad, pad), newGuarded(k, n, n+pad, 1)
		a.fill(value)
		b.fill(value)
		start := newGuarded(m, n, n+pad, 3)
		if accumulate {
			start.fill(value)
		}
		result := func() *guarded {
			return &guarded{m, n, start.ld, start.off, append([]float32(nil), start.buf...)}
		}
		want := result()
		for r := 0; r < m; r += mr {
			at := r * a.ld
			if f.trans {
				at = r
			}
			for q := 0; q < n; q += nr {
				f.tile(min(mr, m-r), min(nr, n-q), k, a.data()[at:], a.ld, b.data()[q:], b.ld, want.data()[r*want.ld+q:], want.ld, accumulate)
			}
		}
		check := func(name string, c *guarded) {
			t.Helper()
			for i, x := range c.buf {
				if y := want.buf[i]; math.Float32bits(x) != math.Float32bits(y) {
					t.Fatalf("%s m=%d n=%d k=%d accumulate=%v: row %d column %d is %v, in tiles it is %v",
						name, m, n, k, accumulate, (i-c.off)/c.ld, (i-c.off)%c.ld, x, y)
				}
			}
			c.intact(t, m, n)
		}
		c := result()
		f.strip(m, n, k, a.data(), a.ld, b.data(), b.ld, c.data(), c.ld, accumulate)
		check("GemmStrip"+f.name, c)
		if k == 0 {
			continue
		}
		panels, distance := panelsOf(b, nr, rng.IntN(3)*8)
		c = result()
		f.panels(m, n, k, a.data(), a.ld, panels, distance, c.data(), c.ld, accumulate)
		check("GemmPanels"+f.name, c)
		// Rows of every number, beyond the slice as well.
		next := Ahead{X: panels[rng.IntN(len(panels)):], LD: rng.IntN(3000), Rows: rng.IntN(1 + rng.IntN(300))}
		c = result()
		f.ahead(m, n, k, a.data(), a.ld, panels, distance, c.data(), c.ld, next, accumulate)
		check(fmt.Sprintf("GemmPanelsAhead%s with %d rows", f.name, next.Rows), c)
	}
}

// TestGemmStrips: strips of every height and of widths around the multiples of
// the tile have the bits of their tiles; the last cases take several calls of a
// kernel.
func TestGemmStrips(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, nr := GemmTile()
		rng := rand.New(rand.NewPCG(7, 8))
		value := func(int, int) float32 { return float32(rng.NormFloat64()) }
		step := 1
		if raceEnabled || runtime.GOARCH != "amd64" {
			step = 3
		}
		for _, k := range []int{0, 1, 2, 3, 4, 7, 22, 39, 52} {
			for m := 1; m <= StripRows(k); m += step {
				for _, n := range []int{1, nr - 1, nr, nr + 1, nr + nr/2, 2*nr - 1, 2 * nr, 2*nr + 1, 3*nr + nr/2 - 1, 5 * nr} {
					stripCase(t, rng, m, n, k, 3, (m+n+k)%2 == 0, value)
				}
			}
		}
		for _, k := range []int{1, 300, 5000} {
			cols := stripColumns(k, nr)
			for _, n := range []int{cols - 1, cols, cols + 1, 3*cols + nr + 1} {
				stripCase(t, rng, min(3, mr), n, k, 1, k == 300, value)
			}
		}
	})
}

// FuzzGemmStrip compares strips of any size with their tiles.
func FuzzGemmStrip(f *testing.F) {
	f.Add(uint8(14), uint16(100), uint8(9), uint8(0), true, uint64(1))
	f.Add(uint8(1), uint16(1), uint8(0), uint8(3), false, uint64(2))
	f.Add(uint8(6), uint16(333), uint8(200), uint8(1), true, uint64(3))
	f.Fuzz(func(t *testing.T, m8 uint8, n16 uint16, k8, pad uint8, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		before := Active()
		defer func() { _ = SetLevel(before) }()
		for _, l := range Available() {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			stripCase(t, rng, 1+int(m8)%StripRows(int(k8)), 1+int(n16)%700, int(k8), int(pad)%20, accumulate, func(int, int) float32 {
				return float32(math.Ldexp(2*rng.Float64()-1, rng.IntN(41)-20))
			})
		}
	})
}

// TestGemmNonFinite: infinities and NaN of A and B arrive in C, those of C do
// not survive without accumulate (TestGemmTiles poisons C throughout).
func TestGemmNonFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		_, nr := GemmTile()
		a := []float32{inf, 1, 0, nan}
		b := make([]float32, 2*nr)
		for j := range nr {
			b[j], b[nr+j] = 1, 2
		}
		c := make([]float32, 2*nr)
		GemmNN(2, nr, 2, a, 2, b, nr, c, nr, false)
		for j := range nr {
			if c[j] != inf || c[nr+j] == c[nr+j] {
				t.Fatalf("column %d: got %v and %v, want +Inf and NaN", j, c[j], c[nr+j])
			}
		}
	})
}

// TestGemmPanics: what a caller could have checked is refused.
func TestGemmPanics(t *testing.T) {
	mr, nr := GemmTile()
	x := make([]float32, 1024)
	for name, f := range map[string]func(){
		"m above the tile":        func() { GemmNN(mr+1, 1, 1, x, 1, x, 1, x, 1, false) },
		"n above the tile":        func() { GemmTN(1, nr+1, 1, x, 1, x, 1, x, nr+1, false) },
		"negative k":              func() { GemmNN(1, 1, -1, x, 1, x, 1, x, 1, false) },
		"short a":                 func() { GemmNN(2, 1, 5, x[:9], 5, x, 1, x, 1, false) },
		"short a, k-major":        func() { GemmTN(2, 1, 5, x[:9], 2, x, 1, x, 1, false) },
		"short b":                 func() { GemmNN(1, 2, 5, x, 5, x[:9], 2, x, 2, false) },
		"short c":                 func() { GemmNN(2, 2, 1, x, 1, x, 2, x[:3], 2, false) },
		"rows of c overlap":       func() { GemmNN(2, 2, 1, x, 1, x, 2, x, 1, false) },
		"strip too high":          func() { GemmStripNN(StripRows(1)+1, 1, 1, x, 1, x, 1, x, 1, false) },
		"strip of more steps":     func() { GemmStripNN(mr+1, 1, 5, x, 5, x, 1, x, 1, false) },
		"strip of no steps":       func() { GemmStripNN(mr+1, 1, 0, x, 1, x, 1, x, 1, false) },
		"strip of n < 0":          func() { GemmStripTN(1, -1, 1, x, 1, x, 1, x, 1, false) },
		"strip, short b":          func() { GemmStripNN(1, 100, 3, x, 3, x[:299], 100, x, 100, false) },
		"strip, short a":          func() { GemmStripTN(2, 100, 3, x[:5], 2, x, 100, x, 100, false) },
		"strip, short c":          func() { GemmStripTN(2, 100, 3, x, 2, x, 100, x[:199], 100, false) },
		"strip, short a by rows":  func() { GemmStripNN(2, 100, 3, x[:5], 3, x, 100, x, 100, false) },
		"strip, short b, k-major": func() { GemmStripTN(2, 100, 3, x, 2, x[:299], 100, x, 100, false) },
		"strip of k < 0":          func() { GemmStripNN(1, 1, -1, x, 1, x, 1, x, 1, false) },
		"panels too high":         func() { GemmPanelsNN(StripRows(1)+1, 1, 1, x, 1, x, nr, x, 1, false) },
		"k-major, too high":       func() { GemmPanelsTN(StripRows(1)+1, 1, 1, x, StripRows(1)+1, x, nr, x, 1, false) },
		"panels, short a":         func() { GemmPanelsNN(2, 1, 3, x[:5], 3, x, 3*nr, x, 1, false) },
		"panels, short k-major a": func() { GemmPanelsTN(2, 1, 3, x[:5], 2, x, 3*nr, x, 1, false) },
		"panels, short c":         func() { GemmPanelsNN(2, 2, 3, x, 3, x, 3*nr, x[:3], 2, false) },
		"panels, k-major c":       func() { GemmPanelsTN(2, 2, 3, x, 2, x, 3*nr, x[:3], 2, false) },
		"panels, short b":         func() { GemmPanelsNN(1, nr+1, 3, x, 3, x[:5*nr], 3*nr, x, nr+1, false) },
		"panels, first one short": func() { GemmPanelsTN(1, nr+1, 3, x, 3, x[:2*nr+1], 0, x, nr+1, false) },
		"rows ahead < 0":          func() { GemmPanelsAheadNN(1, 1, 3, x, 3, x, nr, x, 1, Ahead{x, 1, -1}, false) },
		"ld ahead < 0":            func() { GemmPanelsAheadTN(1, 1, 3, x, 3, x, nr, x, 1, Ahead{x, -1, 1}, false) },
		"panels at < 0":           func() { GemmPanelsTN(1, 1, 3, x, 3, x, -1, x, 1, false) },
		"negative lda":            func() { GemmNN(2, 2, 1, x, -1, x, 2, x, 2, false) },
		"panel too short":         func() { PackPanel(x[:2*nr-1], x, 1, 2, 1) },
		"panel too wide":          func() { PackPanel(x, x, 1, 2, nr+1) },
		"panel of k < 0":          func() { PackPanel(x, x, 1, -1, 1) },
		"panel of rows too short": func() { PackRows(x[:2*nr-1], x, []int{0, 0}, 1) },
		"panel of columns short":  func() { PackCols(x[:2*nr-1], x, 2, 2, 1) },
		"panel of A too short":    func() { PackA(x[:2*mr-1], x, 2, 2, 1) },
		"panel of AT too short":   func() { PackAT(x[:2*mr-1], x, 1, 2, 1) },
		"offset out of src":       func() { PackRows(x, x[:3], []int{2}, 2) },
		"negative offset":         func() { PackRows(x, x, []int{-1}, 2) },
		"columns out of src":      func() { PackCols(x, x[:7], 4, 4, 2) },
		"rows out of src":         func() { PackA(x, x[:7], 4, 4, 2) },
		"A out of src":            func() { PackAT(x, x[:7], 4, 2, 4) },
		"transpose too long":      func() { Transpose(x[:5], 2, x, 3, 2, 3) },
		"transpose overlap":       func() { Transpose(x, 1, x[512:], 3, 2, 3) },
		"prefetch beyond x":       func() { Prefetch(x[:7], 4, 2, 4) },
		"transpose negative":      func() { Transpose(x, 1, x[512:], 3, -1, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Fatal("no panic with *Error")
				}
			}()
			f()
		})
	}
}

// TestGemmPreemption runs garbage collections beside goroutines that do nothing
// but multiply tiles. Assembly has no preemption points: were there none between
// two calls either, stopping the world would take as long as the loops run.
func TestGemmPreemption(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("needs GOMAXPROCS >= 2")
	}
	const bound = 0.05 // seconds; a tile takes some microseconds
	eachLevel(t, func(t *testing.T) {
		mr, nr := GemmTile()
		const k = 384
		var stop atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			a, b, c := make([]float32, mr*k), make([]float32, k*nr), make([]float32, mr*nr)
			for !stop.Load() {
				GemmNN(mr, nr, k, a, k, b, nr, c, nr, false)
			}
		}()
		defer func() {
			stop.Store(true)
			<-done
		}()
		// A machine busy with other work may hold the loop itself up, so one
		// good round of three is enough: starvation spoils every one.
		var worst float64
		for range 3 {
			before := stopping()
			for range 5 {
				runtime.GC()
			}
			worst = longest(before, stopping())
			t.Logf("stopping the world took at most %.2g s", worst)
			if worst <= bound {
				return
			}
		}
		t.Fatalf("stopping the world took %g s, want at most %g", worst, bound)
	})
}

// stopping returns the distribution of the times that garbage collections
// waited for all goroutines to stop.
func stopping() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: append([]float64(nil), h.Buckets...)}
}

// longest returns a lower bound of the longest time counted after but not
// before.
func longest(before, after *metrics.Float64Histogram) float64 {
	worst := 0.0
	for i, n := range after.Counts {
		if n > before.Counts[i] {
			worst = max(worst, after.Buckets[i])
		}
	}
	return worst
}

// FuzzGemm compares every level with float64, over arbitrary finite values and
// strides: |error| <= eps*sum|a||b|, and the two forms of A bit for bit.
func FuzzGemm(f *testing.F) {
	f.Add(uint8(14), uint8(32), uint8(9), uint8(0), uint8(0), true, []byte{1, 2, 3, 4, 5})
	f.Add(uint8(1), uint8(1), uint8(0), uint8(1), uint8(3), false, []byte{})
	f.Add(uint8(5), uint8(17), uint8(255), uint8(2), uint8(1), true, []byte{0, 0, 128, 127, 9})
	f.Fuzz(func(t *testing.T, m8, n8, k8, padA, padB uint8, accumulate bool, seed []byte) {
		var key [32]byte
		copy(key[:], seed)
		rng := rand.New(rand.NewChaCha8(key))
		value := func(i, j int) float32 {
			// Magnitudes from 2^-20 to 2^20, all finite in any sum.
			return float32(math.Ldexp(2*rng.Float64()-1, rng.IntN(41)-20))
		}
		before := Active()
		defer func() { _ = SetLevel(before) }()
		for _, l := range Available() {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			mr, nr := GemmTile()
			m, n, k := int(m8)%(mr+1), int(n8)%(nr+1), int(k8)
			a, b := newGuarded(m, k, k+int(padA), int(padA)), newGuarded(k, n, n+int(padB), int(padB))
			at := newGuarded(k, m, m+int(padB), 1)
			c, ct := newGuarded(m, n, n+int(padA), 2), newGuarded(m, n, n+int(padA), 2)
			a.fill(value)
			at.fill(func(i, j int) float32 { return a.at(j, i) })
			b.fill(value)
			start := newGuarded(m, n, n, 0)
			start.fill(value)
			if accumulate {
				c.fill(start.at)
				ct.fill(start.at)
			}
			GemmNN(m, n, k, a.data(), a.ld, b.data(), b.ld, c.data(), max(c.ld, 1), accumulate)
			GemmTN(m, n, k, at.data(), at.ld, b.data(), b.ld, ct.data(), max(ct.ld, 1), accumulate)
			for i := range m {
				for j := range n {
					var want, abs float64
					if accumulate {
						want = float64(start.at(i, j))
						abs = math.Abs(want)
					}
					for p := range k {
						x := float64(a.at(i, p)) * float64(b.at(p, j))
						want += x
						abs += math.Abs(x)
					}
					if d := math.Abs(float64(c.at(i, j)) - want); !(d <= sumBound(k)*abs) {
						t.Fatalf("%v m=%d n=%d k=%d: C[%d][%d] = %v, want %v", l, m, n, k, i, j, c.at(i, j), want)
					}
					if math.Float32bits(c.at(i, j)) != math.Float32bits(ct.at(i, j)) {
						t.Fatalf("%v m=%d n=%d k=%d: C[%d][%d] differs between NN and TN", l, m, n, k, i, j)
					}
				}
			}
			if m > 0 && n > 0 {
				c.intact(t, m, n)
				ct.intact(t, m, n)
			}
		}
	})
}

// BenchmarkGemmTile multiplies one full tile of packed operands that stay in
// the cache: the rate a driver can hope for.
func BenchmarkGemmTile(b *testing.B) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		mr, nr := GemmTile()
		for _, k := range []int{64, 384} {
			for _, m := range []int{mr, mr / 2, 1} {
				for _, n := range []int{nr, nr/2 - 1} {
					b.Run(fmt.Sprintf("impl=%v/m=%d/n=%d/k=%d", l, m, n, k), func(b *testing.B) {
						x, y, c := make([]float32, mr*k), make([]float32, k*nr), make([]float32, mr*nr)
						for b.Loop() {
							GemmNN(m, n, k, x, k, y, nr, c, nr, true)
						}
						b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					})
				}
			}
		}
	}
}

// BenchmarkGemmStrip multiplies a strip tile by tile and at once: what a call
// costs where k is short.
func BenchmarkGemmStrip(b *testing.B) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		mr, nr := GemmTile()
		n := 8 * nr
		for _, k := range []int{4, 14, 64, 256} {
			x, y, c := make([]float32, mr*k), make([]float32, k*n), make([]float32, mr*n)
			for name, run := range map[string]func(){
				"tiles": func() {
					for q := 0; q < n; q += nr {
						GemmNN(mr, nr, k, x, k, y[q:], n, c[q:], n, true)
					}
				},
				"strip":  func() { GemmStripNN(mr, n, k, x, k, y, n, c, n, true) },
				"panels": func() { GemmPanelsNN(mr, n, k, x, k, y, k*nr, c, n, true) },
			} {
				b.Run(fmt.Sprintf("impl=%v/call=%s/m=%d/n=%d/k=%d", l, name, mr, n, k), func(b *testing.B) {
					for b.Loop() {
						run()
					}
					b.ReportMetric(2*float64(mr*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// TestRowStrip wants strips that follow one another, cover all rows and fit the tile.
func TestRowStrip(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, _ := GemmTile()
		for m := range 4*mr + 2 {
			next := 0
			for s := range RowStrips(m) {
				first, end := RowStrip(s, m)
				if first != next || end <= first || end-first > mr {
					t.Fatalf("strip %d of %d rows is [%d, %d), after %d", s, m, first, end, next)
				}
				next = end
			}
			if next != m {
				t.Fatalf("the strips of %d rows end at %d", m, next)
			}
		}
	})
}
