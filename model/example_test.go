package model_test

import (
	"context"
	"fmt"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
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
