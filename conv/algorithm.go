package conv

import (
	"fmt"
	"slices"
	"strings"
)

// Algorithm names a way to compute the passes of a convolution on a CPU. All
// give the same results up to rounding.
type Algorithm string

const (
	// Auto is the algorithm that the cost model finds fastest for the layer.
	Auto Algorithm = "auto"
	// Taps is the direct convolution over the live taps of the disc.
	Taps Algorithm = "taps"
	// Frequency is a product for each frequency of the transformed planes.
	Frequency Algorithm = "frequency"
	// LowRank convolves with the features before the last linear map of the kernel
	// network and mixes channels afterwards.
	LowRank Algorithm = "lowrank"
	// Rows transforms planes along one axis and takes tap after tap along the other.
	// It is not to be asked for: Auto takes it in inference for few images, and for a
	// list of elements for each image.
	Rows Algorithm = "rows"
)

var algorithms = []Algorithm{Auto, Taps, Frequency, LowRank}

// Algorithms returns all algorithms, Auto first.
func Algorithms() []Algorithm { return slices.Clone(algorithms) }

// ParseAlgorithm returns the algorithm of that name; "" is Auto. The error lists
// the names.
func ParseAlgorithm(name string) (Algorithm, error) {
	if name == "" {
		return Auto, nil
	}
	for _, a := range algorithms {
		if name == string(a) {
			return a, nil
		}
	}
	return "", fmt.Errorf("conv: algorithm %q; allowed are %s", name, allowedAlgorithms())
}

func allowedAlgorithms() string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// featurePasses returns the implementation of a that works on features, or nil if
// a works on rendered kernels.
func (a Algorithm) featurePasses(s *Shape, t traits) (featurePasses, error) {
	switch {
	case s.PerElement && a != Auto:
		return nil, fmt.Errorf("the algorithm %q takes one list of elements for all images; for one each %q is allowed", a, Auto)
	case a == Frequency && !inFrequency(s):
		return nil, fmt.Errorf("the algorithm %q is for kernels with an extent", a)
	case a == Taps:
		return nil, nil
	case s.PerElement:
		return newPerElement(s, t.features), nil
	case a == LowRank, a == Auto && lowRankPays(s, t.features, t.pairs):
		if t.scaled {
			return newScaledLowRank(t.features), nil
		}
		return newLowRank(t.features), nil
	case a == Frequency, inFrequency(s) && newLattice(s).cost(s) < tapsCost(s):
		return newFrequency(s, t.features), nil
	}
	return nil, nil
}
