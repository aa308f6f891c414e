package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

// lengths are those of vectors: around the widths of vector registers and
// unrolled loops, and beyond what one thread is given.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 1000, 2049, 16385, 40001}

// large is the length above which an operation is tested only in its plain
// form: what aliasing could break shows at any length, and the suite shall run
// under emulators and race detectors too.
const large = 3000

// special are values that are easily lost.
var special = []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32}

func (s *suite) elementwise() {
	nan := float32(math.NaN())
	for _, n := range lengths {
		r := random(fmt.Sprint("elementwise", n))
		size := fmt.Sprintf("n=%d", n)
		x, y := normal(r, n), normal(r, n)
		if n > 2*len(special) {
			copy(x, special)
			copy(y[len(special):], special)
		}
		s.add("Fill", size, func(d tensor.Device, b []tensor.Buffer) { d.Fill(b[0], 2.5) },
			out("dst", mapped(n, func(int) float64 { return 2.5 }), nil))
		if n <= large {
			s.add("Fill", size+"/nan", func(d tensor.Device, b []tensor.Buffer) { d.Fill(b[0], nan) },
				inout("dst", x, mapped(n, func(int) float64 { return math.NaN() }), nil))
		}
		s.add("Copy", size, func(d tensor.Device, b []tensor.Buffer) { d.Copy(b[0], b[1]) },
			out("dst", f64(x), nil), in("src", x))

		sum := mapped(n, func(i int) float64 { return float64(x[i] + y[i]) })
		s.add("Add", size, func(d tensor.Device, b []tensor.Buffer) { d.Add(b[0], b[1], b[2]) },
			out("dst", sum, nil), in("x", x), in("y", y))
		if n <= large {
			s.add("Add", size+"/dst=x", func(d tensor.Device, b []tensor.Buffer) { d.Add(b[0], b[0], b[1]) },
				inout("x", x, sum, nil), in("y", y))
		}
		if n <= large {
			s.add("Add", size+"/dst=y", func(d tensor.Device, b []tensor.Buffer) { d.Add(b[1], b[0], b[1]) },
				in("x", x), inout("y", y, sum, nil))
		}

		prod := mapped(n, func(i int) float64 { return float64(x[i] * y[i]) })
		s.add("Mul", size, func(d tensor.Device, b []tensor.Buffer) { d.Mul(b[0], b[1], b[2]) },
			out("dst", prod, nil), in("x", x), in("y", y))
		if n <= large {
			s.add("Mul", size+"/dst=x", func(d tensor.Device, b []tensor.Buffer) { d.Mul(b[0], b[0], b[1]) },
				inout("x", x, prod, nil), in("y", y))
		}
		if n <= large {
			s.add("Mul", size+"/dst=y", func(d tensor.Device, b []tensor.Buffer) { d.Mul(b[1], b[0], b[1]) },
				in("x", x), inout("y", y, prod, nil))
		}

		const a = float32(-0.7)
		axpy := mapped(n, func(i int) float64 { return float64(y[i]) + float64(a)*float64(x[i]) })
		s.add("Axpy", size, func(d tensor.Device, b []tensor.Buffer) { d.Axpy(b[0], a, b[1]) },
			inout("y", y, axpy, mapped(n, func(i int) float64 {
				return 2 * ulp * (math.Abs(float64(y[i])) + math.Abs(float64(a*x[i])))
			})), in("x", x))

		scaled := mapped(n, func(i int) float64 { return float64(a * x[i]) })
		s.add("Scale", size, func(d tensor.Device, b []tensor.Buffer) { d.Scale(b[0], a, b[1]) },
			out("dst", scaled, nil), in("x", x))
		if n <= large {
			s.add("Scale", size+"/dst=x", func(d tensor.Device, b []tensor.Buffer) { d.Scale(b[0], a, b[0]) },
				inout("x", x, scaled, nil))
		}

		positive := mapped(n, func(i int) float64 {
			if v := float64(x[i]); v > 0 || math.IsNaN(v) {
				return v
			}
			return 0
		})
		s.add("ReLU", size, func(d tensor.Device, b []tensor.Buffer) { d.ReLU(b[0], b[1]) },
			out("y", positive, nil), in("x", x))
		if n <= large {
			s.add("ReLU", size+"/y=x", func(d tensor.Device, b []tensor.Buffer) { d.ReLU(b[0], b[0]) },
				inout("x", x, positive, nil))
		}

		// dy carries NaN and infinities; y the maximum of them and zero.
		relu := make([]float32, n)
		for i, v := range positive {
			relu[i] = float32(v)
		}
		dx := mapped(n, func(i int) float64 {
			if relu[i] > 0 {
				return float64(y[i])
			}
			return 0
		})
		s.add("ReLUGrad", size, func(d tensor.Device, b []tensor.Buffer) { d.ReLUGrad(b[0], b[1], b[2]) },
			out("dx", dx, nil), in("dy", y), in("y", relu))
		if n <= large {
			s.add("ReLUGrad", size+"/dx=dy", func(d tensor.Device, b []tensor.Buffer) { d.ReLUGrad(b[0], b[0], b[1]) },
				inout("dy", y, dx, nil), in("y", relu))
		}

		s.sinCos(size, n)
	}
	s.rows()
}

// sinCos allows two units in the last place of one and the rounding of w*x.
func (s *suite) sinCos(size string, n int) {
	r := random(size)
	for _, w := range []float32{10, 1, -0.3} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(3 * r.NormFloat64())
			if i%50 == 9 {
				x[i] *= 100
			}
		}
		if n > 40 {
			x[3], x[20], x[33] = float32(math.NaN()), float32(math.Inf(1)), 0
		}
		wx := func(i int) float64 { return float64(w) * float64(x[i]) }
		allowed := func(scale float64) []float64 {
			return mapped(n, func(i int) float64 { return scale * (4*ulp + ulp*math.Abs(wx(i))) })
		}
		sin := mapped(n, func(i int) float64 { return math.Sin(wx(i)) })
		cos := mapped(n, func(i int) float64 { return float64(w) * math.Cos(wx(i)) })
		abs := math.Abs(float64(w))
		name := fmt.Sprintf("%s/w=%v", size, w)
		s.add("SinCos", name, func(d tensor.Device, b []tensor.Buffer) { d.SinCos(b[0], b[1], b[2], w) },
			out("s", sin, allowed(1)), out("c", cos, allowed(2*abs)), in("x", x))
		if n > large {
			return
		}
		s.add("SinCos", name+"/s=x", func(d tensor.Device, b []tensor.Buffer) { d.SinCos(b[0], b[1], b[0], w) },
			inout("x", x, sin, allowed(1)), out("c", cos, allowed(2*abs)))
		s.add("SinCos", name+"/sine only", func(d tensor.Device, b []tensor.Buffer) { d.SinCos(b[0], tensor.Buffer{}, b[1], w) },
			out("s", sin, allowed(1)), in("x", x))
		s.add("SinCos", name+"/sine only/s=x", func(d tensor.Device, b []tensor.Buffer) { d.SinCos(b[0], tensor.Buffer{}, b[0], w) },
			inout("x", x, sin, allowed(1)))
	}
}

// matrices are rows and columns: one row, one column, tails, more rows than
// columns, and rows that are shared among threads.
var matrices = [][2]int{{1, 1}, {1, 7}, {7, 1}, {3, 17}, {5, 64}, {2, 100}, {33, 31}, {700, 3}, {3, 5000}, {2, 70001}}

func (s *suite) rows() {
	for _, m := range append(matrices, [2]int{0, 5}, [2]int{5, 0}) {
		rows, cols := m[0], m[1]
		size := fmt.Sprintf("rows=%d/cols=%d", rows, cols)
		r := random(size)
		y, bias := normal(r, rows*cols), normal(r, rows)
		s.add("AddRows", size, func(d tensor.Device, b []tensor.Buffer) { d.AddRows(b[0], b[1], rows, cols) },
			inout("y", y, mapped(rows*cols, func(i int) float64 { return float64(y[i] + bias[i/cols]) }), nil),
			in("bias", bias))
		x := normal(r, cols)
		want := mapped(rows*cols, func(i int) float64 { return float64(y[i] * x[i%cols]) })
		s.add("MulRows", size, func(d tensor.Device, b []tensor.Buffer) { d.MulRows(b[0], b[1], b[2], rows, cols) },
			out("dst", want, nil), in("x", y), in("v", x))
		s.add("MulRows", size+"/dst=x", func(d tensor.Device, b []tensor.Buffer) { d.MulRows(b[0], b[0], b[1], rows, cols) },
			inout("x", y, want, nil), in("v", x))
	}
}
