package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// factored are the passes from features by their definition, in float64.
type factored struct {
	y, dx, df, dw, db []float64
}

// factoredDefinition renders the kernel of each list of elements and loops over
// everything.
func factoredDefinition(s *Shape, features int, x, f, w, b, bias, dy []float32) factored {
	t := len(s.Offsets)
	columns := s.NOut * s.NIn * t // of one list
	pairs := s.Out * s.In
	lists := s.lists()
	d := factored{
		y: make([]float64, s.Targets()*s.OutH*s.OutW*s.B), dx: make([]float64, s.Sources()*s.H*s.W*s.B),
		df: make([]float64, features*lists*columns), dw: make([]float64, pairs*features), db: make([]float64, pairs),
	}
	kernel, dk := make([]float64, pairs*columns), make([]float64, pairs*columns)
	for l := range lists {
		feature := func(k, col int) int { return (k*lists+l)*columns + col }
		for p := range pairs {
			for col := range columns {
				v := float64(b[p])
				for k := range features {
					v += float64(w[p*features+k]) * float64(f[feature(k, col)])
				}
				kernel[p*columns+col], dk[p*columns+col] = v, 0
			}
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
					for e := b0; e < b1; e++ {
						d.y[at+e] = float64(bias[o])
					}
					for src := range s.Sources() {
						c, j := src/s.NIn, src%s.NIn
						for k, off := range s.Offsets {
							r, cc := row+off.Row, col+off.Col
							if r < 0 || r >= s.H || cc < 0 || cc >= s.W {
								continue
							}
							ki := (o*s.In+c)*columns + (i*s.NIn+j)*t + k
							xi := ((src*s.H+r)*s.W + cc) * s.B
							for e := b0; e < b1; e++ {
								xv, g := float64(x[xi+e]), float64(dy[at+e])
								d.y[at+e] += kernel[ki] * xv
								d.dx[xi+e] += kernel[ki] * g
								dk[ki] += xv * g
							}
						}
					}
				}
			}
		}
		for p := range pairs {
			for col := range columns {
				g := dk[p*columns+col]
				d.db[p] += g
				for k := range features {
					d.dw[p*features+k] += g * float64(f[feature(k, col)])
					d.df[feature(k, col)] += g * float64(w[p*features+k])
				}
			}
		}
	}
	return d
}

// factoredProblem is a shape with data and the right results.
type factoredProblem struct {
	name                 string
	features             int
	largest, live        Shape
	x, dy, f, w, b, bias []float32
	want                 factored
}

// factoredProblems returns shapes of all kinds: planes smaller than the kernel,
// thin and wide batches, channels and features of one block and of several, fewer
// live elements than planned.
func factoredProblems(perElement bool) []factoredProblem {
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
		{4, 4, 4, 4, 4, 4, 7, 7, 4, 7, 6, Valid}, // to one position
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
	for range 20 {
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
		p := &problems[i]
		p.name, p.features = fmt.Sprintf("%+v", e), e.features
		p.largest = *newShape(e.in, e.out, e.maxIn, e.maxOut, e.h, e.w, e.b, grid(e.side), e.side, e.padding)
		p.largest.PerElement = perElement
		s := p.largest
		s.NIn, s.NOut = e.nIn, e.nOut
		p.live = s
		src := stream.New(2, p.name, 0)
		random := func(n int, scale float64) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(scale * src.Normal())
			}
			return x
		}
		p.x, p.dy = random(s.Sources()*s.H*s.W*s.B, 1), random(s.Targets()*s.OutH*s.OutW*s.B, 1)
		p.f = random(e.features*s.lists()*s.NOut*s.NIn*len(s.Offsets), 1)
		p.w, p.b, p.bias = random(s.Out*s.In*e.features, 1), random(s.Out*s.In, 1), random(s.Out, 1)
		p.want = factoredDefinition(&s, e.features, p.x, p.f, p.w, p.b, p.bias, p.dy)
	}
	return problems
}

func TestLowRank(t *testing.T) {
	testFeaturePasses(t, func(_ *Shape, features int) FeaturePasses { return newLowRank(features) }, factoredProblems(false))
}

func TestPerElement(t *testing.T) {
	testFeaturePasses(t, func(s *Shape, features int) FeaturePasses { return newPerElement(s, features) }, factoredProblems(true))
}

func testFeaturePasses(t *testing.T, create func(s *Shape, features int) FeaturePasses, problems []factoredProblem) {
	asmtest.EachLevel(t, func(t *testing.T) {
		dev := newCPU(t, 2)
		host := tensor.HostBuffer
		for _, c := range problems {
			s, want := &c.live, c.want
			p := create(&c.largest, c.features)
			if p == nil {
				continue
			}
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
			y, dx := poisoned(len(want.y)), poisoned(len(want.dx))
			df, dw, db := poisoned(len(want.df)), poisoned(len(want.dw)), poisoned(len(want.db))
			p.Prepare(pre.buffer(), host(c.f), host(c.w), host(c.b), host(c.bias), tmp.buffer(), s)
			p.Forward(y.buffer(), host(c.x), pre.buffer(), tmp.buffer(), s)
			p.Backward(df.buffer(), dw.buffer(), db.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			compare("y", y, want.y)
			compare("dx", dx, want.dx)
			compare("df", df, want.df)
			compare("dw", dw, want.dw)
			compare("db", db, want.db)

			// Adding to a gradient that is there.
			sum := make([]float64, len(want.dx))
			for i := range sum {
				dx.values()[i] = float32(i % 7)
				sum[i] = want.dx[i] + float64(i%7)
			}
			p.Backward(df.buffer(), dw.buffer(), db.buffer(), dx.buffer(), host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, true)
			compare("dx added", dx, sum)

			// Without a gradient of x; prepared as for inference, without a bias.
			short, _ := p.Sizes(&c.largest, true)
			p.Backward(df.buffer(), dw.buffer(), db.buffer(), tensor.Buffer{}, host(c.x), host(c.dy), pre.buffer(), tmp.buffer(), s, false)
			compare("df alone", df, want.df)
			frozen := poisoned(short)
			p.Prepare(frozen.buffer(), host(c.f), host(c.w), host(c.b), tensor.Buffer{}, tmp.buffer(), s)
			p.Forward(y.buffer(), host(c.x), frozen.buffer(), tmp.buffer(), s)
			plain := make([]float64, len(want.y))
			plane := s.NOut * s.OutH * s.OutW * s.B
			for i := range plain {
				plain[i] = want.y[i] - float64(c.bias[i/plane])
			}
			compare("y without bias", y, plain)
			for what, g := range map[string]guarded{"prepared": pre, "frozen": frozen, "scratch": tmp, "y": y, "dx": dx, "df": df, "dw": dw, "db": db} {
				if !g.intact() {
					t.Errorf("%s: written beyond %s", c.name, what)
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
		want                                     bool
	}{
		{128, 128, 8, 16, 64, 3, 8, Same, true},
		{128, 128, 4, 16, 64, 3, 8, Same, false}, // but close
		{128, 128, 2, 16, 64, 3, 8, Same, false},
		{256, 256, 4, 8, 64, 3, 8, Same, true},
		{256, 256, 4, 4, 64, 3, 8, Same, true},
		{256, 256, 4, 4, 1, 3, 8, Same, false}, // the batch is thin
		{64, 64, 8, 7, 64, 7, 32, Valid, true},
		{10, 10, 8, 7, 64, 7, 32, Valid, false},
		{32, 32, 8, 14, 64, 7, 32, Same, false},
		{10, 10, 8, 28, 64, 7, 32, Same, false},
	} {
		s := newShape(c.in, c.out, c.n, c.n, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
		if got := lowRankPays(s, c.features); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// featureBenchmarks are layers whose kernels have few features, or one kernel for
// each image.
var featureBenchmarks = []struct {
	name                         string
	in, out, nIn, nOut, features int
	plane, batch, side           int
	padding                      Padding
}{
	{"gcnn-g8", 128, 128, 8, 8, 8, 16, 64, 3, Same},
	{"gcnn-g4", 128, 128, 4, 4, 8, 16, 64, 3, Same},
	{"gcnn-g2", 128, 128, 2, 2, 8, 16, 64, 3, Same},
	{"mnist6", 10, 10, 8, 8, 32, 28, 64, 7, Same},
	{"mnist6-14", 10, 10, 8, 8, 32, 14, 64, 7, Same},
	{"mnist6-last", 10, 10, 8, 8, 32, 7, 64, 7, Valid},
	{"lifting", 1, 10, 1, 8, 32, 28, 64, 7, Same},
	{"pointwise", 10, 10, 8, 8, 16, 28, 64, 1, Same},
}

// BenchmarkFeatures measures the passes from features, with their preparation.
// GFLOP/s count the operations of the direct convolution.
func BenchmarkFeatures(b *testing.B) {
	for _, c := range featureBenchmarks {
		for _, a := range []struct {
			name       string
			perElement bool
			create     func(s *Shape) FeaturePasses
		}{
			{"lowrank", false, func(*Shape) FeaturePasses { return newLowRank(c.features) }},
			{"perelement", true, func(s *Shape) FeaturePasses { return newPerElement(s, c.features) }},
		} {
			for _, pass := range []string{"forward", "backward"} {
				for _, threads := range []int{1, 2} {
					b.Run(fmt.Sprintf("case=%s/algorithm=%s/pass=%s/threads=%d", c.name, a.name, pass, threads), func(b *testing.B) {
						s := newShape(c.in, c.out, c.nIn, c.nOut, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
						s.PerElement = a.perElement
						dev := newCPU(b, threads)
						p := a.create(s)
						if err := p.Bind(dev, s); err != nil {
							b.Fatal(err)
						}
						alloc := func(n int) tensor.Buffer {
							x, err := dev.Alloc(n)
							if err != nil {
								b.Fatal(err)
							}
							b.Cleanup(func() { dev.Free(x) })
							dev.Upload(x, gradcheck.Normal(n, 1))
							return x
						}
						pre, tmp := p.Sizes(s, false)
						x, y := alloc(s.Sources()*s.H*s.W*s.B), alloc(s.Targets()*s.OutH*s.OutW*s.B)
						f := alloc(c.features * s.lists() * s.NOut * s.NIn * len(s.Offsets))
						w, off := alloc(s.Out*s.In*c.features), alloc(s.Out*s.In)
						prepared, scratch, bias := alloc(pre), alloc(tmp), alloc(s.Out)
						run := func() {
							p.Prepare(prepared, f, w, off, bias, scratch, s)
							p.Forward(y, x, prepared, scratch, s)
						}
						run()
						if pass == "backward" {
							run = func() { p.Backward(f, w, off, x, x, y, prepared, scratch, s, false) }
							run()
						}
						b.ReportAllocs()
						for b.Loop() {
							run()
						}
						b.ReportMetric(s.Operations()*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					})
				}
			}
		}
	}
}
