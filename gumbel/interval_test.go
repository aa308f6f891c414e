package gumbel_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// replay is a Source of given numbers. Reading beyond them panics.
type replay struct {
	u  []float64
	at int
}

func (r *replay) Float64() float64 { r.at++; return r.u[r.at-1] }

func newDistribution(t testing.TB, cfg gumbel.Config) *gumbel.Distribution {
	t.Helper()
	u, err := gumbel.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// bind puts u's parameter, at the value theta, on a CPU device.
func bind(t testing.TB, u *gumbel.Distribution, theta float32) *nn.Parameters {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	var ps nn.Parameters
	ps.Add(u.Parameters()...)
	for _, p := range ps.All() {
		p.Host[0] = theta
	}
	if err := ps.Bind(dev); err != nil {
		t.Fatal(err)
	}
	u.Bind(dev)
	return &ps
}

func partial(max int, j gumbel.Jitter) gumbel.Config {
	return gumbel.Config{Group: lie.SE2, Max: max, Partial: true, Jitter: j, Name: "theta"}
}

func angles(e *gumbel.Elements) []float64 {
	var a []float64
	for _, g := range e.G {
		a = append(a, g[0])
	}
	return a
}

func TestGoldenPartial(t *testing.T) {
	z := golden.Open(t, "samplers.npz")
	for i := range 4 {
		for _, lists := range []int{1, 3} {
			key := fmt.Sprintf("se2_random_partial_%d_ns%d", i, lists)
			t.Run(key, func(t *testing.T) {
				theta, _ := golden.Float32(t, z, key+".probs")
				draws, _ := golden.Float64(t, z, key+".u00")
				want, shape := golden.Float64(t, z, key+".g")
				grad, _ := golden.Float64(t, z, key+".grad_g")
				wantGrad, _ := golden.Float32(t, z, key+".grad_probs")

				cfg := partial(8, gumbel.Stratified)
				cfg.Compat = true // implies the comb
				u := newDistribution(t, cfg)
				ps := bind(t, u, theta[0])
				e := gumbel.NewElements(lie.SE2, 8)
				src := &replay{u: draws}
				n := shape[1]
				for s := range lists {
					u.Draw(e, src, true)
					if len(e.G) != n || src.at != s+1 {
						t.Fatalf("list %d has %d elements from %d draws in all, want %d from %d", s, len(e.G), src.at, n, s+1)
					}
					// Bit for bit: the reference's rounding is reproduced.
					golden.Close(t, "elements", angles(e), want[s*n:(s+1)*n], 0, 0)
					for j := range e.Grad {
						e.Grad[j][0] = grad[s*n+j]
					}
					u.Backward(e)
				}
				if got := u.Size(); got != float64(theta[0]) {
					t.Errorf("Size() = %v, want %v", got, theta[0])
				}
				golden.Close(t, "gradient of theta", ps.All()[0].Grad.Host(), wantGrad, 1e-6, 1e-6)
			})
		}
	}
}

func TestGoldenFull(t *testing.T) {
	z := golden.Open(t, "samplers.npz")
	for _, lists := range []int{1, 3} {
		key := fmt.Sprintf("se2_random_full_0_ns%d", lists)
		draws, _ := golden.Float64(t, z, key+".u00")
		want, shape := golden.Float64(t, z, key+".g")
		u := newDistribution(t, gumbel.Config{Group: lie.SE2, Max: 8, Compat: true})
		e := gumbel.NewElements(lie.SE2, 8)
		src := &replay{u: draws}
		for s := range lists {
			u.Draw(e, src, true)
			golden.Close(t, key, angles(e), want[s*shape[1]:(s+1)*shape[1]], 0, 0)
		}

		want, _ = golden.Float64(t, z, fmt.Sprintf("se2_deterministic_full_0_ns%d.g", lists))
		golden.Close(t, "grid", angles(gumbel.NewElements(lie.SE2, 8)), want, 0, 0)
	}
}

func TestElementCounts(t *testing.T) {
	for _, compat := range []bool{false, true} {
		for _, most := range []int{1, 2, 3, 8, 10, 16} {
			cfg := partial(most, gumbel.Comb)
			cfg.Compat = compat
			u := newDistribution(t, cfg)
			e := gumbel.NewElements(lie.SE2, most)
			before := 1
			for k := range 10001 {
				u.Parameters()[0].Host[0] = float32(float64(k) / 10000)
				u.Midpoints(e)
				want := max(1, (most*k+9999)/10000) // the ceiling, in whole numbers
				if n := len(e.G); n != want || n < before {
					t.Fatalf("compat %v, max %d, theta %d/10000: %d elements, want %d", compat, most, k, n, want)
				}
				if n := u.Learned()[0].Count(most); n != want {
					t.Fatalf("compat %v, theta %d/10000: Count of %d is %d, want %d", compat, k, most, n, want)
				}
				before = len(e.G)
			}
		}
	}
	// Outside [0, 1]: never more than Max, never none.
	for _, c := range []struct {
		compat bool
		theta  float64
		want   int
	}{
		{false, -0.4, 1}, {true, -0.4, 4}, {false, 1.3, 8}, {true, 1.3, 8}, {true, -1.3, 8},
		{false, math.Inf(1), 8}, {false, math.Inf(-1), 1}, {true, math.Inf(-1), 8},
		{false, math.NaN(), 8}, {true, math.NaN(), 8}, {false, math.MaxFloat32, 8}, {false, -math.MaxFloat32, 1},
	} {
		cfg := partial(8, gumbel.Stratified)
		cfg.Compat = c.compat
		u := newDistribution(t, cfg)
		u.Parameters()[0].Host[0] = float32(c.theta)
		e := gumbel.NewElements(lie.SE2, 8)
		u.Draw(e, stream.New(1, "counts", 0), true)
		if len(e.G) != c.want || len(e.Grad) != c.want {
			t.Errorf("theta %v, compat %v: %d elements, want %d", c.theta, c.compat, len(e.G), c.want)
		}
	}
}

// Under Compat a half-width below 0 has angles by its absolute value on SE(2), and on E(2) by
// that of the count, but there is no room for more than a list has.
func TestNegativeCountsOfCompat(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		theta float32
		want  int // angles
	}{
		{lie.SE2, -0.3, 3}, {lie.E2, -0.3, 1}, {lie.E2, -0.6, 2}, {lie.E2, -0.1, 1}, {lie.E2, -1, 4}, {lie.E2, -1.6, 4},
	} {
		u := newDistribution(t, gumbel.Config{Group: c.group, Max: 8, Partial: true, Compat: true, Name: "probs"})
		u.Parameters()[0].Host[0] = c.theta
		e := gumbel.NewElements(c.group, 8)
		u.Midpoints(e)
		rotations := map[float64]bool{}
		for _, g := range e.G {
			rotations[g[0]] = true
		}
		if len(rotations) != c.want {
			t.Errorf("%s, theta %v: %d angles, want %d", c.group.Name(), c.theta, len(rotations), c.want)
		}
	}
}

// TestGoldenLists draws the reference's several lists at once.
func TestGoldenLists(t *testing.T) {
	z := golden.Open(t, "samplers.npz")
	for i := range 4 {
		key := fmt.Sprintf("se2_random_partial_%d_ns3", i)
		theta, _ := golden.Float32(t, z, key+".probs")
		draws, _ := golden.Float64(t, z, key+".u00")
		want, shape := golden.Float64(t, z, key+".g")
		grad, _ := golden.Float64(t, z, key+".grad_g")
		wantGrad, _ := golden.Float32(t, z, key+".grad_probs")
		cfg := partial(8, gumbel.Stratified)
		cfg.Compat = true
		u := newDistribution(t, cfg)
		ps := bind(t, u, theta[0])
		e := gumbel.NewLists(lie.SE2, 8, 3)
		u.Draw(e, &replay{u: draws}, true)
		if e.Len() != shape[1] || e.Lists() != 3 || e.Max() != 8 {
			t.Fatalf("%d lists of %d elements, at most %d; want 3 of %d, at most 8", e.Lists(), e.Len(), e.Max(), shape[1])
		}
		golden.Close(t, "elements", angles(e), want, 0, 0)
		for j := range e.Grad {
			e.Grad[j][0] = grad[j]
		}
		u.Backward(e)
		golden.Close(t, "gradient of theta", ps.All()[0].Grad.Host(), wantGrad, 1e-6, 1e-6)
	}
}

// Several lists are what single lists drawn one after another are, and so is
// their gradient.
func TestLists(t *testing.T) {
	const lists, most = 5, 8
	for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb} {
		for _, theta := range []float32{0.1, 0.6, 1} {
			u := newDistribution(t, partial(most, jitter))
			ps := bind(t, u, theta)
			many, one := gumbel.NewLists(lie.SE2, most, lists), gumbel.NewElements(lie.SE2, most)
			u.Draw(many, stream.New(1, "lists", 0), true)
			src, weights := stream.New(1, "lists", 0), stream.New(2, "weights", 0)
			different := false
			for s := range lists {
				u.Draw(one, src, true)
				if len(one.G) != many.Len() {
					t.Fatalf("theta %v: lists of %d and %d elements", theta, many.Len(), len(one.G))
				}
				for i, g := range many.List(s) {
					if g != one.G[i] {
						t.Fatalf("jitter %v, theta %v, list %d: element %d is %v, alone %v", jitter, theta, s, i, g, one.G[i])
					}
					different = different || g != many.List(0)[i]
					w := weights.Normal()
					many.ListGrad(s)[i][0], one.Grad[i][0] = w, w
				}
				u.Backward(one)
			}
			if !different {
				t.Error("all lists are equal")
			}
			want := float64(ps.All()[0].Grad.Host()[0])
			ps.ZeroGrad()
			u.Backward(many)
			golden.Close(t, "gradient", ps.All()[0].Grad.Host(), []float64{want}, 1e-5, 1e-5)

			u.Midpoints(many)
			u.Midpoints(one)
			for s := range lists {
				for i, g := range many.List(s) {
					if g != one.G[i] {
						t.Fatalf("midpoint %d of list %d is %v, want %v", i, s, g, one.G[i])
					}
				}
			}
			for i, g := range many.Grad {
				if g != (lie.Vector{}) {
					t.Errorf("Midpoints left the gradient %v of element %d", g, i)
				}
			}
		}
	}
	// A finite group has its grid in every list.
	u := newDistribution(t, gumbel.Config{Group: lie.Cyclic(4), Max: 4})
	e := gumbel.NewLists(lie.Cyclic(4), 4, 3)
	want := angles(e)
	clear(e.G)
	u.Draw(e, &replay{}, true)
	golden.Close(t, "finite group", angles(e), want, 0, 0)
}

// Each element lies in its own cell of the subset, where its draw puts it.
func TestPlacement(t *testing.T) {
	src := stream.New(1, "placement", 0)
	const most = 9
	for _, full := range []bool{false, true} {
		for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb} {
			cfg := partial(most, jitter)
			cfg.Partial = !full
			u := newDistribution(t, cfg)
			e := gumbel.NewElements(lie.SE2, most)
			check := func(theta float64, u func(i int) float64) {
				for i, g := range e.G {
					want := 2 * math.Pi * theta * (float64(i) + u(i)) / float64(len(e.G))
					if !full {
						want -= math.Pi * theta
					}
					if d := math.Abs(lie.SE2.Log(lie.Element{g[0] - want})[0]); d > 1e-14 {
						t.Fatalf("full %v, jitter %v, theta %v: element %d of %d at draw %v is %v, want %v",
							full, jitter, theta, i, len(e.G), u(i), g[0], want)
					}
				}
			}
			for range cases() {
				theta := 1.0
				if !full {
					u.Parameters()[0].Host[0] = float32(0.02 + 0.98*src.Float64())
					theta = float64(u.Parameters()[0].Host[0])
				}
				r := &replay{}
				for range most {
					r.u = append(r.u, src.Float64())
				}
				u.Draw(e, r, true)
				used := len(e.G)
				if jitter == gumbel.Comb {
					used = 1
				}
				if r.at != used {
					t.Fatalf("%d elements took %d draws, want %d", len(e.G), r.at, used)
				}
				check(theta, func(i int) float64 { return r.u[i%used] })
				u.Midpoints(e)
				check(theta, func(int) float64 { return 0.5 })
			}
		}
	}
}

// A list of either kind is uniform on the subset as a whole: mean 0, variance
// (theta pi)^2/3.
func TestMoments(t *testing.T) {
	const lists, theta, n = 20000, 0.625, 5
	for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb} {
		u := newDistribution(t, partial(8, jitter))
		u.Parameters()[0].Host[0] = theta
		e := gumbel.NewElements(lie.SE2, 8)
		src := stream.New(1, "moments", uint64(jitter))
		var mean, square float64
		for range lists {
			u.Draw(e, src, true)
			for _, g := range e.G {
				x := lie.SE2.Log(g)[0]
				if !(math.Abs(x) <= theta*math.Pi) {
					t.Fatalf("element %v outside the subset", x)
				}
				mean += x / (lists * n)
				square += x * x / (lists * n)
			}
		}
		// A comb as a whole moves over one cell, 2 width/n, which bounds the standard
		// deviation of a list's mean by width/n/sqrt(3). Five of them are allowed.
		const width = theta * math.Pi
		if !(math.Abs(mean) <= 5*width/n/math.Sqrt(3*lists)) || !(math.Abs(square/(width*width/3)-1) <= 0.01) {
			t.Errorf("jitter %v: mean %v, mean square %v, want 0 and %v", jitter, mean, square, width*width/3)
		}
	}
}

// The true gradient of every half-width against central differences of what is drawn,
// with the draws and the number of elements fixed. The loss is smooth across the wrap
// of an angle.
func TestGradient(t *testing.T) {
	for at, group := range []lie.Group{
		lie.SE2, lie.E2, lie.RPlus, lie.Sim2, lie.Periodic(lie.SE2), lie.Periodic(lie.E2), lie.Periodic(lie.Sim2), lie.DirectProduct(lie.T2, lie.SO2),
		lie.DirectProduct(lie.O2, lie.RPlus), lie.DirectProduct(lie.Cyclic(4), lie.RPlus), lie.DirectProduct(lie.Dihedral(2), lie.RPlus),
		lie.DirectProduct(lie.Mirror, lie.RPlus),
	} {
		for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb, gumbel.IID} {
			gradientOfIntervals(t, gumbel.Config{Group: group, Max: 8, Partial: true, Jitter: jitter, Name: "theta"}, stream.New(1, "gradient", uint64(at)))
		}
	}
}

func gradientOfIntervals(t *testing.T, cfg gumbel.Config, src *stream.Stream) {
	const h = 1.0 / 4096 // exact in float32 beside theta
	const lists = 2
	u := newDistribution(t, cfg)
	ps := bind(t, u, 1)
	size := u.Parameters()[0]
	axes := len(cfg.Group.Axes())
	e := gumbel.NewLists(cfg.Group, cfg.Max, lists)
	draws, weight := make([]float64, 2*lists*cfg.Max), make([]lie.Vector, lists*cfg.Max)
	theta := make([]float32, len(size.Host))
	// draw draws with one half-width moved.
	draw := func(i int, by float32) int {
		copy(size.Host, theta)
		size.Host[i] += by
		ps.Upload()
		u.Draw(e, &replay{u: draws}, true)
		return e.Len()
	}
	loss := func(i int, by float32) float64 {
		draw(i, by)
		s := 0.0
		for k, g := range e.G {
			for axis := range axes {
				s += weight[k][axis] * math.Sin(g[axis])
			}
		}
		return s
	}
	for tested, drawn := 0, 0; tested < cases(); drawn++ {
		if drawn > 4*cases() {
			t.Fatalf("%s: only %d of %d cases keep their number of elements", name(cfg), tested, drawn)
		}
		for i := range theta {
			theta[i] = float32(math.Floor(src.Float64()*4096) / 4096)
		}
		for i := range draws {
			draws[i] = src.Float64()
		}
		for k := range weight {
			for axis := range axes {
				weight[k][axis] = 2*src.Float64() - 1
			}
		}
		n, same := draw(0, 0), true
		for i := range theta {
			same = same && draw(i, -2*h) == n && draw(i, 2*h) == n
		}
		if !same {
			continue // the loss jumps between these half-widths
		}
		tested++
		draw(0, 0)
		for k, g := range e.G {
			for axis := range axes {
				e.Grad[k][axis] = weight[k][axis] * math.Cos(g[axis])
			}
		}
		ps.ZeroGrad()
		u.Backward(e)
		for i := range theta {
			got := float64(size.Grad.Host()[i])
			// Richardson's combination: the error of order h^2 cancels.
			want := (8*(loss(i, h)-loss(i, -h)) - (loss(i, 2*h) - loss(i, -2*h))) / (12 * h)
			if !(math.Abs(got-want) <= 1e-6*math.Max(1, math.Abs(want))) {
				t.Fatalf("%s, thetas %v, %d elements: gradient %d is %v, by differences %v", name(cfg), theta, n, i, got, want)
			}
		}
	}
}

// The mean of the gradient over draws is the derivative of the mean loss. Of elements that are
// uniform on [-theta E, theta E] and a loss that is a mean of f over them, that is
//
//	d/dtheta of (mean of f) = ((f(theta E) + f(-theta E))/2 - mean of f) / theta
//
// where f is continuous. Where it jumps by J at an angle u, as at u = v with coordinates that are
// not periodic, the gradient lacks J u/(2 pi theta^2): the elements that pass u.
func TestMeanGradient(t *testing.T) {
	const theta, most, draws = 0.625, 5, 1 << 14
	for _, group := range []lie.Group{lie.Periodic(lie.SE2), lie.RPlus, lie.SE2} {
		for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb, gumbel.IID} {
			cfg := partial(most, jitter)
			cfg.Group = group
			d := newDistribution(t, cfg)
			ps := bind(t, d, theta)
			e := gumbel.NewElements(group, most)
			from := []lie.Element{group.Exp(lie.Vector{0.3}), group.Exp(lie.Vector{-1.1})}
			// f is the mean over from of the sum of x + x^2/2 over the coordinates x, and slope
			// its derivative.
			f := func(v lie.Element) (f, slope float64) {
				for _, u := range from {
					x := group.Relative(u, v)
					var dx lie.Coordinates
					for k := range group.Coordinates() {
						f += (x[k] + x[k]*x[k]/2) / 2
						dx[k] = (1 + x[k]) / 2
					}
					_, dv := group.RelativeGrad(dx, u, v)
					slope += dv[0]
				}
				return f, slope
			}
			mean := 0.0
			for k := range draws {
				// The same for all elements: each is uniform by itself, and f knows of no others.
				d.Draw(e, &replay{u: slices.Repeat([]float64{(float64(k) + 0.5) / draws}, most)}, true)
				share := 1 / float64(draws*len(e.G))
				for i, v := range e.G {
					value, slope := f(v)
					mean += share * value
					e.Grad[i][0] = share * slope
				}
				d.Backward(e)
			}
			got := float64(ps.All()[0].Grad.Host()[0])
			end := theta * group.Axes()[0].Extent
			high, _ := f(group.Exp(lie.Vector{end}))
			low, _ := f(group.Exp(lie.Vector{-end}))
			want := ((high+low)/2 - mean) / theta
			if group == lie.SE2 {
				jump := -1.0 // from x = 1 to -1, of half of f
				want -= jump * (0.3 - 1.1) / (2 * math.Pi * theta * theta)
			}
			if !(math.Abs(got-want) <= 1e-3) {
				t.Errorf("%s: mean gradient %v, want %v", name(cfg), got, want)
			}
		}
	}
}

func TestBackwardAccumulates(t *testing.T) {
	u := newDistribution(t, partial(4, gumbel.Comb))
	ps := bind(t, u, 1)
	a, b := gumbel.NewElements(lie.SE2, 4), gumbel.NewElements(lie.SE2, 4)
	u.Draw(a, &replay{u: []float64{0.75}}, true)
	u.Draw(b, &replay{u: []float64{0.25}}, true)
	a.Grad[1][0], b.Grad[3][0] = 2, 3
	u.Backward(a)
	u.Backward(b)
	// pi (2(1+0.75)/4 - 1) * 2 + pi (2(3+0.25)/4 - 1) * 3
	golden.Close(t, "gradient", ps.All()[0].Grad.Host(), []float64{math.Pi * (-0.125*2 + 0.625*3)}, 1e-6, 0)

	u.Draw(a, &replay{u: []float64{0.5}}, true)
	for i, g := range a.Grad {
		if g != (lie.Vector{}) {
			t.Errorf("Draw left the gradient %v of element %d", g, i)
		}
	}
}

func TestClamp(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct{ theta, want float32 }{
		{0.5, 0.5}, {1, 1}, {1.0000001, 1}, {7, 1}, {inf, 1}, {-inf, gumbel.MinTheta},
		{0, gumbel.MinTheta}, {-3, gumbel.MinTheta}, {0.019, gumbel.MinTheta}, {gumbel.MinTheta, gumbel.MinTheta}, {nan, nan},
	} {
		for _, device := range []bool{false, true} {
			for _, compat := range []bool{false, true} {
				cfg := partial(8, gumbel.Comb)
				cfg.Compat = compat
				u := newDistribution(t, cfg)
				p := u.Parameters()[0]
				p.Host[0] = c.theta
				if device {
					bind(t, u, c.theta)
				}
				u.Clamp()
				got, want := p.Host[0], c.want
				if device {
					got = p.Value.Host()[0]
				}
				if compat {
					want = c.theta
				}
				if got != want && !(math.IsNaN(float64(got)) && math.IsNaN(float64(want))) {
					t.Errorf("theta %v, device %v, compat %v: clamped to %v, want %v", c.theta, device, compat, got, want)
				}
			}
		}
	}
}

// A theta that training or a file has spoilt must show in the result.
func TestNaNShows(t *testing.T) {
	u := newDistribution(t, partial(8, gumbel.Stratified))
	u.Parameters()[0].Host[0] = float32(math.NaN())
	e := gumbel.NewElements(lie.SE2, 8)
	u.Draw(e, stream.New(1, "nan", 0), true)
	for i, g := range e.G {
		if !math.IsNaN(g[0]) {
			t.Errorf("element %d is %v", i, g[0])
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*gumbel.Config)
		want   []string
	}{
		{func(c *gumbel.Config) { c.Group = nil }, []string{"Config.Group", "nil", "lie.SE2"}},
		{func(c *gumbel.Config) { c.Max = 0 }, []string{"Config.Max", "0", "1 to 65536"}},
		{func(c *gumbel.Config) { c.Max = -5 }, []string{"Config.Max", "-5", "1 to 65536"}},
		{func(c *gumbel.Config) { c.Max = 1 << 30 }, []string{"Config.Max", "1 to 65536"}},
		{func(c *gumbel.Config) { c.Group, c.Partial = lie.T2, false }, []string{"Config.Max", "8", "exactly 1"}},
		{func(c *gumbel.Config) { c.Group, c.Max = lie.E2, 7 }, []string{"Config.Max", "7", "multiple of 2"}},
		{func(c *gumbel.Config) { c.Group, c.Max = lie.T2, 1 }, []string{"Config.Partial", "T(2)", "false"}},
		{func(c *gumbel.Config) { c.Method, c.Max = gumbel.Deterministic, 1 }, []string{"Config.Partial", "SE(2)", "1 elements", "false"}},
		{func(c *gumbel.Config) { c.Compat, c.Group = true, lie.Dihedral(4) }, []string{"Config.Compat", "Config.Partial", "D4"}},
		{func(c *gumbel.Config) { c.Compat, c.Group = true, lie.Sim2 }, []string{"Config.Compat", "Config.Partial", "Sim(2)"}},
		{func(c *gumbel.Config) { c.Compat, c.Group = true, lie.DirectProduct(lie.Cyclic(2), lie.RPlus) }, []string{"Config.Compat", "Config.Partial"}},
		{func(c *gumbel.Config) { c.Compat, c.Measure = true, gumbel.Haar }, []string{"Config.Measure", "haar", "counting"}},
		{func(c *gumbel.Config) { c.Measure = 3 }, []string{"Config.Measure", "Measure(3)", "mean"}},
		{func(c *gumbel.Config) { c.Method = 2 }, []string{"Config.Method", "Method(2)", "deterministic"}},
		{func(c *gumbel.Config) { c.InitTemperature = -1 }, []string{"Config.InitTemperature", "-1", "positive"}},
		{func(c *gumbel.Config) { c.InitTemperature = math.NaN() }, []string{"Config.InitTemperature", "NaN", "positive"}},
		{func(c *gumbel.Config) { c.InitTemperature = math.Inf(1) }, []string{"Config.InitTemperature", "+Inf", "positive"}},
		{func(c *gumbel.Config) { c.EndTemperature = math.NaN() }, []string{"Config.EndTemperature", "NaN", "positive"}},
		{func(c *gumbel.Config) { c.EndTemperature = 0.6 }, []string{"Config.EndTemperature", "0.6", "0.5"}},
		{func(c *gumbel.Config) { c.EndTemperature = -0.1 }, []string{"Config.EndTemperature", "-0.1", "positive"}},
		{func(c *gumbel.Config) { c.Steps = -3 }, []string{"Config.Steps", "-3", "0 to 16777216"}},
		{func(c *gumbel.Config) { c.Steps = gumbel.MaxSteps + 1 }, []string{"Config.Steps", "16777217", "0 to 16777216"}},
		{func(c *gumbel.Config) { c.Jitter = 7 }, []string{"Config.Jitter", "7", "AutoJitter (0), Stratified (1), Comb (2) and IID (3)"}},
		{func(c *gumbel.Config) { c.Name = "" }, []string{"Config.Name", "empty"}},
		{func(c *gumbel.Config) { c.Group, c.Name = lie.E2, "gconv.keep" }, []string{"Config.Name", `"gconv.keep"`, `do not end in "keep"`}},
	} {
		cfg := partial(8, gumbel.Stratified)
		c.change(&cfg)
		u, err := gumbel.New(cfg)
		if err == nil {
			t.Errorf("%+v was taken: %v", cfg, u)
			continue
		}
		for _, want := range append(c.want, "gumbel: ") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	}
}

func TestFiniteGroups(t *testing.T) {
	for _, c := range []struct {
		g    lie.Group
		most int
	}{{lie.T2, 1}, {lie.Mirror, 2}, {lie.Cyclic(8), 8}, {lie.Dihedral(4), 8}} {
		u := newDistribution(t, gumbel.Config{Group: c.g, Max: c.most})
		e := gumbel.NewElements(c.g, c.most)
		want := c.g.Grid(c.most)
		clear(e.G)
		u.Draw(e, &replay{}, true) // takes no draws
		if !slices.Equal(e.G, want) {
			t.Errorf("%s: drawn are %v, want %v", c.g.Name(), e.G, want)
		}
		clear(e.G)
		u.Midpoints(e)
		if !slices.Equal(e.G, want) {
			t.Errorf("%s: midpoints are %v, want %v", c.g.Name(), e.G, want)
		}
		u.Backward(e)
		u.Clamp()
		if u.Parameters() != nil || u.Size() != 1 {
			t.Errorf("parameters %v, theta %v", u.Parameters(), u.Size())
		}
	}
}

// The list of a group that is not compact covers [-E, E], not [0, 2E].
func TestOpenGroup(t *testing.T) {
	for _, c := range []struct {
		group       lie.Group
		max, axis   int
		compat      bool
		tolerance   float64
		learned     bool
		perScale, n int // elements at each scale, scales
	}{
		{lie.RPlus, 4, 0, false, 1e-14, false, 1, 4},
		{lie.DirectProduct(lie.T2, lie.RPlus), 4, 1, false, 1e-14, false, 1, 4},
		{lie.RPlus, 4, 0, true, 1e-7, false, 1, 4},
		{lie.RPlus, 4, 0, true, 1e-7, true, 1, 4},
		{lie.Sim2, 8, 1, true, 1e-7, false, 4, 2},
	} {
		cfg := gumbel.Config{Group: c.group, Max: c.max, Compat: c.compat, Partial: c.learned}
		if c.learned {
			cfg.Name = "probs"
		}
		u := newDistribution(t, cfg)
		e := gumbel.NewElements(c.group, c.max)
		u.Midpoints(e)
		for i, a := range e.G {
			step := 2 * math.Ln2 / float64(c.n)
			if got, want := a[c.axis], -math.Ln2+step*(0.5+float64(i/c.perScale)); !(math.Abs(got-want) <= c.tolerance) {
				t.Errorf("%s, compat %v, learned %v: element %d at %v, want %v", c.group.Name(), c.compat, c.learned, i, got, want)
			}
		}
	}
}

// TestPublishedFlips: under Compat a flip is learned from the gradient of its sign, so every group that is accepted
// has one.
func TestPublishedFlips(t *testing.T) {
	accepted := 0
	for _, g := range []lie.Group{
		lie.SE2, lie.E2, lie.RPlus, lie.Mirror, lie.Dihedral(1), lie.Dihedral(4), lie.Sim2,
		lie.Periodic(lie.E2), lie.DirectProduct(lie.RPlus, lie.Mirror), lie.DirectProduct(lie.RPlus, lie.Dihedral(1)),
	} {
		if !gumbel.Published(g) {
			continue
		}
		accepted++
		dx := lie.Coordinates{}
		for i := range g.Coordinates() {
			dx[i] = 1 + float64(i)
		}
		var u, v lie.Element
		du, dv := g.RelativeGrad(dx, u, v)
		for i, a := range g.Axes() {
			if a.Kind == lie.Flip && (du[i] == 0 || dv[i] == 0) {
				t.Errorf("%s is accepted, but its flip has the gradients %v and %v", g.Name(), du[i], dv[i])
			}
		}
	}
	if accepted != 4 {
		t.Errorf("%d groups are accepted, want SE(2), E(2), with either coordinates, and R+", accepted)
	}
}

// Anneal begins the count of draws anew, on the host and on a device.
func TestAnnealCounts(t *testing.T) {
	for _, bound := range []bool{false, true} {
		d := newDistribution(t, gumbel.Config{Group: lie.E2, Max: 8, Partial: true, Name: "probs"})
		var ps *nn.Parameters
		if bound {
			ps = bind(t, d, 1)
		}
		d.Draw(d.NewLists(1), stream.New(1, "anneal", 0), true)
		count := func() float32 {
			if bound {
				ps.Download()
			}
			list := d.Parameters()
			return list[len(list)-1].Host[0]
		}
		before := count()
		if d.Anneal(10); before == 0 || count() != 0 {
			t.Errorf("bound %v: the count was %v and is %v, want 0", bound, before, count())
		}
	}
}

func TestProgrammerErrors(t *testing.T) {
	const (
		notBound = "Distribution.Backward: not bound to a device"
		notDrawn = "Distribution.Backward: the list was not drawn by Draw"
	)
	op := map[string]string{
		"a list that is too short": "Distribution.Draw", "lists that are too short": "Distribution.Draw",
		"no device": notBound, "half a device": notBound, "only a device": notBound,
		"a list that was not drawn": notDrawn, "another length": notDrawn,
		"no lists": "NewLists", "less than no elements": "NewLists", "no group": "NewLists",
		"too many lists": "NewLists", "too many elements": "NewLists", "lists beyond an int": "NewLists", "too many identities": "Identity",
		"another group": "Distribution.Draw", "draws of the identity": "Distribution.Draw", "weights of the identity": "Elements.CopyFrom",
		"no length": "Elements.SetLen", "too great a length": "Elements.SetLen", "unbound draws": "Distribution", "unbound sizes": "Distribution",
	}
	bound := newDistribution(t, partial(8, gumbel.Stratified)) // but for Distribution.Bind
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var ps nn.Parameters
	ps.Add(bound.Parameters()...)
	if err := ps.Bind(dev); err != nil {
		t.Fatal(err)
	}
	weighted := gumbel.NewElements(lie.SE2, 1)
	newDistribution(t, gumbel.Config{Group: lie.SE2, Max: 1, Measure: gumbel.Mean}).Midpoints(weighted)
	u, unbound := newDistribution(t, partial(8, gumbel.Stratified)), newDistribution(t, partial(8, gumbel.Stratified))
	unbound.Bind(dev) // but for Parameters.Bind
	learned := newDistribution(t, partial(8, gumbel.Stratified))
	bind(t, learned, 1)
	shortened := gumbel.NewElements(lie.SE2, 8)
	learned.Midpoints(shortened)
	shortened.SetLen(7)
	for name, f := range map[string]func(){
		"a list that is too short":  func() { u.Midpoints(gumbel.NewElements(lie.SE2, 4)) },
		"lists that are too short":  func() { u.Midpoints(gumbel.NewLists(lie.SE2, 4, 3)) },
		"no device":                 func() { u.Backward(gumbel.NewElements(lie.SE2, 8)) },
		"half a device":             func() { bound.Backward(gumbel.NewElements(lie.SE2, 8)) },
		"only a device":             func() { unbound.Backward(gumbel.NewElements(lie.SE2, 8)) },
		"a list that was not drawn": func() { learned.Backward(gumbel.NewElements(lie.SE2, 8)) },
		"another length":            func() { learned.Backward(shortened) },
		"no lists":                  func() { gumbel.NewLists(lie.SE2, 4, 0) },
		"less than no elements":     func() { gumbel.NewElements(lie.SE2, -1) },
		"too many lists":            func() { gumbel.NewLists(lie.SE2, 1<<16, 1<<14+1) },
		"too many elements":         func() { gumbel.NewElements(lie.SE2, 1<<16+1) },
		"lists beyond an int":       func() { gumbel.NewLists(lie.SE2, 4, math.MaxInt/2+1) },
		"identities of no group":    func() { gumbel.Identity(nil, 1) },
		"too many identities":       func() { gumbel.Identity(lie.SE2, math.MaxInt) },
		"no group":                  func() { gumbel.NewElements(nil, 4) },
		"another group":             func() { u.Draw(gumbel.NewElements(lie.E2, 8), &replay{}, true) },
		"draws of the identity":     func() { u.Draw(gumbel.Identity(lie.SE2, 1), &replay{}, true) },
		"weights of the identity":   func() { gumbel.Identity(lie.SE2, 1).CopyFrom(weighted) },
		"no length":                 func() { gumbel.NewElements(lie.SE2, 4).SetLen(0) },
		"too great a length":        func() { gumbel.NewElements(lie.SE2, 4).SetLen(5) },
		"unbound draws":             func() { bound.Midpoints(gumbel.NewElements(lie.SE2, 8)) },
		"unbound sizes":             func() { bound.SetSize(0.5) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				var typed *gumbel.Error
				if !errors.As(err, &typed) || !strings.HasPrefix(err.Error(), "gumbel: "+op[name]) {
					t.Errorf("%s: %v, want a panic with *gumbel.Error", name, err)
				}
			}()
			f()
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	for _, jitter := range []gumbel.Jitter{gumbel.Stratified, gumbel.Comb} {
		u := newDistribution(t, partial(8, jitter))
		bind(t, u, 0.7)
		e := gumbel.NewLists(lie.SE2, 8, 3)
		src := stream.New(1, "allocs", 0)
		if n := testing.AllocsPerRun(100, func() {
			u.Draw(e, src, true)
			u.Backward(e)
			u.Clamp()
			u.Midpoints(e)
		}); n != 0 {
			t.Errorf("jitter %v: %v allocations", jitter, n)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, most := range []int{8, 16} {
		b.Run(fmt.Sprintf("max=%d", most), func(b *testing.B) {
			u := newDistribution(b, partial(most, gumbel.Stratified))
			e := gumbel.NewElements(lie.SE2, most)
			src := stream.New(1, "bench", 0)
			for b.Loop() {
				u.Draw(e, src, true)
			}
		})
	}
}
