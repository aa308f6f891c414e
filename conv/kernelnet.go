package conv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/noether-go/noether/siren"
)

// KernelNet names a kind of network that renders kernels, see package siren.
type KernelNet string

const (
	// SIREN is a sinusoidal network, siren.Net.
	SIREN KernelNet = "SIREN"
	// MAGNet, Gabor and Fourier are multiplicative filter networks, siren.Filters.
	MAGNet  KernelNet = "MAGNet"
	Gabor   KernelNet = "Gabor"
	Fourier KernelNet = "Fourier"
	// MLP is a perceptron, siren.MLP.
	MLP KernelNet = "MLP"
)

var kernelNets = []KernelNet{SIREN, MAGNet, Gabor, Fourier, MLP}

// KernelNets returns all kinds, SIREN first.
func KernelNets() []KernelNet { return slices.Clone(kernelNets) }

// ParseKernelNet returns the kind of that name, in letters of either case; "" is
// SIREN. The error lists the names.
func ParseKernelNet(name string) (KernelNet, error) {
	if name == "" {
		return SIREN, nil
	}
	names := make([]string, len(kernelNets))
	for i, k := range kernelNets {
		if strings.EqualFold(name, string(k)) {
			return k, nil
		}
		names[i] = string(k)
	}
	return "", fmt.Errorf("conv: kernel network %q; allowed are %s", name, strings.Join(names, ", "))
}

// newKernelNet builds the kernel network of a layer, of in coordinates, whose
// weights have so many trailing axes.
func (c *Config) newKernelNet(in, dims int, seed uint64) (siren.LowRank, error) {
	name, out := c.Name+".kernelnet", c.In*c.Out
	switch c.KernelNet {
	case SIREN:
		return siren.New(name, siren.Config{
			In: in, Out: out, Hidden: c.Hidden, Layers: c.Layers,
			Omega0: c.Omega0, LearnOmega: c.LearnOmega, WeightNorm: c.WeightNorm,
			Dims: dims, Compat: c.Compat,
		}, seed)
	case MLP:
		return siren.NewMLP(name, siren.MLPConfig{
			In: in, Out: out, Hidden: c.Hidden, Layers: c.Layers,
			Activation: c.Activation, Norm: c.Norm, WeightNorm: c.WeightNorm,
			Dims: dims, Compat: c.Compat,
		}, seed)
	}
	return siren.NewFilters(name, siren.FiltersConfig{
		Filter: siren.Filter(c.KernelNet),
		In:     in, Out: out, Hidden: c.Hidden, Layers: c.Layers,
		WeightNorm: c.WeightNorm, Dims: dims, Compat: c.Compat,
	}, seed)
}
