package model

import (
	"fmt"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// layer is what a planned network is a sequence of: forward in order, backward
// in reverse.
type layer interface {
	Parameters() []*nn.Parameter
	Bind(dev tensor.Device)
	Forward(train bool)
	Backward()
}

// CKResNet is the residual network of the paper: lifting convolution, residual
// blocks of two group convolutions, a last group convolution without padding,
// global maximum and a linear classifier.
//
// A network is built on the host. Bind plans it for one device and batch size;
// training and evaluation then run on that plan. A bound network is used by one
// goroutine at a time.
type CKResNet struct {
	cfg    CKResNetConfig
	params nn.Parameters

	lift     *conv.Lifting
	liftNorm *nn.BatchNorm
	blocks   []*residualBlock
	last     *conv.Group
	lastNorm *nn.BatchNorm
	head     *nn.Linear
	loss     *nn.CrossEntropy

	samplers []sampler // of the lifting, then of each group convolution in order

	plan *plan
}

// sampler is a distribution of group elements and the names of the random
// streams it draws from.
type sampler struct {
	*gumbel.Uniform
	layer            string
	training, trials string
}

// residualBlock holds the learned layers of one block. A nil shortcut is the
// identity.
type residualBlock struct {
	gconv1, gconv2 *conv.Group
	shortcut       *conv.Pointwise
	norm           *nn.BatchNorm
}

// plan is a network bound to a device and a batch size.
type plan struct {
	dev    tensor.Device
	arena  tensor.Arena
	batch  int
	pixels tensor.Buffer // the images as they arrive, [B, C, H, W]
	input  *nn.Map
	logits *nn.Map
	layers []layer // without the loss

	elements []*gumbel.Elements // one list per sampler
	stream   stream.Stream
}

// NewCKResNet builds a network with freshly drawn weights. The same
// configuration gives the same weights. The error names the field that is out
// of range.
func NewCKResNet(cfg CKResNetConfig) (*CKResNet, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	net := &CKResNet{cfg: cfg}
	if err := net.build(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return net, nil
}

// Config returns the configuration with defaults filled in.
func (net *CKResNet) Config() CKResNetConfig { return net.cfg }

// Parameters returns the network's parameters and running statistics.
func (net *CKResNet) Parameters() *nn.Parameters { return &net.params }

func (net *CKResNet) convConfig(name string, in, out int) conv.Config {
	c := net.cfg
	return conv.Config{
		Name: name, Group: c.Group, In: in, Out: out,
		Side: c.KernelSide, Padding: conv.Same, Bias: true,
		Hidden: c.KernelHidden, Layers: c.KernelLayers, Omega0: c.Omega0,
	}
}

// stochastic reports whether the layers draw elements at all: the trivial
// stabiliser has one element and nothing to draw.
func (net *CKResNet) stochastic() bool { return net.cfg.Group.Dim() > 0 }

func (net *CKResNet) build() (err error) {
	c := net.cfg
	if err = net.addSampler("lift_conv", false); err != nil {
		return err
	}
	if net.lift, err = conv.NewLifting(net.convConfig("lift_conv", c.Channels, c.Width), c.Seed); err != nil {
		return err
	}
	net.params.Add(net.lift.Parameters()...)
	if net.liftNorm, err = nn.NewBatchNorm("lift_norm", c.Width); err != nil {
		return err
	}
	net.params.Add(net.liftNorm.Parameters()...)

	width := c.Width
	for i, f := range c.Factors {
		if err := net.buildBlock(fmt.Sprintf("blocks.%d", i), width, f*c.Width); err != nil {
			return err
		}
		width = f * c.Width
	}

	last := net.convConfig("last_gconv", width, width)
	last.Padding = conv.Valid
	if net.last, err = net.newGroup(last); err != nil {
		return err
	}
	if net.lastNorm, err = nn.NewBatchNorm("last_gconv_norm", width); err != nil {
		return err
	}
	net.params.Add(net.lastNorm.Parameters()...)
	if net.head, err = nn.NewLinear("out_layer", width, c.Classes, c.Seed); err != nil {
		return err
	}
	net.params.Add(net.head.Parameters()...)
	net.loss = nn.NewCrossEntropy()
	return nil
}

func (net *CKResNet) buildBlock(name string, in, out int) (err error) {
	b := &residualBlock{}
	if b.gconv1, err = net.newGroup(net.convConfig(name+".gconv1", in, out)); err != nil {
		return err
	}
	if b.gconv2, err = net.newGroup(net.convConfig(name+".gconv2", out, out)); err != nil {
		return err
	}
	if b.norm, err = nn.NewBatchNorm(name+".norm_out", out); err != nil {
		return err
	}
	net.params.Add(b.norm.Parameters()...)
	if in != out || net.stochastic() {
		if b.shortcut, err = conv.NewPointwise(net.convConfig(name+".shortcut.0", in, out), net.cfg.Seed); err != nil {
			return err
		}
		net.params.Add(b.shortcut.Parameters()...)
	}
	net.blocks = append(net.blocks, b)
	return nil
}

// newGroup makes a group convolution together with the distribution of its
// output elements.
func (net *CKResNet) newGroup(cfg conv.Config) (*conv.Group, error) {
	g, err := conv.NewGroup(cfg, net.cfg.Seed)
	if err != nil {
		return nil, err
	}
	net.params.Add(g.Parameters()...)
	return g, net.addSampler(cfg.Name, net.cfg.Partial)
}

func (net *CKResNet) addSampler(layer string, partial bool) error {
	u, err := gumbel.NewUniform(gumbel.UniformConfig{
		Group: net.cfg.Group, Max: net.cfg.Elements, Partial: partial,
		Jitter: net.cfg.Jitter, Compat: net.cfg.Compat, Name: layer + ".probs",
	})
	if err != nil {
		return err
	}
	net.samplers = append(net.samplers, sampler{u, layer, layer + "/training", layer + "/evaluation"})
	net.params.Add(u.Parameters()...)
	return nil
}

// Bind plans the network for a device and a batch size: it allocates the
// parameters and every buffer of a forward and, unless inference is set, a
// backward pass. A bound network must be released before it is bound anew.
func (net *CKResNet) Bind(dev tensor.Device, batch int, inference bool) error {
	if net.plan != nil {
		panic(&nn.Error{Op: "CKResNet.Bind", Problem: "already bound; call Release first"})
	}
	if batch < 1 {
		return &ConfigError{"batch size", batch, "1 or more"}
	}
	p := &plan{dev: dev, batch: batch}
	net.reserve(p, &nn.Plan{Device: dev, Arena: &p.arena, Batch: batch, Inference: inference})
	if err := net.params.Bind(dev); err != nil {
		return fmt.Errorf("model: parameters: %w", err)
	}
	if err := p.arena.Bind(dev); err != nil {
		net.params.Release()
		return fmt.Errorf("model: batch of %d: %w", batch, err)
	}
	for _, l := range p.layers {
		l.Bind(dev)
	}
	net.loss.Bind(dev)
	for _, s := range net.samplers {
		s.Bind(dev)
	}
	net.plan = p
	return nil
}

// reserve lays the network out: it walks the layers once, each reserving its
// buffers and handing its output to the next.
func (net *CKResNet) reserve(p *plan, np *nn.Plan) {
	c := net.cfg
	np.Arena.Reserve(&p.pixels, np.Batch*c.Channels*c.Side*c.Side)
	p.input = np.Map(c.Channels, 1, c.Side, c.Side)
	for range net.samplers {
		p.elements = append(p.elements, gumbel.NewElements(c.Group, c.Elements))
	}
	add := func(l layer) { p.layers = append(p.layers, l) }
	x := net.lift.Plan(np, p.input, p.elements[0])
	add(net.lift)
	x = planNormPoolReLU(np, net.liftNorm, x, c.pooled(0), add)

	next, el := 1, p.elements[0] // el: what x lives on
	group := func(g *conv.Group, x *nn.Map) *nn.Map {
		in := el
		el = p.elements[next]
		next++
		add(g)
		return g.Plan(np, x, in, el)
	}
	for i, b := range net.blocks {
		in, inElements := x, el
		x = planStandardizeReLU(np, group(b.gconv1, x), add)
		x = planStandardizeReLU(np, group(b.gconv2, x), add)
		skip := in
		if b.shortcut != nil {
			skip = b.shortcut.Plan(np, in, inElements, el)
			add(b.shortcut)
		}
		sum := nn.NewAdd()
		x = sum.Plan(np, skip, x) // in place on the shortcut, whose value nothing reads later
		add(sum)
		x = planNormPoolReLU(np, b.norm, x, c.pooled(i+1), add)
	}
	x = planNormPoolReLU(np, net.lastNorm, group(net.last, x), false, add)

	top := nn.NewGlobalMax()
	x = top.Plan(np, x)
	add(top)
	p.logits = net.head.Plan(np, x)
	add(net.head)
	net.loss.Plan(np, p.logits)
}

func planNormPoolReLU(np *nn.Plan, norm *nn.BatchNorm, x *nn.Map, pool bool, add func(layer)) *nn.Map {
	x = norm.Plan(np, x)
	add(norm)
	if pool {
		l := nn.NewMaxPool2()
		x = l.Plan(np, x)
		add(l)
	}
	relu := nn.NewReLU()
	x = relu.Plan(np, x)
	add(relu)
	return x
}

func planStandardizeReLU(np *nn.Plan, x *nn.Map, add func(layer)) *nn.Map {
	std := nn.NewStandardize()
	x = std.Plan(np, x)
	add(std)
	relu := nn.NewReLU()
	x = relu.Plan(np, x)
	add(relu)
	return x
}

// Release frees the device memory of a bound network. The host keeps the
// parameters as they were at the last Parameters().Download.
func (net *CKResNet) Release() {
	if net.plan == nil {
		return
	}
	net.plan.arena.Release()
	net.params.Release()
	net.plan = nil
}
