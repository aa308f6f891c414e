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
// and returns the output map. The list may change from pass to pass.
func (l *Lifting) Plan(p *nn.Plan, in *nn.Map, out *gumbel.Elements) *nn.Map {
	return l.plan(p, in, nil, out)
}
