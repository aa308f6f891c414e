package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

// coarse returns n values of which many are equal, with some NaN and
// infinities when wild.
func coarse(name string, n int, wild bool) []float32 {
	r := random(name)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(5) - 2)
		if x[i] == 0 && r.IntN(2) == 0 {
			x[i] = float32(math.Copysign(0, -1))
		}
		if wild {
			switch r.IntN(12) {
			case 0:
				x[i] = float32(math.NaN())
			case 1:
				x[i] = float32(math.Inf(-1))
			case 2:
				x[i] = float32(math.Inf(1))
			}
		}
	}
	return x
}

func (s *suite) pooling() {
	for _, sh := range [][4]int{{1, 2, 2, 1}, {1, 1, 4, 3}, {2, 4, 1, 2}, {0, 2, 2, 4}, {3, 4, 6, 1}, {2, 5, 7, 1}, {2, 5, 3, 3}, {1, 3, 4, 15},
		{2, 4, 4, 16}, {3, 7, 7, 17}, {2, 6, 5, 64}, {10, 14, 28, 2}, {2, 12, 13, 64}} {
		s.maxPool(sh[0], sh[1], sh[2], sh[3])
	}
	for _, sh := range [][3]int{{1, 1, 1}, {3, 1, 4}, {1, 9, 1}, {2, 50, 3}, {4, 8, 16}, {3, 49, 17}, {2, 30, 64}, {6, 100, 33}, {0, 3, 4}} {
		s.globalMax(sh[0], sh[1], sh[2])
	}
}

func (s *suite) maxPool(planes, h, w, b int) {
	for _, wild := range []bool{false, true} {
		size := fmt.Sprintf("planes=%d/h=%d/w=%d/b=%d", planes, h, w, b)
		if wild {
			size += "/nan"
		}
		oh, ow := h/2, w/2
		n, m := planes*h*w*b, planes*oh*ow*b
		x, dy := coarse(size, n, wild), normal(random(size+"dy"), m)
		y := make([]float64, m)
		from := make([]int, m) // where each maximum lies
		for i := range y {
			j, o := i%b, i/b
			ox, oy, p := o%ow, o/ow%oh, o/ow/oh
			first := true
			for _, corner := range [4][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
				at := ((p*h+2*oy+corner[0])*w+2*ox+corner[1])*b + j
				if v := float64(x[at]); first || larger(v, y[i]) {
					y[i], from[i], first = v, at, false
				}
			}
		}
		s.add("MaxPool2", size, func(d tensor.Device, bs []tensor.Buffer) { d.MaxPool2(bs[0], bs[1], planes, h, w, b) },
			out("y", y, nil), in("x", x))

		// y as a ReLU in place leaves it, with the gradient that it passes on:
		// zero where it cut. The maximum of a window may then be nowhere.
		for _, cut := range []bool{false, true} {
			y32, g := make([]float32, m), append([]float32(nil), dy...)
			dx := make([]float64, n)
			for i, v := range y {
				y32[i] = float32(v)
				if cut && v <= 0 {
					y32[i], g[i] = 0, 0
				}
				if !math.IsNaN(v) {
					dx[from[i]] = float64(g[i])
				}
			}
			name := size
			if cut {
				name += "/relu"
			}
			s.add("MaxPool2Grad", name, func(d tensor.Device, bs []tensor.Buffer) {
				d.MaxPool2Grad(bs[0], bs[1], bs[2], bs[3], planes, h, w, b)
			}, out("dx", dx, nil), in("dy", g), in("x", x), in("y", y32))
		}
	}
}

func (s *suite) globalMax(c, positions, b int) {
	for _, wild := range []bool{false, true} {
		size := fmt.Sprintf("c=%d/s=%d/b=%d", c, positions, b)
		if wild {
			size += "/nan"
		}
		x, dy := coarse(size, c*positions*b, wild), normal(random(size+"dy"), c*b)
		y, index, dx := make([]float64, c*b), make([]float64, c*b), make([]float64, len(x))
		index32 := make([]float32, c*b)
		for i := range y {
			at := i/b*positions*b + i%b
			best := 0
			for k := range positions {
				if larger(float64(x[at+k*b]), float64(x[at+best*b])) {
					best = k
				}
			}
			y[i], index[i], index32[i] = float64(x[at+best*b]), float64(best), float32(best)
			dx[at+best*b] = float64(dy[i])
		}
		s.add("GlobalMax", size, func(d tensor.Device, bs []tensor.Buffer) {
			d.GlobalMax(bs[0], bs[1], bs[2], c, positions, b)
		}, out("y", y, nil), out("index", index, nil), in("x", x))
		s.add("GlobalMaxGrad", size, func(d tensor.Device, bs []tensor.Buffer) {
			d.GlobalMaxGrad(bs[0], bs[1], bs[2], c, positions, b)
		}, out("dx", dx, nil), in("dy", dy), in("index", index32))
	}
}
