package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
)

// Group convolves a feature map on a group,
//
//	y[o,i,p] = bias[o] + sum over c, j, t of psi_oc(u_i^-1 q_t, u_i^-1 v_j) x[c, j, p + t]
//
// (Romero & Lohit 2022, section 3): the input map lives on the elements v_j, the
// output map on the u_i.
type Group struct{ *layer }

// NewGroup returns the layer, its kernel network initialised from seed. Errors
// name the field that cannot be used and what is allowed.
func NewGroup(cfg Config, seed uint64) (*Group, error) {
	l, err := newLayer(cfg, true, true, 3, seed)
	if err != nil {
		return nil, err
	}
	return &Group{l}, nil
}

// Plan reserves buffers for at most inEl.Max() and outEl.Max() elements and returns
// the output map. The lists, which may be one and the same, may change from pass
// to pass. It panics with *Error where plan, map and lists do not go with each other and
// the layer, such as a map of another batch than the plan's.
func (l *Group) Plan(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements) *nn.Map {
	return l.planOnGroup(p, in, inEl, outEl)
}

func (l *layer) planOnGroup(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements) *nn.Map {
	if inEl == nil {
		refuse("Plan", "%s needs a list of input elements", l.cfg.Name)
	}
	return l.plan(p, in, inEl, outEl)
}
