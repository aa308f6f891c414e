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

	// Weight multiplies what an element contributes to a sum over its list, and
	// WeightGrad is the gradient with respect to it. They are as long as G, or nil where
	// every weight is 1. An element of weight 0 was dropped: it must not show in
	// anything, but it has a WeightGrad. What reads G must heed Weight, or refuse one
	// that is not nil.
	Weight, WeightGrad []float64
	// Weighted says that Draw may give the elements weights. It must be set before what
	// reads the list is planned, see Distribution.NewLists.
	Weighted bool

	// Rigid says that the elements only move together, so that layers need not tell
	// their gradients Grad apart: those of a list may be credited to some of them only.
	// Distribution sets it where nothing is learned from Grad.
	Rigid bool

	weights []float64  // memory for Weight and WeightGrad
	cells   []cell     // of each list, axis after axis: what the last Draw made G of
	counts  lie.Counts // of cells on each axis
	origin  []int32    // where in the product of the axes an element stands, the first axis fastest
	drawn   int        // how many each list has if Draw made it
	max     int
	lists   int
}

// cell is one place on one axis of a list.
type cell struct {
	u      float64 // the uniform draw behind it
	at     float64 // its coordinate; on an interval that of the Lie algebra
	slope  float64 // derivative by the learned parameter: of at on an interval, else of mask
	mask   float64 // 0 if it was dropped, else 1
	factor float64 // of the weights of its elements
	grad   float64 // of the loss with respect to factor
}

const noGroup = "no group; one such as lie.SE2 is needed"

// NewElements is NewLists for one list.
func NewElements(g lie.Group, max int) *Elements { return NewLists(g, max, 1) }

// NewLists returns lists (at least one) for at most max elements each, all holding
// the uniform grid of max elements. A layer takes one list, which all images of a
// batch share, or as many as its batch has images. It panics with *Error for no group,
// less than one list or element, lists of more than 65536 elements or more than 2^30 in
// all, and with *lie.Error for a number of elements that the group has no grid of
// (lie.Group.Split), such as 3 of lie.E2.
func NewLists(g lie.Group, max, lists int) *Elements {
	switch {
	case g == nil:
		panic(&Error{"NewLists", noGroup})
	case max < 1 || max > maxElements:
		panic(&Error{"NewLists", fmt.Sprintf("lists of %d elements; allowed are 1 to %d", max, maxElements)})
	case lists < 1 || lists > maxListed/max:
		panic(&Error{"NewLists", fmt.Sprintf("%d lists of %d elements; allowed are 1 to %d", lists, max, maxListed/max)})
	}
	grid := g.Grid(max)
	e := &Elements{
		Group:   g,
		G:       make([]lie.Element, max*lists),
		Grad:    make([]lie.Vector, max*lists),
		weights: make([]float64, 2*max*lists),
		cells:   make([]cell, cellsOf(max)*lists),
		origin:  make([]int32, max*lists),
		max:     max,
		lists:   lists,
	}
	for s := range lists {
		copy(e.List(s), grid)
	}
	return e
}

// Identity returns lists of one element each, the identity. It panics with *Error for no
// group, less than one list or more than 2^30.
func Identity(g lie.Group, lists int) *Elements {
	if g == nil {
		panic(&Error{"Identity", noGroup})
	}
	if lists < 1 || lists > maxListed {
		panic(&Error{"Identity", fmt.Sprintf("%d lists; allowed are 1 to %d", lists, maxListed)})
	}
	return &Elements{Group: g, G: make([]lie.Element, lists), Grad: make([]lie.Vector, lists), Rigid: true, max: 1, lists: lists}
}

// Max returns the number of elements that a list was sized for.
func (e *Elements) Max() int { return e.max }

// Lists returns the number of lists.
func (e *Elements) Lists() int { return e.lists }

// Weights returns Weight and WeightGrad, as nn.Weighted.
func (e *Elements) Weights() (value, grad []float64) { return e.Weight, e.WeightGrad }

// Len returns the number of live elements of each list.
func (e *Elements) Len() int { return len(e.G) / e.lists }

// Cells returns how many elements each list of a Draw has if none is dropped.
func (e *Elements) Cells() int {
	n := 1
	for i := range e.Group.Axes() {
		n *= e.counts[i]
	}
	return n
}

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

// SetLen makes every list n elements long (1 <= n <= Max, or it panics with *Error), clears
// the gradient, and takes the weights away.
func (e *Elements) SetLen(n int) {
	if n < 1 || n > e.max {
		panic(&Error{"Elements.SetLen", fmt.Sprintf("%d elements; 1 to %d are allowed", n, e.max)})
	}
	e.G, e.Grad = e.G[:n*e.lists], e.Grad[:n*e.lists]
	clear(e.Grad)
	e.Weight, e.WeightGrad = nil, nil
}

// ZeroGrad clears the gradients of the elements and of their weights, and nothing else:
// one list may then be gone back through again.
func (e *Elements) ZeroGrad() {
	clear(e.Grad)
	clear(e.WeightGrad)
}

// CopyFrom makes e the list, or the lists, that from is, weights included, and clears its
// gradient: what is drawn once then stands for several layers. Both must have been made
// for the same group, number of lists and greatest length, or it panics with *Error, as it
// does where lists of Identity would need weights. It allocates nothing.
func (e *Elements) CopyFrom(from *Elements) {
	if e.Group.Name() != from.Group.Name() || e.lists != from.lists || e.max != from.max {
		panic(&Error{"Elements.CopyFrom", fmt.Sprintf("%d lists of at most %d elements of %s cannot hold %d of at most %d of %s",
			e.lists, e.max, e.Group.Name(), from.lists, from.max, from.Group.Name())})
	}
	if from.Weight != nil && e.weights == nil {
		panic(&Error{"Elements.CopyFrom", "lists of Identity have no place for weights; NewLists makes lists that have"})
	}
	e.SetLen(from.Len())
	copy(e.G, from.G)
	copy(e.cells, from.cells)
	copy(e.origin, from.origin)
	e.counts, e.drawn, e.Rigid = from.counts, from.drawn, from.Rigid
	if from.Weight != nil {
		e.weigh()
		copy(e.Weight, from.Weight)
	}
}

// weigh gives the elements weights and clears their gradient.
func (e *Elements) weigh() {
	n := len(e.G)
	e.Weight, e.WeightGrad = e.weights[:n:n], e.weights[n:][:n:n]
	clear(e.WeightGrad)
}

// cellsOf bounds the number of cells of a list: counts of axes whose product is max
// have at most this sum.
func cellsOf(max int) int { return max + lie.MaxAxes - 1 }

// cellsOn returns the cells of list s on the axes in turn.
func (e *Elements) cellsOn(s int) (on [lie.MaxAxes][]cell) {
	size := cellsOf(e.max)
	rest := e.cells[s*size : (s+1)*size]
	for i, n := range e.counts {
		on[i], rest = rest[:n], rest[n:]
	}
	return on
}

// place returns where on each axis the element stands that is number k of the
// product of the axes.
func (e *Elements) place(k int) (at [lie.MaxAxes]int) {
	for i, n := range e.counts {
		if n > 1 {
			at[i] = k % n
			k /= n
		}
	}
	return at
}

// Error is what this package panics with on programmer error. Op names the
// method.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "gumbel: " + e.Op + ": " + e.Problem }
