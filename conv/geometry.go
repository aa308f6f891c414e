package conv

import (
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// Tap is a point of the kernel grid: one that lies within the disc of radius one or, on a group that scales the plane, any.
type Tap struct {
	// Row and Col are steps of the grid from its centre, -k/2..k/2.
	Row, Col int
	// Q is the offset on [-1, 1] x [-1, 1] that it stands for.
	Q [2]float64
}

// grid returns the live taps of a k x k grid on [-1, 1] per axis, in row-major
// order. The disc is decided on the grid as it is, in integers: turning it does
// not change radii, so that points at radius one stay for every element. k is
// odd; for k = 1 the one tap is the centre.
func grid(k int) []Tap {
	r := k / 2
	return slices.DeleteFunc(square(k), func(t Tap) bool { return t.Row*t.Row+t.Col*t.Col > r*r })
}

// square returns all taps of a k x k grid, as grid does those of its disc.
func square(k int) []Tap {
	r := k / 2
	var taps []Tap
	for row := -r; row <= r; row++ {
		for col := -r; col <= r; col++ {
			t := Tap{Row: row, Col: col}
			if r > 0 {
				t.Q = [2]float64{float64(row) / float64(r), float64(col) / float64(r)}
			}
			taps = append(taps, t)
		}
	}
	return taps
}

// coordinates writes what a kernel network is fed, and carries the gradient of
// that back to the elements. The columns of x are (s, i, j, t): list s, output
// element i, input element j, tap t, the last innermost. Its rows are, as the kind
// of layer has them, the row and column of u_i^-1 q_t and then the group
// coordinates of u_i^-1 v_j.
//
// All arithmetic is in float64, in a fixed order, and rounded once.
type coordinates struct {
	group    lie.Group
	taps     []Tap // of one tap when the kernel has no extent
	spatial  bool  // has rows for u^-1 q
	relative bool  // has rows for u^-1 v

	team *tensor.Team // of a CPU, or nil

	// The pass at hand: its lists and, on the way back, their gradients.
	u, v       []lie.Element
	du, dv     []lie.Vector // nil on the way there
	x          []float32
	nIn, lists int
	distance   int // of the rows of x
}

func newCoordinates(g lie.Group, taps []Tap, spatial, relative bool) coordinates {
	return coordinates{group: g, taps: taps, spatial: spatial, relative: relative}
}

// bind names the team that shares the lists out, nil for none.
func (c *coordinates) bind(team *tensor.Team) { c.team = team }

// rows returns the number of coordinates of a position.
func (c *coordinates) rows() int {
	n := 0
	if c.spatial {
		n += 2
	}
	if c.relative {
		n += c.group.Coordinates()
	}
	return n
}

// write fills x [rows, lists*nOut*nIn*len(taps)] for lists of output elements u
// and input elements v, one after another. v is nil and nIn one for a layer whose
// input has no group axis.
func (c *coordinates) write(x []float32, u, v []lie.Element, nIn, lists int) {
	c.x, c.u, c.v, c.nIn, c.lists = x, u, v, nIn, lists
	c.run()
}

// run goes through the lists.
func (c *coordinates) run() {
	c.distance = len(c.u) * c.nIn * len(c.taps)
	if c.team == nil {
		c.Do(0, c.lists, 0)
	} else {
		c.team.For(c.lists, max(1, c.lists/16), c)
	}
	c.x, c.u, c.v, c.du, c.dv = nil, nil, nil, nil, nil
}

// Do takes the lists lo <= s < hi. See tensor.Task.
func (c *coordinates) Do(lo, hi, _ int) {
	for s := lo; s < hi; s++ {
		x, u, v := c.x[s*(c.distance/c.lists):], part(c.u, s, c.lists), part(c.v, s, c.lists)
		if c.du == nil {
			c.writeList(x, u, v)
		} else {
			c.listGradient(part(c.du, s, c.lists), part(c.dv, s, c.lists), x, u, v)
		}
	}
}

// part returns part s of x cut into lists parts.
func part[T any](x []T, s, lists int) []T {
	n := len(x) / lists
	return x[s*n : (s+1)*n]
}

// writeList is write for one list.
func (c *coordinates) writeList(x []float32, u, v []lie.Element) {
	taps, nIn, p := len(c.taps), c.nIn, c.distance
	at := 0 // first row of the group coordinates
	if c.spatial {
		rows, cols := x, x[p:]
		for i, ui := range u {
			for t, tap := range c.taps {
				q := c.group.InverseAct(ui, tap.Q)
				row, col := float32(q[0]), float32(q[1])
				for k := i*nIn*taps + t; k < (i+1)*nIn*taps; k += taps {
					rows[k], cols[k] = row, col
				}
			}
		}
		at = 2
	}
	if !c.relative {
		return
	}
	n := c.group.Coordinates()
	for i, ui := range u {
		for j, vj := range v {
			rel := c.group.Relative(ui, vj)
			first := (i*nIn + j) * taps
			for d, r := range rel[:n] {
				run := x[(at+d)*p+first:][:taps]
				for t := range run {
					run[t] = float32(r)
				}
			}
		}
	}
}

// opposite reports whether the inverses of a and b act on the plane as each other's negative.
func opposite(g lie.Group, a, b lie.Element, rounding float64) bool {
	for _, q := range [][2]float64{{1, 0}, {0, 1}} {
		x, y := g.InverseAct(a, q), g.InverseAct(b, q)
		if math.Abs(x[0]+y[0]) > rounding || math.Abs(x[1]+y[1]) > rounding {
			return false
		}
	}
	return true
}

// hasPairs reports whether there is half a turn between elements of a finite group, or of a grid of n on
// another; also where there is no such grid.
func hasPairs(g lie.Group, n int) bool {
	if g.Dim() == 0 {
		n = g.Components()
	}
	if _, err := g.Split(n); err != nil {
		return true
	}
	for _, u := range g.Grid(n) {
		if opposite(g, lie.Element{}, u, 1e-12) {
			return true
		}
	}
	return false
}

// pairRuns returns in how many runs the elements are pairs, see Shape.Runs, up to the rounding of float64, or 0 where
// they are not. More than one are for groups that keep lengths, whose kernels have no window.
func (c *coordinates) pairRuns(u, v []lie.Element) int {
	switch {
	case c.paired(u, v, 1):
		return 1
	case !ChangesLengths(c.group) && c.paired(u, v, 2):
		return 2
	}
	return 0
}

// paired reports whether the elements are pairs in so many runs.
func (c *coordinates) paired(u, v []lie.Element, runs int) bool {
	n, m := len(u)/(2*runs), len(v)/(2*runs)
	if n == 0 || m == 0 || len(u) != 2*runs*n || len(v) != 2*runs*m {
		return false
	}
	const rounding = 1e-12
	for e := range runs * n {
		i := firstOfPair(e, n)
		if !opposite(c.group, u[i], u[i+n], rounding) {
			return false
		}
		for j := range v {
			partner := j/(2*m)*(2*m) + (j+m)%(2*m)
			rel, other := c.group.Relative(u[i], v[j]), c.group.Relative(u[i+n], v[partner])
			for d := range rel {
				if math.Abs(rel[d]-other[d]) > rounding {
					return false
				}
			}
		}
	}
	return true
}

// gradient adds to du and dv what the gradient dx (laid out like x) means for
// the elements. dv is nil where v is.
func (c *coordinates) gradient(du, dv []lie.Vector, dx []float32, u, v []lie.Element, nIn, lists int) {
	c.x, c.u, c.v, c.du, c.dv, c.nIn, c.lists = dx, u, v, du, dv, nIn, lists
	c.run()
}

// listGradient is gradient for one list.
func (c *coordinates) listGradient(du, dv []lie.Vector, dx []float32, u, v []lie.Element) {
	taps, nIn, p := len(c.taps), c.nIn, c.distance
	at := 0
	if c.spatial {
		rows, cols := dx, dx[p:]
		for i, ui := range u {
			for t, tap := range c.taps {
				var dq [2]float64
				for k := i*nIn*taps + t; k < (i+1)*nIn*taps; k += taps {
					dq[0] += float64(rows[k])
					dq[1] += float64(cols[k])
				}
				add(&du[i], c.group.InverseActGrad(ui, tap.Q, dq))
			}
		}
		at = 2
	}
	if !c.relative {
		return
	}
	n := c.group.Coordinates()
	var rel lie.Coordinates
	for i, ui := range u {
		for j, vj := range v {
			first := (i*nIn + j) * taps
			for d := range rel[:n] {
				s := 0.0
				for _, g := range dx[(at+d)*p+first:][:taps] {
					s += float64(g)
				}
				rel[d] = s
			}
			gu, gv := c.group.RelativeGrad(rel, ui, vj)
			add(&du[i], gu)
			add(&dv[j], gv)
		}
	}
}

func add(sum *lie.Vector, v lie.Vector) {
	for k := range sum {
		sum[k] += v[k]
	}
}

// Padding says how a kernel meets the border of the plane.
type Padding uint8

const (
	Same  Padding = iota // zeros around: the output plane is as large as the input
	Valid                // the kernel stays inside: the output plane is k-1 smaller
)

// String returns "same" or "valid".
func (p Padding) String() string {
	switch p {
	case Same:
		return "same"
	case Valid:
		return "valid"
	}
	return fmt.Sprintf("Padding(%d)", uint8(p))
}

// ParsePadding is the inverse of Padding.String.
func ParsePadding(s string) (Padding, error) {
	for _, p := range []Padding{Same, Valid} {
		if s == p.String() {
			return p, nil
		}
	}
	return 0, fmt.Errorf("conv: padding %q; allowed are same and valid", s)
}

// live returns the elements of a list and a place for their gradient, or
// nothing for no list.
func live(e *gumbel.Elements) ([]lie.Element, []lie.Vector) {
	if e == nil {
		return nil, nil
	}
	return e.G, e.Grad
}
