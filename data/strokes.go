package data

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/internal/stream"
)

// StrokesConfig says how many sixes Strokes6180 generates for each part; the
// part holds twice as many images, for each six is followed by its turned copy.
// The zero value is useful: zero counts mean the defaults.
type StrokesConfig struct {
	Train      int // default 2000
	Validation int // default 300
	Test       int // default 500
	Seed       uint64
}

// maxStrokes bounds the sixes of one set: 2^20 of them and their copies take
// 1.6 GB.
const maxStrokes = 1 << 20

func (c StrokesConfig) withDefaults() StrokesConfig {
	for _, f := range []struct {
		n       *int
		initial int
	}{{&c.Train, 2000}, {&c.Validation, 300}, {&c.Test, 500}} {
		if *f.n == 0 {
			*f.n = f.initial
		}
	}
	return c
}

// Validate returns an error that names the field that is out of range.
func (c StrokesConfig) Validate() error {
	c = c.withDefaults()
	for _, f := range []struct {
		name string
		n    int
	}{{"Train", c.Train}, {"Validation", c.Validation}, {"Test", c.Test}} {
		if f.n < 0 || f.n > maxStrokes {
			return fmt.Errorf("data: StrokesConfig.%s is %d; allowed are 1 to %d sixes, or 0 for the default", f.name, f.n, maxStrokes)
		}
	}
	if n := c.Train + c.Validation + c.Test; n > maxStrokes {
		return fmt.Errorf("data: StrokesConfig asks for %d sixes in all; at most %d are allowed", n, maxStrokes)
	}
	return nil
}

// Strokes6180 returns "strokes6-180", a synthetic stand-in for MNIST6180 that
// needs no files: drawings of a six, upright (label 0) and turned by 180 degrees
// (label 1), 28 x 28 pixels in grey.
//
// A six is one stroke of a pen: a stem that runs down into a loop, as five cubic
// Bezier curves whose anchors, tangents, slant, aspect, size, position, small
// rotation, thickness and pressure are drawn at random. Six number i of a part
// is a function of (Seed, part, i) alone, so asking for more images leaves the
// others as they are. The generator uses nothing but correctly rounded
// operations (+, -, *, /, square root), each rounded by itself, so every
// architecture draws the same bytes.
//
// It panics with *Error when cfg.Validate returns an error.
func Strokes6180(cfg StrokesConfig) *Dataset {
	if err := cfg.Validate(); err != nil {
		failf("Strokes6180", "%v", err)
	}
	cfg = cfg.withDefaults()
	part := func(name string, n int) Split {
		const plane = strokeSide * strokeSide
		s := Split{Images: make([]uint8, 2*n*plane), Labels: make([]uint8, 2*n)}
		var p pen
		for i := range n {
			six := s.Images[2*i*plane:][:plane]
			p.src.Seed(cfg.Seed, "strokes6 "+name, uint64(i))
			p.six(six)
			turnHalf(s.Images[(2*i+1)*plane:][:plane], six, strokeSide)
			s.Labels[2*i+1] = 1
		}
		return s
	}
	return (&Dataset{
		Name: "strokes6-180", Synthetic: true,
		Channels: 1, Height: strokeSide, Width: strokeSide,
		Classes: 2, ClassNames: []string{"6", "6 turned by 180 degrees"},
		Train:      part("train", cfg.Train),
		Validation: part("validation", cfg.Validation),
		Test:       part("test", cfg.Test),
	}).normalized()
}

const (
	strokeSide     = 28
	strokeSegments = 5  // Bezier curves of one six
	strokeSteps    = 16 // line segments per curve: less than a pixel each
	strokePoints   = strokeSegments*strokeSteps + 1
)

// point is a place or a direction on the paper: x to the right, y downwards.
type point struct{ x, y float64 }

// The products below are converted to float64 before they are added, which
// forbids the compiler to fuse the two: see Strokes6180.

func (p point) addScaled(a float64, q point) point {
	return point{p.x + float64(a*q.x), p.y + float64(a*q.y)}
}

// turned returns p turned by the angle whose half has tangent t.
func (p point) turned(t float64) point {
	tt := float64(t * t)
	cos, sin := (1-tt)/(1+tt), 2*t/(1+tt)
	return point{float64(cos*p.x) - float64(sin*p.y), float64(sin*p.x) + float64(cos*p.y)}
}

// pen draws sixes; its arrays are scratch that every six uses again.
type pen struct {
	src    stream.Stream
	line   [strokePoints]point
	radius [strokePoints]float64 // half of the stroke's width
}

// between returns a number spread evenly over [lo, hi).
func (p *pen) between(lo, hi float64) float64 {
	return lo + float64((hi-lo)*p.src.Float64())
}

// around returns a bell-shaped number with the given mean and standard deviation,
// never more than 3.5 deviations away: the sum of four uniforms.
func (p *pen) around(mean, deviation float64) float64 {
	sum := p.src.Float64() + p.src.Float64() + p.src.Float64() + p.src.Float64()
	return mean + float64(deviation*float64((sum-2)*1.7320508075688772))
}

// six draws one six over all of img [28, 28].
func (p *pen) six(img []uint8) {
	p.path()
	p.frame()
	p.render(img)
}

// path lays the pen's path in a frame of its own: the loop's centre at the
// origin, the height about 1. The pen starts at the top of the stem, comes down
// to the left of the loop, and goes round by its bottom, right and top, back to
// the left.
func (p *pen) path() {
	const quarter = .5523 // Bezier handles of this many radii draw a quarter of a circle

	ry := p.between(.20, .33)
	rx := float64(ry * p.between(.8, 1.25))
	tilt := p.around(0, .09) // of the loop against the stem, as in turned
	roof := p.between(.75, 1.05)
	hang := p.between(-.3, .25) // where on the left side the stem arrives, in ry
	gap := p.around(0, .1)      // how far the end stays short of the stem, or crosses it, in rx
	anchor := [strokeSegments + 1]point{
		{p.between(-.12, .42), ry - 1},
		{-rx, float64(hang * ry)},
		{float64(p.around(0, .12) * rx), ry},
		{rx, float64(p.around(0, .12) * ry)},
		{float64(p.around(0, .15) * rx), float64(-roof * ry)},
		{float64((gap - .95) * rx), float64((hang + p.between(-.2, .3)) * ry)},
	}
	// Directions of travel; handles of one anchor lie on one line, so the stroke
	// has no corners. Lengths are those of the handle before and after.
	heading := [strokeSegments + 1]point{
		{}, // below
		{p.around(0, .12), 1},
		{1, p.around(0, .12)},
		{p.around(0, .12), -1},
		{-1, p.around(.05, .15)},
		{-1, p.between(.3, 1.3)},
	}
	var before, after [strokeSegments + 1]float64
	for i := 1; i <= strokeSegments; i++ {
		anchor[i] = anchor[i].turned(tilt)
		heading[i] = heading[i].turned(tilt)
		across := ry
		if i == 2 || i == 4 {
			across = rx
		}
		before[i] = float64(quarter*across) * p.around(1, .12)
		after[i] = float64(quarter*across) * p.around(1, .12)
	}
	// The stem: from nearly straight (the start heads for the loop) to a bow (it
	// heads to the left first).
	down := point{anchor[1].x - anchor[0].x, anchor[1].y - anchor[0].y}
	bow := p.between(0, 1.1)
	heading[0] = point{down.x - float64(bow*.55), float64(down.y * (1 - float64(.8*bow)))}
	length := math.Sqrt(float64(down.x*down.x) + float64(down.y*down.y))
	after[0] = p.between(.3, .6)
	before[1] = float64(length * p.between(.25, .5))

	for i := range strokeSegments {
		a, d := anchor[i], anchor[i+1]
		b, c := a.addScaled(after[i], heading[i]), d.addScaled(-before[i+1], heading[i+1])
		for j := range strokeSteps {
			p.line[i*strokeSteps+j] = bezier(a, b, c, d, float64(j)/strokeSteps)
		}
	}
	p.line[strokePoints-1] = anchor[strokeSegments]
}

// bezier returns the point t of the cubic Bezier curve with control points a, b,
// c, d, by de Casteljau's algorithm.
func bezier(a, b, c, d point, t float64) point {
	mix := func(a, b point) point { return a.addScaled(t, point{b.x - a.x, b.y - a.y}) }
	ab, bc, cd := mix(a, b), mix(b, c), mix(c, d)
	return mix(mix(ab, bc), mix(bc, cd))
}

// frame gives the path its slant, its turn, its thickness, and its place and
// size on the image, in pixels.
func (p *pen) frame() {
	slant, aspect, turn := p.around(.19, .18), p.between(.82, 1.15), p.around(0, .045)
	for i, q := range p.line {
		q.x = float64(q.x*aspect) - float64(slant*q.y)
		p.line[i] = q.turned(turn)
	}

	// Thickness: a pressure at each anchor, and in between on a straight line.
	nib := max(.7, p.around(1.35, .33))
	var pressure [strokeSegments + 1]float64
	for i := range pressure {
		pressure[i] = float64(nib * max(.5, p.around(1, .13)))
	}
	pressure[0] = float64(pressure[0] * p.between(.6, 1))
	pressure[strokeSegments] = float64(pressure[strokeSegments] * p.between(.5, 1))
	for i := range p.radius {
		k := min(i/strokeSteps, strokeSegments-1)
		t := float64(i-k*strokeSteps) / strokeSteps
		p.radius[i] = pressure[k] + float64(t*(pressure[k+1]-pressure[k]))
	}

	lo, hi := p.line[0], p.line[0]
	for _, q := range p.line {
		lo.x, lo.y = min(lo.x, q.x), min(lo.y, q.y)
		hi.x, hi.y = max(hi.x, q.x), max(hi.y, q.y)
	}
	// MNIST fits its digits into 20 x 20 pixels; the ink reaches nib beyond the path.
	scale := (p.around(19.6, .9) - float64(2*nib)) / max(hi.x-lo.x, hi.y-lo.y)
	const middle = float64(strokeSide-1) / 2
	at := point{p.around(middle, .7), p.around(middle, .7)}
	centre := point{float64(.5 * (lo.x + hi.x)), float64(.5 * (lo.y + hi.y))}
	for i, q := range p.line {
		p.line[i] = at.addScaled(scale, point{q.x - centre.x, q.y - centre.y})
	}
}

// render inks every pixel by how much of it the stroke covers, taking the
// distance of its centre from the stroke's edge for that: the edge is a ramp
// about a pixel wide.
func (p *pen) render(img []uint8) {
	ink, ramp := 255*p.between(.93, 1), p.between(.9, 1.4)
	clear(img)
	for i := range strokePoints - 1 {
		a, b := p.line[i], p.line[i+1]
		ra, rb := p.radius[i], p.radius[i+1]
		reach := max(ra, rb) + ramp
		x0, x1 := pixels(min(a.x, b.x)-reach, max(a.x, b.x)+reach)
		y0, y1 := pixels(min(a.y, b.y)-reach, max(a.y, b.y)+reach)
		d := point{b.x - a.x, b.y - a.y}
		dd := float64(d.x*d.x) + float64(d.y*d.y)
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				v := point{float64(x) - a.x, float64(y) - a.y}
				t := 0.
				if dd > 0 {
					t = min(1, max(0, (float64(v.x*d.x)+float64(v.y*d.y))/dd))
				}
				off := v.addScaled(-t, d)
				distance := math.Sqrt(float64(off.x*off.x) + float64(off.y*off.y))
				inside := ra + float64(t*(rb-ra)) - distance
				cover := min(1, .5+inside/ramp)
				if cover <= 0 {
					continue
				}
				pixel := &img[y*strokeSide+x]
				*pixel = max(*pixel, uint8(float64(ink*cover)+.5))
			}
		}
	}
}

// pixels returns the first and the last pixel of a row or column that lies in
// [lo, hi].
func pixels(lo, hi float64) (first, last int) {
	return int(max(0, math.Ceil(lo))), int(min(strokeSide-1, math.Floor(hi)))
}
