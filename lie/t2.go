package lie

// T2 is the translation group R^2: its stabiliser is trivial. Networks on it are
// plain convolutional networks with continuous kernels.
//
// A kernel network on T2 is fed one constant group coordinate, -1, the one that
// SE2 gives to the relative angle zero. So a network has the same parameters on
// T2 as on SE2, which makes the two comparable.
var T2 Group = trivial{NewChart("T(2)", Axis{Kind: Turns, Order: 1})}

// trivial is the group {e}, which is C_1.
type trivial struct{ *Chart }

func (trivial) Product(_, _ Element) Element                  { return Element{} }
func (trivial) Inverse(Element) Element                       { return Element{} }
func (trivial) Matrix(Element) [2][2]float64                  { return [2][2]float64{{1, 0}, {0, 1}} }
func (trivial) InverseAct(_ Element, q [2]float64) [2]float64 { return q }

func (trivial) InverseActGrad(_ Element, _, _ [2]float64) Vector { return Vector{} }

func (g trivial) Relative(_, _ Element) Coordinates { return g.Embed(Element{}) }

func (trivial) RelativeGrad(_ Coordinates, _, _ Element) (du, dv Vector) { return Vector{}, Vector{} }
