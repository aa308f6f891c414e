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
	for _, v := range grid {
		fmt.Printf("%+.1f\n", lie.SE2.Relative(grid[1], v)[0])
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
	// lie: unknown group "SO(3)"; known are T(2), SE(2), E(2), mirror, R+, Sim(2), CN (N: 1 to 65536), DN (N: 1 to 65536), R+(N) (N: above 1, up to 1000), products such as "C4 x R+", and each with "periodic" behind
}

// A quarter turn behind the mirror is one the other way before it.
func ExampleDihedral() {
	g := lie.Dihedral(4)
	quarter, mirror := lie.Element{1}, lie.Element{0, 1}
	fmt.Println(g.Product(mirror, quarter), g.Product(g.Inverse(quarter), mirror))
	// Output:
	// [1 1 0] [1 1 0]
}

// Rotations, reflections and scalings, of which twelve elements are three angles,
// with and without the mirror, at two scales.
func ExampleDirectProduct() {
	g := lie.DirectProduct(lie.O2, lie.RPlus)
	counts, err := g.Split(12)
	fmt.Println(g.Name(), g.Dim(), counts, err)
	// Output:
	// O(2) x R+ 2 [3 2 2] <nil>
}

// The coordinates of two angles on both sides of zero are close only when they are
// periodic.
func ExamplePeriodic() {
	for _, g := range []lie.Group{lie.SE2, lie.Periodic(lie.SE2)} {
		before, after := g.Exp(lie.Vector{-0.01}), g.Exp(lie.Vector{0.01})
		n := g.Coordinates()
		x, y := g.Relative(lie.Element{}, before), g.Relative(lie.Element{}, after)
		fmt.Printf("%-14s %+.2f %+.2f\n", g.Name(), x[:n], y[:n])
	}
	// Output:
	// SE(2)          [+1.00] [-1.00]
	// SE(2) periodic [+1.00 -0.01] [+1.00 +0.01]
}

// Moving to the right while turning clockwise, a point goes along an arc: after a quarter turn
// it is as far down as to the right, and after four it is back.
func ExampleAffineGroup() {
	g := lie.AffineGroup{H: lie.SE2}
	quarter := lie.AffineVector{X: [2]float64{0, math.Pi / 2}, H: lie.Vector{math.Pi / 2}} // (row, column), radians
	a := g.Exp(quarter)
	fmt.Printf("moved by %.4f, turned by %.4f\n", a.X, a.H[0])

	v := g.Log(a)
	fmt.Printf("at %.4f and %.4f\n", v.X, v.H[0])

	half := g.Product(a, a)
	whole := g.Act(g.Product(half, half), [2]float64{3, 4})
	fmt.Printf("(3, 4) comes to (%.0f, %.0f)\n", whole[0], whole[1])

	// Output:
	// moved by [1.0000 1.0000], turned by 1.5708
	// at [0.0000 1.5708] and 1.5708
	// (3, 4) comes to (3, 4)
}
