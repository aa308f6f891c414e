package lie

// Mirror is the group of translations of the plane and of its reflection from
// left to right. An element is 1 if it mirrors, else 0.
//
// The action of the mirror on offsets (row, column) has the matrix diag(1, -1).
// The kernel network is fed the sign, 1 or -1.
var Mirror Group = reflections{NewChart("mirror", Axis{Kind: Flip})}

// reflections is the group of the identity and one reflection.
type reflections struct{ *Chart }

// sign returns -1 for a flip m of 1, and 1 for 0.
func sign(m float64) float64 { return 1 - 2*m }

// flips returns the product of two flips.
func flips(a, b float64) float64 {
	if a == b {
		return 0
	}
	return 1
}

func (reflections) Product(a, b Element) Element { return Element{flips(a[0], b[0])} }
func (reflections) Inverse(a Element) Element    { return a }

func (reflections) Matrix(a Element) [2][2]float64 { return [2][2]float64{{1, 0}, {0, sign(a[0])}} }

func (reflections) InverseAct(u Element, q [2]float64) [2]float64 {
	return [2]float64{q[0], sign(u[0]) * q[1]}
}

func (reflections) InverseActGrad(Element, [2]float64, [2]float64) Vector { return Vector{} }

func (g reflections) Relative(u, v Element) Coordinates { return g.Embed(g.Product(u, v)) }

func (reflections) RelativeGrad(Coordinates, Element, Element) (du, dv Vector) {
	return Vector{}, Vector{}
}
