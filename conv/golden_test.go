package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/npz"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// uniforms yields numbers that were drawn before.
type uniforms []float64

func (u *uniforms) Float64() float64 {
	v := (*u)[0]
	*u = (*u)[1:]
	return v
}

// TestGolden compares whole layers with the published implementation: the
// elements, what the kernel network is fed, the rendered kernel with its zeros, the
// output, and all gradients.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file    string
		kind    kind
		padding Padding
		group   lie.Group
	}{
		{"lifting_se2", lifting, Same, lie.SE2},
		{"group_se2_given", groupwise, Same, lie.SE2},
		{"group_se2_valid", groupwise, Valid, lie.SE2},
		{"group_se2_partial", groupwise, Same, lie.SE2},
		{"pointwise_se2", pointwise, Same, lie.SE2},
		{"lifting_se2_perbatch", lifting, Same, lie.SE2},
		{"group_se2_perbatch_partial", groupwise, Same, lie.SE2},
		{"pointwise_se2_perbatch", pointwise, Same, lie.SE2},
		{"lifting_e2", lifting, Same, lie.E2},
		{"group_e2_given", groupwise, Same, lie.E2},
		{"group_e2_valid", groupwise, Valid, lie.E2},
		{"group_e2_partial", groupwise, Same, lie.E2},
		{"group_e2_partial_noreflect", groupwise, Same, lie.E2},
		{"pointwise_e2", pointwise, Same, lie.E2},
		{"lifting_se2_magnet", lifting, Same, lie.SE2},
		{"group_se2_given_magnet", groupwise, Same, lie.SE2},
		{"group_se2_partial_magnet", groupwise, Same, lie.SE2},
		{"pointwise_se2_magnet", pointwise, Same, lie.SE2},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := golden.Open(t, c.file+".npz")
			algorithms := []Algorithm{Taps, LowRank}
			if _, shape := golden.Float64(t, file, "g_out"); len(shape) > 1 && shape[0] > 1 {
				algorithms = []Algorithm{Auto} // a list for each image
			}
			for _, a := range algorithms {
				t.Run(fmt.Sprintf("algorithm=%s", a), func(t *testing.T) {
					asmtest.EachLevel(t, func(t *testing.T) { compareGolden(t, file, c.group, c.kind, c.padding, a) })
				})
			}
		})
	}
}

func compareGolden(t *testing.T, file npz.Archive, g lie.Group, k kind, padding Padding, a Algorithm) {
	x, xShape := golden.Float32(t, file, "x")
	_, yShape := golden.Float32(t, file, "y")
	_, kShape := golden.Float32(t, file, "conv_kernel")
	net, first := SIREN, "p.kernelnet.kernel_net.0.weight"
	if !file.Has(first) {
		net, first = MAGNet, "p.kernelnet.linear.0.weight"
	}
	_, wShape := golden.Float32(t, file, first)
	batch, side := xShape[0], kShape[len(kShape)-1]
	cfg := Config{
		Name: "conv", Group: g, In: xShape[1], Out: yShape[1], Side: side, Padding: padding, Bias: k != pointwise,
		KernelNet: net, Hidden: wShape[0], InputGrad: true, Compat: true, Algorithm: a,
	}
	if k == pointwise {
		cfg.Hidden *= 2 // of which it takes half
	}
	z := sizes{1, yShape[2], xShape[len(xShape)-1], xShape[len(xShape)-1], batch}
	if k != lifting {
		z.maxIn = xShape[2]
	}

	// The elements: given, or drawn from the learned distribution. A partial layer
	// draws fewer than it was planned for, and E(2) has no list that is planned for 3.
	partial := file.Has("u00")
	if partial || g == lie.E2 {
		z.maxOut = 4
	}
	lists := 1
	if _, shape := golden.Float64(t, file, "g_out"); len(shape) > 1 {
		lists = shape[0]
	}
	h := newListsHarness(t, k, cfg, z, 2, false, lists)
	for _, p := range h.Parameters() {
		if p.Trained() {
			values, shape := golden.Float32(t, file, "p."+p.Name[len("conv."):])
			if fmt.Sprint(shape) != fmt.Sprint(p.Shape) {
				t.Fatalf("%s has shape %v, in the file %v", p.Name, p.Shape, shape)
			}
			copy(p.Host, values)
		}
	}
	h.params.Upload()
	if k != lifting {
		set(t, h.v, file, "g_in")
	}
	var sampler *gumbel.Distribution
	var probs nn.Parameters
	if partial {
		var err error
		sampler, err = gumbel.New(gumbel.Config{Group: g, Max: 4, Partial: true, Compat: true, Name: "probs"})
		if err != nil {
			t.Fatal(err)
		}
		probs.Add(sampler.Parameters()...)
		values, _ := golden.Float32(t, file, "p.probs")
		copy(probs.All()[0].Host, values)
		if err := probs.Bind(h.dev); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(probs.Release)
		sampler.Bind(h.dev)
		var source uniforms
		for i := 0; file.Has(fmt.Sprintf("u%02d", i)); i++ {
			u, _ := golden.Float64(t, file, fmt.Sprintf("u%02d", i))
			source = append(source, u...)
		}
		sampler.Draw(h.u, &source, true)
		want, _ := golden.Float64(t, file, "g_out")
		var got []float64
		for _, a := range h.u.G {
			got = append(got, a[0])
			if g == lie.E2 {
				got = append(got, 1-2*a[1])
			}
		}
		golden.Close(t, "drawn elements", got, want, 1e-7, 0)
	} else {
		set(t, h.u, file, "g_out")
	}
	nIn, nOut := z.maxIn, h.u.Len()

	// [B, C, n...] to [C, n..., B].
	h.in.Written(nIn)
	h.dev.Upload(h.in.Value, batchInnermost(h.dev, x, batch))
	h.Forward(true)
	var kernel []float32
	if h.factored == nil {
		kernel = h.download(h.Kernel())
	}
	y, _ := golden.Float64(t, file, "y")
	closeTo(t, "y", batchOutermost(h.dev, h.download(h.out.Live()), batch), y, 1e-5)

	dy, _ := golden.Float32(t, file, "grad_y")
	h.dev.Upload(h.out.Grad, batchInnermost(h.dev, dy, batch))
	h.out.Accumulate()
	h.Backward()
	dx, _ := golden.Float64(t, file, "grad_x")
	closeTo(t, "dx", batchOutermost(h.dev, h.download(h.in.LiveGrad()), batch), dx, 1e-4)
	for _, p := range h.Parameters() {
		if p.Trained() {
			want, _ := golden.Float64(t, file, "g."+p.Name[len("conv."):])
			closeTo(t, p.Name, h.download(p.Grad), want, 1e-4)
		}
	}
	if partial {
		sampler.Backward(h.u)
		want, _ := golden.Float64(t, file, "g.probs")
		got := h.download(probs.All()[0].Grad)
		if g != lie.E2 {
			closeTo(t, "probs", got, want, 1e-4)
		} else {
			terms := 0.0 // in group_e2_partial_noreflect they cancel to a thousandth
			for _, d := range h.u.Grad {
				terms += math.Pi * math.Abs(d[0])
			}
			golden.Close(t, "probs", got, want, 1e-4, 4e-6*terms)
		}
	}

	if h.factored == nil {
		compareKernel(t, file, h, kernel, nIn, nOut)
	}
	if file.Has("kernelnet_input") {
		compareCoordinates(t, file, h, nIn, nOut)
	}
}

// compareKernel compares the kernel [(o,c), (i,j,t)] as [i, o, c, j, k, k] with
// its zeros.
func compareKernel(t *testing.T, file npz.Archive, h *harness, kernel []float32, nIn, nOut int) {
	t.Helper()
	cfg, side := h.cfg, h.cfg.Side
	want, _ := golden.Float64(t, file, "conv_kernel")
	got := make([]float64, len(want))
	taps := h.Taps()
	for o := range cfg.Out {
		for c := range cfg.In {
			for i := range nOut {
				for j := range nIn {
					for n, tap := range taps {
						at := (((i*cfg.Out+o)*cfg.In+c)*nIn+j)*side*side + (tap.Row+side/2)*side + tap.Col + side/2
						got[at] = float64(kernel[((o*cfg.In+c)*nOut*nIn+i*nIn+j)*len(taps)+n])
					}
				}
			}
		}
	}
	closeTo(t, "kernel", got, want, 1e-5)
	for i := range want {
		if (want[i] == 0) != (got[i] == 0) {
			t.Fatalf("kernel value %d is %v, in the file %v: the mask differs", i, got[i], want[i])
		}
	}
}

// compareCoordinates compares what the network is fed, [(s,i), rows, j, k, k], at
// the live taps.
func compareCoordinates(t *testing.T, file npz.Archive, h *harness, nIn, nOut int) {
	t.Helper()
	side, taps := h.cfg.Side, h.Taps()
	fed, shape := golden.Float64(t, file, "kernelnet_input")
	rows := shape[1]
	have := h.download(h.x)
	if rows != h.coords.rows() {
		t.Fatalf("%d coordinates, in the file %d", h.coords.rows(), rows)
	}
	for i := range h.u.Lists() * nOut {
		for r := range rows {
			for j := range nIn {
				for n, tap := range taps {
					w := fed[((i*rows+r)*nIn+j)*side*side+(tap.Row+side/2)*side+tap.Col+side/2]
					g := have[r*h.positions+(i*nIn+j)*len(taps)+n]
					if !(math.Abs(float64(g)-w) <= 1.2e-7) {
						t.Fatalf("coordinate %d of (%d, %d, tap %d) is %v, in the file %v", r, i, j, n, g, w)
					}
				}
			}
		}
	}
}

func set(t *testing.T, e *gumbel.Elements, file npz.Archive, name string) {
	t.Helper()
	values, _ := golden.Float64(t, file, name) // angles, or pairs of an angle and a sign
	axes := len(e.Group.Axes())
	e.SetLen(len(values) / axes / e.Lists())
	for i := range e.G {
		e.G[i] = lie.Element{values[axes*i]}
		if axes == 2 {
			e.G[i][1] = (1 - values[2*i+1]) / 2
		}
	}
}

// closeTo compares element by element and by norm, relative to the array.
func closeTo[G float32 | float64](t *testing.T, what string, got []G, want []float64, tolerance float64) {
	t.Helper()
	golden.Close(t, what, got, want, tolerance, tolerance*golden.MaxAbs(want))
	diff, size := 0.0, 0.0
	for i := range want {
		diff += (float64(got[i]) - want[i]) * (float64(got[i]) - want[i])
		size += want[i] * want[i]
	}
	if !(math.Sqrt(diff) <= tolerance*math.Sqrt(size)) {
		t.Errorf("%s: off by %.3g of its norm, allowed %g", what, math.Sqrt(diff/size), tolerance)
	}
}

func batchInnermost(dev *tensor.CPU, x []float32, b int) []float32 {
	y := make([]float32, len(x))
	dev.BatchInnermost(tensor.HostBuffer(y), tensor.HostBuffer(x), b, len(x)/b)
	return y
}

func batchOutermost(dev *tensor.CPU, x []float32, b int) []float32 {
	y := make([]float32, len(x))
	dev.BatchOutermost(tensor.HostBuffer(y), tensor.HostBuffer(x), len(x)/b, b)
	return y
}
