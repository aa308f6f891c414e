package plots

import (
	"fmt"
	"math"
	"strings"
)

// Circle is a picture of a subset of the rotations: an arc of the circle of all
// angles, centred on the angle 0, which is at the top. Of a group with reflections it has
// a second circle within for the mirrored elements.
type Circle struct {
	ID          string
	Title, Desc string
	HalfWidth   float64   // of the arc, as a fraction of pi; 1 is the whole circle
	Elements    int       // how many are drawn from it
	Keep        []float64 // instead: the probability of each of as many angles
	Mirror      []float64 // the probability of the mirrored elements; empty for a group without them
	Label       string    // in the middle; "": the half-width in degrees
	Color       Color
}

const maxDots = 64 // elements of a circle that can be told apart

// SVG returns the picture for a page whose style sheet contains Style.
func (c *Circle) SVG() string {
	const size, radius = 104.0, 40.0
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot circle" viewBox="0 0 %[2]s %[2]s" role="img" aria-labelledby="%[1]s-title %[1]s-desc">`, c.ID, num(size))
	fmt.Fprintf(&b, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, c.ID, esc(c.Title), c.ID, esc(c.Desc))
	fmt.Fprintf(&b, `<g transform="translate(%[1]s %[1]s)" class="%[2]s"><circle class="track" r="%[3]s"/><path class="axis" d="M0 -46v-5"/>`, num(size/2), c.Color, num(radius))
	for _, p := range c.Mirror {
		fmt.Fprintf(&b, `<circle class="inner" r="31"/><circle class="mirror" r="31" stroke-opacity="%s"/>`, num(p))
	}
	theta := min(max(c.HalfWidth, 0), 1)
	at := func(angle float64) string { // clockwise from the top
		return num(radius*math.Sin(angle)) + " " + num(-radius*math.Cos(angle))
	}
	if c.Keep != nil {
		for i, p := range c.Keep {
			x, y, _ := strings.Cut(at(2*math.Pi*float64(i)/float64(len(c.Keep))), " ")
			fmt.Fprintf(&b, `<circle class="dot" cx="%s" cy="%s" r="%s"/>`, x, y, num(1+3.5*p))
		}
	} else if theta > 0.9995 {
		fmt.Fprintf(&b, `<circle class="arc" r="%s"/>`, num(radius))
	} else {
		large := 0
		if theta > 0.5 {
			large = 1
		}
		fmt.Fprintf(&b, `<path class="arc" d="M%sA%[2]s %[2]s 0 %d 1 %s"/>`, at(-theta*math.Pi), num(radius), large, at(theta*math.Pi))
	}
	if c.Keep == nil && c.Elements <= maxDots {
		for i := range c.Elements {
			x, y, _ := strings.Cut(at(theta*math.Pi*((2*float64(i)+1)/float64(c.Elements)-1)), " ")
			fmt.Fprintf(&b, `<circle class="element" cx="%s" cy="%s" r="2"/>`, x, y)
		}
	}
	label := c.Label
	if label == "" {
		label = fmt.Sprintf("±%.0f°", theta*180)
	}
	class := "strong big"
	if c.Mirror != nil { // there is less room
		class = "strong"
	}
	fmt.Fprintf(&b, `<text class="%s" text-anchor="middle" y="5">%s</text></g></svg>`, class, esc(label))
	return b.String()
}

// Picture is a small image in shades of one ink.
type Picture struct {
	Width, Height int
	Ink           []uint8 // [Height, Width], 0: paper
}

// paths returns the image as shapes, centred on the origin, a unit per pixel:
// one shape for all pixels of at least each shade, one upon the other, so that
// no seams show between shades. Runs of pixels are one rectangle.
func (p *Picture) paths() string {
	const shades = 4
	var b strings.Builder
	for s := 1; s <= shades; s++ {
		dark := func(y, x int) bool { return (int(p.Ink[y*p.Width+x])*shades+127)/255 >= s }
		var d strings.Builder
		for y := range p.Height {
			for x := 0; x < p.Width; x++ {
				start := x
				for x < p.Width && dark(y, x) {
					x++
				}
				if x > start {
					fmt.Fprintf(&d, "M%s %sh%dv1h%dz", num(float64(start)-float64(p.Width)/2), num(float64(y)-float64(p.Height)/2), x-start, start-x)
				}
			}
		}
		if d.Len() > 0 {
			// s layers of these opacities make s/shades together.
			fmt.Fprintf(&b, `<path fill-opacity="%s" d="%s"/>`, num(1/float64(shades-s+1)), d.String())
		}
	}
	return b.String()
}
