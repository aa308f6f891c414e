package model

import (
	"fmt"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/nn"
)

// gcnn is the paper's "13-layer CNN" (Romero & Lohit 2022, section 6): lifting
// convolution and a chain of group convolutions, each followed by normalisation
// and ReLU, with a few pools between them, global mean and a linear classifier.
type gcnn struct {
	lift     *conv.Lifting
	liftNorm norm
	convs    []groupConv
	norms    []norm
	dropouts []*nn.Dropout // one per group convolution; nil where none follows
	pooling  nn.Layer
	head     *nn.Linear
}

// NewGCNN builds the paper's "13-layer CNN" with freshly drawn weights. The same
// configuration gives the same weights. The error names the field that is out of
// range; it is a *SizeError where all are in range but together too large.
func NewGCNN(cfg GCNNConfig) (*Network, error) { return newGiven(cfg.settings()) }

func (a *gcnn) build(net *Network) (err error) {
	c := net.cfg
	_, elements := c.trunk()
	if a.lift, err = net.newLifting(net.convConfig("lift_conv", c.Channels, c.Width)); err != nil {
		return err
	}
	if a.liftNorm, err = net.newNorm("lift_norm", c.Width); err != nil {
		return err
	}
	a.convs, a.norms = make([]groupConv, len(c.Factors)), make([]norm, len(c.Factors))
	a.dropouts = make([]*nn.Dropout, len(c.Factors))
	width, number := c.Width, 0
	for i, f := range c.Factors {
		name := fmt.Sprintf("blocks.%d", number)
		if a.convs[i], err = net.newGroup(net.convConfig(name+".conv", width, f*c.Width)); err != nil {
			return err
		}
		width = f * c.Width
		if a.norms[i], err = net.newNorm(name+".norm", width); err != nil {
			return err
		}
		if net.drops(i + 1) {
			if a.dropouts[i], err = net.newDropout(name + ".dropout"); err != nil {
				return err
			}
		}
		number++
		if c.pooled(i + 1) {
			number++ // the published program counts a pool as a block
		}
	}
	if a.pooling, err = net.newPooling(elements, c.lastSide()); err != nil {
		return err
	}
	if a.head, err = net.newLinear("last_layer", width, c.Classes); err != nil {
		return err
	}
	// A matrix, not a 1x1 convolution, in the published program.
	a.head.Weight.Shape = a.head.Weight.Shape[:2]
	return nil
}

func (a *gcnn) reserve(p *planner) *nn.Map {
	x := p.stem(a.lift, a.liftNorm, p.net.cfg.pooled(0))
	for i, g := range a.convs {
		// The published program pools after the ReLU; the two commute.
		x = p.normPoolReLU(a.norms[i], p.group(g, x), p.net.cfg.pooled(i+1))
		if d := a.dropouts[i]; d != nil {
			x = p.single(d, x)
		}
	}
	return p.single(a.head, p.single(a.pooling, x))
}
