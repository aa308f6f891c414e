package siren

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestFiltersInitialisation holds what every parameter starts from to its
// distribution, by Kolmogorov and Smirnov's test.
func TestFiltersInitialisation(t *testing.T) {
	for _, filter := range filters {
		t.Run(string(filter), func(t *testing.T) {
			cfg := FiltersConfig{Filter: filter, In: 3, Hidden: 400, Out: 30, Layers: 4}
			n := build(t, "a", cfg, 1)
			values := map[string][]float32{}
			for _, p := range n.Parameters() {
				if !p.Trained() || p.Class != nn.Weight {
					t.Errorf("%s is of class %d", p.Name, p.Class)
				}
				values[p.Name] = p.Host
			}
			root := 1 / math.Sqrt(400)
			for name, bound := range map[string]float64{
				"linear.0.weight": root, "linear.3.weight": root, "linear.3.bias": root, "output_linear.weight": root, "output_linear.bias": root,
				"filters.0.linear.bias": math.Pi, "filters.4.linear.bias": math.Pi, "filters.2.mu": 1,
			} {
				if filter == Fourier && strings.HasSuffix(name, "mu") {
					continue
				}
				follows(t, name, values["a."+name], distuv.Uniform{Min: -bound, Max: bound}.CDF)
			}
			for i := range cfg.Layers + 1 {
				prefix := fmt.Sprintf("a.filters.%d.", i)
				frequency := slices.Clone(values[prefix+"linear.weight"])
				gamma := values[prefix+"gamma"]
				shape := 6 / float64(i+1)
				if filter == Gabor {
					shape = 6.0 / 5
				}
				if filter != Fourier {
					follows(t, prefix+"gamma", gamma, distuv.Gamma{Alpha: shape, Beta: 1}.CDF)
				}
				for k := range frequency {
					switch filter {
					case Gabor:
						frequency[k] /= gamma[k/3]
					case MAGNet:
						frequency[k] /= gamma[k]
					}
				}
				bound := 256 / math.Sqrt(5) / math.Sqrt(3)
				follows(t, prefix+"linear.weight", frequency, distuv.Uniform{Min: -bound * (1 + 1e-6), Max: bound * (1 + 1e-6)}.CDF)
			}
			same := build(t, "a", cfg, 1)
			for i, p := range n.Parameters() {
				equal(t, p.Name+" from the same seed", same.Parameters()[i].Host, p.Host)
			}
			if build(t, "a", cfg, 2).Parameters()[0].Host[0] == n.Parameters()[0].Host[0] {
				t.Error("another seed gives the same weights")
			}
		})
	}
}

func TestMLPInitialisation(t *testing.T) {
	n := build(t, "a", MLPConfig{In: 4, Hidden: 100, Out: 50, Layers: 3, Norm: LayerNorm}, 1)
	var got []string
	for _, p := range n.Parameters() {
		got = append(got, fmt.Sprint(p.Name, p.Shape))
		switch bound := 0.1; p.Name {
		case "a.kernel_net.0.weight", "a.kernel_net.0.bias":
			bound = 0.5
			fallthrough
		case "a.kernel_net.3.weight", "a.kernel_net.3.bias", "a.kernel_net.6.weight", "a.kernel_net.6.bias":
			follows(t, p.Name, p.Host, distuv.Uniform{Min: -bound, Max: bound}.CDF)
		default:
			want := float32(0)
			if strings.HasSuffix(p.Name, "weight") {
				want = 1
			}
			for _, v := range p.Host {
				if v != want {
					t.Fatalf("%s starts at %v", p.Name, v)
				}
			}
		}
	}
	want := "a.kernel_net.0.weight[100 4] a.kernel_net.0.bias[100] a.kernel_net.1.weight[100] a.kernel_net.1.bias[100] " +
		"a.kernel_net.3.weight[100 100] a.kernel_net.3.bias[100] a.kernel_net.4.weight[100] a.kernel_net.4.bias[100] " +
		"a.kernel_net.6.weight[50 100] a.kernel_net.6.bias[50]"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("parameters\n%s\nwant\n%s", s, want)
	}
}

// follows allows what happens by chance once in ten thousand times; the seed is
// fixed.
func follows(t *testing.T, what string, sample []float32, cdf func(float64) float64) {
	t.Helper()
	x := slices.Clone(sample)
	slices.Sort(x)
	n, worst := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(float64(v))
		worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
	}
	if n == 0 || !(worst <= 2.23/math.Sqrt(n)) {
		t.Errorf("%s: the distribution of %v values is off by %v, allowed %v", what, n, worst, 2.23/math.Sqrt(n))
	}
}

// TestWeightNormApplies wants weight normalisation to be there for weights of any
// number of axes, and to be left out of those of five only with Compat.
func TestWeightNormApplies(t *testing.T) {
	for _, dims := range []int{0, 2, 3} {
		for _, compat := range []bool{false, true} {
			for _, cfg := range []any{
				Config{In: 2, Out: 3, WeightNorm: true, Dims: dims, Compat: compat},
				FiltersConfig{In: 2, Out: 3, WeightNorm: true, Dims: dims, Compat: compat},
				MLPConfig{In: 2, Out: 3, WeightNorm: true, Dims: dims, Compat: compat},
			} {
				plain, normed := 0, 0
				for _, p := range build(t, "", cfg, 1).Parameters() {
					switch {
					case strings.HasSuffix(p.Name, ".weight"):
						plain++
					case strings.HasSuffix(p.Name, ".weight_g"):
						normed++
					}
				}
				if left := compat && dims > 2; left != (normed == 0) || left == (plain == 0) {
					t.Errorf("%+v: %d weights and %d normalised ones", cfg, plain, normed)
				}
			}
		}
	}
}

// TestTails wants filters to be zero far from their centres, not denormal, which would
// cost tenfold in all that follows.
func TestTails(t *testing.T) {
	for _, filter := range []Filter{MAGNet, Gabor} {
		const positions = 2000
		h := newHarness(t, build(t, "", FiltersConfig{Filter: filter, In: 3, Out: 2}, 1), positions, 1, false)
		x := gradcheck.Normal(3*positions, 1)
		for i := range x {
			x[i] *= 2
		}
		h.dev.Upload(h.x, x)
		f, _, _ := h.ForwardFeatures(h.x, positions)
		zeros := 0
		for i, v := range h.download(f) {
			if v == 0 {
				zeros++
			} else if math.Abs(float64(v)) < 0x1p-126 {
				t.Fatalf("%s: feature %d is %v", filter, i, v)
			}
		}
		if zeros == 0 {
			t.Errorf("%s: no position lies far from a centre", filter)
		}
	}
}
