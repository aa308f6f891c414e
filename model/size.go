package model

import (
	"fmt"

	"github.com/noether-go/noether/conv"
)

// mostValues is the largest number of parameters and statistics of a network that is not
// read from a file. In training each takes about 24 bytes.
const mostValues = 1 << 27

// SizeError reports a configuration of a network with more parameters than there may be.
type SizeError struct {
	Most int // parameters and running statistics

	architecture                string
	width, hidden, kernelLayers int
	factors                     []int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("model: %sConfig: Width %d, Factors %v, KernelHidden %d and KernelLayers %d make more than %d parameters; make one of them smaller",
		e.architecture, e.width, e.factors, e.hidden, e.kernelLayers, e.Most)
}

// afford counts values that are to be allocated. The error is a *SizeError where the
// network would then have more than it may.
func (net *Network) afford(values int) error {
	net.values += values
	if c := &net.cfg; net.values > net.most {
		return &SizeError{net.most, c.Type, c.Width, c.KernelHidden, c.KernelLayers, c.Factors}
	}
	return nil
}

// kernelValues returns the number of weights of a convolution's kernel network but for
// its first layer and the biases, which are fewer.
func kernelValues(c conv.Config) int {
	maps := c.Layers - 2 // between hidden layers
	if c.KernelNet != conv.SIREN && c.KernelNet != conv.MLP {
		maps = c.Layers
	}
	return maps*c.Hidden*c.Hidden + c.Hidden*c.In*c.Out
}

// groupConvValues is kernelValues for a group convolution.
func groupConvValues(c conv.Config, separable bool) int {
	if !separable {
		return kernelValues(c)
	}
	plane := c
	plane.In = 1
	return pointwiseValues(c) + kernelValues(plane)
}

// pointwiseValues is kernelValues for a convolution without extent, whose kernel network
// is half as wide.
func pointwiseValues(c conv.Config) int {
	c.Hidden = max(1, c.Hidden/2)
	return kernelValues(c)
}
