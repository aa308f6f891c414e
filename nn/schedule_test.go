package nn_test

import (
	"math"
	"testing"

	"github.com/noether-go/noether/nn"
)

// TestCosine pins the clean schedule at the places that matter.
func TestCosine(t *testing.T) {
	c := must(nn.NewCosineLR(110, 10, false))
	for _, tc := range []struct {
		step int
		want float64
	}{
		{0, 1e-4}, {4, 5e-4}, {9, 1e-3}, // warm-up reaches the base rate with its last step
		{10, 1e-3},
		{60, (1e-3 + 1e-6) / 2}, // half-way
		{110, 1e-6}, {1000, 1e-6},
	} {
		if got := c.LR(1e-3, tc.step); !(math.Abs(got-tc.want) <= 1e-12) {
			t.Errorf("step %d: %v, must be %v", tc.step, got, tc.want)
		}
	}
	for s := 10; s < 120; s++ {
		if c.LR(1e-3, s+1) > c.LR(1e-3, s) {
			t.Errorf("the rate rises after step %d", s)
		}
	}
	if got := c.LR(1e-8, 60); got != 1e-8 {
		t.Errorf("a base rate below the floor becomes %v", got)
	}
	if got := must(nn.NewCosineLR(100, 0, false)).LR(2, 0); got != 2 {
		t.Errorf("without warm-up the first rate is %v", got)
	}
	if got := (nn.ConstantLR{}).LR(0.5, 77); got != 0.5 {
		t.Errorf("constant rate is %v", got)
	}
}

// TestCosineCompat evaluates the recursion of the reference step by step, as an
// optimiser with a mutable rate would, beyond the end of its period too.
func TestCosineCompat(t *testing.T) {
	const floor = 1e-6
	for _, tc := range []struct{ steps, warmup int }{{110, 10}, {47100, 785}, {50, 1}, {50, 0}, {3, 2}} {
		c := must(nn.NewCosineLR(tc.steps, tc.warmup, true))
		for _, base := range []float64{1e-3, 1e-2} {
			period, lr := tc.steps-tc.warmup, base
			for step := range tc.steps + period + 5 {
				t0 := step // of PyTorch's scheduler
				switch {
				case tc.warmup > 0 && step <= tc.warmup+1:
					lr, t0 = base*float64(step)/float64(tc.warmup), 0
				case tc.warmup > 0:
					t0 = step - tc.warmup - 1
				}
				switch x := math.Pi / float64(period); {
				case t0 == 0: // the rate set above stands
				case (t0-1-period)%(2*period) == 0:
					lr += (base - floor) * (1 - math.Cos(x)) / 2
				default:
					lr = (1+math.Cos(x*float64(t0)))/(1+math.Cos(x*float64(t0-1)))*(lr-floor) + floor
				}
				if got := c.LR(base, step); !(math.Abs(got-lr) <= 1e-9*base) {
					t.Fatalf("%+v, base %v: step %d has rate %v, must be %v", tc, base, step, got, lr)
				}
			}
		}
		if tc.warmup > 0 {
			if got := c.LR(1, 0); got != 0 {
				t.Errorf("%+v: first rate %v, must be 0", tc, got)
			}
			if got, want := c.LR(1, tc.warmup+1), 1+1/float64(tc.warmup); got != want {
				t.Errorf("%+v: peak %v, must be %v", tc, got, want)
			}
		}
	}
}

func TestCosineRefuses(t *testing.T) {
	for _, tc := range []struct {
		steps, warmup int
		want          string
	}{
		{0, 0, "steps is 0, allowed is at least 1"},
		{10, -1, "warm-up steps is -1, allowed is 0 to 9"},
		{10, 10, "warm-up steps is 10, allowed is 0 to 9"},
	} {
		_, err := nn.NewCosineLR(tc.steps, tc.warmup, false)
		refused(t, err, tc.want)
	}
}

// TestMultiStep divides at the given steps and nowhere else.
func TestMultiStep(t *testing.T) {
	m := must(nn.NewMultiStepLR([]int{3, 5}, 4))
	for step, want := range []float64{1, 1, 1, .25, .25, .0625, .0625} {
		if got := m.LR(1, step); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	if got := must(nn.NewMultiStepLR(nil, 10)).LR(2, 9); got != 2 {
		t.Errorf("without steps the rate becomes %v", got)
	}
	for _, steps := range [][]int{{0}, {3, 3}, {5, 3}} {
		_, err := nn.NewMultiStepLR(steps, 10)
		refused(t, err, "multistep schedule: steps is ")
	}
	for _, factor := range []float64{0.5, 0, math.NaN(), math.Inf(1)} {
		_, err := nn.NewMultiStepLR([]int{1}, factor)
		refused(t, err, "multistep schedule: factor is ")
	}
}

// TestPlateau follows the counting of PyTorch's ReduceLROnPlateau in its mode max.
func TestPlateau(t *testing.T) {
	p := must(nn.NewPlateauLR(2, 1))
	for i, c := range []struct{ score, want float64 }{
		{0, 1},         // the first score is the best
		{0, 1},         // one that is not better is borne
		{0, .5},        // two are not
		{.5, .5},       // better
		{.50002, .5},   // not by enough
		{.6, .5},       // better: counting starts again
		{.5, .5},       //
		{.6, .25},      // the same is not better
		{.6, .25},      // and counting starts again after each division
		{.59999, .125}, //
	} {
		p.Observe(c.score)
		if got := p.LR(1, i); got != c.want {
			t.Errorf("after score %d the rate is %v, want %v", i, got, c.want)
		}
	}
	p = must(nn.NewPlateauLR(2, 1))
	for i, c := range []struct{ score, want float64 }{
		{math.NaN(), 1},  // not better than nothing
		{.5, 1},          // the best so far
		{math.NaN(), 1},  //
		{.5, .5},         //
		{.6, .5},         // better
		{math.NaN(), .5}, //
		{.6, .25},        //
	} {
		p.Observe(c.score)
		if got := p.LR(1, i); got != c.want {
			t.Errorf("with scores that are NaN, after score %d the rate is %v, want %v", i, got, c.want)
		}
	}
	_, err := nn.NewPlateauLR(0, 1)
	refused(t, err, "plateau schedule: factor is 0, allowed is 1 to 1e6")
	_, err = nn.NewPlateauLR(2, -1)
	refused(t, err, "plateau schedule: patience is -1, allowed is at least 0")
}
