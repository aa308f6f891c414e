package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSliceColumns compares with SliceRight, over all numbers of steps and columns around the
// blocks, with gaps between the rows.
func TestSliceColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 7))
		for k := 0; k <= 66; k++ {
			for n := 1; n <= 50; n += 1 + k%3 {
				x0, x1 := newGuarded(k, n, n+k%4, 5), newGuarded(k, n, n+k%4, 5)
				x0.fill(func(int, int) float32 { return float32(rng.NormFloat64()) })
				x1.fill(func(int, int) float32 { return float32(rng.NormFloat64()) })
				pitch := SliceRow(k)
				got := newGuarded(n, pitch, pitch, 7)
				SliceColumns(got.data(), x0.data(), x1.data(), x0.ld, k, n, make([]float32, SliceSize(1, k)))
				panels := make([]float32, SliceSize(n, k))
				SliceRight(panels, x0.data(), x1.data(), x0.ld, k, n)
				got.intact(t, n, pitch)
				for j := range n {
					panel := panels[j/sliceTile*sliceStrip(k)+j%sliceTile:]
					for row := range pitch - sliceScales + 1 { // the scale, and the quads behind the line that it has
						value, want := got.at(j, row), panel[row*sliceTile]
						if row > 0 {
							value = got.at(j, sliceScales-1+row)
						}
						if math.Float32bits(value) != math.Float32bits(want) {
							t.Fatalf("%d steps, %d columns: row %d of column %d is %x, want %x", k, n, row, j, math.Float32bits(value), math.Float32bits(want))
						}
					}
				}
			}
		}
	})
}

// sliceShiftsCase is a sum of products of right operands with shifts of a matrix that is sliced
// by columns, and the same shifts as left operands.
type sliceShiftsCase struct {
	m, k, operands int
	a, b           []float32
	at             []int
	left           [][]float32
}

func newSliceShiftsCase(rng *rand.Rand, m, k, operands int, value func() float32) *sliceShiftsCase {
	const shifts = 9
	width := m + shifts
	s := &sliceShiftsCase{m: m, k: k, operands: operands}
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	x0, x1 := random(k*width), random(k*width)
	s.a = make([]float32, width*SliceRow(k))
	SliceColumns(s.a, x0, x1, width, k, width, make([]float32, SliceSize(1, k)))
	turned := [2][]float32{make([]float32, width*k), make([]float32, width*k)}
	if k > 0 {
		Transpose(turned[0], k, x0, width, k, width)
		Transpose(turned[1], k, x1, width, k, width)
	}
	size := SliceSize(2*sliceTile, k)
	s.b = make([]float32, operands*size)
	for e := range operands {
		y := random(2 * k * 2 * sliceTile)
		SliceRight(s.b[e*size:], y, from(y, k*2*sliceTile), 2*sliceTile, k, 2*sliceTile)
		shift := rng.IntN(shifts + 1)
		s.at = append(s.at, shift)
		left := make([]float32, SliceSize(m, k))
		SliceLeft(left, from(turned[0], shift*k), from(turned[1], shift*k), k, m, k)
		s.left = append(s.left, left)
	}
	return s
}

// products adds the products to c by GemmSlices, one after the other.
func (s *sliceShiftsCase) products(c []float32, ldc int, accumulate bool) {
	size := SliceSize(2*sliceTile, s.k)
	idle := make([]float32, len(c))
	for e, left := range s.left {
		GemmSlices(s.m, 2*sliceTile, s.k, [2][]float32{left, left}, s.b[e*size:], [2][]float32{c, idle}, ldc, accumulate || e > 0, [2][]float32{})
	}
}

// TestGemmSliceShifts compares with GemmSlices of the shifted operands bit by bit, in one and in
// several calls.
func TestGemmSliceShifts(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		sizes := []int{16, 32, 48, 240}
		if raceEnabled || testing.Short() || !FastSplit() {
			sizes = []int{16, 32}
		}
		rng := rand.New(rand.NewPCG(6, 8))
		for _, m := range append(sizes, 70*sliceTile) {
			for _, k := range []int{1, 32, 33, 128} {
				for _, operands := range []int{1, 2, 7} {
					if m > 1000 && (operands != 2 || k != 33 || !FastSplit()) {
						continue // high ones show that rows are cut into calls
					}
					s := newSliceShiftsCase(rng, m, k, operands, func() float32 { return float32(rng.NormFloat64()) })
					for _, accumulate := range []bool{false, true} {
						const columns = 2 * sliceTile
						got, want := newGuarded(m, columns, columns+5, 7), newGuarded(m, columns, columns+5, 7)
						if accumulate {
							got.fill(func(i, j int) float32 { return float32(i-j) / 7 })
							copy(want.buf, got.buf)
						}
						GemmSliceShifts(m, k, s.a, s.at, s.b, got.data(), got.ld, accumulate, s.a[:min(len(s.a), operands*3)])
						s.products(want.data(), want.ld, accumulate)
						sameBits(t, fmt.Sprintf("m=%d k=%d operands=%d accumulate=%v", m, k, operands, accumulate), got.buf, want.buf)
					}
				}
			}
		}
		for _, accumulate := range []bool{false, true} { // sums of nothing
			for _, at := range [][]int{nil, {0}} {
				c := make([]float32, sliceTile*2*sliceTile)
				Fill(c, 3)
				GemmSliceShifts(sliceTile, 0, make([]float32, sliceTile*SliceRow(0)), at, make([]float32, SliceSize(2*sliceTile, 0)), c, 2*sliceTile, accumulate, nil)
				want := float32(0)
				if accumulate {
					want = 3
				}
				for i, v := range c {
					if v != want {
						t.Fatalf("a sum of nothing, accumulate=%v: C[%d] = %v", accumulate, i, v)
					}
				}
			}
		}
	})
}

func TestSliceShiftsErrors(t *testing.T) {
	size, row := SliceSize(2*sliceTile, 8), SliceRow(8)
	x := make([]float32, 8*size)
	for name, call := range map[string]func(){
		"rows of dst":    func() { SliceColumns(x[:9*row-1], x, x, 9, 8, 9, x) },
		"rows of x0":     func() { SliceColumns(x, x[:71], x, 9, 8, 9, x) },
		"rows of x1":     func() { SliceColumns(x, x, x[:71], 9, 8, 9, x) },
		"panel":          func() { SliceColumns(x, x, x, 9, 8, 9, x[:SliceSize(1, 8)-1]) },
		"negative steps": func() { SliceColumns(x, x, x, 9, -8, 9, x) },
		"halves":         func() { SliceHalves(x, x[:30], 4, 8, 4) },
		"rows":           func() { GemmSliceShifts(24, 8, x, []int{0}, x, x, 32, false, nil) },
		"operands":       func() { GemmSliceShifts(16, 8, x, []int{0, 0}, x[:size], x, 32, false, nil) },
		"shift":          func() { GemmSliceShifts(16, 8, x[:16*row], []int{1}, x, x, 32, false, nil) },
		"negative at":    func() { GemmSliceShifts(16, 8, x, []int{-1}, x, x, 32, false, nil) },
		"rows of c":      func() { GemmSliceShifts(16, 8, x, []int{0}, x, x[:511], 32, false, nil) },
		"many steps":     func() { GemmSliceShifts(16, MaxSliceSteps+1, x, nil, x, x, 32, false, nil) },
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

func FuzzGemmSliceShifts(f *testing.F) {
	f.Add(uint8(3), uint8(5), uint8(40), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(1), uint8(2), uint8(33), []byte("000a000a000\xec")) // products above the largest number
	f.Fuzz(func(t *testing.T, strips, operands, k uint8, data []byte) {
		values := floats(data)
		if len(values) == 0 {
			return
		}
		at := 0
		s := newSliceShiftsCase(rand.New(rand.NewPCG(1, uint64(operands))), int(strips%8)*sliceTile, int(k%70), int(operands%5), func() float32 { at++; return values[at%len(values)] })
		got, want := make([]float32, 2*sliceTile*s.m), make([]float32, 2*sliceTile*s.m)
		GemmSliceShifts(s.m, s.k, s.a, s.at, s.b, got, 2*sliceTile, true, nil)
		for e, shift := range s.at {
			gemmSliceShiftsGeneric(s.m, (s.k+sliceSteps-1)/sliceSteps, s.a[shift*SliceRow(s.k):], s.b[e*SliceSize(2*sliceTile, s.k):], want, 2*sliceTile, true)
		}
		for i, v := range want {
			if math.Float32bits(v) != math.Float32bits(got[i]) && (v == v || got[i] == got[i]) {
				t.Fatalf("m=%d k=%d operands=%d: C[%d] = %v, want %v", s.m, s.k, s.operands, i, got[i], v)
			}
		}
	})
}

// BenchmarkGemmSliceShifts multiplies the positions of an image by the taps of 32 rows of a kernel: all
// operands in the second-level cache, or those of one strip of the kernel after the other from memory.
func BenchmarkGemmSliceShifts(b *testing.B) {
	for _, size := range [][3]int{{240, 256, 29}, {80, 512, 29}, {48, 512, 21}} {
		m, sources, taps := size[0], size[1], size[2]
		k, width := sources/2, m+2*sliceTile
		piece := SliceSize(2*sliceTile, k)
		c := make([]float32, m*2*sliceTile)
		x := make([]float32, 2*sliceTile*sources+sources*width)
		for i := range x {
			x[i] = rand.Float32() - 0.5
		}
		left := make([]float32, width*SliceRow(k))
		SliceColumns(left, x, x[k*width:], width, k, width, make([]float32, SliceSize(1, k)))
		at := make([]int, taps)
		for t := range at {
			at[t] = t
		}
		for _, strips := range []int{1, 16} {
			right := make([]float32, strips*taps*piece)
			for at := 0; at < len(right); at += piece {
				SliceHalves(right[at:], x, 2*sliceTile, sources, 2*sliceTile)
			}
			strip := 0
			b.Run(fmt.Sprintf("m=%d/sources=%d/taps=%d/strips=%d", m, sources, taps, strips), func(b *testing.B) {
				for b.Loop() {
					next := (strip + 1) % strips
					GemmSliceShifts(m, k, left, at, right[strip*taps*piece:], c, 2*sliceTile, true, right[next*taps*piece:])
					strip = next
				}
				b.ReportMetric(2*float64(m*2*sliceTile*sources*taps)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
			})
		}
	}
}
