package model

import (
	"math"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// warp makes copies of a batch of images, as elements u of a group move them about the
// centre of the image,
//
//	copy_u(q) = f(zoom u^-1 q)
//
// by bilinear interpolation, f being zero outside the image. It works on the host, as the
// images come from there.
//
// Under Compat the grid of positions reaches from edge to edge of the image where it
// is made and from centre to centre of the outer pixels where it is read, as in the
// published program, so that images are shown smaller by (side-1)/side. Otherwise pixels of
// the identity's copy are those of the image.
type warp struct {
	group                 lie.Group
	channels, side, batch int
	zoom                  float64

	images []float32 // [C, H, W, B]
	copies []float32 // [C, H, W, copies, B], and its gradient on the way back
}

func newWarp(g lie.Group, channels, side, batch int, compat bool) warp {
	w := warp{group: g, channels: channels, side: side, batch: batch, zoom: 1}
	if compat && side > 1 {
		w.zoom = float64(side) / float64(side-1)
	}
	return w
}

// alloc makes room for a batch of images and at most so many copies of each.
func (w *warp) alloc(copies int) {
	size := w.channels * w.side * w.side * w.batch
	w.images, w.copies = make([]float32, size), make([]float32, size*copies)
}

// corners is where the four pixels around a position begin in a plane of images, -1 for one
// that is outside, and their weights: (y, x), (y, x+1), (y+1, x), (y+1, x+1).
type corners struct {
	at     [4]int
	weight [4]float32
	fy, fx float64 // how far the position is beyond the first of them
}

// offset returns pixel p as an offset from the centre.
func (w *warp) offset(p int) [2]float64 {
	centre := float64(w.side-1) / 2
	return [2]float64{float64(p/w.side) - centre, float64(p%w.side) - centre}
}

// corners returns the pixels that the copy of element u shows at pixel p.
func (w *warp) corners(u lie.Element, p int) (t corners) {
	q := w.group.InverseAct(u, w.offset(p))
	centre := float64(w.side-1) / 2
	y, x := centre+float64(w.zoom*q[0]), centre+float64(w.zoom*q[1])
	row, col := math.Floor(y), math.Floor(x)
	t.fy, t.fx = y-row, x-col
	for k := range t.at {
		r, c := row+float64(k/2), col+float64(k%2)
		wy, wx := 1-t.fy, 1-t.fx
		if k/2 == 1 {
			wy = t.fy
		}
		if k%2 == 1 {
			wx = t.fx
		}
		t.at[k] = -1
		if last := float64(w.side - 1); r >= 0 && r <= last && c >= 0 && c <= last { // false for NaN
			t.at[k] = (int(r)*w.side + int(c)) * w.batch
		}
		t.weight[k] = float32(wy * wx)
	}
	return t
}

// forward returns the copies [C, H, W, copies, B] of at most a batch of images
// [B, C, H, W]; copy s is that of element s, and where there are more copies than
// elements these come again from the first one on.
func (w *warp) forward(images []float32, u []lie.Element, copies int) []float32 {
	plane := w.side * w.side
	pixels := w.channels * plane
	live := len(images) / pixels
	for p := range pixels {
		run := w.images[p*w.batch:][:w.batch]
		for b := range live {
			run[b] = images[b*pixels+p]
		}
		clear(run[live:])
	}
	out := w.copies[:pixels*copies*w.batch]
	for s := range copies {
		for p := range plane {
			t := w.corners(u[s%len(u)], p)
			for c := range w.channels {
				to := out[((c*plane+p)*copies+s)*w.batch:][:w.batch]
				clear(to)
				for k, at := range t.at {
					if at >= 0 {
						asm.Axpy(to, t.weight[k], w.images[c*plane*w.batch+at:][:w.batch])
					}
				}
			}
		}
	}
	return out
}

// backward follows forward: given the gradient of the copies it adds to du what it means
// for the elements. Where a position lies on a pixel, it is the slope on one side.
func (w *warp) backward(dev tensor.Device, grad tensor.Buffer, u []lie.Element, du []lie.Vector, copies int) {
	plane, axes := w.side*w.side, w.group.Axes()
	dy := w.copies[:w.channels*plane*copies*w.batch]
	dev.Download(dy, grad)
	for s := range copies {
		e := s % len(u)
		for p := range plane {
			t := w.corners(u[e], p)
			var dot [4]float64 // of the gradient and what each pixel shows
			for c := range w.channels {
				from := dy[((c*plane+p)*copies+s)*w.batch:][:w.batch]
				for k, at := range t.at {
					if at >= 0 {
						dot[k] += float64(asm.Dot(from, w.images[c*plane*w.batch+at:][:w.batch]))
					}
				}
			}
			slope := [2]float64{
				w.zoom * (float64((1-t.fx)*(dot[2]-dot[0])) + float64(t.fx*(dot[3]-dot[1]))),
				w.zoom * (float64((1-t.fy)*(dot[1]-dot[0])) + float64(t.fy*(dot[3]-dot[2]))),
			}
			v := w.group.InverseActGrad(u[e], w.offset(p), slope)
			for i := range axes {
				if axes[i].Continuous() { // a copy is mirrored or not
					du[e][i] += v[i]
				}
			}
		}
	}
}
