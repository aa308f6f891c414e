//go:build !noasm

package asm

// With NEON the three functions are put together from kernels of other files,
// on pieces of pixels that stay in the first-level cache.

// pixelPiece is the number of values of a pixel that are taken at a time.
const pixelPiece = 256

// corners holds the four pixels of a window: t = x - mean, z normalised.
type corners struct {
	t, z [4][pixelPiece]float32
	max  [pixelPiece]float32
}

// load fills the first n values of v with those from i on.
func (v *corners) load(top, bottom []float32, i, n, b int, m *NormMap) {
	for k, x := range [...][]float32{top[i:], top[i+b:], bottom[i:], bottom[i+b:]} {
		affine(v.t[k][:n], x[:n], 1, -m.Mean)
		affine(v.z[k][:n], v.t[k][:n], m.Scale, m.Shift)
	}
	max4(v.max[:n], v.z[0][:n], v.z[1][:n], v.z[2][:n], v.z[3][:n])
}

// passed copies dy to d, with 0 where the maximum is not above the floor.
func (v *corners) passed(d, dy []float32, floor float32) {
	for i := range d {
		d[i] = 0
		if v.max[i] > floor {
			d[i] = dy[i]
		}
	}
}

// pieces calls f for all pieces of the windows' pixels: the first value of the
// piece in dst, and in the rows, and the number of values.
func pieces(windows, b int, f func(at, i, n int)) {
	for w := range windows {
		for j := 0; j < b; j += pixelPiece {
			f(w*b+j, 2*w*b+j, min(pixelPiece, b-j))
		}
	}
}

//go:noinline
func normPool(dst, top, bottom []float32, windows, b int, m *NormMap) {
	if level != NEON {
		normPoolGeneric(dst, top, bottom, b, m)
		return
	}
	var v corners
	pieces(windows, b, func(at, i, n int) {
		v.load(top, bottom, i, n, b, m)
		for j, y := range v.max[:n] {
			if m.Floor > y {
				y = m.Floor
			}
			dst[at+j] = y
		}
	})
}

//go:noinline
func normPoolSums(dy, top, bottom []float32, windows, b int, m *NormMap) (sumOf, dotOf float64) {
	if level != NEON {
		return normPoolSumsGeneric(dy, top, bottom, b, m)
	}
	var v corners
	var d [pixelPiece]float32
	pieces(windows, b, func(at, i, n int) {
		v.load(top, bottom, i, n, b, m)
		v.passed(d[:n], dy[at:at+n], m.Floor)
		sumOf += sum(d[:n])
		z := &v.z
		max4Grad(z[0][:n], z[1][:n], z[2][:n], z[3][:n], d[:n], v.max[:n], z[0][:n], z[1][:n], z[2][:n], z[3][:n])
		for k := range z {
			dotOf += dot(z[k][:n], v.t[k][:n])
		}
	})
	return sumOf, dotOf
}

//go:noinline
func normPoolGrad(dtop, dbottom, dy, top, bottom []float32, windows, b int, m *NormMap, p, q, r float32) {
	if level != NEON {
		normPoolGradGeneric(dtop, dbottom, dy, top, bottom, b, m, p, q, r)
		return
	}
	var v corners
	var d [pixelPiece]float32
	pieces(windows, b, func(at, i, n int) {
		v.load(top, bottom, i, n, b, m)
		v.passed(d[:n], dy[at:at+n], m.Floor)
		z := &v.z
		max4Grad(z[0][:n], z[1][:n], z[2][:n], z[3][:n], d[:n], v.max[:n], z[0][:n], z[1][:n], z[2][:n], z[3][:n])
		for k, dst := range [...][]float32{dtop[i:], dtop[i+b:], dbottom[i:], dbottom[i+b:]} {
			combine(dst[:n], z[k][:n], v.t[k][:n], p, q, r)
		}
	})
}
