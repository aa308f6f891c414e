package conv

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// gradientCase is a layer with some of its elements live.
type gradientCase struct {
	kind      kind
	cfg       Config
	z         sizes
	nIn, nOut int
}

var scaledReflections = lie.DirectProduct(lie.RPlus, lie.O2)

var gradientCases = []gradientCase{
	{lifting, Config{In: 1, Out: 2, Side: 5, Bias: true}, sizes{1, 3, 6, 5, 2}, 1, 3},
	{lifting, Config{In: 3, Out: 2, Side: 3}, sizes{1, 4, 4, 4, 17}, 1, 2},
	{lifting, Config{In: 2, Out: 2, Side: 3, Padding: Valid, Bias: true}, sizes{1, 2, 4, 5, 3}, 1, 2},
	{lifting, Config{In: 2, Out: 2, Side: 3, Group: lie.T2}, sizes{1, 1, 4, 4, 3}, 1, 1},
	{groupwise, Config{In: 2, Out: 3, Side: 3, Bias: true}, sizes{3, 4, 5, 4, 2}, 2, 3},
	{groupwise, Config{In: 3, Out: 2, Side: 5, Layers: 4}, sizes{3, 2, 4, 3, 17}, 3, 2},
	{groupwise, Config{In: 3, Out: 4, Side: 3, Bias: true}, sizes{3, 2, 4, 3, 16}, 3, 1},
	{groupwise, Config{In: 2, Out: 2, Side: 3, Padding: Valid, Bias: true}, sizes{2, 2, 3, 3, 5}, 2, 2},
	{groupwise, Config{In: 2, Out: 2, Side: 1, Bias: true}, sizes{2, 3, 3, 3, 2}, 2, 3},
	{groupwise, Config{In: 2, Out: 2, Side: 7}, sizes{1, 1, 3, 2, 1}, 1, 1},
	{groupwise, Config{In: 2, Out: 2, Side: 3, Group: lie.T2, Bias: true}, sizes{1, 1, 4, 4, 2}, 1, 1},
	{pointwise, Config{In: 2, Out: 3}, sizes{3, 4, 3, 4, 2}, 3, 2},
	{pointwise, Config{In: 3, Out: 4}, sizes{4, 4, 2, 2, 16}, 3, 4},
	{lifting, Config{In: 2, Out: 3, Side: 5, Group: lie.RPlus, Bias: true}, sizes{1, 4, 6, 5, 3}, 1, 3},
	{groupwise, Config{In: 2, Out: 3, Side: 5, Group: lie.RPlus, Bias: true}, sizes{4, 3, 6, 5, 3}, 3, 2},
	{groupwise, Config{In: 3, Out: 2, Side: 3, Group: lie.Scalings(1.25), Padding: Valid}, sizes{2, 2, 4, 4, 17}, 2, 2},
	{pointwise, Config{In: 2, Out: 3, Group: lie.RPlus}, sizes{3, 4, 3, 4, 2}, 3, 2},
	{depthwise, Config{Out: 2, Side: 5, Bias: true}, sizes{3, 3, 6, 5, 2}, 3, 3},
	{depthwise, Config{Out: 3, Side: 3, Padding: Valid}, sizes{4, 4, 4, 5, 17}, 2, 2},
	{depthwise, Config{Out: 3, Side: 7, Group: lie.T2, Bias: true}, sizes{1, 1, 3, 2, 3}, 1, 1},
	{depthwise, Config{Out: 2, Side: 5, Group: lie.RPlus, Bias: true}, sizes{4, 4, 6, 5, 3}, 3, 3},
	{lifting, Config{In: 2, Out: 2, Side: 5, Group: lie.Sim2, Bias: true}, sizes{1, 4, 5, 4, 2}, 1, 3},
	{groupwise, Config{In: 2, Out: 2, Side: 3, Group: lie.Sim2, Bias: true}, sizes{4, 4, 4, 3, 2}, 2, 3},
	{pointwise, Config{In: 2, Out: 3, Group: lie.Sim2}, sizes{4, 4, 3, 2, 2}, 3, 2},
	{depthwise, Config{Out: 2, Side: 5, Group: lie.Sim2, Bias: true}, sizes{4, 4, 5, 4, 2}, 3, 3},
	{lifting, Config{In: 2, Out: 2, Side: 3, Group: lie.E2, Bias: true}, sizes{1, 4, 4, 3, 2}, 1, 4},
	{groupwise, Config{In: 2, Out: 2, Side: 3, Group: lie.E2, Bias: true}, sizes{4, 4, 4, 3, 2}, 3, 4},
	{pointwise, Config{In: 2, Out: 3, Group: lie.E2}, sizes{4, 4, 3, 2, 2}, 3, 2},
	{depthwise, Config{Out: 2, Side: 3, Group: lie.E2, Bias: true}, sizes{4, 4, 4, 3, 2}, 3, 3},
	{lifting, Config{In: 2, Out: 2, Side: 5, Group: scaledReflections, Bias: true}, sizes{1, 4, 5, 4, 2}, 1, 2},
	{groupwise, Config{In: 2, Out: 2, Side: 3, Group: scaledReflections, Bias: true}, sizes{4, 4, 4, 3, 2}, 2, 3},
	{pointwise, Config{In: 2, Out: 3, Group: scaledReflections}, sizes{4, 4, 3, 2, 2}, 3, 2},
	{depthwise, Config{Out: 2, Side: 5, Group: scaledReflections, Bias: true}, sizes{4, 4, 5, 4, 2}, 3, 3},
}

// TestGradients compares every gradient of every kind of layer (input, bias,
// kernel network, elements of both lists) with float64 differences of the
// layer's definition, and the values with the definition itself. It runs at the
// active level; TestPasses and TestGolden run at all.
func TestGradients(t *testing.T) {
	for i, c := range gradientCases {
		c.cfg.Name, c.cfg.InputGrad = "conv", true
		c.cfg.Hidden, c.cfg.Omega0 = 12, 4
		for m, mode := range []struct {
			algorithm Algorithm
			lists     int
		}{{Taps, 1}, {LowRank, 1}, {Frequency, 1}, {Auto, c.z.b}} {
			if testing.Short() && (i+m)%2 > 0 {
				continue // slow under qemu and the race detector
			}
			if mode.algorithm == Frequency && (c.kind == pointwise || c.cfg.Side == 1) || c.kind == depthwise && mode.algorithm != Taps && mode.lists == 1 {
				continue
			}
			if c.cfg.Group != nil && ChangesLengths(c.cfg.Group) && mode.lists > 1 && c.kind != pointwise {
				continue // TestMisuse
			}
			c.cfg.Algorithm = mode.algorithm
			t.Run(fmt.Sprintf("%d-%v/algorithm=%s/lists=%d", i, c.kind, mode.algorithm, mode.lists), func(t *testing.T) {
				h := newListsHarness(t, c.kind, c.cfg, c.z, 2, false, mode.lists)
				src := stream.New(uint64(i), "test", 0)
				h.place(src, c.nIn, c.nOut)
				h.drawBias(src)
				h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), uint64(i)))
				h.checkGradients(t, c.cfg.Out*c.nOut*h.out.H*h.out.W*h.out.B)
				h.checkValues(t)
			})
		}
	}
}

// drawBias draws the bias, which starts at zero.
func (h *harness) drawBias(src *stream.Stream) {
	for _, p := range h.Parameters() {
		if strings.HasSuffix(p.Name, "bias") {
			for k := range p.Host {
				p.Host[k] = float32(0.2 * src.Normal())
			}
		}
	}
	h.params.Upload()
}

// trained returns the values of the parameters that are trained.
func (h *harness) trained() (values [][]float64) {
	for _, p := range h.Parameters() {
		if p.Trained() {
			values = append(values, widen(h.download(p.Value)))
		}
	}
	return values
}

// checkGradients compares the gradients of a projection of the output, of so many values, with differences of
// the definition.
func (h *harness) checkGradients(t *testing.T, size int) {
	t.Helper()
	trained := len(h.trained())
	moves := []gradcheck.Variable{elements("elements 0", h.cfg.Group, h.u)}
	if h.v != nil {
		moves = append(moves, elements("elements 1", h.cfg.Group, h.v))
	}
	proj := gradcheck.NewProjection(h.dev, size, 3)
	gradcheck.Run(t, gradcheck.Case{
		Device: h.dev, Params: h.Parameters(), Inputs: []*nn.Map{h.in}, Variables: moves,
		Loss: func() float64 {
			h.Forward(true)
			return proj.Loss(h.out.Live())
		},
		Backward: func() { proj.Seed(h.out); h.Backward() },
		Reference: func(x [][]float64) float64 {
			u := moved(h.cfg.Group, h.u.G, x[trained+1])
			var v []lie.Element
			if h.v != nil {
				v = moved(h.cfg.Group, h.v.G, x[trained+2])
			}
			return proj.Of(h.listsReference(x[:trained], x[trained], u, v))
		},
		Step: 1.0 / 256, Elements: 2,
		Tolerance: 3e-2, // of single precision differences; the float64 ones decide
	})
}

// checkValues compares the output with the definition.
func (h *harness) checkValues(t *testing.T) {
	t.Helper()
	values := h.trained()
	var v []lie.Element
	if h.v != nil {
		v = h.v.G
	}
	h.Forward(true)
	want := h.listsReference(values, widen(h.download(h.in.Live())), h.u.G, v)
	got := h.download(h.out.Live())
	peak := 0.0
	for _, w := range want {
		peak = max(peak, math.Abs(w))
	}
	for k := range want {
		if !(math.Abs(float64(got[k])-want[k]) <= 1e-5*peak) {
			t.Fatalf("value %d is %v, in float64 %v", k, got[k], want[k])
		}
	}
}

// elements is a list of elements as a variable whose gradient is added to: of each its
// coordinates on the axes that it moves along. The gradient must stay zero where there is
// no Lie algebra.
func elements(name string, g lie.Group, e *gumbel.Elements) gradcheck.Variable {
	axes := moving(g)
	v := gradcheck.Variable{
		Name: name,
		Step: 1.0 / 256,
		Set:  func(x []float64) { copy(e.G, moved(g, e.G, x)) },
		Zero: func() { clear(e.Grad) },
		Grad: func(to []float64) {
			for k := range to {
				to[k] = e.Grad[k/len(axes)][axes[k%len(axes)]]
			}
		},
		Adds: true,
	}
	for _, u := range e.G {
		for _, axis := range axes {
			v.Base = append(v.Base, u[axis])
		}
	}
	return v
}

// moving returns the axes that elements of a group move along: the continuous ones, or the
// first where there is none.
func moving(g lie.Group) []int {
	var axes []int
	for i, axis := range g.Axes() {
		if axis.Continuous() {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return []int{0}
	}
	return axes
}

// moved returns elements of a group with x for their coordinates on the axes that they
// move along.
func moved(g lie.Group, list []lie.Element, x []float64) []lie.Element {
	axes := moving(g)
	list = slices.Clone(list)
	for k, value := range x {
		list[k/len(axes)][axes[k%len(axes)]] = value
	}
	return list
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// TestKernelNets wants all kinds of kernel networks to give a layer the same step by
// rendered kernels, by their features, and with a list of elements for each image
// where the lists are equal.
func TestKernelNets(t *testing.T) {
	for _, net := range kernelNets {
		for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
			t.Run(fmt.Sprintf("net=%s/%v", net, k), func(t *testing.T) {
				const b = 16
				cfg := Config{Name: "conv", In: 4, Out: 5, Side: 5, Bias: true, InputGrad: true, KernelNet: net}
				if net == MLP {
					cfg.Activation, cfg.Norm = siren.Swish, siren.LayerNorm
				}
				var want []float32
				for _, mode := range []struct {
					algorithm Algorithm
					lists     int
				}{{Taps, 1}, {LowRank, 1}, {Auto, b}} {
					cfg.Algorithm = mode.algorithm
					h := newListsHarness(t, k, cfg, sizes{3, 4, 9, 8, b}, 2, false, mode.lists)
					for i := range h.u.G {
						h.u.G[i] = lie.Element{0.3 + 1.1*float64(i%h.u.Len())}
					}
					if h.v != nil {
						for i := range h.v.G {
							h.v.G[i] = lie.Element{0.2 + 0.9*float64(i%h.v.Len())}
						}
						h.in.Written(h.v.Len())
					}
					got := h.step()
					got = got[:len(got)-len(h.u.Grad)]
					moved := make([]float32, h.u.Len()) // of all images together
					for i, g := range h.u.Grad {
						moved[i%len(moved)] += float32(g[0])
					}
					got = append(got, moved...)
					if want == nil {
						want = got
						continue
					}
					diff, size := 0.0, 0.0
					for i, w := range want {
						d := float64(got[i]) - float64(w)
						diff, size = diff+d*d, size+float64(w)*float64(w)
					}
					if !(math.Sqrt(diff) <= 1e-5*math.Sqrt(size)) || size == 0 || len(got) != len(want) {
						t.Errorf("%v: off by %.2g of the norm", mode, math.Sqrt(diff/size))
					}
				}
			})
		}
	}
}

// TestEquivariance turns the image by 90 degrees counter-clockwise: a layer whose
// elements are the grid of four must give the same maps, turned, and moved by one
// place along the group: out'(theta) = turn(out(theta + pi/2)). A group layer's
// input moves in the same way.
func TestEquivariance(t *testing.T) {
	const side, n, b = 9, 4, 3
	for _, padding := range []Padding{Same, Valid} {
		for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
			t.Run(fmt.Sprintf("%v-%v", k, padding), func(t *testing.T) {
				cfg := Config{Name: "conv", In: 3, Out: 4, Side: 5, Padding: padding, Bias: true}
				h := newHarness(t, k, cfg, sizes{n, n, side, side, b}, 1, false)
				if h.bias != nil {
					h.dev.Upload(h.bias.Value, []float32{1, -2, 3, .5})
				}
				x := gradcheck.Normal(h.in.Size(), 5)
				run := func(x []float32) []float32 {
					h.in.Written(h.in.MaxN)
					h.dev.Upload(h.in.Value, x)
					h.Forward(false)
					return h.download(h.out.Live())
				}
				plain := run(x)
				turned := run(turn(x, h.in.C, h.in.MaxN, side, b))
				want := turn(plain, cfg.Out, n, h.out.H, b)
				worst, peak := 0.0, 0.0
				for i := range want {
					worst = max(worst, math.Abs(float64(want[i]-turned[i])))
					peak = max(peak, math.Abs(float64(want[i])))
				}
				if !(worst <= 2e-6*peak) {
					t.Errorf("off by %v of %v", worst, peak)
				}
				if same := maxDiff(plain, want); same < 0.1*peak {
					t.Error("the map is symmetric itself: the test shows nothing")
				}
			})
		}
	}
}

// turn turns every plane of x [c, n, side, side, b] by 90 degrees
// counter-clockwise and moves the group elements by one: element i of the result
// is element i+1 of x.
func turn(x []float32, c, n, side, b int) []float32 {
	y := make([]float32, len(x))
	for ch := range c {
		for i := range n {
			for row := range side {
				for col := range side {
					from := (((ch*n+(i+1)%n)*side+col)*side + side - 1 - row) * b
					copy(y[(((ch*n+i)*side+row)*side+col)*b:][:b], x[from:])
				}
			}
		}
	}
	return y
}

func maxDiff(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

// TestThreads wants the same bits from one and from two threads, in everything
// that a step computes.
func TestThreads(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
			for _, c := range []struct {
				algorithm         Algorithm
				in, out, b, lists int
			}{
				{Taps, 4, 5, 3, 1}, {Taps, 16, 7, 3, 1}, {Taps, 4, 5, 16, 1},
				{LowRank, 4, 5, 3, 1}, {LowRank, 4, 5, 16, 1}, {Auto, 4, 5, 19, 19},
				{Frequency, 4, 5, 3, 1}, {Frequency, 11, 8, 32, 1},
			} {
				if c.algorithm == Frequency && k == pointwise {
					continue
				}
				b := c.b
				cfg := Config{Name: "conv", In: c.in, Out: c.out, Side: 5, Bias: true, InputGrad: true, Algorithm: c.algorithm}
				var bits [2][]float32
				for i := range bits {
					h := newListsHarness(t, k, cfg, sizes{3, 4, 9, 8, b}, i+1, false, c.lists)
					if k != lifting {
						h.place(stream.New(1, "elements", 0), 3, 4)
					}
					bits[i] = h.step()
				}
				for i := range bits[0] {
					if math.Float32bits(bits[0][i]) != math.Float32bits(bits[1][i]) {
						t.Fatalf("%v, %v: value %d is %v with one thread, %v with two", k, c, i, bits[0][i], bits[1][i])
					}
				}
			}
		}
	})
}

// step runs one step on fixed numbers and returns all that it computed.
func (h *harness) step() []float32 {
	h.in.Written(h.in.N)
	h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), 1))
	h.Forward(true)
	h.dev.Upload(h.out.Grad, gradcheck.Normal(h.out.Size(), 2))
	h.out.Accumulate()
	h.Backward()
	all := h.download(h.out.Live())
	all = append(all, h.download(h.in.LiveGrad())...)
	_, g := h.params.Class(nn.Weight)
	all = append(all, h.download(g)...)
	for _, v := range h.u.Grad {
		all = append(all, float32(v[0]))
	}
	return all
}

// TestPlannedLarger wants a layer planned for more elements to give the results of
// one planned for the live ones.
func TestPlannedLarger(t *testing.T) {
	for _, c := range []struct {
		kind
		Algorithm
	}{{groupwise, Taps}, {groupwise, Frequency}, {groupwise, LowRank}, {pointwise, Auto}, {depthwise, Auto}} {
		for _, n := range [][2]int{{3, 4}, {1, 1}, {2, 4}} {
			cfg := Config{Name: "conv", In: 4, Out: 5, Side: 3, Bias: true, Algorithm: c.Algorithm}
			var bits [2][]float32
			for i := range bits {
				z := sizes{n[0], n[1], 6, 7, 16}
				if i == 1 {
					z.maxIn, z.maxOut = 4, 5
				}
				h := newHarness(t, c.kind, cfg, z, 1, false)
				h.place(stream.New(1, "elements", 0), n[0], n[1])
				bits[i] = h.step()
			}
			if len(bits[0]) != len(bits[1]) || maxDiff(bits[0], bits[1]) > 1e-4 {
				t.Errorf("%v %v: off by %v", c, n, maxDiff(bits[0], bits[1]))
			}
		}
	}
}

// TestListsShrink is TestPlannedLarger for lists of which the matrix unit's blocks are filled by as many elements as
// were planned, or by as many as are live, but not by both.
func TestListsShrink(t *testing.T) {
	for _, c := range []struct {
		Algorithm
		planned, live, batch int
	}{{LowRank, 16, 12, 16}, {LowRank, 12, 6, 1}, {LowRank, 12, 8, 16}} {
		cfg := Config{Name: "conv", In: 32, Out: 32, Side: 3, Hidden: 8, InputGrad: true, Algorithm: c.Algorithm}
		var values [2][]float32
		for i, most := range []int{c.live, c.planned} {
			h := newHarness(t, groupwise, cfg, sizes{most, most, 6, 6, c.batch}, 1, false)
			h.place(stream.New(1, "elements", 0), c.live, c.live)
			values[i] = h.step()
		}
		if d := maxDiff(values[0], values[1]); !(d <= 1e-5*maxDiff(values[0], make([]float32, len(values[0])))) {
			t.Errorf("%+v: off by %v", c, d)
		}
	}
}

// TestBindAgain wants a layer that is bound once more, after a pass of fewer elements, to be bound for all of them.
func TestBindAgain(t *testing.T) {
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		for _, a := range []Algorithm{Taps, LowRank, Frequency} {
			if a == Frequency && k == pointwise {
				continue
			}
			cfg := Config{Name: "conv", In: 4, Out: 5, Side: 3, Bias: true, InputGrad: true, Algorithm: a}
			var bits [2][]float32
			for i := range bits {
				h := newHarness(t, k, cfg, sizes{3, 4, 6, 7, 16}, 1, false)
				if i == 1 {
					h.place(stream.New(1, "few", 0), 1, 1)
					h.Forward(true)
					h.Bind(h.dev)
				}
				h.place(stream.New(1, "elements", 0), min(3, h.in.MaxN), 4)
				bits[i] = h.step()
			}
			if !slices.Equal(bits[0], bits[1]) {
				t.Errorf("%v, %v: other bits than where it is bound once", k, a)
			}
		}
	}
}

// elsewhere is a device that brings its own passes.
type elsewhere struct {
	tensor.Device
	cpu *tensor.CPU
}

func (d elsewhere) NewPasses(*Shape) (Passes, error) { return passesElsewhere{newTaps(), d.cpu}, nil }

type passesElsewhere struct {
	*taps
	cpu *tensor.CPU
}

func (p passesElsewhere) Bind(_ tensor.Device, s *Shape) error { return p.taps.Bind(p.cpu, s) }

// TestDeviceChanges wants a layer to leave the workers of a CPU alone when it has gone to another device.
func TestDeviceChanges(t *testing.T) {
	l, err := build(groupwise, Config{Name: "conv", In: 2, Out: 3, Side: 3, Algorithm: Taps}, 1)
	if err != nil {
		t.Fatal(err)
	}
	four := gumbel.NewElements(lie.SE2, 4)
	forward := func(dev tensor.Device) []float32 {
		p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2, Device: dev}
		in := p.Map(2, 4, 5, 5)
		out := (&Group{l}).Plan(p, in, four, four)
		if err := p.Arena.Bind(dev); err != nil {
			t.Fatal(err)
		}
		defer p.Arena.Release()
		var params nn.Parameters
		params.Add(l.Parameters()...)
		if err := params.Bind(dev); err != nil {
			t.Fatal(err)
		}
		defer params.Release()
		l.Bind(dev)
		dev.Upload(in.Value, gradcheck.Normal(in.Size(), 1))
		l.Forward(false)
		y := make([]float32, out.Size())
		dev.Download(y, out.Live())
		return y
	}
	first, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	want := forward(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := newCPU(t, 1)
	if d := maxDiff(forward(elsewhere{second, second}), want); !(d <= 1e-5) {
		t.Errorf("off by %v", d)
	}
}

// TestRenderOnce wants Convolve to use the kernel of the last Render, for any
// number of inputs.
func TestRenderOnce(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3, Bias: true}
	h := newHarness(t, groupwise, cfg, sizes{2, 3, 5, 5, 4}, 1, true)
	h.in.Written(2)
	x := [2][]float32{gradcheck.Normal(h.in.Size(), 1), gradcheck.Normal(h.in.Size(), 2)}
	var want [2][]float32
	for i := range want {
		h.dev.Upload(h.in.Value, x[i])
		h.Forward(false)
		want[i] = h.download(h.out.Live())
	}
	for i := range want {
		h.dev.Upload(h.in.Value, x[i])
		h.Convolve()
		if got := h.download(h.out.Live()); maxDiff(got, want[i]) != 0 {
			t.Errorf("input %d: Convolve alone is off by %v", i, maxDiff(got, want[i]))
		}
	}
	h.u.G[0][0] += 0.5
	h.Convolve()
	if got := h.download(h.out.Live()); maxDiff(got, want[1]) != 0 {
		t.Error("Convolve rendered anew")
	}
	h.Render()
	h.Convolve()
	if got := h.download(h.out.Live()); maxDiff(got, want[1]) == 0 {
		t.Error("Render did not see the moved element")
	}
}

// TestKernelGradZero wants a step from zero upstream gradient to add nothing.
func TestKernelGradZero(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3, Bias: true}
	h := newHarness(t, groupwise, cfg, sizes{2, 3, 5, 5, 4}, 1, false)
	h.step()
	_, g := h.params.Class(nn.Weight)
	before := h.download(g)
	h.out.Written(3)
	h.dev.Fill(h.out.Grad, 0)
	h.in.Written(2)
	h.Forward(true)
	h.Backward()
	if maxDiff(before, h.download(g)) != 0 {
		t.Error("gradients of parameters changed")
	}
}

func TestAllocations(t *testing.T) {
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		for _, c := range []struct {
			algorithm Algorithm
			b, lists  int
		}{{Taps, 2, 1}, {Taps, 16, 1}, {LowRank, 2, 1}, {LowRank, 16, 1}, {Frequency, 2, 1}, {Frequency, 32, 1}, {Auto, 16, 16}} {
			if c.algorithm == Frequency && k == pointwise {
				continue
			}
			cfg := Config{Name: "conv", In: 4, Out: 5, Side: 5, Bias: true, InputGrad: true, Algorithm: c.algorithm}
			h := newListsHarness(t, k, cfg, sizes{3, 4, 5, 6, c.b}, 2, false, c.lists)
			step := func() {
				h.in.Written(h.in.MaxN)
				h.Forward(true)
				h.out.Accumulate()
				h.Backward()
			}
			step()
			if got := testing.AllocsPerRun(2, step); got != 0 {
				t.Errorf("%v, %v: a step allocates %v times", k, c, got)
			}
		}
	}
}

// TestParameters checks names, shapes and initial values against the published
// implementation's.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		kind kind
		want string
	}{
		{lifting, "n.bias [1 5]; n.kernelnet.kernel_net.0.weight [8 2 1 1]; n.kernelnet.kernel_net.0.bias [8]; n.kernelnet.kernel_net.0.omega_0 [1]; " +
			"n.kernelnet.kernel_net.2.weight [8 8 1 1]; n.kernelnet.kernel_net.2.bias [8]; n.kernelnet.kernel_net.2.omega_0 [1]; " +
			"n.kernelnet.kernel_net.4.weight [15 8 1 1]; n.kernelnet.kernel_net.4.bias [15]"},
		{groupwise, "n.bias [1 5]; n.kernelnet.kernel_net.0.weight [8 3 1 1 1]; n.kernelnet.kernel_net.0.bias [8]; n.kernelnet.kernel_net.0.omega_0 [1]; " +
			"n.kernelnet.kernel_net.2.weight [8 8 1 1 1]; n.kernelnet.kernel_net.2.bias [8]; n.kernelnet.kernel_net.2.omega_0 [1]; " +
			"n.kernelnet.kernel_net.4.weight [15 8 1 1 1]; n.kernelnet.kernel_net.4.bias [15]"},
		{pointwise, "n.kernelnet.kernel_net.0.weight [4 1 1]; n.kernelnet.kernel_net.0.bias [4]; n.kernelnet.kernel_net.0.omega_0 [1]; " +
			"n.kernelnet.kernel_net.2.weight [4 4 1]; n.kernelnet.kernel_net.2.bias [4]; n.kernelnet.kernel_net.2.omega_0 [1]; " +
			"n.kernelnet.kernel_net.4.weight [15 4 1]; n.kernelnet.kernel_net.4.bias [15]"},
		{depthwise, "n.bias [1 5]; n.kernelnet.kernel_net.0.weight [8 2 1 1]; n.kernelnet.kernel_net.0.bias [8]; n.kernelnet.kernel_net.0.omega_0 [1]; " +
			"n.kernelnet.kernel_net.2.weight [8 8 1 1]; n.kernelnet.kernel_net.2.bias [8]; n.kernelnet.kernel_net.2.omega_0 [1]; " +
			"n.kernelnet.kernel_net.4.weight [5 8 1 1]; n.kernelnet.kernel_net.4.bias [5]"},
	} {
		l, err := build(c.kind, Config{Name: "n", In: 3, Out: 5, Side: 3, Bias: true, Hidden: 8}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range l.Parameters() {
			got = append(got, fmt.Sprint(p.Name, " ", p.Shape))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.kind, s, c.want)
		}
	}
}

// TestHidden: the kernel network is as wide as asked for, 32 by default, and that of a pointwise layer half as wide.
func TestHidden(t *testing.T) {
	for k := lifting; k <= depthwise; k++ {
		for asked, want := range map[int]int{0: 32, 1: 1, 2: 2, 12: 12} {
			l, err := build(k, Config{Name: "n", In: 1, Out: 1, Side: 3, Hidden: asked}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if k == pointwise && want > 1 {
				want /= 2
			}
			if got := l.net.Features(); got != want {
				t.Errorf("%v, hidden %d: a width of %d, want %d", k, asked, got, want)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{In: 1, Out: 1}, "Config.Name is empty"},
		{Config{Name: "n", Out: 1}, "conv: n: Config.In is 0; allowed are 1 to 8192"},
		{Config{Name: "n", In: 1, Out: -2}, "Config.Out is -2"},
		{Config{Name: "n", In: 1, Out: 1, Side: 4}, "Config.Side is 4; allowed are odd numbers from 1 to 255"},
		{Config{Name: "n", In: 1, Out: 1, Side: -1}, "Config.Side is -1"},
		{Config{Name: "n", In: 1, Out: 1, Side: 257}, "Config.Side is 257"},
		{Config{Name: "n", In: 1, Out: 1, Padding: 2}, "Config.Padding is Padding(2)"},
		{Config{Name: "n", In: 1, Out: 1, Hidden: -1}, "Config.Hidden is -1"},
		{Config{Name: "n", In: 1, Out: 1, Layers: 1}, "Config.Layers is 1"},
		{Config{Name: "n", In: 1, Out: 1, Omega0: math.NaN()}, "Config.Omega0 is NaN"},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: MAGNet, Omega0: math.NaN()}, "Config.Omega0 is NaN"},
		{Config{Name: "n", In: 1, Out: 1, Side: 1, Algorithm: Frequency}, "conv: n: Config.Algorithm is frequency; allowed are all others for kernels of one pixel"},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: "RBF"}, `kernel network "RBF"; allowed are SIREN, MAGNet, Gabor, Fourier, MLP`},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: MAGNet, LearnOmega: true}, "Config.LearnOmega is true; allowed are false"},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: Gabor, Activation: siren.Swish}, `Config.Activation is "Swish"; allowed are ""`},
		{Config{Name: "n", In: 1, Out: 1, Norm: siren.LayerNorm}, `Config.Norm is "LayerNorm"; allowed are ""`},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: MLP, Activation: "tanh"}, `MLPConfig.Activation is "tanh"; allowed are "ReLU"`},
		{Config{Name: "n", In: 1, Out: 1, KernelNet: MLP, Layers: 1}, "MLPConfig.Layers is 1"},
	} {
		_, err := NewGroup(c.cfg, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.cfg, err, c.want)
		}
	}
	if _, err := ParsePadding("full"); err == nil || !strings.Contains(err.Error(), "same and valid") {
		t.Errorf("padding full: error %v", err)
	}
	for _, p := range []Padding{Same, Valid} {
		if got, err := ParsePadding(p.String()); got != p || err != nil {
			t.Errorf("padding %v: %v, %v", p, got, err)
		}
	}
}

// A pointwise layer has kernels of one pixel whatever its configuration says.
func TestPointwiseRefusesFrequency(t *testing.T) {
	_, err := NewPointwise(Config{Name: "n", In: 1, Out: 1, Algorithm: Frequency}, 1)
	if err == nil || !strings.Contains(err.Error(), "Config.Algorithm is frequency") {
		t.Errorf("error %v", err)
	}
}

// TestUnexpectedWeights: a layer does not leave out that elements were dropped, which what
// reads its output would then take for others.
func TestUnexpectedWeights(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 2, Side: 3, Group: lie.Mirror}
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		h := newHarness(t, k, cfg, sizes{2, 2, 4, 4, 2}, 1, false)
		d, err := gumbel.New(gumbel.Config{Group: lie.Mirror, Max: 2, Partial: true, Name: "probs"})
		if err != nil {
			t.Fatal(err)
		}
		d.SetSize(0)
		d.Draw(h.u, stream.New(1, "weights", 0), true)
		refuses(t, k.String(), "Weighted did not say so", func() { h.Forward(true) })
	}
}

// TestOrderOfCalls: a layer says which call is missing.
func TestOrderOfCalls(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3}
	for what, call := range map[string]func(l *layer){
		"Bind":     func(l *layer) { l.Bind(newCPU(t, 1)) },
		"Forward":  func(l *layer) { l.Forward(false) },
		"Render":   func(l *layer) { l.Render() },
		"Convolve": func(l *layer) { l.Convolve() },
		"Backward": func(l *layer) { l.Backward() },
		"Dense":    func(l *layer) { l.Dense() },
	} {
		l, err := build(groupwise, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, what, "conv is not planned; call Plan first", func() { call(l) })
		if what == "Bind" {
			continue
		}
		p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
		four := gumbel.NewElements(lie.SE2, 4)
		(&Group{l}).Plan(p, p.Map(2, 4, 5, 5), four, four)
		refuses(t, what, "conv is not bound to a device; call Bind first", func() { call(l) })
	}

	l, err := build(groupwise, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	dev, four := newCPU(t, 1), gumbel.NewElements(lie.SE2, 4)
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
	in := p.Map(2, 4, 5, 5)
	(&Group{l}).Plan(p, in, four, four)
	bind := func() { l.Bind(dev) }
	refuses(t, "Bind", "conv: the plan's arena is not bound to a device; call Arena.Bind first", bind)
	if err := p.Arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	refuses(t, "Bind", `conv: the parameter "conv.kernelnet.kernel_net.0.weight" is not bound to a device; call Parameters.Bind first`, bind)
	var params nn.Parameters
	params.Add(l.Parameters()...)
	if err := params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer params.Release()
	refuses(t, "Bind", "conv: the device is nil", func() { l.Bind(nil) })
	bind()
	refuses(t, "Kernel", "conv: no Render before it", func() { l.Kernel() })
	refuses(t, "Convolve", "conv: no Render before it", l.Convolve)
	refuses(t, "Backward", "conv: no Forward before it", l.Backward)
	l.Forward(true)
	params.Release()
	const released = `conv: the parameter "conv.kernelnet.kernel_net.0.weight" is not bound to a device; call Parameters.Bind first`
	refuses(t, "Render", released, func() { l.Forward(true) })
	refuses(t, "Dense", released, func() { l.Dense() })
	refuses(t, "Backward", released, l.Backward)
	if err := params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	p.Arena.Release()
	refuses(t, "Forward", "conv: the plan's arena is not bound to a device", func() { l.Forward(true) })
	(&Group{l}).Plan(p, p.Map(2, 4, 5, 5), four, four)
	refuses(t, "Backward", "conv is not bound to a device; call Bind first", l.Backward)
}

// TestPlannedForInference: a plan for inference has no training step.
func TestPlannedForInference(t *testing.T) {
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		h := newHarness(t, k, Config{Name: "conv", In: 2, Out: 3, Side: 3}, sizes{2, 3, 5, 5, 4}, 1, true)
		h.Forward(false)
		refuses(t, k.String(), "conv: Forward: conv is planned for inference", func() { h.Forward(true) })
		refuses(t, k.String(), "conv: Backward: conv is planned for inference", h.Backward)
	}
}

// TestBadMaps: a layer refuses a plan or a map that is not there, and a map of another batch.
func TestBadMaps(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3}
	u := gumbel.NewElements(lie.SE2, 4)
	p, other := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}, &nn.Plan{Arena: new(tensor.Arena), Batch: 7}
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		l, err := build(k, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		plan := func(p *nn.Plan, in *nn.Map) func() {
			return func() {
				switch k {
				case lifting:
					(&Lifting{l}).Plan(p, in, u)
				case groupwise:
					(&Group{l}).Plan(p, in, u, u)
				case pointwise:
					(&Pointwise{l}).Plan(p, in, u, u)
				default:
					(&Depthwise{l}).Plan(p, in, u)
				}
			}
		}
		refuses(t, k.String(), "conv: Plan: conv: the plan is nil or has no arena", plan(nil, p.Map(2, 1, 5, 5)))
		refuses(t, k.String(), "conv: Plan: conv: the plan is nil or has no arena", plan(&nn.Plan{Batch: 2}, p.Map(2, 1, 5, 5)))
		refuses(t, k.String(), "conv: Plan: conv: the input map is nil", plan(p, nil))
		refuses(t, k.String(), "conv: the input map is planned for a batch of 7, the layer for one of 2", plan(p, other.Map(2, 1, 5, 5)))
	}
}

// TestKernel: only a layer that renders a kernel hands one out.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		algorithm Algorithm
		inference bool
		lists     int
	}{{LowRank, false, 1}, {LowRank, true, 1}, {Frequency, false, 1}, {Frequency, true, 1}, {Auto, false, 16}} {
		cfg := Config{Name: "conv", In: 4, Out: 5, Side: 5, Algorithm: c.algorithm}
		h := newListsHarness(t, groupwise, cfg, sizes{3, 4, 7, 7, 16}, 1, c.inference, c.lists)
		h.Render()
		refuses(t, fmt.Sprint(c), fmt.Sprintf("conv: Kernel: conv renders no kernel, being computed with the algorithm %q", h.Algorithm()), func() { h.Kernel() })
	}
	for _, k := range []kind{lifting, groupwise, depthwise} {
		h := newHarness(t, k, Config{Name: "conv", In: 4, Out: 5, Side: 3, Algorithm: Taps}, sizes{3, 4, 7, 7, 2}, 1, false)
		h.Render()
		kernel := h.download(h.Kernel())
		d, err := h.Dense()
		if err != nil {
			t.Fatal(err)
		}
		squares := func(x []float32) (sum float64) {
			for _, v := range x {
				sum += float64(v) * float64(v)
			}
			return sum
		}
		if got, want := squares(kernel), squares(d.Weight); !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%v: a kernel of square %v, must be %v", k, got, want)
		}
	}
}

// TestPlanErrorHasOnePrefix: what stands before an error says once where it is from.
func TestPlanErrorHasOnePrefix(t *testing.T) {
	l, err := build(groupwise, Config{Name: "n", In: 1, Out: 1, Side: 3, Algorithm: Taps}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
	two := gumbel.NewLists(lie.SE2, 4, 2)
	refuses(t, "taps", "conv: Plan: n: the algorithm", func() { (&Group{l}).Plan(p, p.Map(1, 4, 5, 5), two, two) })
}

// TestLongLists: lists that no memory has room for are the arena's to refuse, not the end of the program.
func TestLongLists(t *testing.T) {
	const elements = 1 << 16
	dev := newCPU(t, 1)
	for _, g := range []lie.Group{lie.SE2, lie.RPlus} { // without a window and with one
		for _, weighted := range []bool{false, true} {
			l, err := NewGroup(Config{Name: "long", Group: g, In: 1, Out: 1, Side: largestSide, Hidden: 4, Algorithm: Taps}, 1)
			if err != nil {
				t.Fatal(err)
			}
			el := gumbel.NewElements(g, elements)
			el.Weighted = weighted
			p := &nn.Plan{Arena: new(tensor.Arena), Batch: 1}
			if !ChangesLengths(g) {
				p.NormPenalty = 1
			}
			l.Plan(p, p.Map(1, elements, 3, 3), el, el)
			if err := p.Arena.Bind(dev); err == nil {
				t.Errorf("%s, weights %v: %d elements fit memory", g.Name(), weighted, elements)
			}
		}
	}
}

// refuses wants f to panic with *Error.
func refuses(t *testing.T, what, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if e, ok := recover().(*Error); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v, want %q", what, e, want)
		}
	}()
	f()
}

// TestListsByHand: lists that were not planned for are refused, not cut or read beyond their end, and so is a way back
// to other lists than those of the way there.
func TestListsByHand(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3, Hidden: 4}
	const long, changed = "conv: Render: conv: ", "conv: Backward: conv: lists of "
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		for _, lists := range []int{1, 2} {
			for what, c := range map[string]struct {
				want string
				call func(h *harness)
			}{
				"too many at once": {"conv: Dense: conv", func(h *harness) { h.u.G = append(h.u.G, h.u.G...); h.Dense() }},
				"too many":         {long, func(h *harness) { h.u.G = append(h.u.G, h.u.G...); h.Forward(true) }},
				"none":             {long, func(h *harness) { h.u.G = nil; h.Forward(true) }},
				"no gradients":     {long, func(h *harness) { h.u.Grad = nil; h.Forward(true) }},
				"fewer on the way back": {changed, func(h *harness) {
					h.Forward(true)
					h.u.SetLen(1)
					h.Backward()
				}},
			} {
				h := newListsHarness(t, k, cfg, sizes{4, 4, 5, 5, 2}, 1, false, lists)
				h.in.Written(h.in.MaxN)
				refuses(t, k.String()+", "+what, c.want, func() { c.call(h) })
			}
		}
		h := newListsHarness(t, k, cfg, sizes{4, 4, 5, 5, 2}, 1, false, 2)
		h.u.G, h.u.Grad = h.u.G[:5], h.u.Grad[:5]
		refuses(t, k.String()+", lists of 2.5", long, func() { h.Forward(true) })
	}
}

// TestMisuse wants a typed panic from programmer errors.
func TestMisuse(t *testing.T) {
	cfg := Config{Name: "conv", In: 2, Out: 3, Side: 3}
	plan := func(k kind, cfg Config, c, n, side int, v *gumbel.Elements) func() {
		return func() {
			l, err := build(k, cfg, 1)
			if err != nil {
				t.Fatal(err)
			}
			p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
			u := gumbel.NewElements(lie.SE2, 4)
			switch in := p.Map(c, n, side, side); k {
			case groupwise:
				(&Group{l}).Plan(p, in, v, u)
			case depthwise:
				(&Depthwise{l}).Plan(p, in, u)
			default:
				(&Lifting{l}).Plan(p, in, u)
			}
		}
	}
	four := gumbel.NewElements(lie.SE2, 4)
	valid := cfg
	valid.Side, valid.Padding = 7, Valid
	flat := cfg
	flat.Group = lie.T2
	scaled := cfg
	scaled.Group = lie.RPlus
	h := newHarness(t, groupwise, cfg, sizes{2, 3, 5, 5, 4}, 1, false)
	for what, f := range map[string]func(){
		"channels":        plan(groupwise, cfg, 3, 4, 5, four),
		"elements":        plan(groupwise, cfg, 2, 3, 5, four),
		"no list":         plan(groupwise, cfg, 2, 4, 5, nil),
		"lifting a group": plan(lifting, cfg, 2, 4, 5, nil),
		"one of its own":  plan(depthwise, cfg, 2, 4, 5, nil),
		"its elements":    plan(depthwise, cfg, 3, 3, 5, nil),
		"too small":       plan(groupwise, valid, 2, 4, 6, four),
		"another group":   plan(groupwise, flat, 2, 4, 6, four),
		"convolve first":  h.Convolve,
		"another in.N":    func() { h.Render(); h.in.Written(1); h.Convolve() },
		"not planned as":  func() { h.Bind(notCPU{h.dev}) },
		"unknown device": func() {
			p := &nn.Plan{Arena: new(tensor.Arena), Batch: 4, Device: notCPU{h.dev}}
			h.plan(p, h.in, h.v, h.u)
		},
		"scalings, lists": func() { newListsHarness(t, groupwise, scaled, sizes{2, 2, 5, 5, 4}, 1, false, 4) },
		"scalings, norms": func() { newPenaltyHarness(t, groupwise, scaled, sizes{2, 2, 5, 5, 4}, 1, false, 1, false, 1) },
		"lists of no batch": func() {
			h.plan(&nn.Plan{Arena: new(tensor.Arena), Batch: 4}, h.in, h.v, gumbel.NewLists(lie.SE2, 3, 3))
		},
		"lists of one side": func() {
			h.plan(&nn.Plan{Arena: new(tensor.Arena), Batch: 4}, h.in, h.v, gumbel.NewLists(lie.SE2, 3, 4))
		},
		"no output's list": func() { h.plan(&nn.Plan{Arena: new(tensor.Arena), Batch: 4}, h.in, h.v, nil) },
	} {
		func() {
			defer func() {
				if e, ok := recover().(*Error); !ok || !strings.HasPrefix(e.Error(), "conv: ") {
					t.Errorf("%s: no *Error", what)
				}
			}()
			f()
		}()
	}
}

// notCPU is a device that conv knows nothing about.
type notCPU struct{ tensor.Device }
