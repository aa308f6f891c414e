package model

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// Transformation is a similarity of the plane that keeps the centre of an image: first the
// flip, then the rotation and the scaling, which commute.
type Transformation struct {
	Angle float64 // radians; a positive one turns counter-clockwise as it is seen
	Flip  bool    // from left to right
	Scale float64 // the factor of lengths, above 1 to enlarge; 0: 1
}

// Rotations returns the rotations by n angles that are spread evenly over the circle,
// from 0 on. It panics with *nn.Error for a negative n.
func Rotations(n int) []Transformation {
	if n < 0 {
		panic(&nn.Error{Op: "Rotations", Problem: fmt.Sprintf("%d rotations; 0 or more are needed", n)})
	}
	list := make([]Transformation, n)
	for i := range list {
		list[i].Angle = 2 * math.Pi * float64(i) / float64(n)
	}
	return list
}

// sincos returns sine and cosine of the angle, without rounding where it is a multiple
// of a right angle.
func (t Transformation) sincos() (sin, cos float64) {
	sin, cos = math.Sincos(t.Angle)
	if math.Abs(sin) < 1e-9 || math.Abs(cos) < 1e-9 {
		sin, cos = math.Round(sin), math.Round(cos)
	}
	return sin, cos
}

// scale returns the factor of lengths.
func (t Transformation) scale() float64 {
	if t.Scale == 0 {
		return 1
	}
	return t.Scale
}

// back returns the matrix of the inverse on offsets (row, column).
func (t Transformation) back() [2][2]float64 {
	sin, cos := t.sincos()
	s := t.scale()
	sin, cos = sin/s, cos/s
	m := [2][2]float64{{cos, sin}, {-sin, cos}}
	if t.Flip {
		m[1][0], m[1][1] = -m[1][0], -m[1][1]
	}
	return m
}

// exact reports whether pixels of a square come to lie on pixels.
func (t Transformation) exact() bool {
	sin, cos := t.sincos()
	return t.scale() == 1 && (sin == 0 || cos == 0)
}

// element returns an element of the group that acts on offsets as t does, if there is
// one.
func (t Transformation) element(g lie.Group) (lie.Element, bool) {
	back, square := t.back(), t.scale()*t.scale()
	axes := g.Axes()
	var try func(i int, e lie.Element) (lie.Element, bool)
	try = func(i int, e lie.Element) (lie.Element, bool) {
		if i == len(axes) {
			m := g.Matrix(e)
			for r := range 2 {
				for c := range 2 {
					if math.Abs(m[r][c]-float64(square*back[c][r])) > 1e-9*t.scale() { // the inverse is the transpose over that
						return e, false
					}
				}
			}
			return e, true
		}
		for _, v := range t.coordinates(axes[i]) {
			e[i] = v
			if found, ok := try(i+1, e); ok {
				return found, true
			}
		}
		return e, false
	}
	return try(0, lie.Element{})
}

// coordinates returns what an element that acts as t may have on an axis.
func (t Transformation) coordinates(a lie.Axis) []float64 {
	switch a.Kind {
	case lie.Circle:
		return []float64{0, modulo(-t.Angle, 2*math.Pi), modulo(t.Angle, 2*math.Pi)}
	case lie.Turns: // any, since those of several axes add up to the angle
		list := make([]float64, a.Order)
		for k := range list {
			list[k] = float64(k)
		}
		return list
	case lie.Flip:
		return []float64{0, 1}
	case lie.Line:
		return []float64{0, math.Log(t.scale())}
	}
	return []float64{0}
}

// modulo returns x mod n in [0, n).
func modulo(x, n float64) float64 {
	if x = math.Mod(x, n); x < 0 {
		x += n
	}
	if x >= n { // a negative x too small to show
		return 0
	}
	return x
}

// wrapped returns x modulo a period, within half of it either way of zero. What lies there is left as it is: at the
// lower end, and with closed at the upper one too, but for rounding.
func wrapped(x, period float64, closed bool) float64 {
	if closed && math.Abs(x) <= period*(0.5+1e-9) {
		return x
	}
	return x - float64(period*math.Floor(x/period+0.5+1e-9))
}

// resampling carries planes of h x w pixels to where a transformation moves them, by
// bilinear interpolation.
type resampling struct {
	exact  bool
	pixels []sources
}

// sources are the pixels that one pixel is interpolated from. What is missing to a
// weight of one comes from outside.
type sources struct {
	index   [4]int
	weight  [4]float32
	outside float32
}

func newResampling(t Transformation, h, w int) *resampling {
	back := t.back()
	r := &resampling{exact: t.exact() && (h == w || math.Abs(back[0][0]) == 1), pixels: make([]sources, h*w)}
	cy, cx := float64(h-1)/2, float64(w-1)/2
	for i := range r.pixels {
		y, x := float64(i/w)-cy, float64(i%w)-cx
		sy, sx := cy+float64(back[0][0]*y)+float64(back[0][1]*x), cx+float64(back[1][0]*y)+float64(back[1][1]*x)
		fy, fx := math.Floor(sy), math.Floor(sx)
		s := &r.pixels[i]
		s.outside = 1
		for k := range 4 {
			row, col := int(fy)+k/2, int(fx)+k%2
			weight := float32((1 - math.Abs(sy-float64(row))) * (1 - math.Abs(sx-float64(col))))
			if row < 0 || row >= h || col < 0 || col >= w {
				continue
			}
			s.index[k], s.weight[k] = row*w+col, weight
			s.outside -= weight
		}
	}
	return r
}

// read reports of each pixel of a plane whether another plane's pixel is interpolated from it.
func (r *resampling) read() []bool {
	used := make([]bool, len(r.pixels))
	for i := range r.pixels {
		for k, weight := range r.pixels[i].weight {
			if weight > 0 {
				used[r.pixels[i].index[k]] = true
			}
		}
	}
	return used
}

// apply moves planes [., h, w, inner]; fill says what lies outside a plane.
func (r *resampling) apply(dst, src []float32, inner int, fill func(plane int) float32) {
	size := len(r.pixels) * inner
	for p := 0; p*size < len(src); p++ {
		from, to := src[p*size:][:size], dst[p*size:][:size]
		outside := fill(p)
		for i := range r.pixels {
			s, pixel := &r.pixels[i], to[i*inner:][:inner]
			if r.exact {
				copy(pixel, from[s.index[0]*inner:])
				continue
			}
			for b := range pixel {
				pixel[b] = s.outside * outside
			}
			for k, weight := range s.weight {
				if weight == 0 {
					continue
				}
				for b, v := range from[s.index[k]*inner:][:inner] {
					pixel[b] += float32(weight * v)
				}
			}
		}
	}
}
