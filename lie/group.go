package lie

// Element holds the coordinates of an element of a stabiliser group: for SO(2)
// the angle in radians, [0, 2pi), in Element[0]. Coordinates that a group does
// not use are zero.
type Element [3]float64

// Vector holds coordinates in a Lie algebra, or a gradient with respect to
// them: d/dt f(g exp(t e_i)) in Vector[i]. The first Group.Dim() entries count.
type Vector [3]float64

// Group is the stabiliser H of the origin in an affine group R^2 x| H: what a
// network is equivariant to besides translations. All methods are pure, so a
// Group is safe for concurrent use.
//
// Offsets in the plane are (row, column).
type Group interface {
	// Name is the name of the affine group, such as "SE(2)".
	Name() string
	// Dim is the dimension of the Lie algebra of H.
	Dim() int
	// Extent bounds a box [-Extent, Extent] of the Lie algebra whose
	// exponential covers the identity component of H once: pi for SO(2).
	Extent() Vector

	Identity() Element
	Product(a, b Element) Element
	Inverse(a Element) Element
	Exp(v Vector) Element
	Log(a Element) Vector

	// Matrix returns the matrix of a's action on offsets.
	Matrix(a Element) [2][2]float64
	// InverseAct returns the action of the inverse of u on the offset q: where a
	// kernel that belongs to output element u is evaluated.
	InverseAct(u Element, q [2]float64) [2]float64
	// InverseActGrad returns the gradient with respect to u of
	// <dy, InverseAct(u, q)>.
	InverseActGrad(u Element, q, dy [2]float64) Vector

	// Coordinates is the number of values that Relative writes.
	Coordinates() int
	// Relative writes the coordinates of u^-1 v that a kernel network is fed.
	Relative(dst []float64, u, v Element)
	// RelativeGrad returns the gradients with respect to u and v of
	// <dx, Relative(u, v)>.
	RelativeGrad(dx []float64, u, v Element) (du, dv Vector)

	// Grid returns n elements that discretise H uniformly, the identity first.
	Grid(n int) []Element
	// Haar returns an element drawn from H by its Haar measure.
	Haar(src Source) Element
}

// Source yields uniform numbers in [0, 1).
type Source interface {
	Float64() float64
}
