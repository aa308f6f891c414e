package conv

import (
	"testing"

	"github.com/noether-go/noether/asm"
)

// TestAuto holds the cost models to the algorithms that the benchmarks of this
// package find fastest, by a wide margin each.
func TestAuto(t *testing.T) {
	want := map[string]Algorithm{
		"lifting": Taps, "mnist6": Frequency, "mnist6-14": Frequency, "mnist6-7": Frequency, "mnist6-last": Taps,
		"rotmnist1": Frequency, "rotmnist2": Frequency, "rotmnist3": Frequency, "rotmnist-last": LowRank,
		"cifar1": Frequency, "cifar0": Frequency, "pointwise": Taps, "one-image": Taps, "four-images": Frequency, "twelve-images": Frequency,
	}
	if asm.FastSplit() {
		want["four-images"] = Taps
	}
	few := Rows // images in inference
	if asm.FastSplit() {
		few = Taps
	}
	frozen := map[string]Algorithm{
		"mnist6": Frequency, "rotmnist1": Frequency, "pointwise": Taps, "one-image": few, "four-images": few, "twelve-images": Frequency,
	}
	testAuto(t, want, false)
	testAuto(t, frozen, true)
}

func testAuto(t *testing.T, want map[string]Algorithm, inference bool) {
	t.Helper()
	for _, c := range benchmarks {
		w, ok := want[c.name]
		if !ok {
			continue
		}
		delete(want, c.name)
		s := newShape(c.in, c.out, c.nIn, c.nOut, c.plane, c.plane, c.batch, grid(c.side), c.side, c.padding)
		p, f, err := choose(nil, s, Auto, traits{features: c.features, inference: inference})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&layer{passes: p, factored: f}).Algorithm(); got != w {
			t.Errorf("%s, inference %v: %s was chosen, want %s", c.name, inference, got, w)
		}
	}
	for name := range want {
		t.Errorf("no benchmark %s", name)
	}
}
