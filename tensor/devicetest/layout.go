package devicetest

import (
	"fmt"

	"github.com/noether-go/noether/tensor"
)

func (s *suite) layout() {
	for _, m := range append(matrices, [2]int{64, 784}, [2]int{784, 64}, [2]int{17, 3073}, [2]int{0, 4}, [2]int{4, 0}) {
		rows, cols := m[0], m[1]
		if rows*cols > 100000 {
			continue
		}
		x := normal(random(fmt.Sprint("layout", m)), rows*cols)
		y := mapped(rows*cols, func(i int) float64 { return float64(x[i%rows*cols+i/rows]) })
		s.add("BatchInnermost", fmt.Sprintf("b=%d/s=%d", rows, cols),
			func(d tensor.Device, b []tensor.Buffer) { d.BatchInnermost(b[0], b[1], rows, cols) },
			out("y", y, nil), in("x", x))
		s.add("BatchOutermost", fmt.Sprintf("s=%d/b=%d", rows, cols),
			func(d tensor.Device, b []tensor.Buffer) { d.BatchOutermost(b[0], b[1], rows, cols) },
			out("y", y, nil), in("x", x))
	}
}
