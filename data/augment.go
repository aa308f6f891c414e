package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/internal/stream"
)

// Augmentation says how images to train on are changed at random, anew each time
// that they are used. The zero value leaves them as they are. What comes in from
// outside an image is zero (black), before normalisation.
type Augmentation struct {
	// Rotate turns an image about its centre by an angle that is uniform between
	// -Rotate and Rotate, in radians, 0 to pi, with bilinear interpolation.
	Rotate float64 `json:"rotate,omitzero"`
	// Flip exchanges left and right of every second image, at random.
	Flip bool `json:"flip,omitzero"`
	// Crop takes the image out of itself with so many zeros added on each side, at
	// a random place: it moves by up to Crop pixels, up or down and left or right.
	Crop int `json:"crop,omitzero"`
}

// Validate returns an error that names the first thing about a that images of
// d's size cannot be changed by.
func (a Augmentation) Validate(d *Dataset) error {
	switch side := min(d.Height, d.Width); {
	case !(a.Rotate >= 0 && a.Rotate <= math.Pi):
		return fmt.Errorf("data: augmentation: Rotate is %v; allowed: 0 to pi (radians)", a.Rotate)
	case a.Crop < 0 || a.Crop >= side:
		return fmt.Errorf("data: augmentation: Crop is %d; allowed: 0 to %d for images of %d x %d pixels", a.Crop, side-1, d.Height, d.Width)
	}
	return nil
}

// apply writes src [C, height, width], changed as the next numbers of s say, to
// dst, which must not overlap src. room [C, height, width] is overwritten. It
// allocates nothing.
func (a Augmentation) apply(dst, src, room []uint8, height, width int, s *stream.Stream) {
	if a.Rotate > 0 {
		sin, cos := sincos(a.Rotate * (2*s.Float64() - 1))
		turn(room, src, height, width, sin, cos)
		src = room
	}
	if a.Crop > 0 {
		dy := s.IntN(2*a.Crop+1) - a.Crop
		dx := s.IntN(2*a.Crop+1) - a.Crop
		shift(dst, src, height, width, dy, dx)
	} else {
		copy(dst, src)
	}
	if a.Flip && s.IntN(2) == 1 {
		for r := 0; r < len(dst); r += width {
			slices.Reverse(dst[r : r+width])
		}
	}
}

// shift writes to pixel (y, x) of the planes dst [height, width] what stands at
// (y+dy, x+dx) in those of src, zero where that lies outside. dy and dx are
// smaller than the sides.
func shift(dst, src []uint8, height, width, dy, dx int) {
	from, to := max(0, -dx), min(width, width-dx) // columns of dst that src reaches
	for plane := 0; plane < len(src); plane += height * width {
		for y := range height {
			row := dst[plane+y*width:][:width]
			if y+dy < 0 || y+dy >= height {
				clear(row)
				continue
			}
			clear(row[:from])
			copy(row[from:to], src[plane+(y+dy)*width+from+dx:])
			clear(row[to:])
		}
	}
}
