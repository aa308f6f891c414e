package lie_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

type (
	matrix2 = [2][2]float64
	matrix3 = [3][3]float64
)

var (
	one     = matrix2{{1, 0}, {0, 1}}
	quarter = matrix2{{0, 1}, {-1, 0}}
)

// flow is the group of exp(t a) for all t, as an example of what a group defined outside
// can be.
type flow struct {
	*lie.Chart
	a matrix2
}

func newFlow(name string, extent float64, a matrix2) *flow {
	return &flow{lie.NewChart(name, lie.Axis{Kind: lie.Line, Extent: extent}), a}
}

func (*flow) Product(a, b lie.Element) lie.Element { return lie.Element{a[0] + b[0]} }
func (*flow) Inverse(a lie.Element) lie.Element    { return lie.Element{-a[0]} }

// Matrix follows (a - tr a/2)^2 = d.
func (g *flow) Matrix(e lie.Element) matrix2 {
	a := scaled(g.a, e[0])
	mean, half := (a[0][0]+a[1][1])/2, (a[0][0]-a[1][1])/2
	d := half*half + a[0][1]*a[1][0]
	root := math.Sqrt(math.Abs(d))
	sine, cosine := 1.0, 1.0
	switch {
	case d > 0:
		sine, cosine = math.Sinh(root)/root, math.Cosh(root)
	case d < 0:
		sine, cosine = math.Sin(root)/root, math.Cos(root)
	}
	return scaled(matrix2{{cosine + sine*half, sine * a[0][1]}, {sine * a[1][0], cosine - sine*half}}, math.Exp(mean))
}

func (g *flow) InverseAct(u lie.Element, q [2]float64) [2]float64 {
	return times(g.Matrix(g.Inverse(u)), q)
}

func (g *flow) InverseActGrad(u lie.Element, q, dy [2]float64) lie.Vector {
	y := times(g.a, g.InverseAct(u, q))
	return lie.Vector{-dy[0]*y[0] - dy[1]*y[1]}
}

func (g *flow) Relative(u, v lie.Element) lie.Coordinates { return g.Embed(lie.Element{v[0] - u[0]}) }

func (g *flow) RelativeGrad(dx lie.Coordinates, _, _ lie.Element) (du, dv lie.Vector) {
	d := g.EmbedGrad(dx)
	return lie.Vector{-d[0]}, d
}

func scaled(a matrix2, s float64) matrix2 {
	return matrix2{{s * a[0][0], s * a[0][1]}, {s * a[1][0], s * a[1][1]}}
}

func times(a matrix2, x [2]float64) [2]float64 {
	return [2]float64{a[0][0]*x[0] + a[0][1]*x[1], a[1][0]*x[0] + a[1][1]*x[1]}
}

// affineCase is a group with what its axes are by definition: the derivative of Matrix along each
// that is continuous.
type affineCase struct {
	lie.Group
	basis []matrix2
}

// affineCases are the groups of the table, and flows of each kind that a matrix can be.
func affineCases() []affineCase {
	var list []affineCase
	for _, row := range table {
		c := affineCase{Group: row.group}
		for _, axis := range row.group.Axes() {
			switch {
			case row.group == Shears:
				c.basis = append(c.basis, matrix2{{0, 0}, {1, 0}})
			case axis.Kind == lie.Circle:
				c.basis = append(c.basis, quarter)
			case axis.Kind == lie.Line:
				c.basis = append(c.basis, one)
			default:
				c.basis = append(c.basis, matrix2{})
			}
		}
		list = append(list, c)
	}
	for _, g := range []*flow{
		newFlow("squeezes", 0.6, matrix2{{1, 0}, {0, -1}}),
		newFlow("skewed squeezes", 0.6, matrix2{{1, 3}, {0, -1}}),
		newFlow("hyperbolic rotations", 0.6, matrix2{{0, 2}, {0.5, 0}}),
		newFlow("stretches of a row", 0.6, matrix2{{1, 0}, {0, 0}}),
		newFlow("elliptic rotations", 0.5, matrix2{{0.3, 1.7}, {-1, -0.3}}),
		newFlow("spirals", 0.4, matrix2{{0.8, 2}, {-1, 0.2}}),
		newFlow("nearly shears", 0.6, matrix2{{1e-9, 1}, {0, -1e-9}}),
		newFlow("nearly shears that turn", 0.6, matrix2{{0, 1}, {-1e-12, 0}}),
		newFlow("shears that grow", 0.5, matrix2{{1, 2}, {0, 1}}),
	} {
		list = append(list, affineCase{g, []matrix2{g.a}})
		if slices.Contains([]string{"squeezes", "shears that grow", "elliptic rotations"}, g.Name()) {
			list = append(list, affineCase{lie.DirectProduct(g, lie.RPlus), []matrix2{g.a, one}})
		}
	}
	return list
}

func everyAffine(t *testing.T, test func(t *testing.T, g lie.AffineGroup, c affineCase, src *stream.Stream)) {
	for _, c := range affineCases() {
		t.Run(c.Name(), func(t *testing.T) { test(t, lie.AffineGroup{H: c.Group}, c, stream.New(1, t.Name(), 0)) })
	}
}

// generator returns the matrix of an element of the Lie algebra.
func generator(a matrix2, x [2]float64) matrix3 {
	return matrix3{{a[0][0], a[0][1], x[0]}, {a[1][0], a[1][1], x[1]}}
}

func (c affineCase) generator(v lie.AffineVector) matrix3 {
	var a matrix2
	for i, b := range c.basis {
		for r := range a {
			for k := range a[r] {
				a[r][k] += v.H[i] * b[r][k]
			}
		}
	}
	return generator(a, v.X)
}

func matMul3(a, b matrix3) (c matrix3) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func distance3(a, b matrix3) (d float64) {
	for i := range 3 {
		for j := range 3 {
			d = max(d, math.Abs(a[i][j]-b[i][j]))
		}
	}
	return d
}

// norm returns the largest entry.
func norm(a matrix3) float64 { return distance3(a, matrix3{}) }

// series returns exp a as the power series of a part of it, squared as often as needed.
func series(a matrix3) matrix3 {
	squarings, scale := 0, 1.0
	for norm(a)*scale > 0.1 {
		squarings, scale = squarings+1, scale/2
	}
	for i := range 3 {
		for j := range 3 {
			a[i][j] *= scale
		}
	}
	var sum matrix3             // of exp a - 1, which loses no digits to the 1
	for k := 16.0; k > 0; k-- { // sum = a/k (1 + sum)
		for i := range 3 {
			sum[i][i]++
		}
		sum = matMul3(a, sum)
		for i := range 3 {
			for j := range 3 {
				sum[i][j] /= k
			}
		}
	}
	for range squarings {
		square := matMul3(sum, sum)
		for i := range 3 {
			for j := range 3 {
				sum[i][j] = 2*sum[i][j] + square[i][j]
			}
		}
	}
	for i := range 3 {
		sum[i][i]++
	}
	return sum
}

func haarAffine(g lie.AffineGroup, src lie.Source) lie.Affine {
	return lie.Affine{X: point(src), H: g.H.Haar(src)}
}

func algebraAffine(g lie.AffineGroup, src lie.Source) lie.AffineVector {
	return lie.AffineVector{X: point(src), H: algebra(g.H, src)}
}

// near compares points of some size.
func near(x, y [2]float64, size float64) bool {
	return math.Abs(x[0]-y[0]) <= size && math.Abs(x[1]-y[1]) <= size
}

// sameAffine reports whether two elements are equal up to rounding, of translations of some
// size.
func sameAffine(g lie.AffineGroup, a, b lie.Affine, size float64) bool {
	return same(g.H, a.H, b.H) && near(a.X, b.X, 1e-14*size)
}

func TestAffineAxioms(t *testing.T) {
	everyAffine(t, func(t *testing.T, g lie.AffineGroup, _ affineCase, src *stream.Stream) {
		var e lie.Affine
		for range cases {
			a, b, c := haarAffine(g, src), haarAffine(g, src), haarAffine(g, src)
			left, right := g.Product(g.Product(a, b), c), g.Product(a, g.Product(b, c))
			size := 10 * norm(g.Matrix(a)) * norm(g.Matrix(b)) * norm(g.Matrix(c))
			if !sameAffine(g, left, right, size) {
				t.Fatalf("(%v %v) %v = %v, but with the other brackets %v", a, b, c, left, right)
			}
			if g.Product(a, e) != a || g.Product(e, a) != a {
				t.Fatalf("%v times the identity is %v and %v", a, g.Product(a, e), g.Product(e, a))
			}
			back := g.Inverse(a)
			size = 10 * norm(g.Matrix(a)) * norm(g.Matrix(back))
			if !sameAffine(g, g.Product(a, back), e, size) || !sameAffine(g, g.Product(back, a), e, size) {
				t.Fatalf("%v has no inverse in %v", a, back)
			}
		}
	})
}

func TestAffineMatrixAndAction(t *testing.T) {
	everyAffine(t, func(t *testing.T, g lie.AffineGroup, _ affineCase, src *stream.Stream) {
		for range cases {
			a, b, p := haarAffine(g, src), haarAffine(g, src), point(src)
			m, n := g.Matrix(a), g.Matrix(b)
			size := 20 * norm(m) * norm(n)
			if d := distance3(g.Matrix(g.Product(a, b)), matMul3(m, n)); d > 1e-14*size {
				t.Fatalf("the matrix of %v %v is off the product of matrices by %v", a, b, d)
			}
			if x, y := g.Act(g.Product(a, b), p), g.Act(a, g.Act(b, p)); !near(x, y, 1e-14*size) {
				t.Fatalf("(ab) p = %v, a (b p) = %v for a = %v, b = %v, p = %v", x, y, a, b, p)
			}
			x := g.Act(a, p)
			if want := (matMul3(m, matrix3{{p[0]}, {p[1]}, {1}})); !near(x, [2]float64{want[0][0], want[1][0]}, 1e-14*size) {
				t.Fatalf("%v takes %v to %v, its matrix to %v", a, p, x, want)
			}
		}
	})
}

// Exp is the power series of the matrix exponential, and a homomorphism along a line.
func TestAffineExp(t *testing.T) {
	everyAffine(t, func(t *testing.T, g lie.AffineGroup, c affineCase, src *stream.Stream) {
		for range cases {
			v := algebraAffine(g, src)
			want := series(c.generator(v))
			if d := distance3(g.Matrix(g.Exp(v)), want); d > 3e-14*norm(want) {
				t.Fatalf("exp %v has the matrix %v, by the series %v", v, g.Matrix(g.Exp(v)), want)
			}
			s, r := uniform(src, -1, 1), uniform(src, -1, 1)
			part := func(s float64) lie.Affine {
				w := lie.AffineVector{X: [2]float64{s * v.X[0], s * v.X[1]}}
				for i := range w.H {
					w.H[i] = s * v.H[i]
				}
				return g.Exp(w)
			}
			both, product := part(s+r), g.Product(part(s), part(r))
			if size := norm(g.Matrix(part(s))) * norm(g.Matrix(part(r))); !sameAffine(g, both, product, 20*size) {
				t.Fatalf("exp (%v + %v)v = %v, but the product is %v for v = %v", s, r, both, product, v)
			}
		}
	})
}

// Log is the inverse of Exp on its branch, and an element is its component's times Exp of
// its Log.
func TestAffineLog(t *testing.T) {
	everyAffine(t, func(t *testing.T, g lie.AffineGroup, _ affineCase, src *stream.Stream) {
		for range cases {
			v := algebraAffine(g, src)
			a := g.Exp(v)
			if c := g.Component(a); c != (lie.Affine{}) {
				t.Fatalf("%v is in the component of %v", a, c)
			}
			// What rounding does to a is seen through the inverse.
			size := 10 * norm(g.Matrix(a)) * norm(g.Matrix(g.Inverse(a)))
			got := g.Log(a)
			for i := range got.H {
				if !(math.Abs(got.H[i]-v.H[i]) <= 1e-14) {
					t.Fatalf("log exp %v = %v", v, got)
				}
			}
			if !near(got.X, v.X, 1e-14*size) {
				t.Fatalf("log exp %v = %v", v, got)
			}
			a = haarAffine(g, src)
			c := g.Component(a)
			for i, axis := range g.H.Axes() {
				if want := a.H[i]; axis.Continuous() && c.H[i] != 0 || !axis.Continuous() && c.H[i] != want {
					t.Fatalf("%v is in the component of %v", a, c)
				}
			}
			l := g.Log(a)
			if l.H != g.H.Log(a.H) {
				t.Fatalf("log %v = %v, in the stabiliser %v", a, l, g.H.Log(a.H))
			}
			size = 10 * norm(g.Matrix(a)) * norm(g.Matrix(g.Inverse(a)))
			if back := g.Product(c, g.Exp(l)); c.X != [2]float64{} || !sameAffine(g, back, a, size) {
				t.Fatalf("%v is not %v exp %v, which is %v", a, c, l, back)
			}
		}
	})
}

// The closed forms of the documentation, down to vectors so small that 1 - cos w is 0 in
// float64.
func TestAffineClosedForms(t *testing.T) {
	se2, sim2, scalings, plane := lie.AffineGroup{H: lie.SE2}, lie.AffineGroup{H: lie.Sim2}, lie.AffineGroup{H: lie.RPlus}, lie.AffineGroup{H: lie.T2}
	first, second := [2]float64{1, 0}, [2]float64{0, 1}
	src := stream.New(1, t.Name(), 0)
	close := func(what string, w, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 2e-15*math.Abs(want)) {
			t.Errorf("%s at %v: %v, want %v", what, w, got, want)
		}
	}
	for exponent := -300; exponent <= 0; exponent += 4 {
		for range 20 {
			w := uniform(src, -3, 3) * math.Pow(10, float64(exponent))
			half := math.Sin(w/2) / (w / 2)
			x := se2.Exp(lie.AffineVector{X: first, H: lie.Vector{w}}).X
			close("sin w/w", w, x[0], math.Sin(w)/w)
			close("-(1 - cos w)/w", w, x[1], -half*half*w/2)
			y := se2.Exp(lie.AffineVector{X: second, H: lie.Vector{w}}).X
			close("(1 - cos w)/w", w, y[0], half*half*w/2)
			close("sin w/w", w, y[1], math.Sin(w)/w)
			close("(exp t - 1)/t", w, scalings.Exp(lie.AffineVector{X: first, H: lie.Vector{w}}).X[0], math.Expm1(w)/w)
			z := sim2.Exp(lie.AffineVector{X: first, H: lie.Vector{0, w}}).X
			close("sim(2) without a rotation", w, z[0], math.Expm1(w)/w)
			if z[1] != 0 {
				t.Errorf("sim(2) without a rotation at %v turns by %v", w, z[1])
			}
			if z := sim2.Exp(lie.AffineVector{X: first, H: lie.Vector{w}}); z.X != x {
				t.Errorf("sim(2) without a scaling at %v: %v, want %v", w, z.X, x)
			}
		}
	}
	// The vector back is as exact.
	for _, w := range []float64{0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-3, 0.7, 1, 1.1, 3, math.Nextafter(math.Pi, 0), -math.Pi} {
		v := lie.AffineVector{X: [2]float64{1, -2}, H: lie.Vector{w}}
		if got := se2.Log(se2.Exp(v)); got.H != v.H || !near(got.X, v.X, 3e-15) {
			t.Errorf("log exp %v = %v", v, got)
		}
	}
	v := lie.AffineVector{X: [2]float64{3, 4}}
	if got := plane.Exp(v); got != (lie.Affine{X: v.X}) || plane.Log(got) != v {
		t.Errorf("exp %v = %v in T(2)", v, got)
	}
	// Turns of a finite group are part of the component.
	c4 := lie.AffineGroup{H: lie.Cyclic(4)}
	a := lie.Affine{X: [2]float64{3, 4}, H: lie.Element{1}}
	if got, c := c4.Log(a), c4.Component(a); got.X != [2]float64{-4, 3} || c4.Product(c, c4.Exp(got)) != a {
		t.Errorf("log %v = %v behind %v", a, got, c)
	}
	// In the mirrored component, the mirror acts last.
	e2 := lie.AffineGroup{H: lie.E2}
	a = lie.Affine{X: [2]float64{3, 4}, H: lie.Element{0, 1}}
	if got := e2.Log(a); got != (lie.AffineVector{X: [2]float64{3, -4}}) {
		t.Errorf("log %v = %v", a, got)
	}
}

// bigSeries returns V of the matrix a, entry by entry exact.
func bigSeries(a matrix2) (v matrix2) {
	const precision, terms = 400, 160
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	var power, sum [2][2]*big.Float
	for i := range 2 {
		for j := range 2 {
			power[i][j], sum[i][j] = number(one[i][j]), number(one[i][j])
		}
	}
	for k := 2; k < terms; k++ { // a^(k-1) / k!
		var next [2][2]*big.Float
		for i := range 2 {
			for j := range 2 {
				next[i][j] = number(0)
				for l := range 2 {
					next[i][j].Add(next[i][j], number(0).Mul(power[i][l], number(a[l][j])))
				}
				next[i][j].Quo(next[i][j], number(float64(k)))
				sum[i][j].Add(sum[i][j], next[i][j])
			}
		}
		power = next
	}
	for i := range 2 {
		for j := range 2 {
			v[i][j], _ = sum[i][j].Float64()
		}
	}
	return v
}

// V is right to the last digits for matrices of any kind and size, and so is its inverse:
// small and large, on both sides of where two eigenvalues meet, and where one is zero.
func TestAffineOfAnyMatrix(t *testing.T) {
	src := stream.New(1, t.Name(), 0)
	kinds := map[string]func() matrix2{
		"any": func() matrix2 {
			return matrix2{{src.Normal(), src.Normal()}, {src.Normal(), src.Normal()}}
		},
		"spirals":           func() matrix2 { t, w := src.Normal(), src.Normal(); return matrix2{{t, w}, {-w, t}} },
		"squeezes":          func() matrix2 { t, s := src.Normal(), src.Normal(); return matrix2{{t + s, 0}, {0, t - s}} },
		"of one eigenvalue": func() matrix2 { t := src.Normal(); return matrix2{{t, src.Normal()}, {0, t}} },
		"of nearly one": func() matrix2 {
			t, off := src.Normal(), math.Pow(10, uniform(src, -18, -1))
			return matrix2{{t, 1}, {off * float64(src.IntN(3)-1), t}}
		},
		"of an eigenvalue of nearly zero": func() matrix2 {
			t, off := src.Normal(), math.Pow(10, uniform(src, -18, -1))
			return matrix2{{t, src.Normal()}, {0, off * t}}
		},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			worst := [2]float64{}
			for range 400 {
				a := scaled(kind(), math.Pow(10, uniform(src, -12, 1)))
				size := 0.0
				for i := range 2 {
					for j := range 2 {
						size = max(size, math.Abs(a[i][j]))
					}
				}
				if size > 10 {
					continue
				}
				g := lie.AffineGroup{H: newFlow(name, 1, a)}
				want := bigSeries(a)
				var got, back matrix2
				for j, unit := range [][2]float64{{1, 0}, {0, 1}} {
					x := g.Exp(lie.AffineVector{X: unit, H: lie.Vector{1}}).X
					y := g.Log(lie.Affine{X: times(want, unit), H: lie.Element{1}}).X
					for i := range 2 {
						got[i][j], back[i][j] = x[i], y[i]
					}
				}
				largest := distance(want, matrix2{})
				det := want[0][0]*want[1][1] - want[0][1]*want[1][0]
				worst[0] = max(worst[0], distance(got, want)/largest)
				// Of the inverse, the rounding of its argument is not its own.
				worst[1] = max(worst[1], distance(back, one)/max(1, largest*largest/math.Abs(det)))
			}
			t.Logf("V is off by %.1e, V^-1 V by %.1e", worst[0], worst[1])
			if worst[0] > 5e-15 || worst[1] > 5e-15 {
				t.Errorf("V is off by %v, V^-1 V by %v", worst[0], worst[1])
			}
		})
	}
}

func TestAffineAllocatesNothing(t *testing.T) {
	everyAffine(t, func(t *testing.T, g lie.AffineGroup, _ affineCase, src *stream.Stream) {
		a, b, v := haarAffine(g, src), haarAffine(g, src), algebraAffine(g, src)
		var sink float64
		if n := testing.AllocsPerRun(100, func() {
			c := g.Product(g.Inverse(a), g.Product(b, g.Exp(v)))
			sink += g.Act(c, b.X)[0] + g.Matrix(c)[0][2] + g.Log(c).X[1] + g.Component(c).H[0]
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
