package data

import (
	"math"
	"slices"
	"testing"
)

func floats(b []uint8) []float32 {
	f := make([]float32, len(b))
	for i, v := range b {
		f[i] = float32(v)
	}
	return f
}

// quarters returns the plane src [n, n] turned counter-clockwise k quarters: the
// last column becomes the first row.
func quarters[T any](src []T, n, k int) []T {
	src = slices.Clone(src)
	for range k {
		dst := make([]T, n*n)
		for r := range n {
			for c := range n {
				dst[r*n+c] = src[c*n+n-1-r]
			}
		}
		src = dst
	}
	return src
}

func TestRotateQuarters(t *testing.T) {
	for _, n := range []int{1, 2, 5, 28} {
		src := ramp(2 * n * n)
		dst, dstF := make([]uint8, len(src)), make([]float32, len(src))
		for k := -9; k <= 9; k++ {
			turns := (k%4 + 4) % 4
			want := append(quarters(src[:n*n], n, turns), quarters(src[n*n:], n, turns)...)
			for _, near := range []float64{0, 1e-12, -1e-12} {
				angle := float64(k)*math.Pi/2 + near
				Rotate(dst, src, n, n, angle)
				Rotate(dstF, floats(src), n, n, angle)
				if !slices.Equal(dst, want) || !slices.Equal(dstF, floats(want)) {
					t.Fatalf("side %d turned by %d quarters (%+g): not exact", n, k, near)
				}
			}
		}
	}
}

func TestRotateHalfNotSquare(t *testing.T) {
	src := ramp(3 * 8)
	want := slices.Clone(src)
	slices.Reverse(want)
	dst := make([]uint8, len(src))
	for _, k := range []float64{1, -1, 3, 1001} {
		Rotate(dst, src, 3, 8, k*math.Pi)
		if !slices.Equal(dst, want) {
			t.Errorf("%v half turns: %v, want %v", k, dst, want)
		}
	}
}

// An angle of many turns is what is left of it: a quarter only next to one.
func TestRotateManyTurns(t *testing.T) {
	src := ramp(49)
	dst, want := make([]uint8, 49), make([]uint8, 49)
	for angle, same := range map[float64]float64{ // by mpmath's sine and cosine
		1e16:            math.Atan2(0.7796880066069787, -0.6261681981330861),
		math.MaxFloat64: math.Atan2(0.004961954789184062, -0.9999876894265599),
	} {
		Rotate(dst, src, 7, 7, angle)
		Rotate(want, src, 7, 7, same)
		if !slices.Equal(dst, want) {
			t.Errorf("turned by %v: not as by %v", angle, same)
		}
	}
}

// What is taken for a multiple of pi/2 lies within 1e-9 of it.
func TestRotateNearQuarters(t *testing.T) {
	src, dst := make([]float32, 25), make([]float32, 25)
	src[3] = 1e30 // of which nothing may come to a neighbour
	for k := range 5 {
		for _, off := range []float64{-1.1e-9, -.9e-9, .9e-9, 1.1e-9} {
			Rotate(dst, src, 5, 5, float64(k)*math.Pi/2+off)
			zeros := 0
			for _, v := range dst {
				if v == 0 {
					zeros++
				}
			}
			if exact := math.Abs(off) < 1e-9; exact != (zeros == 24) {
				t.Errorf("%d quarters and %v: %d pixels of 25 are zero", k, off, zeros)
			}
		}
	}
}

// A linear ramp is what bilinear interpolation keeps exactly: inside, the turned
// image is the turned ramp. This also fixes the direction.
func TestRotateRamp(t *testing.T) {
	const h, w = 21, 30
	src := make([]float32, h*w)
	for r := range h {
		for c := range w {
			src[r*w+c] = float32(100 + 2*r - 3*c)
		}
	}
	dst := make([]float32, len(src))
	for _, degrees := range []float64{.5, 30, -30, 45, 89, 91, 135, 200, 359} {
		a := degrees * math.Pi / 180
		Rotate(dst, src, h, w, a)
		checked := 0
		for r := range h {
			for c := range w {
				// In coordinates with y upwards, a counter-clockwise turn brings the
				// value at R(-a) p to p.
				x, y := float64(c)-14.5, 10-float64(r)
				sx, sy := x*math.Cos(a)+y*math.Sin(a), -x*math.Sin(a)+y*math.Cos(a)
				row, col := 10-sy, 14.5+sx
				if row < 0 || row > h-1 || col < 0 || col > w-1 {
					if (row < -1 || row > h || col < -1 || col > w) && dst[r*w+c] != 0 {
						t.Fatalf("%v degrees: %v at (%d, %d), which comes from outside", degrees, dst[r*w+c], r, c)
					}
					continue
				}
				checked++
				if want := 100 + 2*row - 3*col; !(math.Abs(float64(dst[r*w+c])-want) <= 1e-4) {
					t.Fatalf("%v degrees: %v at (%d, %d), want %v", degrees, dst[r*w+c], r, c, want)
				}
			}
		}
		if checked < 300 {
			t.Fatalf("%v degrees: only %d pixels checked", degrees, checked)
		}
	}
}

// Bytes are the rounded floats, for full white too.
func TestRotateBytes(t *testing.T) {
	for _, src := range [][]uint8{ramp(28 * 28), slices.Repeat([]uint8{255}, 28*28)} {
		dst, dstF := make([]uint8, 28*28), make([]float32, 28*28)
		for _, a := range []float64{.1, 1, -2.5} {
			Rotate(dst, src, 28, 28, a)
			Rotate(dstF, floats(src), 28, 28, a)
			for p := range dst {
				if !(math.Abs(float64(dst[p])-float64(dstF[p])) <= .5001) {
					t.Fatalf("pixel %d: %d for %v", p, dst[p], dstF[p])
				}
			}
		}
	}
}

func TestRotateMisuse(t *testing.T) {
	img := ramp(12)
	for say, f := range map[string]func(){
		"0 x 4 pixels":        func() { Rotate(img, img, 0, 4, 1) },
		"4 x 0 pixels":        func() { Rotate(img, img, 4, 0, 1) },
		"no whole number":     func() { Rotate(make([]uint8, 11), img[:11], 3, 4, 1) },
		"17 values are no":    func() { Rotate(make([]uint8, 17), ramp(17), 3, 4, 1) },
		"of 13 x 1 planes":    func() { Rotate(make([]uint8, 12), img, 13, 1, 1) },
		"x 2 planes":          func() { Rotate(make([]uint8, 12), img, math.MaxInt/2+1, 2, 1) }, // as an int, math.MinInt values
		"x 4 planes":          func() { Rotate(make([]uint8, 12), img, math.MaxInt/2+1, 4, 1) }, // none
		"x 6 planes":          func() { Rotate(make([]uint8, 12), img, math.MaxInt/3+1, 6, 1) }, // 2
		"dst holds 11 values": func() { Rotate(make([]uint8, 11), img, 3, 4, 1) },
		"NaN is not finite":   func() { Rotate(make([]uint8, 12), img, 3, 4, math.NaN()) },
		"-Inf is not finite":  func() { Rotate(make([]uint8, 12), img, 3, 4, math.Inf(-1)) },
		"+Inf is not finite":  func() { Rotate(make([]uint8, 12), img, 3, 4, math.Inf(1)) },
	} {
		wantPanic(t, say, f)
	}
}

func TestSincos(t *testing.T) {
	for k := -4000; k <= 4000; k++ {
		angle := math.Pi * float64(k) / 4000
		sin, cos := sincos(angle)
		if wantSin, wantCos := math.Sincos(angle); !(math.Abs(sin-wantSin) <= 4e-15) || !(math.Abs(cos-wantCos) <= 4e-15) {
			t.Errorf("sine and cosine of %v: %v, %v", angle, sin, cos)
		}
	}
}
