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
		w, err := r.render()
		if err != nil {
			return nil, err
		}
		k.Weights = append(k.Weights, w...)
	}
	return k, nil
}

// renderer is a copy of a convolution, planned for one output element at a time.
type renderer struct {
	layers []dense // one, or the parts of a separable convolution
	at     *gumbel.Elements
	dev    tensor.Device
	params nn.Parameters
	arena  tensor.Arena
}

// dense is a layer that is an ordinary convolution at given elements.
type dense interface {
	Parameters() []*nn.Parameter
	Bind(tensor.Device)
	Dense() (*conv.Dense, error)
}

// render returns the kernels at the present element, [Out, In, Side, Side].
func (r *renderer) render() ([]float32, error) {
	first, err := r.layers[0].Dense()
	if err != nil {
		return nil, err
	}
	if len(r.layers) == 1 {
		return first.Weight, nil
	}
	plane, err := r.layers[1].Dense()
	if err != nil {
		return nil, err
	}
	var weights []float32
	size := plane.Side * plane.Side
	for i, w := range first.Weight { // of a pair of channels
		o := i / first.In
		for _, p := range plane.Weight[o*size : (o+1)*size] {
			weights = append(weights, w*p)
		}
	}
	return weights, nil
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
		r.layers = []dense{l}
	} else {
		g, err := newGroupConv(cfg, net.cfg.Separable, 0)
		if err != nil {
			return nil, err
		}
		r.layers = g.planAlone(np, in, gumbel.Identity(cfg.Group, 1), r.at)
	}
	for _, l := range r.layers {
		r.params.Add(l.Parameters()...)
	}
	for i, p := range r.params.All() {
		copy(p.Host, of.params[i].Host)
	}
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
	for _, l := range r.layers {
		l.Bind(r.dev)
	}
	return r, nil
}

func (r *renderer) close() {
	r.arena.Release()
	r.params.Release()
	r.dev.Close()
}
