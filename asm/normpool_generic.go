package asm

// poolWindow is a 2x2 window at one value of the batch: the distances t from the
// mean, the normalised values z, and their maximum, NaN where one of them is.
type poolWindow struct {
	t, z [4]float32
	max  float32
}

// at looks at value i of the pixels of b values at the beginning of top and
// bottom.
func (v *poolWindow) at(top, bottom []float32, i, b int, m *NormMap) {
	for k, x := range [...]float32{top[i], top[i+b], bottom[i], bottom[i+b]} {
		v.t[k] = x - m.Mean
		z := float32(v.t[k]*m.Scale) + m.Shift
		v.z[k] = z
		if k == 0 || z > v.max || z != z {
			v.max = z
		}
	}
}

// first returns the first of the four that has the maximum.
func (v *poolWindow) first() int {
	for k, z := range v.z {
		if z == v.max {
			return k
		}
	}
	return 0
}

func normPoolGeneric(dst, top, bottom []float32, b int, m *NormMap) {
	var v poolWindow
	for i := range dst {
		v.at(top, bottom, i/b*2*b+i%b, b, m)
		if m.Floor > v.max {
			v.max = m.Floor
		}
		dst[i] = v.max
	}
}

func normPoolSumsGeneric(dy, top, bottom []float32, b int, m *NormMap) (sum, dot float64) {
	var v poolWindow
	for i, d := range dy {
		v.at(top, bottom, i/b*2*b+i%b, b, m)
		if v.max > m.Floor {
			sum += float64(d)
			dot += float64(float64(d) * float64(v.t[v.first()]))
		}
	}
	return sum, dot
}

func normPoolGradGeneric(dtop, dbottom, dy, top, bottom []float32, b int, m *NormMap, p, q, r float32) {
	var v poolWindow
	for i, d := range dy {
		at := i/b*2*b + i%b
		v.at(top, bottom, at, b, m)
		var g [4]float32
		if v.max > m.Floor {
			g[v.first()] = d
		}
		for k := range g {
			g[k] = float32(p*g[k]) + (float32(q*v.t[k]) + r)
		}
		dtop[at], dtop[at+b], dbottom[at], dbottom[at+b] = g[0], g[1], g[2], g[3]
	}
}
