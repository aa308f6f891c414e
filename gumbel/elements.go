package gumbel

import "github.com/noether-go/noether/lie"

// Elements is a list of group elements that a feature map lives on, with the
// gradient of the loss with respect to each (in Lie-algebra coordinates) and
// the uniform draws they came from. Lists are sized once, by NewElements.
type Elements struct {
	Group lie.Group
	G     []lie.Element // the live elements
	Grad  []lie.Vector  // as long as G

	uniform []float64 // the draws behind G; len 1 for a comb, len(G) when stratified
	max     int
}

// NewElements returns a list for at most max elements, holding the uniform grid
// of max elements.
func NewElements(g lie.Group, max int) *Elements {
	e := &Elements{
		Group:   g,
		G:       make([]lie.Element, max),
		Grad:    make([]lie.Vector, max),
		uniform: make([]float64, 0, max),
		max:     max,
	}
	copy(e.G, g.Grid(max))
	return e
}

// Max returns the number of elements the list was sized for.
func (e *Elements) Max() int { return e.max }

// SetLen makes the list n elements long (1 <= n <= Max) and clears the gradient.
func (e *Elements) SetLen(n int) {
	e.G, e.Grad = e.G[:n], e.Grad[:n]
	clear(e.Grad)
}

// jitter returns the uniform draw behind element i.
func (e *Elements) jitter(i int) float64 {
	if len(e.uniform) == 1 {
		return e.uniform[0]
	}
	return e.uniform[i]
}

// Error is what this package panics with on programmer error. Op names the
// method.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "gumbel: " + e.Op + ": " + e.Problem }
