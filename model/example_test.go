package model_test

import (
	"context"
	"fmt"
	"math"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/nn"
)

// A network that learns which rotations matter is built, trained for an epoch on
// a few synthetic images, and frozen to make predictions.
func Example() {
	net, err := model.NewCKResNet(model.CKResNetConfig{
		Group: lie.SE2, Elements: 2, Partial: true,
		Side: 28, Classes: 2, Width: 2, KernelSide: 5, KernelHidden: 8,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := data.Strokes6180(data.StrokesConfig{Train: 16, Validation: 4, Test: 4})
	run, err := model.Train(context.Background(), net, set, model.TrainConfig{Epochs: 1, Batch: 8, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Steps, "steps,", len(net.Subsets()), "learned subsets")

	frozen, err := net.Freeze(model.FreezeConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer frozen.Close()
	images := make([]float32, 3*set.Pixels())
	set.Batch(images, nil, &set.Test, []int{0, 1, 2})
	logits, err := frozen.Predict(images)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(logits)/2, "predictions of", 2, "classes")
	// Output:
	// 4 steps, 5 learned subsets
	// 3 predictions of 2 classes
}

// A network on the whole of SE(2) is equivariant to quarter turns, which map the grid of
// its eight rotations and the pixels to themselves. One on a learned subset is not: here each
// layer has half of the circle.
func ExampleNetwork_Equivariance() {
	set := data.Strokes6180(data.StrokesConfig{Train: 1, Validation: 1, Test: 4})
	images := make([]float32, 8*set.Pixels())
	set.Batch(images, nil, &set.Test, []int{0, 1, 2, 3, 4, 5, 6, 7})
	turn := model.EquivarianceConfig{
		Transformations: []model.Transformation{{Angle: math.Pi / 2}},
		Fill:            []float32{-set.Mean[0] / set.Std[0]}, // black
	}
	for _, partial := range []bool{false, true} {
		net, err := model.NewCKResNet(model.CKResNetConfig{
			Group: lie.SE2, Elements: 8, Partial: partial,
			Side: 28, Classes: 2, Width: 2, KernelSide: 5, KernelHidden: 8, Pools: []int{0},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range net.Parameters().All() {
			if p.Class == nn.Subset {
				p.Host[0] = 0.5
			}
		}
		list, err := net.Equivariance(context.Background(), images, turn)
		if err != nil {
			fmt.Println(err)
			return
		}
		p := list[0].Pooled
		fmt.Printf("partial: %-5v  equivariant: %-5v  by the subset: %v\n", partial, p.Total < 1e-5, p.Subset > 1e-3)
	}
	// Output:
	// partial: false  equivariant: true   by the subset: false
	// partial: true   equivariant: false  by the subset: true
}
