package gradcheck

import (
	"fmt"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Projection turns an array into a scalar loss, its scalar product with fixed
// random weights in [-1, 1). The weights are also the gradient of that loss.
type Projection struct {
	dev    tensor.Device
	weight []float32
	value  []float32
	last   int // values that Loss was given
}

// NewProjection returns weights for arrays of up to n values.
func NewProjection(dev tensor.Device, n int, seed uint64) *Projection {
	p := &Projection{dev: dev, weight: make([]float32, n), value: make([]float32, n)}
	src := stream.New(seed, "projection", 0)
	for i := range p.weight {
		p.weight[i] = float32(2*src.Float64() - 1)
	}
	return p
}

// Loss returns the scalar product of y and the first weights, summed in float64.
func (p *Projection) Loss(y tensor.Buffer) float64 {
	p.last = y.Len()
	value := p.value[:p.last]
	p.dev.Download(value, y)
	sum := 0.0
	for i, v := range value {
		sum += float64(v) * float64(p.weight[i])
	}
	return sum
}

// Of is Loss for a float64 array, for use in Case.Reference. It panics unless there are
// as many values as the last Loss had: a result of another shape is no reference for it.
func (p *Projection) Of(y []float64) float64 {
	if p.last != 0 && len(y) != p.last {
		panic(fmt.Sprintf("gradcheck: Projection.Of has %d values, the last Loss had %d", len(y), p.last))
	}
	sum := 0.0
	for i, v := range y {
		sum += v * float64(p.weight[i])
	}
	return sum
}

// Gradient writes the gradient of Loss to dy.
func (p *Projection) Gradient(dy tensor.Buffer) { p.dev.Upload(dy, p.weight[:dy.Len()]) }

// Seed hands the gradient of Loss(m.Live()) to m, as a layer would.
func (p *Projection) Seed(m *nn.Map) {
	g := m.LiveGrad()
	if !m.Accumulate() {
		p.Gradient(g)
		return
	}
	sum := p.value[:g.Len()]
	p.dev.Download(sum, g)
	for i := range sum {
		sum[i] += p.weight[i]
	}
	p.dev.Upload(g, sum)
}

// Normal returns n standard normal numbers.
func Normal(n int, seed uint64) []float32 {
	src := stream.New(seed, "normal", 0)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(src.Normal())
	}
	return x
}

// Separate returns n numbers in random order of which no two, and none and zero,
// are nearer than gap/2: for functions with kinks.
func Separate(n int, gap float64, seed uint64) []float32 {
	src := stream.New(seed, "separate", 0)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((float64(i-n/2) + 0.5) * gap)
	}
	src.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
	return x
}
