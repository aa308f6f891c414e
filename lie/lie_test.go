package lie_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

const cases = 10000

// table is what the tests of this file run on: every group of the package, of each
// family and each way to combine them some, and a group that is defined outside. A
// row says what no property of a group can: which one it is, by the matrix of one
// element.
var table = []struct {
	group       lie.Group
	name        string
	dim, order  int // order: number of components
	coordinates int
	a           lie.Element
	matrix      [2][2]float64
}{
	{lie.T2, "T(2)", 0, 1, 1, lie.Element{}, [2][2]float64{{1, 0}, {0, 1}}},
	{lie.SE2, "SE(2)", 1, 1, 1, lie.Element{math.Pi / 2}, [2][2]float64{{0, 1}, {-1, 0}}},
	{lie.E2, "E(2)", 1, 2, 2, lie.Element{math.Pi / 2, 1}, [2][2]float64{{0, 1}, {1, 0}}},
	{lie.Mirror, "mirror", 0, 2, 1, lie.Element{1}, [2][2]float64{{1, 0}, {0, -1}}},
	{lie.Cyclic(2), "C2", 0, 2, 1, lie.Element{1}, [2][2]float64{{-1, 0}, {0, -1}}},
	{lie.Cyclic(4), "C4", 0, 4, 1, lie.Element{1}, [2][2]float64{{0, 1}, {-1, 0}}},
	{lie.Cyclic(12), "C12", 0, 12, 1, lie.Element{1}, [2][2]float64{{math.Sqrt(3) / 2, 0.5}, {-0.5, math.Sqrt(3) / 2}}},
	{lie.Dihedral(1), "D1", 0, 2, 2, lie.Element{0, 1}, [2][2]float64{{1, 0}, {0, -1}}},
	{lie.Dihedral(3), "D3", 0, 6, 2, lie.Element{1, 1}, [2][2]float64{{-0.5, math.Sqrt(3) / 2}, {math.Sqrt(3) / 2, 0.5}}},
	{lie.Dihedral(4), "D4", 0, 8, 2, lie.Element{1, 1}, [2][2]float64{{0, 1}, {1, 0}}},
	{lie.RPlus, "R+", 1, 1, 1, lie.Element{math.Ln2}, [2][2]float64{{2, 0}, {0, 2}}},
	{lie.Scalings(1.5), "R+(1.5)", 1, 1, 1, lie.Element{-math.Ln2}, [2][2]float64{{0.5, 0}, {0, 0.5}}},
	{lie.Sim2, "Sim(2)", 2, 1, 2, lie.Element{math.Pi / 2, math.Ln2}, [2][2]float64{{0, 2}, {-2, 0}}},
	{lie.DirectProduct(lie.RPlus, lie.O2), "R+ x O(2)", 2, 2, 3, lie.Element{math.Ln2, math.Pi / 2, 1}, [2][2]float64{{0, 2}, {2, 0}}},
	{lie.DirectProduct(lie.Dihedral(4), lie.RPlus), "D4 x R+", 1, 8, 3, lie.Element{1, 1, math.Ln2}, [2][2]float64{{0, 2}, {2, 0}}},
	{lie.Periodic(lie.T2), "T(2) periodic", 0, 1, 2, lie.Element{}, [2][2]float64{{1, 0}, {0, 1}}},
	{lie.Periodic(lie.SE2), "SE(2) periodic", 1, 1, 2, lie.Element{math.Pi / 2}, [2][2]float64{{0, 1}, {-1, 0}}},
	{lie.Periodic(lie.E2), "E(2) periodic", 1, 2, 3, lie.Element{math.Pi / 2, 1}, [2][2]float64{{0, 1}, {1, 0}}},
	{lie.Periodic(lie.Dihedral(3)), "D3 periodic", 0, 6, 3, lie.Element{0, 1}, [2][2]float64{{1, 0}, {0, -1}}},
	{lie.Periodic(lie.Sim2), "Sim(2) periodic", 2, 1, 3, lie.Element{math.Pi / 2, math.Ln2}, [2][2]float64{{0, 2}, {-2, 0}}},
	{Shears, "shears", 1, 1, 1, lie.Element{3}, [2][2]float64{{1, 0}, {3, 1}}},
}

func everyGroup(t *testing.T, test func(t *testing.T, g lie.Group, src *stream.Stream)) {
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) { test(t, row.group, stream.New(1, t.Name(), 0)) })
	}
}

func uniform(src lie.Source, lo, hi float64) float64 { return lo + (hi-lo)*src.Float64() }

func point(src lie.Source) [2]float64 { return [2]float64{uniform(src, -2, 2), uniform(src, -2, 2)} }

func matMul(a, b [2][2]float64) (c [2][2]float64) {
	for i := range 2 {
		for j := range 2 {
			c[i][j] = a[i][0]*b[0][j] + a[i][1]*b[1][j]
		}
	}
	return c
}

func distance(a, b [2][2]float64) float64 {
	d := 0.0
	for i := range 2 {
		for j := range 2 {
			d = max(d, math.Abs(a[i][j]-b[i][j]))
		}
	}
	return d
}

// same reports whether two elements are equal up to rounding, on circles modulo
// their length.
func same(g lie.Group, a, b lie.Element) bool {
	for i := range a {
		d := math.Abs(a[i] - b[i])
		if i < len(g.Axes()) && g.Axes()[i].Kind == lie.Circle {
			d = min(d, 2*math.Pi-d)
		}
		if !(d < 1e-14) {
			return false
		}
	}
	return true
}

// valid says what is wrong with the coordinates of an element, or nothing.
func valid(g lie.Group, a lie.Element) string {
	for i, x := range a {
		switch {
		case i >= len(g.Axes()):
			if x != 0 {
				return fmt.Sprintf("%v has a coordinate beyond the axes of %s", a, g.Name())
			}
		case g.Axes()[i].Kind == lie.Circle:
			if !(x >= 0 && x < 2*math.Pi) {
				return fmt.Sprintf("%v has an angle outside [0, 2pi)", a)
			}
		case g.Axes()[i].Kind == lie.Line:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Sprintf("%v has a coordinate that is no number", a)
			}
		default:
			if x != math.Trunc(x) || x < 0 || x >= float64(g.Axes()[i].Order) {
				return fmt.Sprintf("%v has a coordinate that is no integer from 0 to %d", a, g.Axes()[i].Order-1)
			}
		}
	}
	return ""
}

// compact reports whether no axis is a line.
func compact(g lie.Group) bool {
	for _, axis := range g.Axes() {
		if axis.Kind == lie.Line {
			return false
		}
	}
	return true
}

func TestFacts(t *testing.T) {
	for _, row := range table {
		g := row.group
		if g.Name() != row.name || g.Dim() != row.dim || g.Components() != row.order || g.Coordinates() != row.coordinates {
			t.Errorf("%s has dimension %d, %d components and %d coordinates; want %s, %d, %d, %d",
				g.Name(), g.Dim(), g.Components(), g.Coordinates(), row.name, row.dim, row.order, row.coordinates)
		}
		if d := distance(g.Matrix(row.a), row.matrix); !(d <= 1e-15) {
			t.Errorf("%s: %v acts as %v, want %v", g.Name(), row.a, g.Matrix(row.a), row.matrix)
		}
		for _, axis := range g.Axes() { // what need not be given
			if axis.Kind == lie.Circle && axis.Extent != math.Pi || axis.Kind == lie.Flip && axis.Order != 2 {
				t.Errorf("%s has the axis %+v", g.Name(), axis)
			}
		}
	}
}

func TestGroupAxioms(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		var e lie.Element
		for range cases {
			a, b, c := g.Haar(src), g.Haar(src), g.Haar(src)
			for _, x := range []lie.Element{a, g.Product(a, b), g.Inverse(a), g.Product(g.Product(a, b), g.Inverse(c))} {
				if problem := valid(g, x); problem != "" {
					t.Fatal(problem)
				}
			}
			if got, want := g.Product(g.Product(a, b), c), g.Product(a, g.Product(b, c)); !same(g, got, want) {
				t.Fatalf("(%v %v) %v = %v, but with the other brackets %v", a, b, c, got, want)
			}
			if g.Product(a, e) != a || g.Product(e, a) != a {
				t.Fatalf("%v times the identity is %v and %v", a, g.Product(a, e), g.Product(e, a))
			}
			if !same(g, g.Product(a, g.Inverse(a)), e) || !same(g, g.Product(g.Inverse(a), a), e) {
				t.Fatalf("%v has no inverse in %v", a, g.Inverse(a))
			}
		}
	})
}

// The matrices of a group are a homomorphism, and one to one: no two elements act
// alike.
func TestMatrixIsHomomorphism(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		if g.Matrix(lie.Element{}) != [2][2]float64{{1, 0}, {0, 1}} {
			t.Fatalf("the identity acts as %v", g.Matrix(lie.Element{}))
		}
		for range cases {
			a, b := g.Haar(src), g.Haar(src)
			got, want := g.Matrix(g.Product(a, b)), matMul(g.Matrix(a), g.Matrix(b))
			if distance(got, want) > 1e-14 {
				t.Fatalf("M(ab) = %v, M(a)M(b) = %v for a = %v, b = %v", got, want, a, b)
			}
			if equal := distance(g.Matrix(a), g.Matrix(b)) < 1e-13; equal != same(g, a, b) {
				t.Fatalf("%v acts as %v, %v as %v", a, g.Matrix(a), b, g.Matrix(b))
			}
		}
	})
}

func TestAction(t *testing.T) {
	const rounding = 1e-13
	near := func(x, y [2]float64) bool {
		return math.Abs(x[0]-y[0]) < rounding && math.Abs(x[1]-y[1]) < rounding
	}
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			a, b, q := g.Haar(src), g.Haar(src), point(src)
			if x, y := lie.Act(g, g.Product(a, b), q), lie.Act(g, a, lie.Act(g, b, q)); !near(x, y) {
				t.Fatalf("(ab) q = %v, a (b q) = %v for a = %v, b = %v, q = %v", x, y, a, b, q)
			}
			if x, y := g.InverseAct(a, q), lie.Act(g, g.Inverse(a), q); !near(x, y) {
				t.Fatalf("the inverse of %v takes %v to %v, by its matrix to %v", a, q, x, y)
			}
			if x := lie.Act(g, a, g.InverseAct(a, q)); !near(x, q) {
				t.Fatalf("%v takes %v to %v, and back to %v", a, q, g.InverseAct(a, q), x)
			}
		}
	})
}

// algebra returns a random vector of the box that Extent gives, and on lines one
// of several times that.
func algebra(g lie.Group, src lie.Source) (v lie.Vector) {
	for i, axis := range g.Axes() {
		switch axis.Kind {
		case lie.Circle:
			v[i] = uniform(src, -axis.Extent, axis.Extent)
		case lie.Line:
			v[i] = uniform(src, -5*axis.Extent, 5*axis.Extent)
		}
	}
	return v
}

func TestExpLog(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			v, w := algebra(g, src), algebra(g, src)
			var sum, around lie.Vector // v + w, and v once more around each circle
			for i, axis := range g.Axes() {
				sum[i], around[i] = v[i]+w[i], v[i]
				if axis.Kind == lie.Circle {
					around[i] += 2 * math.Pi
				}
			}
			if problem := valid(g, g.Exp(sum)); problem != "" {
				t.Fatal(problem)
			}
			if !same(g, g.Exp(sum), g.Product(g.Exp(v), g.Exp(w))) {
				t.Fatalf("exp(v+w) != exp v exp w for v = %v, w = %v", v, w)
			}
			if !same(g, g.Exp(v), g.Exp(around)) {
				t.Fatalf("exp %v = %v, but exp %v = %v", v, g.Exp(v), around, g.Exp(around))
			}
			// An element is what it has on the discrete axes times exp of the rest.
			h := g.Haar(src)
			c := h
			for i, axis := range g.Axes() {
				if axis.Continuous() {
					c[i] = 0
				}
			}
			if !same(g, g.Product(c, g.Exp(g.Log(h))), h) {
				t.Fatalf("%v is not %v exp %v", h, c, g.Log(h))
			}
			a := g.Product(c, g.Exp(v))
			got := g.Log(a)
			for i := range got {
				if !(math.Abs(got[i]-v[i]) <= 1e-14) {
					t.Fatalf("log of %v exp %v is %v", c, v, got)
				}
				if i < len(g.Axes()) && g.Axes()[i].Kind == lie.Circle && !(got[i] >= -math.Pi && got[i] < math.Pi) {
					t.Fatalf("log %v = %v lies outside [-pi, pi)", a, got)
				}
			}
		}
	})
}

// derivative returns the gradient of f at a by central differences of step h: the
// error is about h*h + 1e-16/h.
func derivative(g lie.Group, a lie.Element, f func(lie.Element) float64) (d lie.Vector) {
	const h = 1e-5
	at := func(i int, t float64) float64 {
		var v lie.Vector
		v[i] = t
		return f(g.Product(a, g.Exp(v)))
	}
	for i, axis := range g.Axes() {
		if axis.Continuous() {
			d[i] = (at(i, h) - at(i, -h)) / (2 * h)
		}
	}
	return d
}

// agree compares a gradient with one by differences. TestSignGrad is for the sign
// behind an angle.
func agree(g lie.Group, a, b lie.Vector) bool {
	axes := g.Axes()
	for i := range a {
		sign := i > 0 && i < len(axes) && axes[i-1].Kind == lie.Circle && axes[i].Kind == lie.Flip
		if !sign && !(math.Abs(a[i]-b[i]) < 2e-8) {
			return false
		}
	}
	return true
}

func TestInverseActGrad(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			u, q, dy := g.Haar(src), point(src), point(src)
			got := g.InverseActGrad(u, q, dy)
			want := derivative(g, u, func(u lie.Element) float64 {
				y := g.InverseAct(u, q)
				return dy[0]*y[0] + dy[1]*y[1]
			})
			if !agree(g, got, want) {
				t.Fatalf("u = %v, q = %v, dy = %v: gradient %v, by differences %v", u, q, dy, got, want)
			}
		}
	})
}

// jumps reports whether the coordinates of u^-1 v are discontinuous near it: those
// of an angle are at zero, unless they are periodic.
func jumps(g lie.Group, u, v lie.Element) bool {
	if g.Coordinates() != len(g.Axes()) {
		return false
	}
	w := g.Log(g.Product(g.Inverse(u), v))
	for i, axis := range g.Axes() {
		if axis.Kind == lie.Circle && math.Abs(w[i]) < 1e-4 {
			return true
		}
	}
	return false
}

func TestRelativeGrad(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			u, v := g.Haar(src), g.Haar(src)
			if jumps(g, u, v) {
				continue
			}
			var dx lie.Coordinates
			for i := range dx {
				dx[i] = uniform(src, -2, 2)
			}
			loss := func(u, v lie.Element) (s float64) {
				for i, x := range g.Relative(u, v) {
					s += dx[i] * x
				}
				return s
			}
			du, dv := g.RelativeGrad(dx, u, v)
			wantU := derivative(g, u, func(u lie.Element) float64 { return loss(u, v) })
			wantV := derivative(g, v, func(v lie.Element) float64 { return loss(u, v) })
			if !agree(g, du, wantU) || !agree(g, dv, wantV) {
				t.Fatalf("u = %v, v = %v: gradients %v and %v, by differences %v and %v", u, v, du, dv, wantU, wantV)
			}
		}
	})
}

// The kernel of a convolution may depend on u^-1 v alone, and must be able to tell
// all of those apart.
func TestRelativeIsInvariant(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			u, v, w := g.Haar(src), g.Haar(src), g.Haar(src)
			if jumps(g, u, v) {
				continue
			}
			if x, y := g.Relative(u, u), g.Relative(lie.Element{}, lie.Element{}); x != y {
				t.Fatalf("coordinates of %v seen from itself are %v, of the identity %v", u, x, y)
			}
			x, y, z := g.Relative(u, v), g.Relative(g.Product(w, u), g.Product(w, v)), g.Relative(u, w)
			moved := 0.0
			for i := range x {
				if !(math.Abs(x[i]-y[i]) <= 1e-14) {
					t.Fatalf("coordinates %v of (%v, %v) became %v by %v", x, u, v, y, w)
				}
				if i < g.Coordinates() && !(math.Abs(x[i]) <= 1) || i >= g.Coordinates() && x[i] != 0 {
					t.Fatalf("coordinates of (%v, %v) are %v", u, v, x)
				}
				moved = max(moved, math.Abs(x[i]-z[i]))
			}
			if (moved < 1e-13) != same(g, v, w) {
				t.Fatalf("seen from %v, %v has the coordinates %v and %v has %v", u, v, x, w, z)
			}
		}
	})
}

func TestGrid(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, _ *stream.Stream) {
		found := 0
		for n := -1; n <= 24; n++ {
			counts, err := g.Split(n)
			if err != nil {
				var typed *lie.Error
				if v := panicValue(func() { g.Grid(n) }); !errors.As(v, &typed) {
					t.Errorf("Grid(%d) gave %v, want a panic with *lie.Error: %v", n, v, err)
				}
				continue
			}
			found++
			product := 1
			for i := range g.Axes() {
				product *= counts[i]
			}
			grid := g.Grid(n)
			if len(grid) != n || product != n {
				t.Fatalf("Grid(%d) has %d elements, Split(%d) has %v", n, len(grid), n, counts)
			}
			index := func(a lie.Element) int {
				at, hits := -1, 0
				for i, b := range grid {
					if same(g, a, b) {
						at, hits = i, hits+1
					}
				}
				if hits > 1 {
					t.Fatalf("Grid(%d) holds %v %d times", n, a, hits)
				}
				return at
			}
			for _, a := range grid {
				if problem := valid(g, a); problem != "" || index(a) < 0 {
					t.Fatalf("Grid(%d): %s", n, problem)
				}
				for i, axis := range g.Axes() {
					if axis.Kind == lie.Line && !(math.Abs(a[i]) <= axis.Extent) {
						t.Fatalf("Grid(%d) has %v, which is not sampled", n, a)
					}
				}
			}
			at := index(lie.Element{})
			if at < 0 || compact(g) && at != 0 {
				t.Fatalf("Grid(%d) has the identity at %d", n, at)
			}
			if !compact(g) {
				continue
			}
			for _, a := range grid {
				for _, b := range grid {
					if index(g.Product(a, b)) < 0 {
						t.Fatalf("Grid(%d) is not closed: %v times %v", n, a, b)
					}
				}
			}
		}
		if found == 0 {
			t.Error("the group has no grid of up to 24 elements")
		}
	})
}

// character is a function on a group: a wave along each axis, whose mean over
// the Haar measure vanishes.
type character [lie.MaxAxes]float64

// newCharacter returns a random one that is not constant, or false for a group of
// one element.
func newCharacter(g lie.Group, src *stream.Stream) (f character, ok bool) {
	for range 100 {
		for i, axis := range g.Axes() {
			switch axis.Kind {
			case lie.Circle:
				f[i] = float64(src.IntN(7) - 3)
			case lie.Line:
				f[i] = float64(src.IntN(7)-3) * math.Pi / axis.Extent
			default:
				f[i] = float64(src.IntN(axis.Order)) * 2 * math.Pi / float64(axis.Order)
			}
			ok = ok || f[i] != 0
		}
		if ok {
			return f, true
		}
	}
	return f, false
}

// at returns the real and the imaginary part.
func (f character) at(a lie.Element) (c, s float64) {
	x := 0.0
	for i := range a {
		x += f[i] * a[i]
	}
	s, c = math.Sincos(x)
	return c, s
}

// All Fourier coefficients but the zeroth vanish. The sum of n values of variance at
// most 1 strays by less than 5 standard deviations.
func TestHaarMoments(t *testing.T) {
	const n = 50000
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range 8 {
			f, ok := newCharacter(g, src)
			if !ok {
				continue
			}
			var sumC, sumS float64
			for range n {
				a := g.Haar(src)
				for i, axis := range g.Axes() {
					if axis.Kind == lie.Line && !(math.Abs(a[i]) <= axis.Extent) {
						t.Fatalf("%v is drawn, which is not sampled", a)
					}
				}
				c, s := f.at(a)
				sumC, sumS = sumC+c, sumS+s
			}
			if bound := 5 * math.Sqrt(n); !(math.Abs(sumC) <= bound) || !(math.Abs(sumS) <= bound) {
				t.Errorf("Fourier coefficient %v is %v, %v over n = %d draws", f, sumC/n, sumS/n, n)
			}
		}
	})
}

// A sample, and another that is moved by an element from the left, have the same
// Fourier coefficients: their differences stay within 5 standard deviations. Where
// the group is not compact, both are cut to what the two boxes share.
func TestHaarIsInvariant(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range 20 {
			w := g.Haar(src)
			f, ok := newCharacter(g, src)
			if !ok {
				continue
			}
			for i := range f {
				f[i] *= 0.7 // not a period: coefficients that differ from zero
			}
			shared := func(a lie.Element) bool {
				for i, axis := range g.Axes() {
					if axis.Kind == lie.Line && !(math.Abs(a[i]) <= axis.Extent && math.Abs(a[i]-w[i]) <= axis.Extent) {
						return false
					}
				}
				return true
			}
			mean := func(move func(lie.Element) lie.Element) (c, s, n float64) {
				for range cases {
					if a := move(g.Haar(src)); shared(a) {
						x, y := f.at(a)
						c, s, n = c+x, s+y, n+1
					}
				}
				return c / n, s / n, n
			}
			c0, s0, n0 := mean(func(a lie.Element) lie.Element { return a })
			c1, s1, n1 := mean(func(a lie.Element) lie.Element { return g.Product(w, a) })
			if bound := 5 * math.Sqrt(1/n0+1/n1); !(math.Abs(c0-c1) < bound && math.Abs(s0-s1) < bound) {
				t.Errorf("moved by %v, the coefficient %v changes from (%v, %v) to (%v, %v)", w, f, c0, s0, c1, s1)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		u, v := g.Haar(src), g.Haar(src)
		var sink float64
		if n := testing.AllocsPerRun(100, func() {
			w := g.Product(g.Inverse(u), g.Exp(g.Log(v)))
			x := g.Relative(w, v)
			du, dv := g.RelativeGrad(x, w, v)
			q := g.InverseAct(w, lie.Act(g, v, [2]float64{1, 2}))
			m := g.Matrix(g.Haar(src))
			sink += du[0] + dv[0] + q[0] + m[0][0] + g.InverseActGrad(w, q, q)[0] + g.Axes()[0].Extent
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// panicValue returns what f panics with, as an error, or nil.
func panicValue(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
