package gradcheck_test

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// printer stands in for *testing.T.
type printer struct{}

func (printer) Helper()                   {}
func (printer) Logf(f string, a ...any)   { fmt.Printf(f+"\n", a...) }
func (printer) Errorf(f string, a ...any) { fmt.Printf(f+"\n", a...) }

// The gradient of sum(tanh(x)) is 1 - tanh(x)^2.
func Example() {
	x := tensor.HostBuffer([]float32{-1, 0.25, 2})
	dx := tensor.HostBuffer(make([]float32, 3))
	dev, err := tensor.NewCPU(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	result := gradcheck.Run(printer{}, gradcheck.Case{
		Device:    dev,
		Variables: []gradcheck.Variable{gradcheck.Buffer(dev, "x", x, dx)},
		Loss: func() (sum float64) {
			for _, v := range x.Host() {
				sum += math.Tanh(float64(v))
			}
			return sum
		},
		Backward: func() {
			for i, v := range x.Host() {
				y := math.Tanh(float64(v))
				dx.Host()[i] = float32(1 - y*y)
			}
		},
	})
	fmt.Println("agrees to five digits:", result.Difference < 1e-5)
	// Output: agrees to five digits: true
}
