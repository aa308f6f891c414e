package lie

import (
	"fmt"
	"math"
	"strconv"
)

// RPlus is the group of translations and scalings of the plane by which factors
// between 1/2 and 2 are sampled: Scalings(2).
var RPlus = Scalings(2)

// maxScale bounds the factors that are sampled: beyond it lies a typing error.
const maxScale = 1000

// Scalings returns the group of translations and scalings of the plane. Its
// stabiliser is the multiplicative group R+ of positive numbers. An element is the
// logarithm of the factor, any real number, and so is a Lie-algebra vector. What is
// sampled are factors between 1/most and most. The name is "R+", and for another
// most than 2 has it behind, as in "R+(1.5)".
//
// The kernel network is fed the logarithm of v/u over 2 log most, a number in
// [-1, 1] for sampled elements.
//
// A scaling changes lengths: a kernel that lives on a disc needs a disc of e^a
// times the radius for the element a.
//
// It panics with *Error unless 1 < most <= 1000.
func Scalings(most float64) Group {
	if !(most > 1 && most <= maxScale) {
		panic(&Error{"Scalings", fmt.Sprintf("up to a factor of %v; above 1, up to %d, is allowed", most, maxScale)})
	}
	name := "R+"
	if most != 2 {
		name += "(" + strconv.FormatFloat(most, 'g', -1, 64) + ")"
	}
	return scalings{NewChart(name, Axis{Kind: Line, Extent: math.Log(most)})}
}

// scalings is the group R+.
type scalings struct{ *Chart }

func (scalings) Product(a, b Element) Element { return Element{a[0] + b[0]} }
func (scalings) Inverse(a Element) Element    { return Element{-a[0]} }

func (scalings) Matrix(a Element) [2][2]float64 {
	s := math.Exp(a[0])
	return [2][2]float64{{s, 0}, {0, s}}
}

func (scalings) InverseAct(u Element, q [2]float64) [2]float64 {
	s := math.Exp(-u[0])
	return [2]float64{s * q[0], s * q[1]}
}

func (g scalings) InverseActGrad(u Element, q, dy [2]float64) Vector {
	y := g.InverseAct(u, q)
	return Vector{-(float64(dy[0]*y[0]) + float64(dy[1]*y[1]))}
}

func (g scalings) Relative(u, v Element) Coordinates { return g.Embed(Element{v[0] - u[0]}) }

func (g scalings) RelativeGrad(dx Coordinates, _, _ Element) (du, dv Vector) {
	d := g.EmbedGrad(dx)
	return Vector{-d[0]}, d
}
