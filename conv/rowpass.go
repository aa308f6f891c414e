package conv

import "github.com/noether-go/noether/asm"

// rowPass is a convolution of images with a kernel, or with its adjoint, that
// transforms planes and kernel along the columns of a plane (over its rows), and
// takes tap after tap along the rows. A frequency f leaves a convolution of complex
// rows,
//
//	y^[q, m] = sum over s, n of x^[q+s, n] K^_s[n, m] ,
//
// over k columns s in place of the disc's T taps, each in three real products
// (Gauss): with x^ = a + i b and K^ = c + i d
//
//	S = a (c+d), T = -(a+b) d, D = (b-a) c, y^ = S+T + i (S+D) .
//
// It pays where a kernel serves a few images only: its spectrum then costs as much
// as a transform along both axes would save in the products.
//
// All arrays are channels last. Sources come in blocks, each with all columns of a
// plane one after the other, so that the values a position q meets, (s, n), are one
// row of a matrix; the rows of neighbouring positions overlap. One product for
// each frequency and kind then has steps (s, n), rows q and columns m.
//
// Slot r of a column of taps is the sum, or the difference, of the taps r above
// and below its middle, for the sum only feeds the real part of K^_s and the
// difference only the imaginary part.
type rowPass struct {
	*rowLattice
	fromH, fromW, toH, toW int // planes
	before                 int // columns of zeros before those of a plane, and behind them
	reversed               bool

	analysis  []float32        // [plane, fromH]: planes re, -(re+im) and im-re
	kernel    []float32        // from slots to K^, for each column [count, slots of the column]: of c and d
	shapes    []asm.GaussShape // [count]: the same, but for the numbers of planes
	synthesis []float32        // [toH, plane]
}

// width returns the number of columns of a transformed plane, the zeros on both
// sides included.
func (p *rowPass) width() int { return p.toW + 2*p.radius }

// analyse transforms n planes from [fromH, fromW, n] to x [plane, width, n].
func (p *rowPass) analyse(x, from []float32, n int) {
	size := p.width() * n
	first, end := p.before*n, (p.before+p.fromW)*n
	for plane := range p.planes() {
		clear(x[plane*size:][:first])
		clear(x[plane*size+end : (plane+1)*size])
	}
	gemmNN(p.planes(), p.fromW*n, p.fromH, p.analysis, p.fromH, from, p.fromW*n, x[first:], size, false)
}

// spectrum makes the planes of K^ [plane, column, n], at the frequencies f0 <= f < f1,
// of slots [slot, n]: c+d, d and c. The second has the tall columns alone.
func (p *rowPass) spectrum(k, slots []float32, f0, f1, n int) {
	size := p.kernelSize(n)
	for c, e := range p.heights {
		count := 2*e + 1
		waves, from := p.kernel[p.at[c]:], slots[p.first[c]*n:]
		column := p.column(c)
		for f := f0; f < f1; f++ {
			to := k[(p.plane[f]-p.plane[f0])*size+column*n:]
			switch {
			case e == 0:
				copy(to[:n], from)
				if !p.real(f) {
					copy(to[2*size:][:n], from)
				}
			case p.real(f):
				gemmNN(1, n, e+1, waves[f*count:], count, from, n, to, size, false)
			default:
				end := f + 1
				for end < f1 && !p.real(end) {
					end++
				}
				asm.GaussFactors(end-f, n, e, waves[f*count:], from, n, to, size, 3*size)
				f = end - 1
			}
		}
	}
}

// column returns where the planes of K^ have the column c of taps.
func (p *rowPass) column(c int) int {
	if p.reversed {
		return len(p.heights) - 1 - c
	}
	return c
}

// kernelSize returns the distance of the planes of K^, for n values in each column: they are
// not to fall into the same few lines of the cache.
func (p *rowPass) kernelSize(n int) int { return len(p.heights)*n + 16 }

// multiply computes, or adds to, the planes of y [plane, toW, m] at frequency f: the
// products of those of x [plane, width, n] with k [plane, column, n, m], which begins
// there. Meanwhile ahead is fetched; multiply returns what is left of it.
func (p *rowPass) multiply(y, x, k []float32, f, n, m int, accumulate bool, ahead []float32) []float32 {
	size, rows, steps, distance := p.width()*n, p.toW*m, len(p.heights)*n, p.kernelSize(n*m)
	x, y = x[p.plane[f]*size:], y[p.plane[f]*rows:]
	if p.real(f) {
		gemmNN(p.toW, m, steps, x, n, k, m, y, m, accumulate)
		return ahead
	}
	gemmNN(p.toW, m, p.tall.count*n, x[size+p.tall.first*n:], n, k[distance+p.tall.first*n*m:], m, y[rows:], m, accumulate)
	sums := asm.PairPart{M: p.toW, K: steps, LDA: n, A: x, B: k, C: y}
	differences := asm.PairPart{M: p.toW, K: steps, LDA: n, A: x[2*size:], B: k[2*distance:], C: y[2*rows:]}
	return asm.GemmPair(m, &sums, &differences, m, m, accumulate, ahead)
}

// fused reports whether multiplyFused is quicker than products with planes of K^ in memory.
func (p *rowPass) fused() bool { return asm.FastGaussRows(&p.shapes[0]) }

// multiplyFused is multiply by what is made of the slots [slot, n, m] meanwhile. Positions outside the plane are
// left out.
func (p *rowPass) multiplyFused(y, x, slots []float32, f, n, m int, accumulate bool, ahead []float32) []float32 {
	s := p.shapes[f]
	s.N, s.M, s.XPlane, s.YPlane = n, m, p.width()*n, p.toW*m
	return asm.GaussRows(&s, x[p.plane[f]*s.XPlane:], slots, y[p.plane[f]*s.YPlane:], accumulate, ahead)
}

// synthesise transforms y [plane, toW, m] back to m planes to [toH, toW, m].
func (p *rowPass) synthesise(to, y []float32, m int) {
	gemmNN(p.toH, p.toW*m, p.planes(), p.synthesis, p.planes(), y, p.toW*m, to, p.toW*m, false)
}

// spectrumValues is what the spectrum of a block of the kernel may take of the
// second-level cache: 256 KiB.
const spectrumValues = 64 << 10

// together returns how many frequencies from f on have planes of K^, with n values
// in each column, that fit a part of the second-level cache: one at least.
func (p *rowPass) together(f, n int) int {
	end := f + 1
	for end < p.count && (p.plane[end+1]-p.plane[f])*p.kernelSize(n) <= spectrumValues {
		end++
	}
	return end - f
}
