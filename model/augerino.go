package model

import (
	"math"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// augerino makes a network on T(2) one that is invariant to a learned subset of a larger
// group (Benton, Finzi, Izmailov & Wilson, "Learning Invariances in Neural Networks from
// Training Data", NeurIPS 2020): of one distribution for the whole network, a list of
// elements is drawn for each batch; a copy of every image is made for each of them, and
// the logits are averaged over the copies. The distribution learns through the copies, which
// are the images turned and mirrored.
//
// An element that was dropped has no part in the average. While it trains, its weight
// has a gradient, and its copies do take part in the statistics of nn.BatchNorm; under
// Compat they are not made, and the weights have no gradient, as in the published program.
type augerino struct {
	sampler
	list *gumbel.Elements
	warp warp

	plan   nn.Plan // as Bind has it, to plan anew when the number of copies changes
	copies int     // that the present plan is for

	width widthReward
}

// widthReward is the regulariser of Benton et al. 2020: the loss is lessened by weight
// times the Euclidean norm of the half-widths, so that invariances that do not hurt are
// kept.
type widthReward struct {
	weight float64
	at     []int     // of the half-widths in the parameter
	host   []float32 // the parameter, then its gradient
}

// norm reads the parameter and returns the norm of the half-widths.
func (r *widthReward) norm(dev tensor.Device, theta *nn.Parameter) float64 {
	dev.Download(r.host, theta.Value)
	sum := 0.0
	for _, i := range r.at {
		sum += float64(r.host[i]) * float64(r.host[i])
	}
	return math.Sqrt(sum)
}

// backward adds the gradient of -weight times the norm to that of the parameter.
func (r *widthReward) backward(dev tensor.Device, theta *nn.Parameter) {
	if r.weight == 0 {
		return
	}
	norm := r.norm(dev, theta)
	if norm == 0 {
		return
	}
	var slope [lie.MaxAxes]float64
	for k, i := range r.at {
		slope[k] = r.weight * float64(r.host[i]) / norm
	}
	dev.Download(r.host, theta.Grad)
	for k, i := range r.at {
		r.host[i] -= float32(slope[k])
	}
	dev.Upload(theta.Grad, r.host)
}

// typePrefix begins the name of an architecture with an augerino around it.
const typePrefix = "Augerino"

// newAugerino makes the distribution.
func (net *Network) newAugerino() (*augerino, error) {
	c := net.cfg
	d, err := gumbel.New(gumbel.Config{
		Group: c.Group, Max: c.Elements, Partial: true,
		Method: c.Sampling, Jitter: c.Jitter, Measure: c.Measure, Compat: c.Compat, Name: "probs",
		InitTemperature: c.InitTemperature, EndTemperature: c.EndTemperature,
	})
	if err != nil {
		return nil, err
	}
	net.params.Add(d.Parameters()...)
	a := &augerino{sampler: sampler{d, "copies", "copies/training", "copies/evaluation"}}
	a.width = widthReward{at: d.Widths(), host: make([]float32, len(d.Parameters()[0].Host))}
	return a, nil
}

// rates returns the optimiser's configuration: the published program trains the subset of an Augerino network at the
// rate of the weights.
func (t *Trainer) rates() nn.OptimizerConfig {
	c := t.cfg.Optimizer
	if t.net.cfg.Augerino && t.net.cfg.Compat {
		c.SubsetLR = c.LR
	}
	return c
}

// bind prepares for batches that a plan has.
func (a *augerino) bind(net *Network, np *nn.Plan) {
	c := net.cfg
	a.plan, a.list, a.copies = *np, a.NewLists(1), c.Elements
	a.warp = newWarp(c.Group, c.Channels, c.Side, np.Batch, c.Compat)
}

// fit plans the network anew where the list that was drawn wants another number of
// copies than it was planned for, which happens when a learned subset has grown or shrunk
// by an element.
func (net *Network) fit() {
	a, p := net.augerino, net.plan
	n := a.list.Cells()
	if n == a.copies {
		return
	}
	a.copies = n
	p.arena.Release()
	p.layers, p.steps, p.elements = nil, nil, nil
	if err := net.layOut(p, a.plan); err != nil { // what was given back a moment ago was as large
		panic(&nn.Error{Op: "Network.Draw", Problem: err.Error()})
	}
}

// show makes the copies of images [B, C, H, W] and uploads them.
func (a *augerino) show(p *plan, images []float32) {
	p.dev.Upload(p.input.Value, a.warp.forward(images, a.list.G, a.copies))
}

// backward goes from the gradient of the copies to what the distribution learns.
func (a *augerino) backward(p *plan) {
	a.warp.backward(p.dev, p.input.LiveGrad(), a.list.G, a.list.Grad, a.copies)
	a.Backward(a.list)
	a.width.backward(p.dev, a.Parameters()[0])
}

// copyMean is the mean of the logits over the copies that the elements of a list made,
// weighted by their weights: [classes, 1, 1, 1, copies*B] to [classes, 1, 1, 1, B]. Copies
// beyond the list are repetitions, see warp, and do not count.
type copyMean struct {
	list    *gumbel.Elements
	copies  int
	in, out *nn.Map
	shares  tensor.Buffer // [copies]: w_s / sum of w
	call    tensor.GemmArgs
	dev     tensor.Device

	host      []float32 // [copies]
	x, y, dy  []float32 // the logits, their means and the gradient of those
	inference bool
}

// Parameters returns nil.
func (l *copyMean) Parameters() []*nn.Parameter { return nil }

// Plan reserves the output map, for batch images.
func (l *copyMean) Plan(p *nn.Plan, in *nn.Map, batch int) *nn.Map {
	all := p.Batch
	p.Batch = batch
	l.in, l.out, l.inference = in, p.Map(in.C, 1, 1, 1), p.Inference
	p.Batch = all
	p.Arena.Reserve(&l.shares, l.copies)
	in.KeepValue() // the gradient of weights reads both
	l.out.KeepValue()
	return l.out
}

// Bind sets the device, and makes room on the host.
func (l *copyMean) Bind(dev tensor.Device) {
	l.dev = dev
	l.host = make([]float32, l.copies)
	if !l.inference {
		l.x, l.y, l.dy = make([]float32, l.in.Size()), make([]float32, l.out.Size()), make([]float32, l.out.Size())
	}
}

// Forward computes y[k, b] = sum over s of shares[s] x[k, s, b].
func (l *copyMean) Forward(train bool) {
	l.out.Written(1)
	total := l.total()
	clear(l.host)
	for s := range l.list.Len() {
		l.host[s] = float32(l.weight(s) / total)
	}
	l.dev.Upload(l.shares, l.host)
	b := l.out.B
	l.call = tensor.GemmArgs{
		M: 1, N: b, K: l.copies, Batch: l.in.C,
		A: l.shares, LDA: l.copies,
		B: l.in.Live(), LDB: b, StrideB: l.copies * b,
		C: l.out.Live(), LDC: b, StrideC: b,
	}
	l.dev.Gemm(&l.call)
}

// weight returns the weight of element s.
func (l *copyMean) weight(s int) float64 {
	if l.list.Weight == nil {
		return 1
	}
	return l.list.Weight[s]
}

func (l *copyMean) total() float64 {
	sum := 0.0
	for s := range l.list.Len() {
		sum += l.weight(s)
	}
	return sum
}

// Backward computes dx[k, s, b] = shares[s] dy[k, b] and adds to the gradient of each
// weight the sum over k and b of dy[k, b] (x[k, s, b] - y[k, b]), over the sum of all.
func (l *copyMean) Backward() {
	b, dy := l.out.B, l.out.LiveGrad()
	l.call = tensor.GemmArgs{
		M: l.copies, N: b, K: 1, Batch: l.in.C,
		A: l.shares, LDA: 1,
		B: dy, LDB: b, StrideB: b,
		C: l.in.LiveGrad(), LDC: b, StrideC: l.copies * b,
		Accumulate: l.in.Accumulate(),
	}
	l.dev.Gemm(&l.call)
	if l.list.Weight == nil {
		return
	}
	l.dev.Download(l.x, l.in.Live())
	l.dev.Download(l.y, l.out.Live())
	l.dev.Download(l.dy, dy)
	total := l.total()
	for s := range l.list.Len() {
		sum := 0.0
		for i, g := range l.dy {
			k, at := i/b, i%b
			sum += float64(float64(g) * (float64(l.x[(k*l.copies+s)*b+at]) - float64(l.y[i])))
		}
		l.list.WeightGrad[s] += sum / total
	}
}
