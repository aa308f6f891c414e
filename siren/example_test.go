package siren_test

import (
	"fmt"
	"log"
	"math"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// fit trains a network so that it takes the values want at the positions x
// [in, P], and returns it as a function of at most as many positions.
func fit(cfg siren.Config, x, want []float32, steps int) (predict func(x []float32) []float32, loss float64) {
	positions := len(want)
	dev, err := tensor.NewCPU(1)
	if err != nil {
		log.Fatal(err)
	}
	net, err := siren.New("", cfg, 1)
	if err != nil {
		log.Fatal(err)
	}
	var arena tensor.Arena
	var at, gradient tensor.Buffer
	net.Plan(&nn.Plan{Arena: &arena, Batch: 1}, positions)
	arena.Reserve(&at, len(x))
	arena.Reserve(&gradient, positions)
	var params nn.Parameters
	params.Add(net.Parameters()...)
	if err := arena.Bind(dev); err != nil {
		log.Fatal(err)
	}
	if err := params.Bind(dev); err != nil {
		log.Fatal(err)
	}
	net.Bind(dev)

	optimizer, err := nn.NewOptimizer(nn.OptimizerConfig{LR: 3e-3}, &params)
	if err != nil {
		log.Fatal(err)
	}
	schedule, err := nn.NewCosineLR(steps, 0, false)
	if err != nil {
		log.Fatal(err)
	}
	out, err := dev.Alloc(positions)
	if err != nil {
		log.Fatal(err)
	}
	predict = func(x []float32) []float32 {
		n := len(x) / cfg.In
		dev.Upload(at, x)
		y := make([]float32, n)
		net.Forward(out, at, n)
		dev.Download(y, out)
		return y
	}
	residual := make([]float32, positions)
	for range steps {
		loss = 0
		for i, y := range predict(x) {
			residual[i] = (y - want[i]) * 2 / float32(positions)
			loss += float64((y-want[i])*(y-want[i])) / float64(positions)
		}
		dev.Upload(gradient, residual)
		params.ZeroGrad()
		net.Backward(gradient, tensor.Buffer{})
		optimizer.Step(schedule)
	}
	return predict, loss
}

// A signal of one dimension: a chirp, from 100 samples.
func Example() {
	const samples = 100
	signal := func(x float32) float32 { return float32(math.Sin(6 * math.Exp(float64(x)))) }
	x, y := make([]float32, samples), make([]float32, samples)
	for i := range x {
		x[i] = 2*float32(i)/(samples-1) - 1
		y[i] = signal(x[i])
	}
	predict, _ := fit(siren.Config{In: 1, Out: 1, Hidden: 24}, x, y, 500)

	// Half way between the samples.
	between := make([]float32, samples-1)
	for i := range between {
		between[i] = (x[i] + x[i+1]) / 2
	}
	worst := 0.0
	for i, y := range predict(between) {
		worst = math.Max(worst, math.Abs(float64(y-signal(between[i]))))
	}
	fmt.Printf("off by less than 0.02 between the samples: %v\n", worst < 0.02)
	// Output: off by less than 0.02 between the samples: true
}

// An image of 16 x 16 pixels: two blurred discs.
func Example_image() {
	const side = 16
	var pixels []float32
	x := make([]float32, 2*side*side) // rows, then columns
	for row := range side {
		for col := range side {
			r, c := 2*float64(row)/(side-1)-1, 2*float64(col)/(side-1)-1
			x[row*side+col], x[side*side+row*side+col] = float32(r), float32(c)
			disc := func(r0, c0, radius float64) float64 {
				return 1 / (1 + math.Exp(12*(math.Hypot(r-r0, c-c0)-radius)))
			}
			pixels = append(pixels, float32(disc(-0.3, -0.3, 0.5)+disc(0.5, 0.4, 0.3)))
		}
	}
	_, loss := fit(siren.Config{In: 2, Out: 1}, x, pixels, 300)
	decibel := 10 * math.Log10(1/loss)
	fmt.Printf("more than 40 dB: %v\n", decibel > 40)
	// Output: more than 40 dB: true
}
