package data

import "math"

// Rotate writes to dst the image src [C, height, width] turned about its centre,
// ((height-1)/2, (width-1)/2), by angle radians; a positive angle turns it
// counter-clockwise as it is seen, row 0 being the top. Values between pixels
// are interpolated bilinearly; what comes from outside the image is zero (so
// turn bytes first and normalise them afterwards). Bytes are rounded to the
// nearest, halves up.
//
// Square images turned by a multiple of pi/2, and any image turned by a multiple
// of pi, come out as exact permutations of their pixels: an angle within 1e-9 of
// such a multiple is taken for it.
//
// dst and src have equal lengths, a multiple of height*width, and must not
// overlap; Rotate panics with *Error when the lengths do not fit or angle is not
// finite. It allocates nothing.
func Rotate[T uint8 | float32](dst, src []T, height, width int, angle float64) {
	switch {
	case height < 1 || width < 1:
		failf("Rotate", "an image of %d x %d pixels", height, width)
	case len(src) > 0 && (height > len(src)/width || len(src)%(height*width) != 0): // in this order the product is an int
		failf("Rotate", "%d values are no whole number of %d x %d planes", len(src), height, width)
	case len(dst) != len(src):
		failf("Rotate", "dst holds %d values, src %d", len(dst), len(src))
	case math.IsNaN(angle) || math.IsInf(angle, 0):
		failf("Rotate", "angle %v is not finite", angle)
	}
	if len(src) == 0 {
		return
	}
	sin, cos := quarterSincos(angle)
	turn(dst, src, height, width, sin, cos)
}

// turn is Rotate by the angle that has this sine and cosine. Where these have the
// same bits, so has the result, on every architecture.
func turn[T uint8 | float32](dst, src []T, height, width int, sin, cos float64) {
	plane := height * width
	cy, cx := float64(height-1)/2, float64(width-1)/2
	for r := range height {
		for c := range width {
			// dst(p) = src(the point that the turn brings to p); rows run downwards.
			y, x := float64(r)-cy, float64(c)-cx
			sy := cy + (float64(x*sin) + float64(y*cos))
			sx := cx + (float64(x*cos) - float64(y*sin))
			fy, fx := math.Floor(sy), math.Floor(sx)
			wy, wx := sy-fy, sx-fx
			y0, x0 := int(fy), int(fx)
			w00, w01 := float64((1-wy)*(1-wx)), float64((1-wy)*wx)
			w10, w11 := float64(wy*(1-wx)), float64(wy*wx)
			for k := 0; k < len(src); k += plane {
				s := src[k : k+plane]
				v := float64(w00*at(s, height, width, y0, x0)) + float64(w01*at(s, height, width, y0, x0+1)) +
					float64(w10*at(s, height, width, y0+1, x0)) + float64(w11*at(s, height, width, y0+1, x0+1))
				dst[k+r*width+c] = store[T](v)
			}
		}
	}
}

// store converts an interpolated value, which lies within the range of T.
func store[T uint8 | float32](v float64) T {
	var zero T
	if _, byteValued := any(zero).(uint8); byteValued {
		return T(v + 0.5)
	}
	return T(v)
}

// at returns pixel (y, x) of the plane s, zero outside it.
func at[T uint8 | float32](s []T, height, width, y, x int) float64 {
	if uint(y) >= uint(height) || uint(x) >= uint(width) {
		return 0
	}
	return float64(s[y*width+x])
}

// quarterSincos is math.Sincos with exact values at multiples of pi/2. The values tell these, not the
// angle: a large one is such a multiple up to its own rounding, whatever it is.
func quarterSincos(angle float64) (sin, cos float64) {
	const near = 1e-9
	switch sin, cos = math.Sincos(angle); {
	case math.Abs(sin) <= near:
		return 0, math.Copysign(1, cos)
	case math.Abs(cos) <= near:
		return math.Copysign(1, sin), 0
	}
	return sin, cos
}

// sincos returns the sine and the cosine of an angle of at most pi either way. Unlike
// those of package math they have the same bits on every architecture: each operation
// is rounded by itself.
func sincos(angle float64) (sin, cos float64) {
	const halvings, terms = 3, 9
	x := angle / (1 << halvings)
	xx := float64(x * x)
	sin, cos = 1, 1 // Taylor's polynomials by Horner's rule: sin x / x and cos x, to x^18 of about 0.4
	for k := terms; k > 0; k-- {
		sin = 1 - float64(float64(xx/float64(2*k*(2*k+1)))*sin)
		cos = 1 - float64(float64(xx/float64(2*k*(2*k-1)))*cos)
	}
	sin *= x
	for range halvings {
		sin, cos = 2*float64(sin*cos), 1-2*float64(sin*sin)
	}
	return sin, cos
}

// turnHalf writes src [H*W] turned by 180 degrees to dst.
func turnHalf(dst, src []uint8, width int) {
	for i, v := range src {
		dst[len(src)-1-i] = v
	}
}

// flip writes src [H*W] flipped left-right to dst.
func flip(dst, src []uint8, width int) {
	for r := 0; r < len(src); r += width {
		for c := range width {
			dst[r+width-1-c] = src[r+c]
		}
	}
}
