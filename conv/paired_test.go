package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// TestPairedPasses compares the passes for elements in pairs with the definition
// of the convolution with the whole kernel.
func TestPairedPasses(t *testing.T) {
	random := stream.New(3, "paired shapes", 0)
	for _, e := range []struct {
		in, out, maxIn, maxOut, nIn, nOut, h, w, b, side int
		padding                                          Padding
		runs                                             int
	}{
		{3, 2, 2, 2, 2, 2, 6, 6, 16, 7, Same, 1},
		{2, 3, 8, 8, 8, 8, 7, 5, 17, 5, Same, 1},
		{40, 3, 4, 6, 4, 4, 4, 4, 8, 3, Same, 1}, // several blocks of columns, fewer live than planned
		{2, 40, 6, 5, 6, 4, 4, 5, 8, 3, Same, 1}, // several blocks of rows, an odd most
		{1, 1, 40, 2, 38, 2, 4, 4, 3, 3, Same, 1},
		{5, 4, 7, 3, 4, 2, 9, 8, 33, 7, Valid, 1},
		{1, 2, 2, 4, 2, 4, 1, 1, 1, 5, Same, 1},
		{16, 8, 4, 4, 4, 4, 3, 3, 64, 3, Same, 1},   // whole blocks of the matrix unit
		{40, 72, 4, 4, 4, 4, 2, 3, 31, 3, Same, 1},  // several of them
		{26, 40, 4, 4, 4, 4, 3, 4, 32, 3, Same, 1},  // enough for the gradient alone
		{32, 16, 4, 4, 4, 4, 3, 4, 32, 7, Same, 1},  // with spectra of features
		{1, 1, 2, 2, 2, 2, 80, 80, 128, 3, Same, 1}, // planes that are transformed for some groups at a time
		{2, 3, 8, 12, 8, 12, 7, 5, 17, 5, Same, 2},
		{40, 3, 8, 6, 8, 4, 4, 4, 8, 3, Valid, 2},
		{16, 32, 4, 4, 4, 4, 3, 4, 32, 7, Same, 2},
	} {
		if testing.Short() && e.h > 40 {
			continue
		}
		largest := newShape(e.in, e.out, e.maxIn, e.maxOut, e.h, e.w, e.b, grid(e.side), e.side, e.padding)
		whole := *largest
		whole.NIn, whole.NOut = e.nIn, e.nOut
		s := whole
		s.Paired, s.Runs = true, e.runs
		k := newFactoredKernel(random, &s, 5, scaling(e.in%3))
		columns := s.rendered() * s.NIn * len(s.Offsets)
		half := k.kernel(0, columns, 1)
		kernel := make([]float32, whole.KernelSize())
		mirror := func(f func(whole, half int)) { eachOfPairs(&s, f) }
		mirror(func(whole, at int) { kernel[whole] = float32(half[at] * k.at(at%columns)) })
		x, dy := normal(random, s.Sources()*s.H*s.W*s.B), normal(random, s.Targets()*s.OutH*s.OutW*s.B)
		bias := normal(random, s.Out)
		want := definition(&whole, x, kernel, bias, dy)
		dhalf := make([]float64, len(half))
		mirror(func(whole, at int) { dhalf[at] += want.dk[whole] })
		gradients := k.zeros()
		gradients.add(&k, half, dhalf, 0, columns, 1)

		t.Run(fmt.Sprintf("%+v", e), func(t *testing.T) {
			asmtest.EachLevel(t, func(t *testing.T) {
				for _, budget := range []int{bandValues, 1} {
					dev := newCPU(t, 2)
					host := tensor.HostBuffer
					p := newFrequency(largest, k.features)
					p.lattice.budget = budget
					p.lattice.shareTargets, p.lattice.shareSources = 1, 1
					prepared, scratch := p.Sizes(largest, false)
					if err := p.Bind(dev, largest); err != nil {
						t.Fatal(err)
					}
					pre, tmp := poisoned(prepared), poisoned(scratch)
					y, dx, d := poisoned(len(want.y)), poisoned(len(want.dx)), k.gradients()
					db := poisoned(s.Out)
					clear(db.values())
					p.Prepare(pre.buffer(), k.factors(), host(bias), tmp.buffer(), &s)
					p.Forward(y.buffer(), host(x), pre.buffer(), tmp.buffer(), &s)
					p.Backward(d.factors(), k.factors(), db.buffer(), dx.buffer(), host(x), host(dy), pre.buffer(), tmp.buffer(), &s, false)
					compareNorm(t, "y", y.values(), want.y, nil)
					compareNorm(t, "dx", dx.values(), want.dx, nil)
					d.compare(t, "gradient", &gradients)
					compareEach(t, "dbias", db.values(), want.db, want.sizeB)
					kept := newFrequency(largest, k.features)
					kept.lattice.budget = budget
					kept.KeepSpectra()
					prepared, scratch = kept.Sizes(largest, true)
					if err := kept.Bind(dev, largest); err != nil {
						t.Fatal(err)
					}
					once, spare, again := poisoned(prepared), poisoned(scratch), poisoned(len(want.y))
					kept.Prepare(once.buffer(), k.factors(), host(bias), spare.buffer(), &s)
					for range 2 {
						kept.Forward(again.buffer(), host(x), once.buffer(), spare.buffer(), &s)
						compareNorm(t, "y, spectra kept", again.values(), want.y, nil)
					}
					for what, g := range map[string]interface{ intact() bool }{"prepared once": once, "spare": spare, "y again": again, "prepared": pre, "scratch": tmp, "y": y, "dx": dx, "d": &d, "dbias": db} {
						if !g.intact() {
							t.Errorf("written beyond %s", what)
						}
					}
				}
			})
		})
	}
}

// eachOfPairs calls f for every value of a whole kernel and the one of the half that is rendered for pairs which it
// equals.
func eachOfPairs(s *Shape, f func(whole, half int)) {
	taps := len(s.Offsets)
	for oc := range s.Out * s.In {
		for i := range s.NOut {
			for j := range s.NIn {
				for k := range taps {
					at := ((oc*s.NOut+s.element(i, s.NOut))*s.NIn+s.element(j, s.NIn))*taps + k
					ih, jh, kh := i, j, k
					if i >= s.NOut/2 {
						ih, jh, kh = i-s.NOut/2, (j+s.NIn/2)%s.NIn, taps-1-k
					}
					f(at, ((oc*s.NOut/2+ih)*s.NIn+jh)*taps+kh)
				}
			}
		}
	}
}

// TestPairedLayer compares a layer on rigid combs, whose kernel is half rendered,
// with the same layer on the same elements taken one by one.
func TestPairedLayer(t *testing.T) {
	t.Run("frequency", func(t *testing.T) {
		testPairedLayer(t, groupwise, Config{In: 3, Out: 4, Side: 5, Bias: true, Hidden: 8, Algorithm: Frequency}, 5, 1)
	})
	t.Run("frequency, turns and reflections", func(t *testing.T) {
		testPairedLayer(t, groupwise, Config{In: 3, Out: 4, Side: 5, Bias: true, Hidden: 8, Algorithm: Frequency}, 5, 2)
	})
	t.Run("one tap", func(t *testing.T) {
		testPairedLayer(t, pointwise, Config{In: 3, Out: 4, Hidden: 8}, 16, 1)
	})
	t.Run("one tap, turns and reflections", func(t *testing.T) {
		testPairedLayer(t, pointwise, Config{In: 3, Out: 4, Hidden: 8}, 16, 2)
	})
}

func testPairedLayer(t *testing.T, k kind, cfg Config, b, runs int) {
	z := sizes{maxIn: 6 * runs, maxOut: 8 * runs, h: 7, w: 6, b: b}
	cfg.Name = "conv"
	cfg.Group = [...]lie.Group{lie.SE2, lie.E2}[runs-1]
	run := func(rigid bool) (h *harness, y, dx []float32, du, dv float64) {
		h = newHarness(t, k, cfg, z, 2, false)
		comb := func(e *gumbel.Elements, offset float64) {
			e.Rigid = rigid
			e.SetLen(e.Max())
			n := len(e.G) / runs
			for i := range e.G {
				e.G[i] = cfg.Group.Exp(lie.Vector{offset + 2*math.Pi*float64(i%n)/float64(n)})
				e.G[i][1] = float64(i / n)
			}
		}
		comb(h.u, 0.3)
		comb(h.v, 1.1)
		h.in.Written(z.maxIn)
		h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), 1))
		h.Forward(true)
		if h.shape.Paired != rigid || rigid && h.shape.Runs != runs {
			t.Fatalf("rigid %v: paired is %v, in %d runs", rigid, h.shape.Paired, h.shape.Runs)
		}
		y = h.download(h.out.Live())
		h.dev.Upload(h.out.Grad, gradcheck.Normal(h.out.Size(), 2))
		h.out.Accumulate()
		h.Backward()
		for _, g := range h.u.Grad {
			du += g[0]
		}
		for _, g := range h.v.Grad {
			dv += g[0]
		}
		return h, y, h.download(h.in.LiveGrad()), du, dv
	}
	one, y, dx, du, dv := run(false)
	two, y2, dx2, du2, dv2 := run(true)
	if k == pointwise {
		refuses(t, "Kernel", `conv: Kernel: conv renders half of its kernel, since its elements come in pairs; Config.Algorithm "taps" renders all of it, and so does Dense`, func() { two.Kernel() })
	}
	compareNorm(t, "y", y2, widened(y), nil)
	compareNorm(t, "dx", dx2, widened(dx), nil)
	for i, p := range one.Parameters() {
		if p.Trained() {
			compareNormWithin(t, p.Name, two.download(two.Parameters()[i].Grad), widened(one.download(p.Grad)), 1e-5)
		}
	}
	compareNormWithin(t, "elements", []float32{float32(du2), float32(dv2)}, []float64{du, dv}, 1e-4)

	// Elements of which one has moved are no pairs.
	two.u.G[1] = cfg.Group.Exp(lie.Vector{0.31})
	two.Render()
	if two.shape.Paired {
		t.Error("paired though an element has moved")
	}
}

// TestExpectsPairs wants what a plan expects of lists to be what layers find when these are drawn.
func TestExpectsPairs(t *testing.T) {
	for _, c := range []struct {
		group string
		n     int
		pairs bool
	}{
		{"SE(2)", 4, true}, {"SE(2)", 3, false}, {"SE(2)", 1, false}, {"SE(2)", 10, true},
		{"C4", 4, true}, {"C3", 3, false}, {"mirror", 2, false},
		{"D4", 8, true}, {"D3", 6, false}, {"E(2)", 8, true}, {"E(2)", 6, false}, {"E(2)", 2, false},
	} {
		g, err := lie.ByName(c.group)
		if err != nil {
			t.Fatal(err)
		}
		d, err := gumbel.New(gumbel.Config{Group: g, Max: c.n})
		if err != nil {
			t.Fatal(err)
		}
		z := sizes{maxIn: c.n, maxOut: c.n, h: 5, w: 5, b: 2}
		h := newHarness(t, groupwise, Config{Name: "conv", Group: g, In: 2, Out: 2, Side: 3, Hidden: 4, Algorithm: Frequency}, z, 1, false)
		h.u.Rigid, h.v.Rigid = d.NewLists(1).Rigid, d.NewLists(1).Rigid
		src := stream.New(5, "pairs", uint64(c.n))
		for range 3 {
			d.Draw(h.u, src, true)
			d.Draw(h.v, src, true)
			h.Render()
			if expected, found := h.expectsPairs(), h.shape.Paired; expected != c.pairs || found != c.pairs {
				t.Errorf("%s, %d elements: pairs expected %v, found %v, want %v", c.group, c.n, expected, found, c.pairs)
			}
		}
		h.u.Rigid = false
		if h.expectsPairs() {
			t.Errorf("%s, %d elements that move apart: pairs expected", c.group, c.n)
		}
	}
}

func widened(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
