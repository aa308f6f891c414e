package model

import "github.com/noether-go/noether/nn"

// Pooling names what makes one value of each channel of the last feature map.
type Pooling string

const (
	MaxPooling     Pooling = "max"     // the largest value, see nn.GlobalMax
	MeanPooling    Pooling = "mean"    // the mean, see nn.GlobalMean
	LearnedPooling Pooling = "learned" // a linear map, the same for all channels, see nn.LearnedPool
)

// Poolings returns all of them.
func Poolings() []Pooling { return []Pooling{MaxPooling, MeanPooling, LearnedPooling} }

// newPooling makes the pooling of a map of so many group elements on a plane of that
// side.
func (net *Network) newPooling(elements, side int) (nn.Layer, error) {
	switch net.cfg.Pooling {
	case MaxPooling:
		return nn.NewGlobalMax(), nil
	case MeanPooling:
		return nn.NewGlobalMean(), nil
	}
	if err := net.afford(elements * side * side); err != nil {
		return nil, err
	}
	l, err := nn.NewLearnedPool("final_pooling", elements*side*side, net.cfg.Seed)
	if err != nil {
		return nil, err
	}
	net.params.Add(l.Parameters()...)
	return l, nil
}
