package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAffineSines wants the bits of the parts that the fused kernels replace, at
// all lengths around the vectors and blocks, with arguments that the kernels
// refuse anywhere among them, and in place.
func TestAffineSines(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 1))
		const guard = 16
		for n := 0; n <= 210; n++ {
			for round := range 3 {
				scale, shift := float32(rng.NormFloat64()*10), float32(rng.NormFloat64())
				switch {
				case round == 2 && n%3 == 0:
					shift = 1e6 // out of range whatever x is
				case round == 2 && n%3 == 1:
					scale = 0
				}
				x := make([]float32, n+2*guard)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				if round > 0 && n > 0 {
					for range 1 + n/50 {
						x[guard+rng.IntN(n)] = []float32{1e7, float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1))}[rng.IntN(4)]
					}
				}
				in := x[guard : guard+n]
				argument, s, c, sine := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
				Affine(argument, in, scale, shift)
				Sin(sine, argument)
				SinCos(s, c, argument)
				Affine(c, c, scale, minusZero)

				full := append([]float32(nil), x...)
				SinAffine(full[guard:guard+n], in, scale, shift)
				sameBits(t, "SinAffine", full[guard:guard+n], sine)
				sameBits(t, "before", full[:guard], x[:guard])
				sameBits(t, "behind", full[guard+n:], x[guard+n:])

				gotS, gotC := append([]float32(nil), x...), append([]float32(nil), x...)
				SinCosAffine(gotS[guard:guard+n], gotC[guard:guard+n], in, scale, shift)
				sameBits(t, "SinCosAffine: s", gotS[guard:guard+n], s)
				sameBits(t, "SinCosAffine: c", gotC[guard:guard+n], c)
				for _, y := range [][]float32{gotS, gotC} {
					sameBits(t, "before", y[:guard], x[:guard])
					sameBits(t, "behind", y[guard+n:], x[guard+n:])
				}

				// In place.
				y := append([]float32(nil), in...)
				SinAffine(y, y, scale, shift)
				sameBits(t, "SinAffine in place", y, sine)
				copy(y, in)
				other := make([]float32, n)
				SinCosAffine(y, other, y, scale, shift)
				sameBits(t, "s in place", y, s)
				copy(y, in)
				SinCosAffine(other, y, y, scale, shift)
				sameBits(t, "c in place", y, c)
				if t.Failed() {
					t.Fatalf("%d values, scale %v, shift %v", n, scale, shift)
				}
			}
		}
	})
}

// TestSinStream wants the bits of short pieces from a slice that is long enough
// to be written past the caches, wherever it begins, and nothing around it.
func TestSinStream(t *testing.T) {
	const n = streamLength + 3*chunk + 77
	x, y, piece := make([]float32, n), make([]float32, n+32), make([]float32, 1<<16)
	ramp(x, 5)
	x[20*chunk+100] = 1e9 // one that the kernels refuse
	eachLevel(t, func(t *testing.T) {
		if Active() == Generic {
			t.Skip("the portable code takes seconds and has one way only")
		}
		for _, shift := range []int{0, 5} {
			for i := range y {
				y[i] = -7
			}
			at := onLine(y)[shift:][:n]
			Sin(at, x)
			for lo := 0; lo < n; lo += len(piece) {
				hi := min(lo+len(piece), n)
				Sin(piece[:hi-lo], x[lo:hi])
				sameBits(t, "stream", at[lo:hi], piece[:hi-lo])
			}
			others := 0
			for _, v := range y {
				if v == -7 {
					others++
				}
			}
			if others != len(y)-n {
				t.Errorf("shift %d: wrote %d values around the slice", shift, len(y)-n-others)
			}
		}
	})
}

// sameBits wants equal bits, except that any NaN will do for a NaN.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if math.Float32bits(got[i]) != math.Float32bits(w) && !(w != w && got[i] != got[i]) {
			t.Errorf("%s: value %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}
