package asm_test

import (
	"fmt"

	"github.com/noether-go/noether/asm"
)

// The sine of a slice, in place: the kernel is chosen for the CPU at start-up.
func Example() {
	x := []float32{0, 0.5, 1, 1.5} // radians
	asm.Sin(x, x)
	fmt.Printf("%.4f\n", x)
	// Output: [0.0000 0.4794 0.8415 0.9975]
}

func ExampleSinCos() {
	angle := []float32{0, 1, 2}
	s, c := make([]float32, 3), make([]float32, 3)
	asm.SinCos(s, c, angle)
	fmt.Printf("%.3f\n%.3f\n", s, c)
	// Output:
	// [0.000 0.841 0.909]
	// [1.000 0.540 -0.416]
}

// The mean and variance of the columns of a matrix, as normalisations take them,
// and the normalised matrix.
func ExampleColNorm() {
	x := []float32{ // [3, 2]
		1, 10,
		2, 20,
		3, 60,
	}
	const rows, cols = 3, 2
	mean := make([]float32, cols)
	asm.ColSum(mean, x)
	asm.Affine(mean, mean, 1./rows, 0)
	sum, squares := make([]float64, cols), make([]float64, cols)
	asm.ColMoments(sum, squares, x, mean)
	for j := range squares {
		squares[j] = (squares[j] - sum[j]*sum[j]/rows) / rows
	}
	fmt.Printf("%.2f %.2f\n", mean, squares)

	m := asm.ColNormMap{Mean: mean, Scale: []float32{1, 0.1}, Shift: []float32{0, 0}, Floor: 0}
	asm.ColNorm(x, x, &m)
	fmt.Printf("%.1f\n", x)
	// Output:
	// [2.00 30.00] [0.67 466.67]
	// [0.0 0.0 0.0 0.0 1.0 3.0]
}

// A level is chosen for a test or a benchmark; NOETHER_SIMD does the same for
// a whole run.
func ExampleSetLevel() {
	before := asm.Active()
	if err := asm.SetLevel(asm.Generic); err != nil {
		panic(err)
	}
	fmt.Println(asm.Active())
	if err := asm.SetLevel(before); err != nil {
		panic(err)
	}
	// Output: generic
}
