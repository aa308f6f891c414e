package nn

// GlobalMean takes the mean of each channel of each sample over the group
// elements and the plane: [C, n, H, W, B] to [C, 1, 1, 1, B]. The result is
// invariant under the group as far as the layers before it are equivariant.
//
//	y[c, b] = sum over s of x[c, s, b] / S,   dx[c, s, b] = dy[c, b] / S
//
// Of group elements with weights (Map.On), it is sum(w x)/sum(w).
type GlobalMean struct{ mean }

// NewGlobalMean returns the layer.
func NewGlobalMean() *GlobalMean { return &GlobalMean{mean{plane: true}} }

// Plan reserves the output map [C, 1, 1, 1, B].
func (l *GlobalMean) Plan(p *Plan, in *Map) *Map {
	checkPlan("GlobalMean.Plan", p, in)
	return l.reserve(p, in, p.Map(in.C, 1, 1, 1))
}
