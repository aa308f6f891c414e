package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

// Every kind of layer is the ordinary convolution that Dense says, whichever way it is
// computed, with weights of its input elements and without.
func TestDense(t *testing.T) {
	t.Run("E(2)", func(t *testing.T) { checkDense(t, lie.E2) })
	t.Run("Sim(2)", func(t *testing.T) { checkDense(t, lie.Sim2) })
}

func checkDense(t *testing.T, group lie.Group) {
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		for _, padding := range []Padding{Same, Valid} {
			for _, algorithm := range Algorithms() {
				for _, weighted := range []bool{false, true} {
					name := fmt.Sprint(k, " ", padding, " ", algorithm, " weighted=", weighted)
					if (k == lifting || k == depthwise) && weighted || k != groupwise && algorithm != Auto || k == pointwise && padding == Valid {
						continue
					}
					t.Run(name, func(t *testing.T) {
						cfg := Config{Name: "l", Group: group, In: 2, Out: 3, Side: 3, Hidden: 4, Bias: true, Padding: padding, Algorithm: algorithm}
						h := newWeightedHarness(t, k, cfg, sizes{maxIn: 4, maxOut: 4, h: 5, w: 6, b: 2}, 1, true, 1, weighted)
						src := stream.New(5, "dense", 0)
						nIn := 3
						if k == lifting {
							nIn = 1
						}
						h.place(src, nIn, 4)
						if weighted {
							h.weigh(src)
						}
						if h.bias != nil {
							h.dev.Upload(h.bias.Value, normal(src, cfg.Out))
						}
						x := normal(src, h.in.Size())
						h.dev.Upload(h.in.Live(), x)
						h.Forward(false)
						want := make([]float32, h.out.Size())
						h.dev.Download(want, h.out.Live())
						d, err := h.Dense()
						if err != nil {
							t.Fatal(err)
						}
						if d.NIn != h.in.N || d.NOut != 4 || d.Out*d.NOut*h.out.H*h.out.W*2 != len(want) {
							t.Fatalf("%d of %d elements", d.NIn, d.NOut)
						}
						golden.Close(t, "output", d.apply(x, 5, 6, 2), want, 1e-5, 1e-5*golden.MaxAbs(want))
						h.Convolve() // what was rendered has stayed
						again := make([]float32, len(want))
						h.dev.Download(again, h.out.Live())
						golden.Close(t, "output after Dense", again, want, 0, 0)
					})
				}
			}
		}
	}
}

// apply convolves a map [In*NIn, H, W, B] as the definition says.
func (d *Dense) apply(x []float32, h, w, b int) []float32 {
	r := d.Side / 2
	pad := 0
	if d.Padding == Same {
		pad = r
	}
	in, oh, ow := d.In*d.NIn, h+2*pad-2*r, w+2*pad-2*r
	if d.Depthwise {
		in = 1
	}
	var y []float32
	for o := range d.Out * d.NOut {
		for row := range oh {
			for col := range ow {
				for n := range b {
					sum := float64(d.Bias[o])
					for c := range in {
						plane := c
						if d.Depthwise {
							plane = o
						}
						for i := range d.Side {
							for j := range d.Side {
								p, q := row+i-pad, col+j-pad
								if p >= 0 && p < h && q >= 0 && q < w {
									sum += float64(d.Weight[((o*in+c)*d.Side+i)*d.Side+j]) * float64(x[((plane*h+p)*w+q)*b+n])
								}
							}
						}
					}
					y = append(y, float32(sum))
				}
			}
		}
	}
	return y
}

// A list for each image makes no one convolution of all.
func TestDenseOfManyLists(t *testing.T) {
	h := newListsHarness(t, groupwise, Config{Name: "l", In: 1, Out: 1, Side: 3, Hidden: 4}, sizes{maxIn: 2, maxOut: 2, h: 4, w: 4, b: 3}, 1, true, 3)
	defer func() {
		if err, ok := recover().(*Error); !ok || err.Op != "Dense" {
			t.Errorf("Dense says %v", err)
		}
	}()
	h.Dense()
}

// The kernel network that Dense evaluated at positions of its own, in memory given back since, has no way back from
// those of the last Render.
func TestDenseBeforeBackward(t *testing.T) {
	for _, k := range []kind{lifting, groupwise, pointwise, depthwise} {
		h := newHarness(t, k, Config{Name: "l", In: 2, Out: 2, Side: 3, Hidden: 4}, sizes{maxIn: 2, maxOut: 2, h: 4, w: 4, b: 3}, 1, false)
		h.in.Written(h.in.MaxN)
		h.Forward(true)
		if _, err := h.Dense(); err != nil {
			t.Fatal(err)
		}
		refuses(t, k.String(), "conv: Backward: l: no Forward since the last Dense", h.Backward)
		h.in.Written(h.in.MaxN)
		h.Forward(true)
		h.Backward()
	}
}
