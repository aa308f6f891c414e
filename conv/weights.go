package conv

import (
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// weights makes a layer sum over input elements with weights: a copy of the input
// map, each element times its weight w_j, takes the map's place in the passes. With
// dx' the gradient of that,
//
//	dx = w dx',   dw_j += sum over c, x, b of x[c, j, x, b] dx'[c, j, x, b]
//
// so that an element of weight zero has a gradient too. With a list for each image,
// w depends on b as well.
type weights struct {
	in  *nn.Map
	el  *gumbel.Elements
	dev tensor.Device

	tile   tensor.Buffer // [n, H, W, B]: the weight of each value of a channel
	host   []float32     // the same on the host, and what comes back
	values int           // of the input map, at most
	size   int           // what they take of scratch memory
}

// planWeights reserves the weights of a layer whose list can have some, and returns
// nothing for another.
func planWeights(p *nn.Plan, in *nn.Map, el *gumbel.Elements) *weights {
	if el == nil || !el.Weighted {
		return nil
	}
	channel := in.MaxN * in.H * in.W * in.B
	values := in.C * channel
	w := &weights{in: in, el: el, host: make([]float32, channel), values: values, size: roundUp(values)}
	p.Arena.Reserve(&w.tile, channel)
	return w
}

// scratch returns how many values of scratch memory scaled and backward need: a map
// and, for the latter, another.
func (w *weights) scratch(inference bool) int {
	switch {
	case w == nil:
		return 0
	case inference:
		return w.size
	}
	return 2 * w.size
}

// live reports whether the elements have weights at present.
func (w *weights) live() bool { return w != nil && w.el.Weight != nil }

// read takes the weights of the list as it is.
func (w *weights) read() {
	lists, n := w.el.Lists(), w.el.Len()
	plane := w.in.H * w.in.W * w.in.B
	for j := range n {
		for s := range lists {
			value := float32(w.el.Weight[s*n+j])
			for k := j*plane + s; k < (j+1)*plane; k += lists {
				w.host[k] = value
			}
		}
	}
	w.dev.Upload(w.tile, w.host[:n*plane])
}

// channel returns the live values of channel c of a map.
func (w *weights) channel(x tensor.Buffer, c int) tensor.Buffer {
	n := w.in.PerChannel()
	return x.Slice(c*n, (c+1)*n)
}

// scaled writes the weighted input map to scratch memory.
func (w *weights) scaled(scratch tensor.Buffer) tensor.Buffer {
	y := scratch.Slice(0, w.values)
	tile := w.channel(w.tile, 0)
	for c := range w.in.C {
		w.dev.Mul(w.channel(y, c), w.channel(w.in.Value, c), tile)
	}
	return y
}

// grad is the place in scratch memory of the gradient of what scaled returned.
func (w *weights) grad(scratch tensor.Buffer) tensor.Buffer {
	return scratch.Slice(w.size, w.size+w.values)
}

// backward goes from what the passes left at grad to the gradients of the input map,
// which it writes or adds to, and of the weights, to which it adds.
func (w *weights) backward(scratch tensor.Buffer, accumulate bool) {
	dy, product := w.grad(scratch), scratch.Slice(0, w.values)
	tile, sum := w.channel(w.tile, 0), w.channel(product, 0)
	for c := range w.in.C {
		d := w.channel(dy, c)
		p := w.channel(product, c)
		w.dev.Mul(p, w.channel(w.in.Value, c), d)
		if c > 0 {
			w.dev.Add(sum, sum, p)
		}
		to := w.channel(w.in.Grad, c)
		if accumulate {
			w.dev.Mul(d, d, tile)
			w.dev.Add(to, to, d)
		} else {
			w.dev.Mul(to, d, tile)
		}
	}
	n := w.in.PerChannel()
	w.dev.Download(w.host[:n], sum)
	w.sum(w.host[:n])
}

// sum adds to the gradient of each weight what its values [n, H, W, B] have.
func (w *weights) sum(values []float32) {
	lists, n := w.el.Lists(), w.el.Len()
	plane := w.in.H * w.in.W * w.in.B
	for j := range n {
		for s := range lists {
			d := 0.0
			for k := j*plane + s; k < (j+1)*plane; k += lists {
				d += float64(values[k])
			}
			w.el.WeightGrad[s*n+j] += d
		}
	}
}
