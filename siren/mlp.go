package siren

import (
	"fmt"
	"slices"

	"github.com/noether-go/noether/nn"
)

// Activation is the function behind the hidden layers of an MLP.
type Activation string

const (
	ReLU      Activation = "ReLU"
	LeakyReLU Activation = "LeakyReLU" // with slope 0.01 below zero
	Swish     Activation = "Swish"     // x sigmoid(x) (Ramachandran et al. 2017)
)

// Norm is the normalisation in front of the activations of an MLP. There is none over
// positions: with it the value of a kernel at one position would depend on the
// others, and so on the elements that were drawn.
type Norm string

const (
	NoNorm Norm = "none"
	// LayerNorm standardises the units at each position, with a scale and a shift for
	// each unit (Ba et al. 2016), variance biased, eps 1e-5.
	LayerNorm Norm = "LayerNorm"
)

var (
	activations = []Activation{ReLU, LeakyReLU, Swish}
	norms       = []Norm{NoNorm, LayerNorm}
)

// Activations returns all activations, ReLU first.
func Activations() []Activation { return slices.Clone(activations) }

// Norms returns all normalisations, NoNorm first.
func Norms() []Norm { return slices.Clone(norms) }

// MLPConfig describes an MLP. In and Out must be given; the zero value of every
// other field is a usual choice.
type MLPConfig struct {
	In, Out int // coordinates of a position and of a result
	Hidden  int // width of the hidden layers; 0 means 32
	Layers  int // linear maps, at least 2; 0 means 3

	Activation Activation // "" means ReLU
	Norm       Norm       // "" means NoNorm
	// WeightNorm trains each row of a weight as length times direction.
	WeightNorm bool

	// Dims and Compat are those of Config.
	Dims   int
	Compat bool
}

// MLP is a multilayer perceptron; the package comment has its equations. Parameters
// are named NAME.kernel_net.i.weight [out, in, 1...] and NAME.kernel_net.i.bias
// [out] of the linear maps, i = 0, 3, 6, ..., followed by those of the normalisation
// [Hidden] with i = 1, 4, ...; under weight normalisation weight_g and weight_v take
// the place of a map's weight. It runs on a CPU only: Plan refuses other devices.
type MLP struct{ network }

// NewMLP returns a network with values drawn from the streams of (seed, parameter
// name): weights and biases uniform in +-1/sqrt(in), normalisations with scale one
// and shift zero. Name may be empty. Errors name the field that cannot be used and
// what is allowed.
func NewMLP(name string, cfg MLPConfig, seed uint64) (*MLP, error) {
	s := shape{cfg.In, cfg.Hidden, cfg.Out, cfg.Layers, cfg.Dims}
	if err := s.complete("MLPConfig", name, 2); err != nil {
		return nil, err
	}
	if cfg.Activation == "" {
		cfg.Activation = ReLU
	}
	if cfg.Norm == "" {
		cfg.Norm = NoNorm
	}
	if !slices.Contains(activations, cfg.Activation) {
		return nil, fmt.Errorf("siren: %s: MLPConfig.Activation is %q; allowed are %s", name, cfg.Activation, names(activations))
	}
	if !slices.Contains(norms, cfg.Norm) {
		return nil, fmt.Errorf("siren: %s: MLPConfig.Norm is %q; allowed are %s", name, cfg.Norm, names(norms))
	}
	if name != "" {
		name += "."
	}
	normalised := cfg.WeightNorm && !(cfg.Compat && s.dims > 2)
	n := &MLP{network{in: s.in, width: s.hidden, out: s.out}}
	p := &perceptron{activation: cfg.Activation}
	for i := range s.layers {
		in, out, last := s.hidden, s.hidden, i == s.layers-1
		if i == 0 {
			in = s.in
		}
		if last {
			out = s.out
		}
		prefix := fmt.Sprintf("%skernel_net.%d.", name, 3*i)
		weight := newWeight(prefix, out, in, s.dims)
		uniform(weight, usual(in), seed)
		l := &unit{linear: newLinear(prefix, weight, normalised)}
		uniform(l.bias, usual(in), seed)
		n.params = append(n.params, l.parameters()...)
		n.linears = append(n.linears, &l.linear)
		if last {
			n.last = &l.linear
			break
		}
		if cfg.Norm == LayerNorm {
			prefix := fmt.Sprintf("%skernel_net.%d.", name, 3*i+1)
			l.scale = nn.NewParameter(prefix+"weight", nn.Weight, out)
			l.shift = nn.NewParameter(prefix+"bias", nn.Weight, out)
			for r := range l.scale.Host {
				l.scale.Host[r] = 1
			}
			n.params = append(n.params, l.scale, l.shift)
		}
		p.layers = append(p.layers, l)
	}
	n.hidden = p
	return n, nil
}
