package lie

import "math"

// Affine is an element (x, u) of an affine group: the map p -> x + M(u) p of points
// (row, column), M(u) being Group.Matrix.
type Affine struct {
	X [2]float64 // translation, in the unit of the points
	H Element    // of the stabiliser
}

// AffineVector is an element of the Lie algebra of an affine group: what moves points by
// X + A p for each unit of time, A being the matrix in the Lie algebra of the stabiliser
// that H has coordinates of.
type AffineVector struct {
	X [2]float64
	H Vector
}

// AffineGroup is the affine group R^2 x| H of the stabiliser H, which is any Group:
//
//	(x, u) (x', u') = (x + M(u) x', u u')    (x, u)^-1 = (-M(u)^-1 x, u^-1)
//
// It is what networks are equivariant to as a whole. On the homogeneous coordinates
// (row, column, 1) of points, an element and a vector of the Lie algebra are the matrices
//
//	(x, u) = | M(u)  x |      (y, v) = | A(v)  y |
//	         |  0    1 |               |  0    0 |
//
// where A is linear and M(Exp(v)) = exp A(v); Group.InverseActGrad at the identity is
// its derivative. The exponential of the second is
//
//	Exp(y, v) = (V y, Exp(v)),    V = integral of exp(s A) ds over 0 <= s <= 1
//	                                = (exp A - 1) A^-1, where A has an inverse.
//
// V is the identity for v = 0, and so always on T(2). With w for an angle and t for the
// logarithm of a scale,
//
//	rotations, se(2):   V = | a  b |    a = sin w / w    b = (1 - cos w) / w
//	                        |-b  a |
//	scalings:           V = (exp t - 1) / t
//	both, sim(2):       V as of rotations, a + ib = (exp z - 1) / z    z = t + iw
//
// Of any other group, too, V is alpha + beta (A - tr A/2) with two numbers, by the theorem
// of Cayley and Hamilton. They are computed without cancellation, for small vectors too.
//
// The methods are pure and allocate nothing. They panic if H is nil.
type AffineGroup struct{ H Group }

// Product returns the element that acts as b first and as a then.
func (g AffineGroup) Product(a, b Affine) Affine {
	return Affine{g.Act(a, b.X), g.H.Product(a.H, b.H)}
}

// Inverse returns the inverse of a.
func (g AffineGroup) Inverse(a Affine) Affine {
	x := g.H.InverseAct(a.H, a.X)
	return Affine{[2]float64{-x[0], -x[1]}, g.H.Inverse(a.H)}
}

// Act returns the point that a takes p to.
func (g AffineGroup) Act(a Affine, p [2]float64) [2]float64 {
	q := Act(g.H, a.H, p)
	return [2]float64{a.X[0] + q[0], a.X[1] + q[1]}
}

// Matrix returns the matrix of a's action on (row, column, 1). It is a homomorphism.
func (g AffineGroup) Matrix(a Affine) [3][3]float64 {
	m := g.H.Matrix(a.H)
	return [3][3]float64{
		{m[0][0], m[0][1], a.X[0]},
		{m[1][0], m[1][1], a.X[1]},
		{0, 0, 1},
	}
}

// Exp returns where the vector v moves the identity to within a unit of time. Its H is that
// of Group.Exp. Angles of v need not lie in [-pi, pi).
func (g AffineGroup) Exp(v AffineVector) Affine {
	to, _ := phi1(g.generator(v.H))
	return Affine{apply(to, v.X), g.H.Exp(v.H)}
}

// Component returns the element c of a's connected component that Log is relative to: it
// has the coordinates of a on discrete axes, and zeros else. Of a group without
// discrete axes it is the identity.
func (g AffineGroup) Component(a Affine) (c Affine) {
	c.H = a.H
	for i, axis := range g.H.Axes() {
		if axis.Continuous() {
			c.H[i] = 0
		}
	}
	return c
}

// Log returns the v for which a = c Exp(v), c being Component(a). Its H is Group.Log(a.H), and
// so is the branch: angles lie in [-pi, pi), where V has an inverse. The turns of a finite
// group are part of c.
func (g AffineGroup) Log(a Affine) AffineVector {
	v := g.H.Log(a.H)
	_, back := phi1(g.generator(v))
	return AffineVector{apply(back, g.H.InverseAct(g.Component(a).H, a.X)), v}
}

// generator returns A(v). With the unit vectors e, its entry of row r and column c is
// <e_r, A e_c>, and -A is the derivative of InverseAct at the identity.
func (g AffineGroup) generator(v Vector) (a [2][2]float64) {
	unit := [2][2]float64{{1, 0}, {0, 1}}
	for r := range a {
		for c := range a[r] {
			d := g.H.InverseActGrad(Element{}, unit[c], unit[r])
			for i, axis := range g.H.Axes() {
				if axis.Continuous() {
					a[r][c] -= float64(d[i] * v[i])
				}
			}
		}
	}
	return a
}

// phi1 returns the integral V of exp(s a) over 0 <= s <= 1, and its inverse. It is the first
// of the phi functions of exponential integrators, (exp z - 1)/z, of a matrix.
//
// With t = tr a/2, the square of b = a - t is the number d = -det b. So V is alpha + beta b,
// where phi1 of the number t + sqrt(d), which is complex for d < 0, is alpha + beta sqrt(d).
func phi1(a [2][2]float64) (v, inverse [2][2]float64) {
	t, half := (a[0][0]+a[1][1])/2, (a[0][0]-a[1][1])/2
	b := [2][2]float64{{half, a[0][1]}, {a[1][0], -half}}
	d := float64(half*half) + float64(a[0][1]*a[1][0])
	root := math.Sqrt(math.Abs(d))
	var alpha, beta float64
	switch {
	case math.Abs(t)+root <= 1:
		alpha, beta = phi1Series(t, d)
	case root >= 0.25 && d > 0:
		return phi1Spectral(t, root, b)
	default:
		alpha, beta = phi1Closed(t, d, root)
	}
	det := float64(alpha*alpha) - float64(d*beta*beta) // of V
	return plus(alpha, beta, b), plus(alpha/det, -beta/det, b)
}

// phi1Series sums (t + b)^k / (k+1)! for b^2 = d. It is for |t| + sqrt|d| <= 1, where the
// first terms are the largest and the twentieth does not show.
func phi1Series(t, d float64) (alpha, beta float64) {
	alpha = 1
	for k := 20.0; k > 1; k-- {
		alpha, beta = 1+(float64(t*alpha)+float64(d*beta))/k, (alpha+float64(t*beta))/k
	}
	return alpha, beta
}

// phi1Closed is (exp(t + b) - 1) / (t + b), where t^2 - d is not small. The root is that of
// |d|.
func phi1Closed(t, d, root float64) (alpha, beta float64) {
	cosine, versine, sine := 1.0, 0.0, 1.0 // versine = 1 - cosine; the sine is divided by root
	switch {
	case d < 0:
		s, h := math.Sin(root), math.Sin(root/2)
		cosine, versine, sine = math.Cos(root), 2*h*h, s/root
	case d > 0:
		s, h := math.Sinh(root), math.Sinh(root/2)
		cosine, versine, sine = math.Cosh(root), -2*h*h, s/root
	}
	e, det := math.Exp(t), float64(t*t)-d
	f := float64(math.Expm1(t)*cosine) - versine // e cosine - 1
	alpha = (float64(t*f) - float64(e*d*sine)) / det
	beta = (float64(t*e*sine) - f) / det
	return alpha, beta
}

// phi1Spectral is phi1 by the projections (1 ± b/root)/2 to what the eigenvalues t ± root
// belong to. The two do not have to be of the same order of magnitude.
func phi1Spectral(t, root float64, b [2][2]float64) (v, inverse [2][2]float64) {
	p, q := phi(t+root), phi(t-root)
	first, second := plus(0.5, 0.5/root, b), plus(0.5, -0.5/root, b)
	for i := range v {
		for j := range v[i] {
			v[i][j] = float64(p*first[i][j]) + float64(q*second[i][j])
			inverse[i][j] = first[i][j]/p + second[i][j]/q
		}
	}
	return v, inverse
}

// phi is phi1 of a number.
func phi(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Expm1(x) / x
}

// plus returns the matrix alpha + beta b.
func plus(alpha, beta float64, b [2][2]float64) [2][2]float64 {
	return [2][2]float64{
		{alpha + float64(beta*b[0][0]), beta * b[0][1]},
		{beta * b[1][0], alpha + float64(beta*b[1][1])},
	}
}
