package nn

import "github.com/noether-go/noether/tensor"

// measure is what the weights of the group elements of a map are to a normalisation. Its
// statistics depend on ratios of weights only, so they are taken in units of the largest, and
// no gradient goes through the unit. A nil *measure is that of a map whose elements have none.
type measure struct {
	m   *Map
	of  Weighted
	dev tensor.Device

	lists         int
	weights, grad tensor.Buffer // [n, lists]
	moments       tensor.Buffer // for the gradient, see tensor.Measure
	host          []float32     // [n, lists]
	scale         float64       // what the weights were multiplied by
}

// planMeasure reserves the weights of in for the normalisation that is being planned, with
// statistics of so many means: of each channel, sample or both.
func planMeasure(p *Plan, in *Map, means int) *measure {
	if in.On == nil {
		return nil
	}
	m := &measure{m: in, of: in.On, lists: in.On.Lists()}
	n := in.MaxN * m.lists
	p.Carry(&m.weights, n)
	if !p.Inference {
		p.Carry(&m.moments, 2*means*in.MaxN)
		p.Arena.Share(&m.grad, n)
	}
	return m
}

// bind sets the device.
func (m *measure) bind(dev tensor.Device) {
	if m != nil {
		m.dev, m.host = dev, make([]float32, m.m.MaxN*m.lists)
	}
}

// live reports whether the elements have weights in this pass.
func (m *measure) live() bool { return m != nil && weighted(m.of) }

// read takes the weights of the present pass, if there are any.
func (m *measure) read() {
	if !m.live() {
		return
	}
	all, _ := m.of.Weights()
	n := len(all) / m.lists
	m.scale = 1 / all[first(all)]
	for s := range m.lists {
		for j, w := range all[s*n : (s+1)*n] {
			m.host[j*m.lists+s] = float32(w * m.scale)
		}
	}
	m.dev.Upload(m.weights, m.host[:len(all)])
}

// forward returns the measure as read took it, for the forward pass.
func (m *measure) forward() tensor.Measure {
	if !m.live() {
		return tensor.Measure{}
	}
	n := m.m.N * m.lists
	return tensor.Measure{Elements: m.m.N, Lists: m.lists, Weights: m.weights.Slice(0, n), Moments: m.moments}
}

// backward returns it for the backward pass, whose gradient gather takes.
func (m *measure) backward() tensor.Measure {
	t := m.forward()
	if m.live() {
		t.Grad = m.grad.Slice(0, t.Weights.Len())
	}
	return t
}

// gather adds the gradient that the backward pass has left to those of the weights.
func (m *measure) gather() {
	if !m.live() {
		return
	}
	_, into := m.of.Weights()
	grad := m.host[:len(into)]
	m.dev.Download(grad, m.grad.Slice(0, len(into)))
	for s := range m.lists {
		n := len(into) / m.lists
		for j := range n {
			into[s*n+j] += float64(m.scale * float64(grad[j*m.lists+s]))
		}
	}
}
