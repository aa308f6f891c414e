package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSlice slices matrices of all numbers of rows around the tiles and of steps around the
// blocks, with gaps between the rows and NaN around, and compares with the portable code.
func TestSlice(t *testing.T) {
	step := 1
	if raceEnabled || testing.Short() {
		step = 5
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 1))
		for k := 0; k <= 70; k++ {
			for rows := 1; rows <= 35; rows += step {
				size := SliceSize(rows, k)
				for _, name := range []string{"left", "conjugate", "right", "transposed"} {
					var x [2]*guarded
					for which := range x {
						x[which] = newGuarded(rows, k, k+3, 5)
						if name == "right" {
							x[which] = newGuarded(k, rows, rows+3, 5)
						}
						x[which].fill(func(i, j int) float32 { return float32(rng.NormFloat64() * math.Exp(5*rng.NormFloat64())) })
					}
					var got, want [2]*guarded
					for piece := range got {
						got[piece], want[piece] = newGuarded(1, size, size, 16), newGuarded(1, size, size, 16)
					}
					x0, x1, ld := x[0].data(), x[1].data(), x[0].ld
					switch name {
					case "left":
						SliceLeft(got[0].data(), x0, x1, ld, rows, k)
					case "conjugate":
						SliceLeftConjugate(got[0].data(), got[1].data(), x0, x1, ld, rows, k)
					case "right":
						SliceRight(got[0].data(), x0, x1, ld, k, rows)
					case "transposed":
						SliceTransposed(got[0].data(), x0, x1, ld, k, rows)
					}
					for i := 0; i < rows; i += sliceTile {
						n, at := min(sliceTile, rows-i), i/sliceTile*sliceStrip(k)
						re, im := want[0].data()[at:], want[1].data()[at:]
						switch name {
						case "left":
							sliceLeftGeneric(re, from(x0, i*ld), from(x1, i*ld), ld, n, k)
						case "conjugate":
							sliceLeftConjugateGeneric(re, im, from(x0, i*ld), from(x1, i*ld), ld, n, k)
						case "right":
							sliceRightGeneric(re, from(x0, i), from(x1, i), ld, k, n)
						case "transposed":
							sliceTransposedGeneric(re, from(x0, i*ld), from(x1, i*ld), ld, k, n)
						}
					}
					for piece := range want {
						for i := range want[piece].buf {
							a, b := math.Float32bits(got[piece].buf[i]), math.Float32bits(want[piece].buf[i])
							if a != b {
								t.Fatalf("%s of %d rows and %d steps: value %d of %d of piece %d is %#x, want %#x", name, rows, k, i-16, size, piece, a, b)
							}
						}
					}
				}
			}
		}
	})
}

// sliceDigits returns what line number line, a row of a left operand or a column of a right one, holds
// for step p of matrix which, in units of the last digit, and that unit.
func sliceDigits(operand []float32, right bool, k, line, which, p int) (digits, unit float64) {
	strip, line := operand[line/sliceTile*sliceStrip(k):], line%sliceTile
	quad, shift := p%sliceSteps%16, 8*(which+p%sliceSteps/16*2)
	at := quad + line*16
	if right {
		at = quad*16 + line
	}
	for slice := range 3 {
		word := math.Float32bits(strip[sliceTile+p/sliceSteps*sliceBlock+slice*slicePart+at])
		digits = digits*256 + float64(int8(word>>shift))
	}
	return digits, float64(strip[line]) / 256
}

// sliceLines are rows of values for either matrix that are hard to slice.
func sliceLines(rng *rand.Rand, k int) map[string][]float32 {
	lines := map[string][]float32{}
	add := func(name string, value func(p int) float32) {
		for p := range 2 * k {
			lines[name] = append(lines[name], value(p))
		}
	}
	sign := func(p int) float32 { return float32(1 - p%2*2) }
	add("normal", func(int) float32 { return float32(rng.NormFloat64()) })
	add("scales", func(int) float32 { return float32(rng.NormFloat64() * math.Exp(5*rng.NormFloat64())) })
	add("powers", func(p int) float32 { return sign(p/2) * float32(math.Ldexp(1, -p%30)) })
	add("zero", func(p int) float32 { return 0 * sign(p) })
	add("largest", func(p int) float32 { return sign(p) * math.MaxFloat32 / float32(1+p/2) })
	add("tiny", func(p int) float32 { return sign(p) * math.Float32frombits(uint32(p*p+1)<<13) })
	add("denormal", func(p int) float32 { return sign(p) * math.Float32frombits(uint32(p*p+1)<<8) })
	// Those below 2^21 units of a row whose largest value has 2^22.
	add("ties", func(p int) float32 {
		if p == 0 {
			return 1
		}
		return sign(p) * (1<<21 - float32(rng.IntN(8*33000))/8) / (1 << 22)
	})
	for _, past := range []int{-3, -2, -1, 0, 1, 2, 3, 0x80, 0x100, 0x101, 0x180, 0x200, 0x300} {
		largest := math.Float32frombits(uint32(0x3f800000 + 1<<23 - 0x10200 + past))
		add(fmt.Sprintf("overflow%+d", past), func(p int) float32 {
			return sign(p) * math.Float32frombits(math.Float32bits(largest)-uint32(p/2*p))
		})
	}
	return lines
}

// TestSliceValues reconstructs values from their digits.
func TestSliceValues(t *testing.T) {
	const k, rows = 70, 20 // lines past the first strip
	eachLevel(t, func(t *testing.T) {
		for name, line := range sliceLines(rand.New(rand.NewPCG(6, 2)), k) {
			var left, right [2][]float32
			for which := range left {
				left[which], right[which] = make([]float32, rows*k), make([]float32, rows*k)
				for i := range rows {
					for p := range k {
						v := line[which*k+p]
						left[which][i*k+p], right[which][p*rows+i] = v, v
					}
				}
			}
			a, re, im, b := make([]float32, SliceSize(rows, k)), make([]float32, SliceSize(rows, k)), make([]float32, SliceSize(rows, k)), make([]float32, SliceSize(rows, k))
			SliceLeft(a, left[0], left[1], k, rows, k)
			SliceLeftConjugate(re, im, left[0], left[1], k, rows, k)
			SliceRight(b, right[0], right[1], rows, k, rows)
			turned := make([]float32, 0, 2*k)
			for _, v := range line[k:] {
				turned = append(turned, -v)
			}
			turned = append(turned, line[:k]...)
			for _, i := range []int{0, 5, rows - 1} {
				checkSliceLine(t, name+" left", a, false, k, i, line)
				checkSliceLine(t, name+" real", re, false, k, i, line)
				checkSliceLine(t, name+" imaginary", im, false, k, i, turned)
				checkSliceLine(t, name+" right", b, true, k, i, line)
			}
		}
	})
}

// checkSliceLine compares a line of a sliced operand with its values. Rounding to an integer
// costs half a unit; adding the offset before, which is rounded too, up to an eighth more.
func checkSliceLine(t *testing.T, name string, operand []float32, right bool, k, i int, want []float32) {
	t.Helper()
	const smallest = 0x1p-126 // the unit of lines with nothing above 2^-104
	var largest, unit float64
	if some := slices.ContainsFunc(want, func(x float32) bool { return math.Abs(float64(x)) >= 0x1p-126 }); !some {
		if _, unit = sliceDigits(operand, right, k, i, 0, 0); unit != 0 {
			t.Fatalf("%s, line %d: the unit of nothing is %v", name, i, unit)
		}
		return
	}
	for at, x := range want {
		var digits float64
		digits, unit = sliceDigits(operand, right, k, i, at/k, at%k)
		exact := float64(x) / unit
		largest = max(largest, math.Abs(exact))
		limit := 0.625
		if exact == math.Trunc(exact) {
			limit = 0
		}
		if !(math.Abs(digits-exact) <= limit) {
			t.Fatalf("%s, line %d: value %d of matrix %d, %v, is %v units of %v, want %v", name, i, at%k, at/k, x, digits, unit, exact)
		}
		if math.Abs(float64(x)) < 0x1p-127 && digits != 0 {
			t.Fatalf("%s, line %d: %v is %v units", name, i, x, digits)
		}
	}
	const least, most = 1<<22 - 1<<15, 1<<23 - 1<<15 - 1<<7
	if unit < smallest || largest > most || largest < least && unit != smallest {
		t.Fatalf("%s, line %d: the largest value is %v units of %v", name, i, largest, unit)
	}
}

// sliceCase is a product of random matrices, sliced.
type sliceCase struct {
	m, n, k int
	x       [2][2][]float32 // of either left operand
	y       [2][]float32
	a       [2][]float32
	b       []float32
}

func newSliceCase(m, n, k int, value func() float32) *sliceCase {
	matrix := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	s := &sliceCase{m: m, n: n, k: k}
	for which := range 2 {
		s.y[which] = matrix(k * n)
		for w := range s.x {
			s.x[w][which] = matrix(m * k)
		}
	}
	s.slice()
	return s
}

// slice makes the operands. Their rows that are not there hold poison.
func (s *sliceCase) slice() {
	for w := range s.a {
		s.a[w] = make([]float32, SliceSize(s.m, s.k))
		for i := range s.a[w] {
			s.a[w][i] = poison
		}
		SliceLeft(s.a[w], s.x[w][0], s.x[w][1], s.k, s.m, s.k)
	}
	s.b = make([]float32, SliceSize(s.n, s.k))
	SliceRight(s.b, s.y[0], s.y[1], s.n, s.k, s.n)
}

// run returns the products, of a whole matrix each.
func (s *sliceCase) run() (c [2][]float32) {
	for w := range c {
		c[w] = make([]float32, s.m*s.n)
		for i := range c[w] {
			c[w][i] = poison
		}
	}
	GemmSlices(s.m, s.n, s.k, s.a, s.b, c, s.n, false, [2][]float32{})
	return c
}

// exact returns an element of a product, and the sum of the magnitudes of its terms.
func (s *sliceCase) exact(w, i, j int) (sum, magnitude float64) {
	for which := range s.y {
		for p := range s.k {
			v := float64(s.x[w][which][i*s.k+p]) * float64(s.y[which][p*s.n+j])
			sum += v
			magnitude += math.Abs(v)
		}
	}
	return sum, magnitude
}

// scales returns the largest magnitudes of each row of a left operand, and of each column.
func (s *sliceCase) scales(w int) (rows, cols []float64) {
	rows, cols = make([]float64, s.m), make([]float64, s.n)
	for which := range s.y {
		for at, v := range s.x[w][which] {
			rows[at/s.k] = max(rows[at/s.k], math.Abs(float64(v)))
		}
		for at, v := range s.y[which] {
			cols[at%s.n] = max(cols[at%s.n], math.Abs(float64(v)))
		}
	}
	return rows, cols
}

// sliceTermError bounds the error of a term, relative to the largest values of its row and
// column, which have 2^22 units less an 128th at least: 2^14 square units are left out with the
// product of the lowest digits, and either factor is rounded by 5/8 of a unit.
const sliceTermError = (0x1p-30 + 2*0.625*0x1p-22) * (1 + 0x1p-6)

// check compares the products with float64; before is what they were added to, or nil.
func (s *sliceCase) check(t *testing.T, w int, c []float32, ldc int, before func(i, j int) float32) {
	t.Helper()
	rows, cols := s.scales(w)
	for i := range s.m {
		for j := range s.n {
			sum, magnitude := s.exact(w, i, j)
			if before != nil {
				sum += float64(before(i, j))
				magnitude += math.Abs(float64(before(i, j)))
			}
			bound := 2*float64(s.k)*rows[i]*cols[j]*sliceTermError + 6*magnitude/(1<<24)
			if got := float64(c[i*ldc+j]); !(math.Abs(got-sum) <= bound) {
				t.Fatalf("m=%d n=%d k=%d: C%d[%d][%d] = %v, want %v within %g", s.m, s.n, s.k, w, i, j, got, sum, bound)
			}
		}
	}
}

// TestGemmSlices multiplies matrices of all sizes around the tiles and compares with the
// portable code bit by bit, and with float64.
func TestGemmSlices(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		sizes, steps := []int{1, 2, 15, 16, 17, 31, 32, 33, 48, 65}, []int{0, 1, 16, 31, 32, 33, 64, 70, 200}
		if raceEnabled || testing.Short() {
			sizes, steps = []int{1, 16, 49}, []int{0, 17, 32, 70}
		}
		if !FastSplit() {
			sizes = []int{1, 17, 40} // the portable code against float64
		}
		rng := rand.New(rand.NewPCG(6, 3))
		before := func(i, j int) float32 { return float32(i-j) / 7 }
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range steps {
					s := newSliceCase(m, n, k, func() float32 { return float32(rng.NormFloat64() * math.Exp(rng.NormFloat64())) })
					compareSlices(t, s, false, nil)
					compareSlices(t, s, true, before)
				}
			}
		}
		// More strips than are multiplied in a call.
		if FastSplit() && !raceEnabled && !testing.Short() {
			compareSlices(t, newSliceCase(170, 20, 500, func() float32 { return float32(rng.NormFloat64()) }), true, before)
		}
	})
}

// compareSlices runs a case with gaps between the rows of C.
func compareSlices(t *testing.T, s *sliceCase, accumulate bool, before func(i, j int) float32) {
	t.Helper()
	var got, want [2]*guarded
	for w := range got {
		got[w], want[w] = newGuarded(s.m, s.n, s.n+5, 7), newGuarded(s.m, s.n, s.n+5, 7)
		if accumulate {
			got[w].fill(before)
			want[w].fill(before)
		}
	}
	GemmSlices(s.m, s.n, s.k, s.a, s.b, [2][]float32{got[0].data(), got[1].data()}, s.n+5, accumulate, [2][]float32{s.b[:min(len(s.b), 3)], nil})
	gemmSlicesGeneric(s.m, s.n, (s.k+sliceSteps-1)/sliceSteps, s.a, s.b, [2][]float32{want[0].data(), want[1].data()}, s.n+5, accumulate)
	one := newGuarded(s.m, s.n, s.n+5, 7)
	if accumulate {
		one.fill(before)
	}
	GemmSlices(s.m, s.n, s.k, [2][]float32{s.a[0]}, s.b, [2][]float32{one.data()}, s.n+5, accumulate, [2][]float32{})
	for i, v := range want[0].buf {
		if math.Float32bits(v) != math.Float32bits(one.buf[i]) {
			t.Fatalf("m=%d n=%d k=%d accumulate=%v, one left operand: value %d of C is %v, want %v", s.m, s.n, s.k, accumulate, i-7, one.buf[i], v)
		}
	}
	for w := range got {
		got[w].intact(t, s.m, s.n)
		for i, v := range want[w].buf {
			if math.Float32bits(v) != math.Float32bits(got[w].buf[i]) {
				t.Fatalf("m=%d n=%d k=%d accumulate=%v: value %d of C%d is %v, want %v", s.m, s.n, s.k, accumulate, i-7, w, got[w].buf[i], v)
			}
		}
		s.check(t, w, got[w].data(), s.n+5, before)
	}
}

// TestGemmSlicesWorst multiplies values whose lower digits are all -128, in rows and columns whose
// largest value is a power of two: nothing makes what is left out larger.
func TestGemmSlicesWorst(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		s := newSliceCase(1, 1, 100, func() float32 { return -(1<<15 + 1<<7) / float32(1<<22) })
		s.x[0][0][0], s.x[1][0][0], s.y[0][0] = 1, 1, 1
		s.slice()
		for w, c := range s.run() {
			s.check(t, w, c, 1, nil)
			sum, _ := s.exact(w, 0, 0)
			t.Logf("error of a term: 2^%.3f of the largest values", math.Log2(math.Abs(sum-float64(c[0]))/200))
		}
	})
}

// TestGemmSlicesError compares the error of products of slices with that of products in
// float32, both against float64. Values of many scales in one row lose digits of fixed point that
// floating point keeps: their error is small next to the largest values only.
func TestGemmSlicesError(t *testing.T) {
	const m, n, k = 40, 70, 128
	normal := func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }
	spread := func(by float64) func(rng *rand.Rand, line int) float64 {
		return func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() * math.Exp(by*rng.NormFloat64()) }
	}
	eachLevel(t, func(t *testing.T) {
		for _, kind := range []struct {
			name   string
			value  func(rng *rand.Rand, line int) float64
			narrow bool
		}{
			{"normal", normal, true},
			{"positive", func(rng *rand.Rand, _ int) float64 { return rng.Float64() }, true},
			{"lines of many scales", func(rng *rand.Rand, line int) float64 { return rng.NormFloat64() * math.Ldexp(1, line*7%40-20) }, true},
			{"scales", spread(8), false},
		} {
			rng := rand.New(rand.NewPCG(6, 4))
			s := newSliceCase(m, n, k, func() float32 { return 0 })
			for which, y := range s.y {
				for at := range y {
					y[at] = float32(kind.value(rng, at%n))
				}
				for w := range s.x {
					x := s.x[w][which]
					for at := range x {
						x[at] = float32(kind.value(rng, at/k))
					}
				}
			}
			s.slice()
			for w, c := range s.run() {
				sliced, float, norm, largest := s.errors(w, c)
				t.Logf("%s: relative error %.3g, in float32 %.3g; %.3g of the largest values", kind.name, sliced/norm, float/norm, sliced/largest)
				if kind.narrow {
					largest = norm
				}
				if !(sliced <= 4e-7*largest) {
					t.Errorf("%s: relative error %g", kind.name, sliced/largest)
				}
			}
		}
	})
}

// errors returns the norms of the error of a product, of that in float32, of the product, and of
// that of the largest values of rows and columns.
func (s *sliceCase) errors(w int, c []float32) (sliced, float, norm, largest float64) {
	rows, cols := s.scales(w)
	for i := range s.m {
		for j := range s.n {
			exact, _ := s.exact(w, i, j)
			var plain float32
			for which := range s.y {
				for p := range s.k {
					plain += float32(s.x[w][which][i*s.k+p] * s.y[which][p*s.n+j])
				}
			}
			sliced = math.Hypot(sliced, exact-float64(c[i*s.n+j]))
			float = math.Hypot(float, exact-float64(plain))
			norm = math.Hypot(norm, exact)
			largest = math.Hypot(largest, rows[i]*cols[j])
		}
	}
	return sliced, float, norm, largest
}

// TestGemmSlicesSpecial checks what the documentation says about infinities and NaN.
func TestGemmSlicesSpecial(t *testing.T) {
	const m, n, k, row, column = 20, 37, 40, 17, 35
	one := func() float32 { return 1 }
	eachLevel(t, func(t *testing.T) {
		for _, special := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0x7f800001), math.Float32frombits(0xffffffff)} {
			for which := range 2 {
				for left := range 2 {
					s := newSliceCase(m, n, k, one)
					s.x[left][which][row*k+33] = special
					s.slice()
					checkSpecial(t, s, func(w, i, _ int) bool { return w == left && i == row })
				}
				s := newSliceCase(m, n, k, one)
				s.y[which][33*n+column] = special
				s.slice()
				checkSpecial(t, s, func(_, _, j int) bool { return j == column })
			}
		}
	})
}

// checkSpecial checks that products of ones are NaN where they should be, and right elsewhere.
func checkSpecial(t *testing.T, s *sliceCase, special func(w, i, j int) bool) {
	t.Helper()
	for w, c := range s.run() {
		for at, v := range c {
			i, j := at/s.n, at%s.n
			if nan := special(w, i, j); nan != (v != v) || !nan && v != float32(2*s.k) {
				t.Fatalf("C%d[%d][%d] = %v, NaN expected: %v", w, i, j, v, nan)
			}
		}
	}
}

// TestGemmSlicesRange multiplies numbers near the ends of the range.
func TestGemmSlicesRange(t *testing.T) {
	inf := float32(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		for _, c := range []struct{ x, y, want float32 }{
			{1e-39, 1, 0}, {1e-44, 1, 0}, {-1e-40, 1, 0}, {0x1p-127, 1, 0},
			{0x1p-126, 1, 0x1p-126}, {-0x1p-125, 1, -0x1p-125}, {0x3p-120, 5, 0xfp-120},
			{0x1p-60, 0x1p-60, 0x1p-120}, {0x1p-61, -0x1p-61, 0}, {0x1p-100, 0x1p-100, 0},
			{0x1p-126, 0x1p127, 2}, {0x1p127, 1, 0x1p127}, {-0xfp124, 1, -0xfp124}, {0x1p64, 0x1p63, 0x1p127},
			{0x1p64, 0x1p64, inf}, {-0x1p127, 0x1p127, -inf},
		} {
			s := newSliceCase(3, 18, 33, func() float32 { return 0 })
			for w := range s.x { // one term, of another step for each row
				for i := range s.m {
					s.x[w][w][i*s.k+5*i] = c.x
				}
			}
			for which := range s.y {
				for at := range s.y[which] {
					s.y[which][at] = c.y
				}
			}
			s.slice()
			for _, got := range s.run() {
				for at, v := range got {
					if v != c.want {
						t.Fatalf("%v times %v in element %d is %v, want %v", c.x, c.y, at, v, c.want)
					}
				}
			}
		}
		// A product may be too large before it is added to c.
		s := newSliceCase(1, 1, 1, func() float32 { return 0 })
		s.x[0][0][0], s.y[0][0] = 0x1p127, 2
		s.slice()
		compareSlices(t, s, true, func(int, int) float32 { return -0x1p127 })
		// The largest numbers have a bit more than fits, and may round up to 2^128.
		for _, x := range []float32{math.MaxFloat32, -math.MaxFloat32, math.Float32frombits(0x7f7ffffd)} {
			s := newSliceCase(1, 1, 1, func() float32 { return 0 })
			s.x[0][0][0], s.x[1][1][0], s.y[0][0], s.y[1][0] = x, x, 1, 1
			s.slice()
			for w, c := range s.run() {
				rounded := math.Abs(float64(c[0])-float64(x)) <= math.Abs(float64(x))*0x1p-22
				if !rounded && c[0] != inf*x {
					t.Errorf("1 times %v in C%d is %v", x, w, c[0])
				}
			}
		}
	})
}

// TestGemmSlicesAhead fetches what is there and what is not.
func TestGemmSlicesAhead(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n, k = 50, 33, 70
		rng := rand.New(rand.NewPCG(6, 5))
		s := newSliceCase(m, n, k, func() float32 { return float32(rng.NormFloat64()) })
		want := s.run()
		long := make([]float32, 1<<16)
		for _, ahead := range [][2][]float32{{nil, long[:1]}, {long[:0], long}, {long[:300], nil}, {long, long}, {s.a[0], s.b}} {
			got := [2][]float32{make([]float32, m*n), make([]float32, m*n)}
			GemmSlices(m, n, k, s.a, s.b, got, n, false, ahead)
			for w := range got {
				for i, v := range want[w] {
					if math.Float32bits(v) != math.Float32bits(got[w][i]) {
						t.Fatalf("%d and %d values ahead: C%d[%d] = %v, want %v", len(ahead[0]), len(ahead[1]), w, i, got[w][i], v)
					}
				}
			}
		}
	})
}

// TestGemmSlicesManySteps sums as many products of the largest digits as an int32 must hold.
func TestGemmSlicesManySteps(t *testing.T) {
	const k = MaxSliceSteps
	positive := math.Float32frombits(0x3f800000 + 1<<23 - 0x10200 - 1) // digits 127, 127, 0
	negative := float32(-126<<16-128<<8-128) / (1 << 22)               // digits -126, -128, -128
	eachLevel(t, func(t *testing.T) {
		for _, x := range [][2]float32{{positive, positive}, {negative, negative}, {positive, negative}, {negative, positive}} {
			s := newSliceCase(1, 1, k, func() float32 { return x[0] })
			for _, y := range s.y {
				for p := range y {
					y[p] = x[1]
				}
			}
			s.slice()
			compareSlices(t, s, false, nil)
		}
		// Sums of more digits than a float32 has.
		rng := rand.New(rand.NewPCG(6, 6))
		compareSlices(t, newSliceCase(1, 3, k, rng.Float32), false, nil)
	})
}

func TestSliceErrors(t *testing.T) {
	x := make([]float32, SliceSize(16, MaxSliceSteps+1))
	few := x[:SliceSize(16, 1)-1]
	operands := [2][]float32{x, x}
	product := func(m, n, k int, a [2][]float32, b []float32, c [2][]float32, ldc int) {
		GemmSlices(m, n, k, a, b, c, ldc, false, [2][]float32{})
	}
	for name, call := range map[string]func(){
		"left":               func() { SliceLeft(few, x, x, 8, 4, 8) },
		"x0":                 func() { SliceLeft(x, x[:31], x, 8, 4, 8) },
		"x1":                 func() { SliceLeft(x, x, x[:31], 8, 4, 8) },
		"rows":               func() { SliceLeft(x, x, x, 8, -1, 8) },
		"steps":              func() { SliceLeft(x, x, x, 8, 4, -1) },
		"ld":                 func() { SliceLeft(x, x, x, -8, 4, 8) },
		"re":                 func() { SliceLeftConjugate(few, x, x, x, 8, 4, 8) },
		"im":                 func() { SliceLeftConjugate(x, few, x, x, 8, 4, 8) },
		"no im":              func() { SliceLeftConjugate(x, nil, x, x, 8, 4, 8) },
		"conjugate x0":       func() { SliceLeftConjugate(x, x, x[:31], x, 8, 4, 8) },
		"conjugate x1":       func() { SliceLeftConjugate(x, x, x, x[:31], 8, 4, 8) },
		"conjugate rows":     func() { SliceLeftConjugate(x, x, x, x, 8, -1, 8) },
		"conjugate steps":    func() { SliceLeftConjugate(x, x, x, x, 8, 4, -1) },
		"right":              func() { SliceRight(few, x, x, 8, 4, 8) },
		"two panels":         func() { SliceRight(x[:2*SliceSize(1, 4)-1], x, x, 17, 4, 17) },
		"right x0":           func() { SliceRight(x, x[:31], x, 8, 4, 8) },
		"right x1":           func() { SliceRight(x, x, x[:31], 8, 4, 8) },
		"right ld":           func() { SliceRight(x, x, x, -8, 4, 8) },
		"columns":            func() { SliceRight(x, x, x, 8, 4, -1) },
		"transposed":         func() { SliceTransposed(few, x, x, 8, 8, 4) },
		"transposed x0":      func() { SliceTransposed(x, x[:31], x, 8, 8, 4) },
		"transposed x1":      func() { SliceTransposed(x, x, x[:31], 8, 8, 4) },
		"right steps":        func() { SliceRight(x, x, x, 8, -4, 8) },
		"a":                  func() { product(2, 2, 1, [2][]float32{x, few}, x, operands, 2) },
		"first a":            func() { product(2, 2, 1, [2][]float32{few, x}, x, operands, 2) },
		"b":                  func() { product(2, 2, 1, operands, few, operands, 2) },
		"c":                  func() { product(2, 2, 1, operands, x, [2][]float32{x, x[:3]}, 2) },
		"first c":            func() { product(2, 2, 1, operands, x, [2][]float32{x[:3], x}, 2) },
		"ldc":                func() { product(2, 2, 1, operands, x, operands, 1) },
		"negative rows":      func() { product(-2, 2, 1, operands, x, operands, 2) },
		"negative columns":   func() { product(2, -2, 1, operands, x, operands, 2) },
		"negative steps":     func() { product(2, 2, -1, operands, x, operands, 2) },
		"too many steps":     func() { product(2, 2, MaxSliceSteps+1, operands, x, operands, 2) },
		"too many for no c":  func() { product(0, 0, MaxSliceSteps+1, operands, x, operands, 2) },
		"steps without rows": func() { product(0, 2, -1, operands, x, operands, 2) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no panic with *Error", name)
				}
			}()
			call()
		}()
	}
}

func FuzzGemmSlices(f *testing.F) {
	f.Add(uint8(33), uint8(17), uint8(40), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(3), uint8(35), uint8(66), bytesOf(specials...))
	f.Add(uint8(16), uint8(16), uint8(32), bytesOf(1e30, -1e30, 3e-30, 1e-38, -1, 0x1.fdfcp0))
	f.Fuzz(func(t *testing.T, m, n, k uint8, data []byte) {
		values := floats(data)
		if len(values) == 0 {
			return
		}
		at := 0
		s := newSliceCase(int(m%50), int(n%50), int(k%70), func() float32 { at++; return values[at%len(values)] })
		if s.m == 0 || s.n == 0 {
			return
		}
		var turned [2][]float32
		for which := range turned {
			turned[which] = make([]float32, s.n*s.k)
			Transpose(turned[which], s.k, s.y[which], s.n, s.k, s.n)
		}
		b := make([]float32, SliceSize(s.n, s.k))
		SliceTransposed(b, turned[0], turned[1], s.k, s.k, s.n)
		for i, v := range s.b[:len(b)] {
			if math.Float32bits(v) != math.Float32bits(b[i]) {
				t.Fatalf("%dx%d transposed: value %d is %#x, want %#x", s.k, s.n, i, math.Float32bits(b[i]), math.Float32bits(v))
			}
		}
		for _, accumulate := range []bool{false, true} {
			var got, want [2][]float32
			for w := range got {
				got[w], want[w] = make([]float32, s.m*s.n), make([]float32, s.m*s.n)
				for i := range got[w] {
					got[w][i], want[w][i] = float32(i), float32(i)
				}
			}
			GemmSlices(s.m, s.n, s.k, s.a, s.b, got, s.n, accumulate, [2][]float32{})
			gemmSlicesGeneric(s.m, s.n, (s.k+sliceSteps-1)/sliceSteps, s.a, s.b, want, s.n, accumulate)
			for w := range want {
				for i, v := range want[w] {
					if math.Float32bits(v) != math.Float32bits(got[w][i]) && (v == v || got[w][i] == got[w][i]) {
						t.Fatalf("%dx%dx%d, accumulate=%v: C%d[%d] = %v, want %v", s.m, s.n, s.k, accumulate, w, i, got[w][i], v)
					}
				}
			}
		}
	})
}

func BenchmarkSlices(b *testing.B) {
	const m, n, k = 64, 64, 64
	rng := rand.New(rand.NewPCG(6, 9))
	s := newSliceCase(m, n, k, func() float32 { return float32(rng.NormFloat64()) })
	c := [2][]float32{make([]float32, m*n), make([]float32, m*n)}
	x := s.x[0]
	for name, call := range map[string]func(){
		"left":       func() { SliceLeft(s.a[0], x[0], x[1], k, m, k) },
		"conjugate":  func() { SliceLeftConjugate(s.a[0], s.a[1], x[0], x[1], k, m, k) },
		"right":      func() { SliceRight(s.b, s.y[0], s.y[1], n, k, n) },
		"transposed": func() { SliceTransposed(s.b, x[0], x[1], k, k, m) },
		"product":    func() { GemmSlices(m, n, k, s.a, s.b, c, n, true, [2][]float32{}) },
	} {
		b.Run(fmt.Sprintf("pass=%s/m=%d/n=%d/k=%d", name, m, n, k), func(b *testing.B) {
			for b.Loop() {
				call()
			}
			if name == "product" {
				b.ReportMetric(8*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
				return
			}
			values := 2 * m * k
			if name == "right" {
				values = 2 * k * n
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(values*b.N), "ns/value")
		})
	}
}
