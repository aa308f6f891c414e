package model

import (
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/tensor"
)

// TestPerElementAlone wants the logits of an image that has elements of its own to
// be those that a network with one list gives it alone on that list.
func TestPerElementAlone(t *testing.T) {
	const batch = 3
	many, one := newTinyPerElement(t), newTiny(t)
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
	many.SetSubsets(0.6)
	many.Draw(1, Evaluation, 0)
	images := make([]float32, batch*144)
	for i, v := range toySet().Test.Images[:batch*144] {
		images[i] = float32(v) / 100
	}
	many.Forward(images, false)
	logits := make([]float32, many.Logits().Size())
	dev.Download(logits, many.Logits().Value)
	classes := many.cfg.Classes
	want := make([]float32, classes)
	for b := range batch {
		for i, e := range one.plan.elements {
			list := many.plan.elements[i].List(b)
			e.SetLen(len(list))
			copy(e.G, list)
			if other := many.plan.elements[i].List((b + 1) % batch); slices.Equal(list, other) {
				t.Errorf("images %d and %d have the same elements", b, (b+1)%batch)
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
}
