package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// Purpose keeps the random elements of training apart from those of evaluation.
type Purpose uint8

const (
	Training Purpose = iota
	Evaluation
)

// Draw draws the elements of every layer for one pass and, for training, what
// dropout leaves out. All of it is a function of (seed, layer, purpose, step)
// and the learned subsets alone.
func (net *Network) Draw(seed uint64, purpose Purpose, step uint64) {
	p := net.bound("Draw")
	p.drawn, p.trained = true, false
	draw := func(s *sampler, list *gumbel.Elements) {
		name := s.training
		if purpose == Evaluation {
			name = s.trials
		}
		p.stream.Seed(seed, name, step)
		s.Draw(list, &p.stream, purpose == Training)
	}
	if a := net.augerino; a != nil {
		draw(&a.sampler, a.list)
		net.fit()
	}
	drawing := net.drawing()
	for i := range drawing {
		draw(&drawing[i], p.elements[i])
	}
	net.share()
	if purpose == Training {
		for _, d := range net.dropouts {
			p.stream.Seed(seed, d.stream, step)
			d.Draw(&p.stream)
		}
	}
}

// DrawFrom draws the elements of every layer, in the network's order, from one
// source of uniform numbers.
func (net *Network) DrawFrom(src lie.Source, purpose Purpose) {
	p := net.bound("DrawFrom")
	p.drawn, p.trained = true, false
	if a := net.augerino; a != nil {
		a.Draw(a.list, src, purpose == Training)
		net.fit()
	}
	drawing := net.drawing()
	for i := range drawing {
		drawing[i].Draw(p.elements[i], src, purpose == Training)
	}
	net.share()
}

// drawing returns the distributions that layers draw elements from: those of the lifting
// convolution alone where the others have its elements.
func (net *Network) drawing() []sampler {
	if net.cfg.SharedElements {
		return net.samplers[:1]
	}
	return net.samplers
}

// share gives the layers that draw nothing the elements of the lifting convolution. They
// are copies, so that Equivariance can move those of one layer alone.
func (net *Network) share() {
	p := net.plan
	for _, e := range p.elements[len(net.drawing()):] {
		e.CopyFrom(p.elements[0])
	}
}

// Midpoints gives every layer of a bound network the elements that stand in the middle of
// their strata: the network is then deterministic.
func (net *Network) Midpoints() {
	p := net.bound("Midpoints")
	p.drawn, p.trained = true, false
	if a := net.augerino; a != nil {
		a.Midpoints(a.list)
		net.fit()
	}
	for i := range net.samplers {
		net.samplers[i].Midpoints(p.elements[i])
	}
}

// Forward computes the logits of images [B, C, H, W] on the elements drawn last; it panics with *nn.Error before the
// first draw.
// Fewer images than the planned batch may be given, at least one; the rest of the batch
// is then zero, and with train a BatchNorm counts it (nn.CrossEntropy).
func (net *Network) Forward(images []float32, train bool) {
	p := net.bound("Forward")
	if pixels := net.cfg.pixels(); len(images) == 0 || len(images)%pixels != 0 || len(images) > p.batch*pixels {
		panic(&nn.Error{Op: "Network.Forward", Problem: fmt.Sprintf("%d values; 1 to %d images of %d are needed", len(images), p.batch, pixels)})
	}
	if !p.drawn {
		panic(&nn.Error{Op: "Network.Forward", Problem: "no draw of elements before it"})
	}
	p.trained = false
	net.upload(images)
	for _, l := range p.layers {
		l.Forward(train)
	}
	p.trained = train
}

// upload brings images [B, C, H, W] into the layout of a feature map. Those that a batch has
// fewer than planned are zero: what a pass computes does not depend on the passes before it.
func (net *Network) upload(images []float32) {
	p := net.plan
	p.input.Written(1)
	if net.augerino != nil {
		net.augerino.show(p, images)
		return
	}
	p.dev.Upload(p.pixels, images)
	if size := p.batch * net.cfg.pixels(); len(images) < size {
		p.dev.Fill(p.pixels.Slice(len(images), size), 0)
	}
	p.dev.BatchInnermost(p.input.Value, p.pixels, p.batch, p.input.C*p.input.H*p.input.W)
}

// Backward computes the gradients of the mean cross-entropy of the labels of the
// first len(labels) images, as class indices. It overwrites the gradients of the previous
// pass. Each Backward takes a Forward of its own, with train set and on the elements drawn last, for
// it overwrites maps that it has read; it panics with *nn.Error without one.
func (net *Network) Backward(labels []float32) {
	p := net.bound("Backward")
	if !p.trained {
		panic(&nn.Error{Op: "Network.Backward", Problem: "no Forward(true) since the last Backward or draw of elements"})
	}
	net.loss.SetLabels(labels)
	p.trained = false
	net.loss.Forward(true)
	net.zeroGrad()
	net.loss.Backward()
	for i := len(p.layers) - 1; i >= 0; i-- {
		p.layers[i].Backward()
	}
	// A list is the output of one layer and the input of the next and of the
	// shortcut: only now has every layer added its share.
	for i := range net.samplers {
		net.samplers[i].Backward(p.elements[i])
	}
	if net.augerino != nil {
		net.augerino.backward(p)
	}
	if p.monotonic != nil {
		p.monotonic.backward()
	}
}

// zeroGrad clears the gradients of the parameters and of the lists, which layers add to.
func (net *Network) zeroGrad() {
	p := net.plan
	net.params.ZeroGrad()
	for _, e := range p.elements {
		e.ZeroGrad()
	}
	if p.identity != nil {
		p.identity.ZeroGrad() // nothing reads it, but sums grow
	}
	if net.augerino != nil {
		net.augerino.list.ZeroGrad()
	}
}

// Loss returns the loss layer, which holds losses and class probabilities of the last
// Backward, Evaluate or Probabilities: Forward alone does not compute them.
func (net *Network) Loss() *nn.CrossEntropy { return net.loss }

// Logits returns the map of logits [classes, 1, 1, 1, B] of the last Forward.
func (net *Network) Logits() *nn.Map { return net.bound("Logits").logits }

// ClampSubsets brings what the subsets learn back into its range, after an optimiser
// step or another program's; under Compat there is none.
func (net *Network) ClampSubsets() {
	for i := range net.samplers {
		net.samplers[i].Clamp()
	}
	if net.augerino != nil {
		net.augerino.Clamp()
	}
}

// Subsets returns the size of the learned subset of each group convolution (but not of
// one behind a mean over the group), as a fraction of the group: 1 is the whole group. On
// SE(2) that is the half-width of its interval. Layers whose subset is not learned show
// 1. Of a network with Augerino it is the one subset that it learns.
func (net *Network) Subsets() []float64 {
	var theta []float64
	for _, s := range net.learners() {
		theta = append(theta, s.Size())
	}
	return theta
}

// learners returns the distributions that Subsets is about.
func (net *Network) learners() []sampler {
	if net.augerino != nil {
		return []sampler{net.augerino.sampler}
	}
	return net.samplers[1:]
}

// Learned returns what each group convolution has learned of its subset, axis by axis
// of the group: intervals, and probabilities of keeping elements.
func (net *Network) Learned() [][]gumbel.Learned {
	var list [][]gumbel.Learned
	for _, s := range net.learners() {
		list = append(list, s.Learned())
	}
	return list
}

// keeps is Learned for networks whose learned subsets are not single intervals, else nil.
func (net *Network) keeps() [][]gumbel.Learned {
	axes := net.cfg.Group.Axes()
	if !net.cfg.Partial && net.augerino == nil || len(axes) == 1 && axes[0].Continuous() && net.cfg.Sampling == gumbel.Random {
		return nil
	}
	return net.Learned()
}

// SetSubsets gives every learned subset of a bound network the half-width theta, 0 to 1, to
// see what the network does on other subsets than those it learned. Of reflections, of a
// grid and of a finite group it is those elements that lie within theta of the axis
// (gumbel.Distribution.SetSize): reflections are kept at 1 alone. It panics with *nn.Error
// for another theta.
func (net *Network) SetSubsets(theta float64) {
	net.bound("SetSubsets")
	if problem := sizeProblem(theta); problem != "" {
		panic(&nn.Error{Op: "Network.SetSubsets", Problem: problem})
	}
	for _, s := range net.distributions() {
		s.SetSize(theta)
	}
}

// sizeProblem says what is wrong with a half-width, or nothing.
func sizeProblem(theta float64) string {
	if !(theta >= 0 && theta <= 1) {
		return fmt.Sprintf("a subset of half-width %v; 0 to 1 is allowed", theta)
	}
	return ""
}

// OnSubsets calls do with every learned subset of a bound network as SetSubsets(theta)
// makes it, and then puts back what was learned. The error is that of do, or says which
// theta is allowed; do is then not called.
func (net *Network) OnSubsets(theta float64, do func() error) error {
	p := net.bound("OnSubsets")
	if problem := sizeProblem(theta); problem != "" {
		return errors.New("model: OnSubsets: " + problem)
	}
	net.params.Download()
	var learned []*nn.Parameter
	var values [][]float32
	for _, s := range net.distributions() {
		for _, q := range s.Parameters() {
			learned, values = append(learned, q), append(values, slices.Clone(q.Host))
		}
	}
	defer func() {
		for i, q := range learned {
			copy(q.Host, values[i])
			p.dev.Upload(q.Value, q.Host)
		}
	}()
	net.SetSubsets(theta)
	return do()
}

func (net *Network) bound(op string) *plan {
	if net.plan == nil {
		panic(&nn.Error{Op: "Network." + op, Problem: "not bound to a device; call Bind first"})
	}
	return net.plan
}
