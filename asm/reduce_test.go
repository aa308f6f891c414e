package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// reductionLengths cross the vectors, the accumulators and the blocks.
func reductionLengths() []int {
	var n []int
	for i := 0; i <= 200; i++ {
		n = append(n, i)
	}
	return append(n, 255, 256, 257, 1000, reduceBlock-1, reduceBlock, reduceBlock+1, 2*reduceBlock+77)
}

// amid returns a slice of n values in the middle of poisoned ones: a value read
// beside them would make a sum NaN. check reports what was written there.
func amid(n, off int, value func(i int) float32) (x []float32, check func(t *testing.T)) {
	const room = 80
	buf := make([]float32, room+off+n+room)
	for i := range buf {
		buf[i] = poison
	}
	x = buf[room+off : room+off+n : room+off+n]
	for i := range x {
		x[i] = value(i)
	}
	return x, func(t *testing.T) {
		t.Helper()
		for i, v := range buf {
			if (i < room+off || i >= room+off+n) && math.Float32bits(v) != math.Float32bits(poison) {
				t.Fatalf("wrote %v at %d of a slice of %d", v, i-room-off, n)
			}
		}
	}
}

// TestReduceExact adds small integers: every partial sum is exact, so a value
// left out or taken twice shows at once, whatever the order.
func TestReduceExact(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 3))
		for _, n := range reductionLengths() {
			for _, off := range []int{0, 1, 6} {
				x, checkX := amid(n, off, func(int) float32 { return integer(rng) })
				y, checkY := amid(n, 2*off, func(int) float32 { return integer(rng) })
				var sum, dot, squares float32
				for i, v := range x {
					sum += v
					dot += v * y[i]
					squares += (v - 3) * (v - 3)
				}
				if got := Sum(x); got != sum {
					t.Fatalf("Sum of %d = %v, want %v", n, got, sum)
				}
				if got := Dot(x, y); got != dot {
					t.Fatalf("Dot of %d = %v, want %v", n, got, dot)
				}
				if got := SumSquares(x, 3); got != squares {
					t.Fatalf("SumSquares of %d = %v, want %v", n, got, squares)
				}
				checkX(t)
				checkY(t)
			}
		}
	})
}

// relativeSum is how large docs/numerics.md says that the error of a reduction
// gets on random data, relative to the sum of the magnitudes of the terms.
const relativeSum = 1e-6

func TestReduceError(t *testing.T) {
	lengths := []int{10, 1000, 50_000, 1_000_000}
	if raceEnabled || runtime.GOARCH != "amd64" {
		lengths = lengths[:3]
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 3))
		for _, n := range lengths {
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], y[i] = rng.Float32(), rng.Float32()-0.5
			}
			var sum, dot, dots, squares float64
			for i, v := range x {
				sum += float64(v)
				dot += float64(v) * float64(y[i])
				dots += math.Abs(float64(v) * float64(y[i]))
				squares += (float64(v) - 0.5) * (float64(v) - 0.5)
			}
			for _, r := range []struct {
				name             string
				got, want, terms float64
			}{
				{"Sum", float64(Sum(x)), sum, sum},
				{"Dot", float64(Dot(x, y)), dot, dots},
				{"SumSquares", float64(SumSquares(x, 0.5)), squares, squares},
			} {
				e := math.Abs(r.got-r.want) / r.terms
				if e > relativeSum {
					t.Errorf("%s of %d values: relative error %g", r.name, n, e)
				}
				t.Logf("%s of %d values: relative error %.2g", r.name, n, e)
			}
		}
	})
}

// TestReduceAlignment: the bits of a sum do not depend on the address.
func TestReduceAlignment(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 7))
		x, buf := make([]float32, 3001), make([]float32, 3001+16)
		for i := range x {
			x[i] = rng.Float32()
		}
		sum, dot := Sum(x), Dot(x, x)
		for off := range 16 {
			y := buf[off : off+len(x)]
			copy(y, x)
			if Sum(y) != sum || Dot(x, y) != dot {
				t.Fatalf("offset %d: %v and %v, want %v and %v", off, Sum(y), Dot(x, y), sum, dot)
			}
		}
	})
}

// columnSizes: one column, less than a vector, vectors with a rest, strips of
// 64 with and without a rest.
var columnSizes = []int{1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 33, 63, 64, 65, 79, 96, 127, 128, 130, 200}

// rowSizes: none, both parities, and both sides of the block of rows.
var rowSizes = []int{0, 1, 2, 3, 4, 5, 255, 256, 257, 600}

// matrices calls f with each size; far from amd64, with a third of them.
func matrices(f func(rows, cols int)) {
	for i, cols := range columnSizes {
		for j, rows := range rowSizes {
			if (raceEnabled || runtime.GOARCH != "amd64") && (i+j)%3 != 0 {
				continue
			}
			f(rows, cols)
		}
	}
}

func TestColSumsExact(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 3))
		matrices(func(rows, cols int) {
			x, checkX := amid(rows*cols, cols%5, func(int) float32 { return integer(rng) })
			sum := make([]float32, cols)
			for i, v := range x {
				sum[i%cols] += v
			}
			got, check := amid(cols, 3, func(int) float32 { return 99 })
			ColSum(got, x)
			diff(t, fmt.Sprintf("ColSum %dx%d", rows, cols), got, sum)
			check(t)
			checkX(t)
		})
	})
}

// TestColSumsError takes the size that a batch normalisation sees, and a column
// long enough to spoil a plain float32 sum.
func TestColSumsError(t *testing.T) {
	sizes := [][2]int{{8 * 28 * 28, 64}, {100_000, 10}, {300_000, 1}}
	if raceEnabled || runtime.GOARCH != "amd64" {
		sizes = [][2]int{{6272, 17}}
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 8))
		for _, s := range sizes {
			rows, cols := s[0], s[1]
			x := make([]float32, rows*cols)
			for i := range x {
				x[i] = rng.Float32()
			}
			sum, squares := make([]float64, cols), make([]float64, cols)
			for i, v := range x {
				c, w := i%cols, float64(v)
				sum[c] += w
				squares[c] += (w - 0.5) * (w - 0.5)
			}
			got := make([]float32, cols)
			check := func(name string, want []float64) {
				t.Helper()
				worst := 0.0
				for c := range got {
					worst = max(worst, math.Abs(float64(got[c])-want[c])/want[c])
				}
				if worst > relativeSum {
					t.Errorf("%s of %dx%d: relative error %g", name, rows, cols, worst)
				}
				t.Logf("%s of %dx%d: relative error %.2g", name, rows, cols, worst)
			}
			ColSum(got, x)
			check("ColSum", sum)
			pivot, first, second := make([]float32, cols), make([]float64, cols), make([]float64, cols)
			Fill(pivot, 0.5)
			ColMoments(first, second, x, pivot)
			for c, v := range second {
				got[c] = float32(v)
			}
			check("ColMoments", squares)
		}
	})
}

// TestColAffine: every element has the bits that Affine gives it alone.
func TestColAffine(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 3))
		value := func(int) float32 { return 4*rng.Float32() - 2 }
		matrices(func(rows, cols int) {
			n := rows * cols
			x, checkX := amid(n, cols%5, value)
			a, checkA := amid(cols, 1, value)
			b, checkB := amid(cols, 2, value)
			affine := make([]float32, n)
			for i := range x {
				j := i % cols
				Affine(affine[i:i+1], x[i:i+1], a[j], b[j])
			}
			got, check := amid(n, 3, func(int) float32 { return 99 })
			what := fmt.Sprintf("%dx%d", rows, cols)
			ColAffine(got, x, a, b)
			diff(t, "ColAffine "+what, got, affine)
			copy(got, x)
			ColAffine(got, got, a, b)
			diff(t, "ColAffine in place "+what, got, affine)
			for _, f := range []func(*testing.T){check, checkX, checkA, checkB} {
				f(t)
			}
		})
	})
}

// TestColMax compares with a plain loop on values full of ties, infinities and
// NaN.
func TestColMax(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 3))
		matrices(func(rows, cols int) {
			for _, odds := range []int{0, 300, 5} { // one in so many is special
				x, checkX := amid(rows*cols, cols%5, func(int) float32 {
					if odds > 0 && rng.IntN(odds) == 0 {
						return specials[rng.IntN(len(specials))]
					}
					return integer(rng)
				})
				max, checkMax := amid(cols, 2, func(int) float32 { return 99 })
				index, checkIndex := amid(cols, 4, func(int) float32 { return 99 })
				ColMax(max, index, x)
				for c := range cols {
					best, at := math.Inf(-1), 0
					for r := range rows {
						if v := float64(x[r*cols+c]); v > best || v != v && best == best {
							best, at = v, r
						}
					}
					if !(float64(max[c]) == best || max[c] != max[c] && best != best) || index[c] != float32(at) {
						t.Fatalf("%dx%d, column %d: %v at %v, want %v at %d", rows, cols, c, max[c], index[c], best, at)
					}
					if rows > 0 && math.Float32bits(max[c]) != math.Float32bits(x[at*cols+c]) && best == best {
						t.Fatalf("%dx%d, column %d: %v, want the bits of row %d, %v", rows, cols, c, max[c], at, x[at*cols+c])
					}
				}
				for _, f := range []func(*testing.T){checkX, checkMax, checkIndex} {
					f(t)
				}
			}
		})
	})
}

func TestReduceAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachLevel(t, func(t *testing.T) {
		x, y, v, w := make([]float32, 1000), make([]float32, 1000), make([]float32, 10), make([]float32, 10)
		for name, f := range map[string]func(){
			"Sum":        func() { Sum(x) },
			"Dot":        func() { Dot(x, y) },
			"SumSquares": func() { SumSquares(x, 1) },
			"ColSum":     func() { ColSum(v, x) },
			"ColAffine":  func() { ColAffine(y, x, v, w) },
			"ColMax":     func() { ColMax(v, w, x) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}

// TestColSumsRepeat: a column has the same bits whatever stands in the others.
func TestColSumsRepeat(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 9))
		const rows, cols = 700, 83
		x := make([]float32, rows*cols)
		for i := range x {
			x[i] = rng.Float32()
		}
		a, b := make([]float32, cols), make([]float32, cols)
		ColSum(a, x)
		for r := range rows {
			for c := range cols {
				if c%7 != 3 {
					x[r*cols+c] = rng.Float32() * 1e6
				}
			}
		}
		ColSum(b, x)
		for c := 3; c < cols; c += 7 {
			if a[c] != b[c] {
				t.Fatalf("column %d: %v, then %v", c, a[c], b[c])
			}
		}
	})
}
