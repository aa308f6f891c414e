package conv

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// Config describes a layer. Name, In and Out must be given.
type Config struct {
	Name    string    // prefix of the parameters' names, such as "blocks.0.gconv1"
	Group   lie.Group // nil means lie.SE2
	In, Out int       // channels

	Side    int     // k of the k x k kernel grid, odd; 0 means 7. A pointwise layer has none.
	Padding Padding // of the plane
	Bias    bool    // one value per output channel, initially zero. A pointwise layer has none.

	// The kernel network, see siren.Config, siren.FiltersConfig and siren.MLPConfig.
	KernelNet  KernelNet        // "" means SIREN
	Hidden     int              // width; 0 means 32. A pointwise layer takes half of it.
	Layers     int              // 0 means 3
	Omega0     float64          // of a SIREN; 0 means 10. The others have none.
	LearnOmega bool             // of a SIREN
	Activation siren.Activation // of an MLP; "" means siren.ReLU
	Norm       siren.Norm       // of an MLP; "" means siren.NoNorm
	WeightNorm bool

	// Algorithm computes the convolution on a CPU; "" means Auto.
	Algorithm Algorithm
	// InputGrad makes a lifting layer compute the gradient of its input too.
	// Training does not need it; the other layers always compute it.
	InputGrad bool
	// Compat reproduces the published implementation where it differs: weight
	// normalisation is left out of the kernel networks of group layers.
	Compat bool
}

// largestSide bounds Config.Side: beyond it lies a typing error.
const largestSide = 255

// complete fills in defaults and checks the configuration.
func (c *Config) complete() error {
	fail := c.fail
	if c.Group == nil {
		c.Group = lie.SE2
	}
	if c.Side == 0 {
		c.Side = 7
	}
	if c.Hidden == 0 {
		c.Hidden = 32
	}
	switch {
	case c.Name == "":
		return fmt.Errorf("conv: Config.Name is empty; the parameters need a prefix for their names")
	case c.In < 1 || c.In > 1<<13:
		return fail("In", c.In, "1 to 8192")
	case c.Out < 1 || c.Out > 1<<13:
		return fail("Out", c.Out, "1 to 8192")
	case c.Side < 1 || c.Side > largestSide || c.Side%2 == 0:
		return fail("Side", c.Side, fmt.Sprintf("odd numbers from 1 to %d", largestSide))
	case c.Padding > Valid:
		return fail("Padding", c.Padding, "same and valid")
	case c.Hidden < 0:
		return fail("Hidden", c.Hidden, "positive numbers")
	}
	k, err := ParseKernelNet(string(c.KernelNet))
	if err != nil {
		return fmt.Errorf("conv: %s: Config.KernelNet: %w", c.Name, err)
	}
	c.KernelNet = k
	switch {
	case c.LearnOmega && k != SIREN:
		return fail("LearnOmega", true, "false for a kernel network of kind "+string(k))
	case c.Activation != "" && k != MLP:
		return fail("Activation", fmt.Sprintf("%q", c.Activation), "\"\" for a kernel network of kind "+string(k))
	case c.Norm != "" && k != MLP:
		return fail("Norm", fmt.Sprintf("%q", c.Norm), "\"\" for a kernel network of kind "+string(k))
	}
	a, err := ParseAlgorithm(string(c.Algorithm))
	if err != nil {
		return fail("Algorithm", c.Algorithm, allowedAlgorithms())
	}
	c.Algorithm = a
	switch {
	case a == Frequency && c.Side == 1:
		return fail("Algorithm", a, "all others for kernels of one pixel")
	case k != SIREN && (math.IsNaN(c.Omega0) || math.IsInf(c.Omega0, 0)):
		return fail("Omega0", c.Omega0, "numbers, though a kernel network of kind "+string(k)+" has no frequency")
	}
	return nil
}

// fail returns an error about a field.
func (c *Config) fail(field string, value any, allowed string) error {
	return fmt.Errorf("conv: %s: Config.%s is %v; allowed are %s", c.Name, field, value, allowed)
}

// layer is what the kinds of convolution have in common: they differ in what their
// kernel networks are fed, and in which maps an output map is a sum over.
type layer struct {
	cfg    Config
	coords coordinates
	net    siren.LowRank
	bias   *nn.Parameter // [1, Out], or nil
	params []*nn.Parameter

	in, out     *nn.Map
	inEl, outEl *gumbel.Elements // inEl is nil for an input without a group axis
	inputGrad   bool
	depthwise   bool // of channels and elements each by itself
	inference   bool // planned for forward passes alone

	dev      tensor.Device
	passes   Passes        // on a rendered kernel, or nil
	factored featurePasses // on the features before it, or nil
	factors  kernelFactors // of the last Render, where there are such passes
	shape    Shape

	evaluated bool          // by Dense, since the last Render: the kernel network has seen other positions
	positions int           // of the last Render: lists*NOut*NIn*len(taps), or half of it for pairs
	x, dx     tensor.Buffer // [rows, positions] coordinates and their gradient
	host      []float32     // the same on the host
	prepared  tensor.Buffer
	scratch   tensor.Buffer // the kernel or its gradient, or those of its factors, then the passes' scratch and the weighted input
	kernel    int           // length of the former
	inKernel  kernelOrder   // of elements, where maps have another one
	weighted  int           // where the latter begins

	weights       *weights       // of the input elements, by copies of the map, or nil
	kernelWeights *kernelWeights // of the same, by the kernel, or nil
	windowed      bool           // the kernel has one
	window        *window        // it, once planned
	dscale        []float32      // on the host: the gradient of the kernel's scale
	scaleProducts products       // of renderedScaleGrad
	penalty       *penalty       // of the norms of kernel and bias, or nil
	behind        *nn.BatchNorm  // what follows the layer, if it may be computed with it, or nil
	stem          *stem          // does so, or nil
}

// newLayer builds a layer whose kernel network sees spatial coordinates, group
// coordinates or both. dims is the number of trailing axes of its weights.
func newLayer(cfg Config, spatial, relative bool, dims int, seed uint64) (*layer, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	l := &layer{cfg: cfg, inputGrad: true, windowed: spatial && ChangesLengths(cfg.Group)}
	taps := grid(cfg.Side)
	if l.windowed {
		taps = square(cfg.Side)
	}
	l.coords = newCoordinates(cfg.Group, taps, spatial, relative)
	net, err := cfg.newKernelNet(l.coords.rows(), dims, seed)
	if err != nil {
		return nil, err
	}
	l.net = net
	if cfg.Bias {
		l.bias = nn.NewParameter(cfg.Name+".bias", nn.Weight, 1, cfg.Out)
		l.params = append(l.params, l.bias)
	}
	l.params = append(l.params, net.Parameters()...)
	return l, nil
}

// Parameters returns the bias [1, Out], if any, and those of the kernel network,
// such as NAME.kernelnet.kernel_net.0.weight of a SIREN.
func (l *layer) Parameters() []*nn.Parameter { return l.params }

// plan reserves the buffers and returns the output map.
func (l *layer) plan(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements) *nn.Map {
	l.checkPlan(p, in)
	lists := l.checkElements(p, in, inEl, outEl)
	s := l.largestShape(p, in, inEl, outEl, lists)
	l.in, l.inEl, l.outEl, l.shape = in, inEl, outEl, *s
	l.inference, l.dev, l.positions = p.Inference, nil, 0
	whole := l.takesStem(p)
	l.choosePasses(p, s, whole)
	l.out = l.planOutput(p, s, whole)
	l.window = l.planWindow(p.Arena, s.positions())
	if whole {
		l.stem.window = l.window
	}
	l.planBuffers(p, s)
	l.planMaps()
	return l.out
}

// checkElements panics unless the lists of elements and the input map fit the layer. It returns the
// number of lists on either side.
func (l *layer) checkElements(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements) (lists int) {
	const op = "Plan"
	if outEl == nil {
		refuse(op, "%s needs a list of output elements", l.cfg.Name)
	}
	channels, elements := l.cfg.In, 1
	switch {
	case l.depthwise:
		channels, elements = l.cfg.Out, outEl.Max()
	case inEl != nil:
		elements = inEl.Max()
	}
	if in.C != channels {
		refuse(op, "%s has %d input channels, its input %d", l.cfg.Name, channels, in.C)
	}
	if in.MaxN < elements || inEl == nil && in.MaxN != elements {
		refuse(op, "%s: the input has %d group elements, its list %d", l.cfg.Name, in.MaxN, elements)
	}
	for _, e := range []*gumbel.Elements{inEl, outEl} {
		if e != nil && e.Group != nil && e.Group.Name() != l.cfg.Group.Name() {
			refuse(op, "%s is on %s, a list of elements on %s", l.cfg.Name, l.cfg.Group.Name(), e.Group.Name())
		}
	}
	lists = outEl.Lists()
	if lists != 1 && lists != p.Batch || inEl != nil && inEl.Lists() != lists {
		in := lists
		if inEl != nil {
			in = inEl.Lists()
		}
		refuse(op, "%s: %d lists of output elements and %d of input elements; a batch of %d takes 1 or %d of both", l.cfg.Name, lists, in, p.Batch, p.Batch)
	}
	return lists
}

// largestShape returns the shape of all elements. It panics where the kernel has no place on the plane, and
// for what a group that scales the plane does not have.
func (l *layer) largestShape(p *nn.Plan, in *nn.Map, inEl, outEl *gumbel.Elements, lists int) *Shape {
	const op = "Plan"
	nIn := 1
	if inEl != nil && !l.depthwise {
		nIn = inEl.Max()
	}
	s := newShape(l.cfg.In, l.cfg.Out, nIn, outEl.Max(), in.H, in.W, p.Batch, l.coords.taps, l.cfg.Side, l.cfg.Padding)
	s.PerElement, s.Depthwise = lists > 1, l.depthwise
	switch {
	case s.OutH < 1 || s.OutW < 1:
		refuse(op, "%s: a kernel of side %d has no valid place on a plane of %d x %d", l.cfg.Name, l.cfg.Side, in.H, in.W)
	case l.windowed && s.PerElement:
		refuse(op, "%s: on %s all images of a batch have one list of elements", l.cfg.Name, l.cfg.Group.Name())
	case l.windowed && p.NormPenalty != 0:
		refuse(op, "%s: on %s there is no penalty of norms", l.cfg.Name, l.cfg.Group.Name())
	}
	return s
}

// choosePasses sets what computes the shape; with whole, that is taps, together with the normalisation behind.
func (l *layer) choosePasses(p *nn.Plan, s *Shape, whole bool) {
	algorithm := l.cfg.Algorithm
	if whole {
		algorithm = Taps
	}
	passes, factored, err := choose(p.Device, s, algorithm, traits{
		features:  l.net.Features(),
		scaled:    l.windowed || weightsKernel(p, l.cfg.Group, l.inEl),
		pairs:     l.expectsPairs(),
		inference: p.Inference,
	})
	if err != nil {
		refuse("Plan", "%s: %v", l.cfg.Name, err)
	}
	l.passes, l.factored, l.stem = passes, factored, nil
	if k, ok := l.algorithm().(interface{ KeepSpectra() }); ok && p.Inference && p.KeepDerived {
		k.KeepSpectra()
	}
	if whole {
		l.stem = newStem(passes.(*taps), l.behind, s)
	}
}

// planOutput returns the output map; with whole, that of the normalisation behind.
func (l *layer) planOutput(p *nn.Plan, s *Shape, whole bool) *nn.Map {
	h, w := s.OutH, s.OutW
	if whole {
		h, w = l.stem.out(s)
	}
	out := p.Map(l.cfg.Out, s.NOut, h, w)
	if whole {
		out.KeepValue() // Backward reads it
	}
	if l.outEl.Weighted {
		out.On = l.outEl
	}
	return out
}

// planBuffers reserves the buffers.
func (l *layer) planBuffers(p *nn.Plan, s *Shape) {
	most := s.positions()
	l.net.Plan(p, most)
	size := l.coords.rows() * most
	p.Arena.Reserve(&l.x, size)
	prepared, scratch := l.algorithm().Sizes(s, p.Inference)
	if p.Inference {
		p.Arena.Reserve(&l.prepared, prepared) // one Render serves any number of passes
	} else {
		p.Carry(&l.prepared, prepared)
		p.Arena.Reserve(&l.dx, size)
	}
	switch {
	case l.factored == nil:
		l.kernel = roundUp(s.kernels())
	case p.Inference:
		l.kernel = 0
	default:
		l.kernel = l.factorsSize(most)
	}
	l.weights, l.weighted = nil, roundUp(l.kernel+scratch)
	if l.kernelWeights = l.planKernelWeights(p, l.inEl, most); l.kernelWeights == nil {
		l.weights = planWeights(p, l.in, l.inEl)
	}
	size = max(l.weighted+l.weights.scratch(p.Inference), l.kernel+l.scaleScratch(most, p.Inference))
	if l.penalty = l.planPenalty(p, most); l.penalty != nil {
		_, need := l.penaltyScratch(tensor.Buffer{}, most)
		size = max(size, need)
	}
	p.Arena.Share(&l.scratch, size)
}

// checkPlan panics unless there is a plan, and an input map of its batch.
func (l *layer) checkPlan(p *nn.Plan, in *nn.Map) {
	const op = "Plan"
	switch {
	case p == nil || p.Arena == nil:
		refuse(op, "%s: the plan is nil or has no arena; an nn.Plan with Arena and Batch is needed", l.cfg.Name)
	case in == nil:
		refuse(op, "%s: the input map is nil; one of nn.Plan.Map or of another layer's Plan is needed", l.cfg.Name)
	case in.B != p.Batch:
		refuse(op, "%s: the input map is planned for a batch of %d, the layer for one of %d; Plan.Batch must be the same for both", l.cfg.Name, in.B, p.Batch)
	}
}

// roundUp returns n values and what keeps the next piece aligned.
func roundUp(n int) int { return (n + 15) &^ 15 }

// algorithm is what passes of both kinds have in common.
type algorithm interface {
	Sizes(s *Shape, inference bool) (prepared, scratch int)
	Bind(dev tensor.Device, s *Shape) error
	Forward(y, x, prepared, scratch tensor.Buffer, s *Shape)
}

func (l *layer) algorithm() algorithm {
	if l.factored != nil {
		return l.factored
	}
	return l.passes
}

// Bind sets the device that the arena and the parameters are bound to. It panics
// with *Error when the layer was not planned, those are not bound, or for another kind of
// device.
func (l *layer) Bind(dev tensor.Device) {
	l.reserved("Bind")
	if dev == nil {
		refuse("Bind", "%s: the device is nil; what the arena is bound to is needed", l.cfg.Name)
	}
	l.parametersBound("Bind")
	l.dev = dev
	s := l.largest()
	l.allocate(s.positions())
	if err := l.algorithm().Bind(dev, s); err != nil {
		refuse("Bind", "%s: %v", l.cfg.Name, err)
	}
	if l.stem != nil {
		if err := l.stem.bind(s); err != nil {
			refuse("Bind", "%s: %v", l.cfg.Name, err)
		}
	}
	l.net.Bind(dev)
	if l.weights != nil {
		l.weights.Bind(dev)
	}
	var team *tensor.Team
	if cpu, ok := dev.(*tensor.CPU); ok {
		team = cpu.Team()
	}
	l.coords.bind(team)
}

// allocate makes room on the host for what so many positions have there. That is not for Plan: lists too long are for
// the arena to refuse.
func (l *layer) allocate(positions int) {
	l.host = make([]float32, l.coords.rows()*positions)
	if l.inEl != nil && l.inEl.Lists() == 1 {
		l.inKernel = newKernelOrder(l.outEl.Max(), l.inEl.Max())
	}
	l.dscale = nil
	if !l.inference && (l.window != nil || l.kernelWeights != nil) {
		l.dscale = make([]float32, positions)
	}
	if l.window != nil {
		l.window.host = make([]float32, positions)
	}
	if l.kernelWeights != nil {
		l.kernelWeights.host = make([]float32, positions)
	}
	if l.penalty != nil && l.penalty.counts {
		l.penalty.count = make([]float32, positions)
	}
}

// largest returns the shape with all elements that were planned; the last Render may have had fewer.
func (l *layer) largest() *Shape {
	s := l.shape
	s.NOut, s.Paired, s.Runs = l.outEl.Max(), false, 0
	if l.inEl != nil {
		s.NIn = l.inEl.Max()
	}
	return &s
}

// planned panics unless Plan was called.
func (l *layer) planned(op string) {
	if l.out == nil {
		refuse(op, "%s is not planned; call Plan first", l.cfg.Name)
	}
}

// reserved panics unless Plan was called and its arena is bound.
func (l *layer) reserved(op string) {
	l.planned(op)
	if l.out.Value.IsZero() {
		refuse(op, "%s: the plan's arena is not bound to a device; call Arena.Bind first", l.cfg.Name)
	}
}

// parametersBound panics unless the parameters have memory, which Parameters.Release takes from them.
func (l *layer) parametersBound(op string) {
	if p := nn.Unbound(l.params); p != nil {
		refuse(op, "%s: the parameter %q is not bound to a device; call Parameters.Bind first", l.cfg.Name, p.Name)
	}
}

// bound panics unless Plan and Bind were called and the parameters are bound.
func (l *layer) bound(op string) {
	l.planned(op)
	if l.dev == nil {
		refuse(op, "%s is not bound to a device; call Bind first", l.cfg.Name)
	}
	l.reserved(op)
	l.parametersBound(op)
}

// Forward renders the kernel at the present elements and convolves. With train, Backward
// may follow; it panics with *Error where the plan is one for inference.
func (l *layer) Forward(train bool) {
	if train && l.inference {
		refuse("Forward", "%s is planned for inference, which has no Forward(true)", l.cfg.Name)
	}
	l.Render()
	l.convolve(train)
	if l.penalty != nil {
		l.measurePenalty()
	}
}

// Render evaluates the kernel network at the present elements. Where those and
// the parameters stay as they are, one Render serves any number of Convolves, in a plan for
// inference or without Plan.Next: in training other layers share the memory of what was rendered from step to step.
func (l *layer) Render() {
	l.bound("Render")
	s := &l.shape
	switch {
	case l.outEl.Weight != nil && !l.outEl.Weighted:
		refuse("Render", "%s: its output elements have weights, but Elements.Weighted did not say so when it was planned", l.cfg.Name)
	case l.weights.live():
		l.weights.Read()
	case l.kernelWeights.live(): // see below
	case l.inEl != nil && l.inEl.Weight != nil:
		refuse("Render", "%s: its input elements have weights, but Elements.Weighted did not say so when it was planned", l.cfg.Name)
	}
	l.checkLive("Render")
	l.evaluated = false
	u, _ := live(l.outEl)
	v, _ := live(l.inEl)
	lists := s.lists()
	s.NOut, s.NIn = len(u)/lists, 1
	if l.inEl != nil {
		s.NIn = len(v) / lists
	}
	s.Runs = 0
	if !l.kernelWeights.live() {
		s.Runs = l.pairRuns(u, v)
	}
	s.Paired = s.Runs > 0
	u, v = l.inKernel.elements(s, u, v)
	u = u[:lists*s.rendered()]
	l.positions = s.positions()
	x := l.host[:l.coords.rows()*l.positions]
	l.coords.write(x, u, v, s.NIn, lists)
	l.dev.Upload(l.x, x)
	at := l.x.Slice(0, len(x))
	var bias tensor.Buffer
	if l.bias != nil {
		bias = l.bias.Value
	}
	if l.factored != nil {
		f, w, b := l.net.ForwardFeatures(at, l.positions)
		l.factors = kernelFactors{F: f, W: w, B: b, Scale: l.scale(u), Mask: l.window != nil && !l.kernelWeights.live()}
		l.factored.Prepare(l.prepared, l.factors, bias, l.spare(), s)
		return
	}
	l.net.Forward(l.kernelValues(), at, l.positions)
	if tile := l.scale(u); !tile.IsZero() {
		l.scaleKernel(l.kernelValues(), tile)
	}
	l.passes.Prepare(l.prepared, l.kernelValues(), bias, l.spare(), s)
}

// checkLive panics where a list of elements is not as long as one may be, or its gradients are not as many: whoever
// writes to Elements.G by hand may not have known.
func (l *layer) checkLive(op string) {
	for _, el := range []*gumbel.Elements{l.inEl, l.outEl} {
		if el == nil {
			continue
		}
		n, lists := len(el.G), el.Lists()
		if n < lists || n > lists*el.Max() || n%lists != 0 || len(el.Grad) != n {
			refuse(op, "%s: %d elements and %d gradients in %d lists; a list has 1 to %d of both, see gumbel.Elements.SetLen",
				l.cfg.Name, n, len(el.Grad), lists, el.Max())
		}
	}
}

// checkKept panics where lists are not as long as at the last Render, whose elements Backward is for.
func (l *layer) checkKept() {
	s := &l.shape
	lists, in := s.lists(), 1
	if l.inEl != nil {
		in = len(l.inEl.G) / lists
	}
	if out := len(l.outEl.G) / lists; out != s.NOut || in != s.NIn {
		refuse("Backward", "%s: lists of %d output and %d input elements, at the last Render of %d and %d; draw elements after Backward",
			l.cfg.Name, out, in, s.NOut, s.NIn)
	}
}

// pairRuns returns in how many runs, see Shape.Runs, elements are pairs, or 0 where they are not or the passes can make no
// use of it: with u_i goes another, which acts on the plane as -u_i and stands to that which goes with v_j as u_i does
// to v_j.
func (l *layer) pairRuns(u, v []lie.Element) int {
	p, ok := l.algorithm().(interface{ Pairs() bool })
	if !ok || !p.Pairs() || l.inEl == nil {
		return 0
	}
	if !l.inference && !(l.outEl.Rigid && l.inEl.Rigid) {
		return 0 // every element is to have its own gradient
	}
	return l.coords.pairRuns(u, v)
}

// expectsPairs reports whether lists as long as they may be will be paired, if elements that only move together have the
// distances of a grid.
func (l *layer) expectsPairs() bool {
	if l.inEl == nil || !l.inEl.Rigid || !l.outEl.Rigid {
		return false
	}
	g := l.cfg.Group
	var grids [2][]lie.Element
	for i, el := range []*gumbel.Elements{l.outEl, l.inEl} {
		if _, err := g.Split(el.Max()); err != nil {
			return false
		}
		grids[i] = g.Grid(el.Max())
	}
	return l.coords.pairRuns(grids[0], grids[1]) > 0
}

// Kernel returns what Render rendered, [Out*In, NOut*NIn*T]: row (o,c), column
// (i,j,t), the T live taps of the disc in row-major order. It is there until the
// next call of any layer of the network; a layer with a penalty (nn.Plan.NormPenalty) has lost it when Forward returns.
//
// A layer that works on features renders none, and Kernel panics with *Error: on a CPU, one
// whose Algorithm is Frequency or LowRank, or that has a list of elements for each image
// and is not a Depthwise. A Pointwise whose elements come in pairs half a turn apart renders half of
// its kernel, and Kernel panics as well. Config.Algorithm Taps renders one; so does Dense, for any
// algorithm and one list.
func (l *layer) Kernel() tensor.Buffer {
	const op = "Kernel"
	l.bound(op)
	switch {
	case l.factored != nil:
		refuse(op, "%s renders no kernel, being computed with the algorithm %q; Config.Algorithm %q renders one, Dense one for any algorithm", l.cfg.Name, l.Algorithm(), Taps)
	case l.positions == 0:
		refuse(op, "%s: no Render before it", l.cfg.Name)
	case l.shape.Paired:
		refuse(op, "%s renders half of its kernel, since its elements come in pairs; Config.Algorithm %q renders all of it, and so does Dense", l.cfg.Name, Taps)
	}
	return l.kernelValues()
}

// kernelValues returns the place of the kernel, or of its gradient.
func (l *layer) kernelValues() tensor.Buffer { return l.scratch.Slice(0, l.shape.kernels()) }

// spare returns the scratch memory of the passes.
func (l *layer) spare() tensor.Buffer { return l.scratch.Slice(l.kernel, l.weighted) }

// forWeights returns the scratch memory of the weights.
func (l *layer) forWeights() tensor.Buffer { return l.scratch.Slice(l.weighted, l.scratch.Len()) }

// Algorithm returns how a CPU computes the layer: what the configuration says or, for
// Auto, what was chosen when the layer was planned. It is Auto before that, on another
// device, and for a Depthwise, which has one way alone.
func (l *layer) Algorithm() Algorithm {
	switch any(l.algorithm()).(type) {
	case *taps, *single, *points:
		return Taps
	case *frequency:
		return Frequency
	case *lowRank, *scaledLowRank:
		return LowRank
	case *rows, *perElement:
		return Rows
	}
	return Auto
}

// Taps returns the taps of the kernel grid in row-major order: those of the disc or, on a group that scales the plane, all.
func (l *layer) Taps() []Tap { return l.coords.taps }

// Convolve computes the output map with the rendered kernel.
func (l *layer) Convolve() { l.convolve(false) }

// convolve is Convolve, in a training step or not.
func (l *layer) convolve(train bool) {
	l.bound("Convolve")
	s := &l.shape
	if l.positions == 0 {
		refuse("Convolve", "%s: no Render before it", l.cfg.Name)
	}
	if n := s.inputElements(); l.in.N != n {
		refuse("Convolve", "%s: the input has %d group elements, its list %d", l.cfg.Name, l.in.N, n)
	}
	l.out.Written(s.NOut)
	x := l.in.Value
	if l.weights.live() {
		x = l.weights.scaled(l.forWeights())
	}
	if f := l.byFrequencies(); f != nil {
		f.planes = mapPlanes{x: l.in.Planes(), written: l.out.PlaneWritten()}
	}
	if l.stem != nil {
		l.stem.Forward(l.out.Value, x, l.prepared, l.spare(), s, train)
		return
	}
	l.algorithm().Forward(l.out.Value, x, l.prepared, l.spare(), s)
}

// Backward adds to the gradients of the parameters and of the layer's lists of
// elements, and writes or adds to the gradient of the input map; a Lifting does the latter
// with Config.InputGrad only. The elements must be those of the last Render. It panics with
// *Error where the plan is one for inference.
func (l *layer) Backward() {
	if l.inference {
		refuse("Backward", "%s is planned for inference, which has no Backward", l.cfg.Name)
	}
	l.bound("Backward")
	if l.positions == 0 {
		refuse("Backward", "%s: no Forward before it", l.cfg.Name)
	}
	if l.evaluated {
		refuse("Backward", "%s: no Forward since the last Dense", l.cfg.Name)
	}
	l.checkKept()
	dy := l.out.LiveGrad()
	x, dx := l.in.Value, tensor.Buffer{}
	if f := l.byFrequencies(); f != nil {
		f.planes = mapPlanes{x: l.in.Planes(), dy: l.out.GradPlanes()}
	}
	accumulate := false
	if l.inputGrad {
		if l.in.Grad.IsZero() {
			refuse("Backward", "%s: its input map has no place for a gradient", l.cfg.Name)
		}
		dx, accumulate = l.in.Grad, l.in.Accumulate()
	}
	if !l.weights.live() {
		l.backward(x, dx, dy, accumulate)
	} else {
		l.weights.Again()
		x, dx = l.weights.scaled(l.forWeights()), l.weights.grad(l.forWeights())
		l.backward(x, dx, dy, false)
		l.weights.backward(l.forWeights(), accumulate)
	}
	l.elementsBackward()
}

// backward is Backward from dy, for what the passes were given as input and want as
// its gradient: to the rendered kernel or, by way of its factors, to the coordinates.
func (l *layer) backward(x, dx, dy tensor.Buffer, accumulate bool) {
	s := &l.shape
	var dbias tensor.Buffer
	if l.bias != nil {
		dbias = l.bias.Grad
	}
	switch {
	case l.factored != nil:
		l.featuresBackward(x, dx, dy, dbias, accumulate)
	case l.stem != nil: // the kernel itself has served
		l.stem.Backward(l.kernelValues(), dy, l.out.Live(), x, l.prepared, l.spare(), s)
	default:
		l.passes.Backward(l.kernelValues(), dbias, dx, x, dy, l.prepared, l.spare(), s, accumulate)
	}
}

// moving returns how many coordinates have a gradient: none where elements cannot move.
func (l *layer) moving() int {
	if l.cfg.Group.Dim() == 0 {
		return 0
	}
	return l.coords.rows() * l.positions
}

// elementsBackward goes back from a rendered kernel and through the penalty, whose scratch memory is that of the passes and
// of the weights, and from the coordinates to the elements.
func (l *layer) elementsBackward() {
	s, n := &l.shape, l.moving()
	if l.factored == nil {
		l.kernelBackward(l.kernelValues(), n)
	}
	if l.penalty != nil {
		l.penaltyBackward(n)
	}
	if n == 0 {
		return
	}
	l.dev.Download(l.host[:n], l.dx)
	u, du := live(l.outEl)
	v, dv := live(l.inEl)
	u, v = l.inKernel.elements(s, u, v)
	if s.Paired {
		u = u[:s.rendered()]
	}
	l.coords.gradient(du, dv, l.host[:n], u, v, s.NIn, s.lists()) // in the kernel's order: pairs only move together
}

// kernelBackward goes back from a rendered kernel; n values of dx are wanted.
func (l *layer) kernelBackward(dkernel tensor.Buffer, n int) {
	if l.scaled() {
		l.scaleBackward(l.renderedScaleGrad(dkernel, l.scratch.Slice(l.kernel, l.scratch.Len())))
	}
	if tile := l.scaleTile(); !tile.IsZero() {
		l.scaleKernel(dkernel, tile)
	}
	l.net.Backward(dkernel, l.positionsGrad(n))
}

// featuresBackward goes back through the convolution and the kernel network
// without a kernel.
func (l *layer) featuresBackward(x, dx, dy, dbias tensor.Buffer, accumulate bool) {
	d := l.factorsGrad(l.positions)
	l.factored.Backward(d, l.factors, dbias, dx, x, dy, l.prepared, l.spare(), &l.shape, accumulate)
	if l.scaled() {
		l.scaleBackward(d.Scale)
	}
	l.net.BackwardFeatures(d.W, d.B, d.F, l.positionsGrad(l.moving()))
}

// factorsSize returns the size of the gradients of the factors of so many positions.
func (l *layer) factorsSize(positions int) int {
	h, out := l.net.Features(), l.net.Out()
	return roundUp(h*positions) + roundUp(out*h) + roundUp(out) + roundUp(positions)
}

// factorsGrad returns the places of these gradients, that of the scale only if there is one.
func (l *layer) factorsGrad(positions int) kernelFactors {
	h, out := l.net.Features(), l.net.Out()
	at := 0
	piece := func(n int) tensor.Buffer {
		from := at
		at += roundUp(n)
		return l.scratch.Slice(from, from+n)
	}
	d := kernelFactors{F: piece(h * positions), W: piece(out * h), B: piece(out)}
	if l.scaled() {
		d.Scale = piece(positions)
	}
	return d
}

// positionsGrad returns the place of the gradient of n coordinates, none for none.
func (l *layer) positionsGrad(n int) tensor.Buffer {
	if n == 0 {
		return tensor.Buffer{}
	}
	return l.dx.Slice(0, n)
}

// Side returns the side of the kernel grid in pixels.
func (l *layer) Side() int { return l.cfg.Side }
