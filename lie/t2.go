package lie

import "fmt"

// T2 is the translation group R^2: its stabiliser is trivial. Networks on it are
// plain convolutional networks with continuous kernels.
//
// A kernel network on T2 is fed one constant group coordinate, -1, the one that
// SE2 gives to the relative angle zero. So a network has the same parameters on
// T2 as on SE2, which makes the two comparable.
var T2 Group = trivial{}

// trivial is the group {e}.
type trivial struct{}

func (trivial) Name() string          { return "T(2)" }
func (trivial) Dim() int              { return 0 }
func (trivial) Extent() Vector        { return Vector{} }
func (trivial) Compact() bool         { return true }
func (trivial) Components() int       { return 1 }
func (trivial) Component(int) Element { return Element{} }

func (trivial) Identity() Element                             { return Element{} }
func (trivial) Product(_, _ Element) Element                  { return Element{} }
func (trivial) Inverse(Element) Element                       { return Element{} }
func (trivial) Exp(Vector) Element                            { return Element{} }
func (trivial) Log(Element) Vector                            { return Vector{} }
func (trivial) Matrix(Element) [2][2]float64                  { return [2][2]float64{{1, 0}, {0, 1}} }
func (trivial) InverseAct(_ Element, q [2]float64) [2]float64 { return q }

func (trivial) InverseActGrad(_ Element, _, _ [2]float64) Vector { return Vector{} }

func (trivial) Coordinates() int                     { return 1 }
func (trivial) Relative(dst []float64, _, _ Element) { dst[0] = -1 }

func (trivial) RelativeGrad(_ []float64, _, _ Element) (du, dv Vector) { return Vector{}, Vector{} }

func (trivial) CheckGrid(n int) error {
	if n != 1 {
		return fmt.Errorf("lie: T(2) has no grid of %d elements: its stabiliser has exactly 1", n)
	}
	return nil
}

func (g trivial) Grid(n int) []Element {
	if err := g.CheckGrid(n); err != nil {
		panic(&Error{"T2.Grid", err.Error()})
	}
	return []Element{{}}
}

func (trivial) Haar(Source) Element { return Element{} }
