// Package lie describes the groups that networks are equivariant to.
//
// A network here works on an affine group G = R^2 x| H: translations of the
// plane and a stabiliser H of the origin, such as the rotations SO(2). A Group
// is H with all that a group convolution asks of it:
//
//   - the group itself: Product, Inverse, and Exp and Log between H and its Lie
//     algebra;
//   - its action on offsets in the plane: Matrix, a homomorphism, so that
//     Matrix(ab) = Matrix(a) Matrix(b), and InverseAct, which evaluates a kernel
//     that belongs to an element u at u^-1 q;
//   - the coordinates of u^-1 v that a kernel network is fed: Relative;
//   - lists of elements: Grid, uniform, and Haar, random.
//
// InverseActGrad and RelativeGrad are the derivatives that carry the gradient of
// a loss back to the elements, and from there to a learned subset of H.
// Gradients with respect to an element are taken in the Lie algebra: component i
// is d/dt f(g exp(t e_i)) at t = 0.
//
// AffineGroup is the whole of R^2 x| H: its product, its action on points and its 3 x 3
// matrices, and its Exp and Log, which the interface Group is enough for.
//
// Elements and vectors are small arrays of float64. Angles are in radians.
// Nothing here allocates but Grid and what makes groups.
//
// The groups are T2, SE2, E2, Mirror, those of Cyclic and Dihedral, RPlus and
// Scalings, Sim2, and what DirectProduct and Periodic make of them. ByName finds
// them by text.
//
// A further group is a further file, in this package or in another: a type that embeds
// a Chart, which says what axes its elements have coordinates on, with the seven
// methods that a Chart does not have. docs/adding-a-group.md walks through one.
package lie
