package lie

import (
	"fmt"
	"math"
)

// Kind says what an axis of the elements of a group is.
type Kind uint8

const (
	// Circle is an angle in radians, [0, 2pi), such as that of a rotation.
	Circle Kind = iota
	// Line is any real number, such as the logarithm of a scale.
	Line
	// Turns counts turns by 2pi/Order: it is an integer in [0, Order).
	Turns
	// Flip is 1 or 0, such as whether an element mirrors.
	Flip
)

// Axis describes one coordinate of the elements of a group. A circle or a line
// is continuous, a coordinate of the Lie algebra too; turns and flips are
// discrete.
type Axis struct {
	Kind Kind
	// Extent bounds the interval [-Extent, Extent] of a continuous axis. On a
	// circle it is pi, and the interval covers the circle once. Of a line it is
	// the part that is sampled, such as log 2 for scales between one half and two.
	Extent float64
	// Order is the number of values of a discrete axis, 2 for a flip, and 0 on the others.
	Order int
}

// Continuous reports whether elements can move along the axis.
func (a Axis) Continuous() bool { return a.Kind == Circle || a.Kind == Line }

// maxOrder bounds Axis.Order. It is far above what a network can afford.
const maxOrder = 1 << 16

// complete fills in what the kind decides, and says what is wrong with the rest.
func (a *Axis) complete() (problem string) {
	switch a.Kind {
	case Circle:
		a.Extent, a.Order = math.Pi, 0
	case Line:
		if !(a.Extent > 0) || math.IsInf(a.Extent, 0) {
			return fmt.Sprintf("the extent of a line is %v; positive numbers are allowed", a.Extent)
		}
		a.Order = 0
	case Turns:
		if a.Order < 1 || a.Order > maxOrder {
			return fmt.Sprintf("the order of turns is %d; 1 to %d are allowed", a.Order, maxOrder)
		}
		a.Extent = 0
	case Flip:
		a.Extent, a.Order = 0, 2
	default:
		return fmt.Sprintf("an axis is of kind %d; Circle, Line, Turns and Flip are allowed", a.Kind)
	}
	return ""
}

// grid returns value i of n that discretise the axis uniformly, with 0 among them.
func (a Axis) grid(i, n int) float64 {
	switch a.Kind {
	case Circle:
		return wrap(tau * float64(i) / float64(n))
	case Line:
		return a.Extent * (2 * float64(i-n/2) / float64(n)) // never beyond the extent
	}
	return float64(i)
}

// haar returns the value at u, uniform in [0, 1).
func (a Axis) haar(u float64) float64 {
	switch a.Kind {
	case Circle:
		return wrap(tau * u)
	case Line:
		return a.Extent * (2*u - 1)
	}
	return math.Floor(float64(a.Order) * u)
}

// Chart is what a group is without its product and its action: a name, and the
// axes that its elements have coordinates on. A group embeds one and has from it
// the methods of Group that need no more.
type Chart struct {
	name            string
	axes            [MaxAxes]Axis
	n               int // of axes
	dim, components int
}

// NewChart returns the chart of a group of that name whose elements have these
// coordinates. The Extent of a circle and the Order of a flip need not be given. It
// panics with *Error when there are more than MaxAxes axes, or one of them
// cannot be.
func NewChart(name string, axes ...Axis) *Chart {
	if len(axes) > MaxAxes {
		panic(&Error{"NewChart", fmt.Sprintf("%s has %d axes; at most %d are allowed", name, len(axes), MaxAxes)})
	}
	c := &Chart{name: name, n: len(axes), components: 1}
	for i, a := range axes {
		if problem := a.complete(); problem != "" {
			panic(&Error{"NewChart", name + ": " + problem})
		}
		c.axes[i] = a
		if a.Continuous() {
			c.dim++
		} else {
			c.components *= a.Order
		}
	}
	return c
}

// Name, Axes, Dim and Components are as in Group.
func (c *Chart) Name() string    { return c.name }
func (c *Chart) Axes() []Axis    { return c.axes[:c.n] }
func (c *Chart) Dim() int        { return c.dim }
func (c *Chart) Components() int { return c.components }

// Exp is as in Group. Entries of v on discrete axes do not matter.
func (c *Chart) Exp(v Vector) (a Element) {
	for i, axis := range c.Axes() {
		switch axis.Kind {
		case Circle:
			a[i] = wrap(v[i])
		case Line:
			a[i] = v[i]
		}
	}
	return a
}

// Log is as in Group.
func (c *Chart) Log(a Element) (v Vector) {
	for i, axis := range c.Axes() {
		switch axis.Kind {
		case Circle:
			if v[i] = wrap(a[i]); v[i] >= math.Pi {
				v[i] -= tau
			}
		case Line:
			v[i] = a[i]
		}
	}
	return v
}

// Coordinates returns the number of axes: Embed has one coordinate for each.
func (c *Chart) Coordinates() int { return c.n }

// Embed returns the coordinates that a kernel network is fed of the relative
// element w = u^-1 v. On a circle it is the angle scaled to [-1, 1), w/pi - 1; it
// jumps from one end to the other at the identity, for which an angle is taken that
// rounding has left just below 2pi. Turns are angles too. Of a flip
// it is the sign, 1 - 2w. On a line it is w/(2 Extent), within [-1, 1] when u and v
// are within the extent.
func (c *Chart) Embed(w Element) (x Coordinates) {
	for i, axis := range c.Axes() {
		switch axis.Kind {
		case Circle:
			if x[i] = w[i]/math.Pi - 1; w[i] > tau-rounding {
				x[i] = -1
			}
		case Line:
			x[i] = w[i] / (2 * axis.Extent)
		case Turns:
			x[i] = 2*w[i]/float64(axis.Order) - 1
		case Flip:
			x[i] = 1 - 2*w[i]
		}
	}
	return x
}

// EmbedGrad returns the gradient of <dx, Embed(w)> with respect to w. It is the
// same at every w.
func (c *Chart) EmbedGrad(dx Coordinates) (dw Vector) {
	for i, axis := range c.Axes() {
		switch axis.Kind {
		case Circle:
			dw[i] = dx[i] / math.Pi
		case Line:
			dw[i] = dx[i] / (2 * axis.Extent)
		}
	}
	return dw
}

// Split is as in Group.
func (c *Chart) Split(n int) (Counts, error) {
	counts, problem := c.split(n)
	if problem != "" {
		return Counts{}, fmt.Errorf("lie: %s", problem)
	}
	return counts, nil
}

// split is Split; it says what is wrong with n.
func (c *Chart) split(n int) (counts Counts, problem string) {
	rest := n / c.components // elements of one component
	if n < 1 || n%c.components != 0 || c.dim == 0 && rest != 1 {
		allowed := fmt.Sprintf("a multiple of %d is needed", c.components)
		switch {
		case c.dim == 0:
			allowed = fmt.Sprintf("its stabiliser has exactly %d", c.components)
		case c.components == 1:
			allowed = "at least 1 is needed"
		}
		return counts, fmt.Sprintf("%s has no grid of %d elements: %s", c.name, n, allowed)
	}
	axes := c.dim // continuous ones that are left
	for i := c.n - 1; i >= 0; i-- {
		if !c.axes[i].Continuous() {
			counts[i] = c.axes[i].Order
			continue
		}
		counts[i] = root(rest, axes)
		rest /= counts[i]
		axes--
	}
	return counts, ""
}

// root returns the largest divisor of n whose k-th power is at most n.
func root(n, k int) int {
	if k == 1 {
		return n
	}
	best := 1
	for d := 2; d <= n/d; d++ {
		if n%d == 0 && math.Pow(float64(d), float64(k)) <= float64(n) {
			best = d
		}
	}
	return best
}

// Grid is as in Group.
func (c *Chart) Grid(n int) []Element {
	counts, problem := c.split(n)
	if problem != "" {
		panic(&Error{"Grid", problem})
	}
	grid := make([]Element, n)
	for k := range grid {
		rest := k
		for i, axis := range c.Axes() {
			grid[k][i] = axis.grid(rest%counts[i], counts[i])
			rest /= counts[i]
		}
	}
	return grid
}

// Haar is as in Group. H0 is the image of its Lie algebra under a homomorphism,
// so that its measure is that of the algebra; the components have equal parts.
func (c *Chart) Haar(src Source) (a Element) {
	for i, axis := range c.Axes() {
		a[i] = axis.haar(src.Float64())
	}
	return a
}

const tau = 2 * math.Pi

// rounding is more than what the angle of a product of a few elements is off by. Those of
// a grid must not depend on how it was rounded on which side of the identity they lie.
const rounding = 1e-12

// wrap returns x mod 2pi in [0, 2pi), NaN for NaN and infinities.
func wrap(x float64) float64 {
	// The first three cases give what the last would, without the division: the
	// subtraction is exact there.
	switch {
	case 0 <= x && x < tau:
		return x
	case tau <= x && x < 2*tau:
		return x - tau
	case -tau <= x && x < 0:
		x += tau
	default:
		if x = math.Mod(x, tau); x < 0 {
			x += tau
		}
	}
	if x == tau { // a negative x too small to show beside 2pi
		return 0
	}
	return x
}
