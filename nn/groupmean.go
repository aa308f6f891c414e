package nn

// GroupMean takes the mean over the group elements at each point of the plane:
// [C, n, H, W, B] to [C, 1, H, W, B].
//
//	y[c, p] = sum over j of x[c, j, p] / n,   dx[c, j, p] = dy[c, p] / n
//
// with p for plane and batch. Of group elements with weights (Map.On), it is
// sum(w x)/sum(w).
type GroupMean struct{ mean }

// NewGroupMean returns the layer.
func NewGroupMean() *GroupMean { return new(GroupMean) }

// Plan reserves the output map [C, 1, H, W, B].
func (l *GroupMean) Plan(p *Plan, in *Map) *Map {
	checkPlan("GroupMean.Plan", p, in)
	return l.reserve(p, in, p.Map(in.C, 1, in.H, in.W))
}
