package model

import (
	"fmt"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/nn"
)

// ckResNet is the residual network of the paper: lifting convolution, residual
// blocks of two group convolutions, a last group convolution without padding,
// global maximum and a linear classifier. With LastT2, the mean over the group comes
// before the last convolution, which then is one of the plane.
type ckResNet struct {
	lift     *conv.Lifting
	liftNorm norm
	blocks   []residualBlock
	last     groupConv
	lastNorm norm
	pooling  nn.Layer
	head     *nn.Linear
}

// lastConvolution is the name of the last convolution.
const lastConvolution = "last_gconv"

// residualBlock holds the learned layers of one block. A nil shortcut is the
// identity.
type residualBlock struct {
	gconv1, gconv2 groupConv
	dropout        *nn.Dropout // between them, or nil
	shortcut       *conv.Pointwise
	out            norm
}

// NewCKResNet builds the residual network of the paper with freshly drawn
// weights. The same configuration gives the same weights. The error names the
// field that is out of range; it is a *SizeError where all are in range but together
// too large.
func NewCKResNet(cfg CKResNetConfig) (*Network, error) { return newGiven(cfg.settings()) }

func (a *ckResNet) build(net *Network) (err error) {
	c := net.cfg
	if a.lift, err = net.newLifting(net.convConfig("lift_conv", c.Channels, c.Width)); err != nil {
		return err
	}
	if a.liftNorm, err = net.newNorm("lift_norm", c.Width); err != nil {
		return err
	}
	width := c.Width
	for i, f := range c.Factors {
		b, err := newResidualBlock(net, fmt.Sprintf("blocks.%d", i), width, f*c.Width)
		if err != nil {
			return err
		}
		a.blocks = append(a.blocks, b)
		width = f * c.Width
	}
	last := net.convConfig(lastConvolution, width, width)
	last.Padding = conv.Valid
	_, elements := c.trunk()
	if c.LastT2 {
		elements = 1
		a.last, err = net.newConv(last)
	} else {
		a.last, err = net.newGroup(last)
	}
	if err != nil {
		return err
	}
	if a.lastNorm, err = net.newNorm("last_gconv_norm", width); err != nil {
		return err
	}
	if a.pooling, err = net.newPooling(elements, c.lastSide()-c.KernelSide+1); err != nil {
		return err
	}
	a.head, err = net.newLinear("out_layer", width, c.Classes)
	return err
}

func newResidualBlock(net *Network, name string, in, out int) (b residualBlock, err error) {
	if b.gconv1, err = net.newGroup(net.convConfig(name+".gconv1", in, out)); err != nil {
		return b, err
	}
	if net.cfg.Dropout > 0 {
		if b.dropout, err = net.newDropout(name + ".dropout"); err != nil {
			return b, err
		}
	}
	if b.gconv2, err = net.newGroup(net.convConfig(name+".gconv2", out, out)); err != nil {
		return b, err
	}
	if b.out, err = net.newNorm(name+".norm_out", out); err != nil {
		return b, err
	}
	if in != out || net.cfg.redraws() {
		if b.shortcut, err = net.newShortcut(net.convConfig(name+".shortcut.0", in, out)); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (net *Network) newShortcut(cfg conv.Config) (*conv.Pointwise, error) {
	if err := net.afford(pointwiseValues(cfg)); err != nil {
		return nil, err
	}
	l, err := conv.NewPointwise(cfg, net.cfg.Seed)
	if err != nil {
		return nil, err
	}
	net.params.Add(l.Parameters()...)
	return l, nil
}

func (a *ckResNet) reserve(p *planner) *nn.Map {
	x := p.stem(a.lift, a.liftNorm, p.net.cfg.pooled(0))
	for i, b := range a.blocks {
		in, inElements := x, p.elements
		p.residual = in
		x = p.standardizeReLU(p.group(b.gconv1, x))
		if b.dropout != nil {
			x = p.single(b.dropout, x)
		}
		x = p.standardizeReLU(p.group(b.gconv2, x))
		p.residual = nil
		skip := in
		if b.shortcut != nil {
			skip = p.end(b.shortcut, b.shortcut.Plan(p.Plan, in, inElements, p.elements), in)
		}
		follow(b.out, p.net.cfg.pooled(i+1))
		x = p.end(b.out, b.out.PlanSum(p.Plan, x, skip), x, skip)
	}
	if p.net.cfg.LastT2 {
		x = p.onIdentity(a.last, p.single(nn.NewGroupMean(), x))
	} else {
		x = p.group(a.last, x)
	}
	x = p.normPoolReLU(a.lastNorm, x, false)
	return p.single(a.head, p.single(a.pooling, x))
}

func (p *planner) standardizeReLU(x *nn.Map) *nn.Map {
	l := nn.NewStandardize()
	l.ReLU = true
	return p.single(l, x)
}
