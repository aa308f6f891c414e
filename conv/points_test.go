package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// TestPairedPoints compares the passes of kernels of one tap, for elements in pairs, with the definition of
// the convolution with the whole kernel.
func TestPairedPoints(t *testing.T) {
	random := stream.New(9, "paired points", 0)
	for _, e := range []struct{ in, out, maxIn, maxOut, nIn, nOut, h, w, b, runs int }{
		{8, 8, 2, 2, 2, 2, 1, 1, 16, 1},
		{5, 7, 4, 6, 4, 6, 3, 5, 17, 1}, // columns that no tile divides
		{4, 4, 4, 4, 4, 4, 2, 4, 16, 1}, // one block of columns
		{9, 3, 6, 9, 4, 8, 5, 5, 31, 1}, // fewer live than planned
		{3, 70, 8, 4, 8, 2, 3, 3, 19, 1},
		{70, 3, 8, 8, 8, 8, 3, 2, 19, 1}, // more sources than are summed at a time
		{17, 33, 4, 4, 4, 4, 2, 3, 64, 1},
		{5, 7, 4, 8, 4, 8, 3, 5, 17, 2},
		{70, 3, 12, 8, 12, 4, 3, 2, 19, 2},
	} {
		largest := newShape(e.in, e.out, e.maxIn, e.maxOut, e.h, e.w, e.b, grid(1), 1, Same)
		if !pairsPoints(largest) {
			t.Fatalf("%+v is not taken in pairs", e)
		}
		whole := *largest
		whole.NIn, whole.NOut = e.nIn, e.nOut
		s := whole
		s.Paired, s.Runs = true, e.runs
		half, kernel := normal(random, s.KernelSize()), make([]float32, whole.KernelSize())
		eachOfPairs(&s, func(whole, at int) { kernel[whole] = half[at] })
		p := problem{
			trial: trial{name: fmt.Sprintf("%+v", e), largest: *largest, live: s},
			x:     normal(random, s.Sources()*s.H*s.W*s.B), dy: normal(random, s.Targets()*s.H*s.W*s.B),
			kernel: half, bias: normal(random, s.Out),
		}
		want := definition(&whole, p.x, kernel, p.bias, p.dy)
		p.want = want
		p.want.dk, p.want.size = make([]float64, len(half)), make([]float64, len(half))
		eachOfPairs(&s, func(whole, at int) {
			p.want.dk[at] += want.dk[whole]
			p.want.size[at] += want.size[whole]
		})
		testPasses(t, func(*Shape) Passes { return newPoints() }, []problem{p})
	}
}

// TestPairedPointsThreads wants the same bits of one thread and of two.
func TestPairedPointsThreads(t *testing.T) {
	random := stream.New(9, "threads of points", 0)
	s := newShape(9, 40, 6, 4, 5, 5, 17, grid(1), 1, Same)
	s.Paired = true
	host := tensor.HostBuffer
	x, dy := normal(random, s.Sources()*s.H*s.W*s.B), normal(random, s.Targets()*s.H*s.W*s.B)
	kernel, bias := normal(random, s.KernelSize()), normal(random, s.Out)
	asmtest.EachLevel(t, func(t *testing.T) {
		var results [2][3][]float32
		for i, threads := range []int{1, 2} {
			p := newPoints()
			whole := *s
			whole.Paired = false
			prepared, scratch := p.Sizes(&whole, false)
			if err := p.Bind(newCPU(t, threads), &whole); err != nil {
				t.Fatal(err)
			}
			pre, tmp := poisoned(prepared), poisoned(scratch)
			y, dx, dk := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(kernel))
			p.Prepare(pre.buffer(), host(kernel), host(bias), tmp.buffer(), s)
			p.Forward(host(y), host(x), pre.buffer(), tmp.buffer(), s)
			p.Backward(host(dk), tensor.Buffer{}, host(dx), host(x), host(dy), pre.buffer(), tmp.buffer(), s, false)
			results[i] = [3][]float32{y, dx, dk}
		}
		for k, what := range []string{"y", "dx", "dkernel"} {
			equal(t, what, results[0][k], results[1][k])
		}
	})
}

// TestPointsAlone: elements that are no pairs are taken one by one.
func TestPointsAlone(t *testing.T) {
	random := stream.New(9, "points", 0)
	s := newShape(5, 7, 4, 6, 3, 5, 17, grid(1), 1, Same)
	p := problem{
		trial: trial{name: "no pairs", largest: *s, live: *s},
		x:     normal(random, s.Sources()*s.H*s.W*s.B), dy: normal(random, s.Targets()*s.H*s.W*s.B),
		kernel: normal(random, s.KernelSize()), bias: normal(random, s.Out),
	}
	p.want = definition(s, p.x, p.kernel, p.bias, p.dy)
	testPasses(t, func(*Shape) Passes { return newPoints() }, []problem{p})
}

// TestPointsPairs: where products are sliced, and as the algorithm taps, elements are taken one by one.
func TestPointsPairs(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		dev := newCPU(t, 1)
		for _, c := range []struct {
			channels  int
			algorithm Algorithm
		}{{8, Auto}, {32, Auto}, {8, Taps}} {
			s := newShape(c.channels, c.channels, 8, 8, 7, 7, 64, grid(1), 1, Same)
			p, _, err := choose(dev, s, c.algorithm, traits{features: 32})
			if err != nil {
				t.Fatal(err)
			}
			p.Sizes(s, false)
			if err := p.Bind(dev, s); err != nil {
				t.Fatal(err)
			}
			pairs, ok := p.(interface{ Pairs() bool })
			var f frame
			f.forward(s, s)
			if got, want := ok && pairs.Pairs(), c.algorithm == Auto && f.form != inPoints; got != want {
				t.Errorf("%d channels, %s: pairs %v, want %v", c.channels, c.algorithm, got, want)
			}
		}
	})
}
