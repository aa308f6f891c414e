package asm

// float32(x*y) + z forbids the compiler to fuse: the portable code gives the
// same bits on every architecture.

func addGeneric(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func subGeneric(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mulGeneric(dst, x, y []float32) {
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func mulAddGeneric(dst, x, y []float32) {
	for i := range dst {
		dst[i] += float32(x[i] * y[i])
	}
}

func axpyGeneric(y []float32, a float32, x []float32) {
	for i := range y {
		y[i] += float32(a * x[i])
	}
}

func affineGeneric(dst, x []float32, scale, shift float32) {
	for i := range dst {
		dst[i] = float32(scale*x[i]) + shift
	}
}

func combineGeneric(dst, x, y []float32, a, b, c float32) {
	for i := range dst {
		dst[i] = float32(a*x[i]) + (float32(b*y[i]) + c)
	}
}

func reluGeneric(dst, x []float32) {
	for i, v := range x {
		if v < 0 {
			v = 0
		}
		dst[i] = v
	}
}

func reluGradGeneric(dx, dy, y []float32) {
	for i, v := range dy {
		if !(y[i] > 0) {
			v = 0
		}
		dx[i] = v
	}
}

func fillGeneric(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}
