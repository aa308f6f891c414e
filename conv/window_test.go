package conv

import (
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/lie"
)

// TestWindowIntegral: of a constant image every element sees the same, whichever its
// size, since the sum over taps stands for an integral over the disc of the kernel.
func TestWindowIntegral(t *testing.T) {
	const side = 41
	for _, g := range []lie.Group{lie.RPlus, lie.Sim2} {
		cfg := Config{Name: "conv", Group: g, In: 1, Out: 2, Side: side, Padding: Valid, Omega0: 1}
		h := newHarness(t, lifting, cfg, sizes{1, 8, side, side, 1}, 1, false)
		line := len(g.Axes()) - 1
		h.u.SetLen(6)
		for i := range h.u.G {
			h.u.G[i] = lie.Element{}
			h.u.G[i][line] = -math.Ln2 * float64(i) / 5 // larger discs do not fit the grid
		}
		for _, p := range h.Parameters() {
			if strings.HasSuffix(p.Name, "bias") { // zero, they make the kernel odd, and the integral zero
				for k := range p.Host {
					p.Host[k] = 0.5 + 0.1*float32(k)
				}
			}
		}
		h.params.Upload()
		h.in.Written(1)
		h.dev.Fill(h.in.Value, 1)
		h.Forward(false)
		y := h.download(h.out.Live())
		for i, v := range y {
			if first := y[i/6*6]; !(math.Abs(float64(v/first-1)) <= 0.03) {
				t.Errorf("%s: factor %.3f gives %v, the whole disc %v", g.Name(), math.Exp(h.u.G[i%6][line]), v, first)
			}
		}
	}
}

// TestDeterminant compares the determinant with that of the group's matrices, and its
// gradient with differences.
func TestDeterminant(t *testing.T) {
	for _, g := range []lie.Group{lie.SE2, lie.E2, lie.RPlus, lie.Sim2, lie.DirectProduct(lie.O2, lie.Scalings(3))} {
		u := lie.Element{}
		for i, a := range g.Axes() {
			if a.Continuous() {
				u[i] = 0.3 + 0.2*float64(i)
			}
		}
		det, slope := determinant(g, u)
		m := g.Matrix(u)
		if want := 1 / math.Abs(m[0][0]*m[1][1]-m[0][1]*m[1][0]); !(math.Abs(det-want) <= 1e-12) {
			t.Errorf("%s: determinant %v, want %v", g.Name(), det, want)
		}
		for i, a := range g.Axes() {
			if !a.Continuous() {
				continue
			}
			const h = 1e-5
			up, down := u, u
			up[i] += h
			down[i] -= h
			high, _ := determinant(g, up)
			low, _ := determinant(g, down)
			if want := math.Log(high/low) / (2 * h); !(math.Abs(slope[i]-want) <= 1e-8) {
				t.Errorf("%s, axis %d: slope %v, by differences %v", g.Name(), i, slope[i], want)
			}
		}
	}
}
