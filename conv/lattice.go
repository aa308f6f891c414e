package conv

import (
	"math"

	"github.com/noether-go/noether/asm"
)

// lattice holds the frequencies of the frequency-domain algorithm and the
// matrices of its transforms, for the largest shape of a layer; they do not
// depend on the element counts.
//
// Planes are extended by zeros to the cyclic periods (periodH, periodW), just
// large enough that what wraps around is zero: H + k/2 for Same padding, H for
// Valid. Transforms of a period of any parity are small matrix products. The
// spectrum of a real plane is Hermitian, so only the frequencies with fy in the
// lower half are kept. They are numbered group by group, a group being the
// frequencies of one fy: fx = 0..periodW-1, or the lower half of those where the
// spectrum is Hermitian along fx too (fy = 0, and periodH/2 if that is whole).
type lattice struct {
	periodH, periodW int
	count            int // of frequencies
	budget           int // values of spectra that are kept at a time
	shareTargets     int // rows (o,i) of a share of the output, see schedule
	shareSources     int // planes of a share of the input
	groups           []frequencies
	selfConjugate    []bool // by frequency: f = -f, where spectra of real planes are real

	h, w       int // input plane
	outH, outW int // output plane
	top, left  int // where the output plane begins on the input plane

	slotWaves
	in, grad  transform // of the input plane, of the output plane's gradient
	back, out inverse   // to the input plane, to the output plane
}

// frequencies is a group: those of one fy.
type frequencies struct {
	first, count int
	imaginary    int // which imaginary row of the real transform along y is its own
	rows         int // 1 where that is real and has none, else 2
}

// transform holds the matrices that take a plane to its spectrum. Positions count from
// the middle of the plane, which all planes of a layer share, so that cosines see only
// the even part of a plane (see asm.Fold) and sines only the odd part: half the
// multiplications. The spectrum differs from that of positions counted from the corner by
// a phase, the same for all planes, and a product with the kernel leaves it alone.
//
// Along y, with a column for each group: cos [even rows, groups], minusSin [odd rows,
// groups], for a plane split into even and odd rows. They give the real row r and the imaginary row i of a group, which are then split
// into even part and odd part along x. Along x: the first of waves [w, periodW/2+1], the cosines
// of the even positions and then the sines of the odd ones, takes (even part of r, odd part of i) to the
// real part of the spectrum, at fx by their sum, at -fx by the difference (see
// asm.GemmMirrored); the second, with the sines negated, takes (even part of i, odd part of r) to the
// imaginary part; the third is the second negated, for the spectrum times i has that for its real part
// and the first for its imaginary part. byFrequency are the same transposed, for a group
// without -fx.
type transform struct {
	h, w               int
	cos, minusSin      []float32
	waves, byFrequency [3][]float32
}

// inverse holds the matrices that take a spectrum to the plane, positions again counted
// from the middle. Along x: edge [w, 2(periodW/2+1)] with columns (fx, part), for a group
// with one row, and for the spectrum times -i; waves [periodW, (w+1)/2] for one with two, the
// cosines of fx = 0..periodW/2 and then the sines of fx = 1..(periodW-1)/2, of which each
// serves fx and -fx (see asm.GemmWaves). Along y: cos [groups, (h+1)/2] and minusSin
// [imaginary rows, (h+1)/2]. All but edge have columns for the positions from the middle on,
// of which those before it are the mirror image (see asm.GemmMirrored).
type inverse struct {
	h, w          int
	edge          [2][]float32
	waves         []float32
	cos, minusSin []float32
}

// symmetric reports whether taps t and T-1-t lie opposite each other about the
// middle one, as those of a disc in row-major order do.
func symmetric(offsets []Offset) bool {
	if len(offsets)%2 == 0 {
		return false
	}
	mid := offsets[len(offsets)/2]
	for t, a := range offsets {
		b := offsets[len(offsets)-1-t]
		if a.Row+b.Row != 2*mid.Row || a.Col+b.Col != 2*mid.Col {
			return false
		}
	}
	return true
}

// newLattice returns the lattice of a shape whose taps are symmetric.
func newLattice(s *Shape) *lattice {
	mid := s.Offsets[len(s.Offsets)/2]
	l := &lattice{
		h: s.H, w: s.W, outH: s.OutH, outW: s.OutW, top: mid.Row, left: mid.Col,
		periodH: s.H, periodW: s.W, budget: bandValues,
		shareTargets: shareTargets, shareSources: shareSources,
	}
	for _, o := range s.Offsets {
		l.periodH = max(l.periodH, s.H-o.Row, s.OutH+o.Row)
		l.periodW = max(l.periodW, s.W-o.Col, s.OutW+o.Col)
	}
	// From the middle of an even side positions are at half numbers, where the highest
	// frequency of an even period would have sines in place of cosines.
	l.periodH += even(l.periodH) & even(s.H)
	l.periodW += even(l.periodW) & even(s.W)
	imaginary := 0
	for fy := 0; 2*fy <= l.periodH; fy++ {
		g := frequencies{first: l.count, count: l.periodW, imaginary: imaginary, rows: 2}
		if l.real(fy) {
			g.count, g.rows = l.periodW/2+1, 1
		}
		l.groups = append(l.groups, g)
		l.count += g.count
		for fx := range g.count {
			l.selfConjugate = append(l.selfConjugate, g.rows == 1 && !l.mirrored(fx))
		}
		imaginary += g.rows - 1
	}
	l.slotWaves = newSlotWaves(s.Offsets, l)
	l.in, l.grad = l.transform(l.h, l.w), l.transform(l.outH, l.outW)
	l.back, l.out = l.inverse(l.h, l.w), l.inverse(l.outH, l.outW)
	return l
}

// even returns 1 for an even number, else 0.
func even(n int) int { return 1 - n&1 }

// real reports whether the transform along y of a real plane is real at fy.
func (l *lattice) real(fy int) bool { return fy == 0 || 2*fy == l.periodH }

// mirrored reports whether -fx is another frequency than fx.
func (l *lattice) mirrored(fx int) bool { return fx > 0 && 2*fx < l.periodW }

// weight returns how many of the period's frequencies f stands for: itself, and
// its opposite if that is not kept.
func weight(f, period int) float64 {
	if f == 0 || 2*f == period {
		return 1
	}
	return 2
}

// phase returns the cosine and sine of 2 pi k/period, of the integer k reduced
// first, and exactly where they are 0 or 1.
func phase(k, period int) (cos, sin float64) {
	k = (k%period + period) % period
	if 4*k%period == 0 {
		quarter := 4 * k / period
		return [4]float64{1, 0, -1, 0}[quarter], [4]float64{0, 1, 0, -1}[quarter]
	}
	s, c := math.Sincos(2 * math.Pi * float64(k) / float64(period))
	return c, s
}

// fromMiddle returns the cosine and sine of 2 pi f/period times the distance of position
// x from the middle of n. That may be half a number, so f is one of the lower half of the period: f - period has
// another sign there.
func fromMiddle(f, x, n, period int) (cos, sin float64) {
	return phase(f*(2*x-(n-1)), 2*period)
}

// transform returns the matrices for a plane h x w.
func (l *lattice) transform(h, w int) transform {
	evenH, oddH, evenW := (h+1)/2, h/2, (w+1)/2
	groups := len(l.groups)
	t := transform{h: h, w: w, cos: make([]float32, evenH*groups), minusSin: make([]float32, oddH*groups)}
	for fy := range l.groups {
		for q := range evenH {
			c, s := fromMiddle(fy, h-1-q, h, l.periodH)
			t.cos[q*groups+fy] = float32(c)
			if q < oddH {
				t.minusSin[q*groups+fy] = float32(-s)
			}
		}
	}
	half := l.periodW / 2
	for which := range t.byFrequency {
		t.byFrequency[which] = make([]float32, (half+1)*w)
	}
	for fx := range half + 1 {
		for x := range evenW {
			c, s := fromMiddle(fx, w-1-x, w, l.periodW)
			even, odd := fx*w+x, fx*w+evenW+x
			t.byFrequency[0][even], t.byFrequency[1][even], t.byFrequency[2][even] = float32(c), float32(c), float32(-c)
			if evenW+x < w {
				t.byFrequency[0][odd], t.byFrequency[1][odd], t.byFrequency[2][odd] = float32(s), float32(-s), float32(s)
			}
		}
	}
	for which, m := range t.byFrequency {
		t.waves[which] = make([]float32, len(m))
		asm.Transpose(t.waves[which], half+1, m, w, half+1, w)
	}
	return t
}

// inverse returns the matrices to a plane h x w.
func (l *lattice) inverse(h, w int) inverse {
	half, columns := l.periodW/2, (w+1)/2
	v := inverse{
		h: h, w: w,
		edge: [2][]float32{make([]float32, w*2*(half+1))}, waves: make([]float32, l.periodW*columns),
	}
	for x := range w {
		for fx := range half + 1 {
			c, s := fromMiddle(fx, x, w, l.periodW)
			share := weight(fx, l.periodW)
			edge := v.edge[0][2*(x*(half+1)+fx):]
			edge[0], edge[1] = float32(share*c), float32(-share*s)
			if x < w/2 {
				continue
			}
			v.waves[fx*columns+x-w/2] = float32(c)
			if l.mirrored(fx) {
				v.waves[(half+fx)*columns+x-w/2] = float32(s)
			}
		}
	}
	v.edge[1] = turned(v.edge[0])
	for fy, g := range l.groups {
		share := l.groupWeight(fy)
		for y := h / 2; y < h; y++ {
			c, s := fromMiddle(fy, y, h, l.periodH)
			v.cos = append(v.cos, float32(share*c))
			if g.rows == 2 {
				v.minusSin = append(v.minusSin, float32(-share*s))
			}
		}
	}
	return v
}

// turned returns, of a matrix with columns (fx, part), the one that takes a
// spectrum times -i: -i (re + i im) = im - i re.
func turned(m []float32) []float32 {
	n := make([]float32, len(m))
	for i := 0; i < len(m); i += 2 {
		n[i], n[i+1] = -m[i+1], m[i]
	}
	return n
}
