package tensor

import (
	"cmp"
	"slices"
)

// lifeBlock is memory for one span, or for all scratch of a layer.
type lifeBlock struct {
	spans []*span
	size  int // in values, a multiple of alignment
	off   int // in the arena, set by place

	// The contents matter during the first lives of life.
	life  [2]Lifetime
	lives int
}

// blocks returns what has to be placed for spans, in their order.
func blocks(spans []span) []*lifeBlock {
	var list []*lifeBlock
	scratch := map[int]*lifeBlock{} // of the layers
	for i := range spans {
		s := &spans[i]
		size := roundUp(s.n)
		switch {
		case s.shared:
			b := scratch[s.layer]
			if b == nil {
				forward, backward := ForwardOf(s.layer), BackwardOf(s.layer)
				b = &lifeBlock{life: [2]Lifetime{{forward, forward}, {backward, backward}}, lives: 2}
				scratch[s.layer] = b
				list = append(list, b)
			}
			b.spans, b.size = append(b.spans, s), max(b.size, size)
		case s.life != nil && s.life.none():
		case s.life != nil:
			list = append(list, &lifeBlock{spans: []*span{s}, size: size, life: [2]Lifetime{*s.life}, lives: 1})
		default:
			list = append(list, &lifeBlock{spans: []*span{s}, size: size, life: [2]Lifetime{{0, End}}, lives: 1})
		}
	}
	return list
}

// meets reports whether both blocks are alive at some moment.
func (b *lifeBlock) meets(c *lifeBlock) bool {
	for _, p := range b.life[:b.lives] {
		for _, q := range c.life[:c.lives] {
			if p.From <= q.To && q.From <= p.To {
				return true
			}
		}
	}
	return false
}

func (b *lifeBlock) aliveAt(m Moment) bool {
	for _, l := range b.life[:b.lives] {
		if l.From <= m && m <= l.To {
			return true
		}
	}
	return false
}

// place gives every block an offset such that blocks which are alive at the same
// moment do not overlap, and returns the number of values that they need.
//
// It is "greedy by size" (Pisarchyk & Lee, Efficient Memory Management for Deep
// Neural Net Inference, 2020): large blocks first, each in the smallest gap
// between the blocks that it meets, or behind the last of them.
func place(list []*lifeBlock) int {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(b, c *lifeBlock) int { return cmp.Compare(c.size, b.size) })
	var placed []*lifeBlock // by offset
	total := 0
	for _, b := range order {
		const none = -1
		at, narrowest, end := none, 0, 0
		for _, p := range placed {
			if !b.meets(p) {
				continue
			}
			if gap := p.off - end; gap >= b.size && (at == none || gap < narrowest) {
				at, narrowest = end, gap
			}
			end = max(end, p.off+p.size)
		}
		if at == none {
			at = end
		}
		b.off = at
		i, _ := slices.BinarySearchFunc(placed, b, func(p, b *lifeBlock) int { return cmp.Compare(p.off, b.off) })
		placed = slices.Insert(placed, i, b)
		total = max(total, at+b.size)
	}
	return total
}

// liveAtOnce returns the largest number of values alive at the same moment.
func liveAtOnce(list []*lifeBlock) int {
	most := 0
	for _, first := range list {
		for _, l := range first.life[:first.lives] { // the sum grows nowhere else
			sum := 0
			for _, b := range list {
				if b.aliveAt(l.From) {
					sum += b.size
				}
			}
			most = max(most, sum)
		}
	}
	return most
}

// survivors returns the spans whose contents matter beyond a moment, by offset.
func survivors(spans []span, after Moment) []*span {
	var alive []*span
	for i := range spans {
		s := &spans[i]
		if !s.shared && (s.life == nil || s.life.From <= after && s.life.To > after) {
			alive = append(alive, s)
		}
	}
	slices.SortFunc(alive, func(s, t *span) int { return cmp.Compare(s.off, t.off) })
	return alive
}
