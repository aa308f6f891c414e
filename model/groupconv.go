package model

import (
	"slices"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
)

// groupConv is a group convolution: one layer, or, where kernels are separable, a sum over
// the group and the input channels and then one over the plane.
type groupConv struct {
	whole *conv.Group // or

	group *conv.Pointwise
	plane *conv.Depthwise
}

// Names of the parts of a separable convolution, behind that of the convolution.
const (
	onGroup = ".group"
	onPlane = ".plane"
)

func newGroupConv(cfg conv.Config, separable bool, seed uint64) (g groupConv, err error) {
	if !separable {
		g.whole, err = conv.NewGroup(cfg, seed)
		return g, err
	}
	group, plane := cfg, cfg
	group.Name += onGroup
	if g.group, err = conv.NewPointwise(group, seed); err != nil {
		return g, err
	}
	plane.Name, plane.In = plane.Name+onPlane, plane.Out
	g.plane, err = conv.NewDepthwise(plane, seed)
	return g, err
}

// Parameters returns those of both parts.
func (g *groupConv) Parameters() []*nn.Parameter {
	if g.whole != nil {
		return g.whole.Parameters()
	}
	return slices.Concat(g.group.Parameters(), g.plane.Parameters())
}

// convolve plans a group convolution of x from one list of elements to another.
func (p *planner) convolve(g groupConv, x *nn.Map, in, out *gumbel.Elements) *nn.Map {
	if g.whole != nil {
		return p.end(g.whole, g.whole.Plan(p.Plan, x, in, out), x)
	}
	x = p.end(g.group, g.group.Plan(p.Plan, x, in, out), x)
	return p.end(g.plane, g.plane.Plan(p.Plan, x, out), x)
}

// planAlone plans the convolution outside of a network and returns its parts.
func (g *groupConv) planAlone(np *nn.Plan, x *nn.Map, in, out *gumbel.Elements) []dense {
	if g.whole != nil {
		g.whole.Plan(np, x, in, out)
		return []dense{g.whole}
	}
	g.plane.Plan(np, g.group.Plan(np, x, in, out), out)
	return []dense{g.group, g.plane}
}
