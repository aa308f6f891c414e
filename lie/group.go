package lie

// MaxAxes is the largest number of coordinates that an element has.
const MaxAxes = 3

// Element holds the coordinates of an element of a stabiliser group, one for each
// of Group.Axes: for O(2) the angle in radians, [0, 2pi), in Element[0] and in
// Element[1] a 1 if it mirrors. Coordinates that a group does not use are zero.
// The zero Element is the identity of every group.
type Element [MaxAxes]float64

// Vector holds coordinates in a Lie algebra, or a gradient with respect to
// them: d/dt f(g exp(t e_i)) in Vector[i], where i counts Group.Axes. Entries of
// discrete axes are zero, since what cannot move has no gradient, save for what E2
// says of its sign.
type Vector [MaxAxes]float64

// Coordinates are what a kernel network is fed of two elements. The first
// Group.Coordinates() of them count, at most two for each axis.
type Coordinates [2 * MaxAxes]float64

// Counts is a number of elements for each of Group.Axes.
type Counts [MaxAxes]int

// Group is the stabiliser H of the origin in an affine group R^2 x| H: what a
// network is equivariant to besides translations. All methods are pure, so a
// Group is safe for concurrent use.
//
// H is a union of finitely many connected components, each a translate of the
// identity component H0, and its elements are stored so that this shows. Every
// element is a = c Exp(v) for one c that is zero on the continuous axes and one
// v that is zero on the discrete ones, and has the entries of both: those of c,
// and those of v modulo the period of their axis. H0 must be commutative,
// so that Exp(v+w) = Exp(v) Exp(w) and a gradient in the sense of Vector is the
// gradient with respect to v. Rotations, scalings and their products are; this
// is what lets a sampler treat each axis by itself.
//
// A type that embeds a Chart has all methods but the seven that Chart does not
// know: Product, Inverse, Matrix, InverseAct, InverseActGrad, Relative and
// RelativeGrad.
//
// Offsets in the plane are (row, column).
type Group interface {
	// Name is the name of the affine group, such as "SE(2)", where it has one,
	// or else that of the stabiliser, such as "C4". ByName is its inverse for the
	// groups of this package.
	Name() string
	// Axes describes the coordinates of elements, at most MaxAxes. The slice is
	// the group's own: it must not be written to.
	Axes() []Axis
	// Dim is the dimension of the Lie algebra of H, the number of continuous
	// axes. A group of dimension zero is finite.
	Dim() int
	// Components is the number of connected components of H, the product of the
	// orders of the discrete axes.
	Components() int

	Product(a, b Element) Element
	Inverse(a Element) Element
	// Exp returns the element of H0 at v.
	Exp(v Vector) Element
	// Log returns the v for which a = c Exp(v), where c is a with zeros on the
	// continuous axes. The branch: v[i] lies in [-pi, pi) where axis i is a
	// circle, and is all of the line where it is a line.
	Log(a Element) Vector

	// Matrix returns the matrix of a's action on offsets. It is a homomorphism:
	// Matrix(ab) = Matrix(a) Matrix(b).
	Matrix(a Element) [2][2]float64
	// InverseAct returns the action of the inverse of u on the offset q: where a
	// kernel that belongs to output element u is evaluated. Act is the action
	// itself.
	InverseAct(u Element, q [2]float64) [2]float64
	// InverseActGrad returns the gradient with respect to u of
	// <dy, InverseAct(u, q)>.
	InverseActGrad(u Element, q, dy [2]float64) Vector

	// Coordinates is the number of values that Relative returns.
	Coordinates() int
	// Relative returns the coordinates of u^-1 v that a kernel network is fed:
	// one for each axis, or as Periodic says.
	Relative(u, v Element) Coordinates
	// RelativeGrad returns the gradients with respect to u and v of
	// <dx, Relative(u, v)>.
	RelativeGrad(dx Coordinates, u, v Element) (du, dv Vector)

	// Split says how many elements each axis has in a grid of n: all that there
	// are on a discrete axis, and on the continuous ones numbers as equal as the
	// divisors of n allow, the larger first. The error says which n are allowed.
	Split(n int) (Counts, error)
	// Grid returns n elements that discretise H (its sampled part, where it is
	// not compact) uniformly, the identity among them; it is the first of them
	// when H is compact. The first axis varies fastest. It panics with *Error
	// where Split returns an error.
	Grid(n int) []Element
	// Haar returns an element drawn from H by its Haar measure, restricted to
	// the sampled part where H is not compact. It takes one number from src for
	// each axis, in order.
	Haar(src Source) Element
}

// Source yields uniform numbers in [0, 1), as a *rand.Rand of math/rand/v2 does.
type Source interface {
	Float64() float64
}

// Act returns the action of a on the offset q, Matrix(a) q.
func Act(g Group, a Element, q [2]float64) [2]float64 { return apply(g.Matrix(a), q) }

// apply returns m x.
func apply(m [2][2]float64, x [2]float64) [2]float64 {
	return [2]float64{
		float64(m[0][0]*x[0]) + float64(m[0][1]*x[1]),
		float64(m[1][0]*x[0]) + float64(m[1][1]*x[1]),
	}
}

// Error is what this package panics with on programmer error. Op names the
// function or method.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "lie: " + e.Op + ": " + e.Problem }
