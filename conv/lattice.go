package conv

import "math"

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
	groups           []frequencies

	h, w       int // input plane
	outH, outW int // output plane
	top, left  int // where the output plane begins on the input plane

	// The taps are symmetric about the middle one. Slot 0 is the middle tap,
	// slot e = 1..pairs the sum of the taps e after and before it, slot pairs+e
	// their difference: the real part of a kernel's spectrum is a sum of cosines
	// of the former, the imaginary part one of sines of the latter.
	pairs     int
	cos, sin  []float32 // [count, pairs+1], [count, pairs]: from slots to the spectrum
	minusSin  []float32 // -sin
	cosBack   []float32 // [pairs+1, count]: from the spectrum's gradient to that of the slots
	sinBack   []float32 // [pairs, count], for the negated imaginary part
	sinFront  []float32 // -sinBack
	in, grad  transform // of the input plane, of the output plane's gradient
	back, out inverse   // to the input plane, to the output plane
}

// frequencies is a group: those of one fy.
type frequencies struct {
	first, count int
	row          int // first row (fy, part) of the real transform along y
	rows         int // 1 where it is real, else 2
}

// transform holds the matrices that take a plane to its spectrum. Along y, for
// all groups: alongY [rows, h]. Along x, for a group with one row: edge
// [periodW/2+1, w], real part and imaginary part; the third is the second negated,
// since the spectrum times i has that for its real part and the first for its
// imaginary part. For a group with two rows: waves [periodW, w], the cosines of
// fx = 0..periodW/2 and then the sines of fx = 1..(periodW-1)/2, of which each
// serves fx and -fx, and the same negated.
type transform struct {
	h, w   int
	alongY []float32
	edge   [3][]float32
	waves  [2][]float32
}

// inverse holds the matrices that take a spectrum to the plane. Along x: edge [w,
// 2(periodW/2+1)] with columns (fx, part), and for the spectrum times -i; waves
// [w, periodW], cosines and sines as in transform, and the same negated. Along y:
// alongY [h, rows].
type inverse struct {
	h, w        int
	edge, waves [2][]float32
	alongY      []float32
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
		periodH: s.H, periodW: s.W, pairs: len(s.Offsets) / 2, budget: bandValues,
	}
	for _, o := range s.Offsets {
		l.periodH = max(l.periodH, s.H-o.Row, s.OutH+o.Row)
		l.periodW = max(l.periodW, s.W-o.Col, s.OutW+o.Col)
	}
	row := 0
	for fy := 0; 2*fy <= l.periodH; fy++ {
		g := frequencies{first: l.count, count: l.periodW, row: row, rows: 2}
		if l.real(fy) {
			g.count, g.rows = l.periodW/2+1, 1
		}
		l.groups = append(l.groups, g)
		l.count += g.count
		row += g.rows
	}
	l.kernels(s.Offsets)
	l.in = l.transform(0, 0, l.h, l.w)
	l.grad = l.transform(l.top, l.left, l.outH, l.outW)
	l.back = l.inverse(0, 0, l.h, l.w)
	l.out = l.inverse(l.top, l.left, l.outH, l.outW)
	return l
}

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
// first.
func phase(k, period int) (cos, sin float64) {
	s, c := math.Sincos(2 * math.Pi * float64(k%period) / float64(period))
	return c, s
}

// kernels fills the matrices between slots and spectra. The kernel of a
// correlation has the spectrum sum of psi(t) e^{+i w.t}.
func (l *lattice) kernels(offsets []Offset) {
	mid := len(offsets) / 2
	even := l.pairs + 1
	l.cos, l.cosBack = make([]float32, l.count*even), make([]float32, l.count*even)
	l.sin, l.sinBack = make([]float32, l.count*l.pairs), make([]float32, l.count*l.pairs)
	l.minusSin, l.sinFront = make([]float32, len(l.sin)), make([]float32, len(l.sin))
	for fy, g := range l.groups {
		for fx := range g.count {
			f := g.first + fx
			share := weight(fy, l.periodH) / float64(l.periodH*l.periodW)
			if g.rows == 1 {
				share *= weight(fx, l.periodW)
			}
			for e := range even {
				row, col := offsets[mid+e].Row-l.top, offsets[mid+e].Col-l.left
				// The angle is a fraction of a turn with the two periods' product
				// as denominator, so it can be reduced exactly.
				c, s := phase(fy*row*l.periodW+fx*col*l.periodH, l.periodH*l.periodW)
				l.cos[f*even+e] = float32(c)
				l.cosBack[e*l.count+f] = float32(share * c)
				if e > 0 {
					l.sin[f*l.pairs+e-1] = float32(s)
					l.minusSin[f*l.pairs+e-1] = float32(-s)
					l.sinBack[(e-1)*l.count+f] = float32(-share * s)
					l.sinFront[(e-1)*l.count+f] = float32(share * s)
				}
			}
		}
	}
}

// transform returns the matrices for a plane h x w that stands at (top, left).
func (l *lattice) transform(top, left, h, w int) transform {
	t := transform{h: h, w: w, alongY: make([]float32, l.periodH*h)}
	for fy, g := range l.groups {
		for y := range h {
			c, s := phase(fy*(y+top), l.periodH)
			t.alongY[g.row*h+y] = float32(c)
			if g.rows == 2 {
				t.alongY[(g.row+1)*h+y] = float32(-s)
			}
		}
	}
	half := l.periodW / 2
	for part := range 2 {
		t.edge[part] = make([]float32, (half+1)*w)
	}
	t.waves[0] = make([]float32, l.periodW*w)
	for fx := range half + 1 {
		for x := range w {
			c, s := phase(fx*(x+left), l.periodW)
			t.edge[0][fx*w+x], t.edge[1][fx*w+x] = float32(c), float32(-s)
			t.waves[0][fx*w+x] = float32(c)
			if l.mirrored(fx) {
				t.waves[0][(half+fx)*w+x] = float32(s)
			}
		}
	}
	t.edge[2], t.waves[1] = negated(t.edge[1]), negated(t.waves[0])
	return t
}

// inverse returns the matrices for a plane h x w that stands at (top, left).
func (l *lattice) inverse(top, left, h, w int) inverse {
	half := l.periodW / 2
	v := inverse{
		h: h, w: w,
		edge: [2][]float32{make([]float32, w*2*(half+1))}, waves: [2][]float32{make([]float32, w*l.periodW)},
		alongY: make([]float32, h*l.periodH),
	}
	for x := range w {
		for fx := range half + 1 {
			c, s := phase(fx*(x+left), l.periodW)
			share := weight(fx, l.periodW)
			edge := v.edge[0][2*(x*(half+1)+fx):]
			edge[0], edge[1] = float32(share*c), float32(-share*s)
			v.waves[0][x*l.periodW+fx] = float32(c)
			if l.mirrored(fx) {
				v.waves[0][x*l.periodW+half+fx] = float32(s)
			}
		}
	}
	v.edge[1], v.waves[1] = turned(v.edge[0]), negated(v.waves[0])
	for fy, g := range l.groups {
		share := weight(fy, l.periodH) / float64(l.periodH*l.periodW)
		for y := range h {
			c, s := phase(fy*(y+top), l.periodH)
			v.alongY[y*l.periodH+g.row] = float32(share * c)
			if g.rows == 2 {
				v.alongY[y*l.periodH+g.row+1] = float32(-share * s)
			}
		}
	}
	return v
}

// negated returns -m.
func negated(m []float32) []float32 {
	n := make([]float32, len(m))
	for i, v := range m {
		n[i] = -v
	}
	return n
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
