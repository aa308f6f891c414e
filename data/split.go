package data

import (
	"slices"

	"github.com/noether-go/noether/internal/stream"
)

// setAside divides index into two parts: held of its entries, chosen by seed, are
// set aside for validation. Both parts keep the order of index, so seed decides
// only who is where.
func setAside(index []int, held int, seed uint64) (train, validation []int) {
	order := slices.Clone(index)
	s := stream.New(seed, "validation split", 0)
	s.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return slices.Sorted(slices.Values(order[held:])), slices.Sorted(slices.Values(order[:held]))
}

// upTo returns 0, 1, ..., n-1.
func upTo(n int) []int {
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return index
}

// gather returns the images of s, of that many pixels each, that index names.
func gather(s *Split, index []int, pixels int) Split {
	out := Split{Images: make([]uint8, 0, len(index)*pixels), Labels: make([]uint8, 0, len(index))}
	for _, n := range index {
		out.Images = append(out.Images, s.Images[n*pixels:][:pixels]...)
		out.Labels = append(out.Labels, s.Labels[n])
	}
	return out
}
