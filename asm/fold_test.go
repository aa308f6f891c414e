package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// foldCase folds n runs whose parts lie step apart, and demands the bits of the definition
// and that nothing beside the runs is written. What is no value of a run is NaN.
func foldCase(t *testing.T, n, run, step int, value func() float32) {
	t.Helper()
	const guard = 3
	nan := float32(math.NaN())
	guarded := func(runs int) []float32 {
		all := make([]float32, runs*step+2*guard)
		for i := range all {
			all[i] = nan
		}
		return all
	}
	x := make([]float32, n*run)
	for i := range x {
		x[i] = value()
	}
	half := n / 2
	even, odd := guarded(n-half), guarded(half)
	Fold(even[guard:], odd[guard:], step, x, n)
	compare := func(what string, got []float32, runs int, want func(q, i int) float32) {
		for at, v := range got {
			q, i := (at-guard)/step, (at-guard)%step
			if at < guard || q >= runs || i >= run {
				if v == v {
					t.Fatalf("%d runs of %d, %d apart: %v written beside the %s part", n, run, step, v, what)
				}
			} else if math.Float32bits(v) != math.Float32bits(want(q, i)) {
				t.Fatalf("%d runs of %d, %d apart: value %d of run %d of the %s part is %v, want %v", n, run, step, i, q, what, v, want(q, i))
			}
		}
	}
	compare("even", even, n-half, func(q, i int) float32 {
		if q == half {
			return x[q*run+i]
		}
		return x[(n-1-q)*run+i] + x[q*run+i]
	})
	compare("odd", odd, half, func(q, i int) float32 { return x[(n-1-q)*run+i] - x[q*run+i] })
}

func TestFold(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		value := func() float32 { return float32(rng.NormFloat64()) }
		for run := range 140 {
			for n := 1; n <= 6; n++ {
				foldCase(t, n, run, max(1, run+rng.IntN(2)*rng.IntN(9)), value)
			}
		}
		foldCase(t, 3, chunk+17, chunk+20, value) // a run is several calls of the kernel
		foldCase(t, 41, 1000, 1000, value)        // a pair is one
	})
}

func TestFoldRefuses(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for name, call := range map[string]func(){
		"no runs":      func() { Fold(v(0), v(0), 1, v(0), 0) },
		"unequal runs": func() { Fold(v(4), v(4), 4, v(7), 2) },
		"even part":    func() { Fold(v(2), v(3), 3, v(6), 2) },
		"odd part":     func() { Fold(v(9), v(4), 5, v(12), 4) },
		"overlap":      func() { Fold(v(9), v(9), 2, v(12), 4) },
		"sums":         func() { SumDiff(v(2), v(3), v(3), v(3)) },
		"differences":  func() { SumDiff(v(3), v(2), v(3), v(3)) },
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

// FuzzFold takes any sizes, and values of all magnitudes.
func FuzzFold(f *testing.F) {
	f.Add(uint8(7), uint16(33), uint8(0), uint64(1))
	f.Add(uint8(2), uint16(512), uint8(5), uint64(2))
	f.Fuzz(func(t *testing.T, n uint8, run uint16, gap uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			length := int(run) % 1000
			foldCase(t, 1+int(n)%32, length, max(1, length+int(gap)), func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100))
			})
		})
	})
}

func BenchmarkFold(b *testing.B) {
	const n, run, step = 28, 64, 1040 // a row of 28 positions of 64 images, with 15 others beside it
	x, even, odd := make([]float32, n*run), make([]float32, n/2*step), make([]float32, n/2*step)
	for _, l := range Available() {
		b.Run(fmt.Sprintf("impl=%s/n=%d/run=%d/step=%d", l, n, run, step), func(b *testing.B) {
			before := Active()
			defer func() { _ = SetLevel(before) }()
			if err := SetLevel(l); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(8 * n * run)
			for b.Loop() {
				Fold(even, odd, step, x, n)
			}
		})
	}
}
