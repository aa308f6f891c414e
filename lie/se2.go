package lie

import "math"

// SE2 is the group of translations and rotations of the plane. Its stabiliser is
// SO(2): an element is an angle in radians, [0, 2pi), a Lie-algebra vector an
// angle in [-pi, pi).
//
// The action of a on offsets (row, column) has the matrix [[c, s], [-s, c]] with
// c = cos a, s = sin a; InverseAct has its transpose. With rows growing
// downwards, Matrix(a) turns a picture clockwise for a > 0.
//
// The kernel network is fed the relative angle scaled to [-1, 1):
// ((v-u) mod 2pi)/pi - 1. It jumps from one end to the other where v = u; the
// coordinates of Periodic(SE2) do not.
var SE2 Group = so2

var so2 = rotations{NewChart("SE(2)", Axis{Kind: Circle})}

// SO2 is SE2, by the name of its stabiliser, which is what a factor of a product is.
var SO2 = SE2

// rotations is the group SO(2).
type rotations struct{ *Chart }

func (rotations) Product(a, b Element) Element { return Element{wrap(a[0] + b[0])} }
func (rotations) Inverse(a Element) Element    { return Element{wrap(-a[0])} }

// between returns a^-1 b.
func (rotations) between(a, b Element) Element { return Element{wrap(b[0] - a[0])} }

func (rotations) Matrix(a Element) [2][2]float64 {
	s, c := math.Sincos(a[0])
	return [2][2]float64{{c, s}, {-s, c}}
}

func (rotations) InverseAct(u Element, q [2]float64) [2]float64 {
	s, c := math.Sincos(u[0])
	return turnBack(s, c, q)
}

// turnBack returns the action on q of the inverse of the rotation whose sine and
// cosine are s and c.
func turnBack(s, c float64, q [2]float64) [2]float64 {
	// The conversions forbid fused multiply-adds, which some processors would
	// round differently.
	return [2]float64{
		float64(c*q[0]) - float64(s*q[1]),
		float64(s*q[0]) + float64(c*q[1]),
	}
}

func (g rotations) InverseActGrad(u Element, q, dy [2]float64) Vector {
	y := g.InverseAct(u, q)
	// d/du turns the result by a quarter: (y0, y1)' = (-y1, y0).
	return Vector{float64(dy[1]*y[0]) - float64(dy[0]*y[1])}
}

func (g rotations) Relative(u, v Element) Coordinates {
	return g.Embed(g.between(u, v))
}

func (g rotations) RelativeGrad(dx Coordinates, _, _ Element) (du, dv Vector) {
	d := g.EmbedGrad(dx)
	return Vector{-d[0]}, d
}
