package conv_test

import (
	"fmt"
	"log"
	"math"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// A network of one's own: an image is lifted to four rotations and convolved on
// the group. Turning the image by 90 degrees turns the output and moves it by one
// place along the group.
func Example() {
	const side, rotations = 9, 4
	dev, err := tensor.NewCPU(1)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	lift, err := conv.NewLifting(conv.Config{Name: "lift", In: 1, Out: 8, Side: 5, Bias: true}, 1)
	if err != nil {
		log.Fatal(err)
	}
	group, err := conv.NewGroup(conv.Config{Name: "group", In: 8, Out: 2, Side: 5, Bias: true}, 1)
	if err != nil {
		log.Fatal(err)
	}

	// Plan: where the maps and the scratch memory lie, and on which elements.
	elements := gumbel.NewElements(lie.SE2, rotations) // 0, 90, 180, 270 degrees
	plan := &nn.Plan{Arena: new(tensor.Arena), Batch: 1, Inference: true}
	image := plan.Map(1, 1, side, side)
	lifted := lift.Plan(plan, image, elements)
	output := group.Plan(plan, lifted, elements, elements)

	var params nn.Parameters
	params.Add(lift.Parameters()...)
	params.Add(group.Parameters()...)
	if err := plan.Arena.Bind(dev); err != nil {
		log.Fatal(err)
	}
	if err := params.Bind(dev); err != nil {
		log.Fatal(err)
	}
	lift.Bind(dev)
	group.Bind(dev)

	run := func(pixels []float32) []float32 {
		dev.Upload(image.Value, pixels)
		image.Written(1)
		lift.Forward(false)
		group.Forward(false)
		y := make([]float32, output.Size()) // [2, 4, 9, 9]
		dev.Download(y, output.Live())
		return y
	}
	picture := make([]float32, side*side) // an L
	for i := range 5 {
		picture[(2+i)*side+3] = 1
		picture[6*side+3+i/2] = 1
	}
	turned := make([]float32, side*side)
	for row := range side {
		for col := range side {
			turned[row*side+col] = picture[col*side+side-1-row]
		}
	}

	before, after := run(picture), run(turned)
	worst := 0.0
	for c := range 2 {
		for i := range rotations {
			for row := range side {
				for col := range side {
					a := after[((c*rotations+i)*side+row)*side+col]
					b := before[((c*rotations+(i+1)%rotations)*side+col)*side+side-1-row]
					worst = math.Max(worst, math.Abs(float64(a-b)))
				}
			}
		}
	}
	fmt.Printf("a kernel has %d live taps; equivariant: %v\n", len(group.Taps()), worst < 1e-5)
	// Output: a kernel has 13 live taps; equivariant: true
}
