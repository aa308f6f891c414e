package conv

import (
	"slices"

	"github.com/noether-go/noether/asm"
)

// slotWaves takes the slots of a kernel to its spectrum, and the gradient of that back.
//
// Slots are the folded taps of a kernel. The taps are symmetric about the middle one. Slot 0 is the middle tap, slot
// 2e, e = 1..pairs, the sum of the taps order[e] after and before it, slot 2e-1 their difference: the real part of a
// kernel's spectrum is a sum of cosines of even slots, the imaginary part one of sines of odd ones. They lie
// by distance from the middle, so that a smaller disc has the first ones.
//
// Where order[e] and order[e+1] are mirror images of one another, taps (r, -c) and (r, c), they are crossed: their
// even and their odd slots are replaced by their differences, slots of order[e], and sums, those of order[e+1].
// These go with products of a wave along y and one along x, so that a spectrum can be made
// along one axis after the other.
type slotWaves struct {
	pairs   int
	order   []int
	crossed []bool
	circle  []int // the last pair that is as far from the middle

	// From slots to the spectrum, cos [count, pairs+1] and sin [count, pairs], and for its conjugate.
	cos []float32
	sin [2][]float32
	// From the gradient of the spectrum to that of slots, [pairs+1, count] and [pairs, count], given
	// the negated imaginary part, or the imaginary part.
	cosBack []float32
	sinBack [2][]float32

	axes *axisWaves // nil where asm.KernelWaves does not have the taps, or groups are too large
}

// mostInGroup is how many frequencies a group, and a block of whole groups, may have for spectra to be made by axes.
const mostInGroup = 34

// axisWaves are the waves along either axis, as asm.KernelWaves takes them: those along y by group, those along
// x by frequency. The second of two is for the conjugate spectrum and, back, for the imaginary part that is not
// negated.
type axisWaves struct {
	y     [2][][6]float32
	x     [2][]float32
	yBack [2][][7]float32
	xBack [2][2][]float32 // of groups with -fx, and of those without
}

// byDistance returns the numbers e of the taps that are e behind the middle one, by distance from it.
func byDistance(offsets []Offset) []int {
	mid := len(offsets) / 2
	order := make([]int, mid+1)
	for e := range order {
		order[e] = e
	}
	distance := func(e int) int { return fromMiddleTap(offsets, e).square() }
	slices.SortStableFunc(order, func(a, b int) int { return distance(a) - distance(b) })
	return order
}

// fromMiddleTap returns where the tap e behind the middle one lies, seen from there.
func fromMiddleTap(offsets []Offset, e int) Offset {
	mid := len(offsets) / 2
	return Offset{offsets[mid+e].Row - offsets[mid].Row, offsets[mid+e].Col - offsets[mid].Col}
}

// square returns the square of the distance.
func (o Offset) square() int { return o.Row*o.Row + o.Col*o.Col }

// newSlotWaves returns the slots of taps, and their waves at the frequencies of a lattice.
func newSlotWaves(offsets []Offset, l *lattice) slotWaves {
	w := slotWaves{pairs: len(offsets) / 2, order: byDistance(offsets)}
	even := w.pairs + 1
	taps := make([]Offset, even)
	for e := range taps {
		taps[e] = fromMiddleTap(offsets, w.order[e])
	}
	w.crossed, w.circle = make([]bool, even), make([]int, even)
	for e, t := range slices.Backward(taps) {
		w.circle[e] = e
		if e < w.pairs {
			next := taps[e+1]
			w.crossed[e] = t.Row > 0 && t.Col < 0 && next == Offset{t.Row, -t.Col}
			if t.square() == next.square() {
				w.circle[e] = w.circle[e+1]
			}
		}
	}
	w.fill(taps, l)
	if w.onKernelTaps(taps) && l.periodW <= mostInGroup {
		w.axes = newAxisWaves(l)
	}
	return w
}

// fill fills the matrices between slots and spectra. The kernel of a correlation has the spectrum
// sum of psi(t) e^{+i w.t}.
func (w *slotWaves) fill(taps []Offset, l *lattice) {
	even := len(taps)
	w.cos, w.cosBack = make([]float32, l.count*even), make([]float32, l.count*even)
	for i := range w.sin {
		w.sin[i], w.sinBack[i] = make([]float32, l.count*w.pairs), make([]float32, l.count*w.pairs)
	}
	for fy, g := range l.groups {
		for fx := range g.count {
			f := g.first + fx
			share := l.groupWeight(fy) * l.weightInGroup(g, fx)
			for e, t := range taps {
				c, s := w.waves(e, t, fy, fx, l)
				w.cos[f*even+e] = float32(c)
				w.cosBack[e*l.count+f] = float32(share * c)
				if e > 0 {
					there, back := f*w.pairs+e-1, (e-1)*l.count+f
					w.sin[0][there], w.sin[1][there] = float32(s), float32(-s)
					w.sinBack[0][back], w.sinBack[1][back] = float32(-share*s), float32(share*s)
				}
			}
		}
	}
}

// waves returns what the even and the odd slot of tap t, of pair e, contribute to real and imaginary part.
func (w *slotWaves) waves(e int, t Offset, fy, fx int, l *lattice) (even, odd float64) {
	cy, sy := phase(fy*t.Row, l.periodH)
	cx, sx := phase(fx*t.Col, l.periodW)
	switch {
	case w.crossed[e]: // t.Col < 0, and with it sx
		return sy * sx, -cy * sx
	case e > 0 && w.crossed[e-1]:
		return cy * cx, sy * cx
	}
	// The angle is a fraction of a turn with the two periods' product
	// as denominator, so it can be reduced exactly.
	return phase(fy*t.Row*l.periodW+fx*t.Col*l.periodH, l.periodH*l.periodW)
}

// groupWeight returns what the gradient at a frequency of a group counts, beside weightInGroup: the
// spectrum of a real plane has it at the opposite frequency too, which is not kept.
func (l *lattice) groupWeight(fy int) float64 {
	return weight(fy, l.periodH) / float64(l.periodH*l.periodW)
}

func (l *lattice) weightInGroup(g frequencies, fx int) float64 {
	if g.rows == 1 {
		return weight(fx, l.periodW)
	}
	return 1
}

// onKernelTaps reports whether taps are the first of asm.KernelTaps, to a whole circle.
func (w *slotWaves) onKernelTaps(taps []Offset) bool {
	all := asm.KernelTaps[:]
	for e, t := range taps {
		if e == len(all) || t != (Offset{all[e][0], all[e][1]}) {
			return false
		}
	}
	next := len(taps)
	return next == len(all) || Offset{all[next][0], all[next][1]}.square() > taps[next-1].square()
}

// newAxisWaves returns the waves at the frequencies of a lattice.
func newAxisWaves(l *lattice) *axisWaves {
	w := new(axisWaves)
	const far = 3 // of a tap from the middle, along an axis
	for i, sign := range [2]float64{1, -1} {
		for fy := range l.groups {
			share := l.groupWeight(fy)
			y, back := [6]float32{}, [7]float32{float32(share)}
			for r := 1; r <= far; r++ {
				c, s := phase(fy*r, l.periodH)
				y[r-1], y[far+r-1] = float32(c), float32(sign*s)
				back[r], back[far+r] = float32(share*c), float32(-sign*share*s)
			}
			w.y[i], w.yBack[i] = append(w.y[i], y), append(w.yBack[i], back)
		}
		for fx := range l.periodW/2 + 1 {
			x, back := [6]float32{}, [2][7]float32{{1}, {float32(weight(fx, l.periodW))}}
			for k := 1; k <= far; k++ {
				c, s := phase(fx*k, l.periodW)
				x[k-1], x[far+k-1] = float32(c), float32(sign*s)
				for of := range back {
					back[of][k], back[of][far+k] = back[of][0]*float32(c), back[of][0]*float32(-sign*s)
				}
			}
			w.x[i] = append(w.x[i], x[:]...)
			for of := range back {
				w.xBack[i][of] = append(w.xBack[i][of], back[of][:]...)
			}
		}
	}
	return w
}

// byAxes reports whether spectra of kernels are made along one axis after the other, for whole groups of
// frequencies, where products do not slice them.
func (w *slotWaves) byAxes() bool { return w.axes != nil && asm.FastKernelWaves() }

// transformSlots makes both parts of n columns of a kernel's spectrum, for nf frequencies from f on, of the
// first even slots and the odd ones with them; with conjugate = 1, the conjugate spectrum. In blocks of whole
// groups it goes along one axis after the other. The slots ahead, if any, are fetched meanwhile: sliced products,
// whose blocks fit the second-level cache, are slower for it.
func (l *lattice) transformSlots(b *blockSizes, f, nf, n, even, conjugate int, slots []float32, lds int, re, im []float32, ld int, ahead []float32) {
	all := l.pairs + 1
	cos, sin, odd := l.cos[f*all:], l.sin[conjugate][f*l.pairs:], slots[lds:]
	switch {
	case b.groups > 0:
		for at := 0; at < nf; ahead = nil {
			fy := l.groupOf(f + at)
			g := l.groups[fy]
			asm.KernelWaves(n, even-1, g.count, l.opposite(g), &l.axes.y[conjugate][fy], l.axes.x[conjugate], slots, lds, re[at*ld:], im[at*ld:], ld, ahead)
			at += g.count
		}
	case ahead == nil:
		gemmNN(nf, n, even, cos, all, slots, 2*lds, re, ld, false)
		gemmNN(nf, n, even-1, sin, l.pairs, odd, 2*lds, im, ld, false)
	default:
		asm.GemmPair(n, &asm.PairPart{M: nf, K: even, LDA: all, A: cos, B: slots, C: re},
			&asm.PairPart{M: nf, K: even - 1, LDA: l.pairs, A: sin, B: odd, C: im}, 2*lds, ld, false, ahead)
	}
}

// slotsGrad makes the gradients of n columns of the first even slots and the odd ones with them, or adds to them,
// of that of their spectrum at nf frequencies from f on: re and im, negated or, with front = 1, as it is, each with
// rows ld apart. The slots ahead, if any, are fetched meanwhile.
func (l *lattice) slotsGrad(b *blockSizes, f, nf, n, even, front int, re, im []float32, ld int, slots []float32, lds int, accumulate bool, ahead []float32) {
	cos, sin, odd := l.cosBack[f:], l.sinBack[front][f:], slots[lds:]
	switch {
	case b.groups > 0:
		for at := 0; at < nf; ahead = nil {
			fy := l.groupOf(f + at)
			g := l.groups[fy]
			asm.KernelWavesGrad(n, even-1, g.count, l.opposite(g), &l.axes.yBack[front][fy], l.axes.xBack[front][2-g.rows], slots, lds, re[at*ld:], im[at*ld:], ld, accumulate || at > 0, ahead)
			at += g.count
		}
	case ahead == nil:
		gemmNN(even, n, nf, cos, l.count, re, ld, slots, 2*lds, accumulate)
		gemmNN(even-1, n, nf, sin, l.count, im, ld, odd, 2*lds, accumulate)
	default:
		asm.GemmPair(n, &asm.PairPart{M: even, K: nf, LDA: l.count, A: cos, B: re, C: slots},
			&asm.PairPart{M: even - 1, K: nf, LDA: l.count, A: sin, B: im, C: odd}, ld, 2*lds, accumulate, ahead)
	}
}

// groupOf returns the group of a frequency.
func (l *lattice) groupOf(f int) int {
	if first := l.groups[0].count; f >= first {
		return 1 + (f-first)/l.periodW
	}
	return 0
}

// opposite returns how many frequencies of a group lie opposite to others of it.
func (l *lattice) opposite(g frequencies) int {
	if g.rows == 1 {
		return 0
	}
	return (l.periodW - 1) / 2
}
