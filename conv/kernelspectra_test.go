package conv

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
)

// spectraTrials are shapes whose kernels' spectra are made from those of features, at levels that slice products:
// channels of one chunk and of several, elements that blocks of rows straddle, in pairs, fewer live ones.
func spectraTrials() []trial {
	var list []trial
	for _, e := range []struct {
		in, out, maxIn, maxOut, nIn, nOut, side int
		paired                                  bool
	}{
		{32, 32, 4, 4, 4, 4, 5, false},
		{64, 24, 3, 5, 3, 5, 5, false},
		{32, 19, 6, 6, 5, 3, 5, false},
		{96, 48, 2, 2, 1, 2, 7, false},
		{32, 32, 4, 4, 4, 4, 5, true},
		{64, 40, 4, 6, 2, 6, 7, true},
	} {
		c := trial{name: fmt.Sprintf("%+v", e)}
		c.largest = *newShape(e.in, e.out, e.maxIn, e.maxOut, 5, 6, 32, grid(e.side), e.side, Same)
		c.live = c.largest
		c.live.NIn, c.live.NOut, c.live.Paired = e.nIn, e.nOut, e.paired
		list = append(list, c)
	}
	return list
}

// TestKernelSpectra compares with the spectrum of slots, for blocks of a whole kernel, of some rows, columns and
// frequencies, with the conjugate and without.
func TestKernelSpectra(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		if !asm.FastSplit() {
			t.Skip("the level has no matrix unit")
		}
		dev := newCPU(t, 2)
		for i, c := range spectraTrials() {
			for _, of := range []scaling{unscaled, scaled, masked} {
				s := &c.live
				features := []int{32, 7}[i%2]
				p := newFrequency(&c.largest, features)
				if err := p.Bind(dev, &c.largest); err != nil {
					t.Fatal(err)
				}
				if !p.spectraOfFeatures(s) {
					t.Fatalf("%s: by slots", c.name)
				}
				src := stream.New(8, c.name, 0)
				kernel := newFactoredKernel(src, s, features, of)
				checkKernelSpectra(t, fmt.Sprintf("%s, scaling %d", c.name, of), p, s, kernel.factors(), src)
			}
		}
	})
}

func checkKernelSpectra(t *testing.T, name string, p *frequency, s *Shape, k kernelFactors, src *stream.Stream) {
	t.Helper()
	l := p.lattice
	p.discs.measure(l, k, s)
	values, slots := make([]float32, slotsSize(s)), make([]float32, slotsSize(s))
	folded := make([]float32, foldedSize(s, p.features))
	p.render(values, k, folded, s)
	p.rendering = rendering{shape: s, cpu: p.cpu, features: p.features, folded: folded, w: k.W.Host(), b: k.B.Host(), slots: slots, discs: p.discs}
	p.rendering.run()

	spectra := p.spectraIn(values, s)
	layout := slotBlocksOf(s)
	for range 4 {
		m0, c0, f := src.IntN(layout.rows), src.IntN(layout.width/splitTile)*splitTile, src.IntN(l.count)
		nm, nc, nf := 1+src.IntN(layout.rows-m0), (1+src.IntN((layout.width-c0)/splitTile))*splitTile, 1+src.IntN(min(spectraTogether, l.count-f))
		ld := columns(nc)
		plane := blockSize(nm, ld)
		conjugate := src.IntN(2)
		for kind := range layout.kinds {
			memory := poisoned(2 * spectraTogether * plane)
			got := memory.values()
			spectra.write(got, kind, f, m0, nm, c0, nc, ld, plane, conjugate == 1)
			for m := range nm {
				for c := 0; c < nc; {
					from, lds, n := layout.piece(slots, m0+m, c0+c, c0+nc)
					re, im := make([]float32, nf*n), make([]float32, nf*n)
					l.transformSlots(&plainBlocks, f, nf, n, p.discs.evenSlots(m0+m), conjugate*(1-kind), from[kind*layout.taps*lds:], lds, re, im, n, nil)
					parts := [2][]float32{re, im}
					for r := range 2 * nf {
						part := r % 2
						if kind == 1 { // the imaginary part comes first
							part = 1 - part
						}
						want := make([]float64, n)
						for i := range want {
							want[i] = float64(parts[part][r/2*n+i])
							if kind == 1 && conjugate == 1 && part == 0 { // what comes second is negated
								want[i] = -want[i]
							}
						}
						compareNorm(t, fmt.Sprintf("%s, kind %d, rows %d+%d, columns %d+%d, frequencies %d+%d, conjugate %d: row (o,i) %d, part %d of %d",
							name, kind, m0, nm, c0, nc, f, nf, conjugate, m, part, r/2), got[r*plane+m*ld+c:][:n], want, nil)
					}
					c += n
				}
			}
			if !memory.intact() {
				t.Errorf("%s: written beyond the block", name)
			}
		}
	}
}

// TestFrequencyOfFeatures compares the passes with their definition, at once and in bands and shares.
func TestFrequencyOfFeatures(t *testing.T) {
	if !asm.FastSplit() {
		t.Skip("the level has no matrix unit")
	}
	var problems []factoredProblem
	for i, c := range spectraTrials() {
		if !c.live.Paired {
			problems = append(problems, newFactoredProblem(c, []int{32, 7}[i%2], scaling(i%3)))
		}
	}
	for name, adapt := range map[string]func(p *frequency, s *Shape){
		"at once": func(*frequency, *Shape) {},
		"in bands and shares": func(p *frequency, s *Shape) {
			p.lattice.budget = 2 * perBackward(s, splitTile) * p.lattice.periodW
			p.lattice.shareTargets, p.lattice.shareSources = 5, 7
		},
	} {
		t.Run(name, func(t *testing.T) {
			testFeaturePasses(t, func(s *Shape, features int) featurePasses {
				p := newFrequency(s, features)
				adapt(p, s)
				return p
			}, problems)
		})
	}
}
