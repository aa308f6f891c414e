package gumbel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/npz"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// goldenElements returns stored elements, angles or pairs of an angle and a sign,
// and their gradients in the places where layers put them.
func goldenElements(t *testing.T, z npz.Archive, key string, g lie.Group) (want []lie.Element, grad []lie.Vector) {
	values, _ := golden.Float64(t, z, key+".g")
	axes := len(g.Axes())
	for i := 0; i < len(values); i += axes {
		e := lie.Element{values[i]}
		if axes == 2 {
			e[1] = (1 - values[i+1]) / 2
		}
		want = append(want, e)
	}
	grad = make([]lie.Vector, len(want))
	if z.Has(key + ".grad_g") {
		values, _ = golden.Float64(t, z, key+".grad_g")
		for i, v := range values {
			grad[i/axes][i%axes] = v
		}
	}
	return want, grad
}

// goldenDraws returns the uniform numbers that were consumed, list by list: the
// published implementation draws those of an axis for all lists at once.
func goldenDraws(t *testing.T, z npz.Archive, key string) []float64 {
	var draws []float64
	for i := 0; z.Has(fmt.Sprintf("%s.u%02d", key, i)); i++ {
		u, _ := golden.Float64(t, z, fmt.Sprintf("%s.u%02d", key, i))
		draws = append(draws, u...)
	}
	return draws
}

// TestGoldenSamplers draws the reference's lists of every kind on both groups.
func TestGoldenSamplers(t *testing.T) {
	z := golden.Open(t, "samplers.npz")
	for _, c := range []struct {
		group   lie.Group
		method  gumbel.Method
		partial bool
		cases   []string
	}{
		{lie.SE2, gumbel.Random, false, []string{"se2_random_full_0_ns1", "se2_random_full_0_ns3"}},
		{lie.SE2, gumbel.Random, true, []string{"se2_random_partial_0_ns1", "se2_random_partial_1_ns1", "se2_random_partial_2_ns3", "se2_random_partial_3_ns3"}},
		{lie.SE2, gumbel.Deterministic, false, []string{"se2_deterministic_full_0_ns1"}},
		{lie.SE2, gumbel.Deterministic, true, []string{"se2_deterministic_partial_0_ns1", "se2_deterministic_partial_1_ns1"}},
		{lie.E2, gumbel.Random, false, []string{"e2_random_full_0_ns1", "e2_random_full_0_ns3"}},
		{lie.E2, gumbel.Random, true, []string{"e2_random_partial_0_ns1", "e2_random_partial_1_ns1", "e2_random_partial_2_ns1", "e2_random_partial_3_ns1"}},
		{lie.E2, gumbel.Deterministic, false, []string{"e2_deterministic_full_0_ns1"}},
		{lie.E2, gumbel.Deterministic, true, []string{"e2_deterministic_partial_0_ns1", "e2_deterministic_partial_1_ns1"}},
	} {
		for _, key := range c.cases {
			t.Run(key, func(t *testing.T) {
				d := newDistribution(t, gumbel.Config{
					Group: c.group, Max: 8, Partial: c.partial, Method: c.method, Compat: true, Steps: 1000, Name: "probs",
				})
				ps := bind(t, d, 1)
				if c.partial {
					values, shape := golden.Float32(t, z, key+".probs")
					p := ps.Lookup("probs")
					if fmt.Sprint(shape) != fmt.Sprint(p.Shape) {
						t.Fatalf("the parameter has shape %v, in the file %v", p.Shape, shape)
					}
					copy(p.Host, values)
					if count := ps.Lookup("group.gumbel_iter_counter"); count != nil {
						count.Host[0] = 0
					}
					ps.Upload()
				}
				want, grad := goldenElements(t, z, key, c.group)
				shape := []int{1, len(want)}
				if _, s := golden.Float64(t, z, key+".g"); len(s) > 1 {
					shape = s
				}
				e := gumbel.NewLists(c.group, 8, shape[0])
				src := &replay{u: goldenDraws(t, z, key)}
				d.Draw(e, src, true)
				if src.at != len(src.u) {
					t.Errorf("%d draws, the reference makes %d", src.at, len(src.u))
				}
				if e.Weight != nil {
					t.Error("the elements have weights")
				}
				if e.Len() != shape[1] {
					t.Fatalf("lists of %d elements, want %d", e.Len(), shape[1])
				}
				for i, g := range e.G {
					golden.Close(t, "elements", g[:1], want[i][:1], 0, 0) // bit for bit
					golden.Close(t, "signs", g[1:2], want[i][1:2], 0, 1e-7)
				}
				if c.partial {
					copy(e.Grad, grad)
					d.Backward(e)
					wantGrad, _ := golden.Float32(t, z, key+".grad_probs")
					golden.Close(t, "gradient", ps.Lookup("probs").Grad.Host(), wantGrad, 1e-6, 1e-6)
				}
			})
		}
	}
}

// TestGoldenInit compares what is learned at the beginning: in one parameter under
// Compat, else the same values one parameter after the other.
func TestGoldenInit(t *testing.T) {
	for file, g := range map[string]lie.Group{"group_se2.npz": lie.SE2, "group_e2.npz": lie.E2} {
		z := golden.Open(t, file)
		for _, method := range []gumbel.Method{gumbel.Random, gumbel.Deterministic} {
			want, shape := golden.Float32(t, z, "probs_init_"+method.String())
			for _, compat := range []bool{true, false} {
				d := newDistribution(t, gumbel.Config{Group: g, Max: 8, Partial: true, Method: method, Compat: compat, Name: "probs"})
				var got []float32
				for _, p := range d.Parameters() {
					if p.Class != nn.Statistic {
						got = append(got, p.Host...)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %v, compat %v: %v, want %v", g.Name(), method, compat, got, want)
				}
				if p := d.Parameters()[0]; compat && !slices.Equal(p.Shape, shape) {
					t.Errorf("%s, %v: shape %v, want %v", g.Name(), method, p.Shape, shape)
				}
			}
		}
	}
}
