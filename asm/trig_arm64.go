//go:build !noasm

package asm

import "math"

// trigLimit is where the kernels' reduction of the argument ends. A value that
// is not below it goes to package math, its neighbours through the kernel, so
// that a result does not depend on what lies beside it.
const trigLimit = 65536

// clip returns v with 0 in place of the values that the kernels do not take.
func (v vec) clip() vec {
	for i, x := range v {
		if !(x > -trigLimit && x < trigLimit) {
			v[i] = 0
		}
	}
	return v
}

//go:noinline
func sin(dst, x []float32) {
	if level != NEON {
		sinGeneric(dst, x)
		return
	}
	for len(x) > 0 {
		if n := len(x) &^ 3; n > 0 {
			n = sinNEON(n, &dst[0], &x[0])
			dst, x = dst[n:], x[n:]
			if len(x) == 0 {
				return
			}
		}
		// What is left is a tail or begins with a block that the kernel refused.
		n := min(len(x), 4)
		v := pad(x[:n])
		d, p := vec{}, v.clip()
		sinNEON(4, &d[0], &p[0])
		for i := range n {
			if p[i] != v[i] {
				d[i] = float32(math.Sin(float64(v[i])))
			}
			dst[i] = d[i]
		}
		dst, x = dst[n:], x[n:]
	}
}

//go:noinline
func cos(dst, x []float32) {
	if level != NEON {
		cosGeneric(dst, x)
		return
	}
	for len(x) > 0 {
		if n := len(x) &^ 3; n > 0 {
			n = cosNEON(n, &dst[0], &x[0])
			dst, x = dst[n:], x[n:]
			if len(x) == 0 {
				return
			}
		}
		n := min(len(x), 4)
		v := pad(x[:n])
		d, p := vec{}, v.clip()
		cosNEON(4, &d[0], &p[0])
		for i := range n {
			if p[i] != v[i] {
				d[i] = float32(math.Cos(float64(v[i])))
			}
			dst[i] = d[i]
		}
		dst, x = dst[n:], x[n:]
	}
}

//go:noinline
func sinCos(s, c, x []float32) {
	if level != NEON {
		sinCosGeneric(s, c, x)
		return
	}
	for len(x) > 0 {
		if n := len(x) &^ 3; n > 0 {
			n = sinCosNEON(n, &s[0], &c[0], &x[0])
			s, c, x = s[n:], c[n:], x[n:]
			if len(x) == 0 {
				return
			}
		}
		n := min(len(x), 4)
		v := pad(x[:n])
		ds, dc, p := vec{}, vec{}, v.clip()
		sinCosNEON(4, &ds[0], &dc[0], &p[0])
		for i := range n {
			if p[i] != v[i] {
				a, b := math.Sincos(float64(v[i]))
				ds[i], dc[i] = float32(a), float32(b)
			}
			s[i], c[i] = ds[i], dc[i]
		}
		s, c, x = s[n:], c[n:], x[n:]
	}
}

// sinNEON returns how many of the n values it did before it came to a block
// with a value of trigLimit or more.
//
//go:noescape
func sinNEON(n int, dst, x *float32) int

//go:noescape
func cosNEON(n int, dst, x *float32) int

//go:noescape
func sinCosNEON(n int, s, c, x *float32) int

// sinStream is sin: no kernel bypasses the caches.
func sinStream(dst, x []float32) { sin(dst, x) }

func sinAffine(dst, x []float32, scale, shift float32) { sinAffineParts(dst, x, scale, shift) }

func sinCosAffine(s, c, x []float32, scale, shift float32) { sinCosAffineParts(s, c, x, scale, shift) }
