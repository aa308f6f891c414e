package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shiftedCase compares AddShifted of n values and so many rows with float64, demands the
// same bits of a slice that is cut in two, and that nothing else changes. Whatever is no
// value of a row is NaN.
func shiftedCase(t *testing.T, n, rows int, cut int, rng *rand.Rand, value func() float32) {
	t.Helper()
	at, a := make([]int, rows), make([]float32, rows)
	x := make([]float32, n+2*rows+3)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	for i := range at {
		at[i], a[i] = rng.IntN(len(x)-n+1), value()
		for k := range n {
			x[at[i]+k] = value()
		}
	}
	const guard = 5
	start := make([]float32, n+2*guard)
	for i := range start {
		start[i] = value()
	}
	y := slices.Clone(start)
	AddShifted(y[guard:guard+n], x, at, a)
	for i, v := range y {
		want, size := float64(start[i]), math.Abs(float64(start[i]))
		if i >= guard && i < guard+n {
			for k, o := range at {
				p := float64(a[k]) * float64(x[o+i-guard])
				want, size = want+p, size+math.Abs(p)
			}
		}
		if !(math.Abs(float64(v)-want) <= float64(rows+1)*0x1p-23*size) {
			t.Fatalf("%d values, %d rows: value %d is %v, want %v", n, rows, i-guard, v, want)
		}
	}
	parts := slices.Clone(start)
	AddShifted(parts[guard:guard+cut], x, at, a)
	AddShifted(parts[guard+cut:guard+n], x[cut:], at, a)
	for i := range y {
		if math.Float32bits(parts[i]) != math.Float32bits(y[i]) {
			t.Fatalf("%d values, %d rows, cut at %d: value %d is %v, in one piece %v", n, rows, cut, i-guard, parts[i], y[i])
		}
	}
}

// TestAddShifted takes all lengths up to two of the widest blocks and more, and the last
// cases several calls of a kernel.
func TestAddShifted(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		value := func() float32 { return float32(rng.NormFloat64()) }
		for n := range 2*shiftedBlock + 70 {
			for _, rows := range []int{0, 1, 2, 5} {
				shiftedCase(t, n, rows, rng.IntN(n+1), rng, value)
			}
		}
		shiftedCase(t, chunk+77, 3, chunk-1, rng, value)
		shiftedCase(t, 2000, 40*chunk/2000, 999, rng, value)
	})
}

func TestAddShiftedRefuses(t *testing.T) {
	for name, call := range map[string]func(){
		"before x":  func() { AddShifted(make([]float32, 3), make([]float32, 9), []int{0, -1}, make([]float32, 2)) },
		"beyond x":  func() { AddShifted(make([]float32, 3), make([]float32, 9), []int{7}, make([]float32, 1)) },
		"unequal":   func() { AddShifted(make([]float32, 3), make([]float32, 9), []int{1}, make([]float32, 2)) },
		"longer":    func() { AddShifted(make([]float32, 3), make([]float32, 2), []int{0}, make([]float32, 1)) },
		"far below": func() { AddShifted(nil, nil, []int{math.MinInt}, make([]float32, 1)) },
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

// FuzzAddShifted takes any sizes, and values of magnitudes from 2^-20 to 2^20.
func FuzzAddShifted(f *testing.F) {
	f.Add(uint16(7), uint8(3), uint16(2), uint64(1))
	f.Add(uint16(300), uint8(29), uint16(128), uint64(2))
	f.Fuzz(func(t *testing.T, n uint16, rows uint8, cut uint16, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		length := int(n) % 1000
		eachLevel(t, func(t *testing.T) {
			shiftedCase(t, length, int(rows)%100, int(cut)%(length+1), rng, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(41)-20))
			})
		})
	})
}

func BenchmarkAddShifted(b *testing.B) {
	const n, rows = 896, 29 // a row of a 14 x 14 plane of 64 images, a disc of side 7
	y, x, at, a := make([]float32, n), make([]float32, 20*n), make([]int, rows), make([]float32, rows)
	for i := range at {
		at[i], a[i] = 64*(20*(i/5)+i%5), 1
	}
	for _, l := range Available() {
		b.Run(fmt.Sprintf("impl=%s/n=%d/rows=%d", l, n, rows), func(b *testing.B) {
			before := Active()
			defer func() { _ = SetLevel(before) }()
			if err := SetLevel(l); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				AddShifted(y, x, at, a)
			}
			b.ReportMetric(2*n*rows/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "GFLOP/s")
		})
	}
}
