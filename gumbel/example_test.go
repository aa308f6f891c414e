package gumbel_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
)

// A layer that has learned to look at the half circle [-pi/2, pi/2] works on 4 of
// 8 elements, one in each quarter of it.
func Example() {
	u, err := gumbel.New(gumbel.Config{
		Group: lie.SE2, Max: 8, Partial: true, Name: "blocks.0.gconv1.probs",
	})
	if err != nil {
		log.Fatal(err)
	}
	theta := u.Parameters()[0]
	theta.Host[0] = 0.5

	list := gumbel.NewElements(lie.SE2, 8)
	u.Midpoints(list)
	for _, g := range list.G {
		fmt.Printf("%+.1f degrees\n", lie.SE2.Log(g)[0]*180/math.Pi)
	}

	u.Draw(list, rand.New(rand.NewPCG(1, 0)), true)
	fmt.Println(len(list.G), "random elements, size", u.Size())

	// Output:
	// -67.5 degrees
	// -22.5 degrees
	// +22.5 degrees
	// +67.5 degrees
	// 4 random elements, size 0.5
}

// A layer on the group of mirrors begins by keeping the mirror image in nine draws of
// ten. Where it is dropped in training it stays in the list with weight 0, so that a
// layer's gradient can bring it back. Elsewhere what is kept more often than not is kept.
func ExampleDistribution_Draw() {
	d, err := gumbel.New(gumbel.Config{
		Group: lie.Mirror, Max: 2, Partial: true, Name: "blocks.0.gconv1.probs",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("kept with probabilities %.2f\n", d.Learned()[0].Keep)

	list := d.NewLists(1)
	for step := uint64(8); step < 12; step++ {
		d.Draw(list, rand.New(rand.NewPCG(1, step)), true)
		trained := list.Weight[1]
		d.Draw(list, rand.New(rand.NewPCG(1, step)), false)
		fmt.Println("weight", trained, "in training, else", len(list.G), "elements")
	}

	// Output:
	// kept with probabilities [1.00 0.88]
	// weight 1 in training, else 2 elements
	// weight 0 in training, else 2 elements
	// weight 1 in training, else 2 elements
	// weight 1 in training, else 2 elements
}
