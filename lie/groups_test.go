package lie_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

// A subgroup has the product, the action and the coordinates of the group that it
// is part of.
func TestSubgroups(t *testing.T) {
	angle := func(n float64) func(a lie.Element) lie.Element {
		return func(a lie.Element) lie.Element { return lie.Element{2 * math.Pi * a[0] / n, a[1]} }
	}
	as := func(a lie.Element) lie.Element { return a }
	for _, c := range []struct {
		name string
		h, g lie.Group
		into func(lie.Element) lie.Element
		off  float64 // what rounding may do
	}{
		{"T(2) in SE(2)", lie.T2, lie.SE2, as, 0},
		{"T(2) in C7", lie.T2, lie.Cyclic(7), as, 0},
		{"C7 in SE(2)", lie.Cyclic(7), lie.SE2, angle(7), 1e-14},
		{"C8 in SE(2), periodic", lie.Periodic(lie.Cyclic(8)), lie.Periodic(lie.SE2), angle(8), 1e-14},
		{"C3 in D3", lie.Cyclic(3), lie.Dihedral(3), as, 0},
		{"D5 in E(2)", lie.Dihedral(5), lie.E2, angle(5), 1e-14},
		{"SE(2) in E(2)", lie.SE2, lie.E2, as, 0},
		{"SE(2) in Sim(2)", lie.SE2, lie.Sim2, as, 0},
		{"R+ in R+ x O(2)", lie.RPlus, lie.DirectProduct(lie.RPlus, lie.O2), as, 0},
		{"mirror in E(2)", lie.Mirror, lie.E2, func(a lie.Element) lie.Element { return lie.Element{0, a[0]} }, 0},
		{"mirror in R+(3) x mirror", lie.Mirror, lie.DirectProduct(lie.Scalings(3), lie.Mirror),
			func(a lie.Element) lie.Element { return lie.Element{0, a[0]} }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := stream.New(1, t.Name(), 0)
			for range cases {
				a, b := c.h.Haar(src), c.h.Haar(src)
				if got, want := c.into(c.h.Product(a, b)), c.g.Product(c.into(a), c.into(b)); !same(c.g, got, want) {
					t.Fatalf("%v times %v is %v, in the group %v", a, b, got, want)
				}
				if d := distance(c.h.Matrix(a), c.g.Matrix(c.into(a))); !(d <= c.off) {
					t.Fatalf("%v acts as %v, in the group as %v", a, c.h.Matrix(a), c.g.Matrix(c.into(a)))
				}
				if a == b || jumps(c.g, c.into(a), c.into(b)) || strings.HasPrefix(c.name, "mirror") {
					continue // where an angle is zero, rounding makes it jump; a mirror alone has no angle
				}
				x, y := c.h.Relative(a, b), c.g.Relative(c.into(a), c.into(b))
				for i := range c.h.Coordinates() {
					if !(math.Abs(x[i]-y[i]) <= c.off) {
						t.Fatalf("coordinates of (%v, %v) are %v, in the group %v", a, b, x, y)
					}
				}
			}
		})
	}
}

// What kernels on T(2) are fed is -1, as at the relative angle zero of groups that it is
// part of: so networks on it have the parameters of those on SE(2).
func TestRelativeOnT2(t *testing.T) {
	e := lie.Element{}
	for _, g := range []lie.Group{lie.T2, lie.SE2, lie.Cyclic(7)} {
		if got := g.Relative(e, e); g.Coordinates() != 1 || got != (lie.Coordinates{-1}) {
			t.Errorf("%s: %d coordinates, %v, want -1", g.Name(), g.Coordinates(), got)
		}
	}
	if g := lie.Cyclic(1); g != lie.T2 {
		t.Errorf("Cyclic(1) is %v", g)
	}
}

// Quarter turns map the pixel grid to itself: they have no rounding.
func TestQuarterTurnsAreExact(t *testing.T) {
	for _, n := range []int{4, 8, 12, 4096} {
		for _, g := range []lie.Group{lie.Cyclic(n), lie.Dihedral(n)} {
			q := [2]float64{1.0 / 3, 0.7}
			for _, want := range [][2]float64{{0.7, -1.0 / 3}, {-1.0 / 3, -0.7}, {-0.7, 1.0 / 3}, {1.0 / 3, 0.7}} {
				if q = lie.Act(g, lie.Element{float64(n / 4)}, q); q != want {
					t.Errorf("%s: a quarter turn gives %v, want %v", g.Name(), q, want)
				}
			}
		}
	}
}

// An angle may stand behind what is none.
func TestPeriodicOrder(t *testing.T) {
	p, q := lie.Periodic(lie.DirectProduct(lie.RPlus, lie.SO2)), lie.Periodic(lie.Sim2)
	swap := func(x [lie.MaxAxes]float64) [lie.MaxAxes]float64 { return [lie.MaxAxes]float64{x[1], x[0]} }
	src := stream.New(1, "order", 0)
	for range 100 {
		u, v := q.Haar(src), q.Haar(src)
		x, y := q.Relative(u, v), p.Relative(swap(u), swap(v))
		if want := (lie.Coordinates{x[2], x[0], x[1]}); y != want {
			t.Fatalf("coordinates %v, want %v", y, want)
		}
		du, dv := p.RelativeGrad(y, swap(u), swap(v))
		if wantU, wantV := q.RelativeGrad(x, u, v); du != swap(wantU) || dv != swap(wantV) {
			t.Fatalf("gradients %v and %v, want those of the other order, %v and %v", du, dv, wantU, wantV)
		}
	}
}

func TestPeriodicCoordinates(t *testing.T) {
	for _, g := range []lie.Group{lie.SE2, lie.E2, lie.Cyclic(5), lie.Sim2} {
		p := lie.Periodic(g)
		src := stream.New(1, g.Name(), 0)
		for range cases {
			u, v := g.Haar(src), g.Haar(src)
			x, y := g.Relative(u, v), p.Relative(u, v)
			s, c := math.Sincos(math.Pi * (x[0] + 1))
			if !(math.Abs(y[0]-c) <= 1e-15) || !(math.Abs(y[1]-s) <= 1e-15) || y[2] != x[1] {
				t.Fatalf("%s: coordinates %v became %v", g.Name(), x, y)
			}
			// At the relative angle zero nothing jumps.
			x, y = p.Relative(u, u), p.Relative(u, g.Product(u, g.Exp(lie.Vector{-1e-12})))
			if !(math.Abs(x[0]-1) <= 1e-15) || !(math.Abs(x[1]) <= 1e-15) || !(math.Abs(x[0]-y[0])+math.Abs(x[1]-y[1]) <= 2e-12) {
				t.Fatalf("%s: coordinates of %v seen from itself are %v, and a little off %v", g.Name(), u, x, y)
			}
		}
		if lie.Periodic(p) != p {
			t.Errorf("%s has other periodic coordinates of its own", p.Name())
		}
	}
	for _, g := range []lie.Group{lie.RPlus, lie.Mirror} {
		if lie.Periodic(g) != g {
			t.Errorf("%s without angles became %s", g.Name(), lie.Periodic(g).Name())
		}
	}
}

func TestSplit(t *testing.T) {
	three := lie.NewChart("three", lie.Axis{Kind: lie.Line, Extent: 1}, lie.Axis{Kind: lie.Circle}, lie.Axis{Kind: lie.Line, Extent: 1})
	for _, c := range []struct {
		g interface {
			Name() string
			Split(n int) (lie.Counts, error)
		}
		n    int
		want lie.Counts
		err  string
	}{
		{lie.T2, 1, lie.Counts{1}, ""},
		{lie.T2, 8, lie.Counts{}, "lie: T(2) has no grid of 8 elements: its stabiliser has exactly 1"},
		{lie.SE2, 8, lie.Counts{8}, ""},
		{lie.SE2, 0, lie.Counts{}, "at least 1"},
		{lie.E2, 16, lie.Counts{8, 2}, ""},
		{lie.E2, 7, lie.Counts{}, "a multiple of 2"},
		{lie.E2, 0, lie.Counts{}, "a multiple of 2"},
		{lie.E2, -2, lie.Counts{}, "a multiple of 2"},
		{lie.Dihedral(4), 8, lie.Counts{4, 2}, ""},
		{lie.Dihedral(4), 16, lie.Counts{}, "exactly 8"},
		{lie.Sim2, 16, lie.Counts{4, 4}, ""},
		{lie.Sim2, 24, lie.Counts{6, 4}, ""},
		{lie.Sim2, 8, lie.Counts{4, 2}, ""},
		{lie.Sim2, 7, lie.Counts{7, 1}, ""},
		{lie.DirectProduct(lie.RPlus, lie.O2), 12, lie.Counts{3, 2, 2}, ""},
		{lie.DirectProduct(lie.Dihedral(4), lie.RPlus), 24, lie.Counts{4, 2, 3}, ""},
		{three, 27, lie.Counts{3, 3, 3}, ""},
		{three, 12, lie.Counts{3, 2, 2}, ""},
	} {
		got, err := c.g.Split(c.n)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s into %d: %v, %v, want %v, %q", c.g.Name(), c.n, got, err, c.want, c.err)
		}
	}
}

// The code in docs/adding-a-group.md is that of the example and of the table.
func TestDocumentedGroup(t *testing.T) {
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	code := read("example_shears_test.go") + read("lie_test.go")
	blocks := strings.Split(read("..", "docs", "adding-a-group.md"), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("the page has %d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(code, block) {
			t.Errorf("the page has this, the tests do not:\n%s", block)
		}
	}
}

func TestMisuse(t *testing.T) {
	line := lie.Axis{Kind: lie.Line, Extent: 1}
	for what, c := range map[string]struct {
		op string
		f  func()
	}{
		"no rotation":                    {"Cyclic", func() { lie.Cyclic(0) }},
		"too many rotations":             {"Dihedral", func() { lie.Dihedral(1<<16 + 1) }},
		"scalings by one":                {"Scalings", func() { lie.Scalings(1) }},
		"scalings beyond the largest":    {"Scalings", func() { lie.Scalings(1001) }},
		"scalings by no number":          {"Scalings", func() { lie.Scalings(math.NaN()) }},
		"four axes":                      {"NewChart", func() { lie.NewChart("four", line, line, line, line) }},
		"a line without extent":          {"NewChart", func() { lie.NewChart("line", lie.Axis{Kind: lie.Line}) }},
		"an endless line":                {"NewChart", func() { lie.NewChart("line", lie.Axis{Kind: lie.Line, Extent: math.Inf(1)}) }},
		"turns without order":            {"NewChart", func() { lie.NewChart("turns", lie.Axis{Kind: lie.Turns}) }},
		"turns of a great order":         {"NewChart", func() { lie.NewChart("turns", lie.Axis{Kind: lie.Turns, Order: 1<<16 + 1}) }},
		"an unknown kind":                {"NewChart", func() { lie.NewChart("unknown", lie.Axis{Kind: 9}) }},
		"actions that do not commute":    {"DirectProduct", func() { lie.DirectProduct(lie.Mirror, lie.SO2) }},
		"shears and rotations":           {"DirectProduct", func() { lie.DirectProduct(Shears, lie.Cyclic(4)) }},
		"shears and mirrors":             {"DirectProduct", func() { lie.DirectProduct(Shears, lie.Mirror) }}, // off the diagonal, in the second row alone
		"too many axes":                  {"DirectProduct", func() { lie.DirectProduct(lie.Sim2, lie.Sim2) }},
		"a periodic factor":              {"DirectProduct", func() { lie.DirectProduct(lie.RPlus, lie.Periodic(lie.SO2)) }},
		"other coordinates, of two axes": {"Periodic", func() { lie.Periodic(crowded{lie.SE2}) }},
		"a grid that there is not":       {"Grid", func() { lie.Cyclic(4).Grid(3) }},
	} {
		err, ok := panicValue(c.f).(*lie.Error)
		if !ok || err.Op != c.op || !strings.HasPrefix(err.Error(), "lie: "+c.op+": ") {
			t.Errorf("%s: panic with %v, want a *lie.Error of %s", what, err, c.op)
		}
	}
}

// upright is Mirror turned by a quarter: its reflection is that from top to bottom.
type upright struct{ lie.Group }

func (upright) Matrix(a lie.Element) [2][2]float64 {
	return [2][2]float64{{1 - 2*a[0], 0}, {0, 1}}
}

// Products have as many transformations as elements, and those that would have fewer are
// refused.
func TestFaithfulProducts(t *testing.T) {
	list := []lie.Group{lie.Mirror, upright{lie.Mirror}, lie.DirectProduct(lie.Mirror, upright{lie.Mirror}), lie.DirectProduct(lie.Cyclic(2), lie.Dihedral(3))}
	for n := 1; n <= 12; n++ {
		list = append(list, lie.Cyclic(n), lie.Dihedral(n))
	}
	made, refused := 0, 0
	for _, a := range list {
		for _, b := range list {
			err, _ := panicValue(func() { lie.DirectProduct(a, b) }).(*lie.Error)
			if err != nil && !strings.Contains(err.Error(), "in common") {
				continue // they do not commute, or have too many axes
			}
			seen := map[[4]float64]bool{}
			for _, x := range a.Grid(a.Components()) {
				for _, y := range b.Grid(b.Components()) {
					p, q := lie.Act(a, x, lie.Act(b, y, [2]float64{1, 0})), lie.Act(a, x, lie.Act(b, y, [2]float64{0, 1}))
					round := func(v float64) float64 { return math.Round(v*1e6) + 0 }
					seen[[4]float64{round(p[0]), round(p[1]), round(q[0]), round(q[1])}] = true
				}
			}
			if faithful := len(seen) == a.Components()*b.Components(); faithful != (err == nil) {
				t.Errorf("%s x %s has %d transformations: %v", a.Name(), b.Name(), len(seen), err)
			}
			if err == nil {
				made++
			} else {
				refused++
			}
		}
	}
	if made < 50 || refused < 50 {
		t.Errorf("%d products are made and %d refused", made, refused)
	}
	for _, pair := range [][2]lie.Group{
		{lie.SO2, lie.SO2}, {lie.SO2, lie.Cyclic(2)}, {lie.Sim2, lie.Cyclic(3)}, {lie.Sim2, lie.RPlus}, {lie.RPlus, lie.Scalings(3)}, {lie.O2, lie.Cyclic(2)}, {Shears, Shears},
	} {
		if err, _ := panicValue(func() { lie.DirectProduct(pair[0], pair[1]) }).(*lie.Error); err == nil || !strings.Contains(err.Error(), "in common") {
			t.Errorf("%s x %s: %v", pair[0].Name(), pair[1].Name(), err)
		}
	}
	lie.DirectProduct(Shears, lie.DirectProduct(lie.Cyclic(2), lie.RPlus))
	lie.DirectProduct(lie.Sim2, lie.T2)
	lie.DirectProduct(lie.Cyclic(65535), lie.Cyclic(65536))
}

// What the kind of an axis decides does not depend on what is given: a line of order 1, say, is not left out
// where products are checked.
func TestNewChartCompletes(t *testing.T) {
	got := lie.NewChart("all", lie.Axis{Kind: lie.Circle, Extent: 1, Order: 1}, lie.Axis{Kind: lie.Line, Extent: 2, Order: 1}, lie.Axis{Kind: lie.Turns, Extent: 3, Order: 4})
	if want := []lie.Axis{{Kind: lie.Circle, Extent: math.Pi}, {Kind: lie.Line, Extent: 2}, {Kind: lie.Turns, Order: 4}}; !slices.Equal(got.Axes(), want) {
		t.Errorf("axes %v, want %v", got.Axes(), want)
	}
	if got := lie.NewChart("flip", lie.Axis{Kind: lie.Flip, Extent: 1, Order: 1}).Axes()[0]; got != (lie.Axis{Kind: lie.Flip, Order: 2}) {
		t.Errorf("axis %v", got)
	}
	odd := shears{lie.NewChart("shears", lie.Axis{Kind: lie.Line, Extent: 1, Order: 1})}
	if err, _ := panicValue(func() { lie.DirectProduct(odd, lie.Cyclic(4)) }).(*lie.Error); err == nil || !strings.Contains(err.Error(), "order matters") {
		t.Errorf("shears and rotations: %v", err)
	}
}

// numbers is a Source of these.
type numbers []float64

func (n *numbers) Float64() (x float64) {
	x, *n = (*n)[0], (*n)[1:]
	return x
}

// An element is drawn from one number for each axis, in order, and seeds depend on which.
func TestHaarOfNumbers(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		want  lie.Element
	}{
		{lie.T2, lie.Element{}}, {lie.SE2, lie.Element{math.Pi / 2}}, {lie.Cyclic(12), lie.Element{3}}, {lie.RPlus, lie.Element{-math.Ln2 / 2}},
		{lie.E2, lie.Element{math.Pi / 2, 1}}, {lie.Sim2, lie.Element{math.Pi / 2, math.Ln2 / 2}},
		{lie.DirectProduct(lie.RPlus, lie.O2), lie.Element{-math.Ln2 / 2, 3 * math.Pi / 2, 0}},
	} {
		src := numbers{.25, .75, 0, -1}
		if got := c.group.Haar(&src); got != c.want || len(src) != 4-len(c.group.Axes()) {
			t.Errorf("%s: %v from %d numbers, want %v", c.group.Name(), got, 4-len(src), c.want)
		}
	}
}

// crowded has more coordinates than axes.
type crowded struct{ lie.Group }

func (crowded) Coordinates() int { return 2 }

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
		if rel := lie.SE2.Relative(lie.Element{}, lie.Element{x}); !(rel[0] >= -1 && rel[0] < 1) {
			t.Errorf("relative coordinate of %v is %v", x, rel[0])
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := lie.SE2.Exp(lie.Vector{x})[0]; !math.IsNaN(got) {
			t.Errorf("exp %v = %v, want NaN", x, got)
		}
	}
}

// The gradient of the sign of O(2), against the group's formulas for signs that are
// any number.
func TestSignGrad(t *testing.T) {
	const h = 1e-5
	src := stream.New(1, "sign", 0)
	for _, g := range []lie.Group{lie.E2, lie.DirectProduct(lie.O2, lie.RPlus)} {
		for range cases {
			u, v, q, dy := g.Haar(src), g.Haar(src), point(src), point(src)
			dx := lie.Coordinates{uniform(src, -2, 2), uniform(src, -2, 2)}
			s, p := 1-2*u[1], 1-2*v[1]
			act := func(s float64) float64 {
				y := g.InverseAct(lie.Element{s * u[0], 0, u[2]}, q)
				return dy[0]*y[0] + s*dy[1]*y[1]
			}
			relative := func(s, p float64) float64 { return dx[0]*(v[0]-s*p*u[0])/math.Pi + dx[1]*s*p }
			du, dv := g.RelativeGrad(dx, u, v)
			for what, c := range map[string][2]float64{
				"action":                 {g.InverseActGrad(u, q, dy)[1], (act(s+h) - act(s-h)) / (2 * h)},
				"relative element, by u": {du[1], (relative(s+h, p) - relative(s-h, p)) / (2 * h)},
				"relative element, by v": {dv[1], (relative(s, p+h) - relative(s, p-h)) / (2 * h)},
			} {
				if !(math.Abs(c[0]-c[1]) <= 2e-8*max(1, math.Abs(c[1]))) {
					t.Fatalf("%s, %s of (%v, %v): %v, by differences %v", g.Name(), what, u, v, c[0], c[1])
				}
			}
		}
	}
}

// What a kernel is fed of two elements of a grid does not change when both are moved along
// the grid, however the angles are rounded: not even where the relative angle is zero, at
// which the coordinate jumps.
func TestRelativeOnGrids(t *testing.T) {
	for _, g := range []lie.Group{lie.SE2, lie.E2} {
		for n := 1; n <= 24; n++ {
			grid := g.Grid(n * g.Components())
			for _, w := range grid {
				for _, u := range grid {
					for _, v := range grid {
						x, y := g.Relative(u, v), g.Relative(g.Product(w, u), g.Product(w, v))
						if !(math.Abs(x[0]-y[0]) <= 1e-9) || x[1] != y[1] {
							t.Fatalf("%s, %d angles: %v and %v are at %v, and moved by %v at %v", g.Name(), n, u, v, x, w, y)
						}
					}
				}
			}
		}
	}
	if x := lie.SE2.Relative(lie.Element{}, lie.Element{math.NaN()}); !math.IsNaN(x[0]) {
		t.Errorf("of an angle that is no number the kernel is fed %v", x[0])
	}
}
