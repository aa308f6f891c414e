package siren

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/tensor"
)

// TestGolden compares values and all gradients with the published
// implementation.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file string
		cfg  any
	}{
		{"siren_1d_in1", Config{In: 1, Hidden: 16, Out: 12, Dims: 1}},
		{"siren_2d_in2", Config{In: 2, Hidden: 16, Out: 12, Dims: 2}},
		{"siren_3d_in3", Config{In: 3, Hidden: 32, Out: 24, Dims: 3}},
		{"siren_3d_in3_learnomega", Config{In: 3, Hidden: 16, Out: 12, Dims: 3, LearnOmega: true}},
		{"siren_3d_in3_weightnorm", Config{In: 3, Hidden: 16, Out: 12, Dims: 3, WeightNorm: true, Compat: true}},
		{"siren_3d_in4", Config{In: 4, Hidden: 32, Out: 24, Dims: 3}},
		{"magnet_3d_in3", FiltersConfig{Filter: MAGNet, In: 3, Hidden: 16, Out: 12, Dims: 3}},
		{"gabornet_3d_in3", FiltersConfig{Filter: Gabor, In: 3, Hidden: 16, Out: 12, Dims: 3}},
		{"fouriernet_3d_in3", FiltersConfig{Filter: Fourier, In: 3, Hidden: 16, Out: 12, Dims: 3}},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := golden.Open(t, c.file+".npz")
			asmtest.EachLevel(t, func(t *testing.T) {
				eachDevice(t, c.cfg, 1, func(t *testing.T, dev tensor.Device) {
					n := build(t, "", c.cfg, 1)
					for _, p := range n.Parameters() {
						if !p.Trained() {
							continue
						}
						values, shape := golden.Float32(t, file, "p."+p.Name)
						if fmt.Sprint(shape) != fmt.Sprint(p.Shape) {
							t.Fatalf("%s has shape %v, in the file %v", p.Name, p.Shape, shape)
						}
						copy(p.Host, values)
					}
					for _, name := range file.Names() {
						if p, ok := strings.CutPrefix(name, "p."); ok {
							found := false
							for _, have := range n.Parameters() {
								found = found || have.Name == p
							}
							if !found {
								t.Errorf("the file has a parameter %s, the network has not", p)
							}
						}
					}
					x, shape := golden.Float32(t, file, "x")
					x, p := innermost(x, shape)
					h := newHarnessOn(t, dev, n, p, false)
					h.dev.Upload(h.x, x)
					check(t, "y", h.download(h.eval(h.x, p)), file, "y", "y_f64", 1e-5)

					dy, shape := golden.Float32(t, file, "grad_y")
					dy, _ = innermost(dy, shape)
					h.dev.Upload(h.dy, dy)
					n.Backward(h.dy, h.dx)
					check(t, "dx", h.download(h.dx), file, "grad_x", "grad_x_f64", 1e-4)
					for _, p := range n.Parameters() {
						if p.Trained() {
							check(t, p.Name, h.download(p.Grad), file, "g."+p.Name, "g64."+p.Name, 1e-4)
						}
					}
				})
			})
		})
	}
}

// innermost turns [B, C, ...] into [C, P] with P = B*..., and returns P.
func innermost[T any](x []T, shape []int) ([]T, int) {
	b, c := shape[0], shape[1]
	space := len(x) / (b * c)
	y := make([]T, 0, len(x))
	for j := range c {
		for i := range b {
			at := (i*c + j) * space
			y = append(y, x[at:at+space]...)
		}
	}
	return y, b * space
}

type archive interface {
	Float64(name string) ([]float64, []int, error)
}

// check compares got with the file's arrays (float32 and float64 evaluations),
// element by element and by norm, both relative to the array.
func check(t *testing.T, what string, got []float32, file archive, names ...any) {
	t.Helper()
	tolerance := names[len(names)-1].(float64)
	for _, name := range names[:len(names)-1] {
		want, shape, err := file.Float64(name.(string))
		if err != nil {
			t.Fatal(err)
		}
		if what == "y" || what == "dx" {
			want, _ = innermost(want, shape)
		}
		golden.Close(t, fmt.Sprintf("%s against %s", what, name), got, want, tolerance, tolerance*golden.MaxAbs(want))
		diff, size := 0.0, 0.0
		for i := range want {
			diff += (float64(got[i]) - want[i]) * (float64(got[i]) - want[i])
			size += want[i] * want[i]
		}
		if !(math.Sqrt(diff) <= tolerance*math.Sqrt(size)) {
			t.Errorf("%s: off by %.3g of the norm of %s, allowed %g", what, math.Sqrt(diff/size), name, tolerance)
		}
	}
}
