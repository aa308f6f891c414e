package model

import "github.com/noether-go/noether/nn"

// Norm names a normalisation of feature maps.
type Norm string

const (
	BatchNorm Norm = "BatchNorm" // of each channel over a batch, see nn.BatchNorm
	LayerNorm Norm = "LayerNorm" // of each image over all channels, see nn.LayerNorm
)

// Norms returns all normalisations, the default first.
func Norms() []Norm { return []Norm{BatchNorm, LayerNorm} }

// norm is a layer of one of those kinds.
type norm interface {
	nn.Layer
	// PlanSum is Plan for the sum of two maps.
	PlanSum(p *nn.Plan, a, b *nn.Map) *nn.Map
}

// newNorm makes the normalisation that the network is configured with.
func (net *Network) newNorm(name string, channels int) (n norm, err error) {
	if err := net.afford(2 * channels); err != nil {
		return nil, err
	}
	if net.cfg.Norm == LayerNorm {
		n, err = nn.NewLayerNorm(name, channels)
	} else {
		n, err = nn.NewBatchNorm(name, channels)
	}
	if err != nil {
		return nil, err
	}
	net.params.Add(n.Parameters()...)
	return n, nil
}

// follow puts a ReLU, and a pool before it if so wanted, behind a normalisation.
func follow(n norm, pool bool) {
	switch l := n.(type) {
	case *nn.BatchNorm:
		l.Pool, l.ReLU = pool, true
	case *nn.LayerNorm:
		l.Pool, l.ReLU = pool, true
	}
}

func (p *planner) normPoolReLU(n norm, x *nn.Map, pool bool) *nn.Map {
	follow(n, pool)
	return p.single(n, x)
}
