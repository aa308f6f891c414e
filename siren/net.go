package siren

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Config describes a Net. In and Out must be given; the zero value of every
// other field is a usual choice.
type Config struct {
	In, Out int // coordinates of a position and of a result
	Hidden  int // width of the sine layers; 0 means 32
	Layers  int // linear maps, at least 2; 0 means 3

	// Omega0 is the frequency of the sine layers (radians per unit); 0 means 10.
	// Large values fit fine detail.
	Omega0 float64
	// LearnOmega makes the frequency of each sine layer a parameter.
	LearnOmega bool
	// WeightNorm trains each row of a weight as length times direction
	// (Salimans & Kingma 2016).
	WeightNorm bool

	// Dims is the number of axes of length one that follow the shape [out, in]
	// of a weight: 3 for a network that the published implementation evaluates
	// on a 3-D grid, and so on. It only matters to checkpoints.
	Dims int
	// Compat leaves out weight normalisation where the published implementation
	// silently does, for Dims > 2.
	Compat bool
}

// Net is a sinusoidal representation network; the package comment has its
// equations. Parameters are named NAME.kernel_net.i.weight and so on, i = 0, 2,
// 4, ... (the odd places belong to the sines).
type Net struct {
	cfg    Config
	layers []*layer
	params []*nn.Parameter

	dev       tensor.Device
	max       int
	inference bool
	host      [1]float32

	x         tensor.Buffer // of the last Forward
	positions int

	f     tensor.Buffer // [Hidden, max] the last sine layer, where it is wanted
	onCPU bool          // planned for a CPU: then cpu has the passes, else device
	cpu   cpu
	device
}

var _ Kernel = (*Net)(nil)

// layer is one linear map, with a sine behind it unless it is the last.
type layer struct {
	in, out      int
	weight, bias *nn.Parameter // weight is nil under weight normalisation
	norm         *weightNorm   // nil without
	omega        *nn.Parameter // nil in the last layer

	w float32 // frequency of the last Forward

	// On another device than a CPU:
	h     tensor.Buffer // [out, max] sin(w z)
	slope tensor.Buffer // [out, max] w cos(w z); not for inference
	z     tensor.Buffer // [out, max]; only where w is learned
}

// New returns a network with weights drawn from the streams of (seed, parameter
// name). Name may be empty. Errors name the field that cannot be used and what
// is allowed.
func New(name string, cfg Config, seed uint64) (*Net, error) {
	if cfg.Hidden == 0 {
		cfg.Hidden = 32
	}
	if cfg.Layers == 0 {
		cfg.Layers = 3
	}
	if cfg.Omega0 == 0 {
		cfg.Omega0 = 10
	}
	for _, f := range []struct {
		field           string
		value, from, to int
	}{
		{"In", cfg.In, 1, 1 << 16},
		{"Hidden", cfg.Hidden, 1, 1 << 16},
		{"Out", cfg.Out, 1, 1 << 26},
		{"Layers", cfg.Layers, 2, 1 << 10},
		{"Dims", cfg.Dims, 0, 8},
	} {
		if f.value < f.from || f.value > f.to {
			return nil, fmt.Errorf("siren: %s: Config.%s is %d; allowed are %d to %d", name, f.field, f.value, f.from, f.to)
		}
	}
	if !(math.Abs(cfg.Omega0) >= 1e-6 && math.Abs(cfg.Omega0) <= 1e6) { // also NaN
		return nil, fmt.Errorf("siren: %s: Config.Omega0 is %v; allowed are 1e-6 to 1e6, of either sign", name, cfg.Omega0)
	}
	if name != "" {
		name += "."
	}
	n := &Net{cfg: cfg}
	for i := range cfg.Layers {
		l := &layer{in: cfg.Hidden, out: cfg.Hidden}
		if i == 0 {
			l.in = cfg.In
		}
		last := i == cfg.Layers-1
		if last {
			l.out = cfg.Out
		}
		prefix := fmt.Sprintf("%skernel_net.%d.", name, 2*i)

		weight := nn.NewParameter(prefix+"weight", nn.Weight, n.shape(l.out, l.in)...)
		bound := 1 / float64(l.in)
		if i > 0 {
			bound = math.Sqrt(6/float64(l.in)) / math.Abs(cfg.Omega0)
		}
		src := stream.New(seed, weight.Name, 0)
		for k := range weight.Host {
			weight.Host[k] = float32(bound * (2*src.Float64() - 1))
		}
		l.bias = nn.NewParameter(prefix+"bias", nn.Weight, l.out)
		if cfg.WeightNorm && !(cfg.Compat && cfg.Dims > 2) {
			l.norm = newWeightNorm(prefix, weight, n.shape(l.out, 1))
			n.params = append(n.params, l.norm.g, l.norm.v, l.bias)
		} else {
			l.weight = weight
			n.params = append(n.params, l.weight, l.bias)
		}
		if !last {
			class := nn.Constant
			if cfg.LearnOmega {
				class = nn.Frequency
			}
			l.omega = nn.NewParameter(prefix+"omega_0", class, 1)
			l.omega.Host[0] = float32(cfg.Omega0)
			n.params = append(n.params, l.omega)
		}
		n.layers = append(n.layers, l)
	}
	return n, nil
}

// shape returns [out, in, 1, ...].
func (n *Net) shape(out, in int) []int {
	s := []int{out, in}
	for range n.cfg.Dims {
		s = append(s, 1)
	}
	return s
}

// In returns the number of coordinates of a position.
func (n *Net) In() int { return n.cfg.In }

// Out returns the number of coordinates of a result.
func (n *Net) Out() int { return n.cfg.Out }

// Parameters returns, for each layer, weight [out, in, 1...] (or weight_g
// [out, 1, 1...] and weight_v [out, in, 1...]), bias [out] and, for sine layers,
// omega_0 [1], which is of class nn.Constant unless it is learned.
func (n *Net) Parameters() []*nn.Parameter { return n.params }

// Plan reserves buffers for at most max positions. Planned for inference, a
// network gives the values that it has in training, on a CPU to the last bit.
func (n *Net) Plan(p *nn.Plan, max int) {
	if max < 1 {
		refuse("Net.Plan", "%d positions; at least 1 is needed", max)
	}
	n.max, n.inference, n.onCPU = max, p.Inference, p.Device == nil
	if _, ok := p.Device.(*tensor.CPU); ok {
		n.onCPU = true
	}
	for _, l := range n.layers {
		if l.norm != nil {
			l.norm.plan(p.Arena)
		}
	}
	if n.onCPU {
		n.planCPU(p, max)
	} else {
		n.planDevice(p, max)
	}
}

// Bind sets the device. It panics with *Error when the network was planned for
// another kind of device.
func (n *Net) Bind(dev tensor.Device) {
	c, ok := dev.(*tensor.CPU)
	if ok != n.onCPU {
		refuse("Net.Bind", "planned for another kind of device than %s", dev.Name())
	}
	n.dev = dev
	if ok {
		n.cpu.bind(c)
	}
}

// value returns the weight [out, in] that the layer multiplies with.
func (l *layer) value() tensor.Buffer {
	if l.norm != nil {
		return l.norm.weight
	}
	return l.weight.Value
}

// learned reports whether the frequency is a parameter.
func (l *layer) learned() bool { return l.omega.Class == nn.Frequency }

// start checks the arguments of a forward pass and composes the weights.
func (n *Net) start(op string, x tensor.Buffer, positions int) {
	if positions < 1 || positions > n.max {
		refuse(op, "%d positions, planned are 1 to %d", positions, n.max)
	}
	if x.Len() < n.cfg.In*positions {
		refuse(op, "%d values are too few for %d positions of %d coordinates", x.Len(), positions, n.cfg.In)
	}
	n.x, n.positions = x.Slice(0, n.cfg.In*positions), positions
	for _, l := range n.layers {
		if l.norm != nil {
			l.norm.forward(n.dev)
		}
		if l.omega == nil {
			continue
		}
		if l.w = l.omega.Host[0]; l.learned() {
			n.dev.Download(n.host[:], l.omega.Value)
			l.w = n.host[0]
		}
	}
}

// Forward evaluates the network at the positions x [In, positions] and writes
// the result to y [Out, positions].
func (n *Net) Forward(y, x tensor.Buffer, positions int) {
	if y.Len() < n.cfg.Out*positions {
		refuse("Net.Forward", "%d values have no place for %d results at %d positions", y.Len(), n.cfg.Out, positions)
	}
	n.start("Net.Forward", x, positions)
	if n.onCPU {
		n.cpu.forward(y, n.x, positions)
		return
	}
	n.forward(y)
}

// Backward follows Forward: given dy [Out, positions] it adds to the gradients
// of the parameters and, unless dx is the zero Buffer, writes the gradient of
// the positions to dx [In, positions].
func (n *Net) Backward(dy, dx tensor.Buffer) {
	if n.inference {
		refuse("Net.Backward", "planned for inference")
	}
	if n.positions == 0 {
		refuse("Net.Backward", "no Forward before it")
	}
	p := n.positions
	if dy.Len() < n.cfg.Out*p || !dx.IsZero() && dx.Len() < n.cfg.In*p {
		refuse("Net.Backward", "gradients are too short for %d positions", p)
	}
	if n.onCPU {
		n.cpu.backward(dy, dx, n.x, p)
		return
	}
	n.backward(dy.Slice(0, n.cfg.Out*p), dx, len(n.layers)-1)
}
