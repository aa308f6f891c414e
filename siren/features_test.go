package siren

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// TestFeatures wants the features, and W and b behind them, to be the network:
// its results and all its gradients, here derived in float64 from those of the
// features.
func TestFeatures(t *testing.T) {
	for _, cfg := range variants {
		t.Run(fmt.Sprintf("%+v", cfg), func(t *testing.T) {
			asmtest.EachLevel(t, func(t *testing.T) {
				eachDevice(t, cfg, 2, func(t *testing.T, dev tensor.Device) { features(t, dev, cfg) })
			})
		})
	}
}

// features is TestFeatures of one network on one device.
func features(t *testing.T, dev tensor.Device, cfg any) {
	const positions = 300
	n := build(t, "net", cfg, 5)
	h := newHarnessOn(t, dev, n, positions+2, false)
	x, dx := h.x.Slice(0, n.In()*positions), h.dx.Slice(0, n.In()*positions)
	points := gradcheck.Normal(x.Len(), 9)
	for i := range points {
		points[i] *= 0.5
	}
	h.dev.Upload(x, points)
	dy := gradcheck.Normal(n.Out()*positions, 3)

	// The whole network.
	want := h.download(h.eval(x, positions))
	h.dev.Upload(h.dy, dy)
	n.Backward(h.dy, dx)
	wantX := h.download(dx)
	var wantGrad [][]float32
	for _, p := range n.Parameters() {
		wantGrad = append(wantGrad, h.download(p.Grad))
	}

	// What another pass leaves behind has no part in what follows.
	h.dev.Fill(h.dy, 1)
	n.Backward(h.dy, dx)

	// By its features.
	h.params.ZeroGrad()
	hidden := n.Features()
	fb, wb, bb := n.ForwardFeatures(x, positions)
	f, w, b := h.download(fb), h.download(wb), h.download(bb)
	if len(f) != hidden*positions || len(w) != n.Out()*hidden || len(b) != n.Out() {
		t.Fatalf("%d, %d and %d values", len(f), len(w), len(b))
	}
	got := make([]float64, n.Out()*positions)
	dw, db, df := make([]float32, len(w)), make([]float32, len(b)), make([]float32, len(f))
	for o := range n.Out() {
		bias := 0.0
		for p := range positions {
			s := float64(b[o])
			for k := range hidden {
				s += float64(w[o*hidden+k]) * float64(f[k*positions+p])
			}
			got[o*positions+p] = s
			bias += float64(dy[o*positions+p])
		}
		db[o] = float32(bias)
		for k := range hidden {
			s := 0.0
			for p := range positions {
				s += float64(dy[o*positions+p]) * float64(f[k*positions+p])
			}
			dw[o*hidden+k] = float32(s)
		}
	}
	for k := range hidden {
		for p := range positions {
			s := 0.0
			for o := range n.Out() {
				s += float64(w[o*hidden+k]) * float64(dy[o*positions+p])
			}
			df[k*positions+p] = float32(s)
		}
	}
	near(t, "y", got, want)
	h.dev.Fill(dx, 0)
	host := tensor.HostBuffer
	n.BackwardFeatures(host(dw), host(db), host(df), dx)
	near(t, "dx", widen(h.download(dx)), wantX)
	for i, p := range n.Parameters() {
		if p.Class != nn.Constant {
			near(t, p.Name, widen(h.download(p.Grad)), wantGrad[i])
		}
	}
}

// near compares relative to the largest value.
func near(t *testing.T, what string, got []float64, want []float32) {
	t.Helper()
	peak := 0.0
	for _, v := range want {
		peak = max(peak, math.Abs(float64(v)))
	}
	for i := range want {
		if !(math.Abs(got[i]-float64(want[i])) <= 2e-5*peak) {
			t.Fatalf("%s: value %d is %v, want %v, of at most %v", what, i, got[i], want[i], peak)
		}
	}
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
