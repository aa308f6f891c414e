package model

import (
	"fmt"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// kernels is a lifting or group convolution as it was made, and its parameters.
type kernels struct {
	cfg    conv.Config
	params []*nn.Parameter
}

// Kernels are the kernels of a convolution at some elements of the group, as its kernel
// network renders them.
type Kernels struct {
	Layer   string // the name of the convolution
	In, Out int    // channels
	Side    int    // of the grid, in pixels
	// Weights [len(elements), Out, In, Side, Side] are zero outside the disc.
	Weights []float32
}

// Convolutions returns the number of convolutions that Kernels knows: the lifting
// convolution and the group convolutions.
func (net *Network) Convolutions() int { return len(net.convs) }

// Kernels renders the kernels of convolution layer, 0 being the lifting convolution, at
// output elements of the group: of a group convolution what they take from the input
// element that is the identity. The error says which argument is at fault.
func (net *Network) Kernels(layer int, elements []lie.Element) (*Kernels, error) {
	if layer < 0 || layer >= len(net.convs) {
		return nil, fmt.Errorf("model: Kernels: convolution %d of %d; they count from 0", layer, len(net.convs))
	}
	if len(elements) == 0 {
		return nil, fmt.Errorf("model: Kernels: no elements are given")
	}
	if net.plan != nil {
		net.params.Download()
	}
	r, err := net.newRenderer(layer)
	if err != nil {
		return nil, err
	}
	defer r.close()
	c := net.convs[layer].cfg
	k := &Kernels{Layer: c.Name, In: c.In, Out: c.Out, Side: c.Side}
	for _, e := range elements {
		r.at.G[0] = e
		d, err := r.layer.Dense()
		if err != nil {
			return nil, err
		}
		k.Weights = append(k.Weights, d.Weight...)
	}
	return k, nil
}

// renderer is a copy of a convolution, planned for one output element at a time.
type renderer struct {
	layer interface {
		Parameters() []*nn.Parameter
		Bind(tensor.Device)
		Dense() (*conv.Dense, error)
	}
	at     *gumbel.Elements
	dev    tensor.Device
	params nn.Parameters
	arena  tensor.Arena
}

func (net *Network) newRenderer(layer int) (r *renderer, err error) {
	of := net.convs[layer]
	cfg := of.cfg
	r = &renderer{at: gumbel.Identity(cfg.Group, 1)}
	np := &nn.Plan{Arena: &r.arena, Batch: 1, Inference: true}
	in := np.Map(cfg.In, 1, cfg.Side, cfg.Side)
	if layer == 0 {
		l, err := conv.NewLifting(cfg, 0)
		if err != nil {
			return nil, err
		}
		l.Plan(np, in, r.at)
		r.layer = l
	} else {
		g, err := conv.NewGroup(cfg, 0)
		if err != nil {
			return nil, err
		}
		g.Plan(np, in, gumbel.Identity(cfg.Group, 1), r.at)
		r.layer = g
	}
	for i, p := range r.layer.Parameters() {
		copy(p.Host, of.params[i].Host)
	}
	r.params.Add(r.layer.Parameters()...)
	if r.dev, err = tensor.NewCPU(1); err != nil {
		return nil, err
	}
	if err := r.params.Bind(r.dev); err != nil {
		r.close()
		return nil, err
	}
	if err := r.arena.Bind(r.dev); err != nil {
		r.close()
		return nil, err
	}
	r.layer.Bind(r.dev)
	return r, nil
}

func (r *renderer) close() {
	r.arena.Release()
	r.params.Release()
	r.dev.Close()
}
