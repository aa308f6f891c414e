package model

import (
	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/nn"
)

// Penalties are what training adds to the cross-entropy of a batch. The losses that a
// run reports are without them.
type Penalties struct {
	// Norms is the weight of the sum of the Euclidean norms, not squared, of the rendered
	// kernels and of the biases of all convolutions: what the published program calls
	// weight decay. nn.OptimizerConfig.WeightDecay is the decay of all weights.
	Norms float64 `json:"norms,omitempty"`

	// Monotonic is the weight of the sum, over group convolutions that follow each other,
	// of max(0, theta_(l+1) - theta_l), for each value that a layer learns of its subset
	// (Romero & Lohit 2022): subsets are not to grow from layer to layer. With
	// Increasing it is max(0, theta_l - theta_(l+1)), the sign in the paper's formula, and
	// they are not to shrink.
	Monotonic  float64 `json:"monotonic,omitempty"`
	Increasing bool    `json:"increasing,omitempty"`

	// Width is, of a network with Augerino, the weight of the Euclidean norm of the learned
	// half-widths, which the loss is lessened by, so that they stay as large as the images
	// allow (Benton et al., "Learning Invariances in Neural Networks from Training Data",
	// NeurIPS 2020). The published program has no such term.
	Width float64 `json:"width,omitempty"`
}

func (p Penalties) check(net *Network) error {
	for _, w := range []struct {
		field string
		value float64
	}{{"Norms", p.Norms}, {"Monotonic", p.Monotonic}, {"Width", p.Width}} {
		if !(w.value >= 0 && w.value <= 1e6) {
			return &ConfigError{"TrainConfig.Penalties." + w.field, w.value, "0 to 1e6"}
		}
	}
	if p.Width != 0 && (net.augerino == nil || len(net.augerino.width.at) == 0) {
		return &ConfigError{"TrainConfig.Penalties.Width", p.Width, "0 but for a network with Augerino that learns a half-width"}
	}
	if p.Norms != 0 && conv.ChangesLengths(net.Group()) {
		return &ConfigError{"TrainConfig.Penalties.Norms", p.Norms, "0 for " + net.Group().Name() +
			", each scale of which has kernels on another disc, with other norms; the weights can decay instead (nn.OptimizerConfig.WeightDecay, train.weight_decay)"}
	}
	if p.Monotonic != 0 && len(net.learnedSubsets()) < 2 {
		return &ConfigError{"TrainConfig.Penalties.Monotonic", p.Monotonic, "0 for a network that does not learn subsets of two layers"}
	}
	return nil
}

// learnedSubsets returns what each group convolution learns of its subset, in order;
// layers that learn none have no place in it.
func (net *Network) learnedSubsets() (list [][]*nn.Parameter) {
	for _, s := range net.samplers[1:] {
		var learned []*nn.Parameter
		for _, p := range s.Parameters() {
			if p.Trained() {
				learned = append(learned, p)
			}
		}
		if learned != nil {
			list = append(list, learned)
		}
	}
	return list
}

// monotonic is the penalty of that name. Values and gradients of a layer are few: they
// are compared on the host.
type monotonic struct {
	net        *Network
	weight     float64
	increasing bool
	subsets    [][]*nn.Parameter
	host       []float32   // of a gradient
	values     [][]float32 // [layer][value]
	grads      [][]float64
}

// newMonotonic returns the penalty of a bound network, nil for none.
func newMonotonic(net *Network, p Penalties) *monotonic {
	if p.Monotonic == 0 {
		return nil
	}
	m := &monotonic{net: net, weight: p.Monotonic, increasing: p.Increasing, subsets: net.learnedSubsets()}
	for _, layer := range m.subsets {
		n := 0
		for _, p := range layer {
			n += len(p.Host)
		}
		m.values = append(m.values, make([]float32, n))
		m.grads = append(m.grads, make([]float64, n))
	}
	m.host = make([]float32, len(m.values[0])) // all layers learn as many values
	return m
}

// evaluate returns the penalty and leaves its gradient in grads.
func (m *monotonic) evaluate() float64 {
	for l, layer := range m.subsets {
		values := m.values[l]
		for _, p := range layer {
			m.net.plan.dev.Download(values[:len(p.Host)], p.Value)
			values = values[len(p.Host):]
		}
		clear(m.grads[l])
	}
	sum := 0.0
	for l := range len(m.values) - 1 {
		from, to := l, l+1
		if m.increasing {
			from, to = to, from
		}
		for k := range m.values[l] {
			growth := float64(m.values[to][k]) - float64(m.values[from][k])
			if !(growth <= 0) { // NaN is to show
				sum += growth
				m.grads[to][k] += m.weight
				m.grads[from][k] -= m.weight
			}
		}
	}
	return m.weight * sum
}

// backward adds the penalty's gradient to that of the subsets.
func (m *monotonic) backward() {
	m.evaluate()
	for l, layer := range m.subsets {
		grads := m.grads[l]
		for _, p := range layer {
			host := m.host[:len(p.Host)]
			m.net.plan.dev.Download(host, p.Grad)
			for k := range host {
				host[k] += float32(grads[k])
			}
			m.net.plan.dev.Upload(p.Grad, host)
			grads = grads[len(host):]
		}
	}
}

// penalty returns what the penalties add to the loss: that of the norms as of the last
// Forward, the other at present.
func (net *Network) penalty() float64 {
	sum := 0.0
	for _, l := range net.plan.layers {
		if c, ok := l.(interface{ Penalty() float64 }); ok {
			sum += c.Penalty()
		}
	}
	if m := net.plan.monotonic; m != nil {
		sum += m.evaluate()
	}
	if a := net.augerino; a != nil {
		sum -= float64(a.width.weight * a.width.norm(net.plan.dev, a.Parameters()[0]))
	}
	return sum
}
