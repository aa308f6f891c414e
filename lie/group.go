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
// H is a union of finitely many connected components, each a translate of the
// identity component H0: every element is Component(i) Exp(v) for one i and a v
// in the box of Extent. A finite group is all components and no algebra (Dim is
// zero); a connected group has one component. H0 must be commutative, so that
// Exp(v+w) = Exp(v) Exp(w) and a gradient in the sense of Vector is the gradient
// with respect to v. Rotations, scalings and their products are; this is what
// lets a sampler treat v as plain coordinates.
//
// Offsets in the plane are (row, column).
type Group interface {
	// Name is the name of the affine group, such as "SE(2)".
	Name() string
	// Dim is the dimension of the Lie algebra of H.
	Dim() int
	// Extent bounds a box [-Extent, Extent] of the Lie algebra. When Compact,
	// its exponential covers H0 once (opposite faces coincide): pi for SO(2).
	// Otherwise it is the part of H0 that is sampled, such as log 2 for
	// scalings between one half and two.
	Extent() Vector
	// Compact reports whether H is compact.
	Compact() bool
	// Components is the number of connected components of H.
	Components() int
	// Component returns the element that stands for component i, 0 <= i <
	// Components(). Component(0) is the identity.
	Component(i int) Element

	Identity() Element
	Product(a, b Element) Element
	Inverse(a Element) Element
	// Exp returns the element of H0 at v.
	Exp(v Vector) Element
	// Log returns the v in the box of Extent, [-Extent, Extent) when Compact,
	// for which a = Component(i) Exp(v).
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
	// len(dst) is at least Coordinates().
	Relative(dst []float64, u, v Element)
	// RelativeGrad returns the gradients with respect to u and v of
	// <dx, Relative(u, v)>.
	RelativeGrad(dx []float64, u, v Element) (du, dv Vector)

	// CheckGrid returns nil when Grid(n) exists, and otherwise an error that
	// says which n are allowed.
	CheckGrid(n int) error
	// Grid returns n elements that discretise H (its sampled part, when it is
	// not compact) uniformly, the identity among them; the first of them when
	// Compact. It panics with *Error where CheckGrid returns an error.
	Grid(n int) []Element
	// Haar returns an element drawn from H by its Haar measure, restricted to
	// the sampled part when H is not compact.
	Haar(src Source) Element
}

// Source yields uniform numbers in [0, 1).
type Source interface {
	Float64() float64
}

// Error is what this package panics with on programmer error. Op names the
// method.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "lie: " + e.Op + ": " + e.Problem }
