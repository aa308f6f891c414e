package conv

import (
	"fmt"
	"math"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
)

// TestSlotWaves compares the spectrum of folded taps with the Fourier transform of the taps, and what takes
// gradients back with the adjoint of that: by products for any taps, and by axes for those of asm.KernelTaps.
func TestSlotWaves(t *testing.T) {
	const n = 19 // kernels
	line := []Tap{{Row: -1, Col: -2}, {}, {Row: 1, Col: 2}}
	for _, c := range []struct {
		name    string
		taps    []Tap
		side    int
		axes    bool
		crossed int
	}{
		{"disc of 3", grid(3), 3, true, 0},
		{"square of 3", square(3), 3, true, 1},
		{"disc of 5", grid(5), 5, true, 1},
		{"disc of 7", grid(7), 7, true, 4},
		{"square of 7", square(7), 7, true, 9},
		{"disc of 9", grid(9), 9, false, 8},
		{"no mirror image", line, 5, false, 0},
	} {
		for _, plane := range [][2]int{{7, 7}, {6, 9}, {14, 13}} {
			s := newShape(1, 1, 1, 1, plane[0], plane[1], 1, c.taps, c.side, Same)
			l := newLattice(s)
			crossed := 0
			for _, x := range l.crossed {
				if x {
					crossed++
				}
			}
			if (l.axes != nil) != c.axes || crossed != c.crossed {
				t.Fatalf("%s: by axes %v, %d crossed", c.name, l.axes != nil, crossed)
			}
			asmtest.EachLevel(t, func(t *testing.T) {
				sizes := map[string]blockSizes{"products": plainBlocks}
				if c.axes {
					sizes["axes"], sizes["axes, wide"] = l.wholeGroups(groupBlocks), l.wideGroups(plainBlocks)
				}
				for name, b := range sizes {
					for conjugate := range 2 {
						checkSlotWaves(t, fmt.Sprintf("%s, plane %v, by %s, conjugate %d", c.name, plane, name, conjugate), l, s.Offsets, &b, conjugate, n)
					}
				}
			})
		}
	}
}

func checkSlotWaves(t *testing.T, name string, l *lattice, offsets []Offset, b *blockSizes, conjugate, n int) {
	t.Helper()
	src := stream.New(7, name, 0)
	taps, mid, sign := len(offsets), len(offsets)/2, float64(1-2*conjugate)
	folding := featureFolding{slotWaves: &l.slotWaves, taps: taps, width: n}
	wave := func(f, tap int) (c, s float64) {
		fy := l.groupOf(f)
		row, col := offsets[tap].Row-offsets[mid].Row, offsets[tap].Col-offsets[mid].Col
		angle := 2 * math.Pi * (float64(fy*row)/float64(l.periodH) + float64((f-l.groups[fy].first)*col)/float64(l.periodW))
		return math.Cos(angle), sign * math.Sin(angle)
	}
	kernel, slots := normal(src, taps*n), make([]float32, taps*n)
	folding.fold(slots, kernel)
	re, im := make([]float32, l.count*n), make([]float32, l.count*n)
	ahead := slots[:1]
	l.transformSlots(b, 0, l.count, n, l.pairs+1, conjugate, slots, n, re, im, n, ahead)
	var wantRe, wantIm, wantGrad []float64
	for f := range l.count {
		for j := range n {
			var x, y float64
			for tap := range taps {
				c, s := wave(f, tap)
				x += c * float64(kernel[tap*n+j])
				y += s * float64(kernel[tap*n+j])
			}
			wantRe, wantIm = append(wantRe, x), append(wantIm, y)
		}
	}
	compareNorm(t, name+": re", re, wantRe, nil)
	compareNorm(t, name+": im", im, wantIm, nil)

	// The gradient counts opposite frequencies, which are not kept, and takes the imaginary part negated
	// unless it is in front.
	dre, dim := normal(src, l.count*n), normal(src, l.count*n)
	for tap := range taps {
		for j := range n {
			sum := 0.0
			for f := range l.count {
				c, s := wave(f, tap)
				fy := l.groupOf(f)
				fx := f - l.groups[fy].first
				share := 2.0
				if l.real(fy) && !l.mirrored(fx) {
					share = 1
				}
				sum += share * (c*float64(dre[f*n+j]) - s*float64(dim[f*n+j]))
			}
			wantGrad = append(wantGrad, sum/float64(l.periodH*l.periodW))
		}
	}
	for _, accumulate := range []bool{false, true} {
		dslots, dkernel := make([]float32, taps*n), make([]float32, taps*n)
		for i := range dslots {
			dslots[i] = float32(math.NaN())
		}
		if accumulate {
			clear(dslots)
		}
		l.slotsGrad(b, 0, l.count, n, l.pairs+1, conjugate, dre, dim, n, dslots, n, accumulate, ahead)
		folding.unfold(dkernel, dslots)
		compareNorm(t, name+": gradient", dkernel, wantGrad, nil)
	}
}

// TestCircles: a smaller disc ends where a circle does, whatever part of it is live.
func TestCircles(t *testing.T) {
	s := newShape(1, 1, 1, 1, 9, 9, 1, square(7), 7, Same)
	l := newLattice(s)
	distance := func(e int) int { return fromMiddleTap(s.Offsets, l.order[e]).square() }
	for e, last := range l.circle {
		if distance(last) != distance(e) || last < l.pairs && distance(last+1) == distance(e) {
			t.Errorf("pair %d: the circle does not end at %d", e, last)
		}
		if l.crossed[e] && l.circle[e] == e {
			t.Errorf("pair %d is apart from its mirror image", e)
		}
	}
}
