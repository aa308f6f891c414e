package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// direct are the three passes by their definition, in float64, with the sums of
// magnitudes that bound the rounding errors.
type direct struct {
	y, dx, dk, db             []float64
	sizeY, sizeX, size, sizeB []float64
}

func definition(s *Shape, x, kernel, bias, dy []float32) direct {
	t, nt := len(s.Offsets), s.NIn*len(s.Offsets)
	d := direct{
		y: make([]float64, s.Targets()*s.OutH*s.OutW*s.B), dx: make([]float64, s.Sources()*s.H*s.W*s.B), dk: make([]float64, s.KernelSize()),
	}
	d.sizeY, d.sizeX, d.size = make([]float64, len(d.y)), make([]float64, len(d.dx)), make([]float64, len(d.dk))
	d.db, d.sizeB = make([]float64, s.Out), make([]float64, s.Out)
	for m := range s.Targets() {
		o, i := m/s.NOut, m%s.NOut
		for row := range s.OutH {
			for col := range s.OutW {
				at := ((m*s.OutH+row)*s.OutW + col) * s.B
				y, sizeY, dy := d.y[at:][:s.B], d.sizeY[at:][:s.B], dy[at:][:s.B]
				for b := range s.B {
					y[b] = float64(bias[o])
					sizeY[b] = math.Abs(float64(bias[o]))
					d.db[o] += float64(dy[b])
					d.sizeB[o] += math.Abs(float64(dy[b]))
				}
				for src := range s.Sources() {
					c, j := src/s.NIn, src%s.NIn
					for k, off := range s.Offsets {
						r, cc := row+off.Row, col+off.Col
						if r < 0 || r >= s.H || cc < 0 || cc >= s.W {
							continue
						}
						ki := (o*s.In+c)*s.NOut*nt + i*nt + j*t + k
						xi := ((src*s.H+r)*s.W + cc) * s.B
						w, dk, size := float64(kernel[ki]), 0.0, 0.0
						x, dx, sizeX := x[xi:][:s.B], d.dx[xi:][:s.B], d.sizeX[xi:][:s.B]
						for b := range s.B {
							xv, g := float64(x[b]), float64(dy[b])
							y[b] += w * xv
							sizeY[b] += math.Abs(w * xv)
							dx[b] += w * g
							sizeX[b] += math.Abs(w * g)
							dk += xv * g
							size += math.Abs(xv * g)
						}
						d.dk[ki] += dk
						d.size[ki] += size
					}
				}
			}
		}
	}
	return d
}

// trial is a shape, as it is planned and with the elements that are live.
type trial struct {
	name          string
	largest, live Shape
}

// trials returns shapes that take
// every path: few and many sources, thin and wide batches, planes smaller than
// the kernel, more rows than a panel holds, more columns than are packed at a
// time, fewer live elements than planned.
func trials() []trial {
	type example struct {
		in, out, maxIn, maxOut, nIn, nOut, h, w, b, side int
		padding                                          Padding
	}
	examples := []example{
		{6, 2, 3, 2, 3, 2, 6, 6, 16, 7, Same},    // clipped, several segments
		{10, 3, 5, 2, 4, 2, 6, 5, 17, 5, Same},   // clipped, ragged batch
		{20, 1, 3, 1, 3, 1, 3, 3, 33, 7, Same},   // many rows, kernel larger than the plane
		{4, 10, 2, 4, 2, 4, 5, 6, 17, 5, Same},   // thick targets
		{10, 5, 4, 8, 4, 7, 5, 5, 17, 3, Valid},  // both thick
		{8, 2, 1, 2, 1, 2, 4, 4, 64, 5, Same},    // planes a multiple of 4 KiB apart
		{1, 130, 1, 4, 1, 4, 3, 4, 3, 3, Same},   // more columns than are packed at a time
		{2, 2, 2, 2, 2, 2, 2, 2, 470, 3, Same},   // a batch longer than a block
		{3, 2, 1, 4, 1, 4, 9, 11, 20, 5, Same},   // few sources
		{1, 2, 1, 3, 1, 3, 14, 13, 1, 7, Same},   // one image
		{5, 4, 2, 3, 2, 3, 12, 12, 1, 5, Same},   // one image, many planes
		{4, 4, 4, 4, 4, 4, 7, 7, 64, 7, Valid},   // to one position
		{9, 2, 1, 3, 1, 3, 9, 8, 16, 5, Valid},   //
		{1, 3, 1, 2, 1, 2, 9, 8, 5, 7, Valid},    //
		{5, 40, 8, 8, 7, 5, 4, 3, 16, 1, Same},   // without extent
		{480, 2, 1, 2, 1, 2, 3, 3, 16, 1, Same},  // without extent, many rows
		{2, 9, 4, 8, 1, 1, 5, 5, 16, 3, Same},    // one live element of several
		{16, 16, 1, 1, 1, 1, 6, 6, 32, 3, Same},  // whole tiles
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 7, Same},     // one value
		{2, 1, 5, 1, 5, 1, 1, 40, 2, 3, Same},    // a flat plane
		{140, 60, 2, 1, 2, 1, 2, 2, 1, 3, Same},  // sums larger than are kept resident
		{12, 12, 8, 8, 8, 8, 3, 3, 16, 3, Valid}, // more sums than are kept resident
		{16, 8, 4, 4, 4, 4, 3, 4, 64, 3, Same},   // whole blocks of the matrix unit
		{24, 40, 4, 4, 4, 4, 2, 1, 32, 3, Same},  // several of them
		{31, 47, 2, 2, 2, 2, 3, 2, 61, 5, Same},  // not quite whole ones
		{40, 26, 2, 2, 2, 2, 5, 6, 61, 5, Same},  // enough for the gradient alone
		{53, 26, 2, 2, 2, 2, 3, 3, 32, 3, Same},  // too many for one block
		{26, 40, 2, 2, 2, 2, 6, 5, 32, 9, Same},  // taps that are not taken by axes
		{10, 9, 4, 4, 4, 4, 5, 6, 16, 5, Same},   // rows that are folded
		{9, 10, 4, 4, 4, 4, 4, 7, 16, 3, Same},   // an odd number of positions
		{10, 10, 4, 4, 4, 4, 6, 7, 16, 5, Valid}, //
		{71, 9, 4, 4, 4, 4, 2, 3, 16, 3, Same},   // sources in several parts
		{9, 71, 4, 4, 4, 4, 3, 2, 32, 3, Same},   // and targets
		{9, 8, 4, 4, 4, 4, 7, 7, 1, 7, Same},     // one image, and planes enough for the matrix unit
		{8, 10, 4, 4, 3, 4, 5, 6, 2, 3, Same},    // two, fewer live elements
		{24, 9, 2, 3, 2, 3, 9, 8, 3, 5, Valid},   // three
		{20, 20, 4, 4, 4, 4, 4, 5, 5, 7, Same},   // five, kernel larger than the plane
		{10, 25, 4, 4, 4, 4, 9, 9, 1, 7, Valid},  //
		{33, 31, 1, 1, 1, 1, 6, 7, 1, 1, Same},   // without extent
		{30, 31, 1, 1, 1, 1, 1, 40, 2, 3, Same},  // a flat plane
		{10, 5, 8, 3, 8, 3, 7, 7, 1, 7, Valid},   // to one position, one image
		{12, 6, 8, 2, 7, 2, 4, 3, 3, 3, Valid},   // to two positions
		{150, 3, 1, 1, 1, 1, 2, 2, 2, 3, Same},   // few positions, and taps outside
		{40, 20, 2, 1, 2, 1, 5, 5, 2, 5, Valid},  // sums of many terms
		{8, 16, 4, 4, 4, 4, 3, 4, 64, 1, Same},   // without extent, whole blocks of the matrix unit
		{31, 47, 2, 2, 2, 2, 3, 5, 61, 1, Same},  // not quite whole ones
		{75, 15, 4, 4, 4, 4, 5, 5, 17, 1, Same},  // many sources
		{8, 70, 4, 4, 4, 4, 2, 3, 32, 1, Same},   // many targets
		{10, 10, 5, 5, 3, 3, 6, 6, 16, 1, Same},  // live elements fill blocks, all do not
		{9, 19, 4, 3, 3, 2, 5, 5, 17, 5, Valid},  // to one position, fewer live elements
		{2, 3, 2, 4, 2, 4, 1, 1, 16, 3, Same},    // with taps outside
		{16, 16, 4, 4, 1, 2, 2, 2, 40, 1, Same},  // fewer live elements
		{4, 1, 8, 1, 7, 1, 1, 2, 16, 3, Same},    // planes of two positions
		{8, 14, 1, 1, 1, 1, 18, 18, 15, 5, Same}, // long rows that take most of the workspace
	}
	random := stream.New(1, "shapes", 0)
	more := 30
	if testing.Short() {
		more = 10 // slow under qemu and the race detector
	}
	for range more {
		e := example{
			in: 1 + random.IntN(6), out: 1 + random.IntN(6), maxIn: 1 + random.IntN(4), maxOut: 1 + random.IntN(4),
			side: 1 + 2*random.IntN(4), b: []int{1, 2, 3, 5, 16, 19, 32, 40}[random.IntN(8)],
		}
		e.nIn, e.nOut = 1+random.IntN(e.maxIn), 1+random.IntN(e.maxOut)
		e.h, e.w = 1+random.IntN(9), 1+random.IntN(9)
		if random.IntN(2) == 1 && e.h >= e.side && e.w >= e.side {
			e.padding = Valid
		}
		examples = append(examples, e)
	}
	list := make([]trial, len(examples))
	for i, e := range examples {
		c := &list[i]
		c.name = fmt.Sprintf("%+v", e)
		c.largest = *newShape(e.in, e.out, e.maxIn, e.maxOut, e.h, e.w, e.b, grid(e.side), e.side, e.padding)
		c.live = c.largest
		c.live.NIn, c.live.NOut = e.nIn, e.nOut
	}
	return list
}

// TestPasses compares the passes on rendered kernels with their definition.
func TestPasses(t *testing.T) {
	var problems []problem
	for _, c := range trials() {
		p, s := problem{trial: c}, &c.live
		src := stream.New(2, p.name, 0)
		p.x, p.dy = normal(src, s.Sources()*s.H*s.W*s.B), normal(src, s.Targets()*s.OutH*s.OutW*s.B)
		p.kernel, p.bias = normal(src, s.KernelSize()), normal(src, s.Out)
		p.want = definition(s, p.x, p.kernel, p.bias, p.dy)
		problems = append(problems, p)
	}
	testPasses(t, newDirect, problems)
}

// uneven are values of very different size, as those of a network in training are: values after a ReLU,
// in channels and images of different size, kernels and gradients of different size by channel, and
// gradients that come from a few images. Fixed point has its scales by row.
type uneven struct {
	trial
	x, dy    []float32
	channels []float32 // sizes [(o,c)]
}

func unevenProblems() []uneven {
	var list []uneven
	for _, b := range []int{64, 1} {
		var p uneven
		p.name = fmt.Sprintf("%d images", b)
		side := 5
		if testing.Short() {
			side = 3 // slow under qemu and the race detector
		}
		p.largest = *newShape(32, 16, 4, 4, 6, 6, b, grid(side), side, Same)
		p.live = p.largest
		s := &p.live
		src := stream.New(3, p.name, 0)
		size := func(spread float64) float64 { return math.Exp(spread * src.Normal()) }
		maps := func(channels, planes, positions int, byChannel, byImage float64) []float32 {
			x := make([]float32, 0, channels*planes*positions*b)
			images := make([]float64, b)
			for i := range images {
				images[i] = size(byImage)
			}
			for range channels {
				channel := size(byChannel)
				for range planes * positions {
					for _, image := range images {
						x = append(x, float32(src.Normal()*channel*image))
					}
				}
			}
			return x
		}
		p.x = maps(s.In, s.NIn, s.H*s.W, 0.7, 0.5)
		for i, v := range p.x {
			p.x[i] = max(v, 0)
		}
		p.dy = maps(s.Out, s.NOut, s.OutH*s.OutW, 0.7, 1.5)
		for range s.Out * s.In {
			p.channels = append(p.channels, float32(size(0.7)))
		}
		list = append(list, p)
	}
	return list
}

// TestPassesScales holds the passes to the same errors where channels and images are of very
// different size.
func TestPassesScales(t *testing.T) {
	var problems []problem
	for _, c := range unevenProblems() {
		s := &c.live
		p := problem{trial: c.trial, x: c.x, dy: c.dy, kernel: normal(stream.New(4, c.name, 0), s.KernelSize()), bias: make([]float32, s.Out)}
		n := len(p.kernel) / len(c.channels)
		for i := range p.kernel {
			p.kernel[i] *= c.channels[i/n]
		}
		p.want = definition(s, p.x, p.kernel, p.bias, p.dy)
		problems = append(problems, p)
	}
	testPasses(t, newDirect, problems)
}

// problem is a shape with data and the right results.
type problem struct {
	trial
	x, dy, kernel, bias []float32
	want                direct
}

func testPasses(t *testing.T, create func(s *Shape) Passes, problems []problem) {
	asmtest.EachLevel(t, func(t *testing.T) {
		host := tensor.HostBuffer
		for _, c := range problems {
			dev := newCPU(t, 2) // whose workspace is as large as these passes ask for
			s, want := &c.live, c.want
			p := create(&c.largest)
			compare := func(t *testing.T, what string, got []float32, want, size []float64) {
				t.Helper()
				compareEach(t, what, got, want, size)
				compareNorm(t, what, got, want, size)
			}
			prepared, scratch := p.Sizes(&c.largest, false)
			if err := p.Bind(dev, &c.largest); err != nil {
				t.Fatal(err)
			}
			// Everything that is to be written starts as NaN, and so does the
			// border behind it, which must stay.
			pre, tmp := poisoned(prepared), poisoned(scratch)
			y, dx, dk, db := poisoned(len(want.y)), poisoned(len(want.dx)), poisoned(len(want.dk)), poisoned(s.Out)
			clear(db.values())
			spoil(dev)
			p.Prepare(pre.buffer(), host(c.kernel), host(c.bias), tmp.buffer(), s)
			spoil(dev)
			p.Forward(y.buffer(), host(c.x), pre.buffer(), tmp.buffer(), s)
			spoil(dev)
			p.Backward(dk.buffer(), db.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			compare(t, c.name+": y", y.values(), want.y, want.sizeY)
			compare(t, c.name+": dx", dx.values(), want.dx, want.sizeX)
			compare(t, c.name+": dkernel", dk.values(), want.dk, want.size)
			compareEach(t, c.name+": dbias", db.values(), want.db, want.sizeB)

			// Adding to a gradient that is there.
			sum, size := make([]float64, len(want.dx)), make([]float64, len(want.dx))
			for i := range sum {
				dx.values()[i] = float32(i % 7)
				sum[i], size[i] = want.dx[i]+float64(i%7), want.sizeX[i]+float64(i%7)
			}
			spoil(dev)
			p.Backward(tensor.Buffer{}, tensor.Buffer{}, dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, true)
			compare(t, c.name+": dx added", dx.values(), sum, size)

			// Without a bias.
			spoil(dev)
			p.Prepare(pre.buffer(), host(c.kernel), tensor.Buffer{}, tmp.buffer(), s)
			spoil(dev)
			p.Forward(y.buffer(), host(c.x), pre.buffer(), tmp.buffer(), s)
			compare(t, c.name+": y without bias", y.values(), withoutBias(&c), want.sizeY)

			// Without a Forward before.
			spoil(dev)
			p.Prepare(pre.buffer(), host(c.kernel), tensor.Buffer{}, tmp.buffer(), s)
			spoil(dev)
			p.Backward(dk.buffer(), db.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			compare(t, c.name+": dx without forward", dx.values(), want.dx, want.sizeX)
			compare(t, c.name+": dkernel without forward", dk.values(), want.dk, want.size)
			twice, sizes := make([]float64, s.Out), make([]float64, s.Out)
			for o := range twice {
				twice[o], sizes[o] = 2*want.db[o], 2*want.sizeB[o]
			}
			compareEach(t, c.name+": dbias added", db.values(), twice, sizes)

			for what, g := range map[string]guarded{"prepared": pre, "scratch": tmp, "y": y, "dx": dx, "dkernel": dk, "dbias": db} {
				if !g.intact() {
					t.Errorf("%s: written beyond %s", c.name, what)
				}
			}

			testFrozen(t, dev, create(&c.largest), &c, compare)
		}
	})
}

// testFrozen plans for inference alone, with a bias and without.
func testFrozen(t *testing.T, dev *tensor.CPU, p Passes, c *problem, compare func(t *testing.T, what string, got []float32, want, size []float64)) {
	t.Helper()
	s := &c.live
	plain := withoutBias(c)
	prepared, scratch := p.Sizes(&c.largest, true)
	if err := p.Bind(dev, &c.largest); err != nil {
		t.Fatal(err)
	}
	pre, tmp, y := poisoned(prepared), poisoned(scratch), poisoned(len(c.want.y))
	for _, bias := range []tensor.Buffer{tensor.HostBuffer(c.bias), {}} {
		want, what := c.want.y, ": y, frozen"
		if bias.IsZero() {
			want, what = plain, ": y without bias, frozen"
		}
		spoil(dev)
		p.Prepare(pre.buffer(), tensor.HostBuffer(c.kernel), bias, tmp.buffer(), s)
		for range 2 {
			spoil(dev)
			p.Forward(y.buffer(), tensor.HostBuffer(c.x), pre.buffer(), tmp.buffer(), s)
			compare(t, c.name+what, y.values(), want, c.want.sizeY)
		}
	}
	for what, g := range map[string]guarded{"prepared once": pre, "spare": tmp, "y again": y} {
		if !g.intact() {
			t.Errorf("%s: written beyond %s", c.name, what)
		}
	}
}

// withoutBias returns y without the bias.
func withoutBias(c *problem) []float64 {
	s := &c.live
	plain := make([]float64, len(c.want.y))
	plane := s.NOut * s.OutH * s.OutW * s.B
	for i := range plain {
		plain[i] = c.want.y[i] - float64(c.bias[i/plane])
	}
	return plain
}

// compareNorm allows an error of a few roundings in the norm: a transform spreads
// the rounding errors of a plane over all of it.
func compareNorm(t *testing.T, what string, got []float32, want, _ []float64) {
	t.Helper()
	compareNormWithin(t, what, got, want, 1e-6)
}

func compareNormWithin(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	compareWithin(t, what, got, want, want, tolerance)
}

// compareSums is compareNorm for sums that may cancel: it allows an error in the norm of the sums of
// magnitudes.
func compareSums(t *testing.T, what string, got []float32, want, size []float64) {
	t.Helper()
	compareWithin(t, what, got, want, size, 1e-6)
}

// compareWithin allows an error of so much of the norm of size.
func compareWithin(t *testing.T, what string, got []float32, want, size []float64, tolerance float64) {
	t.Helper()
	var off, norm float64
	for i := range want {
		d := float64(got[i]) - want[i]
		off += d * d
		norm += size[i] * size[i]
	}
	if !(off <= tolerance*tolerance*norm) {
		t.Errorf("%s: off by %.3g of the norm", what, math.Sqrt(off/norm))
	}
}

// compareEach allows an error of a few roundings of the sum of magnitudes.
func compareEach(t *testing.T, what string, got []float32, want, size []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= 2e-6*size[i]+1e-30) {
			t.Errorf("%s: value %d is %v, want %v: off by %.3g of the sum of magnitudes %.3g", what, i, got[i], want[i], d/size[i], size[i])
			return
		}
	}
}

// guarded are n values with poison behind them.
type guarded []float32

const fence = 64

func poisoned(n int) guarded {
	g := make(guarded, n+fence)
	for i := range g {
		g[i] = float32(math.NaN())
	}
	return g
}

// spoil fills the workspace, whose contents are anything at the beginning of a pass, with NaN.
func spoil(dev *tensor.CPU) {
	for worker := range dev.Threads() {
		asm.Fill(dev.Workspace(worker), float32(math.NaN()))
	}
}

func (g guarded) values() []float32     { return g[:len(g)-fence] }
func (g guarded) buffer() tensor.Buffer { return tensor.HostBuffer(g.values()) }

func (g guarded) intact() bool {
	for _, v := range g[len(g)-fence:] {
		if !math.IsNaN(float64(v)) {
			return false
		}
	}
	return true
}

// TestGrid counts the live taps, and checks them against the mask's definition.
func TestGrid(t *testing.T) {
	for side, want := range map[int]int{1: 1, 3: 5, 5: 13, 7: 29, 9: 49, 11: 81, 21: 317} {
		taps := grid(side)
		if len(taps) != want {
			t.Errorf("side %d: %d live taps, want %d", side, len(taps), want)
		}
		last := -1
		for _, p := range taps {
			if r := math.Hypot(p.Q[0], p.Q[1]); r > 1+1e-15 {
				t.Errorf("side %d: a tap at radius %v", side, r)
			}
			if at := (p.Row+side/2)*side + p.Col + side/2; at <= last {
				t.Errorf("side %d: taps out of order", side)
			} else {
				last = at
			}
		}
	}
}
