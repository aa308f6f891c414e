package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
)

// Pointwise takes a feature map from one list of elements to another without
// mixing positions, as a shortcut does:
//
//	y[o,i,p] = sum over c, j of psi_oc(u_i^-1 v_j) x[c, j, p]
type Pointwise struct{ *layer }

// NewPointwise returns the layer, its kernel network initialised from seed. The
// network is half as wide as cfg.Hidden says; cfg.Side, cfg.Padding and cfg.Bias
// do not apply. Errors name the field that cannot be used and what is allowed.
func NewPointwise(cfg Config, seed uint64) (*Pointwise, error) {
	cfg.Side, cfg.Padding, cfg.Bias = 1, Same, false
	if cfg.Hidden == 0 {
		cfg.Hidden = 32
	}
	if cfg.Hidden > 1 {
		cfg.Hidden /= 2
	}
	l, err := newLayer(cfg, false, true, 1, seed)
	if err != nil {
		return nil, err
	}
	return &Pointwise{l}, nil
}

// Plan reserves buffers for at most inEl.Max() and outEl.Max() elements and returns
// the output map, as that of Group.
func (l *Pointwise) Plan(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements) *nn.Map {
	return l.planOnGroup(p, in, inEl, outEl)
}
