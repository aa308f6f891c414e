package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

// relative is the error that a reduction may have, in units of the sum of the
// magnitudes of its terms.
const relative = 1e-6

// sums returns the sum of f(i) over lo <= i < hi and of |f(i)|.
func sums(lo, hi int, f func(i int) float64) (sum, magnitude float64) {
	for i := lo; i < hi; i++ {
		v := f(i)
		sum += v
		magnitude += math.Abs(v)
	}
	return sum, magnitude
}

func (s *suite) reductions() {
	for _, m := range append(matrices, [2]int{0, 3}, [2]int{3, 0}) {
		rows, cols := m[0], m[1]
		size := fmt.Sprintf("rows=%d/cols=%d", rows, cols)
		r := random("SumRows" + size)
		x, dst := normal(r, rows*cols), normal(r, rows)
		for i := range x {
			x[i] += 1 // a mean of one, where a sum in float32 loses digits
		}
		want, allowed := make([]float64, rows), make([]float64, rows)
		added, addedErr := make([]float64, rows), make([]float64, rows)
		for i := range rows {
			sum, mag := sums(i*cols, (i+1)*cols, func(j int) float64 { return float64(x[j]) })
			want[i], allowed[i] = sum, relative*mag
			added[i], addedErr[i] = sum+float64(dst[i]), relative*mag+ulp*math.Abs(sum+float64(dst[i]))
		}
		s.add("SumRows", size, func(d tensor.Device, b []tensor.Buffer) { d.SumRows(b[0], b[1], rows, cols, false) },
			out("dst", want, allowed), in("x", x))
		y := normal(r, rows*cols)
		dots, dotErr := make([]float64, rows), make([]float64, rows)
		for i := range rows {
			dot, mag := sums(i*cols, (i+1)*cols, func(j int) float64 { return float64(x[j]) * float64(y[j]) })
			dots[i], dotErr[i] = dot, relative*mag
		}
		s.add("DotRows", size, func(d tensor.Device, b []tensor.Buffer) { d.DotRows(b[0], b[1], b[2], rows, cols) },
			out("dst", dots, dotErr), in("x", x), in("y", y))
		columns, columnErr := make([]float64, cols), make([]float64, cols)
		for j := range columns {
			dot, mag := sums(0, rows, func(i int) float64 { return float64(x[i*cols+j]) * float64(y[i*cols+j]) })
			columns[j], columnErr[j] = dot, ulp*float64(rows)*mag
		}
		s.add("DotColumns", size, func(d tensor.Device, b []tensor.Buffer) { d.DotColumns(b[0], b[1], b[2], rows, cols) },
			out("dst", columns, columnErr), in("x", x), in("y", y))
		if cols > large {
			continue
		}
		s.add("SumRows", size+"/accumulate", func(d tensor.Device, b []tensor.Buffer) { d.SumRows(b[0], b[1], rows, cols, true) },
			inout("dst", dst, added, addedErr), in("x", x))
	}
	// A NaN reaches the sum of its own row only.
	x := normal(random("SumRows/nan"), 3*50)
	x[70] = float32(math.NaN())
	want := make([]float64, 3)
	for i := range want {
		want[i], _ = sums(50*i, 50*i+50, func(j int) float64 { return float64(x[j]) })
	}
	s.add("SumRows", "rows=3/cols=50/nan", func(d tensor.Device, b []tensor.Buffer) { d.SumRows(b[0], b[1], 3, 50, false) },
		out("dst", want, []float64{1e-4, 0, 1e-4}), in("x", x))

	for _, n := range append(lengths, 70001) {
		size := fmt.Sprintf("n=%d", n)
		r := random("Dot" + size)
		x, y := normal(r, n), normal(r, n)
		for _, nan := range []bool{false, true} {
			if nan {
				if n < 10 || n > large {
					continue
				}
				size += "/nan"
				x[n/2] = float32(math.NaN())
			}
			xc := append([]float32(nil), x...)
			dot, dotMag := sums(0, n, func(i int) float64 { return float64(xc[i]) * float64(y[i]) })
			sq, _ := sums(0, n, func(i int) float64 { return float64(xc[i]) * float64(xc[i]) })
			s.add("DotRows", size, func(d tensor.Device, b []tensor.Buffer) { d.DotRows(b[0], b[1], b[2], 1, n) },
				out("dst", []float64{dot}, []float64{relative * dotMag}), in("x", xc), in("y", y))
			s.add("SumSquares", size, func(d tensor.Device, b []tensor.Buffer) { d.SumSquares(b[0], b[1]) },
				out("dst", []float64{sq}, []float64{relative * sq}), in("x", xc))
		}
	}
}
