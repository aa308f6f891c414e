package lie

import (
	"fmt"
	"math"
)

// Cyclic returns the group of translations of the plane and of the n rotations by
// multiples of 2pi/n, "Cn" such as "C4". An element is the number k of turns, 0 to
// n-1, and acts as the angle 2pi k/n does in SE2; quarter turns are exact. The kernel
// network is fed that angle as in SE2. Cyclic(1) is T2.
//
// It panics with *Error unless 1 <= n <= 65536.
func Cyclic(n int) Group {
	checkOrder("Cyclic", n)
	if n == 1 {
		return T2
	}
	return newTurns(n)
}

func newTurns(n int) turns {
	return turns{NewChart(fmt.Sprintf("C%d", n), Axis{Kind: Turns, Order: n}), float64(n)}
}

func checkOrder(op string, n int) {
	if n < 1 || n > maxOrder {
		panic(&Error{op, fmt.Sprintf("%d rotations; 1 to %d are allowed", n, maxOrder)})
	}
}

// turns is the cyclic group of that order.
type turns struct {
	*Chart
	order float64
}

func (g turns) Product(a, b Element) Element {
	k := a[0] + b[0]
	if k >= g.order {
		k -= g.order
	}
	return Element{k}
}

func (g turns) Inverse(a Element) Element {
	if a[0] == 0 {
		return a
	}
	return Element{g.order - a[0]}
}

// between returns a^-1 b.
func (g turns) between(a, b Element) Element { return g.Product(g.Inverse(a), b) }

// sincos returns the sine and the cosine of the angle of a, without rounding where
// it is a multiple of a right angle.
func (g turns) sincos(a Element) (s, c float64) {
	quarters := math.Floor(4 * a[0] / g.order)
	s, c = math.Sincos(math.Pi / 2 * (4*a[0] - quarters*g.order) / g.order)
	switch quarters { // 0 - s, because -s could be the negative zero
	case 1:
		return c, 0 - s
	case 2:
		return 0 - s, -c
	case 3:
		return -c, s
	}
	return s, c
}

func (g turns) Matrix(a Element) [2][2]float64 {
	s, c := g.sincos(a)
	return [2][2]float64{{c, s}, {-s, c}}
}

func (g turns) InverseAct(u Element, q [2]float64) [2]float64 {
	s, c := g.sincos(u)
	return turnBack(s, c, q)
}

func (turns) InverseActGrad(Element, [2]float64, [2]float64) Vector { return Vector{} }

func (g turns) Relative(u, v Element) Coordinates { return g.Embed(g.between(u, v)) }

func (turns) RelativeGrad(Coordinates, Element, Element) (du, dv Vector) { return Vector{}, Vector{} }
