package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// factored are the passes from features by their definition, in float64.
// Sums that may cancel have the sums of magnitudes that bound their rounding errors.
type factored struct {
	y, dx, dbias, df, dw, db, dscale []float64
	sizeBias, sizeB                  []float64
}

// factoredKernel are the factors of a kernel. Without a scale they have none.
type factoredKernel struct {
	features       int
	f, w, b, scale []float32
	mask           bool // the scale is one, and its gradient is not wanted
}

// scaling says what scale a kernel has.
type scaling uint8

const (
	unscaled scaling = iota
	scaled
	masked
)

// newFactoredKernel draws factors.
func newFactoredKernel(src *stream.Stream, s *Shape, features int, of scaling) factoredKernel {
	positions := s.positions()
	k := factoredKernel{features: features, f: normal(src, features*positions), w: normal(src, s.Out*s.In*features), b: normal(src, s.Out*s.In)}
	if of != unscaled {
		k.scale, k.mask = drawScale(src, s, positions, of == masked), of == masked
	}
	return k
}

// drawScale draws scales about one, of either sign. Under a mask output elements have discs of several sizes:
// the whole one, a smaller one and the middle alone.
func drawScale(src *stream.Stream, s *Shape, positions int, mask bool) []float32 {
	taps := len(s.Offsets)
	mid, last := s.Offsets[taps/2], s.Offsets[taps-1]
	distance := func(o Offset) int {
		row, col := o.Row-mid.Row, o.Col-mid.Col
		return row*row + col*col
	}
	scale := make([]float32, positions)
	for p := range scale {
		v := float32(0.5 + src.Float64())
		if src.IntN(2) == 1 {
			v = -v
		}
		i := p / (s.NIn * taps) % s.rendered()
		if !mask || distance(s.Offsets[p%taps])*[]int{1, 2, distance(last) + 1}[i%3] <= distance(last) {
			scale[p] = v
		}
	}
	return scale
}

// factors returns the kernel's factors, and factorsGrad places for their gradients.
func (k *factoredKernel) factors() kernelFactors {
	host := tensor.HostBuffer
	f := kernelFactors{F: host(k.f), W: host(k.w), B: host(k.b), Mask: k.mask}
	if k.scale != nil {
		f.Scale = host(k.scale)
	}
	return f
}

type factorGradients struct{ f, w, b, scale guarded }

func (k *factoredKernel) gradients() factorGradients {
	scale := len(k.scale)
	if k.mask {
		scale = 0
	}
	return factorGradients{poisoned(len(k.f)), poisoned(len(k.w)), poisoned(len(k.b)), poisoned(scale)}
}

func (g *factorGradients) factors() kernelFactors {
	d := kernelFactors{F: g.f.buffer(), W: g.w.buffer(), B: g.b.buffer()}
	if len(g.scale.values()) > 0 {
		d.Scale = g.scale.buffer()
	}
	return d
}

// compare compares gradients with the definition's.
func (g *factorGradients) compare(t *testing.T, name string, want *factored) {
	t.Helper()
	compareNorm(t, name+": df", g.f.values(), want.df, nil)
	compareNorm(t, name+": dw", g.w.values(), want.dw, nil)
	compareSums(t, name+": db", g.b.values(), want.db, want.sizeB)
	if scale := g.scale.values(); len(scale) > 0 {
		compareNorm(t, name+": dscale", scale, want.dscale, nil)
	}
}

func (g *factorGradients) intact() bool {
	return g.f.intact() && g.w.intact() && g.b.intact() && g.scale.intact()
}

// at returns the scale of a position.
func (k *factoredKernel) at(position int) float64 {
	if k.scale == nil {
		return 1
	}
	return float64(k.scale[position])
}

// kernel renders the columns of one list, [(o,c), column], without the scale.
func (k *factoredKernel) kernel(list, columns, lists int) []float64 {
	kernel := make([]float64, len(k.b)*columns)
	for p, offset := range k.b {
		for col := range columns {
			v := float64(offset)
			for h := range k.features {
				v += float64(k.w[p*k.features+h]) * float64(k.f[(h*lists+list)*columns+col])
			}
			kernel[p*columns+col] = v
		}
	}
	return kernel
}

// zeros returns gradients to add to.
func (k *factoredKernel) zeros() factored {
	return factored{df: make([]float64, len(k.f)), dw: make([]float64, len(k.w)), db: make([]float64, len(k.b)), dscale: make([]float64, len(k.scale)), sizeB: make([]float64, len(k.b))}
}

// add adds to the gradients what those of one list's kernel contribute, which was rendered without the scale.
func (d *factored) add(k *factoredKernel, kernel, dk []float64, list, columns, lists int) {
	for p := range k.b {
		for col := range columns {
			g := dk[p*columns+col]
			if k.scale != nil {
				d.dscale[col] += g * kernel[p*columns+col]
				g *= k.at(col)
			}
			d.db[p] += g
			d.sizeB[p] += math.Abs(g)
			for h := range k.features {
				at := (h*lists+list)*columns + col
				d.dw[p*k.features+h] += g * float64(k.f[at])
				d.df[at] += g * float64(k.w[p*k.features+h])
			}
		}
	}
}

// factoredDefinition renders the kernel of each list of elements and loops over
// everything.
func factoredDefinition(s *Shape, k *factoredKernel, x, bias, dy []float32) factored {
	columns := s.NOut * s.NIn * len(s.Offsets) // of one list
	lists := s.lists()
	d := k.zeros()
	d.y, d.dx = make([]float64, s.Targets()*s.OutH*s.OutW*s.B), make([]float64, s.Sources()*s.H*s.W*s.B)
	d.dbias, d.sizeBias = make([]float64, s.Out), make([]float64, s.Out)
	for l := range lists {
		plain := k.kernel(l, columns, lists)
		kernel, dk := make([]float64, len(plain)), make([]float64, len(plain))
		for i, v := range plain {
			kernel[i] = v * k.at(i%columns)
		}
		b0, b1 := 0, s.B
		if lists > 1 {
			b0, b1 = l, l+1
		}
		for m := range s.Targets() {
			o, i := m/s.NOut, m%s.NOut
			for row := range s.OutH {
				for col := range s.OutW {
					at := ((m*s.OutH+row)*s.OutW + col) * s.B
					y, dy := d.y[at+b0:at+b1], dy[at+b0:at+b1]
					for e, g := range dy {
						y[e] = float64(bias[o])
						d.dbias[o] += float64(g)
						d.sizeBias[o] += math.Abs(float64(g))
					}
					for src := range s.Sources() {
						c, j := src/s.NIn, src%s.NIn
						for k, off := range s.Offsets {
							r, cc := row+off.Row, col+off.Col
							if r < 0 || r >= s.H || cc < 0 || cc >= s.W {
								continue
							}
							ki := (o*s.In+c)*columns + (i*s.NIn+j)*len(s.Offsets) + k
							xi := ((src*s.H+r)*s.W + cc) * s.B
							w, sum := kernel[ki], 0.0
							x, dx := x[xi+b0:][:len(dy)], d.dx[xi+b0:][:len(dy)]
							y := y[:len(dy)]
							for e, v := range dy {
								xv, g := float64(x[e]), float64(v)
								y[e] += w * xv
								dx[e] += w * g
								sum += xv * g
							}
							dk[ki] += sum
						}
					}
				}
			}
		}
		d.add(k, plain, dk, l, columns, lists)
	}
	return d
}

// factoredProblem is a shape with data and the right results.
type factoredProblem struct {
	trial
	factoredKernel
	x, dy, bias []float32
	want        factored
}

// newFactoredProblem draws data for a shape.
func newFactoredProblem(c trial, features int, of scaling) factoredProblem {
	p, s := factoredProblem{trial: c}, &c.live
	src := stream.New(2, c.name, 0)
	p.x, p.dy = normal(src, s.Sources()*s.H*s.W*s.B), normal(src, s.Targets()*s.OutH*s.OutW*s.B)
	p.factoredKernel, p.bias = newFactoredKernel(src, s, features, of), normal(src, s.Out)
	p.want = factoredDefinition(s, &p.factoredKernel, p.x, p.bias, p.dy)
	return p
}

// factoredProblems draws data for shapes of all kinds: planes smaller than the kernel,
// thin and wide batches, channels and features of one block and of several, fewer
// live elements than planned. Scales are of the kind that is given for the i-th.
func factoredProblems(perElement bool, of func(i int) scaling) []factoredProblem {
	type example struct {
		in, out, maxIn, maxOut, nIn, nOut, h, w, b, side, features int
		padding                                                    Padding
	}
	examples := []example{
		{6, 2, 3, 2, 3, 2, 6, 6, 16, 3, 8, Same},
		{10, 3, 5, 2, 4, 2, 6, 5, 17, 5, 5, Same},
		{20, 1, 3, 1, 3, 1, 3, 3, 33, 7, 16, Same},
		{70, 5, 2, 3, 2, 3, 3, 4, 5, 3, 8, Same}, // channels of several blocks
		{5, 70, 1, 2, 1, 2, 4, 3, 32, 3, 8, Same},
		{70, 36, 2, 3, 2, 2, 3, 2, 35, 3, 8, Same}, // whole blocks of a matrix unit
		{3, 4, 2, 8, 2, 7, 5, 5, 64, 3, 33, Same},  // more features than a tile has rows
		{2, 2, 2, 2, 2, 2, 4, 4, 3, 3, 150, Same},
		{4, 4, 4, 4, 4, 4, 7, 7, 4, 7, 6, Valid},  // to one position
		{48, 45, 2, 1, 2, 1, 3, 3, 2, 3, 4, Same}, // wide blocks, and two frequencies of three are real
		{9, 2, 1, 3, 1, 3, 8, 7, 16, 5, 3, Valid},
		{1, 3, 1, 2, 1, 2, 28, 29, 2, 7, 4, Same},
		{2, 3, 3, 2, 3, 2, 15, 40, 1, 3, 8, Same},
		{5, 4, 3, 4, 2, 3, 4, 3, 16, 1, 5, Same}, // without extent
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 1, Same},
		{2, 1, 5, 1, 5, 1, 1, 40, 2, 3, 2, Same},    // a flat plane
		{12, 33, 2, 2, 2, 2, 4, 3, 17, 7, 16, Same}, // features and taps that fill blocks, three channels at a time
		{8, 32, 2, 4, 2, 4, 7, 8, 40, 7, 8, Valid},  // to two positions
		{5, 34, 4, 3, 2, 2, 3, 3, 33, 7, 16, Same},  // fewer live elements
	}
	random := stream.New(1, "shapes", 0)
	more := 20
	if testing.Short() {
		more = 7 // slow under qemu and the race detector
	}
	for range more {
		e := example{
			in: 1 + random.IntN(6), out: 1 + random.IntN(6), maxIn: 1 + random.IntN(4), maxOut: 1 + random.IntN(4),
			side: 1 + 2*random.IntN(4), features: 1 + random.IntN(12), b: []int{1, 2, 3, 5, 16, 19, 32, 40}[random.IntN(8)],
		}
		e.nIn, e.nOut = 1+random.IntN(e.maxIn), 1+random.IntN(e.maxOut)
		e.h, e.w = 1+random.IntN(9), 1+random.IntN(9)
		if random.IntN(2) == 1 && e.h >= e.side && e.w >= e.side {
			e.padding = Valid
		}
		examples = append(examples, e)
	}
	problems := make([]factoredProblem, len(examples))
	for i, e := range examples {
		c := trial{name: fmt.Sprintf("%+v", e)}
		c.largest = *newShape(e.in, e.out, e.maxIn, e.maxOut, e.h, e.w, e.b, grid(e.side), e.side, e.padding)
		c.largest.PerElement = perElement
		c.live = c.largest
		c.live.NIn, c.live.NOut = e.nIn, e.nOut
		problems[i] = newFactoredProblem(c, e.features, of(i))
	}
	return problems
}

func alwaysUnscaled(int) scaling { return unscaled }

func TestLowRank(t *testing.T) {
	testFeaturePasses(t, func(_ *Shape, features int) featurePasses { return newLowRank(features) }, factoredProblems(false, alwaysUnscaled))
}

func TestScaledLowRank(t *testing.T) {
	problems := factoredProblems(false, func(i int) scaling { return scaling(i % 3) })
	testFeaturePasses(t, func(_ *Shape, features int) featurePasses { return newScaledLowRank(features) }, problems)
}

func TestPerElement(t *testing.T) {
	testFeaturePasses(t, func(s *Shape, features int) featurePasses { return newPerElement(s, features) }, factoredProblems(true, alwaysUnscaled))
}

// TestFrequency compares the frequency-domain algorithm with the definition, with all frequencies and
// planes at a time and with few of them. Where tests are to be short each of the ways to divide the work
// but the first has a third of the problems.
func TestFrequency(t *testing.T) {
	var problems []factoredProblem
	for i, c := range trials() {
		if inFrequency(&c.largest) {
			problems = append(problems, newFactoredProblem(c, []int{1, 8, 33, 3}[i%4], scaling(i%3)))
		}
	}
	// More rows than are elsewhere in a block of a gradient, with its frequencies in parts.
	narrow := trial{name: "narrow", largest: *newShape(10, 9, 8, 8, 9, 10, 3, grid(5), 5, Same)}
	narrow.live = narrow.largest
	problems = append(problems, newFactoredProblem(narrow, 3, unscaled))
	for k, way := range []struct {
		name  string
		adapt func(p *frequency, s *Shape)
	}{
		{"at once", func(*frequency, *Shape) {}},
		// In bands of one or two groups, and one plane at a time, or a sixth of many.
		{"in bands", func(p *frequency, s *Shape) {
			p.lattice.budget = 2 * perBackward(s, 1) * p.lattice.periodW
			p.lattice.shareTargets, p.lattice.shareSources = max(1, s.Targets()/6), max(1, s.Sources()/6)
		}},
		// In bands and shares of several planes, with the spectrum of x kept whole.
		{"in shares", func(p *frequency, s *Shape) {
			p.lattice.budget = p.lattice.count * 2 * planeSize(s.Sources(), s.B)
		}},
		// Shares that are no whole channels, and blocks that straddle them.
		{"in uneven shares", func(p *frequency, s *Shape) {
			p.lattice.budget = 2 * perBackward(s, 7) * p.lattice.periodW
			p.lattice.shareTargets, p.lattice.shareSources = 5, 7
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			var some []factoredProblem
			for i, p := range problems {
				if k == 0 || i/3%3 == k-1 || !testing.Short() { // three in a row have the three kinds of scales
					some = append(some, p)
				}
			}
			testFeaturePasses(t, func(s *Shape, features int) featurePasses {
				p := newFrequency(s, features)
				way.adapt(p, s)
				return p
			}, some)
		})
	}
}

// TestFrequencyLargePlanes takes a plane that, transformed along y, exceeds a worker's memory, so that it
// is transformed for some groups of frequencies at a time.
func TestFrequencyLargePlanes(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: transforms 3 MB several times")
	}
	const side, batch = 112, 128
	c := trial{name: "large", largest: *newShape(1, 1, 1, 1, side, side, batch, grid(3), 3, Same)}
	c.live = c.largest
	create := func(s *Shape, features int) featurePasses { return newFrequency(s, features) }
	if groups := len(newFrequency(&c.largest, 4).lattice.groups); 2*side*batch*groups <= analysisValues {
		t.Fatalf("%d groups of the plane are transformed at a time", groups)
	}
	testFeaturePasses(t, create, []factoredProblem{newFactoredProblem(c, 4, unscaled)})
}

// TestFrequencyScales holds the algorithm to the same errors where channels and images are of very
// different size.
func TestFrequencyScales(t *testing.T) {
	var problems []factoredProblem
	for _, c := range unevenProblems() {
		const features = 8
		p := factoredProblem{trial: c.trial, x: c.x, dy: c.dy, bias: make([]float32, c.live.Out)}
		p.factoredKernel = newFactoredKernel(stream.New(4, c.name, 0), &c.live, features, unscaled)
		for i, size := range c.channels {
			p.b[i] *= size
			for k := range features {
				p.w[i*features+k] *= size
			}
		}
		p.want = factoredDefinition(&c.live, &p.factoredKernel, p.x, p.bias, p.dy)
		problems = append(problems, p)
	}
	testFeaturePasses(t, func(s *Shape, features int) featurePasses { return newFrequency(s, features) }, problems)
}

func testFeaturePasses(t *testing.T, create func(s *Shape, features int) featurePasses, problems []factoredProblem) {
	asmtest.EachLevel(t, func(t *testing.T) {
		dev := newCPU(t, 2)
		host := tensor.HostBuffer
		for _, c := range problems {
			s, want, k := &c.live, c.want, c.factors()
			p := create(&c.largest, c.features)
			prepared, scratch := p.Sizes(&c.largest, false)
			if err := p.Bind(dev, &c.largest); err != nil {
				t.Fatal(err)
			}
			compare := func(what string, got guarded, want []float64) {
				t.Helper()
				compareNorm(t, c.name+": "+what, got.values(), want, nil)
			}
			// Everything that is to be written starts as NaN, and so does the
			// border behind it, which must stay.
			pre, tmp := poisoned(prepared), poisoned(scratch)
			y, dx, dbias, d := poisoned(len(want.y)), poisoned(len(want.dx)), poisoned(s.Out), c.gradients()
			clear(dbias.values())
			p.Prepare(pre.buffer(), k, host(c.bias), tmp.buffer(), s)
			p.Forward(y.buffer(), host(c.x), pre.buffer(), tmp.buffer(), s)
			p.Backward(d.factors(), k, dbias.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			compare("y", y, want.y)
			compare("dx", dx, want.dx)
			compareEach(t, c.name+": dbias", dbias.values(), want.dbias, want.sizeBias)
			d.compare(t, c.name, &want)
			switch p.(type) {
			case *lowRank, *perElement: // the errors of others show where all of db cancels
				compare("db", d.b, want.db)
			}

			// Adding to gradients that are there.
			sum, twice, sizes := make([]float64, len(want.dx)), make([]float64, s.Out), make([]float64, s.Out)
			for i := range sum {
				dx.values()[i] = float32(i % 7)
				sum[i] = want.dx[i] + float64(i%7)
			}
			for o := range twice {
				twice[o], sizes[o] = 2*want.dbias[o], 2*want.sizeBias[o]
			}
			p.Backward(d.factors(), k, dbias.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, true)
			compare("dx added", dx, sum)
			compareEach(t, c.name+": dbias added", dbias.values(), twice, sizes)

			// Without gradients of x, bias and scale, and without a Forward before.
			p.Prepare(pre.buffer(), k, tensor.Buffer{}, tmp.buffer(), s)
			few, again := d.factors(), c.gradients()
			again.scale = d.scale
			few.F, few.W, few.B, few.Scale = again.f.buffer(), again.w.buffer(), again.b.buffer(), tensor.Buffer{}
			p.Backward(few, k, tensor.Buffer{}, tensor.Buffer{}, host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			again.compare(t, c.name+": alone", &want)
			for what, g := range map[string]interface{ intact() bool }{"prepared": pre, "scratch": tmp, "y": y, "dx": dx, "dbias": dbias, "d": &d, "d alone": &again} {
				if !g.intact() {
					t.Errorf("%s: written beyond %s", c.name, what)
				}
			}

			// Prepared for inference alone, with spectra kept and without.
			plain, plane := make([]float64, len(want.y)), s.NOut*s.OutH*s.OutW*s.B
			for i := range plain {
				plain[i] = want.y[i] - float64(c.bias[i/plane])
			}
			for _, keep := range []bool{false, true} {
				frozen := create(&c.largest, c.features)
				if keep {
					k, ok := frozen.(interface{ KeepSpectra() })
					if !ok {
						continue
					}
					k.KeepSpectra()
				}
				prepared, scratch = frozen.Sizes(&c.largest, true)
				if err := frozen.Bind(dev, &c.largest); err != nil {
					t.Fatal(err)
				}
				once, spare, again := poisoned(prepared), poisoned(scratch), poisoned(len(want.y))
				for _, bias := range []tensor.Buffer{host(c.bias), {}} {
					size, what := want.y, "y, frozen"
					if bias.IsZero() {
						size, what = plain, "y without bias, frozen"
					}
					frozen.Prepare(once.buffer(), k, bias, spare.buffer(), s)
					for range 2 {
						frozen.Forward(again.buffer(), host(c.x), once.buffer(), spare.buffer(), s)
						compare(what, again, size)
					}
				}
				for what, g := range map[string]guarded{"prepared once": once, "spare": spare, "y again": again} {
					if !g.intact() {
						t.Errorf("%s, spectra kept %v: written beyond %s", c.name, keep, what)
					}
				}
			}
		}
	})
}

// TestLowRankPays holds the choice to what was measured.
func TestLowRankPays(t *testing.T) {
	for _, c := range []struct {
		in, out, n, plane, batch, side, features int
		padding                                  Padding
		pairs, want                              bool
	}{
		{128, 128, 8, 16, 64, 3, 8, Same, false, true},
		{128, 128, 4, 16, 64, 3, 8, Same, false, false}, // but close
		{128, 128, 2, 16, 64, 3, 8, Same, false, false},
		{256, 256, 4, 8, 64, 3, 8, Same, false, true},
		{256, 256, 4, 4, 64, 3, 8, Same, false, true},
		{256, 256, 4, 4, 1, 3, 8, Same, false, false}, // the batch is thin
		{64, 64, 8, 7, 64, 7, 32, Valid, false, true},
		{10, 10, 8, 7, 64, 7, 32, Valid, false, false},
		{32, 32, 8, 14, 64, 7, 32, Same, false, false},
		{10, 10, 8, 28, 64, 7, 32, Same, false, false},
		{256, 256, 4, 16, 16, 3, 8, Same, false, true},
		{256, 256, 4, 16, 16, 3, 8, Same, true, false}, // two products in place of three
	} {
		s := newShape(c.in, c.out, c.n, c.n, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
		if got := lowRankPays(s, c.features, c.pairs); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
