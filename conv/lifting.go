package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
)

// Lifting convolves an image with a kernel turned by each output element,
//
//	y[o,i,p] = bias[o] + sum over c, t of psi_oc(u_i^-1 q_t) x[c, p + t]
//
// (Romero & Lohit 2022, section 3). The input map has one group element, the
// output map one for each u_i of its list.
type Lifting struct{ *layer }

// NewLifting returns the layer, its kernel network initialised from seed. Errors
// name the field that cannot be used and what is allowed.
func NewLifting(cfg Config, seed uint64) (*Lifting, error) {
	l, err := newLayer(cfg, true, false, 2, seed)
	if err != nil {
		return nil, err
	}
	l.inputGrad = cfg.InputGrad
	return &Lifting{l}, nil
}

// Plan reserves buffers for the input map and at most out.Max() output elements,
// and returns the output map. The list may change from pass to pass. It panics as that
// of Group.
func (l *Lifting) Plan(p *nn.Plan, in *nn.Map, out *gumbel.Elements) *nn.Map {
	l.behind = nil
	return l.plan(p, in, nil, out)
}

// PlanNorm is Plan for a layer that n follows. On a CPU the two are one layer
// where that can be, and PlanNorm returns n's output map: Forward and Backward do then what n's would
// do, which is not to be planned, but whose parameters are to be bound. Else whole is false, and the map is that of Plan.
// It panics as that does, and for a normalisation of another number of channels.
func (l *Lifting) PlanNorm(p *nn.Plan, in *nn.Map, out *gumbel.Elements, n *nn.BatchNorm) (y *nn.Map, whole bool) {
	if n != nil && len(n.Weight.Host) != l.cfg.Out {
		refuse("PlanNorm", "%s has %d output channels, the normalisation behind it %d", l.cfg.Name, l.cfg.Out, len(n.Weight.Host))
	}
	l.behind = n
	y = l.plan(p, in, nil, out)
	return y, l.stem != nil
}
