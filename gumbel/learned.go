package gumbel

import (
	"math"

	"github.com/noether-go/noether/lie"
)

// Learned says what a distribution is on one axis of its group at present.
type Learned struct {
	// Theta is the half-width of an interval, as a fraction of the axis. It is 1 for a
	// subset.
	Theta float64 `json:"theta"`
	// Keep is, of a subset, the probability of keeping each value of the axis, 1 for the
	// identity. It is nil for an interval.
	Keep []float64 `json:"keep,omitempty"`
}

// Count returns how many of at most so many values are drawn on an interval of half-width Theta, or of its
// absolute value where it is negative.
func (l Learned) Count(most int) int { return cells(most, part(most, float32(math.Abs(l.Theta)))) }

// Learned returns what the distribution is on each of the group's axes.
func (d *Distribution) Learned() []Learned {
	values := d.present()
	list := make([]Learned, len(d.axes))
	for i := range d.axes {
		a, l := &d.axes[i], &list[i]
		l.Theta = 1
		if a.kind == interval {
			if values != nil {
				l.Theta = float64(values[a.first])
			}
			continue
		}
		for k := range a.count {
			l.Keep = append(l.Keep, d.keep(values, a, k))
		}
	}
	return list
}

// Size returns the part of the group that is kept, in the mean over draws of training: 1
// is the whole group. It is theta for one interval, and the product over the axes for
// several.
func (d *Distribution) Size() float64 {
	size, values := 1.0, d.present()
	for i := range d.axes {
		a := &d.axes[i]
		switch a.kind {
		case interval:
			if values != nil {
				size *= float64(values[a.first])
			}
		case subset:
			sum := 0.0
			for k := range a.count {
				sum += d.keep(values, a, k)
			}
			size *= sum / float64(a.count)
		}
	}
	return size
}

// Widths returns where in the first of Parameters the half-widths of intervals stand.
func (d *Distribution) Widths() (list []int) {
	for i := range d.axes {
		if a := &d.axes[i]; a.kind == interval && d.values != nil {
			list = append(list, a.first)
		}
	}
	return list
}

// SetSize gives every learned axis the same size, to see what a network does on
// other subsets than those it learned: intervals the half-width theta, and subsets the
// values that stand there, at most theta of the axis from the identity. Nothing is left to
// chance then, also in training: a flip is dropped below 1, and from 1 on all is kept. Only
// under Compat, on a grid or group without mirrors, where a probability is taken for its
// logit, values are kept with one half and with 0.73. It may go beyond what Clamp allows.
func (d *Distribution) SetSize(theta float64) {
	values := d.present()
	for i := range d.axes {
		a := &d.axes[i]
		switch {
		case a.kind == interval && values != nil:
			values[a.first] = float32(theta)
		case a.kind == subset:
			for k := range a.count {
				p := a.parameter(k)
				switch {
				case p < 0:
				case a.distance(k) <= theta:
					values[p] = certain
				default:
					values[p] = -certain
				}
			}
		}
	}
	d.writeValues(values)
}

// distance returns how far from the identity value k of the grid stands, as a fraction of
// the axis: 1 is as far as it goes.
func (a *axis) distance(k int) float64 {
	steps := max(k-a.identity, a.identity-k)
	if a.Kind != lie.Line {
		steps = min(steps, a.count-steps) // either way round
	}
	return float64(2*steps) / float64(a.count)
}

// Clamp moves every theta into [MinTheta, MaxTheta] and every rho into [-MaxRho,
// MaxRho]; NaN stays NaN. Call it after each step of the optimiser and after loading.
// It does nothing under Compat.
func (d *Distribution) Clamp() {
	if d.values == nil || d.cfg.Compat {
		return
	}
	d.readValues(d.host)
	changed := false
	for i := range d.axes {
		a := &d.axes[i]
		switch a.kind {
		case interval:
			changed = clamp(d.host[a.first:][:1], MinTheta, MaxTheta) || changed
		case subset:
			changed = clamp(d.host[a.first:][:a.count-1], -MaxRho, MaxRho) || changed
		}
	}
	if changed {
		d.writeValues(d.host)
	}
}

// clamp moves values into [lo, hi] and reports whether any was outside.
func clamp(values []float32, lo, hi float32) (changed bool) {
	for i, was := range values {
		now := min(max(was, lo), hi) // NaN stays NaN
		if now != was {
			values[i], changed = now, true
		}
	}
	return changed
}

// present returns a copy of the values as they are, nil for none.
func (d *Distribution) present() []float32 {
	if d.values == nil {
		return nil
	}
	values := make([]float32, len(d.last))
	d.readValues(values)
	return values
}

// keep returns the probability of keeping value k of an axis that is no interval.
func (d *Distribution) keep(values []float32, a *axis, k int) float64 {
	p := a.parameter(k)
	if a.kind != subset || p < 0 {
		return 1
	}
	logit, _ := d.logit(values[p])
	return sigmoid(logit)
}
