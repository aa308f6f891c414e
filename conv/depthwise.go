package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
)

// Depthwise convolves every channel and element of a feature map with a kernel of the
// channel's own, turned by the element,
//
//	y[o,i,p] = bias[o] + sum over t of psi_o(u_i^-1 q_t) x[o, i, p + t]
//
// The output map lives on the elements of the input map. Behind a Pointwise layer it
// makes a group convolution whose kernel is separable over the group, the plane and the
// input channels, phi_oc(u_i^-1 v_j) psi_o(u_i^-1 q_t) (Knigge, Romero & Bekkers,
// "Exploiting Redundancy: Separable Group Convolutional Networks on Lie Groups", ICML
// 2022).
type Depthwise struct{ *layer }

// NewDepthwise returns the layer, its kernel network initialised from seed. cfg.In is
// cfg.Out, or 0, which means that; cfg.Algorithm does not apply. Errors name the field
// that cannot be used and what is allowed.
func NewDepthwise(cfg Config, seed uint64) (*Depthwise, error) {
	if cfg.In != 0 && cfg.In != cfg.Out {
		return nil, cfg.fail("In", cfg.In, "0 and Out")
	}
	cfg.In, cfg.Algorithm = 1, Auto // each kernel has one channel
	l, err := newLayer(cfg, true, false, 2, seed)
	if err != nil {
		return nil, err
	}
	l.depthwise = true
	return &Depthwise{l}, nil
}

// Plan reserves buffers for at most el.Max() elements and returns the output map. The
// list, on which the input map lives too, may change from pass to pass. It panics as that
// of Group.
func (l *Depthwise) Plan(p *nn.Plan, in *nn.Map, el *gumbel.Elements) *nn.Map {
	return l.plan(p, in, nil, el)
}
