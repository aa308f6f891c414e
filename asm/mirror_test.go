package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// mirrorCase is a product by mirrored matrices, in poisoned buffers with gaps.
type mirrorCase struct {
	m, n, k0, k1       int
	middle, accumulate bool
	a, b               [2]*guarded
	up, down           *guarded
}

func newMirrorCase(m, n, k0, k1 int, middle, accumulate bool, value func() float32) *mirrorCase {
	s := &mirrorCase{m: m, n: n, k0: k0, k1: k1, middle: middle, accumulate: accumulate}
	for part, k := range []int{k0, k1} {
		s.a[part], s.b[part] = newGuarded(k, m, m+3, 1+part), newGuarded(k, n, n+5, 7+part)
		s.a[part].fill(func(int, int) float32 { return value() })
		s.b[part].fill(func(int, int) float32 { return value() })
	}
	s.up, s.down = newGuarded(m, n, n+9, 3), newGuarded(s.below(), n, n+9, 5)
	if accumulate {
		s.up.fill(func(int, int) float32 { return value() })
		s.down.fill(func(int, int) float32 { return value() })
	}
	return s
}

// below returns the number of rows down.
func (s *mirrorCase) below() int {
	if s.middle {
		return s.m - 1
	}
	return s.m
}

// check multiplies and compares with float64, up to an error of so much of the sum of magnitudes.
func (s *mirrorCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	name := fmt.Sprintf("m=%d n=%d k0=%d k1=%d middle=%v accumulate=%v", s.m, s.n, s.k0, s.k1, s.middle, s.accumulate)
	type entry struct{ want, size float64 }
	var up, down []entry
	for i := range s.m {
		for j := range s.n {
			var sums, sizes [2]float64
			for part, k := range []int{s.k0, s.k1} {
				for p := range k {
					x := float64(s.a[part].at(p, i)) * float64(s.b[part].at(p, j))
					sums[part] += x
					sizes[part] += math.Abs(x)
				}
			}
			size := sizes[0] + sizes[1]
			u, d := entry{sums[0] + sums[1], size}, entry{sums[0] - sums[1], size}
			if s.accumulate {
				u.want, u.size = u.want+float64(s.up.at(i, j)), u.size+math.Abs(float64(s.up.at(i, j)))
				if i > 0 || !s.middle {
					c := float64(s.down.at(s.m-1-i, j))
					d.want, d.size = d.want+c, d.size+math.Abs(c)
				}
			}
			up, down = append(up, u), append(down, d)
		}
	}
	GemmMirrored(s.m, s.n, s.k0, s.k1, s.a[0].data(), s.a[1].data(), s.a[0].ld, s.b[0].data(), s.b[1].data(), s.b[0].ld, s.up.data(), s.down.data(), s.up.ld, s.middle, s.accumulate)
	s.up.intact(t, s.m, s.n)
	s.down.intact(t, s.below(), s.n)
	compare := func(what string, i, j int, got float32, e entry) {
		if !(math.Abs(float64(got)-e.want) <= tolerance*e.size) {
			t.Fatalf("%s: row %d, column %d %s is %v, want %v", name, i, j, what, got, e.want)
		}
	}
	for i := range s.m {
		for j := range s.n {
			compare("up", i, j, s.up.at(i, j), up[i*s.n+j])
			if i > 0 || !s.middle {
				compare("down", i, j, s.down.at(s.m-1-i, j), down[i*s.n+j])
			}
		}
	}
}

// TestGemmMirrored takes all numbers of rows of strips and around them, of columns of tiles and
// around them, and of steps with none of either part. Sums of integers are exact.
func TestGemmMirrored(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 1))
		columns := []int{1, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 48, 63, 64, 65, 70, 100, 130}
		if raceEnabled || testing.Short() {
			columns = []int{1, 16, 31, 70}
		}
		for m := 1; m <= 23; m++ {
			for _, n := range columns {
				for _, k := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 5}, {4, 3}, {16, 15}} {
					for variant := range 4 {
						newMirrorCase(m, n, k[0], k[1], variant&1 > 0, variant&2 > 0, func() float32 { return integer(rng) }).check(t, 0)
					}
				}
			}
		}
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newMirrorCase(9, 4500, 14, 14, false, true, normal).check(t, 1e-6) // in several calls
		newMirrorCase(14, 257, 40, 33, true, false, normal).check(t, 1e-6)
		newMirrorCase(50, 140, 16, 15, true, true, normal).check(t, 1e-6)
	})
}

// TestGemmMirroredBits demands that the values do not depend on the rows and columns beside them, nor
// do the signs of zeros: every fifth column is so small that products underflow.
func TestGemmMirroredBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 2))
		const m, n, most = 14, 90, 15
		a, b := make([]float32, 2*most*m), make([]float32, 2*most*n)
		for i := range a {
			a[i] = float32(rng.NormFloat64())
		}
		for i := range b {
			b[i] = float32(rng.NormFloat64())
			if i%n%5 == 0 {
				b[i] = float32(math.Ldexp(float64(b[i]), -150))
			}
		}
		for _, k := range [][2]int{{15, 15}, {8, 7}, {3, 9}} {
			for variant := range 4 {
				middle, accumulate := variant&1 > 0, variant&2 > 0
				call := func(dst []float32, row, rows, column, columns int) {
					up, down := dst[row*n+column:], dst[(2*m-row-rows)*n+column:]
					GemmMirrored(rows, columns, k[0], k[1], a[row:], a[most*m+row:], m, b[column:], b[most*n+column:], n, up, down, n, middle && row == 0, accumulate)
				}
				start := func() []float32 {
					dst := make([]float32, 2*m*n)
					for i := range dst {
						dst[i] = float32(i%7) - 3
					}
					return dst
				}
				whole, rows, columns := start(), start(), start()
				call(whole, 0, m, 0, n)
				for i, size := 0, 1; i < m; i, size = i+size, size+1 {
					call(rows, i, min(size, m-i), 0, n)
				}
				for j, size := 0, 1; j < n; j, size = j+size, size+3 {
					call(columns, 0, m, j, min(size, n-j))
				}
				what := fmt.Sprintf("k0=%d k1=%d middle=%v accumulate=%v", k[0], k[1], middle, accumulate)
				sameBits(t, what+", rows in pieces", rows, whole)
				sameBits(t, what+", columns in pieces", columns, whole)
			}
		}
	})
}

func TestGemmMirroredRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"negative size": func() { GemmMirrored(-1, 2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, false) },
		"even A":        func() { GemmMirrored(2, 2, 2, 2, v(3), v(4), 2, v(4), v(4), 2, v(4), v(4), 2, false, false) },
		"odd A":         func() { GemmMirrored(2, 2, 2, 2, v(4), v(3), 2, v(4), v(4), 2, v(4), v(4), 2, false, false) },
		"even B":        func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(3), v(4), 2, v(4), v(4), 2, false, false) },
		"odd B":         func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(4), v(3), 2, v(4), v(4), 2, false, false) },
		"up":            func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(3), v(4), 2, false, false) },
		"down":          func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(3), 2, false, false) },
		"middle":        func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(1), 2, true, false) },
		"overlap":       func() { GemmMirrored(2, 2, 2, 2, v(4), v(4), 2, v(4), v(4), 2, v(4), v(4), 1, false, false) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", name)
				}
			}()
			call()
		}()
	}
}

// FuzzGemmMirrored takes any sizes, and values of all magnitudes.
func FuzzGemmMirrored(f *testing.F) {
	f.Add(uint8(7), uint16(33), uint8(14), uint8(13), true, false, uint64(1))
	f.Add(uint8(15), uint16(64), uint8(0), uint8(5), false, true, uint64(2))
	f.Fuzz(func(t *testing.T, m uint8, n uint16, k0, k1 uint8, middle, accumulate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			newMirrorCase(1+int(m)%32, 1+int(n)%300, int(k0)%40, int(k1)%40, middle, accumulate, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGemmMirrored takes transforms of 64 images of 28 x 28, 14 x 14 and 7 x 7 pixels: of a line along x, and of
// 256 columns along y, from rows for as many frequencies.
func BenchmarkGemmMirrored(b *testing.B) {
	const batch = 64
	for _, s := range []struct{ side, period int }{{28, 31}, {14, 17}, {7, 10}} {
		half, even := (s.side+1)/2, s.period/2+1
		run := func(m, n, k0, k1, ldb, ldc int, middle, accumulate bool) {
			a, x := make([]float32, (k0+k1)*m), make([]float32, (k0+k1)*ldb)
			up, down := make([]float32, m*ldc), make([]float32, m*ldc)
			for _, s := range [][]float32{a, x} {
				for i := range s {
					s[i] = rand.Float32() - 0.5
				}
			}
			benchProducts(b, fmt.Sprintf("m=%d/n=%d/k0=%d/k1=%d", m, n, k0, k1), float64(2*m*n*(k0+k1)), func() {
				GemmMirrored(m, n, k0, k1, a, a[k0*m:], m, x, x[k0*ldb:], ldb, up, down, ldc, middle, accumulate)
			})
		}
		run(even, batch, half, s.side-half, batch, 32*batch+32, true, false)
		run(half, 256, even, s.period-even, s.side*batch, s.side*batch, s.side%2 == 1, true)
	}
}
