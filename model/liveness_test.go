package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// lifetimeNets are small networks with every kind of layer.
var lifetimeNets = map[string]func() (*Network, error){
	"CKResNet": func() (*Network, error) {
		return NewCKResNet(CKResNetConfig{Elements: 3, Partial: true, Side: 12, Classes: 3, Width: 3,
			Factors: []int{1, 2}, KernelSide: 3, KernelHidden: 4})
	},
	"CKResNet/frequency": func() (*Network, error) { // maps that are computed plane by plane
		return NewCKResNet(CKResNetConfig{Elements: 3, Partial: true, Side: 12, Classes: 3, Width: 3,
			Factors: []int{1, 2}, KernelSide: 3, KernelHidden: 4, Algorithm: conv.Frequency})
	},
	"CKResNet/mirror": func() (*Network, error) { // and whose elements have weights
		return NewCKResNet(CKResNetConfig{Group: lie.Mirror, Elements: 2, Partial: true, Side: 12, Classes: 3, Width: 3,
			Factors: []int{1, 2}, KernelSide: 3, KernelHidden: 4, Algorithm: conv.Frequency})
	},
	"CKResNet/T2": func() (*Network, error) { // identity shortcuts
		return NewCKResNet(CKResNetConfig{Group: lie.T2, Side: 12, Classes: 3, Width: 3,
			Factors: []int{1, 1, 2}, KernelSide: 3, KernelHidden: 4})
	},
	"CKResNet/LayerNorm": func() (*Network, error) {
		return NewCKResNet(CKResNetConfig{Group: lie.T2, Side: 12, Classes: 3, Width: 3, Norm: LayerNorm,
			Factors: []int{1, 2}, KernelSide: 3, KernelHidden: 4})
	},
	"GCNN/Augerino": func() (*Network, error) {
		return NewGCNN(GCNNConfig{Elements: 3, Augerino: true, Channels: 1, Side: 16, Classes: 3, Width: 2, KernelHidden: 4})
	},
	"GCNN": func() (*Network, error) {
		return NewGCNN(GCNNConfig{Elements: 2, Channels: 1, Side: 16, Classes: 3, Width: 2, KernelHidden: 4})
	},
}

// poisonedStep runs a training step (or, planned for inference, a forward pass)
// and returns logits and gradients. With poison, NaN lies wherever nothing is
// alive.
func poisonedStep(net *Network, images, labels []float32, inference, poison bool) [][]float32 {
	p := net.plan
	after := func(m tensor.Moment) {
		if poison {
			p.arena.Poison(m, float32(math.NaN()))
		}
	}
	after(tensor.End)
	net.Draw(1, Training, 0)
	net.upload(images)
	for i, l := range p.layers {
		l.Forward(!inference)
		after(tensor.ForwardOf(i))
	}
	out := [][]float32{make([]float32, p.logits.Size())}
	p.dev.Download(out[0], p.logits.Live())
	if inference {
		return out
	}
	net.params.ZeroGrad()
	net.loss.SetLabels(labels)
	net.loss.Forward(true)
	net.loss.Backward()
	after(tensor.BackwardOf(len(p.layers)))
	for i := len(p.layers) - 1; i >= 0; i-- {
		p.layers[i].Backward()
		after(tensor.BackwardOf(i))
	}
	for _, q := range net.params.All() {
		for _, b := range []tensor.Buffer{q.Value, q.Grad} {
			out = append(out, make([]float32, b.Len()))
			p.dev.Download(out[len(out)-1], b)
		}
	}
	return out
}

// TestLifetimes: overwriting everything that is dead, after each layer, changes
// no bit of a step.
func TestLifetimes(t *testing.T) {
	const batch = 3
	for name, build := range lifetimeNets {
		for _, inference := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/inference=%v", name, inference), func(t *testing.T) {
				var want [][]float32
				for _, poison := range []bool{false, true} {
					net, err := build()
					if err != nil {
						t.Fatal(err)
					}
					dev, err := tensor.NewCPU(2)
					if err != nil {
						t.Fatal(err)
					}
					defer dev.Close()
					if err := net.Bind(dev, batch, inference); err != nil {
						t.Fatal(err)
					}
					defer net.Release()
					channels, h, w := net.ImageShape()
					images := make([]float32, batch*channels*h*w)
					for i := range images {
						images[i] = float32(math.Sin(float64(i * i)))
					}
					got := poisonedStep(net, images, []float32{0, 2, 1}, inference, poison)
					if want == nil {
						want = got
						continue
					}
					for i := range want {
						for j, v := range want[i] {
							if v != v || math.Float32bits(v) != math.Float32bits(got[i][j]) {
								t.Fatalf("array %d, value %d: %v, poisoned %v", i, j, v, got[i][j])
							}
						}
					}
				}
			})
		}
	}
}

// TestArenaSize compares the plans of published networks with what is alive at
// once.
func TestArenaSize(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  CKResNetConfig
	}{
		{"RotMNIST SE(2)x8", CKResNetConfig{Elements: 8, Partial: true}},
		{"MNIST6 SE(2)x8", CKResNetConfig{Elements: 8, Partial: true, Classes: 2, Width: 10, Factors: []int{1, 1}, Pools: []int{1, 2}}},
	} {
		for _, inference := range []bool{false, true} {
			net, err := NewCKResNet(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			p := &plan{batch: 64}
			net.reserve(p, &nn.Plan{Arena: &p.arena, Batch: 64, Inference: inference})
			size, live := p.arena.Size(), p.arena.Live()
			const mib = 1 << 18 // in values
			t.Logf("%s, batch 64, inference %v: %.1f MiB, of which %.1f are alive at once", c.name, inference,
				float64(size)/mib, float64(live)/mib)
			if float64(size) > 1.1*float64(live) {
				t.Errorf("%s, inference %v: a plan of %d values, of which %d are alive at once", c.name, inference, size, live)
			}
		}
	}
}
