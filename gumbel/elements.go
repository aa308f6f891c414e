package gumbel

import (
	"fmt"

	"github.com/noether-go/noether/lie"
)

// Elements is a list of group elements that a feature map lives on, or one list
// for each image of a batch, with the gradient of the loss with respect to each
// element (in Lie-algebra coordinates) and the uniform draws they came from.
// Lists are sized once, by NewElements or NewLists, and all lists of an Elements
// are equally long.
type Elements struct {
	Group lie.Group
	G     []lie.Element // the live elements, list after list
	Grad  []lie.Vector  // as long as G

	// Rigid says that the elements only move together, so that layers need not tell
	// their gradients apart: those of a list may be credited to some of them only.
	// Uniform sets it for a subset that is not learned.
	Rigid bool

	uniform []float64 // the draws behind G: for each list one for a comb, one an element when stratified
	max     int
	lists   int
}

// NewElements returns one list for at most max elements, holding the uniform grid
// of max elements.
func NewElements(g lie.Group, max int) *Elements { return NewLists(g, max, 1) }

// NewLists returns lists (at least one) for at most max elements each, all holding
// the uniform grid of max elements. A layer takes one list, which all images of a
// batch share, or as many as its batch has images.
func NewLists(g lie.Group, max, lists int) *Elements {
	if lists < 1 {
		panic(&Error{"NewLists", fmt.Sprintf("%d lists; at least 1 is needed", lists)})
	}
	e := &Elements{
		Group:   g,
		G:       make([]lie.Element, max*lists),
		Grad:    make([]lie.Vector, max*lists),
		uniform: make([]float64, 0, max*lists),
		max:     max,
		lists:   lists,
	}
	grid := g.Grid(max)
	for s := range lists {
		copy(e.List(s), grid)
	}
	return e
}

// Max returns the number of elements that a list was sized for.
func (e *Elements) Max() int { return e.max }

// Lists returns the number of lists.
func (e *Elements) Lists() int { return e.lists }

// Len returns the number of live elements of each list.
func (e *Elements) Len() int { return len(e.G) / e.lists }

// List returns the elements of list s.
func (e *Elements) List(s int) []lie.Element {
	n := e.Len()
	return e.G[s*n : (s+1)*n]
}

// ListGrad returns the gradient with respect to the elements of list s.
func (e *Elements) ListGrad(s int) []lie.Vector {
	n := e.Len()
	return e.Grad[s*n : (s+1)*n]
}

// SetLen makes every list n elements long (1 <= n <= Max) and clears the
// gradient.
func (e *Elements) SetLen(n int) {
	e.G, e.Grad = e.G[:n*e.lists], e.Grad[:n*e.lists]
	clear(e.Grad)
}

// jitter returns the uniform draw behind element i of list s.
func (e *Elements) jitter(s, i int) float64 {
	if len(e.uniform) == e.lists {
		return e.uniform[s]
	}
	return e.uniform[s*e.Len()+i]
}

// Error is what this package panics with on programmer error. Op names the
// method.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "gumbel: " + e.Op + ": " + e.Problem }
