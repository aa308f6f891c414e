package conv

import (
	"math"

	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/tensor"
)

// window is what a group that changes lengths needs besides the taps: for element u the
// disc of the kernel is that of the points u^-1 q, and an area of the plane is larger
// than that of the disc by |det u|. Each value of the kernel is multiplied by
//
//	w(u, q) = |det u^-1| if |u^-1 q| <= 1, else 0
//
// so that the sum over taps stands for an integral over the disc, whichever its size
// (Bekkers 2020, section 3.2). Where the disc is larger than the grid, the grid cuts it
// off. A layer on a group that keeps lengths has none: its taps are the disc, and |det u|
// is 1.
//
// The gradient goes through |det u^-1| and the kernel; where the disc's border passes a
// tap, it sees nothing.
type window struct {
	group lie.Group
	host  []float32
	tile  tensor.Buffer // [positions], the weights at the last Render
}

// ChangesLengths reports whether a group scales the plane. Its layers then have one list
// of elements for all images, and no penalty of norms: the kernel's disc is another one for each element.
func ChangesLengths(g lie.Group) bool {
	for _, a := range g.Axes() {
		if a.Kind == lie.Line {
			return true
		}
	}
	return false
}

// determinant returns the determinant of the action of u^-1 on the plane, and the
// gradient of its logarithm.
func determinant(g lie.Group, u lie.Element) (det float64, slope lie.Vector) {
	e1, e2 := [2]float64{1, 0}, [2]float64{0, 1}
	a, b := g.InverseAct(u, e1), g.InverseAct(u, e2)
	det = float64(a[0]*b[1]) - float64(a[1]*b[0])
	d1 := g.InverseActGrad(u, e1, [2]float64{b[1], -b[0]})
	d2 := g.InverseActGrad(u, e2, [2]float64{-a[1], a[0]})
	for i := range slope {
		slope[i] = (d1[i] + d2[i]) / det
	}
	return math.Abs(det), slope
}

// write fills in the weights at output elements u of positions (i, j, t), for so many
// input elements.
func (w *window) write(to []float32, u []lie.Element, nIn int, taps []Tap) {
	n := len(taps)
	for i, ui := range u {
		det, _ := determinant(w.group, ui)
		for t, tap := range taps {
			q := w.group.InverseAct(ui, tap.Q)
			v := float32(0)
			if math.Hypot(q[0], q[1]) <= 1+1e-9 { // a radius of one, whatever its rounding
				v = float32(det)
			}
			for k := i*nIn*n + t; k < (i+1)*nIn*n; k += n {
				to[k] = v
			}
		}
	}
}

// multiply multiplies values of positions by the weights at the last Render, if there is a window.
func (w *window) multiply(x []float32) {
	if w == nil {
		return
	}
	for i, v := range w.host[:len(x)] {
		x[i] *= v
	}
}

// planWindow reserves the window of a layer whose kernel has so many positions at most,
// and returns nothing for one that needs none.
func (l *layer) planWindow(arena *tensor.Arena, positions int) *window {
	if !l.windowed {
		return nil
	}
	w := &window{group: l.cfg.Group}
	arena.Reserve(&w.tile, positions)
	return w
}

// addGrad adds the gradient of output element u, given that of log|det u^-1|.
func (w *window) addGrad(to *lie.Vector, u lie.Element, grad float64) {
	_, slope := determinant(w.group, u)
	for d := range slope {
		to[d] += float64(grad * slope[d])
	}
}
