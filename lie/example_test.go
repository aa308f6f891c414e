package lie_test

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/lie"
)

// Two eighth turns make a quarter turn, which takes the offset one column to the
// right to one row up or down, depending on the direction.
func ExampleGroup() {
	g := lie.SE2
	eighth := g.Exp(lie.Vector{math.Pi / 4})
	quarter := g.Product(eighth, eighth)
	fmt.Printf("%.4f rad\n", quarter[0])

	right := [2]float64{0, 1} // (row, column)
	q := g.InverseAct(quarter, right)
	fmt.Printf("(%.0f, %.0f)\n", q[0], q[1])

	// Output:
	// 1.5708 rad
	// (-1, 0)
}

// The coordinate of v as seen from u lies in [-1, 1), with 0 for half a turn.
func ExampleGroup_relative() {
	grid := lie.SE2.Grid(4)
	var x [1]float64
	for _, v := range grid {
		lie.SE2.Relative(x[:], grid[1], v)
		fmt.Printf("%+.1f\n", x[0])
	}
	// Output:
	// +0.5
	// -1.0
	// -0.5
	// +0.0
}

func ExampleByName() {
	g, err := lie.ByName("se2")
	fmt.Println(g.Name(), g.Dim(), err)

	_, err = lie.ByName("SO(3)")
	fmt.Println(err)

	// Output:
	// SE(2) 1 <nil>
	// lie: unknown group "SO(3)"; known are T(2), SE(2)
}
