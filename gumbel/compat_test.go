package gumbel_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

// publishedList is a list as the published implementation draws it, in float64, with the
// derivatives that it takes for those of the elements.
type publishedList struct {
	elements []lie.Element
	slopes   [][]lie.Vector // [value][element]; a sign's in the place of the flip
	used     int            // of the draws
	close    bool           // rounding decides how many there are
}

// bernoulli returns a sample of the relaxed Bernoulli distribution at the logit of its
// probability, and its derivative by that.
func (p *publishedList) bernoulli(logit, u float64) (kept bool, slope float64) {
	p.used++
	soft := 1 / (1 + math.Exp(-(logit+math.Log(u/(1-u)))/gumbel.DefaultInitTemperature))
	p.close = p.close || math.Abs(soft-0.5) < 1e-5
	return soft > 0.5, soft * (1 - soft) / gumbel.DefaultInitTemperature
}

// add appends an element, of which one value has a derivative.
func (p *publishedList) add(e lie.Element, value int, slope lie.Vector) {
	p.elements = append(p.elements, e)
	for i := range p.slopes {
		var s lie.Vector
		if i == value {
			s = slope
		}
		p.slopes[i] = append(p.slopes[i], s)
	}
}

// publish draws a list of the values: what the documentation of Config.Compat and of Backward says.
func publish(cfg gumbel.Config, values, draws []float64) *publishedList {
	p := &publishedList{slopes: make([][]lie.Vector, len(values))}
	counts, _ := cfg.Group.Split(cfg.Max)
	axis, mirrors := cfg.Group.Axes()[0], len(cfg.Group.Axes()) > 1
	if cfg.Method == gumbel.Random {
		p.comb(counts[0], axis.Extent, values[0], draws[0], mirrors)
	} else {
		p.grid(cfg, counts[0], mirrors, values, draws)
	}
	if !mirrors {
		return p
	}
	last := len(values) - 1
	kept, slope := p.bernoulli(2*values[last], draws[p.used])
	for k := range len(p.elements) {
		if !kept {
			break
		}
		e := p.elements[k]
		e[1] = 1
		p.add(e, last, lie.Vector{0, -2 * slope})
		for i := range last {
			p.slopes[i][len(p.elements)-1] = p.slopes[i][k]
		}
	}
	return p
}

// comb is publish for an interval of an axis of so many elements.
func (p *publishedList) comb(most int, extent, theta, u float64, mirrors bool) {
	p.used++
	want := float64(most) * theta
	p.close = math.Abs(want-math.Round(want)) < 1e-5
	n, span := int(math.Ceil(math.Abs(want))), most
	if mirrors {
		n = int(math.Abs(math.Ceil(want)))
		span *= 2
	}
	n = max(1, min(n, most))
	if !mirrors {
		span = n
	}
	for i := range n {
		at := extent * theta * (2*float64(i)/float64(n) - 1 + 2*u/float64(span))
		p.add(lie.Element{at}, 0, lie.Vector{extent * (2*u/float64(span) - 1)})
	}
}

// grid is publish for an axis whose elements are kept or dropped.
func (p *publishedList) grid(cfg gumbel.Config, n int, mirrors bool, values, draws []float64) {
	value := 0
	for _, e := range cfg.Group.Grid(cfg.Max)[:n] {
		if e == (lie.Element{}) {
			p.add(e, -1, lie.Vector{})
			continue
		}
		logit, outer := 2*values[value], 2.0
		if !mirrors { // a probability in its place
			probability := 1 / (1 + math.Exp(-logit))
			logit, outer = probability, 2*probability*(1-probability)
		}
		if kept, slope := p.bernoulli(logit, draws[p.used]); kept {
			p.add(e, value, lie.Vector{slope * outer * e[0]})
		}
		value++
	}
}

// Under Compat elements and gradients are those of the published formulas, for values and draws
// of any kind.
func TestCompatAgainstDefinition(t *testing.T) {
	for at, cfg := range []gumbel.Config{
		{Group: lie.SE2, Max: 7}, {Group: lie.RPlus, Max: 5}, {Group: lie.E2, Max: 8}, {Group: lie.Periodic(lie.E2), Max: 6},
		{Group: lie.SE2, Max: 5, Method: gumbel.Deterministic}, {Group: lie.RPlus, Max: 4, Method: gumbel.Deterministic},
		{Group: lie.E2, Max: 8, Method: gumbel.Deterministic},
	} {
		cfg.Partial, cfg.Compat, cfg.Name = true, true, "probs"
		t.Run(fmt.Sprintf("%s/%v", cfg.Group.Name(), cfg.Method), func(t *testing.T) {
			compatAgainstDefinition(t, cfg, stream.New(1, "compat", uint64(at)))
		})
	}
}

func compatAgainstDefinition(t *testing.T, cfg gumbel.Config, src *stream.Stream) {
	d := newDistribution(t, cfg)
	ps := bind(t, d, 1)
	probs := d.Parameters()[0]
	circle := cfg.Group.Axes()[0].Kind == lie.Circle
	e := gumbel.NewElements(cfg.Group, cfg.Max)
	values, draws := make([]float64, len(probs.Host)), make([]float64, 2*cfg.Max)
	tested := 0
	for range cases() {
		for i := range values {
			probs.Host[i] = float32(3*src.Float64() - 1.5)
			values[i] = float64(probs.Host[i])
		}
		for i := range draws {
			draws[i] = src.Float64()
		}
		want := publish(cfg, values, draws)
		if want.close {
			continue
		}
		tested++
		ps.Upload()
		r := &replay{u: draws}
		d.Draw(e, r, true)
		if r.at != want.used || e.Len() != len(want.elements) || e.Weight != nil {
			t.Fatalf("values %v: %d elements of %d draws, weights %v; want %d of %d", values, e.Len(), r.at, e.Weight, len(want.elements), want.used)
		}
		gradient, size := make([]float64, len(values)), 1.0
		for k, g := range e.G {
			off := g[0] - want.elements[k][0]
			if circle {
				off = math.Remainder(off, 2*math.Pi)
			}
			if !(math.Abs(off) <= 3e-6) || g[1] != want.elements[k][1] {
				t.Fatalf("values %v: element %d is %v, want %v", values, k, g, want.elements[k])
			}
			for axis := range cfg.Group.Axes() {
				e.Grad[k][axis] = 2*src.Float64() - 1
				for i := range gradient {
					term := e.Grad[k][axis] * want.slopes[i][k][axis]
					gradient[i] += term
					size += math.Abs(term)
				}
			}
		}
		ps.ZeroGrad()
		d.Backward(e)
		for i, got := range probs.Grad.Host() {
			if !(math.Abs(float64(got)-gradient[i]) <= 1e-5*size) {
				t.Fatalf("values %v: gradient %d is %v, want %v", values, i, got, gradient[i])
			}
		}
	}
	if tested < cases()*9/10 {
		t.Errorf("only %d of %d cases are tested", tested, cases())
	}
}
