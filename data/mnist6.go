package data

// MNIST6180 returns "mnist6-180", the toy task of Romero and Lohit (2022) that a
// network equivariant to all rotations cannot solve: is this six upright (label
// 0) or turned by 180 degrees (label 1)? It holds the sixes of m and a turned
// copy of each.
//
// A tenth of the sixes of the training part, chosen by seed, is set aside for
// validation; a six and its copy always go to the same side. The test part is
// m's and is not touched otherwise. Each six is followed by its copy.
func MNIST6180(m *MNIST, seed uint64) *Dataset {
	return sixes(m, seed, "mnist6-180", "6 turned by 180 degrees", turnHalf)
}

// MNIST6M returns "mnist6-m": MNIST6180 with copies flipped left-right instead
// of turned, which a network equivariant to mirroring cannot solve.
func MNIST6M(m *MNIST, seed uint64) *Dataset {
	return sixes(m, seed, "mnist6-m", "6 flipped left-right", flip)
}

func sixes(m *MNIST, seed uint64, name, copyName string, transform func(dst, src []uint8, width int)) *Dataset {
	d := &Dataset{
		Name: name, Channels: 1, Height: m.Height, Width: m.Width,
		Classes: 2, ClassNames: []string{"6", copyName},
		Mean: []float32{.1307}, Std: []float32{.3081}, // of all of MNIST, as in the paper's program
	}
	train := where(m.Train.Labels, 6)
	held := len(train) / 10
	if held == 0 && len(train) > 1 {
		held = 1 // tiny sets
	}
	train, validation := setAside(train, held, seed)

	pair := func(from *Split, index []int) Split {
		return pairs(from.Images, index, m.Height*m.Width, m.Width, transform)
	}
	d.Train = pair(&m.Train, train)
	d.Validation = pair(&m.Train, validation)
	d.Test = pair(&m.Test, where(m.Test.Labels, 6))
	return d
}

// where returns the positions of label in labels.
func where(labels []uint8, label uint8) []int {
	var at []int
	for i, l := range labels {
		if l == label {
			at = append(at, i)
		}
	}
	return at
}

// pairs returns the images [., plane] that index names, each (label 0) followed
// by its transformed copy (label 1).
func pairs(images []uint8, index []int, plane, width int, transform func(dst, src []uint8, width int)) Split {
	s := Split{Images: make([]uint8, 2*len(index)*plane), Labels: make([]uint8, 2*len(index))}
	for i, n := range index {
		original, turned := s.Images[2*i*plane:][:plane], s.Images[(2*i+1)*plane:][:plane]
		copy(original, images[n*plane:][:plane])
		transform(turned, original, width)
		s.Labels[2*i+1] = 1
	}
	return s
}
