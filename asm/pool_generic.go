package asm

func max4Generic(dst, a, b, c, d []float32) {
	for i := range dst {
		m := a[i]
		for _, v := range [...]float32{b[i], c[i], d[i]} {
			if v > m || v != v {
				m = v
			}
		}
		dst[i] = m
	}
}

func max4GradGeneric(da, db, dc, dd, dy, y, a, b, c, d []float32) {
	for i := range dy {
		var ga, gb, gc, gd float32
		switch y[i] {
		case a[i]:
			ga = dy[i]
		case b[i]:
			gb = dy[i]
		case c[i]:
			gc = dy[i]
		case d[i]:
			gd = dy[i]
		}
		da[i], db[i], dc[i], dd[i] = ga, gb, gc, gd
	}
}
