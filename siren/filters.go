package siren

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
)

// Filter is the kind of filter that a multiplicative filter network multiplies.
type Filter string

const (
	// MAGNet is a Gabor filter with a width for each unit and coordinate
	// (Romero et al., "FlexConv", ICLR 2022).
	MAGNet Filter = "MAGNet"
	// Gabor is a sine under a Gaussian with one width for each unit (Fathony et al.,
	// "Multiplicative Filter Networks", ICLR 2021).
	Gabor Filter = "Gabor"
	// Fourier is a sine (the same).
	Fourier Filter = "Fourier"
)

var filters = []Filter{MAGNet, Gabor, Fourier}

// FiltersConfig describes a Filters. In and Out must be given; the zero value of
// every other field is a usual choice.
type FiltersConfig struct {
	Filter  Filter // "" means MAGNet
	In, Out int    // coordinates of a position and of a result
	Hidden  int    // width of the hidden layers; 0 means 32
	Layers  int    // hidden linear maps, one less than filters, at least 1; 0 means 3

	// InputScale is the spread of the filters' frequencies: their weights start
	// uniform in +-InputScale/sqrt(In (Layers+1)), in radians per unit and times the
	// widths of the Gaussians. 0 means 256.
	InputScale float64
	// WeightNorm trains each row of a weight as length times direction.
	WeightNorm bool

	// Dims and Compat are those of Config.
	Dims   int
	Compat bool
}

// Filters is a multiplicative filter network; the package comment has its
// equations. Parameters are named, for NAME of New and l from 0,
//
//	NAME.linear.l.weight          [Hidden, Hidden, 1...], with NAME.linear.l.bias [Hidden]
//	NAME.output_linear.weight     [Out, Hidden, 1...], with NAME.output_linear.bias [Out]
//	NAME.filters.l.mu             [Hidden, In], not of Fourier
//	NAME.filters.l.gamma          [Hidden, In], of Gabor [Hidden, 1], not of Fourier
//	NAME.filters.l.linear.weight  [Hidden, In, 1...], with NAME.filters.l.linear.bias [Hidden]
//
// in this order; under weight normalisation weight_g and weight_v take the place
// of a weight. It runs on a CPU only: Plan refuses other devices.
type Filters struct{ network }

// filter is sin(W x + b) exp(-1/2 sum over d of (gamma_d (x_d - mu_d))^2) for each
// unit.
type filter struct {
	linear
	mu    *nn.Parameter // [Hidden, In]; nil for a Fourier filter
	gamma *nn.Parameter // [Hidden, In] or [Hidden, 1]; nil likewise
}

// NewFilters returns a network with values drawn from the streams of (seed,
// parameter name). Name may be empty. Errors name the field that cannot be used
// and what is allowed.
//
// The linear maps, the last one among them, start with weights and biases uniform in
// +-1/sqrt(Hidden), the filters with biases uniform in +-pi, mu in +-1. gamma follows
// the gamma distribution of rate 1 and of shape 6/(l+1) for filter l of a MAGNet,
// 6/(Layers+1) for Gabor filters.
func NewFilters(name string, cfg FiltersConfig, seed uint64) (*Filters, error) {
	s := shape{cfg.In, cfg.Hidden, cfg.Out, cfg.Layers, cfg.Dims}
	if err := s.complete("FiltersConfig", name, 1); err != nil {
		return nil, err
	}
	if cfg.Filter == "" {
		cfg.Filter = MAGNet
	}
	if !slices.Contains(filters, cfg.Filter) {
		return nil, fmt.Errorf("siren: %s: FiltersConfig.Filter is %q; allowed are %s", name, cfg.Filter, names(filters))
	}
	if cfg.InputScale == 0 {
		cfg.InputScale = 256
	}
	if !(cfg.InputScale >= 1e-6 && cfg.InputScale <= 1e6) { // also NaN
		return nil, fmt.Errorf("siren: %s: FiltersConfig.InputScale is %v; allowed are 1e-6 to 1e6", name, cfg.InputScale)
	}
	if name != "" {
		name += "."
	}
	normalised := cfg.WeightNorm && !(cfg.Compat && s.dims > 2)
	n := &Filters{network{in: s.in, width: s.hidden, out: s.out}}
	p := new(product)
	hiddenMap := func(prefix string, out int) *linear {
		weight := newWeight(prefix, out, s.hidden, s.dims)
		uniform(weight, usual(s.hidden), seed)
		l := newLinear(prefix, weight, normalised)
		uniform(l.bias, usual(s.hidden), seed)
		n.params = append(n.params, l.parameters()...)
		n.linears = append(n.linears, &l)
		return &l
	}
	for i := range s.layers {
		p.linears = append(p.linears, hiddenMap(fmt.Sprintf("%slinear.%d.", name, i), s.hidden))
	}
	n.last = hiddenMap(name+"output_linear.", s.out)
	for i := range s.layers + 1 {
		f := newFilter(fmt.Sprintf("%sfilters.%d.", name, i), cfg, s, i, normalised, seed)
		if f.mu != nil {
			n.params = append(n.params, f.mu, f.gamma)
		}
		n.params = append(n.params, f.parameters()...)
		n.linears = append(n.linears, &f.linear)
		p.filters = append(p.filters, f)
	}
	n.hidden = p
	return n, nil
}

func newFilter(prefix string, cfg FiltersConfig, s shape, i int, normalised bool, seed uint64) *filter {
	f := new(filter)
	weight := newWeight(prefix+"linear.", s.hidden, s.in, s.dims)
	uniform(weight, usual(s.in)*cfg.InputScale/math.Sqrt(float64(s.layers+1)), seed)
	if cfg.Filter != Fourier {
		columns, shape := s.in, 6/float64(i+1)
		if cfg.Filter == Gabor {
			columns, shape = 1, 6/float64(s.layers+1)
		}
		f.mu = nn.NewParameter(prefix+"mu", nn.Weight, s.hidden, s.in)
		uniform(f.mu, 1, seed)
		f.gamma = nn.NewParameter(prefix+"gamma", nn.Weight, s.hidden, columns)
		src := stream.New(seed, f.gamma.Name, 0)
		for k := range f.gamma.Host {
			f.gamma.Host[k] = float32(src.Gamma(shape))
		}
		for k := range weight.Host {
			weight.Host[k] *= f.gamma.Host[k/s.in*columns+k%s.in%columns]
		}
	}
	f.linear = newLinear(prefix+"linear.", weight, normalised)
	uniform(f.bias, math.Pi, seed)
	return f
}

// names lists what a field may be, for an error.
func names[S ~string](list []S) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = fmt.Sprintf("%q", string(s))
	}
	return strings.Join(quoted, ", ")
}
