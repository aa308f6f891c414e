package data

import (
	"bytes"
	"fmt"
	"math"

	"github.com/noether-go/noether/internal/stream"
)

// MNIST6180 returns "mnist6-180", the toy task of Romero and Lohit (2022) that a
// network equivariant to all rotations cannot solve: is this six upright (label
// 0) or turned by 180 degrees (label 1)? It holds the sixes of m and a turned
// copy of each.
//
// A tenth of the sixes of the training part, chosen by seed, is set aside for
// validation; a six and its copy always go to the same side. The test part is
// m's and is not touched otherwise. Each six is followed by its copy.
func MNIST6180(m *MNIST, seed uint64) *Dataset {
	return sixes(m, "MNIST6180", seed, upOrDown, "6 turned by 180 degrees", asTheyAre, turnHalf)
}

// upOrDown is the name of MNIST6180. With the degrees behind it, turnedSixes is that of MNIST6180Turned.
const (
	upOrDown    = "mnist6-180"
	turnedSixes = upOrDown + "-rot"
)

// MNIST6180Turned is MNIST6180 of sixes that are turned first, each by an angle of
// its own that is uniform within so many degrees either way, 0 to 180, with bilinear
// interpolation. A copy is that of the turned six. The angle of a six is a function
// of seed and its place in m alone, and the bytes are the same on every architecture.
// Upright holds the test part of MNIST6180. Unless degrees is 0, the name has it behind it, as "mnist6-180-rot30".
//
// It panics with *Error when degrees is outside its range.
func MNIST6180Turned(m *MNIST, seed uint64, degrees float64) *Dataset {
	if !(degrees >= 0 && degrees <= 180) {
		failf("MNIST6180Turned", "sixes turned within %v degrees; 0 to 180 are allowed", degrees)
	}
	if degrees == 0 {
		return MNIST6180(m, seed)
	}
	turned := func(s *Split, part string) {
		turnEach(s, m.Height, m.Width, seed, "mnist6-180 "+part, func(_ int, src *stream.Stream) (sin, cos float64) {
			return sincos((2*src.Float64() - 1) * (degrees / 180 * math.Pi))
		})
	}
	d := sixes(m, "MNIST6180Turned", seed, fmt.Sprintf("%s%g", turnedSixes, degrees), "6 turned by 180 degrees", turned, turnHalf)
	upright := gather(&m.Test, where(m.Test.Labels, 6), m.Height*m.Width)
	d.Turned, d.Upright = true, pairs(&upright, m.Height*m.Width, m.Width, turnHalf)
	return d
}

// MNIST6M returns "mnist6-m": MNIST6180 with copies flipped left-right instead
// of turned, which a network equivariant to mirroring cannot solve.
func MNIST6M(m *MNIST, seed uint64) *Dataset {
	return sixes(m, "MNIST6M", seed, "mnist6-m", "6 flipped left-right", asTheyAre, flip)
}

// MNIST6Circle returns "mnist6-circle", the task of MNIST6180 as the text of Romero
// and Lohit (2022) describes it: every six of m is turned by an angle that is uniform
// over the circle, with bilinear interpolation, and the question is whether that is
// less than 90 degrees either way (label 0) or not (label 1).
//
// A tenth of the sixes of the training part, chosen by seed, is set aside for
// validation. Of those to train on each is there at 16 angles, of the others at 4: at one
// angle each, the few thousand sixes would be seen at that again and again. The angles are
// a function of seed, and the bytes are the same on every architecture. Upright holds the
// test part's sixes as they are in m.
func MNIST6Circle(m *MNIST, seed uint64) *Dataset {
	d := sixes(m, "MNIST6Circle", seed, "mnist6-circle", "6 turned by more than 90 degrees", asTheyAre, nil)
	d.Turned, d.Upright = true, gather(&m.Test, where(m.Test.Labels, 6), m.Height*m.Width)
	clear(d.Upright.Labels)
	turned := func(s *Split, part string, angles int) {
		*s = Split{Images: bytes.Repeat(s.Images, angles), Labels: make([]uint8, angles*s.Len())}
		turnEach(s, m.Height, m.Width, seed, "mnist6-circle "+part, func(i int, src *stream.Stream) (sin, cos float64) {
			sin, cos = direction(src)
			if cos <= 0 {
				s.Labels[i] = 1
			}
			return sin, cos
		})
	}
	turned(&d.Train, "train", 16)
	turned(&d.Validation, "validation", 4)
	turned(&d.Test, "test", 4)
	return d
}

// asTheyAre leaves the sixes of a part alone.
func asTheyAre(*Split, string) {}

// sixes returns, on behalf of op, a set of the sixes of m: prepare changes those of a part, "train" or
// "test", in place, and then each is followed by its transformed copy, if transform is
// not nil.
func sixes(m *MNIST, op string, seed uint64, name, second string, prepare func(s *Split, part string), transform func(dst, src []uint8, width int)) *Dataset {
	m.requireSizes(op)
	d := &Dataset{
		Name: name, Channels: 1, Height: m.Height, Width: m.Width,
		Classes: 2, ClassNames: []string{"6", second},
	}
	d.Mean, d.Std = Normalization(upOrDown) // whatever was done to the sixes
	plane := m.Height * m.Width
	train := gather(&m.Train, where(m.Train.Labels, 6), plane)
	d.Test = gather(&m.Test, where(m.Test.Labels, 6), plane)
	prepare(&train, "train")
	prepare(&d.Test, "test")

	held := train.Len() / 10
	if held == 0 && train.Len() > 1 {
		held = 1 // tiny sets
	}
	learned, validation := setAside(upTo(train.Len()), held, seed)
	d.Train, d.Validation = gather(&train, learned, plane), gather(&train, validation, plane)
	if transform != nil {
		for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
			*s = pairs(s, plane, m.Width, transform)
		}
	}
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

// pairs returns the images [., plane] of s, each (label 0) followed by its
// transformed copy (label 1).
func pairs(s *Split, plane, width int, transform func(dst, src []uint8, width int)) Split {
	out := Split{Images: make([]uint8, 2*len(s.Images)), Labels: make([]uint8, 2*s.Len())}
	for i := range s.Len() {
		original, copied := out.Images[2*i*plane:][:plane], out.Images[(2*i+1)*plane:][:plane]
		copy(original, s.Images[i*plane:][:plane])
		transform(copied, original, width)
		out.Labels[2*i+1] = 1
	}
	return out
}
