package gumbel

import (
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Jitter says how the elements of a list are spread over the subset. The subset
// is cut into as many equal cells as the list has elements, one element a cell.
type Jitter uint8

const (
	// Stratified places every element of the list by a draw of its own.
	Stratified Jitter = iota
	// Comb places all elements of the list by one shared draw, so that they are
	// equally spaced.
	Comb
)

// MinTheta and MaxTheta bound a learned half-width (Uniform.Clamp). Above
// MaxTheta the subset would overlap itself; below MinTheta too little of it is
// left for the gradient to widen it again.
const (
	MinTheta = 0.02
	MaxTheta = 1
)

// maxElements bounds UniformConfig.Max. It is far above what a network can
// afford and small enough for a float32 to count exactly.
const maxElements = 1 << 16

// UniformConfig describes a Uniform.
type UniformConfig struct {
	// Group is a connected group with at most one Lie-algebra coordinate, or a
	// finite group.
	Group lie.Group
	// Max is the number of elements of a list that covers the whole group.
	Max int
	// Partial makes the half-width a parameter that is learned. Otherwise lists
	// cover the whole group.
	Partial bool
	// Jitter is ignored under Compat, which implies Comb.
	Jitter Jitter
	// Compat reproduces the published implementation: comb, element count by
	// |theta|, theta never clamped, its rounding, and its biased gradient.
	Compat bool
	// Name is the name of the parameter, such as "blocks.0.gconv1.probs". It is
	// needed when Partial.
	Name string
}

// Uniform is the uniform distribution over the subset exp([-theta E, theta E])
// of a group, where [-E, E] is the extent of its Lie algebra (pi for rotations)
// and theta a parameter (Romero & Lohit 2022, section 4). At theta = 1 the
// subset is the whole group.
//
// A list has n elements, with u_i uniform in [0, 1):
//
//	partial:      g_i = exp(theta E (2(i+u_i)/n - 1)),  n = max(1, min(Max, ceil(Max theta)))
//	not partial:  g_i = exp(2E (i+u_i)/n),              n = Max
//
// A group that is not compact has -E added in the second exponent. A finite
// group has no jitter: its list is its Grid. Several lists (NewLists) are drawn
// independently, at the same theta and hence with the same n.
type Uniform struct {
	cfg    UniformConfig
	axis   int // the continuous one, which elements are spread over
	extent float64
	start  float64       // exponent at which a full list begins
	grid   []lie.Element // the list, for finite groups
	theta  *nn.Parameter // nil unless partial
	params []*nn.Parameter
	dev    tensor.Device

	last float32    // theta of the last list
	host [1]float32 // what passes between host and device
}

// NewUniform returns the distribution, theta = 1. Errors name the field that
// cannot be used and what is allowed.
func NewUniform(cfg UniformConfig) (*Uniform, error) {
	if cfg.Group == nil {
		return nil, fmt.Errorf("gumbel: UniformConfig.Group is nil; a group such as lie.SE2 is needed")
	}
	name, dim := cfg.Group.Name(), cfg.Group.Dim()
	if dim > 1 {
		return nil, fmt.Errorf("gumbel: UniformConfig.Group %s has %d Lie-algebra coordinates; allowed are 0 and 1", name, dim)
	}
	if dim == 1 && cfg.Group.Components() != 1 {
		return nil, fmt.Errorf("gumbel: UniformConfig.Group %s has %d components; allowed are connected groups and finite ones", name, cfg.Group.Components())
	}
	if cfg.Max < 1 || cfg.Max > maxElements {
		return nil, fmt.Errorf("gumbel: UniformConfig.Max is %d; allowed are 1 to %d", cfg.Max, maxElements)
	}
	if _, err := cfg.Group.Split(cfg.Max); err != nil {
		return nil, fmt.Errorf("gumbel: UniformConfig.Max is %d: %w", cfg.Max, err)
	}
	if cfg.Jitter > Comb {
		return nil, fmt.Errorf("gumbel: UniformConfig.Jitter is %d; allowed are Stratified (0) and Comb (1)", cfg.Jitter)
	}
	if cfg.Partial && dim == 0 {
		return nil, fmt.Errorf("gumbel: UniformConfig.Partial is true, but %s has no Lie algebra to learn a subset of; it must be false", name)
	}
	if cfg.Partial && cfg.Name == "" {
		return nil, fmt.Errorf("gumbel: UniformConfig.Name is empty; the learned half-width needs a parameter name")
	}
	if cfg.Compat {
		cfg.Jitter = Comb
	}
	u := &Uniform{cfg: cfg, last: 1}
	if dim == 0 {
		u.grid = cfg.Group.Grid(cfg.Max)
		return u, nil
	}
	u.axis = slices.IndexFunc(cfg.Group.Axes(), lie.Axis.Continuous)
	axis := cfg.Group.Axes()[u.axis]
	u.extent = axis.Extent
	if axis.Kind == lie.Line {
		u.start = -u.extent
	}
	if cfg.Partial {
		u.theta = nn.NewParameter(cfg.Name, nn.Subset, 1)
		u.theta.Host[0] = 1
		u.params = []*nn.Parameter{u.theta}
	}
	return u, nil
}

// Parameters returns theta (shape [1], nn.Subset) when partial, else nil.
func (u *Uniform) Parameters() []*nn.Parameter { return u.params }

// Bind names the device that theta lives on. Call it after nn.Parameters.Bind;
// until then theta is read from, and kept in, the parameter's Host value.
func (u *Uniform) Bind(dev tensor.Device) { u.dev = dev }

// Theta returns the half-width that the last list was drawn with, 1 when not
// partial.
func (u *Uniform) Theta() float64 { return float64(u.last) }

// read returns the present value of theta, 1 when not partial.
func (u *Uniform) read() float32 {
	switch {
	case u.theta == nil:
		return 1
	case u.dev == nil:
		return u.theta.Host[0]
	}
	u.dev.Download(u.host[:], u.theta.Value)
	return u.host[0]
}

// count returns the number of elements of a list at half-width theta, at least
// one and at most Max.
func (u *Uniform) count(theta float32) int {
	if u.theta == nil {
		return u.cfg.Max
	}
	if u.cfg.Compat && theta < 0 {
		theta = -theta
	}
	// In float32, so that 0.7 of 10 elements are 7 however 0.7 is rounded.
	want := float64(float32(u.cfg.Max) * theta)
	if !(want < float64(u.cfg.Max)) { // also NaN
		return u.cfg.Max
	}
	return int(math.Ceil(max(want, 1))) // max first: an int need not hold want
}

// Draw makes e a list drawn from the distribution at the present theta, taking
// one number from src for each element in order, or one in all for a comb, or
// none for a finite group. Several lists are drawn one after another. The gradient
// of e is cleared.
//
// A theta that is not finite gives elements that are not, so that the loss shows
// it; the number of elements stays within 1 and Max. Draw allocates nothing.
func (u *Uniform) Draw(e *Elements, src lie.Source) {
	u.size(e)
	for i := range e.uniform {
		e.uniform[i] = src.Float64()
	}
	u.place(e)
}

// Midpoints makes e the list whose every u_i is 1/2: the one to use where
// results must not be random. Several lists are then equal.
func (u *Uniform) Midpoints(e *Elements) {
	u.size(e)
	for i := range e.uniform {
		e.uniform[i] = 0.5
	}
	u.place(e)
}

// size reads theta and gives e its lengths.
func (u *Uniform) size(e *Elements) {
	u.last = u.read()
	n := u.count(u.last)
	if n > e.max {
		panic(&Error{"Uniform.Draw", fmt.Sprintf("%d elements do not fit a list of at most %d", n, e.max)})
	}
	e.SetLen(n)
	e.Rigid = u.theta == nil
	switch {
	case u.grid != nil:
		n = 0
	case u.cfg.Jitter == Comb:
		n = 1
	}
	e.uniform = e.uniform[:n*e.lists]
}

// place computes the elements from e.uniform and the last theta.
func (u *Uniform) place(e *Elements) {
	for s := range e.lists {
		list := e.List(s)
		if u.grid != nil {
			copy(list, u.grid)
			continue
		}
		n := float64(len(list))
		for i := range list {
			jitter := e.jitter(s, i)
			var v lie.Vector
			switch {
			case u.cfg.Compat:
				v[u.axis] = u.compat(i, len(list), jitter)
			case u.theta != nil:
				v[u.axis] = float64(u.last) * u.slope(i, len(list), jitter)
			default:
				v[u.axis] = u.start + 2*u.extent*(float64(i)+jitter)/n
			}
			list[i] = u.cfg.Group.Exp(v)
		}
	}
}

// compat returns the exponent of element i of n as the published implementation
// rounds it: the comb in float64 from theta's float32 value, its start and the
// jitter in float32.
func (u *Uniform) compat(i, n int, jitter float64) float64 {
	theta, width := u.last, float32(2*u.extent)
	comb := 2 * u.extent * float64(theta) * float64(i) / float64(n)
	delta := float64(float32(width*theta) * float32(jitter) / float32(n))
	if u.theta == nil {
		return comb + delta
	}
	return comb - float64(float32(u.extent)*theta) + delta
}

// slope returns the derivative with respect to theta of the exponent of element
// i of n, E (2(i+u_i)/n - 1).
func (u *Uniform) slope(i, n int, jitter float64) float64 {
	return u.extent * (2*(float64(i)+jitter)/float64(n) - 1)
}

// Backward adds the gradient of the loss with respect to theta, given the
// gradient e.Grad with respect to the elements of the list that was drawn last,
// or of all lists, to the parameter's gradient. The number of elements counts as a
// constant. It allocates nothing.
//
// Under Compat it is the published implementation's: the spacing of the comb
// counts as a constant too, which leaves the slope E (2u/n - 1) for every
// element.
func (u *Uniform) Backward(e *Elements) {
	if u.theta == nil {
		return
	}
	if u.dev == nil {
		panic(&Error{"Uniform.Backward", "not bound to a device"})
	}
	d := 0.0
	n := e.Len()
	for s := range e.lists {
		for i, grad := range e.ListGrad(s) {
			jitter := e.jitter(s, i)
			slope := u.slope(i, n, jitter)
			if u.cfg.Compat {
				slope = u.extent * (2*jitter/float64(n) - 1)
			}
			d += float64(slope * grad[u.axis])
		}
	}
	u.dev.Download(u.host[:], u.theta.Grad)
	u.host[0] += float32(d)
	u.dev.Upload(u.theta.Grad, u.host[:])
}

// Clamp moves theta into [MinTheta, MaxTheta]; NaN stays NaN. Call it after each
// step of the optimiser and after loading. It does nothing under Compat.
func (u *Uniform) Clamp() {
	if u.theta == nil || u.cfg.Compat {
		return
	}
	was := u.read()
	now := min(max(was, MinTheta), MaxTheta) // NaN stays NaN
	if now == was {
		return
	}
	if u.dev == nil {
		u.theta.Host[0] = now
		return
	}
	u.host[0] = now
	u.dev.Upload(u.theta.Value, u.host[:])
}
