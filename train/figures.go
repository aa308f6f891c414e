package main

import (
	"context"
	"math"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/plots"
	"github.com/noether-go/noether/model"
)

// figures are what the report shows besides the course of training: what the
// trained network does with turned images, on the subsets it learned and on the
// whole group.
type figures struct {
	class      string         // the first class
	angles     []float64      // degrees, -180 to 180
	learned    []float64      // mean probability of the first class at each angle
	whole      []float64      // the same with every subset reset to the whole group; nil unless partial
	wholeGroup *float64       // test accuracy then; nil unless partial
	crossings  []float64      // angles at which learned crosses 1/2, in degrees
	images     int            // test images behind the curves
	draws      int            // behind learned
	wholeDraws int            // behind whole
	picture    *plots.Picture // one of them
}

const (
	curveStep   = 15 // degrees
	curveImages = 32
	curveDraws  = 3 // at most, and no more than the test takes

	// On the whole group the answer hardly depends on the rotation and the accuracy
	// is near chance or not: fewer draws show that.
	wholeCurveDraws    = 2
	wholeAccuracyDraws = 1
)

// measure computes the figures of a trained network, whose subsets are left as
// they were.
func measure(ctx context.Context, s *session) (*figures, error) {
	turned, f := turnedImages(s.set)
	f.draws, f.wholeDraws = min(curveDraws, s.cfg.Train.EvalDraws), min(wholeCurveDraws, s.cfg.Train.EvalDraws)
	f.learned = f.curve(s.net, s.set, turned, f.draws, s.cfg.Seed)
	f.crossings = crossings(f.angles, f.learned)
	if !s.cfg.Conv.Partial {
		return f, ctx.Err()
	}
	defer s.trainer.RestoreBest()
	s.net.SetSubsets(1)
	f.whole = f.curve(s.net, s.set, turned, f.wholeDraws, s.cfg.Seed)
	score, err := s.net.Evaluate(ctx, s.set, &s.set.Test, wholeAccuracyDraws, s.cfg.Seed)
	if err != nil {
		return nil, err
	}
	f.wholeGroup = &score.Accuracy
	return f, nil
}

// turnedImages returns the first test images of the first class, upright, normalised,
// turned by every angle of the curve: [angles, images, C, H, W]. The last angle is
// the first one again and left out.
func turnedImages(set *data.Dataset) ([]float32, *figures) {
	f := &figures{class: set.ClassNames[0]}
	for a := -180; a <= 180; a += curveStep {
		f.angles = append(f.angles, float64(a))
	}
	images := &set.Test
	if set.Upright.Len() > 0 {
		images = &set.Upright
	}
	var chosen []int
	for i, label := range images.Labels {
		if label == 0 && len(chosen) < curveImages {
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
		a, b := y[i-1]-0.5, y[i]-0.5
		if a == 0 || a*b < 0 {
			at = append(at, x[i-1]+(x[i]-x[i-1])*a/(a-b))
		}
	}
	return at
}
