package conv

import (
	"slices"
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// TestBands wants the same bits of the gradient of a kernel with one row to a band as with all rows at once.
func TestBands(t *testing.T) {
	eachSplitLevel(t, func(t *testing.T, dev *tensor.CPU) {
		bands := 0
		for _, c := range trials() {
			p := newTaps()
			p.reduce.frame.kernelGrad(&c.live, &c.largest)
			if p.reduce.form != inBands {
				continue
			}
			bands++
			p.bandSplit = 1
			if !slices.Equal(kernelGradOf(t, dev, p, &c), kernelGradOf(t, dev, newTaps(), &c)) {
				t.Errorf("%s: other bits in bands", c.name)
			}
		}
		if bands == 0 {
			t.Error("no trial is split")
		}
	})
}

// TestBandsOfFewerElements: where fewer elements are live than planned, a band could have more rows, but no more
// memory was planned for it.
func TestBandsOfFewerElements(t *testing.T) {
	eachSplitLevel(t, func(t *testing.T, dev *tensor.CPU) {
		c := trial{name: "fewer elements", largest: *newShape(16, 16, 8, 8, 4, 64, 17, grid(3), 3, Same)}
		c.live = c.largest
		c.live.NIn, c.live.NOut = 6, 6
		planned := trial{name: "as planned", largest: c.live, live: c.live}

		p := newTaps()
		p.reduce.frame.kernelGrad(&c.largest, &c.largest)
		row, _ := p.reduce.bandSizes(c.largest.Sources(), c.largest.Targets(), c.largest.B)
		p.bandSplit = 5 * row
		if few, all := p.reduce.bandRows(&c.live, p.bandSplit), p.reduce.bandRows(&c.largest, p.bandSplit); few <= all {
			t.Fatalf("bands of %d rows for fewer elements, %d for all", few, all)
		}
		if !slices.Equal(kernelGradOf(t, dev, p, &c), kernelGradOf(t, dev, newTaps(), &planned)) {
			t.Error("other bits with fewer elements than planned")
		}
	})
}

// eachSplitLevel runs a test at each level that has a matrix unit.
func eachSplitLevel(t *testing.T, test func(t *testing.T, dev *tensor.CPU)) {
	asmtest.EachLevel(t, func(t *testing.T) {
		if !asm.FastSplit() {
			t.Skip("the level has no matrix unit")
		}
		test(t, newCPU(t, 2))
	})
}

// kernelGradOf returns the gradient of a trial's kernel.
func kernelGradOf(t *testing.T, dev *tensor.CPU, p *taps, c *trial) []float32 {
	t.Helper()
	s := &c.live
	src := stream.New(6, "gradient", 0)
	x, dy := normal(src, s.Sources()*s.H*s.W*s.B), normal(src, s.Targets()*s.OutH*s.OutW*s.B)
	prepared, scratch := p.Sizes(&c.largest, false)
	if err := p.Bind(dev, &c.largest); err != nil {
		t.Fatal(err)
	}
	dk, tmp := poisoned(s.KernelSize()), poisoned(scratch)
	var none tensor.Buffer
	p.Backward(dk.buffer(), none, none, tensor.HostBuffer(x), tensor.HostBuffer(dy), tensor.HostBuffer(make([]float32, prepared)), tmp.buffer(), s, false)
	if !dk.intact() || !tmp.intact() {
		t.Errorf("%s: written beyond its memory", c.name)
	}
	return dk.values()
}
