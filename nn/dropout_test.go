package nn_test

import (
	"math"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
)

// drawn is the mask that Draw makes of the stream that the tests use.
func drawn(channels, batch int, p float64) []float64 {
	mask, src := make([]float64, channels*batch), stream.New(5, "mask", 0)
	for i := range mask {
		if src.Float64() >= p {
			mask[i] = 1 / (1 - p)
		}
	}
	return mask
}

// refDropout multiplies each channel of each sample of x by its value of mask
// [C, B].
func refDropout(x, mask []float64, s shape) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] * mask[i/s.perChannel()*s.b+i%s.b]
	}
	return y
}

// refGlobalMean takes the mean of each channel of each sample.
func refGlobalMean(x []float64, s shape) []float64 {
	y := make([]float64, s.c*s.b)
	n := s.live * s.h * s.w
	for i := range x {
		y[i/s.perChannel()*s.b+i%s.b] += x[i] / float64(n)
	}
	return y
}

func init() {
	type subjectOf = func(t testing.TB, threads int, sh shape) *subject
	for name, make := range map[string]subjectOf{
		"Dropout": func(t testing.TB, threads int, sh shape) *subject {
			l := must(nn.NewDropout("drop", 0.4))
			s := single(t, threads, sh, l, func(sh shape, x [][]float64) []float64 {
				return refDropout(x[0], drawn(sh.c, sh.b, 0.4), sh)
			})
			s.prepare = func() { l.Draw(stream.New(5, "mask", 0)) }
			return s
		},
		"GlobalMean": func(t testing.TB, threads int, sh shape) *subject {
			return single(t, threads, sh, nn.NewGlobalMean(), func(sh shape, x [][]float64) []float64 { return refGlobalMean(x[0], sh) })
		},
	} {
		subjects = append(subjects, struct {
			name string
			make subjectOf
		}{name, make})
	}
}

func TestDropoutProbability(t *testing.T) {
	for _, p := range []float64{-0.1, 1, 2, math.NaN()} {
		_, err := nn.NewDropout("blocks.1.dropout", p)
		refused(t, err, "blocks.1.dropout: probability is")
	}
}

// In evaluation nothing is left out, whatever was drawn; a plan for inference
// has no map of its own.
func TestDropoutInEvaluation(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		sh := shape{c: 4, n: 2, live: 2, h: 3, w: 3, b: 5}
		s := newSubject(t, 1, sh)
		in, l := s.input(), must(nn.NewDropout("drop", 0.5))
		out := l.Plan(s.plan, in)
		s.use(l)
		s.bind(t)
		l.Draw(stream.New(5, "mask", 0))
		x, y := make([]float32, in.Size()), make([]float32, in.Size())
		s.dev.Download(x, in.Live())
		l.Forward(false)
		s.dev.Download(y, out.Live())
		for i := range x {
			if x[i] != y[i] {
				t.Fatalf("value %d is %v in evaluation, was %v", i, y[i], x[i])
			}
		}
		zeros := 0
		l.Forward(true)
		s.dev.Download(y, out.Live())
		for i := range y {
			if y[i] == 0 {
				zeros++
			}
		}
		if zeros == 0 || zeros == len(y) {
			t.Errorf("%d of %d values are left out in training", zeros, len(y))
		}
	})
	s := newSubject(t, 1, shape{c: 1, n: 1, live: 1, h: 2, w: 2, b: 1})
	s.plan.Inference = true
	in, l := s.input(), must(nn.NewDropout("drop", 0.5))
	if !l.Plan(s.plan, in).Shares(in) {
		t.Error("a plan for inference has a map for dropout")
	}
	panics(t, "Dropout.Draw", func() { l.Draw(stream.New(1, "", 0)) })
}

// A backward pass must leave out what the forward pass did, so none follows a Draw.
func TestDropoutDrawnBeforeBackward(t *testing.T) {
	s, l := newSmall(t, false), must(nn.NewDropout("drop", 0.5))
	l.Plan(s.plan, s.plan.Map(1, 1, 2, 2))
	s.bind(t, l)
	l.Draw(stream.New(5, "mask", 0))
	l.Forward(true)
	l.Backward()
	l.Draw(stream.New(6, "mask", 0))
	panics(t, "Dropout.Backward: no Forward(true) before it", l.Backward)
}
