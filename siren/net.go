package siren

import (
	"fmt"
	"math"

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
// 4, ... (the odd places belong to the sines): for each layer weight [out, in, 1...],
// or weight_g [out, 1, 1...] and weight_v [out, in, 1...], bias [out] and, for sine
// layers, omega_0 [1], which is of class nn.Constant unless it is learned.
type Net struct {
	network
	layers []*layer
	device
}

// layer is one linear map, with a sine behind it unless it is the last.
type layer struct {
	linear
	omega *nn.Parameter // nil in the last layer

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
	s := shape{cfg.In, cfg.Hidden, cfg.Out, cfg.Layers, cfg.Dims}
	if err := s.complete("Config", name, 2); err != nil {
		return nil, err
	}
	if cfg.Omega0 == 0 {
		cfg.Omega0 = 10
	}
	if !(math.Abs(cfg.Omega0) >= 1e-6 && math.Abs(cfg.Omega0) <= 1e6) { // also NaN
		return nil, fmt.Errorf("siren: %s: Config.Omega0 is %v; allowed are 1e-6 to 1e6, of either sign", name, cfg.Omega0)
	}
	if name != "" {
		name += "."
	}
	n := &Net{network: network{in: s.in, width: s.hidden, out: s.out}}
	normalised := cfg.WeightNorm && !(cfg.Compat && s.dims > 2)
	for i := range s.layers {
		in, out, last := s.hidden, s.hidden, i == s.layers-1
		bound := math.Sqrt(6/float64(in)) / math.Abs(cfg.Omega0)
		if i == 0 {
			in, bound = s.in, 1/float64(s.in)
		}
		if last {
			out = s.out
		}
		prefix := fmt.Sprintf("%skernel_net.%d.", name, 2*i)
		weight := newWeight(prefix, out, in, s.dims)
		uniform(weight, bound, seed)
		l := &layer{linear: newLinear(prefix, weight, normalised)}
		n.params = append(n.params, l.parameters()...)
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
		n.linears = append(n.linears, &l.linear)
	}
	n.last = n.linears[len(n.linears)-1]
	n.hidden = &sines{layers: n.layers[:len(n.layers)-1]}
	n.other = n
	return n, nil
}

// learned reports whether the frequency is a parameter.
func (l *layer) learned() bool { return l.omega.Class == nn.Frequency }
