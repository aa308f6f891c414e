package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gaussRowsCase is a call of GaussRows, in poisoned buffers with gaps.
type gaussRowsCase struct {
	GaussShape
	accumulate bool
	x          *guarded // [plane, (row, source)], poisoned where it is zero
	b          *guarded // [1, (slot, source, target)]
	y          *guarded // [plane, (row, target)]
	before     []float32
	ahead      []float32
}

// newGaussRowsCase has a column for each number of taps above the middle.
func newGaussRowsCase(rows, first, end, n, m int, heights []int, real, accumulate bool, value func() float32) *gaussRowsCase {
	s := &gaussRowsCase{accumulate: accumulate}
	s.Real, s.Rows, s.First, s.End, s.N, s.M = real, rows, first, end, n, m
	slots := 1 // one that no column has
	for _, e := range heights {
		c := GaussColumn{slots, []float32{1}}
		for range 2 * e {
			c.Waves = append(c.Waves, value())
		}
		s.Columns = append(s.Columns, c)
		slots += 2*e + 1
	}
	s.x = newGuarded(s.planes(), end*n, (rows+len(heights)-1)*n+3, 5)
	s.x.fill(func(_, i int) float32 {
		if i < first*n {
			return poison
		}
		return value()
	})
	s.b, s.y = newGuarded(1, slots*n*m, slots*n*m, 3), newGuarded(s.planes(), rows*m, rows*m+7, 1)
	s.b.fill(func(int, int) float32 { return value() })
	if accumulate {
		s.y.fill(func(int, int) float32 { return value() })
		s.before = slices.Clone(s.y.data())
	}
	s.XPlane, s.YPlane = s.x.ld, s.y.ld
	s.ahead = make([]float32, n*m)
	return s
}

func (s *gaussRowsCase) call() {
	GaussRows(&s.GaussShape, s.x.data(), s.b.data(), s.y.data(), s.accumulate, s.ahead)
}

// factors returns what planes of x are multiplied with.
func (s *gaussRowsCase) factors(c *GaussColumn, source, target int) [3]float64 {
	var re, im float64
	for r, wave := range c.Waves {
		x := float64(wave) * float64(s.b.at(0, ((c.Slot+r)*s.N+source)*s.M+target))
		if r <= len(c.Waves)/2 {
			re += x
		} else if !s.Real {
			im += x
		}
	}
	return [3]float64{re + im, im, re}
}

// check compares with float64, up to an error of so much of the norms of what is multiplied.
func (s *gaussRowsCase) check(t *testing.T, tolerance float64) {
	t.Helper()
	s.call()
	s.y.intact(t, s.planes(), s.Rows*s.M)
	for q := range s.Rows {
		for j := range s.M {
			var want, size [3]float64
			for shift := range s.Columns {
				if q+shift < s.First || q+shift >= s.End {
					continue
				}
				for c := range s.N {
					for plane, factor := range s.factors(&s.Columns[shift], c, j) {
						if plane < s.planes() {
							x := float64(s.x.at(plane, (q+shift)*s.N+c))
							want[plane] += x * factor
							size[plane] += math.Abs(x) * s.magnitude(&s.Columns[shift], c, j)
						}
					}
				}
			}
			for plane := range s.planes() {
				if s.accumulate {
					before := float64(s.before[plane*s.YPlane+q*s.M+j])
					want[plane] += before
					size[plane] += math.Abs(before)
				}
				if got := s.y.at(plane, q*s.M+j); !(math.Abs(float64(got)-want[plane]) <= tolerance*size[plane]) {
					t.Fatalf("rows=%d (%d to %d) n=%d m=%d, %d columns, real %v, accumulate %v: plane %d, row %d, target %d is %v, want %v",
						s.Rows, s.First, s.End, s.N, s.M, len(s.Columns), s.Real, s.accumulate, plane, q, j, got, want[plane])
				}
			}
		}
	}
}

// magnitude returns the sum of the magnitudes of which factors are sums.
func (s *gaussRowsCase) magnitude(c *GaussColumn, source, target int) float64 {
	sum := 0.0
	for r, wave := range c.Waves {
		sum += math.Abs(float64(wave) * float64(s.b.at(0, ((c.Slot+r)*s.N+source)*s.M+target)))
	}
	return sum
}

// gaussHeights are discs and other columns of taps, with more taps and more columns than tiles have at the end.
var gaussHeights = [][]int{{0}, {1}, {3}, {0, 1, 0}, {0, 1, 2, 1, 0}, {0, 2, 2, 3, 2, 2, 0}, {3, 3, 3, 3, 3, 3, 3}, {2, 4, 1}, {0, 1, 2, 3, 3, 3, 2, 1, 0}}

// TestGaussRows takes all numbers of rows of strips and around them, borders of all widths, and all targets of
// tiles and around them. Sums of integers are exact.
func TestGaussRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 1))
		value := func() float32 { return integer(rng) }
		for i, heights := range gaussHeights {
			for rows := 1; rows <= 15; rows++ {
				width := rows + len(heights) - 1
				radius := len(heights) / 2
				for _, border := range [][2]int{{0, width}, {min(radius, width), max(radius, width-radius)}, {width / 2, width/2 + 1}, {0, 0}} {
					if border[0] > width || border[1] > width {
						continue
					}
					for _, real := range []bool{false, true} {
						n, m := 1+(rows+i)%4, 1+(5*rows+i+border[0])%35
						newGaussRowsCase(rows, border[0], border[1], n, m, heights, real, (rows+i)%2 == 0, value).check(t, 0)
					}
				}
			}
			for m := 1; m <= 35; m++ {
				newGaussRowsCase(7, 1, 6+len(heights)-1, 2, m, heights, m%3 == 0, m%2 == 0, value).check(t, 0)
			}
		}
		newGaussRowsCase(3, 0, 5, 0, 5, []int{0, 1, 0}, false, false, value).check(t, 0)
		newGaussRowsCase(3, 0, 5, 0, 5, []int{0, 1, 0}, true, true, value).check(t, 0)
		normal := func() float32 { return float32(rng.NormFloat64()) }
		newGaussRowsCase(14, 3, 17, 130, 33, gaussHeights[5], false, true, normal).check(t, 1e-6) // in several calls
		newGaussRowsCase(9, 2, 12, 300, 5, gaussHeights[5], true, false, normal).check(t, 1e-6)
		none := GaussShape{N: 3, M: 4}
		GaussRows(&none, nil, nil, nil, false, nil)
	})
}

// TestGaussRowsNeighbours computes targets in two parts, wherever they are cut: each has the same bits beside any others.
func TestGaussRowsNeighbours(t *testing.T) {
	const rows, n, m = 8, 3, 21
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(8, 2))
		for _, real := range []bool{false, true} {
			whole := newGaussRowsCase(rows, 3, 11, n, m, gaussHeights[5], real, true, func() float32 { return float32(rng.NormFloat64()) })
			for at := 1; at < m; at++ {
				for _, of := range [][2]int{{0, at}, {at, m}} {
					part := *whole
					part.M = of[1] - of[0]
					columns := func(from []float32, count int) []float32 {
						to := make([]float32, 0, count*part.M)
						for i := range count {
							to = append(to, from[i*m+of[0]:i*m+of[1]]...)
						}
						return to
					}
					b := columns(whole.b.data(), len(whole.b.data())/m)
					part.YPlane = rows * part.M
					var y []float32
					for plane := range part.planes() {
						y = append(y, columns(whole.before[plane*whole.YPlane:], rows)...)
					}
					GaussRows(&part.GaussShape, whole.x.data(), b, y, true, nil)
					if at == 1 && of[0] == 0 {
						whole.call()
					}
					for plane := range part.planes() {
						if want := columns(whole.y.data()[plane*whole.YPlane:], rows); !slices.Equal(y[plane*part.YPlane:][:len(want)], want) {
							t.Fatalf("real %v: plane %d has other bits for the targets %d to %d alone", real, plane, of[0], of[1])
						}
					}
				}
			}
		}
	})
}

// TestGaussRowsAhead wants a line fetched for each step of a tile at most.
func TestGaussRowsAhead(t *testing.T) {
	s := newGaussRowsCase(7, 0, 9, 4, 16, []int{0, 1, 0}, false, false, func() float32 { return 1 })
	ahead := make([]float32, 1000)
	left := GaussRows(&s.GaussShape, s.x.data(), s.b.data(), s.y.data(), false, ahead)
	fast := FastGaussRows(&s.GaussShape)
	if fast && len(left) != len(ahead)-3*4*16 || !fast && len(left) != len(ahead) {
		t.Errorf("%d of %d values are left to be fetched", len(left), len(ahead))
	}
}

func TestGaussRowsRefuses(t *testing.T) {
	fits := func() *gaussRowsCase {
		return newGaussRowsCase(4, 1, 5, 2, 3, []int{0, 1, 0}, false, false, func() float32 { return 1 })
	}
	for name, change := range map[string]func(*gaussRowsCase) (x, b, y []float32){
		"negative size":   func(s *gaussRowsCase) (x, b, y []float32) { s.N = -1; return s.x.data(), s.b.data(), s.y.data() },
		"border":          func(s *gaussRowsCase) (x, b, y []float32) { s.End = 7; return s.x.data(), s.b.data(), s.y.data() },
		"border reversed": func(s *gaussRowsCase) (x, b, y []float32) { s.First = 6; return s.x.data(), s.b.data(), s.y.data() },
		"even waves": func(s *gaussRowsCase) (x, b, y []float32) {
			s.Columns[1].Waves = s.Columns[1].Waves[:2]
			return s.x.data(), s.b.data(), s.y.data()
		},
		"negative slot": func(s *gaussRowsCase) (x, b, y []float32) {
			s.Columns[0].Slot = -1
			return s.x.data(), s.b.data(), s.y.data()
		},
		"short x": func(s *gaussRowsCase) (x, b, y []float32) {
			return s.x.data()[:2*s.XPlane+s.End*s.N-1], s.b.data(), s.y.data()
		},
		"short slots": func(s *gaussRowsCase) (x, b, y []float32) {
			return s.x.data(), s.b.data()[:s.slots()*s.N*s.M-1], s.y.data()
		},
		"short y": func(s *gaussRowsCase) (x, b, y []float32) {
			return s.x.data(), s.b.data(), s.y.data()[:2*s.YPlane+s.Rows*s.M-1]
		},
		"planes meet": func(s *gaussRowsCase) (x, b, y []float32) {
			s.YPlane = s.Rows*s.M - 1
			return s.x.data(), s.b.data(), s.y.data()
		},
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no *Error", name)
				}
			}()
			s := fits()
			x, b, y := change(s)
			GaussRows(&s.GaussShape, x, b, y, false, nil)
		}()
	}
}

// FuzzGaussRows takes any sizes, and values of all magnitudes.
func FuzzGaussRows(f *testing.F) {
	f.Add(uint8(7), uint8(3), uint8(10), uint8(32), uint8(32), uint8(5), uint64(1))
	f.Add(uint8(14), uint8(0), uint8(2), uint8(1), uint8(17), uint8(7), uint64(2))
	f.Fuzz(func(t *testing.T, rows, first, count, n, m, disc uint8, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		heights := gaussHeights[int(disc)%len(gaussHeights)]
		width := 1 + int(rows)%30 + len(heights) - 1
		from := int(first) % (width + 1)
		end := min(width, from+int(count))
		eachLevel(t, func(t *testing.T) {
			newGaussRowsCase(1+int(rows)%30, from, end, int(n)%140, 1+int(m)%70, heights, seed%2 == 1, seed%3 == 1, func() float32 {
				return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			}).check(t, 1e-5)
		})
	})
}

// BenchmarkGaussRows multiplies a row of frequencies with a block of 32 x 32 kernels of a disc of 29 taps. Slots begin
// where cache lines do.
func BenchmarkGaussRows(b *testing.B) {
	const n, m = 32, 32
	for _, rows := range []int{7, 14} {
		c := newGaussRowsCase(rows, 3, rows+3, n, m, gaussHeights[5], false, true, rand.Float32)
		s, products := &c.GaussShape, 0
		for shift, column := range s.Columns {
			factors := 3
			if len(column.Waves) == 1 {
				factors = 2
			}
			products += factors * (min(rows, s.End-shift) - max(0, s.First-shift))
		}
		slots, y := make([]float32, s.slots()*n*m), make([]float32, 3*s.YPlane)
		for i := range slots {
			slots[i] = rand.Float32() - 0.5
		}
		benchProducts(b, fmt.Sprintf("rows=%d/n=%d/m=%d", rows, n, m), float64(2*n*m*products), func() {
			GaussRows(s, c.x.data(), slots, y, false, nil)
		})
	}
}
