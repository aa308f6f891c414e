package nn_test

import (
	"fmt"
	"log"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// A linear classifier with batch normalisation learns which of two numbers is
// the larger.
func Example() {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	norm, err := nn.NewBatchNorm("norm", 2)
	if err != nil {
		log.Fatal(err)
	}
	linear, err := nn.NewLinear("out_layer", 2, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss := nn.NewCrossEntropy()

	// Plan: four samples of two channels, on one group element and one pixel.
	plan := &nn.Plan{Arena: new(tensor.Arena), Batch: 4}
	input := plan.Map(2, 1, 1, 1)
	loss.Plan(plan, linear.Plan(plan, norm.Plan(plan, input)))

	var params nn.Parameters
	params.Add(norm.Parameters()...)
	params.Add(linear.Parameters()...)
	if err := plan.Arena.Bind(dev); err != nil {
		log.Fatal(err)
	}
	if err := params.Bind(dev); err != nil {
		log.Fatal(err)
	}
	norm.Bind(dev)
	linear.Bind(dev)
	loss.Bind(dev)

	optimizer, err := nn.NewOptimizer(nn.OptimizerConfig{LR: 0.05}, &params)
	if err != nil {
		log.Fatal(err)
	}
	schedule, err := nn.NewCosineLR(100, 10, false)
	if err != nil {
		log.Fatal(err)
	}

	dev.Upload(input.Value, []float32{
		3, 1, 5, 2, // first number of each sample
		1, 4, 2, 3, // second
	})
	loss.SetLabels([]float32{0, 1, 0, 1})
	for range 100 {
		input.Written(1)
		norm.Forward(true)
		linear.Forward(true)
		loss.Forward(true)

		params.ZeroGrad()
		loss.Backward()
		linear.Backward()
		norm.Backward()
		optimizer.Step(schedule)
	}
	fmt.Printf("%d of 4 correct, loss below 0.1: %v\n", loss.Correct(), loss.Loss() < 0.1)
	// Output: 4 of 4 correct, loss below 0.1: true
}
