package asm

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// function is a function of one variable with the error that docs/numerics.md
// states, in units in the last place.
type function struct {
	name string
	run  func(dst, x []float32)
	ref  func(float64) float64
	ulp  float64          // at the SIMD levels
	most float32          // the largest value it may return
	near func() []float32 // hard arguments
}

func functions() []function {
	scratch, inf := make([]float32, 1<<12), float32(math.Inf(1))
	// Results of sine and cosine are relatively exact even next to their zeros:
	// arguments around the multiples of pi/2 are the hard ones.
	zeros := func() []float32 {
		x := around(65536, 4)
		for k := 1; k < 42000; k += 7 {
			x = append(x, around(float32(float64(k)*math.Pi/2), 2)...)
		}
		return x
	}
	ends := func() []float32 { return slices.Concat(around(expMin, 8), around(expMax, 8), around(89, 2)) }
	turns := func() []float32 { return append(around(1, 500), around(0x1p-126, 8)...) }
	return []function{
		{"Sin", Sin, math.Sin, 2.2, 1 + 0x1p-23, zeros},
		{"Cos", Cos, math.Cos, 1.6, 1, zeros},
		{"SinCos/sin", func(d, x []float32) { SinCos(d, scratch[:len(x)], x) }, math.Sin, 1.6, 1, zeros},
		{"SinCos/cos", func(d, x []float32) { SinCos(scratch[:len(x)], d, x) }, math.Cos, 1.6, 1, zeros},
		{"Exp", Exp, expFlushed, 1, inf, ends},
		{"Log", Log, math.Log, 1, inf, turns},
	}
}

// around returns the 2*n+1 float32 values nearest to x, and their negatives.
func around(x float32, n int) []float32 {
	var v []float32
	for i := -n; i <= n; i++ {
		y := math.Float32frombits(uint32(int(math.Float32bits(x)) + i))
		v = append(v, y, -y)
	}
	return v
}

// expFlushed is e^x with results below the smallest normal float32 at zero.
func expFlushed(x float64) float64 {
	if x < expMin {
		return 0
	}
	return math.Exp(x)
}

// ulpError returns the distance of got from want in units in the last place of
// want as a float32, and +Inf where they differ in kind.
func ulpError(got float32, want float64) float64 {
	w := float32(want)
	switch {
	case math.IsNaN(want):
		if got != got {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(float64(w), 0) || math.IsInf(float64(got), 0) || got != got || w == 0:
		if math.Float32bits(got) == math.Float32bits(w) {
			return 0
		}
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / ulpOf(want)
}

// TestUlp sweeps the bit patterns of all float32 values, denormals, infinities
// and NaN among them, at a stride that leaves about a second of work.
// NOETHER_ULP_STRIDE sets another one; 1 takes every value, which is minutes for
// each function and level.
func TestUlp(t *testing.T) {
	stride := uint64(8209)
	if raceEnabled || runtime.GOARCH != "amd64" || testing.Short() {
		stride = 65537
	}
	if s := os.Getenv("NOETHER_ULP_STRIDE"); s != "" {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || n == 0 {
			t.Fatalf("NOETHER_ULP_STRIDE=%q: want a positive number", s)
		}
		stride = n
	}
	for _, f := range functions() {
		t.Run(f.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				bound := f.ulp
				if Active() == Generic {
					bound = 0.5001 // rounded from float64
				}
				var worst float64
				var at float32
				x, got := make([]float32, 0, 1<<12), make([]float32, 1<<12)
				flush := func() {
					f.run(got[:len(x)], x)
					for i, v := range x {
						e := ulpError(got[i], f.ref(float64(v)))
						if e > bound {
							t.Fatalf("%s(%v = %#08x) = %v, want %v: %g ULP, allowed %g", f.name,
								v, math.Float32bits(v), got[i], f.ref(float64(v)), e, bound)
						}
						if e > worst {
							worst, at = e, v
						}
						if got[i] > f.most {
							t.Fatalf("%s(%v) = %v, want at most %v", f.name, v, got[i], f.most)
						}
					}
					x = x[:0]
				}
				for b := uint64(0); b < 1<<32; b += stride {
					if x = append(x, math.Float32frombits(uint32(b))); len(x) == cap(x) {
						flush()
					}
				}
				for _, v := range append(f.near(), specials...) {
					if x = append(x, v); len(x) == cap(x) {
						flush()
					}
				}
				flush()
				t.Logf("at most %.3f ULP, at %v", worst, at)
			})
		})
	}
}

// TestValues pins the values that a caller may rely on exactly.
func TestValues(t *testing.T) {
	zero, one := float32(0), float32(1)
	minus, inf, nan := float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN())
	for _, f := range []struct {
		name    string
		run     func(dst, x []float32)
		x, want []float32
	}{
		{"Sin", Sin, []float32{zero, minus, inf, -inf, nan, 1e-40, -1e-40}, []float32{zero, minus, nan, nan, nan, 1e-40, -1e-40}},
		{"Cos", Cos, []float32{zero, minus, inf, -inf, nan, 1e-40}, []float32{one, one, nan, nan, nan, one}},
		{"SinCos", func(d, x []float32) { SinCos(d, make([]float32, len(x)), x) }, []float32{zero, minus, inf, nan}, []float32{zero, minus, nan, nan}},
		{"Exp", Exp, []float32{zero, minus, inf, -inf, nan, -87.33655, -1000, 88.72284, 1e30, -1e30, 1e-40},
			[]float32{one, one, inf, zero, nan, zero, zero, inf, inf, zero, one}},
		{"Log", Log, []float32{one, zero, minus, -1, -1e-40, inf, -inf, nan, 0x1p-149},
			[]float32{zero, -inf, -inf, nan, nan, inf, nan, nan, float32(-149 * math.Ln2)}},
		{"Relu", Relu, []float32{minus, zero, -1, 1, nan, inf, -inf}, []float32{minus, zero, zero, one, nan, inf, zero}},
	} {
		t.Run(f.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				for _, times := range []int{1, 3, 9} { // within a vector and across blocks
					x := slices.Repeat(f.x, times)
					got := make([]float32, len(x))
					f.run(got, x)
					diff(t, f.name, got, slices.Repeat(f.want, times))
				}
			})
		})
	}
}
