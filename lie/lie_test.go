package lie_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

const cases = 10000

// The property tests below run on every group of the package, and on the groups
// of others_test.go, which stand for the kinds of group that the interface is
// made for.
func everyGroup(t *testing.T, test func(t *testing.T, g lie.Group, src *stream.Stream)) {
	for _, g := range []lie.Group{lie.T2, lie.SE2, roto{}, scalings{}, quarters{}} {
		t.Run(g.Name(), func(t *testing.T) { test(t, g, stream.New(1, t.Name(), 0)) })
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

func apply(m [2][2]float64, q [2]float64) [2]float64 {
	return [2]float64{m[0][0]*q[0] + m[0][1]*q[1], m[1][0]*q[0] + m[1][1]*q[1]}
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

// same reports whether two elements are equal up to rounding. All groups here
// act faithfully, so that their matrices tell.
func same(g lie.Group, a, b lie.Element) bool { return distance(g.Matrix(a), g.Matrix(b)) < 1e-13 }

func TestGroupAxioms(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		e := g.Identity()
		if distance(g.Matrix(e), [2][2]float64{{1, 0}, {0, 1}}) != 0 {
			t.Fatalf("the identity acts as %v", g.Matrix(e))
		}
		if g.Component(0) != e {
			t.Errorf("component 0 is %v, not the identity", g.Component(0))
		}
		for range cases {
			a, b, c := g.Haar(src), g.Haar(src), g.Haar(src)
			if got, want := g.Product(g.Product(a, b), c), g.Product(a, g.Product(b, c)); !same(g, got, want) {
				t.Fatalf("(%v %v) %v = %v, but with the other brackets %v", a, b, c, got, want)
			}
			if !same(g, g.Product(a, e), a) || !same(g, g.Product(e, a), a) {
				t.Fatalf("%v times the identity is %v and %v", a, g.Product(a, e), g.Product(e, a))
			}
			if !same(g, g.Product(a, g.Inverse(a)), e) || !same(g, g.Product(g.Inverse(a), a), e) {
				t.Fatalf("%v has no inverse in %v", a, g.Inverse(a))
			}
		}
	})
}

func TestMatrixIsHomomorphism(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			a, b := g.Haar(src), g.Haar(src)
			got, want := g.Matrix(g.Product(a, b)), matMul(g.Matrix(a), g.Matrix(b))
			if distance(got, want) > 1e-13 {
				t.Fatalf("M(ab) = %v, M(a)M(b) = %v for a = %v, b = %v", got, want, a, b)
			}
		}
	})
}

func TestInverseAct(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			u, q := g.Haar(src), point(src)
			got, want := g.InverseAct(u, q), apply(g.Matrix(g.Inverse(u)), q)
			back := apply(g.Matrix(u), got)
			for i := range 2 {
				if math.Abs(got[i]-want[i]) > 1e-13 || math.Abs(back[i]-q[i]) > 1e-13 {
					t.Fatalf("u = %v, q = %v: u^-1 q = %v, by the matrix %v, and u of it is %v", u, q, got, want, back)
				}
			}
		}
	})
}

func TestExpLog(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		ext := g.Extent()
		for range cases {
			var v, w, sum lie.Vector
			for i := range g.Dim() {
				v[i], w[i] = uniform(src, -ext[i], ext[i]), uniform(src, -ext[i], ext[i])
				sum[i] = v[i] + w[i]
			}
			if !same(g, g.Exp(sum), g.Product(g.Exp(v), g.Exp(w))) {
				t.Fatalf("exp(v+w) != exp v exp w for v = %v, w = %v", v, w)
			}
			a := g.Product(g.Component(src.IntN(g.Components())), g.Exp(v))
			got := g.Log(a)
			for i := range got {
				if math.Abs(got[i]-v[i]) > 1e-14 {
					t.Fatalf("log of a component times exp %v is %v", v, got)
				}
				if math.Abs(got[i]) > ext[i] || g.Compact() && g.Dim() > i && got[i] >= ext[i] {
					t.Fatalf("log %v = %v lies outside the box of %v", a, got, ext)
				}
			}
			// Any element of the group is a component's translate.
			h, found := g.Haar(src), false
			for i := range g.Components() {
				found = found || same(g, g.Product(g.Component(i), g.Exp(g.Log(h))), h)
			}
			if !found {
				t.Fatalf("%v is no component times exp %v", h, g.Log(h))
			}
		}
	})
}

// step returns g exp(t e_i).
func step(g lie.Group, a lie.Element, i int, t float64) lie.Element {
	var v lie.Vector
	v[i] = t
	return g.Product(a, g.Exp(v))
}

func TestInverseActGrad(t *testing.T) {
	const h = 1e-5 // central differences: error about h*h + 1e-16/h
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		for range cases {
			u, q, dy := g.Haar(src), point(src), point(src)
			f := func(u lie.Element) float64 {
				y := g.InverseAct(u, q)
				return dy[0]*y[0] + dy[1]*y[1]
			}
			got := g.InverseActGrad(u, q, dy)
			for i := range got {
				want := 0.0
				if i < g.Dim() {
					want = (f(step(g, u, i, h)) - f(step(g, u, i, -h))) / (2 * h)
				}
				if math.Abs(got[i]-want) > 1e-8 {
					t.Fatalf("u = %v, q = %v, dy = %v: gradient %v, by differences %v", u, q, dy, got[i], want)
				}
			}
		}
	})
}

func TestRelativeGrad(t *testing.T) {
	const h = 1e-5
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		n := g.Coordinates()
		dx := make([]float64, n)
		f := func(u, v lie.Element) float64 {
			x := make([]float64, n)
			g.Relative(x, u, v)
			s := 0.0
			for i := range x {
				s += dx[i] * x[i]
			}
			return s
		}
		for range cases {
			u, v := g.Haar(src), g.Haar(src)
			if nearJump(g, u, v) {
				continue
			}
			for i := range dx {
				dx[i] = uniform(src, -2, 2)
			}
			du, dv := g.RelativeGrad(dx, u, v)
			for i := range du {
				var wantU, wantV float64
				if i < g.Dim() {
					wantU = (f(step(g, u, i, h), v) - f(step(g, u, i, -h), v)) / (2 * h)
					wantV = (f(u, step(g, v, i, h)) - f(u, step(g, v, i, -h))) / (2 * h)
				}
				if math.Abs(du[i]-wantU) > 1e-8 || math.Abs(dv[i]-wantV) > 1e-8 {
					t.Fatalf("u = %v, v = %v: gradients %v and %v, by differences %v and %v", u, v, du[i], dv[i], wantU, wantV)
				}
			}
		}
	})
}

// nearJump reports whether u^-1 v is so close to the identity's component
// representative that an angle coordinate may jump.
func nearJump(g lie.Group, u, v lie.Element) bool {
	for i := range g.Components() {
		if distance(g.Matrix(g.Product(g.Inverse(u), v)), g.Matrix(g.Component(i))) < 1e-3 {
			return true
		}
	}
	return false
}

// The kernel of a convolution may depend on u^-1 v alone.
func TestRelativeIsInvariant(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		x, y := make([]float64, g.Coordinates()), make([]float64, g.Coordinates())
		for range cases {
			u, v, w := g.Haar(src), g.Haar(src), g.Haar(src)
			if nearJump(g, u, v) {
				continue
			}
			g.Relative(x, u, v)
			g.Relative(y, g.Product(w, u), g.Product(w, v))
			for i := range x {
				if math.Abs(x[i]-y[i]) > 1e-13 {
					t.Fatalf("coordinates %v of (%v, %v) became %v by %v", x, u, v, y, w)
				}
			}
		}
	})
}

func TestGrid(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		found := 0
		for n := -1; n <= 24; n++ {
			if err := g.CheckGrid(n); err != nil {
				var typed *lie.Error
				if v := panicValue(func() { g.Grid(n) }); !errors.As(v, &typed) {
					t.Errorf("Grid(%d) gave %v, want a panic with *lie.Error: %v", n, v, err)
				}
				continue
			}
			found++
			grid := g.Grid(n)
			if len(grid) != n {
				t.Fatalf("Grid(%d) has %d elements", n, len(grid))
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
			at := index(g.Identity())
			if at < 0 || g.Compact() && at != 0 {
				t.Fatalf("Grid(%d) has the identity at %d", n, at)
			}
			if !g.Compact() {
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

// panicValue returns what f panics with, as an error, or nil.
func panicValue(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// The Haar measure of SO(2) is uniform: all Fourier coefficients but the zeroth
// vanish. The mean of n values of variance 1/2 strays by less than 5 standard
// deviations.
func TestHaarOfRotations(t *testing.T) {
	const n = 200000
	src := stream.New(1, "haar", 0)
	var c, s [9]float64
	for range n {
		a := lie.SE2.Haar(src)[0]
		if a < 0 || a >= 2*math.Pi {
			t.Fatalf("angle %v", a)
		}
		for k := 1; k < len(c); k++ {
			c[k] += math.Cos(float64(k) * a)
			s[k] += math.Sin(float64(k) * a)
		}
	}
	for k := 1; k < len(c); k++ {
		if bound := 5 * math.Sqrt(n/2); math.Abs(c[k]) > bound || math.Abs(s[k]) > bound {
			t.Errorf("Fourier coefficient %d is %v, %v over n = %d draws", k, c[k]/n, s[k]/n, n)
		}
	}
}

func TestAnglesStayInRange(t *testing.T) {
	tiny, tau := math.SmallestNonzeroFloat64, 2*math.Pi
	x := []float64{0, math.Copysign(0, -1), tiny, -tiny, -1e-17, 1e-17, 3, -3, math.Pi, -math.Pi, tau, -tau,
		math.Nextafter(tau, 0), math.Nextafter(tau, 9), -math.Nextafter(tau, 0), 2 * tau, -2 * tau, math.Nextafter(2*tau, 0),
		100, -100, 1e9, -1e9, 1e300, -1e300, math.MaxFloat64}
	for _, x := range x {
		got := lie.SE2.Exp(lie.Vector{x})[0]
		if !(got >= 0 && got < tau) {
			t.Errorf("exp %v = %v lies outside [0, 2pi)", x, got)
		}
		want := math.Mod(x, tau)
		if want < 0 {
			want += tau
		}
		if want == tau {
			want = 0
		}
		if got != want {
			t.Errorf("exp %v = %v, by division %v", x, got, want)
		}
		if l := lie.SE2.Log(lie.Element{x})[0]; !(l >= -math.Pi && l < math.Pi) {
			t.Errorf("log %v = %v lies outside [-pi, pi)", x, l)
		}
		var rel [1]float64
		if lie.SE2.Relative(rel[:], lie.Element{}, lie.Element{x}); !(rel[0] >= -1 && rel[0] < 1) {
			t.Errorf("relative coordinate of %v is %v", x, rel[0])
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := lie.SE2.Exp(lie.Vector{x})[0]; !math.IsNaN(got) {
			t.Errorf("exp %v = %v, want NaN", x, got)
		}
	}
}

func TestByName(t *testing.T) {
	for name, want := range map[string]lie.Group{
		"SE2": lie.SE2, "SE(2)": lie.SE2, "se2": lie.SE2, "T2": lie.T2, "T(2)": lie.T2, "t(2)": lie.T2,
	} {
		if got, err := lie.ByName(name); err != nil || got != want {
			t.Errorf("ByName(%q) = %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "SE3", "SE(2", "rotations", "SE 2"} {
		got, err := lie.ByName(name)
		if name == "SE(2" { // parentheses never matter, paired or not
			if got != lie.SE2 {
				t.Errorf("ByName(%q) = %v, %v", name, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "T(2), SE(2)") || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("ByName(%q) = %v, %v; want an error that names the known groups", name, got, err)
		}
	}
	if got := lie.Names(); len(got) != 2 || got[0] != "T(2)" || got[1] != "SE(2)" {
		t.Errorf("Names() = %q", got)
	}
}

func TestNoAllocations(t *testing.T) {
	everyGroup(t, func(t *testing.T, g lie.Group, src *stream.Stream) {
		u, v := g.Haar(src), g.Haar(src)
		x := make([]float64, g.Coordinates())
		var sink float64
		if n := testing.AllocsPerRun(100, func() {
			w := g.Product(g.Inverse(u), g.Exp(g.Log(v)))
			g.Relative(x, w, v)
			du, dv := g.RelativeGrad(x, w, v)
			q := g.InverseAct(w, [2]float64{1, 2})
			m := g.Matrix(g.Haar(src))
			sink += du[0] + dv[0] + q[0] + m[0][0] + g.InverseActGrad(w, q, q)[0]
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestGoldenSE2(t *testing.T) {
	z := golden.Open(t, "group_se2.npz")
	a, as := golden.Float64(t, z, "a")
	b, bs := golden.Float64(t, z, "b")
	g := lie.SE2
	// a [S, m], b [S, n]: all pairs of a row.
	var product, onH, relative []float64
	for s := range as[0] {
		for i := range as[1] {
			for j := range bs[1] {
				u, v := lie.Element{a[s*as[1]+i]}, lie.Element{b[s*bs[1]+j]}
				product = append(product, g.Product(u, v)[0])
				onH = append(onH, g.Product(g.Inverse(u), v)[0])
				var x [1]float64
				g.Relative(x[:], u, v)
				relative = append(relative, x[0])
			}
		}
	}
	want := func(name string) []float64 {
		x, _ := golden.Float64(t, z, name)
		return x
	}
	const ulps = 1e-15 // of angles below 8
	golden.Close(t, "product_ab", product, want("product_ab"), 0, ulps)
	golden.Close(t, "invA_on_H_b", onH, want("invA_on_H_b"), 0, ulps)
	golden.Close(t, "normalized_invA_b", relative, want("normalized_invA_b"), 0, ulps)

	var inverse, matrix, matrixInv, acted []float64
	grid, gs := golden.Float64(t, z, "rel_pos") // [2, k, k]
	taps := gs[1] * gs[2]
	for _, a := range a {
		u := lie.Element{a}
		inverse = append(inverse, g.Inverse(u)[0])
		for _, row := range g.Matrix(u) {
			matrix = append(matrix, row[:]...)
		}
		for _, row := range g.Matrix(g.Inverse(u)) {
			matrixInv = append(matrixInv, row[:]...)
		}
		at := len(acted)
		acted = append(acted, make([]float64, 2*taps)...)
		for p := range taps {
			q := g.InverseAct(u, [2]float64{grid[p], grid[taps+p]})
			acted[at+p], acted[at+taps+p] = q[0], q[1]
		}
	}
	// The reference leaves inverses negative; here an angle lies in [0, 2pi).
	wantInverse := want("inv_a")
	for i, x := range wantInverse {
		wantInverse[i] = g.Exp(lie.Vector{x})[0]
	}
	golden.Close(t, "inv_a", inverse, wantInverse, 0, ulps)
	golden.Close(t, "matrix_a", matrix, want("matrix_a"), 0, ulps)
	golden.Close(t, "matrix_inv_a", matrixInv, want("matrix_inv_a"), 0, ulps)
	golden.Close(t, "inv_a_on_rel_pos", acted, want("inv_a_on_rel_pos"), 6e-8, 0)

	// rel_pos is the grid of linspace(-1, 1, k), rows first.
	k := gs[1]
	made := make([]float64, 2*taps)
	for r := range k {
		for c := range k {
			made[r*k+c], made[taps+r*k+c] = -1+2*float64(r)/float64(k-1), -1+2*float64(c)/float64(k-1)
		}
	}
	golden.Close(t, "rel_pos", made, grid, 0, 6e-8)

	wantExp := want("exp_of_-3_to_9")
	exp := make([]float64, len(wantExp))
	for i := range exp {
		exp[i] = g.Exp(lie.Vector{-3 + 12*float64(i)/float64(len(exp)-1)})[0]
	}
	golden.Close(t, "exp_of_-3_to_9", exp, wantExp, 0, 2*ulps)

	if theta, shape := golden.Float64(t, z, "probs_init_random"); len(shape) != 1 || len(theta) != 1 || theta[0] != 1 {
		t.Errorf("the reference starts theta at %v", theta)
	}
}
