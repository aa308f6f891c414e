package model

import (
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// TestPerElementAlone wants the logits of an image that has elements of its own to
// be those that a network with one list gives it alone on that list, also where images
// drop other elements each.
func TestPerElementAlone(t *testing.T) {
	for name, change := range map[string]func(*CKResNetConfig){
		"SE(2)": func(*CKResNetConfig) {},
		"E(2)":  func(c *CKResNetConfig) { c.Group, c.Elements = lie.E2, 4 },
		"mean":  func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = lie.E2, 4, gumbel.Mean },
	} {
		t.Run(name, func(t *testing.T) { checkPerElement(t, change) })
	}
}

func checkPerElement(t *testing.T, change func(*CKResNetConfig)) {
	const batch = 3
	many := newTinyWith(t, func(c *CKResNetConfig) { change(c); c.PerElement = true })
	one := newTinyWith(t, change)
	for _, s := range many.distributions() {
		for _, p := range s.Parameters() {
			switch p.Class {
			case nn.Subset:
				p.Host[0] = 0.6
			case nn.Keep:
				p.Host[0] = 0 // as often kept as dropped
			}
		}
	}
	dev, err := tensor.NewCPU(2)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for net, b := range map[*Network]int{many: batch, one: 1} {
		if err := net.Bind(dev, b, true); err != nil {
			t.Fatal(err)
		}
		defer net.Release()
	}
	many.Draw(1, Training, 0) // with what is dropped, by weights
	images := make([]float32, batch*144)
	for i, v := range toySet().Test.Images[:batch*144] {
		images[i] = float32(v) / 100
	}
	many.Forward(images, false)
	logits := make([]float32, many.Logits().Size())
	dev.Download(logits, many.Logits().Value)
	classes := many.cfg.Classes
	want := make([]float32, classes)
	one.Midpoints() // what the lists get below are no draws
	apart := 0      // lists of which images drop other elements
	for b := range batch {
		for i, e := range one.plan.elements {
			from := many.plan.elements[i]
			list, next := from.List(b), (b+1)%batch
			e.SetLen(len(list))
			copy(e.G, list)
			if other := from.List(next); slices.Equal(list, other) {
				t.Errorf("images %d and %d have the same elements", b, next)
			}
			if from.Weight == nil {
				continue
			}
			n := len(list)
			e.Weight, e.WeightGrad = from.Weight[b*n:][:n], make([]float64, n)
			if !slices.Equal(e.Weight, from.Weight[next*n:][:n]) {
				apart++
			}
		}
		one.Forward(images[b*144:(b+1)*144], false)
		dev.Download(want, one.Logits().Value)
		for k := range classes {
			if got := logits[k*batch+b]; !(math.Abs(float64(got-want[k])) <= 1e-4*(1+math.Abs(float64(want[k])))) {
				t.Errorf("image %d, class %d: %v, alone %v", b, k, got, want[k])
			}
		}
	}
	if drops := one.cfg.drops(); drops != (apart > 0) {
		t.Errorf("%d lists of which images drop other elements", apart)
	}
}
