package gumbel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/lie"
)

// Method says how a list is drawn.
type Method uint8

const (
	// Random places elements at random on every continuous axis, within an interval
	// that is learned when the distribution is partial. Discrete axes have all their
	// values, of which a partial distribution drops some.
	Random Method = iota
	// Deterministic places elements on the grid of the group. A partial distribution
	// drops some of them on continuous axes too.
	Deterministic
)

// String returns "random" or "deterministic".
func (m Method) String() string {
	switch m {
	case Random:
		return "random"
	case Deterministic:
		return "deterministic"
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Jitter says how the elements of a list are spread over an interval. But for IID, it is
// cut into as many equal cells as there are elements on its axis, one element a cell.
type Jitter uint8

const (
	// AutoJitter is Stratified where a subset is learned, so that the subset means what
	// it says, and Comb on the whole group, where a comb is closed under the turns that a
	// layer is to be equivariant to.
	AutoJitter Jitter = iota
	// Stratified places every element by a draw of its own.
	Stratified
	// Comb places all elements by one shared draw, so that they are equally
	// spaced.
	Comb
	// IID places every element anywhere on the interval, independently of the others.
	IID
)

// For returns what j stands for on a subset that is learned, or not: j, but for AutoJitter.
func (j Jitter) For(learned bool) Jitter {
	switch {
	case j != AutoJitter:
		return j
	case learned:
		return Stratified
	}
	return Comb
}

// Measure is the measure that sums over a list stand for: what weight an element
// has that was not dropped.
type Measure uint8

const (
	// Counting gives every element the weight 1, as the published implementation
	// does. Smaller subsets then have smaller sums.
	Counting Measure = iota
	// Mean gives each of n elements the weight 1/n: sums are means over the subset.
	Mean
	// Haar gives every element the Haar measure of its cell, of which the whole group
	// has 1 (its sampled part, where it is not compact): sums are integrals over the
	// subset, as in the paper.
	Haar
)

// String returns "counting", "mean" or "haar".
func (m Measure) String() string {
	switch m {
	case Counting:
		return "counting"
	case Mean:
		return "mean"
	case Haar:
		return "haar"
	}
	return fmt.Sprintf("Measure(%d)", uint8(m))
}

// Defaults of Config.
const (
	DefaultInitTemperature = 0.5
	DefaultEndTemperature  = 1e-4
)

// MaxSteps bounds Config.Steps. Beyond it a float32 does not count draws any more.
const MaxSteps = 1 << 24

const (
	// maxElements bounds Config.Max. It is far above what a network can afford and
	// small enough for a float32 to count exactly.
	maxElements = 1 << 16
	// maxListed bounds the elements of all lists of an Elements: far beyond what memory has
	// room for.
	maxListed = 1 << 30
	// keepName ends the name of what is learned of elements that are kept or dropped, in
	// place of the last part of Config.Name.
	keepName = "keep"

	// counterName ends the name of the count of draws, in place of the last part of
	// Config.Name.
	counterName = "group.gumbel_iter_counter"
)

// Config describes a Distribution.
type Config struct {
	Group lie.Group
	// Max is the number of elements of a list that covers the whole group, one of
	// those that Group.Split allows.
	Max int
	// Partial makes the subset something that is learned. Otherwise lists cover the
	// whole group.
	Partial bool
	Method  Method
	// Jitter is that of Random elements. It is ignored under Compat, which implies
	// Comb.
	Jitter Jitter
	// Measure is that of sums over the lists.
	Measure Measure
	// InitTemperature and EndTemperature are those of the relaxed Bernoulli
	// distributions at the first draw of training and after Steps of them; 0 stands
	// for 0.5 and 1e-4. Without Steps the temperature stays as it begins.
	InitTemperature, EndTemperature float64
	Steps                           int
	// Compat reproduces the published implementation: comb, element count by
	// |theta|, theta never clamped, its rounding, its biased gradient, dropped
	// elements that get no gradient, the straight-through factor at the element's
	// coordinate instead of its weight, and a temperature without an end.
	Compat bool
	// Name is the name of the learned half-widths, such as "blocks.0.gconv1.probs". What
	// is learned of elements that are kept or dropped is named beside it,
	// "blocks.0.gconv1.keep", so what stands before the last dot has to tell distributions
	// apart. It is needed when Partial.
	Name string
}

// check fills in defaults and reports the first field that cannot be used.
func (c *Config) check() error {
	if c.Group == nil {
		return fmt.Errorf("gumbel: Config.Group is nil; a group such as lie.SE2 is needed")
	}
	bad := func(field string, value any, allowed string) error {
		return fmt.Errorf("gumbel: Config.%s is %v; allowed are %s", field, value, allowed)
	}
	if c.InitTemperature == 0 {
		c.InitTemperature = DefaultInitTemperature
	}
	if c.EndTemperature == 0 {
		c.EndTemperature = min(DefaultEndTemperature, c.InitTemperature)
	}
	switch {
	case c.Max < 1 || c.Max > maxElements:
		return bad("Max", c.Max, fmt.Sprintf("1 to %d", maxElements))
	case c.Method > Deterministic:
		return bad("Method", c.Method, "random and deterministic")
	case c.Jitter > IID:
		return bad("Jitter", c.Jitter, "AutoJitter (0), Stratified (1), Comb (2) and IID (3)")
	case c.Measure > Haar:
		return bad("Measure", c.Measure, "counting, mean and haar")
	case c.Compat && c.Measure != Counting:
		return bad("Measure", c.Measure, "counting with Compat: the published implementation has no other")
	case !(c.InitTemperature > 0) || math.IsInf(c.InitTemperature, 0):
		return bad("InitTemperature", c.InitTemperature, "positive numbers, or 0 for 0.5")
	case !(c.EndTemperature > 0 && c.EndTemperature <= c.InitTemperature):
		return bad("EndTemperature", c.EndTemperature, fmt.Sprintf("positive numbers up to InitTemperature, %v, or 0 for 1e-4", c.InitTemperature))
	case c.Steps < 0 || c.Steps > MaxSteps:
		return bad("Steps", c.Steps, fmt.Sprintf("0 to %d", MaxSteps))
	}
	if _, err := c.Group.Split(c.Max); err != nil {
		return fmt.Errorf("gumbel: Config.Max is %d: %w", c.Max, err)
	}
	c.Jitter = c.Jitter.For(c.Partial)
	if c.Compat {
		c.Jitter = Comb
	}
	return c.checkPartial()
}

// checkPartial is check for what is learned.
func (c *Config) checkPartial() error {
	switch {
	case !c.Partial:
		return nil
	case c.variables() == 0:
		return fmt.Errorf("gumbel: Config.Partial is true, but of %s with %d elements there is no subset to learn; it must be false", c.Group.Name(), c.Max)
	case c.Compat && !Published(c.Group):
		return fmt.Errorf("gumbel: Config.Compat and Config.Partial are true, but the published implementation learns no subsets of %s; one of the two must be false", c.Group.Name())
	case c.Name == "":
		return fmt.Errorf("gumbel: Config.Name is empty; the learned parameter needs a name")
	}
	return nil
}

// variables returns the number of values that a partial distribution learns.
func (c *Config) variables() int {
	n := 0
	counts, _ := c.Group.Split(c.Max)
	for i, axis := range c.Group.Axes() {
		if c.Method == Random && axis.Continuous() {
			n++
		} else {
			n += counts[i] - 1
		}
	}
	return n
}

// Published reports whether Config.Compat knows how the published implementation learns
// subsets of the group, or would: it has one continuous axis, and no others but the flip of lie.E2,
// since what it learns of a flip comes from the gradient of a sign that no other group has.
func Published(group lie.Group) bool {
	axes := group.Axes()
	for i, a := range axes {
		flips := a.Kind == lie.Flip && !(i > 0 && axes[i-1].Kind == lie.Circle)
		if flips || a.Kind == lie.Turns && a.Order > 1 {
			return false
		}
	}
	return group.Dim() == 1
}

// mirrors reports whether the group has a flip.
func (c *Config) mirrors() bool {
	return slices.ContainsFunc(c.Group.Axes(), func(a lie.Axis) bool { return a.Kind == lie.Flip })
}

// beside returns the name of a parameter beside Name.
func (c *Config) beside(name string) string {
	return c.Name[:strings.LastIndexByte(c.Name, '.')+1] + name
}
