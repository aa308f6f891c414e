package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gaussPanelCase is a call of GaussPanel, or of GaussPanelGrad with y for dy, in poisoned buffers with gaps.
type gaussPanelCase struct {
	GaussShape
	accumulate    bool
	xsource, yrow int
	x             *guarded // [plane, what the sources span]
	b             *guarded // [(source, slot), 16], poisoned beyond the targets
	y             *guarded // [(plane, row), target]
	before        []float32
	spare         *guarded
}

// newGaussPanelCase has a column for each number of taps above the middle. Sources of x overlap, but for an even number of
// rows.
func newGaussPanelCase(rows, n, m int, heights []int, real, accumulate bool, value func() float32) *gaussPanelCase {
	s := &gaussPanelCase{accumulate: accumulate}
	s.Real, s.Rows, s.N, s.M = real, rows, n, m
	slots := 1 // one that no column has
	for _, e := range heights {
		c := GaussColumn{slots, []float32{1}}
		for range 2 * e {
			c.Waves = append(c.Waves, value())
		}
		s.Columns = append(s.Columns, c)
		slots += 2*e + 1
	}
	width := rows + len(heights) - 1
	if s.xsource = width + 3; rows%2 != 0 {
		s.xsource = max(0, width-len(heights)/2)
	}
	span := max(0, n-1)*s.xsource + max(0, width)
	s.x = newGuarded(s.planes(), span, span+5, 3)
	s.x.fill(func(int, int) float32 { return value() })
	s.b = newGuarded(n*s.slots(), m, 16, 0)
	s.b.fill(func(int, int) float32 { return value() })
	s.b.buf = s.b.buf[:n*s.slots()*16]
	s.yrow = max(1, m+rows%3)
	s.y = newGuarded(s.planes()*rows, m, s.yrow, 1)
	if accumulate {
		s.y.fill(func(int, int) float32 { return value() })
		s.before = slices.Clone(s.y.data())
	}
	s.XPlane, s.YPlane = s.x.ld, rows*s.yrow
	s.spare = newGuarded(1, GaussSpare, GaussSpare, 2)
	return s
}

func (s *gaussPanelCase) call() {
	GaussPanel(&s.GaussShape, s.x.data(), s.xsource, s.b.data(), s.y.data(), s.yrow, s.spare.data()[:GaussSpare], s.accumulate)
}

func (s *gaussPanelCase) String() string {
	return fmt.Sprintf("rows=%d n=%d m=%d, %d columns, real %v, accumulate %v", s.Rows, s.N, s.M, len(s.Columns), s.Real, s.accumulate)
}

// factors returns what planes of x are multiplied with, and the sums of magnitudes that they are sums over.
func (s *gaussPanelCase) factors(c *GaussColumn, source, target int) (factors, sizes [3]float64) {
	var parts, size [2]float64
	for r, wave := range c.Waves {
		part := 0
		if r > len(c.Waves)/2 {
			part = 1
		}
		if part == 1 && s.Real {
			continue
		}
		v := float64(wave) * float64(s.b.at(source*s.slots()+c.Slot+r, target))
		parts[part] += v
		size[part] += math.Abs(v)
	}
	return [3]float64{parts[0] + parts[1], parts[1], parts[0]}, [3]float64{size[0] + size[1], size[1], size[0]}
}

// check compares with float64, up to an error of so much of the norms of what is multiplied.
func (s *gaussPanelCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	s.y.intact(t, s.planes()*s.Rows, s.M)
	s.spare.intact(t, 1, GaussSpare)
	for q := range s.Rows {
		for j := range s.M {
			var want, size [3]float64
			for shift := range s.Columns {
				for c := range s.N {
					factors, sizes := s.factors(&s.Columns[shift], c, j)
					for plane := range s.planes() {
						x := float64(s.x.at(plane, c*s.xsource+q+shift))
						want[plane] += x * factors[plane]
						size[plane] += math.Abs(x) * sizes[plane]
					}
				}
			}
			for plane := range s.planes() {
				if s.accumulate {
					before := float64(s.before[(plane*s.Rows+q)*s.yrow+j])
					want[plane] += before
					size[plane] += math.Abs(before)
				}
				if got := s.y.at(plane*s.Rows+q, j); !(math.Abs(float64(got)-want[plane]) <= tolerance*size[plane]) {
					t.Fatalf("%v: plane %d, row %d, target %d is %v, want %v", s, plane, q, j, got, want[plane])
				}
			}
		}
	}
}

// checkGrad compares GaussPanelGrad of y, which has values, likewise.
func (s *gaussPanelCase) checkGrad(t *testing.T, tolerance float64) {
	t.Helper()
	slots := s.slots()
	db := newGuarded(1, s.N*slots*16, s.N*slots*16+1, 3)
	db.fill(func(_, i int) float32 { return float32(i%17 - 8) })
	GaussPanelGrad(&s.GaussShape, s.x.data(), s.xsource, s.y.data(), s.yrow, db.data(), s.spare.data()[:GaussSpare])
	db.intact(t, 1, s.N*slots*16)
	s.spare.intact(t, 1, GaussSpare)
	for c := range s.N {
		for j := range 16 {
			want, size := make([]float64, slots), make([]float64, slots)
			for slot := range slots {
				want[slot] = float64((c*slots+slot)*16 + j)
				want[slot] = math.Mod(want[slot], 17) - 8
				size[slot] = math.Abs(want[slot])
			}
			for shift := range s.Columns {
				if j >= s.M {
					break
				}
				var sums, sizes [2]float64 // re and im
				add := func(part, plane, with int) {
					for q := range s.Rows {
						v := float64(s.y.at(plane*s.Rows+q, j)) * float64(s.x.at(with, c*s.xsource+q+shift))
						sums[part] += v
						sizes[part] += math.Abs(v)
					}
				}
				add(0, 0, 0)
				if !s.Real {
					add(0, 1, 2)
					add(1, 0, 0)
					add(1, 2, 1)
				}
				column := &s.Columns[shift]
				for r, wave := range column.Waves {
					part := 0
					if r > len(column.Waves)/2 {
						part = 1
					}
					want[column.Slot+r] += float64(wave) * sums[part]
					size[column.Slot+r] += math.Abs(float64(wave)) * sizes[part]
				}
			}
			for slot := range slots {
				if got := db.at(0, (c*slots+slot)*16+j); !(math.Abs(float64(got)-want[slot]) <= tolerance*size[slot]) {
					t.Fatalf("%v: the gradient of source %d, slot %d, target %d is %v, want %v", s, c, slot, j, got, want[slot])
				}
			}
		}
	}
}

// TestGaussPanel takes strips of all lengths and sums of them, all targets, and sources of one call and more. Sums of
// integers are exact.
func TestGaussPanel(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 11))
		value := func() float32 { return integer(rng) }
		for i, heights := range append(gaussHeights, []int{0, 0, 0}, []int{0, 2}) {
			for rows := 1; rows <= 61; rows++ {
				for _, real := range []bool{false, true} {
					n, m := 1+(rows+i)%9, 1+(5*rows+i)%16
					newGaussPanelCase(rows, n, m, heights, real, (rows+i)%2 == 0, value).check(t, 0)
				}
				newGaussPanelCase(rows, 1+(rows+i)%9, 1+(5*rows+i)%16, heights, rows%4 == 0, true, value).checkGrad(t, 0)
			}
			for m := range 17 {
				newGaussPanelCase(28, 3, m, heights, m%3 == 0, m%2 == 0, value).check(t, 0)
				newGaussPanelCase(5, 3, m, heights, m%3 == 0, true, value).checkGrad(t, 0)
			}
		}
		for _, n := range []int{0, 1, 31, 32, 33, 70} {
			newGaussPanelCase(14, n, 16, gaussHeights[5], false, n%2 == 0, value).check(t, 0)
			newGaussPanelCase(3, n, 16, gaussHeights[5], true, n%2 == 1, value).check(t, 0)
			newGaussPanelCase(14, n, 16, gaussHeights[5], false, true, value).checkGrad(t, 0)
		}
		newGaussPanelCase(300, 20, 3, gaussHeights[3], false, true, value).checkGrad(t, 0)
		for _, s := range []*gaussPanelCase{
			newGaussPanelCase(3, 0, 5, nil, false, false, value), newGaussPanelCase(3, 2, 5, nil, true, true, value), newGaussPanelCase(0, 2, 5, gaussHeights[5], false, false, value),
		} {
			s.check(t, 0)
			if s.accumulate {
				s.checkGrad(t, 0)
			}
		}
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newGaussPanelCase(42, 80, 16, gaussHeights[5], false, true, normal).check(t, 1e-6)
		newGaussPanelCase(42, 80, 16, gaussHeights[5], false, true, normal).checkGrad(t, 1e-6)
	})
}

func TestGaussPanelRefuses(t *testing.T) {
	for name, change := range map[string]func(s *gaussPanelCase){
		"negative size": func(s *gaussPanelCase) { s.N = -1 },
		"targets":       func(s *gaussPanelCase) { s.M = 17 },
		"even waves":    func(s *gaussPanelCase) { s.Columns[1].Waves = s.Columns[1].Waves[:2] },
		"short x":       func(s *gaussPanelCase) { s.x.buf = s.x.buf[:s.x.off+2*s.XPlane+s.x.cols-1] },
		"x far apart":   func(s *gaussPanelCase) { s.xsource *= 30 },
		"negative x":    func(s *gaussPanelCase) { s.xsource = -1 },
		"short slots":   func(s *gaussPanelCase) { s.b.buf = s.b.buf[:len(s.b.buf)-1] },
		"short y":       func(s *gaussPanelCase) { s.y.buf = s.y.buf[:s.y.off+2*s.YPlane+3*s.yrow+s.M-1] },
		"negative y":    func(s *gaussPanelCase) { s.yrow = -1 },
		"short spare":   func(s *gaussPanelCase) { s.spare = newGuarded(0, 0, 0, 0) },
	} {
		for kind, call := range map[string]func(s *gaussPanelCase){
			"": func(s *gaussPanelCase) {
				GaussPanel(&s.GaussShape, s.x.data(), s.xsource, s.b.data(), s.y.data(), s.yrow, s.spare.data(), false)
			},
			"gradient, ": func(s *gaussPanelCase) {
				GaussPanelGrad(&s.GaussShape, s.x.data(), s.xsource, s.y.data(), s.yrow, s.b.data(), s.spare.data())
			},
		} {
			func() {
				defer func() {
					if _, ok := recover().(*Error); !ok {
						t.Errorf("%s%s: no *Error", kind, name)
					}
				}()
				s := newGaussPanelCase(4, 2, 16, []int{0, 1, 0}, false, true, func() float32 { return 1 })
				change(s)
				call(s)
			}()
		}
	}
	for name, change := range map[string]func(s *gaussPanelCase){
		"rows meet":   func(s *gaussPanelCase) { s.yrow = s.M - 1 },
		"planes meet": func(s *gaussPanelCase) { s.YPlane = 3*s.yrow + s.M - 1 },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", name)
				}
			}()
			s := newGaussPanelCase(4, 2, 16, []int{0, 1, 0}, false, true, func() float32 { return 1 })
			change(s)
			s.call()
		}()
	}
}

// FuzzGaussPanel takes any sizes, and values of all magnitudes.
func FuzzGaussPanel(f *testing.F) {
	f.Add(uint8(28), uint8(16), uint8(16), uint8(5), uint64(1))
	f.Add(uint8(14), uint8(35), uint8(7), uint8(7), uint64(2))
	f.Fuzz(func(t *testing.T, rows, n, m, disc uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		value := func() float32 { return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30)) }
		heights := gaussHeights[int(disc)%len(gaussHeights)]
		eachLevel(t, func(t *testing.T) {
			s := newGaussPanelCase(int(rows)%60, int(n)%70, int(m)%17, heights, seed%2 == 1, seed%3 == 1, value)
			s.check(t, 1e-5)
			newGaussPanelCase(int(rows)%60, int(n)%70, int(m)%17, heights, seed%2 == 1, true, value).checkGrad(t, 1e-5)
		})
	})
}

// BenchmarkGaussPanel multiplies a row of frequencies with a block of 16 x 16 kernels of a disc of 29 taps, and
// BenchmarkGaussPanelGrad computes the gradient of these. Products with zeros around the planes do not count.
func BenchmarkGaussPanel(b *testing.B) {
	benchPanel(b, func(s *gaussPanelCase) { s.call() })
}

func BenchmarkGaussPanelGrad(b *testing.B) {
	benchPanel(b, func(s *gaussPanelCase) {
		GaussPanelGrad(&s.GaussShape, s.x.data(), s.xsource, s.y.data(), s.yrow, s.b.data(), s.spare.data())
	})
}

func benchPanel(b *testing.B, call func(s *gaussPanelCase)) {
	const n, m = 16, 16
	for _, rows := range []int{7, 14, 28} {
		s := newGaussPanelCase(rows, n, m, gaussHeights[5], false, true, func() float32 { return 0 })
		s.spare = &guarded{1, GaussSpare, GaussSpare, 0, make([]float32, GaussSpare)}
		products := 0
		for shift, column := range s.Columns {
			factors := 3
			if len(column.Waves) == 1 {
				factors = 2
			}
			products += factors * (min(rows, rows+3-shift) - max(0, 3-shift))
		}
		benchProducts(b, fmt.Sprintf("rows=%d/n=%d/m=%d", rows, n, m), float64(2*n*m*products), func() { call(s) })
	}
}
