package lie_test

import (
	"fmt"

	"github.com/noether-go/noether/lie"
)

// Shears is the group of translations and shears of the plane: how far the strokes
// of a handwriting lean. An element is the number of columns that a row is moved by
// for each row that it lies below the origin. Up to one column each way are sampled.
var Shears lie.Group = shears{lie.NewChart("shears", lie.Axis{Kind: lie.Line, Extent: 1})}

type shears struct{ *lie.Chart }

func (shears) Product(a, b lie.Element) lie.Element { return lie.Element{a[0] + b[0]} }
func (shears) Inverse(a lie.Element) lie.Element    { return lie.Element{-a[0]} }

func (shears) Matrix(a lie.Element) [2][2]float64 { return [2][2]float64{{1, 0}, {a[0], 1}} }

func (shears) InverseAct(u lie.Element, q [2]float64) [2]float64 {
	return [2]float64{q[0], q[1] - float64(u[0]*q[0])}
}

func (shears) InverseActGrad(_ lie.Element, q, dy [2]float64) lie.Vector {
	return lie.Vector{-dy[1] * q[0]}
}

func (g shears) Relative(u, v lie.Element) lie.Coordinates {
	return g.Embed(lie.Element{v[0] - u[0]})
}

func (g shears) RelativeGrad(dx lie.Coordinates, _, _ lie.Element) (du, dv lie.Vector) {
	d := g.EmbedGrad(dx)
	return lie.Vector{-d[0]}, d
}

// A group is a type with the seven methods that a Chart does not have.
func Example_newGroup() {
	g := Shears
	fmt.Println(g.Name(), g.Dim(), g.Grid(4))
	lean := g.Exp(lie.Vector{0.25})
	fmt.Println(lie.Act(g, g.Product(lean, lean), [2]float64{2, 0})) // two rows below the origin
	fmt.Println(g.Relative(lean, lie.Element{})[0])

	// Output:
	// shears 1 [[-1 0 0] [-0.5 0 0] [0 0 0] [0.5 0 0]]
	// [2 1]
	// -0.125
}
