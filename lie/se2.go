package lie

import (
	"fmt"
	"math"
)

// SE2 is the group of translations and rotations of the plane. Its stabiliser is
// SO(2): an element is an angle in radians, [0, 2pi), a Lie-algebra vector an
// angle in [-pi, pi).
//
// The action of a on offsets (row, column) has the matrix [[c, s], [-s, c]] with
// c = cos a, s = sin a; InverseAct has its transpose. With rows growing
// downwards, Matrix(a) turns a picture clockwise for a > 0.
//
// The kernel network is fed the relative angle scaled to [-1, 1):
// ((v-u) mod 2pi)/pi - 1. It jumps from one end to the other where v = u.
var SE2 Group = rotations{}

// rotations is the group SO(2).
type rotations struct{}

const tau = 2 * math.Pi

// wrap returns x mod 2pi in [0, 2pi), NaN for NaN and infinities.
func wrap(x float64) float64 {
	// The first three cases give what the last would, without the division: the
	// subtraction is exact there.
	switch {
	case 0 <= x && x < tau:
		return x
	case tau <= x && x < 2*tau:
		return x - tau
	case -tau <= x && x < 0:
		x += tau
	default:
		if x = math.Mod(x, tau); x < 0 {
			x += tau
		}
	}
	if x == tau { // a negative x too small to show beside 2pi
		return 0
	}
	return x
}

func (rotations) Name() string          { return "SE(2)" }
func (rotations) Dim() int              { return 1 }
func (rotations) Extent() Vector        { return Vector{math.Pi} }
func (rotations) Compact() bool         { return true }
func (rotations) Components() int       { return 1 }
func (rotations) Component(int) Element { return Element{} }

func (rotations) Identity() Element            { return Element{} }
func (rotations) Product(a, b Element) Element { return Element{wrap(a[0] + b[0])} }
func (rotations) Inverse(a Element) Element    { return Element{wrap(-a[0])} }
func (rotations) Exp(v Vector) Element         { return Element{wrap(v[0])} }

func (rotations) Log(a Element) Vector {
	x := wrap(a[0])
	if x >= math.Pi {
		x -= tau
	}
	return Vector{x}
}

func (rotations) Matrix(a Element) [2][2]float64 {
	s, c := math.Sincos(a[0])
	return [2][2]float64{{c, s}, {-s, c}}
}

func (rotations) InverseAct(u Element, q [2]float64) [2]float64 {
	s, c := math.Sincos(u[0])
	// The conversions forbid fused multiply-adds, which some processors would
	// round differently.
	return [2]float64{
		float64(c*q[0]) - float64(s*q[1]),
		float64(s*q[0]) + float64(c*q[1]),
	}
}

func (rotations) InverseActGrad(u Element, q, dy [2]float64) Vector {
	s, c := math.Sincos(u[0])
	y0 := float64(c*q[0]) - float64(s*q[1])
	y1 := float64(s*q[0]) + float64(c*q[1])
	// d/du turns the result by a quarter: (y0, y1)' = (-y1, y0).
	return Vector{float64(dy[1]*y0) - float64(dy[0]*y1)}
}

func (rotations) Coordinates() int { return 1 }

func (rotations) Relative(dst []float64, u, v Element) {
	dst[0] = wrap(v[0]-u[0])/math.Pi - 1
}

func (rotations) RelativeGrad(dx []float64, _, _ Element) (du, dv Vector) {
	d := dx[0] / math.Pi
	return Vector{-d}, Vector{d}
}

func (rotations) CheckGrid(n int) error {
	if n < 1 {
		return fmt.Errorf("lie: SE(2) has no grid of %d elements: at least 1 is needed", n)
	}
	return nil
}

// Grid returns the angles 2pi i/n.
func (g rotations) Grid(n int) []Element {
	if err := g.CheckGrid(n); err != nil {
		panic(&Error{"SE2.Grid", err.Error()})
	}
	grid := make([]Element, n)
	for i := range grid {
		grid[i][0] = wrap(tau * float64(i) / float64(n))
	}
	return grid
}

func (rotations) Haar(src Source) Element { return Element{wrap(tau * src.Float64())} }
