package nn

import "github.com/noether-go/noether/tensor"

// Weighted is a list of group elements, some of which may count for less than others,
// or for nothing, in whatever sums over them: gumbel.Elements is one.
type Weighted interface {
	// Weights returns the weights of the present pass [Lists, n] and their gradient,
	// to which layers add; nil and nil where every weight is 1.
	Weights() (value, grad []float64)
	// Lists returns 1 where all images of a batch have the list in common, and
	// otherwise their number.
	Lists() int
}

// Weights are the weights of the group elements of a map, as a layer that sums over
// them needs them: one for each value of a channel. They are read in the forward pass
// and, since they take as much memory as a channel, again in the backward pass. A nil
// *Weights is that of a map whose elements have none.
type Weights struct {
	m   *Map
	of  Weighted
	dev tensor.Device

	tile   tensor.Buffer // [n, H, W, B], one of the next two
	there  tensor.Buffer // in the forward pass
	back   tensor.Buffer // in the backward pass
	sums   tensor.Buffer // [n], of one list for all images
	host   []float32     // the former, or the latter
	scale  []float64     // of each list: what its weights were multiplied by
	unit   unit
	points int // of the plane, over which shares sum
}

// unit is what weights are measured in.
type unit uint8

const (
	one     unit = iota
	largest      // of the list
	total        // of those that a mean is taken of
)

// PlanWeights reserves the weights of map m, on elements that may be nil, for the layer
// that is being planned.
func PlanWeights(p *Plan, m *Map, of Weighted) *Weights {
	if of == nil {
		return nil
	}
	channel := m.MaxN * m.H * m.W * m.B
	w := &Weights{m: m, of: of, scale: make([]float64, of.Lists())}
	if p.Inference { // a convolution reads them once for any number of passes
		p.Arena.Reserve(&w.there, channel)
	} else {
		now, then := tensor.ForwardOf(p.Arena.Layer()), tensor.BackwardOf(p.Arena.Layer())
		p.Arena.ReserveFor(&w.there, channel, &tensor.Lifetime{From: now, To: now})
		p.Arena.ReserveFor(&w.back, channel, &tensor.Lifetime{From: then, To: then})
	}
	if of.Lists() == 1 {
		p.Arena.Reserve(&w.sums, m.MaxN)
	}
	return w
}

// Bind sets the device.
func (w *Weights) Bind(dev tensor.Device) {
	if w == nil {
		return
	}
	n := w.m.MaxN
	if len(w.scale) > 1 {
		n *= w.m.H * w.m.W * w.m.B
	}
	w.dev, w.host = dev, make([]float32, n)
}

// Live reports whether the elements have weights in this pass.
func (w *Weights) Live() bool { return w != nil && weighted(w.of) }

func weighted(of Weighted) bool {
	value, _ := of.Weights()
	return value != nil
}

// Read takes the weights as they are.
func (w *Weights) Read() { w.read(one) }

// ReadRelative takes the weights in units of the largest of their list.
func (w *Weights) ReadRelative() { w.read(largest) }

// ReadShares takes the weights in units of their sum over a list and so many points of
// the plane.
func (w *Weights) ReadShares(points int) {
	w.points = points
	w.read(total)
}

// Again takes the weights, if there are any, for the backward pass as the forward pass did.
func (w *Weights) Again() {
	if w.Live() {
		w.spread(w.back)
	}
}

// read takes the weights in a unit.
func (w *Weights) read(u unit) {
	w.unit = u
	w.spread(w.there)
}

// spread fills a tile with the weights.
func (w *Weights) spread(tile tensor.Buffer) {
	w.tile = tile
	all, _ := w.of.Weights()
	lists := len(w.scale)
	n := len(all) / lists // the map may not have been written yet
	plane := w.m.H * w.m.W * w.m.B
	for s := range lists {
		list := w.list(s)
		w.scale[s] = 1
		switch w.unit {
		case largest:
			w.scale[s] = 1 / list[first(list)]
		case total:
			w.scale[s] = 1 / (sum(list) * float64(w.points))
		}
		for j, value := range list {
			v := float32(value * w.scale[s])
			if lists == 1 {
				w.dev.Fill(w.tile.Slice(j*plane, (j+1)*plane), v)
				continue
			}
			for k := j*plane + s; k < (j+1)*plane; k += lists {
				w.host[k] = v
			}
		}
	}
	if lists > 1 {
		w.dev.Upload(w.tile, w.host[:n*plane])
	}
}

// first returns the place of the first of the largest values.
func first(values []float64) int {
	at := 0
	for i, v := range values {
		if v > values[at] {
			at = i
		}
	}
	return at
}

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}

// list returns the weights of list s.
func (w *Weights) list(s int) []float64 {
	value, _ := w.of.Weights()
	n := len(value) / len(w.scale)
	return value[s*n : (s+1)*n]
}

// Tile returns the weight of each live value of a channel, as it was read last:
// [n, H, W, B].
func (w *Weights) Tile() tensor.Buffer { return w.tile.Slice(0, w.m.PerChannel()) }

// Gather adds the gradient with respect to Tile to those of the weights.
func (w *Weights) Gather(grad tensor.Buffer) {
	n := w.m.N
	if len(w.scale) > 1 {
		w.dev.Download(w.host[:w.m.PerChannel()], grad)
	} else {
		w.dev.SumRows(w.sums, grad, n, w.m.H*w.m.W*w.m.B, false)
		w.dev.Download(w.host[:n], w.sums.Slice(0, n))
	}
	_, all := w.of.Weights()
	for s, scale := range w.scale {
		list, into := w.list(s), all[s*n:(s+1)*n]
		through := 0.0 // the unit: the gradient with respect to its logarithm
		for j, v := range list {
			g := w.over(s, j)
			into[j] += float64(scale * g)
			through += float64(float64(scale*v) * g)
		}
		switch w.unit {
		case largest:
			into[first(list)] -= float64(scale * through)
		case total:
			for j := range into {
				into[j] -= float64(float64(scale*through) * float64(w.points))
			}
		}
	}
}

// over returns the sum over the values that Gather took of element j of list s.
func (w *Weights) over(s, j int) float64 {
	if len(w.scale) == 1 {
		return float64(w.host[j])
	}
	lists, plane := len(w.scale), w.m.H*w.m.W*w.m.B
	sum := 0.0
	for k := j*plane + s; k < (j+1)*plane; k += lists {
		sum += float64(w.host[k])
	}
	return sum
}

// Spread writes each channel of x, a buffer of the map's size, times the weights to y,
// which may be x.
func (w *Weights) Spread(y, x tensor.Buffer) {
	size := w.m.PerChannel()
	n := w.m.C * size
	w.dev.MulRows(y.Slice(0, n), x.Slice(0, n), w.Tile(), w.m.C, size)
}

// SpreadGrad is the backward pass of Spread from the map's Value: given dy, which it
// overwrites, it writes or adds the gradient of the map and adds that of the weights.
// It follows Again, and needs scratch memory for a channel.
func (w *Weights) SpreadGrad(dy, scratch tensor.Buffer, accumulate bool) {
	size := w.m.PerChannel()
	n := w.m.C * size
	x, d, to, sum := w.m.Value.Slice(0, n), dy.Slice(0, n), w.m.Grad.Slice(0, n), scratch.Slice(0, size)
	w.dev.DotColumns(sum, x, d, w.m.C, size)
	if accumulate {
		w.dev.MulRows(d, d, w.Tile(), w.m.C, size)
		w.dev.Add(to, to, d)
	} else {
		w.dev.MulRows(to, d, w.Tile(), w.m.C, size)
	}
	w.Gather(sum)
}
