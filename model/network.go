package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
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

// Network is a network on a group, of one of the architectures that NewCKResNet
// and NewGCNN build.
//
// A network is built on the host. Bind plans it for one device and batch size;
// training and evaluation then run on that plan. A bound network is used by one
// goroutine at a time.
type Network struct {
	cfg    settings
	arch   architecture
	params nn.Parameters
	loss   *nn.CrossEntropy

	samplers []sampler // of the lifting, then of each group convolution in order
	convs    []kernels // of the same
	dropouts []dropout
	augerino *augerino // or nil

	values, most int // see afford

	plan *plan
}

// architecture is a kind of network: which layers there are, and how they follow
// each other.
type architecture interface {
	// build makes the layers, and adds their parameters to net in the order of
	// the published program.
	build(net *Network) error
	// reserve plans the layers one after the other, each taking the output of
	// the one before it, and returns the map of logits.
	reserve(p *planner) *nn.Map
}

// sampler is a distribution of group elements and the names of the random
// streams it draws from.
type sampler struct {
	*gumbel.Distribution
	layer            string
	training, trials string
}

// dropout is a layer of that kind and the name of the random stream it draws
// from.
type dropout struct {
	*nn.Dropout
	stream string
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
	steps  []step  // of the layers

	drawn     bool       // the lists have elements
	trained   bool       // the maps are those of a Forward(true) on the present elements
	monotonic *monotonic // a penalty, or nil

	elements []*gumbel.Elements // one list per sampler
	most     []int              // elements of each, or nil where all may be drawn
	identity *gumbel.Elements   // of a convolution behind a mean over the group, or nil
	stream   stream.Stream
}

// step says what a planned layer reads and writes, and on which of the plan's lists of
// elements the latter lives.
type step struct {
	in   []*nn.Map
	out  *nn.Map
	list int
}

// newGiven is newNetwork from what a user wrote.
func newGiven(cfg settings) (*Network, error) {
	if err := cfg.checkGiven(); err != nil {
		return nil, err
	}
	return newNetwork(cfg, mostValues)
}

// newNetwork builds a network with freshly drawn weights. One that would have more than
// so many values gives a *SizeError, before they are allocated.
func newNetwork(cfg settings, most int) (*Network, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	net := &Network{cfg: cfg, loss: nn.NewCrossEntropy(), most: most}
	switch cfg.Type {
	case typeGCNN:
		net.arch = new(gcnn)
	default:
		net.arch = new(ckResNet)
	}
	var large *SizeError
	if err := net.arch.build(net); errors.As(err, &large) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if cfg.Augerino {
		var err error
		if net.augerino, err = net.newAugerino(); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
	}
	return net, nil
}

// Architecture returns the kind of the network, "CKResNet" or "GCNN", or the same behind
// "Augerino".
func (net *Network) Architecture() string { return net.cfg.name() }

// ImageShape returns the channels, height and width of the images that the
// network takes.
func (net *Network) ImageShape() (channels, height, width int) {
	return net.cfg.Channels, net.cfg.Side, net.cfg.Side
}

// Group returns the group that the network's convolutions are on.
func (net *Network) Group() lie.Group {
	group, _ := net.cfg.trunk()
	return group
}

// Batch returns the batch size that a bound network is planned for.
func (net *Network) Batch() int { return net.bound("Batch").batch }

// Classes returns the number of classes.
func (net *Network) Classes() int { return net.cfg.Classes }

// Parameters returns the network's parameters and running statistics.
func (net *Network) Parameters() *nn.Parameters { return &net.params }

func (net *Network) convConfig(name string, in, out int) conv.Config {
	c := net.cfg
	group, _ := c.trunk()
	return conv.Config{
		Name: name, Group: group, In: in, Out: out,
		Side: c.KernelSide, Padding: conv.Same, Bias: !c.NoBias,
		KernelNet: c.KernelNet, Hidden: c.KernelHidden, Layers: c.KernelLayers, Omega0: c.Omega0,
		LearnOmega: c.LearnOmega0, WeightNorm: c.WeightNorm, Compat: c.Compat,
		Activation: c.KernelActivation, Norm: c.KernelNorm,
	}
}

// newLifting makes the lifting convolution together with the distribution of its
// output elements, which is never partial.
func (net *Network) newLifting(cfg conv.Config) (*conv.Lifting, error) {
	if err := net.addSampler(cfg.Name, false); err != nil {
		return nil, err
	}
	if err := net.afford(kernelValues(cfg)); err != nil {
		return nil, err
	}
	cfg.InputGrad = net.cfg.Augerino
	l, err := conv.NewLifting(cfg, net.cfg.Seed)
	if err != nil {
		return nil, err
	}
	net.params.Add(l.Parameters()...)
	net.convs = append(net.convs, kernels{cfg, l.Parameters()})
	return l, nil
}

// newGroup makes a group convolution together with the distribution of its
// output elements.
func (net *Network) newGroup(cfg conv.Config) (groupConv, error) {
	g, err := net.newConv(cfg)
	if err != nil {
		return g, err
	}
	return g, net.addSampler(cfg.Name, net.cfg.Partial)
}

// newConv makes a group convolution alone.
func (net *Network) newConv(cfg conv.Config) (groupConv, error) {
	if err := net.afford(groupConvValues(cfg, net.cfg.Separable)); err != nil {
		return groupConv{}, err
	}
	cfg.Algorithm = net.cfg.Algorithm
	g, err := newGroupConv(cfg, net.cfg.Separable, net.cfg.Seed)
	if err != nil {
		return g, err
	}
	net.params.Add(g.Parameters()...)
	net.convs = append(net.convs, kernels{cfg, g.Parameters()})
	return g, nil
}

func (net *Network) newLinear(name string, in, out int) (*nn.Linear, error) {
	if err := net.afford(in * out); err != nil {
		return nil, err
	}
	l, err := nn.NewLinear(name, in, out, net.cfg.Seed)
	if err != nil {
		return nil, err
	}
	net.params.Add(l.Parameters()...)
	return l, nil
}

// drops reports whether dropout follows group convolution i, from 1.
func (net *Network) drops(i int) bool { return slices.Contains(net.cfg.Dropouts, i) }

func (net *Network) newDropout(name string) (*nn.Dropout, error) {
	d, err := nn.NewDropout(name, net.cfg.Dropout)
	if err != nil {
		return nil, err
	}
	net.dropouts = append(net.dropouts, dropout{d, name + "/training"})
	return d, nil
}

func (net *Network) addSampler(layer string, partial bool) error {
	group, elements := net.cfg.trunk()
	d, err := gumbel.New(gumbel.Config{
		Group: group, Max: elements, Partial: partial,
		Method: net.cfg.Sampling, Jitter: net.cfg.Jitter, Measure: net.cfg.Measure, Compat: net.cfg.Compat, Name: layer + ".probs",
		InitTemperature: net.cfg.InitTemperature, EndTemperature: net.cfg.EndTemperature,
	})
	if err != nil {
		return err
	}
	net.samplers = append(net.samplers, sampler{d, layer, layer + "/training", layer + "/evaluation"})
	net.params.Add(d.Parameters()...)
	return nil
}

// Bind plans the network for a device and a batch size: it allocates the
// parameters and every buffer of a forward and, unless inference is set, a
// backward pass. A bound network must be released before it is bound anew.
func (net *Network) Bind(dev tensor.Device, batch int, inference bool) error {
	return net.bind(dev, nn.Plan{Batch: batch, Inference: inference})
}

// bind is Bind as a plan has it, but for the device and the arena.
func (net *Network) bind(dev tensor.Device, np nn.Plan) error {
	batch := np.Batch
	if net.plan != nil {
		panic(&nn.Error{Op: "Network.Bind", Problem: "already bound; call Release first"})
	}
	if batch < 1 || batch > maxBatch {
		return &ConfigError{"batch size", batch, fmt.Sprintf("1 to %d", maxBatch)}
	}
	p := &plan{dev: dev, batch: batch}
	if net.augerino != nil {
		net.augerino.bind(net, &np)
	}
	if err := net.params.Bind(dev); err != nil {
		return fmt.Errorf("model: parameters: %w", err)
	}
	if err := net.layOut(p, np); err != nil {
		net.params.Release()
		return err
	}
	if a := net.augerino; a != nil { // not before: a batch too large is for the arena to refuse
		a.warp.alloc(a.copies)
	}
	for _, s := range net.distributions() {
		s.Bind(dev)
	}
	net.plan = p
	return nil
}

// layOut plans the layers, allocates their buffers and binds them.
func (net *Network) layOut(p *plan, np nn.Plan) error {
	np.Device, np.Arena = p.dev, &p.arena
	net.reserve(p, &np)
	if err := p.arena.Bind(p.dev); err != nil {
		return fmt.Errorf("model: batch of %d: %w", p.batch, err)
	}
	for _, l := range p.layers {
		l.Bind(p.dev)
	}
	net.loss.Bind(p.dev)
	return nil
}

// distributions returns all distributions of elements.
func (net *Network) distributions() []sampler {
	if net.augerino == nil {
		return net.samplers
	}
	return append(slices.Clip(net.samplers), net.augerino.sampler)
}

// reserve lays the network out: it walks the layers once, each reserving its
// buffers and handing its output to the next.
func (net *Network) reserve(p *plan, np *nn.Plan) {
	c := net.cfg
	if net.augerino == nil {
		np.Arena.Reserve(&p.pixels, np.Batch*c.pixels())
	} else {
		np.Batch *= net.augerino.copies
	}
	p.input = np.Map(c.Channels, 1, c.Side, c.Side)
	lists := 1
	if c.PerElement {
		lists = np.Batch
	}
	for i, s := range net.samplers {
		if p.most == nil {
			p.elements = append(p.elements, s.NewLists(lists))
		} else {
			p.elements = append(p.elements, s.NewListsOf(p.most[i], lists))
		}
	}
	if c.LastT2 {
		p.identity = gumbel.Identity(c.Group, lists)
	}
	pl := &planner{Plan: np, net: net, to: p}
	p.logits = net.arch.reserve(pl)
	if a := net.augerino; a != nil {
		mean := &copyMean{list: a.list, copies: a.copies}
		p.logits = pl.end(mean, mean.Plan(np, p.logits, p.batch), p.logits)
	}
	net.loss.Plan(np, p.logits)
}

// planner plans the layers of a network in order.
type planner struct {
	*nn.Plan
	net *Network
	to  *plan

	lists    int              // of elements that convolutions took so far
	elements *gumbel.Elements // what the last convolution's output lives on
	residual *nn.Map          // which a layer further down reads again
}

// lists returns the elements of all convolutions, in order.
func (p *plan) lists() []*gumbel.Elements {
	if p.identity == nil {
		return p.elements
	}
	return append(slices.Clip(p.elements), p.identity)
}

// end appends a layer that was planned just now, from in to out, and ends its
// planning. No layer that is planned later reads in, save for the residual.
func (p *planner) end(l layer, out *nn.Map, in ...*nn.Map) *nn.Map {
	p.to.layers = append(p.to.layers, l)
	p.to.steps = append(p.to.steps, step{slices.Clone(in), out, slices.Index(p.to.lists(), p.elements)})
	p.Next(slices.DeleteFunc(in, func(m *nn.Map) bool { return m == out || m == p.residual })...)
	return out
}

// nextElements moves on to the list of the next convolution's output.
func (p *planner) nextElements() (in, out *gumbel.Elements) {
	in = p.elements
	p.elements = p.to.elements[p.lists]
	p.lists++
	return in, p.elements
}

// stem plans the convolution of the images, and a normalisation, a pool if so wanted and a ReLU behind it.
func (p *planner) stem(l *conv.Lifting, n norm, pool bool) *nn.Map {
	follow(n, pool)
	_, out := p.nextElements()
	b, _ := n.(*nn.BatchNorm)
	x, whole := l.PlanNorm(p.Plan, p.to.input, out, b)
	x = p.end(l, x, p.to.input)
	if whole {
		return x
	}
	return p.single(n, x)
}

// group plans a group convolution of x.
func (p *planner) group(g groupConv, x *nn.Map) *nn.Map {
	in, out := p.nextElements()
	return p.convolve(g, x, in, out)
}

// onIdentity plans a group convolution of x on the identity alone.
func (p *planner) onIdentity(g groupConv, x *nn.Map) *nn.Map {
	p.elements = p.to.identity
	return p.convolve(g, x, p.elements, p.elements)
}

// single plans a layer with one input and one output.
func (p *planner) single(l nn.Layer, x *nn.Map) *nn.Map {
	return p.end(l, l.Plan(p.Plan, x), x)
}

// Release frees the device memory of a bound network. The host keeps the
// parameters as they were at the last Parameters().Download.
func (net *Network) Release() {
	if net.plan == nil {
		return
	}
	net.plan.arena.Release()
	net.params.Release()
	net.plan = nil
	if net.augerino != nil {
		net.augerino.width.weight = 0 // a penalty of the trainer that the network was bound for
	}
}
