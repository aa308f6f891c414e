package lie_test

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/lie"
)

// The groups in this file are not offered to users. They stand for the kinds that
// Group is made for, and keep it honest: a union of components, a group that is
// not compact, and a finite group.

// roto is O(2), the stabiliser of E(2): (angle, m) with m = 1 for a mirror, so
// that zero coordinates are the identity. Its elements act as Matrix (angle)
// after diag(1, -1)^m, in the order that makes (a, m) = Component(m) Exp(a).
type roto struct{}

func (roto) Name() string       { return "E(2) of the test" }
func (roto) Dim() int           { return 1 }
func (roto) Extent() lie.Vector { return lie.Vector{math.Pi} }
func (roto) Compact() bool      { return true }
func (roto) Components() int    { return 2 }

func (roto) Component(i int) lie.Element { return lie.Element{0, float64(i)} }
func (roto) Identity() lie.Element       { return lie.Element{} }

func (roto) sign(a lie.Element) float64 { return 1 - 2*a[1] }

func (g roto) Product(a, b lie.Element) lie.Element {
	r := lie.SE2.Exp(lie.Vector{b[0] + g.sign(b)*a[0]})
	return lie.Element{r[0], math.Abs(a[1] - b[1])}
}

func (g roto) Inverse(a lie.Element) lie.Element {
	return lie.Element{lie.SE2.Exp(lie.Vector{-g.sign(a) * a[0]})[0], a[1]}
}

func (roto) Exp(v lie.Vector) lie.Element { return lie.SE2.Exp(v) }
func (roto) Log(a lie.Element) lie.Vector { return lie.SE2.Log(lie.Element{a[0]}) }

func (g roto) Matrix(a lie.Element) [2][2]float64 {
	m := lie.SE2.Matrix(lie.Element{a[0]})
	m[1][0] *= g.sign(a)
	m[1][1] *= g.sign(a)
	return m
}

func (g roto) InverseAct(u lie.Element, q [2]float64) [2]float64 {
	return lie.SE2.InverseAct(lie.Element{u[0]}, [2]float64{q[0], g.sign(u) * q[1]})
}

func (g roto) InverseActGrad(u lie.Element, q, dy [2]float64) lie.Vector {
	return lie.SE2.InverseActGrad(lie.Element{u[0]}, [2]float64{q[0], g.sign(u) * q[1]}, dy)
}

func (roto) Coordinates() int { return 2 }

func (g roto) Relative(dst []float64, u, v lie.Element) {
	w := g.Product(g.Inverse(u), v)
	dst[0], dst[1] = w[0]/math.Pi-1, g.sign(w)
}

func (g roto) RelativeGrad(dx []float64, u, v lie.Element) (du, dv lie.Vector) {
	m := g.sign(g.Product(g.Inverse(u), v))
	return lie.Vector{-m * dx[0] / math.Pi}, lie.Vector{dx[0] / math.Pi}
}

func (roto) CheckGrid(n int) error {
	if n < 2 || n%2 != 0 {
		return fmt.Errorf("%d elements; an even number is needed", n)
	}
	return nil
}

func (g roto) Grid(n int) []lie.Element {
	if err := g.CheckGrid(n); err != nil {
		panic(&lie.Error{Op: "roto.Grid", Problem: err.Error()})
	}
	grid := lie.SE2.Grid(n / 2)
	for _, a := range grid[:n/2] {
		grid = append(grid, lie.Element{a[0], 1})
	}
	return grid
}

func (g roto) Haar(src lie.Source) lie.Element {
	return lie.Element{lie.SE2.Haar(src)[0], math.Floor(2 * src.Float64())}
}

// scalings is the group of scalings s > 0, of which those between 1/2 and 2 are
// sampled. An element is log s.
type scalings struct{}

func (scalings) Name() string              { return "scalings of the test" }
func (scalings) Dim() int                  { return 1 }
func (scalings) Extent() lie.Vector        { return lie.Vector{math.Ln2} }
func (scalings) Compact() bool             { return false }
func (scalings) Components() int           { return 1 }
func (scalings) Component(int) lie.Element { return lie.Element{} }
func (scalings) Identity() lie.Element     { return lie.Element{} }

func (scalings) Product(a, b lie.Element) lie.Element { return lie.Element{a[0] + b[0]} }
func (scalings) Inverse(a lie.Element) lie.Element    { return lie.Element{-a[0]} }
func (scalings) Exp(v lie.Vector) lie.Element         { return lie.Element{v[0]} }
func (scalings) Log(a lie.Element) lie.Vector         { return lie.Vector{a[0]} }

func (scalings) Matrix(a lie.Element) [2][2]float64 {
	s := math.Exp(a[0])
	return [2][2]float64{{s, 0}, {0, s}}
}

func (scalings) InverseAct(u lie.Element, q [2]float64) [2]float64 {
	s := math.Exp(-u[0])
	return [2]float64{s * q[0], s * q[1]}
}

func (g scalings) InverseActGrad(u lie.Element, q, dy [2]float64) lie.Vector {
	y := g.InverseAct(u, q)
	return lie.Vector{-dy[0]*y[0] - dy[1]*y[1]}
}

func (scalings) Coordinates() int { return 1 }

func (scalings) Relative(dst []float64, u, v lie.Element) {
	dst[0] = (v[0] - u[0]) / (2 * math.Ln2)
}

func (scalings) RelativeGrad(dx []float64, _, _ lie.Element) (du, dv lie.Vector) {
	d := dx[0] / (2 * math.Ln2)
	return lie.Vector{-d}, lie.Vector{d}
}

func (scalings) CheckGrid(n int) error {
	if n < 1 || n%2 == 0 {
		return fmt.Errorf("%d elements; an odd number is needed", n)
	}
	return nil
}

func (g scalings) Grid(n int) []lie.Element {
	if err := g.CheckGrid(n); err != nil {
		panic(&lie.Error{Op: "scalings.Grid", Problem: err.Error()})
	}
	grid := make([]lie.Element, n)
	for i := range grid {
		grid[i][0] = math.Ln2 * (float64(2*i+1)/float64(n) - 1)
	}
	grid[n/2][0] = 0
	return grid
}

func (scalings) Haar(src lie.Source) lie.Element {
	return lie.Element{math.Ln2 * (2*src.Float64() - 1)}
}

// quarters is the cyclic group of quarter turns: an element is 0, 1, 2 or 3.
type quarters struct{}

func (quarters) Name() string                { return "C4 of the test" }
func (quarters) Dim() int                    { return 0 }
func (quarters) Extent() lie.Vector          { return lie.Vector{} }
func (quarters) Compact() bool               { return true }
func (quarters) Components() int             { return 4 }
func (quarters) Component(i int) lie.Element { return lie.Element{float64(i)} }
func (quarters) Identity() lie.Element       { return lie.Element{} }

func (quarters) Product(a, b lie.Element) lie.Element {
	return lie.Element{math.Mod(a[0]+b[0], 4)}
}
func (quarters) Inverse(a lie.Element) lie.Element { return lie.Element{math.Mod(4-a[0], 4)} }
func (quarters) Exp(lie.Vector) lie.Element        { return lie.Element{} }
func (quarters) Log(lie.Element) lie.Vector        { return lie.Vector{} }

func (quarters) Matrix(a lie.Element) [2][2]float64 {
	c, s := [4]float64{1, 0, -1, 0}[int(a[0])], [4]float64{0, 1, 0, -1}[int(a[0])]
	return [2][2]float64{{c, s}, {-s, c}}
}

func (g quarters) InverseAct(u lie.Element, q [2]float64) [2]float64 {
	m := g.Matrix(u)
	return [2]float64{m[0][0]*q[0] + m[1][0]*q[1], m[0][1]*q[0] + m[1][1]*q[1]}
}

func (quarters) InverseActGrad(lie.Element, [2]float64, [2]float64) lie.Vector {
	return lie.Vector{}
}

func (quarters) Coordinates() int { return 2 }

func (g quarters) Relative(dst []float64, u, v lie.Element) {
	m := g.Matrix(g.Product(g.Inverse(u), v))
	dst[0], dst[1] = m[0][0], m[0][1]
}

func (quarters) RelativeGrad([]float64, lie.Element, lie.Element) (du, dv lie.Vector) {
	return lie.Vector{}, lie.Vector{}
}

func (quarters) CheckGrid(n int) error {
	if n != 4 {
		return fmt.Errorf("%d elements; there are 4", n)
	}
	return nil
}

func (g quarters) Grid(n int) []lie.Element {
	if err := g.CheckGrid(n); err != nil {
		panic(&lie.Error{Op: "quarters.Grid", Problem: err.Error()})
	}
	return []lie.Element{{0}, {1}, {2}, {3}}
}

func (quarters) Haar(src lie.Source) lie.Element {
	return lie.Element{math.Floor(4 * src.Float64())}
}
