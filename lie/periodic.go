package lie

import (
	"fmt"
	"math"
)

// Periodic returns g with other coordinates for kernel networks: a relative angle a,
// of circles and of turns, is fed as (cos a, sin a) instead of a/pi - 1. That is
// continuous everywhere, the relative angle zero included, and takes one input more
// for each angle. Elements, and all else, are those of g. The name has " periodic"
// behind it.
//
// The published implementation feeds a/pi - 1; hence that is the default.
//
// A group without angles is returned as it is, and so is one that is periodic already.
// Periodic panics with *Error for a group whose Relative does not have one
// coordinate for each axis.
func Periodic(g Group) Group {
	if _, ok := g.(periodic); ok {
		return g
	}
	if g.Coordinates() != len(g.Axes()) {
		panic(&Error{"Periodic", fmt.Sprintf("%s has %d coordinates on %d axes; one for each is needed", g.Name(), g.Coordinates(), len(g.Axes()))})
	}
	p := periodic{Group: g, name: g.Name() + " periodic", coordinates: len(g.Axes())}
	for i, axis := range g.Axes() {
		if p.angle[i] = axis.Kind == Circle || axis.Kind == Turns; p.angle[i] {
			p.coordinates++
		}
	}
	if p.coordinates == len(g.Axes()) {
		return g
	}
	return p
}

type periodic struct {
	Group
	name        string
	angle       [MaxAxes]bool // of each axis
	coordinates int
}

func (g periodic) Name() string     { return g.name }
func (g periodic) Coordinates() int { return g.coordinates }

func (g periodic) Relative(u, v Element) (y Coordinates) {
	at := 0
	x := g.Group.Relative(u, v)
	for i := range g.Axes() {
		if !g.angle[i] {
			y[at] = x[i]
			at++
			continue
		}
		y[at+1], y[at] = math.Sincos(math.Pi * (x[i] + 1))
		at += 2
	}
	return y
}

func (g periodic) RelativeGrad(dy Coordinates, u, v Element) (du, dv Vector) {
	var dx Coordinates // with respect to what g.Group feeds
	at := 0
	x := g.Group.Relative(u, v)
	for i := range g.Axes() {
		if !g.angle[i] {
			dx[i] = dy[at]
			at++
			continue
		}
		s, c := math.Sincos(math.Pi * (x[i] + 1))
		dx[i] = math.Pi * (float64(dy[at+1]*c) - float64(dy[at]*s))
		at += 2
	}
	return g.Group.RelativeGrad(dx, u, v)
}
