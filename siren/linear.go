package siren

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// linear is a linear map with a bias, W h + b.
type linear struct {
	in, out      int
	weight, bias *nn.Parameter // weight is nil under weight normalisation
	norm         *weightNorm   // nil without
}

// newLinear returns the map of that weight [out, in, 1...], with biases of zero.
// Normalised it starts from the values of the weight and takes its place.
func newLinear(prefix string, weight *nn.Parameter, normalised bool) linear {
	l := linear{out: weight.Shape[0], in: weight.Shape[1]}
	l.bias = nn.NewParameter(prefix+"bias", nn.Weight, l.out)
	if !normalised {
		l.weight = weight
		return l
	}
	shape := append([]int(nil), weight.Shape...)
	shape[1] = 1
	l.norm = newWeightNorm(prefix, weight, shape)
	return l
}

// newWeight returns a weight [out, in, 1...] with so many axes of length one.
func newWeight(prefix string, out, in, dims int) *nn.Parameter {
	shape := []int{out, in}
	for range dims {
		shape = append(shape, 1)
	}
	return nn.NewParameter(prefix+"weight", nn.Weight, shape...)
}

// uniform draws the values of a parameter uniformly in +-bound.
func uniform(p *nn.Parameter, bound float64, seed uint64) {
	src := stream.New(seed, p.Name, 0)
	for k := range p.Host {
		p.Host[k] = float32(bound * (2*src.Float64() - 1))
	}
}

func (l *linear) parameters() []*nn.Parameter {
	if l.norm != nil {
		return []*nn.Parameter{l.norm.g, l.norm.v, l.bias}
	}
	return []*nn.Parameter{l.weight, l.bias}
}

func (l *linear) plan(a *tensor.Arena) {
	if l.norm != nil {
		l.norm.plan(a)
	}
}

// start composes the weight of the passes to come.
func (l *linear) start(dev tensor.Device) {
	if l.norm != nil {
		l.norm.forward(dev)
	}
}

// value returns the weight [out, in] that the map multiplies with.
func (l *linear) value() tensor.Buffer {
	if l.norm != nil {
		return l.norm.weight
	}
	return l.weight.Value
}

// sums returns the number of values of the gradients of weight and bias.
func (l *linear) sums() int { return l.out*l.in + l.out }

// split returns the gradients of weight [out, in] and bias [out] among sums.
func (l *linear) split(sums []float32) (weight, bias []float32) {
	n := l.out * l.in
	return sums[:n], sums[n : n+l.out]
}

// add adds sums to the gradients of the parameters.
func (l *linear) add(dev tensor.Device, sums []float32) {
	weight, bias := l.split(sums)
	if l.norm != nil {
		copy(l.norm.grad.Host(), weight)
		l.norm.backward(dev)
	} else {
		add(l.weight.Grad, weight)
	}
	add(l.bias.Grad, bias)
}

func add(grad tensor.Buffer, x []float32) {
	g := grad.Host()[:len(x)]
	asm.Add(g, g, x)
}

// multiply computes z = W h of a block of n positions, without the bias. The rows
// of h are ld apart, those of z a worker's stride.
func (l *linear) multiply(w *cpuWorker, z, h []float32, ld, n int) {
	weight := l.value().Host()
	most := asm.StripRows(l.in)
	for row := 0; row < l.out; {
		m := strip(l.out-row, most)
		asm.GemmStripNN(m, n, l.in, weight[row*l.in:], l.in, h, ld, z[row*w.stride:], w.stride, false)
		row += m
	}
}

// weightGrad writes dz h' of a block to dw, or adds it.
func (l *linear) weightGrad(w *cpuWorker, dw, dz, h []float32, ld, n int, accumulate bool) {
	if mr, _ := asm.DotTile(); l.in <= dotsMost && mr > 0 {
		for row := 0; row < l.out; row += mr {
			asm.GemmDots(min(mr, l.out-row), l.in, n, dz[row*w.stride:], w.stride, h, ld, dw[row*l.in:], l.in, accumulate)
		}
		return
	}
	distance := turn(w.turned, h, ld, l.in, n)
	mr, _ := asm.GemmTile()
	for row := 0; row < l.out; {
		m := strip(l.out-row, mr)
		asm.GemmPanelsNN(m, l.in, n, dz[row*w.stride:], w.stride, w.turned, distance, dw[row*l.in:], l.in, accumulate)
		row += m
	}
}

// inputGrad writes W' dz of a block to dh, whose rows are ld apart, or adds it.
func (l *linear) inputGrad(w *cpuWorker, dh []float32, ld int, dz []float32, n int, accumulate bool) {
	asm.LinearGrad(l.in, n, l.out, l.value().Host(), l.in, dz, w.stride, dh, ld, accumulate, nil, 0)
}

// shape is what the configurations of all kinds of networks have in common.
type shape struct {
	in, hidden, out, layers, dims int
}

// complete fills in defaults and checks the shape. least is the smallest number of
// layers.
func (s *shape) complete(config, name string, least int) error {
	if s.hidden == 0 {
		s.hidden = 32
	}
	if s.layers == 0 {
		s.layers = 3
	}
	for _, f := range []struct {
		field           string
		value, from, to int
	}{
		{"In", s.in, 1, 1 << 16},
		{"Hidden", s.hidden, 1, 1 << 16},
		{"Out", s.out, 1, 1 << 26},
		{"Layers", s.layers, least, 1 << 10},
		{"Dims", s.dims, 0, 8},
	} {
		if f.value < f.from || f.value > f.to {
			return fmt.Errorf("siren: %s: %s.%s is %d; allowed are %d to %d", name, config, f.field, f.value, f.from, f.to)
		}
	}
	return nil
}

// usual is the bound of the uniform distribution that PyTorch's linear maps of so
// many inputs start from.
func usual(in int) float64 { return 1 / math.Sqrt(float64(in)) }
