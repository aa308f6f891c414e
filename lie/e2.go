package lie

import "fmt"

// E2 is the group of translations, rotations and reflections of the plane. Its
// stabiliser is O(2): an element is (angle, m), the angle as in SE2 and m = 1 if the
// element mirrors, else 0. With s = 1 - 2m, the published implementation's ±1,
//
//	(a, m) (b, p) = (b + s_p a, m xor p)    (a, m)^-1 = (-s_m a, m)
//
// Such an element turns by a first and mirrors then: the matrix of its action is
// diag(1, s) [[cos a, sin a], [-sin a, cos a]].
//
// The kernel network is fed the angle of u^-1 v as in SE2, then its sign s.
//
// A gradient has, in the place of the flip, the derivative with respect to s, as if s
// could be any number in the formulas below. The published implementation learns from
// it; nothing else should.
var E2 Group = orthogonal{mirrored{NewChart("E(2)", Axis{Kind: Circle}, Axis{Kind: Flip}), so2}}

// O2 is E2, by the name of its stabiliser, which is what a factor of a product is.
var O2 = E2

// Dihedral returns the group of translations of the plane, the n rotations by
// multiples of 2pi/n, and the n reflections that come of them: "Dn" such as "D4". An
// element is (k, m) with k as in Cyclic and m as in E2, of which it is a subgroup.
//
// It panics with *Error unless 1 <= n <= 65536.
func Dihedral(n int) Group {
	checkOrder("Dihedral", n)
	c := NewChart(fmt.Sprintf("D%d", n), Axis{Kind: Turns, Order: n}, Axis{Kind: Flip})
	return mirrored{c, newTurns(n)}
}

// mirrored is a group of rotations and the reflections that come of them, by
// r m = m r^-1 for the mirror m: an element (r, m) is first the rotation, then the
// mirror.
type mirrored struct {
	*Chart
	rotations interface { // on one axis
		Product(a, b Element) Element
		Inverse(a Element) Element
		between(a, b Element) Element
		Matrix(a Element) [2][2]float64
		InverseAct(u Element, q [2]float64) [2]float64
		InverseActGrad(u Element, q, dy [2]float64) Vector
	}
}

// rotation returns the rotation of a.
func rotation(a Element) Element { return Element{a[0]} }

func (g mirrored) Product(a, b Element) Element {
	var r Element
	if b[1] != 0 {
		r = g.rotations.between(rotation(a), rotation(b))
	} else {
		r = g.rotations.Product(rotation(a), rotation(b))
	}
	return Element{r[0], flips(a[1], b[1])}
}

func (g mirrored) Inverse(a Element) Element {
	if a[1] != 0 {
		return a
	}
	return g.rotations.Inverse(a)
}

func (g mirrored) Matrix(a Element) [2][2]float64 {
	m := g.rotations.Matrix(rotation(a))
	m[1][0] *= sign(a[1])
	m[1][1] *= sign(a[1])
	return m
}

func (g mirrored) InverseAct(u Element, q [2]float64) [2]float64 {
	return g.rotations.InverseAct(rotation(u), [2]float64{q[0], sign(u[1]) * q[1]})
}

func (g mirrored) InverseActGrad(u Element, q, dy [2]float64) Vector {
	return g.rotations.InverseActGrad(rotation(u), [2]float64{q[0], sign(u[1]) * q[1]}, dy)
}

// Relative follows (a, m)^-1 (b, p) = (b - s_m s_p a, m xor p) rather than Inverse and
// Product, to round the angle once, as the rotations do.
func (g mirrored) Relative(u, v Element) Coordinates {
	w := Element{0, flips(u[1], v[1])}
	if w[1] != 0 {
		w[0] = g.rotations.Product(rotation(u), rotation(v))[0]
	} else {
		w[0] = g.rotations.between(rotation(u), rotation(v))[0]
	}
	return g.Embed(w)
}

func (g mirrored) RelativeGrad(dx Coordinates, u, v Element) (du, dv Vector) {
	dv = g.EmbedGrad(dx)
	return Vector{-sign(flips(u[1], v[1])) * dv[0]}, dv
}

// orthogonal is the group O(2): mirrored, with gradients for the sign s of an element
// (a, m). Its inverse is then (-s a, s), which acts as diag(1, s) [[cos a', sin a'],
// [-sin a', cos a']] with a' = -s a, and takes (b, p) to (b - p s a, p s).
type orthogonal struct{ mirrored }

func (g orthogonal) InverseActGrad(u Element, q, dy [2]float64) Vector {
	du := g.mirrored.InverseActGrad(u, q, dy)
	y := g.InverseAct(u, q)
	du[1] = sign(u[1]) * (float64(dy[1]*y[1]) + float64(u[0]*du[0]))
	return du
}

func (g orthogonal) RelativeGrad(dx Coordinates, u, v Element) (du, dv Vector) {
	du, dv = g.mirrored.RelativeGrad(dx, u, v)
	d := dx[1] - float64(u[0]*dv[0])
	du[1], dv[1] = sign(v[1])*d, sign(u[1])*d
	return du, dv
}
