package siren

import (
	"math"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// weightNorm composes a weight from lengths and directions (Salimans & Kingma
// 2016): row r is W_r = g_r v_r/|v_r|. With s = <dW_r, v_r>/|v_r|,
//
//	dg_r = s,   dv_r = g_r/|v_r| (dW_r - s v_r/|v_r|)
//
// A row v_r of zeros has no direction: W_r is zero, and it adds to no gradient.
//
// The rows are short and few, so they are composed on the host, in float64, and
// sent to the device.
type weightNorm struct {
	g *nn.Parameter // [out, 1, 1...]
	v *nn.Parameter // [out, in, 1...]

	weight tensor.Buffer // [out, in] composed
	grad   tensor.Buffer // [out, in] gradient of weight

	// Host copies.
	gs, dgs    []float32 // [out]
	vs, ws, ds []float32 // [out, in]; ws holds W, then dW; ds holds dv
}

// newWeightNorm takes the place of the parameter weight and starts from its
// values.
func newWeightNorm(prefix string, weight *nn.Parameter, gShape []int) *weightNorm {
	n := &weightNorm{
		g: nn.NewParameter(prefix+"weight_g", nn.Weight, gShape...),
		v: nn.NewParameter(prefix+"weight_v", nn.Weight, weight.Shape...),
	}
	copy(n.v.Host, weight.Host)
	for r := range n.g.Host {
		n.g.Host[r] = float32(norm(n.row(n.v.Host, r)))
	}
	size := len(n.v.Host)
	n.gs, n.dgs = make([]float32, len(n.g.Host)), make([]float32, len(n.g.Host))
	n.vs, n.ws, n.ds = make([]float32, size), make([]float32, size), make([]float32, size)
	return n
}

func (n *weightNorm) plan(a *tensor.Arena) {
	a.Reserve(&n.weight, len(n.vs))
	a.Reserve(&n.grad, len(n.vs))
}

// row returns row r of x [out, in].
func (n *weightNorm) row(x []float32, r int) []float32 {
	in := len(n.v.Host) / len(n.g.Host)
	return x[r*in : (r+1)*in]
}

func norm(x []float32) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

func (n *weightNorm) forward(dev tensor.Device) {
	dev.Download(n.gs, n.g.Value)
	dev.Download(n.vs, n.v.Value)
	for r, g := range n.gs {
		v, w := n.row(n.vs, r), n.row(n.ws, r)
		length := norm(v)
		if length == 0 {
			clear(w)
			continue
		}
		scale := float64(g) / length
		for k := range w {
			w[k] = float32(scale * float64(v[k]))
		}
	}
	dev.Upload(n.weight, n.ws)
}

// backward adds to the gradients of g and v what n.grad says.
func (n *weightNorm) backward(dev tensor.Device) {
	dev.Download(n.ws, n.grad)
	dev.Download(n.dgs, n.g.Grad)
	dev.Download(n.ds, n.v.Grad)
	for r, g := range n.gs {
		v, dw, dv := n.row(n.vs, r), n.row(n.ws, r), n.row(n.ds, r)
		length := norm(v)
		if length == 0 {
			continue
		}
		s := 0.0
		for k := range v {
			s += float64(dw[k]) * float64(v[k])
		}
		s /= length
		n.dgs[r] += float32(s)
		for k := range v {
			dv[k] += float32(float64(g) / length * (float64(dw[k]) - s*float64(v[k])/length))
		}
	}
	dev.Upload(n.g.Grad, n.dgs)
	dev.Upload(n.v.Grad, n.ds)
}
