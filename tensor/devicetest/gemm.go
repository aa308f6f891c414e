package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

// product is a Gemm without its buffers, and the gaps of its operands.
type product struct {
	transA, transB   bool
	m, n, k          int
	batch            int
	gap              int // of the leading dimensions beyond the columns
	sharedA, sharedB bool
	accumulate, bias bool
	epilogue         tensor.Epilogue
	derivative       bool
}

func (p product) String() string {
	return fmt.Sprintf("m=%d/n=%d/k=%d/transA=%v/transB=%v/batch=%d/gap=%d/sharedA=%v/sharedB=%v/accumulate=%v/bias=%v/epilogue=%d/derivative=%v",
		p.m, p.n, p.k, p.transA, p.transB, p.batch, p.gap, p.sharedA, p.sharedB, p.accumulate, p.bias, p.epilogue, p.derivative)
}

func (s *suite) gemm() {
	cases := [4]product{{}, {transA: true}, {transB: true}, {transA: true, transB: true}}
	sizes := [][3]int{{1, 1, 1}, {1, 17, 3}, {17, 1, 3}, {2, 3, 0}, {0, 3, 2}, {3, 0, 2}, {5, 15, 7}, {6, 16, 8}, {7, 17, 9}, {13, 31, 33}, {14, 32, 64},
		{15, 33, 65}, {29, 65, 31}, {64, 64, 64}, {67, 71, 129}, {3, 700, 5}, {200, 5, 6}, {9, 11, 700}}
	for _, size := range sizes {
		for _, c := range cases {
			c.m, c.n, c.k = size[0], size[1], size[2]
			s.gemmAt(c)
			c.gap, c.accumulate = 3, true
			s.gemmAt(c)
		}
	}
	for _, c := range cases {
		for _, size := range [][3]int{{5, 15, 7}, {15, 33, 20}, {32, 100, 3}} {
			c := c
			c.m, c.n, c.k = size[0], size[1], size[2]
			c.batch = 4
			s.gemmAt(c)
			c.gap, c.sharedA = 1, true
			s.gemmAt(c)
			c.sharedA, c.sharedB, c.bias = false, true, true
			s.gemmAt(c)
		}
	}
	for _, size := range [][3]int{{1, 1, 1}, {5, 15, 7}, {33, 70, 20}, {8, 700, 3}, {20, 30, 0}} {
		for _, e := range []tensor.Epilogue{tensor.NoEpilogue, tensor.ReLUEpilogue, tensor.SinEpilogue} {
			c := product{m: size[0], n: size[1], k: size[2], epilogue: e, bias: true}
			s.gemmAt(c)
			c.bias, c.gap, c.batch, c.accumulate = false, 2, 3, true
			s.gemmAt(c)
			if e == tensor.SinEpilogue {
				c.derivative = true
				s.gemmAt(c)
				c.bias = true
				s.gemmAt(c)
				c.batch, c.gap, c.accumulate = 1, 0, false
				s.gemmAt(c)
			}
		}
	}
}

// gemmAt adds a case. The values in the gaps of C must stay, those in the gaps
// of A and B are NaN and must not be looked at.
func (s *suite) gemmAt(p product) {
	r := random(p.String())
	batch := max(p.batch, 1)
	operand := func(rows, cols, products int) (x []float32, ld, stride int) {
		ld = cols + p.gap
		stride = rows*ld + 5*p.gap
		x = filled(products*stride, float32(math.NaN()))
		for q := range products {
			for i := range rows {
				copy(x[q*stride+i*ld:], normal(r, cols))
			}
		}
		if products == 1 && batch > 1 {
			stride = 0
		}
		return x, ld, stride
	}
	count := func(shared bool) int {
		if shared {
			return 1
		}
		return batch
	}
	ra, ca := p.m, p.k
	if p.transA {
		ra, ca = ca, ra
	}
	rb, cb := p.k, p.n
	if p.transB {
		rb, cb = cb, rb
	}
	a, lda, strideA := operand(ra, ca, count(p.sharedA))
	b, ldb, strideB := operand(rb, cb, count(p.sharedB))
	c, ldc, strideC := operand(p.m, p.n, batch)
	bias := normal(r, p.m)
	const omega = float32(1.7)

	derivative := filled(len(c), -7)
	want, allowed := f64(c), make([]float64, len(c))
	wantD, allowedD := f64(derivative), make([]float64, len(c))
	for q := range batch {
		for i := range p.m {
			for j := range p.n {
				var sum, mag float64
				for l := range p.k {
					ai, bi := q*strideA+i*lda+l, q*strideB+l*ldb+j
					if p.transA {
						ai = q*strideA + l*lda + i
					}
					if p.transB {
						bi = q*strideB + j*ldb + l
					}
					v := float64(a[ai]) * float64(b[bi])
					sum, mag = sum+v, mag+math.Abs(v)
				}
				at := q*strideC + i*ldc + j
				if p.accumulate {
					sum, mag = sum+float64(c[at]), mag+math.Abs(float64(c[at]))
				}
				if p.bias {
					sum, mag = sum+float64(bias[i]), mag+math.Abs(float64(bias[i]))
				}
				e := float64(p.k+3) * ulp * mag
				switch p.epilogue {
				case tensor.ReLUEpilogue:
					sum = math.Max(sum, 0)
				case tensor.SinEpilogue:
					w := float64(omega)
					e = w*e + 4*ulp + ulp*math.Abs(w*sum)
					wantD[at], allowedD[at] = w*math.Cos(w*sum), 2*w*e
					sum = math.Sin(w * sum)
				}
				want[at], allowed[at] = sum, e
			}
		}
	}
	arrays := []Array{in("A", a), in("B", b), inout("C", c, want, allowed)}
	if p.bias {
		arrays = append(arrays, in("Bias", bias))
	}
	if p.derivative {
		arrays = append(arrays, inout("Derivative", derivative, wantD, allowedD))
	}
	var g tensor.GemmArgs // outlives the calls, as in a layer
	s.add("Gemm", p.String(), func(d tensor.Device, b []tensor.Buffer) {
		g = tensor.GemmArgs{
			TransA: p.transA, TransB: p.transB, M: p.m, N: p.n, K: p.k,
			A: b[0], LDA: lda, StrideA: strideA, B: b[1], LDB: ldb, StrideB: strideB, C: b[2], LDC: ldc, StrideC: strideC,
			Batch: p.batch, Accumulate: p.accumulate, Epilogue: p.epilogue, Omega: omega,
		}
		if p.bias {
			g.Bias = b[3]
		}
		if p.derivative {
			g.Derivative = b[len(b)-1]
		}
		d.Gemm(&g)
	}, arrays...)
}
