package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/internal/plots"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
)

// figures are what the report and inspect show of a trained network besides the course
// of training: what it does with turned images, on the subsets it learned and on others;
// how equivariant it is; its kernels.
type figures struct {
	class         string         // the first class
	angles        []float64      // degrees, -180 to 180
	learned       []float64      // mean probability of the first class at each angle
	crossings     []float64      // angles at which learned crosses 1/2, in degrees
	images        int            // test images behind the curves
	alreadyTurned bool           // those are turned at random, and what they were before is unknown
	draws         int            // behind learned
	picture       *plots.Picture // one of them

	// The same with every subset reset to the whole group, and the test accuracy then; nil
	// unless partial.
	whole      []float64
	wholeGroup *float64
	wholeDraws int // behind whole
	// The same with every subset reset to other parts of the group, the smallest first.
	resets []reset

	classes   []string
	confusion [][]int // of the test images, over all draws

	subsets      [][]gumbel.Learned // of each group convolution
	sizes        []float64          // of those, as fractions of the group
	begin        []float64          // the same before training, in a report
	equivariance []model.Equivariance
	turned       int // images behind equivariance
	kernels      []kernelFigure

	// Seconds that a batch takes, with rendering the kernels: on the learned subsets and on the
	// whole group; zero unless partial.
	pass, wholePass float64
	ratios          []float64        // quartiles of the ratios of the two, turn by turn: the first and the third
	turns           int              // behind those
	memory          model.StepMemory // of the same; zero unless partial
}

// reset is what the network does with every subset reset to the same part of the group.
type reset struct {
	Subset      float64   `json:"subset"`
	Accuracy    float64   `json:"accuracy"`
	Probability []float64 `json:"probability,omitempty"` // of the first class at each angle
}

// kernelFigure is some kernels of a convolution at some elements.
type kernelFigure struct {
	layer   string
	at      []string // the elements
	side    int
	kernels [][][]float32 // [kernel][element][side*side]
}

// depth says how much is looked at.
type depth struct {
	images  int       // behind curves against the rotation
	step    int       // of those, degrees
	turned  int       // images behind the measure of equivariance
	turns   int       // step of that, degrees
	scales  int       // scalings of that either way of 1, on groups that have some
	resets  []float64 // subset sizes to look at, besides the whole group
	kernels int       // of each convolution
	layers  int       // convolutions whose kernels are shown
}

const (
	curveDraws = 3 // at most, and no more than the test takes

	// On the whole group the answer hardly depends on the rotation and the accuracy
	// is near chance or not: fewer draws show that.
	wholeCurveDraws    = 2
	wholeAccuracyDraws = 1
)

// reportDepth is what a report shows. Of larger images it takes fewer.
func reportDepth(set *data.Dataset) depth {
	d := depth{images: 32, step: 15, turned: 16, turns: 15, scales: 2, kernels: 3, layers: 2}
	if set.Pixels() > 1000 {
		d.turned, d.turns = 8, 45
	}
	return d
}

// measure computes the figures of a trained network that is bound to a device. Its
// subsets are left as they were. The confusion matrix is not part of that.
func measure(ctx context.Context, net *model.Network, set *data.Dataset, c *config.Config, threads int, deep depth) (*figures, error) {
	turned, f := turnedImages(set, deep.images, deep.step)
	f.draws, f.wholeDraws = min(curveDraws, c.Train.EvalDraws), min(wholeCurveDraws, c.Train.EvalDraws)
	f.learned = f.curve(net, set, turned, f.draws, c.Seed)
	f.crossings = crossings(f.angles, f.learned)
	f.classes, f.subsets, f.sizes = set.ClassNames, net.Learned(), net.Subsets()
	if err := f.measureEquivariance(ctx, net, set, threads, deep); err != nil {
		return nil, err
	}
	if err := f.render(net, deep); err != nil {
		return nil, err
	}
	if !c.Learns() {
		return f, ctx.Err()
	}
	if err := f.time(net, turned, c.Seed); err != nil {
		return nil, err
	}
	var err error
	if f.memory, err = net.StepMemory(c.Training()); err != nil {
		return nil, err
	}
	for _, theta := range append(slices.Clone(deep.resets), 1) {
		err := net.OnSubsets(theta, func() error {
			score, err := net.Evaluate(ctx, set, &set.Test, wholeAccuracyDraws, c.Seed)
			if err != nil {
				return err
			}
			curve := f.curve(net, set, turned, f.wholeDraws, c.Seed)
			if theta == 1 {
				f.whole, f.wholeGroup = curve, &score.Accuracy
			} else {
				f.resets = append(f.resets, reset{theta, score.Accuracy, curve})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return f, ctx.Err()
}

// How often passes are timed: for so long, within these bounds.
const (
	timedFor              = 1500 * time.Millisecond
	leastTimed, mostTimed = 5, 25
)

// time measures what a batch takes on the learned subsets and on the whole group. Both are
// measured in turn, each first in every other turn, with the same seeds and behind a pass
// that is not timed, so that neither what else the machine does nor what a first pass takes
// counts for one of them.
func (f *figures) time(net *model.Network, images []float32, seed uint64) error {
	channels, height, width := net.ImageShape()
	images = images[:min(len(images), net.Batch()*channels*height*width)]
	if len(images) == 0 { // no test image is of the first class
		return nil
	}
	var learned, whole []float64
	pass := func(turn int) float64 {
		var start time.Time
		for range 2 {
			start = time.Now()
			net.Probabilities(images, 1, seed+uint64(turn))
		}
		return time.Since(start).Seconds()
	}
	sides := []func(turn int) error{
		func(turn int) error { learned = append(learned, pass(turn)); return nil },
		func(turn int) error {
			return net.OnSubsets(1, func() error { whole = append(whole, pass(turn)); return nil })
		},
	}
	start := time.Now()
	for turn := 0; turn < leastTimed || turn < mostTimed && time.Since(start) < timedFor; turn++ {
		for side := range sides {
			if err := sides[(side+turn)%len(sides)](turn); err != nil {
				return err
			}
		}
	}
	f.pass, f.wholePass, f.ratios = paired(learned, whole)
	f.turns = len(whole)
	return nil
}

// paired returns the median of whole, and before it that times the median of the ratios of
// learned to whole turn by turn: on a busy machine turns differ more than what is measured
// in one of them, and medians of either side come from different turns. The first and the third
// quartile of the ratios say how much these differ.
func paired(learned, whole []float64) (a, b float64, quartiles []float64) {
	ratios := make([]float64, len(whole))
	for i := range ratios {
		ratios[i] = learned[i] / whole[i]
	}
	b = quantile(whole, 0.5)
	return quantile(ratios, 0.5) * b, b, []float64{quantile(ratios, 0.25), quantile(ratios, 0.75)}
}

// quantile returns the value below which the fraction p of x lies, linear between values
// of x, which it sorts.
func quantile(x []float64, p float64) float64 {
	slices.Sort(x)
	at := p * float64(len(x)-1)
	i := int(at)
	return x[i] + (at-float64(i))*(x[min(i+1, len(x)-1)]-x[i])
}

// mostScaled is the factor that images are scaled by either way, at most.
const mostScaled = math.Sqrt2

// measureEquivariance measures on the first test images, by rotations through half the
// circle, a flip, and, where the group has them, scalings.
func (f *figures) measureEquivariance(ctx context.Context, net *model.Network, set *data.Dataset, threads int, deep depth) (err error) {
	f.turned = min(deep.turned, set.Test.Len())
	index := make([]int, f.turned)
	for i := range index { // from all over the test part
		index[i] = i * set.Test.Len() / f.turned
	}
	images := make([]float32, f.turned*set.Pixels())
	set.Batch(images, nil, &set.Test, index)
	black := make([]float32, set.Channels)
	for c := range black {
		black[c] = -set.Mean[c] / set.Std[c]
	}
	list := []model.Transformation{}
	for a := 0; a <= 180; a += deep.turns {
		list = append(list, model.Transformation{Angle: float64(a) * math.Pi / 180})
	}
	list = append(list, model.Transformation{Flip: true})
	if conv.ChangesLengths(net.Group()) {
		for k := -deep.scales; k <= deep.scales; k++ {
			list = append(list, model.Transformation{Scale: math.Pow(mostScaled, float64(k)/float64(deep.scales))})
		}
	}
	f.equivariance, err = net.Equivariance(ctx, images, model.EquivarianceConfig{
		Transformations: list, Fill: black, Batch: min(f.turned, 32), Threads: threads,
	})
	return err
}

// render renders the first kernels of the first convolutions at some elements.
func (f *figures) render(net *model.Network, deep depth) error {
	at, names := shownElements(net.Group())
	for layer := range min(deep.layers, net.Convolutions()) {
		k, err := net.Kernels(layer, at)
		if err != nil {
			return err
		}
		fig := kernelFigure{layer: k.Layer, at: names, side: k.Side}
		pixels, pairs := k.Side*k.Side, k.Out*k.In
		for i := range min(deep.kernels, k.Out) {
			var row [][]float32
			for j := range at { // output channel i, from the first input channel
				row = append(row, k.Weights[(j*pairs+i*k.In)*pixels:][:pixels])
			}
			fig.kernels = append(fig.kernels, row)
		}
		f.kernels = append(f.kernels, fig)
	}
	return nil
}

// shownElements returns up to eight elements of a group, and what they do.
func shownElements(g lie.Group) ([]lie.Element, []string) {
	n := g.Components()
	for g.Dim() > 0 && 2*n <= 8 {
		n *= 2
	}
	var list []lie.Element
	var names []string
	for _, e := range g.Grid(n) {
		if len(list) == 8 {
			break
		}
		e = g.Inverse(e) // a positive angle turns clockwise
		clockwise, name := 0.0, ""
		for i, axis := range g.Axes() {
			switch {
			case axis.Kind == lie.Circle:
				clockwise += e[i] * 180 / math.Pi
			case axis.Kind == lie.Turns: // those of factors add up
				clockwise += e[i] * 360 / float64(axis.Order)
			case axis.Kind == lie.Flip && e[i] != 0:
				name += " ⇋"
			case axis.Kind == lie.Line:
				name += fmt.Sprintf(" ×%.2g", math.Exp(e[i]))
			}
		}
		turned := math.Mod(math.Round(360*lie.MaxAxes-clockwise), 360)
		list, names = append(list, e), append(names, degrees(turned)+name)
	}
	return list, names
}

// turnedImages returns the first test images of the first class, upright if the set has
// them so, normalised, turned by every angle of the curve, so many degrees apart: [angles, images, C, H, W].
// The last angle is the first one again and left out.
func turnedImages(set *data.Dataset, count, step int) ([]float32, *figures) {
	f := &figures{class: set.ClassNames[0]}
	for a := -180; a <= 180; a += step {
		f.angles = append(f.angles, float64(a))
	}
	images := &set.Test
	if set.Upright.Len() > 0 {
		images = &set.Upright
	} else {
		f.alreadyTurned = set.Turned
	}
	var chosen []int
	for i, label := range images.Labels {
		if label == 0 && len(chosen) < count {
			chosen = append(chosen, i)
		}
	}
	f.images = len(chosen)
	if len(chosen) > 0 {
		f.picture = &plots.Picture{Width: set.Width, Height: set.Height, Ink: set.Image(images, chosen[0])[:set.Height*set.Width]}
	}
	pixels, plane := set.Pixels(), set.Height*set.Width
	turns := f.angles[:len(f.angles)-1]
	out := make([]float32, len(turns)*len(chosen)*pixels)
	image := make([]float32, plane)
	at := out
	for _, angle := range turns {
		for _, i := range chosen {
			src := set.Image(images, i)
			for c := range set.Channels {
				for k, v := range src[c*plane:][:plane] {
					image[k] = float32(v) / 255
				}
				dst := at[c*plane:][:plane]
				data.Rotate(dst, image, set.Height, set.Width, angle*math.Pi/180)
				for k, v := range dst {
					dst[k] = (v - set.Mean[c]) / set.Std[c]
				}
			}
			at = at[pixels:]
		}
	}
	return out, f
}

// curve returns the mean probability of the first class at each angle.
func (f *figures) curve(net *model.Network, set *data.Dataset, turned []float32, draws int, seed uint64) []float64 {
	p := net.Probabilities(turned, draws, seed)
	mean := make([]float64, len(f.angles)-1)
	for i := range mean {
		for j := range f.images {
			mean[i] += p[(i*f.images+j)*set.Classes] / float64(f.images)
		}
	}
	return append(mean, mean[0])
}

// crossings returns where the polygon through (x, y) crosses 1/2.
func crossings(x, y []float64) []float64 {
	at := []float64{}
	for i := 1; i < len(x); i++ {
		switch a, b := y[i-1]-0.5, y[i]-0.5; {
		case a == 0 && b != 0:
			at = append(at, x[i-1])
		case a*b < 0:
			at = append(at, x[i-1]+(x[i]-x[i-1])*a/(a-b))
		}
	}
	return at
}
