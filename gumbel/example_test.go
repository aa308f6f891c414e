package gumbel_test

import (
	"fmt"
	"log"
	"math"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
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

	u.Draw(list, stream.New(1, "example", 0), true)
	fmt.Println(len(list.G), "random elements, size", u.Size())

	// Output:
	// -67.5 degrees
	// -22.5 degrees
	// +22.5 degrees
	// +67.5 degrees
	// 4 random elements, size 0.5
}
