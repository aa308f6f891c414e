package data

import (
	"fmt"
	"slices"

	"github.com/noether-go/noether/internal/stream"
)

// Division says which of the images to train on are set aside for validation.
type Division struct {
	// Seed chooses them.
	Seed uint64
	// Published takes, whatever Seed is, those that the paper's program, which is
	// written in PyTorch, takes by the fixed seed 42: the last of randperm's
	// permutation, as random_split does.
	Published bool
}

// publishedSeed is the seed of the published divisions.
const publishedSeed = 42

// setAside divides 0, 1, ..., n-1 into those to train on and held that are set
// aside for validation, both in order.
func (by Division) setAside(n, held int) (train, validation []int) {
	if !by.Published {
		return setAside(upTo(n), held, by.Seed)
	}
	order := torchPermutation(n, publishedSeed)
	return slices.Sorted(slices.Values(order[:n-held])), slices.Sorted(slices.Values(order[n-held:]))
}

// setAsideTenth divides the images of s, which come from dir, into those to train on and a tenth that is set
// aside for validation. The error is a *FileError.
func setAsideTenth(dir string, s *Split, by Division) (train, validation []int, err error) {
	n := s.Len()
	if n < 10 {
		return nil, nil, &FileError{Path: dir, Problem: fmt.Sprintf("%d images to train on, a tenth of which is to be set aside for validation", n), Remedy: "give at least 10"}
	}
	train, validation = by.setAside(n, n/10)
	return train, validation, nil
}

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

// keep leaves of s, whose images have that many pixels each, those that index names in ascending
// order. They move within the memory that they have: of large sets there is none for two copies.
func (s *Split) keep(index []int, pixels int) {
	for i, n := range index {
		copy(s.Images[i*pixels:][:pixels], s.Images[n*pixels:])
		s.Labels[i] = s.Labels[n]
	}
	s.Images, s.Labels = s.Images[:len(index)*pixels], s.Labels[:len(index)]
}
