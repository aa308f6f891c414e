package gumbel

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

// TestGoldenRelaxedBernoulli compares samples and gradients of both ways in which
// the published implementation makes a logit of its parameter.
func TestGoldenRelaxedBernoulli(t *testing.T) {
	z := golden.Open(t, "relaxed_bernoulli.npz")
	w, _ := golden.Float32(t, z, "w")
	u, _ := golden.Float64(t, z, "u")
	for name, g := range map[string]lie.Group{"probs": lie.E2, "logits": lie.SE2} {
		for _, temperature := range []float64{0.5, 0.1} {
			for _, compat := range []bool{true, false} {
				if !compat && name == "logits" {
					continue // Compat alone mistakes a probability for a logit
				}
				d, err := New(Config{Group: g, Max: 8, Partial: true, Method: Deterministic, Compat: compat, Name: "probs"})
				if err != nil {
					t.Fatal(err)
				}
				var soft, straight, grad []float64
				for i := range w {
					logit, outer := d.logit(w[i])
					s, slope := relaxed(logit, u[i], temperature)
					soft, straight, grad = append(soft, s), append(straight, hard(s)), append(grad, slope*outer)
				}
				key := fmt.Sprintf("%s_T%v", name, temperature)
				for what, got := range map[string][]float64{"soft": soft, "straight_through": straight, "grad_w": grad} {
					want, _ := golden.Float64(t, z, key+"."+what)
					golden.Close(t, key+" "+what, got, want, 1e-6, 1e-6*golden.MaxAbs(want))
				}
			}
		}
	}
}

// The derivatives against central differences in float64.
func TestRelaxedGradient(t *testing.T) {
	check := func(x, u, temperature float64) {
		const h = 1e-4
		f := func(h float64) float64 {
			s, _ := relaxed(x+h, u, temperature)
			return s
		}
		_, slope := relaxed(x, u, temperature)
		want := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
		if !(math.Abs(slope-want) <= 1e-8*max(1, math.Abs(want))) {
			t.Fatalf("logit %v, u %v, T %v: slope %v, by differences %v", x, u, temperature, slope, want)
		}
	}
	for _, temperature := range []float64{2, 0.5, 0.1} {
		for x := -6.0; x <= 6; x += 0.37 {
			for u := 0.01; u < 1; u += 0.0713 {
				check(x, u, temperature)
			}
		}
	}
	src := stream.New(1, "relaxed", 0)
	for range 10000 {
		check(16*src.Float64()-8, src.Float64(), 0.1+2*src.Float64())
	}
	for _, compat := range []bool{true, false} {
		for _, g := range []lie.Group{lie.SE2, lie.E2} {
			d, err := New(Config{Group: g, Max: 8, Partial: true, Method: Deterministic, Compat: compat, Name: "probs"})
			if err != nil {
				t.Fatal(err)
			}
			for rho := float32(-2); rho <= 2; rho += 0.25 {
				const h = 1.0 / 64 // exact beside rho
				f := func(h float32) float64 {
					x, _ := d.logit(rho + h)
					return x
				}
				_, slope := d.logit(rho)
				want := (8*(f(h)-f(-h)) - (f(2*h) - f(-2*h))) / (12 * h)
				if !(math.Abs(slope-want) <= 1e-4) { // under Compat the probability is rounded
					t.Fatalf("%s, compat %v, rho %v: slope %v, by differences %v", g.Name(), compat, rho, slope, want)
				}
			}
		}
	}
}

// The temperature falls from end to end and stays there, whatever the count; that of
// the published implementation does not stay.
func TestTemperature(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		draws        float32
		want, compat float64
	}{
		{0, 0.5, 0.5}, {250, 0.4, 0.4}, {1000, 0.1, 0.1}, {1250, 0.1, 0}, {2000, 0.1, -0.3},
		{-100, 0.5, 0.54}, {inf, 0.1, math.Inf(-1)}, {-inf, 0.5, math.Inf(1)},
	} {
		for _, compat := range []bool{false, true} {
			d, err := New(Config{
				Group: lie.E2, Max: 8, Partial: true, Compat: compat, Name: "probs",
				InitTemperature: 0.5, EndTemperature: 0.1, Steps: 1000,
			})
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if compat {
				want = c.compat
			}
			if got := d.temperature(c.draws); got != want && !(math.Abs(got-want) < 1e-15) {
				t.Errorf("compat %v: temperature %v after %v draws, want %v", compat, got, c.draws, want)
			}
			if d.Anneal(0); d.temperature(c.draws) != 0.5 {
				t.Errorf("without steps the temperature is %v", d.temperature(c.draws))
			}
		}
	}
	d, err := New(Config{Group: lie.SE2, Max: 8, Steps: MaxSteps})
	if err != nil {
		t.Fatalf("the largest number of steps: %v", err)
	}
	d.Anneal(MaxSteps)
	for _, steps := range []int{-1, MaxSteps + 1} {
		func() {
			defer func() {
				if err, ok := recover().(*Error); !ok || err.Op != "Distribution.Anneal" {
					t.Errorf("%d steps: %v", steps, err)
				}
			}()
			d.Anneal(steps)
		}()
	}
}

// At the ends of the interval samples and slopes stay finite.
func TestRelaxedExtremes(t *testing.T) {
	for _, u := range []float64{0, 1, math.Nextafter(1, 0)} {
		for _, x := range []float64{-1e300, -800, 0, 800, 1e300} {
			for _, temperature := range []float64{0.5, 1e-4} {
				soft, slope := relaxed(x, u, temperature)
				if !(soft >= 0 && soft <= 1 && slope >= 0 && slope <= 1/temperature) {
					t.Errorf("logit %v, u %v, T %v: %v, slope %v", x, u, temperature, soft, slope)
				}
			}
		}
	}
	// A draw at an end is as any other: neither certain nor without a slope.
	for _, u := range []float64{0, 1} {
		if soft, slope := relaxed(0, u, 1); !(soft > 0 && soft < 1 && slope > 0) {
			t.Errorf("u %v: %v, slope %v", u, soft, slope)
		}
	}
	if soft, _ := relaxed(math.NaN(), 0.5, 0.5); !math.IsNaN(hard(soft)) {
		t.Error("NaN does not show")
	}
}

// Under Compat, a probability that float32 rounds to 0 or 1 is taken for the nearest that
// has a finite logit, and its parameter has no gradient there.
func TestLogitExtremes(t *testing.T) {
	d, err := New(Config{Group: lie.E2, Max: 8, Partial: true, Method: Deterministic, Compat: true, Name: "probs"})
	if err != nil {
		t.Fatal(err)
	}
	most := math.Log(1-eps) - math.Log(eps)
	for rho, want := range map[float32]float64{-50: -most, -10: -most, 10: most, 50: most} {
		if x, slope := d.logit(rho); !(math.Abs(x-want) <= 1e-6) || slope != 0 {
			t.Errorf("rho %v: logit %v, slope %v, want %v and 0", rho, x, slope, want)
		}
	}
}

// Clamp keeps the probability of every element but the identity within 0.047 and 0.953.
func TestClampedProbability(t *testing.T) {
	d, err := New(Config{Group: lie.Cyclic(4), Max: 4, Partial: true, Name: "probs"})
	if err != nil {
		t.Fatal(err)
	}
	for rho, want := range map[float32]float64{-50: 0.047, 0: 0.5, 50: 0.953} {
		fill(d, 1, rho)
		d.Clamp()
		for k, p := range d.Learned()[0].Keep {
			if k > 0 && !(math.Abs(p-want) <= 5e-4) {
				t.Errorf("rho %v: element %d is kept with probability %v, want %v", rho, k, p, want)
			}
		}
	}
}
