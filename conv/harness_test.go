package conv

import (
	"math"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

func newCPU(t testing.TB, threads int) *tensor.CPU {
	t.Helper()
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// kind is a kind of layer.
type kind uint8

const (
	lifting kind = iota
	groupwise
	pointwise
	depthwise
)

func (k kind) String() string { return [...]string{"lifting", "group", "pointwise", "depthwise"}[k] }

// sizes are those of a layer's maps.
type sizes struct {
	maxIn, maxOut, h, w, b int
}

// harness is one layer with its input map and lists on a CPU.
type harness struct {
	*layer
	dev     *tensor.CPU
	params  nn.Parameters
	arena   tensor.Arena
	in, out *nn.Map
	u, v    *gumbel.Elements // v is nil for lifting and depthwise
}

func build(k kind, cfg Config, seed uint64) (*layer, error) {
	switch k {
	case lifting:
		l, err := NewLifting(cfg, seed)
		if err != nil {
			return nil, err
		}
		return l.layer, nil
	case groupwise:
		l, err := NewGroup(cfg, seed)
		if err != nil {
			return nil, err
		}
		return l.layer, nil
	case depthwise:
		cfg.In = cfg.Out
		l, err := NewDepthwise(cfg, seed)
		if err != nil {
			return nil, err
		}
		return l.layer, nil
	}
	l, err := NewPointwise(cfg, seed)
	if err != nil {
		return nil, err
	}
	return l.layer, nil
}

func newHarness(t testing.TB, k kind, cfg Config, z sizes, threads int, inference bool) *harness {
	t.Helper()
	return newListsHarness(t, k, cfg, z, threads, inference, 1)
}

// newListsHarness is newHarness with so many lists of elements: one, or one for
// each image.
func newListsHarness(t testing.TB, k kind, cfg Config, z sizes, threads int, inference bool, lists int) *harness {
	t.Helper()
	return newWeightedHarness(t, k, cfg, z, threads, inference, lists, false)
}

// newWeightedHarness is newListsHarness for input elements that may have weights.
func newWeightedHarness(t testing.TB, k kind, cfg Config, z sizes, threads int, inference bool, lists int, weighted bool) *harness {
	t.Helper()
	return newPenaltyHarness(t, k, cfg, z, threads, inference, lists, weighted, 0)
}

// newPenaltyHarness is newWeightedHarness with a penalty of norms of that weight.
func newPenaltyHarness(t testing.TB, k kind, cfg Config, z sizes, threads int, inference bool, lists int, weighted bool, norms float64) *harness {
	t.Helper()
	l, err := build(k, cfg, 11)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{layer: l, dev: newCPU(t, threads)}
	h.u = gumbel.NewLists(l.cfg.Group, z.maxOut, lists)
	h.u.Weighted = weighted && norms != 0
	p := &nn.Plan{Arena: &h.arena, Batch: z.b, Inference: inference, NormPenalty: norms}
	switch k {
	case lifting:
		h.in = p.Map(cfg.In, 1, z.h, z.w)
		h.out = (&Lifting{l}).Plan(p, h.in, h.u)
	case depthwise:
		h.in = p.Map(cfg.Out, z.maxOut, z.h, z.w)
		h.out = (&Depthwise{l}).Plan(p, h.in, h.u)
	default:
		h.v = gumbel.NewLists(l.cfg.Group, z.maxIn, lists)
		h.v.Weighted, h.v.Rigid = weighted, l.cfg.Group.Dim() == 0
		h.in = p.Map(cfg.In, z.maxIn, z.h, z.w)
		if k == groupwise {
			h.out = (&Group{l}).Plan(p, h.in, h.v, h.u)
		} else {
			h.out = (&Pointwise{l}).Plan(p, h.in, h.v, h.u)
		}
	}
	h.params.Add(l.Parameters()...)
	if err := h.arena.Bind(h.dev); err != nil {
		t.Fatal(err)
	}
	if err := h.params.Bind(h.dev); err != nil {
		t.Fatal(err)
	}
	l.Bind(h.dev)
	t.Cleanup(func() {
		h.arena.Release()
		h.params.Release()
	})
	return h
}

// place makes the lists random, of these lengths, and the input map live.
func (h *harness) place(src *stream.Stream, nIn, nOut int) {
	for _, e := range []struct {
		list *gumbel.Elements
		n    int
	}{{h.u, nOut}, {h.v, nIn}} {
		if e.list == nil {
			continue
		}
		e.list.SetLen(e.n)
		for i := range e.list.G {
			e.list.G[i] = h.cfg.Group.Haar(src)
		}
	}
	if h.depthwise {
		nIn = nOut
	}
	h.in.Written(nIn)
}

func (h *harness) download(b tensor.Buffer) []float32 {
	x := make([]float32, b.Len())
	h.dev.Download(x, b)
	return x
}

// psi evaluates the kernel network of a layer in float64 at positions [rows, P],
// giving [Out*In, P]. Values are those of the trained parameters behind the
// bias.
func (h *harness) psi(values [][]float64, x []float64) []float64 {
	in := h.coords.rows()
	positions := len(x) / in
	layers := len(values) / 2
	for i := range layers {
		w, b := values[2*i], values[2*i+1]
		out := len(b)
		y := make([]float64, out*positions)
		for o := range out {
			for p := range positions {
				s := b[o]
				for c := range in {
					s += w[o*in+c] * x[c*positions+p]
				}
				if i < layers-1 {
					s = math.Sin(h.omega() * s)
				}
				y[o*positions+p] = s
			}
		}
		x, in = y, out
	}
	return x
}

func (h *harness) omega() float64 {
	if h.cfg.Omega0 == 0 {
		return 10
	}
	return h.cfg.Omega0
}

// listsReference is reference for lists of elements: one, or one for each image.
func (h *harness) listsReference(values [][]float64, x []float64, u, v []lie.Element) []float64 {
	lists := h.u.Lists()
	if lists == 1 {
		return h.reference(values, x, u, v)
	}
	var y []float64
	image := make([]float64, len(x)/lists)
	for s := range lists {
		for i := range image {
			image[i] = x[i*lists+s]
		}
		of := h.reference(values, image, part(u, s, lists), part(v, s, lists))
		if y == nil {
			y = make([]float64, len(of)*lists)
		}
		for i, value := range of {
			y[i*lists+s] = value
		}
	}
	return y
}

// reference is the layer's definition in float64, with loops over everything:
// values of the trained parameters, input [C, n, H, W, batch], elements u and v
// (nil for lifting and depthwise). It shares no code with the layer but the group.
func (h *harness) reference(values [][]float64, x []float64, u, v []lie.Element) []float64 {
	k, nIn := h.cfg.Side, max(1, len(v))
	bias := make([]float64, h.cfg.Out)
	if h.bias != nil {
		bias, values = values[0], values[1:]
	}
	kernel, points := h.rendered(values, u, v)
	positions := len(u) * nIn * len(points)

	m := h.in
	elements := nIn
	if h.depthwise {
		elements = len(u)
	}
	batch := len(x) / (m.C * elements * m.H * m.W)
	outH, outW, shift := m.H, m.W, k/2
	if h.cfg.Padding == Valid {
		outH, outW, shift = m.H-k+1, m.W-k+1, 0
	}
	y := make([]float64, h.cfg.Out*len(u)*outH*outW*batch)
	plane := outH * outW * batch
	for o := range h.cfg.Out {
		for i := range u {
			y := y[(o*len(u)+i)*plane:][:plane]
			for k := range y {
				y[k] = bias[o]
			}
			for c := range h.cfg.In {
				for j := range nIn {
					source := c*nIn + j
					if h.depthwise {
						source = o*len(u) + i
					}
					x := x[source*m.H*m.W*batch:][:m.H*m.W*batch]
					for t, p := range points {
						w := kernel[(o*h.cfg.In+c)*positions+(i*nIn+j)*len(points)+t]
						for row := range outH {
							for col := range outW {
								r, cc := row+p.row-shift, col+p.col-shift
								if r < 0 || r >= m.H || cc < 0 || cc >= m.W {
									continue
								}
								x, y := x[(r*m.W+cc)*batch:][:batch], y[(row*outW+col)*batch:][:batch]
								for b, v := range x {
									y[b] += w * v
								}
							}
						}
					}
				}
			}
		}
	}
	return y
}

// point is a point of the kernel grid.
type point struct{ row, col int }

// rendered returns the kernel [Out*In, (i,j,t)] in float64, and the points t of the
// disc.
func (h *harness) rendered(values [][]float64, u, v []lie.Element) (kernel []float64, points []point) {
	g, k := h.cfg.Group, h.cfg.Side
	spatial, relative := h.coords.spatial, h.coords.relative
	nIn := max(1, len(v))
	// The grid point by point, the mask by its definition.
	var q [][2]float64
	for row := range k {
		for col := range k {
			at := [2]float64{}
			if k > 1 {
				at = [2]float64{2*float64(row)/float64(k-1) - 1, 2*float64(col)/float64(k-1) - 1}
			}
			if math.Hypot(at[0], at[1]) <= 1+1e-9 || h.window != nil {
				points, q = append(points, point{row, col}), append(q, at)
			}
		}
	}
	rows := h.coords.rows()
	positions := len(u) * nIn * len(points)
	coords := make([]float64, rows*positions)
	for i := range u {
		for j := range nIn {
			var rel lie.Coordinates
			if relative {
				rel = g.Relative(u[i], v[j])
			}
			for t := range points {
				at := (i*nIn+j)*len(points) + t
				r := 0
				if spatial {
					a := g.InverseAct(u[i], q[t])
					coords[at], coords[positions+at] = a[0], a[1]
					r = 2
				}
				if relative {
					for d := range g.Coordinates() {
						coords[(r+d)*positions+at] = rel[d]
					}
				}
			}
		}
	}
	kernel = h.psi(values, coords)
	if h.window == nil {
		return kernel, points
	}
	for k := range kernel {
		ui := u[k%positions/(nIn*len(points))]
		at := g.InverseAct(ui, q[k%len(points)])
		m := g.Matrix(ui)
		kernel[k] /= math.Abs(m[0][0]*m[1][1] - m[0][1]*m[1][0])
		if math.Hypot(at[0], at[1]) > 1+1e-9 {
			kernel[k] = 0
		}
	}
	return kernel, points
}
