package tensor_test

import (
	"fmt"
	"log"
	"runtime"

	"github.com/noether-go/noether/tensor"
)

// Package tensor as a library for float32 matrix products.
func ExampleSgemm() {
	team, err := tensor.NewTeam(runtime.GOMAXPROCS(0))
	if err != nil {
		log.Fatal(err)
	}
	defer team.Close()

	a := []float32{ // [2, 3]
		1, 2, 3,
		4, 5, 6,
	}
	b := []float32{ // [2, 3]
		1, 0, 1,
		0, 1, 0,
	}
	c := make([]float32, 2*2)
	tensor.Sgemm(team, false, true, 2, 2, 3, 1, a, 3, b, 3, 0, c, 2) // C = A*B'
	fmt.Println(c)
	// Output: [4 2 10 5]
}

// A view costs nothing; Contiguous copies.
func ExampleTensor() {
	x, err := tensor.FromSlice([]float32{
		0, 1, 2,
		3, 4, 5,
	}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	columns := x.Transpose().Slice(0, 1, 3) // the last two columns, as rows
	fmt.Println(columns.Shape(), columns.Strides(), columns.At(0, 1))
	fmt.Println(columns.Contiguous().Values())
	// Output:
	// [2 2] [1 3] 4
	// [1 4 2 5]
}

// A device runs operations on buffers that an arena has laid out.
func ExampleCPU() {
	dev, err := tensor.NewCPU(2)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	var x, norm tensor.Buffer
	var arena tensor.Arena
	arena.Reserve(&x, 4)
	arena.Reserve(&norm, 1)
	if err := arena.Bind(dev); err != nil {
		log.Fatal(err)
	}
	dev.Upload(x, []float32{3, 0, -4, 12})
	dev.ReLU(x, x)
	dev.SumSquares(norm, x)
	dev.ClipNorm(x, norm, 1) // to a length of at most one

	y := make([]float32, 4)
	dev.Download(y, x)
	fmt.Printf("%.3f\n", y)
	// Output: [0.243 0.000 0.000 0.970]
}
