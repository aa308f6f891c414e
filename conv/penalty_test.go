package conv

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// penalised makes a layer with a penalty of its norms, with biases, at random elements.
func penalised(t *testing.T, k kind, cfg Config, z sizes, nIn, nOut, threads, lists int, weight float64) *harness {
	t.Helper()
	return penalisedLists(t, k, cfg, z, nIn, nOut, threads, lists, weight, false)
}

// penalisedLists is penalised with lists that may have weights.
func penalisedLists(t *testing.T, k kind, cfg Config, z sizes, nIn, nOut, threads, lists int, weight float64, weighted bool) *harness {
	t.Helper()
	cfg.Name, cfg.Hidden, cfg.InputGrad = "conv", 12, true
	h := newPenaltyHarness(t, k, cfg, z, threads, false, lists, weighted, weight)
	src := stream.New(1, "penalty", 0)
	h.place(src, nIn, nOut)
	for _, p := range h.Parameters() {
		if strings.HasSuffix(p.Name, "bias") { // they start at zero
			for i := range p.Host {
				p.Host[i] = float32(0.2 * src.Normal())
			}
		}
	}
	h.params.Upload()
	h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), 1))
	return h
}

func euclidean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// TestPenalty compares the norms and all their gradients with those of the definition,
// for every kind of layer and every algorithm.
func TestPenalty(t *testing.T) {
	const weight = 0.25
	for i, c := range []struct {
		kind      kind
		cfg       Config
		z         sizes
		nIn, nOut int
	}{
		{lifting, Config{In: 2, Out: 3, Side: 5, Bias: true, Omega0: 4}, sizes{1, 3, 6, 5, 2}, 1, 3},
		{groupwise, Config{In: 2, Out: 3, Side: 3, Bias: true, Omega0: 4}, sizes{3, 4, 5, 4, 3}, 2, 3},
		{groupwise, Config{In: 3, Out: 2, Side: 3, Group: lie.T2, Omega0: 4}, sizes{1, 1, 4, 4, 2}, 1, 1},
		{pointwise, Config{In: 2, Out: 3, Omega0: 4}, sizes{3, 4, 3, 4, 2}, 3, 2},
		{depthwise, Config{Out: 3, Side: 3, Bias: true, Omega0: 4}, sizes{3, 3, 5, 4, 2}, 3, 3},
	} {
		for _, mode := range []struct {
			algorithm Algorithm
			lists     int
		}{{Taps, 1}, {LowRank, 1}, {Frequency, 1}, {Auto, c.z.b}} {
			if mode.algorithm == Frequency && c.kind == pointwise || c.kind == depthwise && mode.algorithm != Taps && mode.lists == 1 {
				continue
			}
			c.cfg.Algorithm = mode.algorithm
			t.Run(fmt.Sprintf("%d-%v/algorithm=%s/lists=%d", i, c.kind, mode.algorithm, mode.lists), func(t *testing.T) {
				h := penalised(t, c.kind, c.cfg, c.z, c.nIn, c.nOut, 2, mode.lists, weight)
				moves := []gradcheck.Variable{elements("u", h.cfg.Group, h.u)}
				if h.v != nil {
					moves = append(moves, elements("v", h.cfg.Group, h.v))
				}
				proj := gradcheck.NewProjection(h.dev, c.cfg.Out*c.nOut*h.out.H*h.out.W*h.out.B, 3)
				trained := len(h.Parameters())
				for _, p := range h.Parameters() {
					if !p.Trained() {
						trained--
					}
				}
				lists := func(x [][]float64) (u, v []lie.Element) {
					u = moved(h.cfg.Group, h.u.G, x[trained+1])
					if h.v != nil {
						v = moved(h.cfg.Group, h.v.G, x[trained+2])
					}
					return u, v
				}
				norms := func(x [][]float64) float64 {
					u, v := lists(x)
					values, sum := x[:trained], 0.0
					if h.bias != nil {
						sum, values = euclidean(values[0]), values[1:]
					}
					var all []float64
					for s := range mode.lists {
						k, _ := h.rendered(values, part(u, s, mode.lists), part(v, s, mode.lists))
						all = append(all, k...)
					}
					return weight * (sum + euclidean(all))
				}
				gradcheck.Run(t, gradcheck.Case{
					Device: h.dev, Params: h.Parameters(), Inputs: []*nn.Map{h.in}, Variables: moves,
					Loss: func() float64 {
						h.Forward(true)
						return proj.Loss(h.out.Live()) + h.Penalty()
					},
					Backward: func() { proj.Seed(h.out); h.Backward() },
					Reference: func(x [][]float64) float64 {
						u, v := lists(x)
						return proj.Of(h.listsReference(x[:trained], x[trained], u, v)) + norms(x)
					},
					Step: 1.0 / 256, Elements: 2,
					Tolerance: 3e-2, // of single precision differences; the float64 ones decide
				})

				// With no gradient from above, the penalty's is what there is.
				for _, p := range h.Parameters() {
					if p.Trained() {
						h.dev.Fill(p.Grad, 0)
					}
				}
				h.Forward(true)
				h.dev.Fill(h.out.Grad, 0)
				h.Backward()
				for _, p := range h.Parameters() {
					if p.Trained() && euclidean(widen(h.download(p.Grad))) < 1e-4 {
						t.Errorf("the penalty leaves %s without a gradient", p.Name)
					}
				}
			})
		}
	}
}

// TestPenaltyOfPairs: elements in pairs, of whose kernel half is rendered, have the
// norms and gradients that they have alone.
func TestPenaltyOfPairs(t *testing.T) {
	var want []float32
	for _, a := range []Algorithm{Taps, Frequency} {
		h := penalised(t, groupwise, Config{In: 3, Out: 4, Side: 5, Bias: true, Algorithm: a}, sizes{4, 4, 6, 6, 16}, 4, 4, 1, 1, 1)
		for _, e := range []*gumbel.Elements{h.u, h.v} {
			e.Rigid = true
			for i, g := range lie.SE2.Grid(4) {
				e.G[i] = lie.SE2.Product(g, lie.Element{0.3})
			}
		}
		h.Forward(true)
		if a == Frequency != h.shape.Paired {
			t.Fatalf("%s: elements in pairs %v", a, h.shape.Paired)
		}
		h.dev.Fill(h.out.Grad, 0)
		h.out.Accumulate()
		h.Backward()
		got := []float32{float32(h.Penalty())}
		for _, p := range h.Parameters() {
			if p.Trained() {
				got = append(got, h.download(p.Grad)...)
			}
		}
		if want == nil {
			want = got
			continue
		}
		if d := maxDiff(got, want); !(d <= 1e-5*float64(want[0])) || want[0] < 1 {
			t.Errorf("off by %v, penalty %v", d, want[0])
		}
	}
}

// dropOne gives the elements of each list weights, one of them 0, and returns where in G those stand that are kept.
func dropOne(e *gumbel.Elements) (kept []int) {
	n := e.Len()
	e.Weight, e.WeightGrad = make([]float64, len(e.G)), make([]float64, len(e.G))
	for i := range e.G {
		if i%n != (2+i/n)%n {
			e.Weight[i] = 0.5 + float64(i)
			kept = append(kept, i)
		}
	}
	return kept
}

// TestPenaltyOfDropped: with elements that were dropped, the norms and gradients are those of a layer that has only
// the others.
func TestPenaltyOfDropped(t *testing.T) {
	for _, c := range []struct {
		kind  kind
		cfg   Config
		z     sizes
		pairs bool
	}{
		{lifting, Config{In: 2, Out: 3, Side: 5, Bias: true, Algorithm: Frequency}, sizes{1, 3, 6, 5, 2}, false},
		{groupwise, Config{In: 2, Out: 3, Side: 3, Bias: true, Algorithm: LowRank}, sizes{3, 4, 5, 4, 3}, false},
		{groupwise, Config{In: 2, Out: 3, Side: 3, Algorithm: Taps}, sizes{3, 4, 5, 4, 3}, false},
		{groupwise, Config{In: 2, Out: 3, Side: 3, Group: lie.E2, Algorithm: Auto}, sizes{4, 4, 5, 4, 3}, false},
		{groupwise, Config{In: 3, Out: 4, Side: 5, Algorithm: Frequency}, sizes{4, 4, 6, 6, 16}, true},
		{groupwise, Config{In: 3, Out: 4, Side: 5, Group: lie.E2, Algorithm: Frequency}, sizes{4, 8, 6, 6, 16}, true},
		{pointwise, Config{In: 2, Out: 3, Algorithm: Taps}, sizes{3, 4, 3, 4, 2}, false},
		{depthwise, Config{Out: 3, Side: 3, Bias: true, Algorithm: Auto}, sizes{3, 3, 5, 4, 2}, false},
	} {
		for _, lists := range []int{1, c.z.b} {
			if c.cfg.Algorithm != Auto && lists > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%v/algorithm=%s/lists=%d", c.kind, c.cfg.Algorithm, lists), func(t *testing.T) {
				h := penalisedLists(t, c.kind, c.cfg, c.z, c.z.maxIn, c.z.maxOut, 2, lists, 1, true)
				few := penalised(t, c.kind, c.cfg, c.z, c.z.maxIn, c.z.maxOut, 2, lists, 1)
				var kept [2][]int
				for k, e := range [2][2]*gumbel.Elements{{h.u, few.u}, {h.v, few.v}} {
					if e[0] == nil {
						continue
					}
					if c.pairs {
						e[0].Rigid = true
						copy(e[0].G, h.cfg.Group.Grid(e[0].Len()))
					}
					if c.pairs && e[0] == h.v { // weights that the kernel has would tell pairs apart
						copy(e[1].G, e[0].G)
						continue
					}
					kept[k] = dropOne(e[0])
					e[1].SetLen(e[0].Len() - 1)
					for i, at := range kept[k] {
						e[1].G[i] = e[0].G[at]
					}
				}
				switch {
				case few.v != nil:
					few.in.Written(few.v.Len())
				case c.kind == depthwise:
					few.in.Written(few.u.Len())
				}
				gradients := func(h *harness) (all []float32) {
					h.Forward(true)
					h.dev.Fill(h.out.Grad, 0)
					h.out.Accumulate()
					h.Backward()
					all = append(all, float32(h.Penalty()))
					for _, p := range h.Parameters() {
						if p.Trained() {
							all = append(all, h.download(p.Grad)...)
						}
					}
					return all
				}
				got, want := gradients(h), gradients(few)
				if h.shape.Paired != c.pairs {
					t.Fatalf("elements in pairs: %v", h.shape.Paired)
				}
				if d := maxDiff(got, want); !(d <= 1e-5*float64(want[0])) || want[0] < 0.1 {
					t.Errorf("off by %v, penalty %v, want %v", d, got[0], want[0])
				}
				if c.pairs { // which have no gradient of their own
					return
				}
				for k, e := range [2][2]*gumbel.Elements{{h.u, few.u}, {h.v, few.v}} {
					if e[0] == nil {
						continue
					}
					want := make([]lie.Vector, len(e[0].G))
					for i, at := range kept[k] {
						want[at] = e[1].Grad[i]
					}
					for i, got := range e[0].Grad {
						for axis := range got {
							if d := math.Abs(got[axis] - want[i][axis]); !(d <= 1e-4) {
								t.Errorf("gradient of element %d: %v, want %v", i, got, want[i])
							}
						}
					}
				}
			})
		}
	}
}

// TestPenaltyOfOneList: a penalty can leave out what is dropped of either list, where the other has no weights.
func TestPenaltyOfOneList(t *testing.T) {
	h := newHarness(t, groupwise, Config{Name: "conv", In: 1, Out: 1, Side: 3}, sizes{3, 2, 3, 3, 1}, 1, true)
	for _, weighted := range [][2]bool{{false, false}, {true, false}, {false, true}} {
		h.u.Weighted, h.v.Weighted = weighted[0], weighted[1]
		p := h.planPenalty(&nn.Plan{Arena: new(tensor.Arena), NormPenalty: 1}, 5)
		if p.counts != (weighted[0] || weighted[1]) {
			t.Errorf("output and input elements weighted %v: positions are counted %v", weighted, p.counts)
		}
	}
}

// TestPenaltyOfZeros: the norm of a kernel of zeros has a kink, and adds nothing to the gradients.
func TestPenaltyOfZeros(t *testing.T) {
	h := penalised(t, groupwise, Config{In: 2, Out: 3, Side: 3}, sizes{2, 2, 3, 3, 2}, 2, 2, 1, 1, 1)
	for _, p := range h.Parameters() {
		if strings.Contains(p.Name, "kernel_net.4.") { // the last linear map
			clear(p.Host)
		}
	}
	h.params.Upload()
	h.Forward(true)
	h.dev.Fill(h.out.Grad, 0)
	h.out.Accumulate()
	h.Backward()
	if h.Penalty() != 0 {
		t.Errorf("the penalty is %v", h.Penalty())
	}
	for _, p := range h.Parameters() {
		if !p.Trained() {
			continue
		}
		for _, g := range h.download(p.Grad) {
			if g != 0 {
				t.Fatalf("a gradient of %s is %v", p.Name, g)
			}
		}
	}
}

// TestPenaltyLeavesMaps: a penalty, whose memory the weighted input and its gradient had before, changes nothing about
// the gradients of maps and of weights.
func TestPenaltyLeavesMaps(t *testing.T) {
	gradients := func(weight float64) []float32 {
		cfg := Config{Name: "conv", In: 4, Out: 4, Side: 5, Hidden: 32, InputGrad: true}
		h := newPenaltyHarness(t, groupwise, cfg, sizes{6, 6, 5, 5, 8}, 2, false, 8, true, weight)
		h.place(stream.New(1, "maps", 0), 6, 6)
		dropOne(h.v)
		h.dev.Upload(h.in.Value, gradcheck.Normal(h.in.Size(), 1))
		h.Forward(true)
		h.dev.Upload(h.out.Grad, gradcheck.Normal(h.out.Size(), 2))
		h.out.Accumulate()
		h.Backward()
		all := h.download(h.in.Grad)
		for _, g := range h.v.WeightGrad {
			all = append(all, float32(g))
		}
		return all
	}
	want := gradients(0)
	if d := maxDiff(gradients(1), want); d != 0 || maxDiff(want, make([]float32, len(want))) < 1 {
		t.Errorf("off by %v", d)
	}
}

// TestPenaltyOfKernelNets: with every kind of kernel network, weight normalisation and
// learned frequencies too, the gradient is what the network makes of that of the
// rendered kernel's norm.
func TestPenaltyOfKernelNets(t *testing.T) {
	for _, c := range []Config{
		{KernelNet: SIREN, LearnOmega: true, WeightNorm: true},
		{KernelNet: MAGNet}, {KernelNet: Gabor, WeightNorm: true}, {KernelNet: Fourier},
		{KernelNet: MLP, Activation: siren.Swish, Norm: siren.LayerNorm},
	} {
		for _, a := range []Algorithm{Taps, LowRank} {
			t.Run(fmt.Sprintf("net=%s/algorithm=%s", c.KernelNet, a), func(t *testing.T) {
				c.In, c.Out, c.Side, c.Algorithm = 2, 3, 3, a
				h := penalised(t, groupwise, c, sizes{3, 2, 3, 3, 2}, 3, 2, 1, 1, 1)
				gradients := func() (all []float32) {
					for _, p := range h.Parameters() {
						if p.Trained() {
							all = append(all, h.download(p.Grad)...)
							h.dev.Fill(p.Grad, 0)
						}
					}
					all = append(all, h.download(h.dx)[:h.coords.rows()*h.positions]...)
					return all
				}
				h.Forward(true)
				h.dev.Fill(h.out.Grad, 0)
				h.out.Accumulate()
				h.Backward()
				penalty, got := h.Penalty(), gradients()

				x := h.x.Slice(0, h.coords.rows()*h.positions)
				kernel, err := h.dev.Alloc(h.net.Out() * h.positions)
				if err != nil {
					t.Fatal(err)
				}
				h.net.Forward(kernel, x, h.positions)
				norm := euclidean(widen(h.download(kernel)))
				if !(math.Abs(penalty-norm) <= 1e-5*norm) {
					t.Errorf("penalty %v, the norm is %v", penalty, norm)
				}
				h.dev.Scale(kernel, float32(1/norm), kernel)
				h.net.Backward(kernel, h.dx.Slice(0, x.Len()))
				want := gradients()
				if d, size := maxDiff(got, want), maxDiff(want, make([]float32, len(want))); !(d <= 2e-5*size) {
					t.Errorf("off by %v of %v", d, size)
				}
			})
		}
	}
}

// TestPenaltyAllocations: a step with a penalty allocates nothing, one without is none
// the wiser, and a plan for inference has none.
func TestPenaltyAllocations(t *testing.T) {
	cfg := Config{Name: "conv", In: 4, Out: 5, Side: 5, Bias: true}
	size := func(weight float64, inference bool) int {
		h := newPenaltyHarness(t, groupwise, cfg, sizes{3, 4, 9, 8, 16}, 2, inference, 1, false, weight)
		if !inference {
			h.step()
			if n := testing.AllocsPerRun(10, func() { h.in.Written(h.in.N); h.Forward(true); h.Backward() }); n != 0 {
				t.Errorf("weight %v: %v allocations in a step", weight, n)
			}
		}
		if got := h.Penalty(); (got != 0) != (weight != 0 && !inference) {
			t.Errorf("weight %v, inference %v: penalty %v", weight, inference, got)
		}
		return h.arena.Size()
	}
	if plain, with := size(0, true), size(1, true); plain != with {
		t.Errorf("inference takes %d values, %d with a penalty", plain, with)
	}
	size(0, false)
	size(1, false)
}
