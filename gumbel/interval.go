package gumbel

import (
	"math"

	"github.com/noether-go/noether/lie"
)

// MinTheta and MaxTheta bound a learned half-width (Distribution.Clamp). Above
// MaxTheta the subset would overlap itself; below MinTheta too little of it is left
// for the gradient to widen it again.
const (
	MinTheta = 0.02
	MaxTheta = 1
)

// theta returns the half-width of an interval that the last list was drawn with.
func (d *Distribution) theta(a *axis) float32 {
	if d.values == nil {
		return 1
	}
	return d.last[a.first]
}

// count returns the number of cells of an axis, of an interval at its half-width: at
// least one and at most a.count.
func (d *Distribution) count(a *axis) int {
	if a.kind != interval || d.values == nil {
		return a.count
	}
	want := part(a.count, d.theta(a))
	if d.cfg.Compat && want < 0 {
		if d.cfg.mirrors() {
			want = -math.Ceil(want) // the absolute value of the count
		} else {
			want = -want // that of theta
		}
	}
	return cells(a.count, want)
}

// part returns what a half-width is of a number of cells, in float32, so that 0.7 of 10 elements are 7 however
// 0.7 is rounded.
func part(most int, theta float32) float64 { return float64(float32(most) * theta) }

// cells returns the number of cells of a part of them: at least one and at most all, and all if it is NaN.
func cells(most int, part float64) int {
	if !(part < float64(most)) {
		return most
	}
	return int(math.Ceil(max(part, 1))) // max first: an int need not hold the part
}

// placeInterval computes cell k of n of an interval.
func (d *Distribution) placeInterval(a *axis, c *cell, k, n int) {
	at := (float64(k) + c.u) / float64(n) // on the interval from 0 to 1
	if d.cfg.Jitter == IID {
		at = c.u
	}
	c.slope = a.Extent * (2*at - 1)
	switch {
	case d.cfg.Compat:
		d.placeCompat(a, c, k, n)
	case d.values != nil:
		c.at = float64(d.theta(a)) * c.slope
	default:
		c.at = float64(2 * a.Extent * at)
		if a.Kind == lie.Line {
			c.at -= a.Extent
		}
	}
}

// placeCompat is placeInterval as the published implementation rounds it: the comb in
// float64 from theta's float32 value, its start and the jitter in float32. A partial
// comb of a group with a flip spans as if the mirrored elements stood in between.
func (d *Distribution) placeCompat(a *axis, c *cell, k, n int) {
	theta, width, span := d.theta(a), float32(2*a.Extent), n
	if d.values != nil && d.cfg.mirrors() {
		span = d.cfg.Max
	}
	comb := 2 * a.Extent * float64(theta) * float64(k) / float64(n)
	delta := float64(float32(width*theta) * float32(c.u) / float32(span))
	start := 0.0
	if d.values != nil || a.Kind == lie.Line {
		start = float64(float32(a.Extent) * theta)
	}
	c.at = comb - start + delta
	c.slope = a.Extent * (2*c.u/float64(span) - 1)
}
