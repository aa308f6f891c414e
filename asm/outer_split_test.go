package asm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// outerCase is a call of GemmSplitOuter with A in one long strip, which its strips begin in at any row and
// overlap in, and C in poisoned memory.
type outerCase struct {
	OuterSplit
	x, y   []float32 // what was split, rows and columns of 32 steps
	step   int       // rows from a strip to the next
	memory []float32
	shift  int
}

func newOuterCase(strips, panels, step, gap int, conjugate bool, value func() float32) *outerCase {
	rows := (strips-1)*step + outerRows
	long := splitTile * blocks(rows)
	c := &outerCase{step: step, shift: gap, x: make([]float32, rows*splitTile), y: make([]float32, splitTile*panels*splitTile)}
	for _, v := range [][]float32{c.x, c.y} {
		for i := range v {
			v[i] = value()
		}
	}
	left := make([]float32, SplitSize(rows, splitTile))
	SplitLeft(left, c.x, splitTile, rows, splitTile)
	a := make([]float32, 3*long*16)
	for i := range blocks(rows) {
		for part := range 3 {
			copy(a[(part*long+i*splitTile)*16:], left[i*splitBlock+part*splitPart:][:splitPart])
		}
	}
	b := make([]float32, SplitSize(panels*splitTile, splitTile))
	SplitRight(b, c.y, panels*splitTile, splitTile, panels*splitTile)
	u, v := make([]float32, rows), make([]float32, panels*splitTile)
	for _, x := range [][]float32{u, v} {
		for i := range x {
			x[i] = value()
		}
	}
	ldc := strips*panels*splitTile + gap
	c.memory = make([]float32, gap+outerRows*ldc+8)
	for i := range c.memory {
		c.memory[i] = poison
	}
	c.OuterSplit = OuterSplit{
		Strips: strips, Panels: panels, A: a[:len(a):len(a)], PartA: long * 16, StripA: step * 16, B: b, U: u, StripU: step, V: v,
		C: c.memory[gap:], LDC: ldc, StripC: splitTile, PanelC: strips * splitTile, Conjugate: conjugate,
	}
	return c
}

func blocks(rows int) int { return (rows + splitTile - 1) / splitTile }

// check compares with GemmSplit and Axpy bit by bit, and with float64.
func (c *outerCase) check(t *testing.T, name string) {
	t.Helper()
	want := append([]float32(nil), c.memory...)
	n := c.Panels * splitTile
	strip, block := make([]float32, splitBlock), make([]float32, outerRows*n)
	for s := range c.Strips {
		x, u := c.x[s*c.step*splitTile:], c.U[s*c.step:]
		SplitLeft(strip, x, splitTile, outerRows, splitTile)
		GemmSplit(outerRows, n, splitTile, strip, c.B, block, n, false)
		for i := range outerRows {
			row := block[i*n:][:n]
			Axpy(row, u[i], c.V[:n])
			if c.Conjugate && i%2 == 1 {
				Affine(row, row, -1, 0)
			}
			for j := range n {
				sum, size := float64(u[i])*float64(c.V[j]), abs64(float64(u[i])*float64(c.V[j]))
				for q := range splitTile {
					term := float64(x[i*splitTile+q]) * float64(c.y[q*n+j])
					sum, size = sum+term, size+abs64(term)
				}
				if c.Conjugate && i%2 == 1 {
					sum = -sum
				}
				if abs64(float64(row[j])-sum) > 1e-6*size {
					t.Fatalf("%s: strip %d, row %d, column %d: %v, want %v", name, s, i, j, row[j], sum)
				}
				want[c.shift+s*c.StripC+j/splitTile*c.PanelC+i*c.LDC+j%splitTile] = row[j]
			}
		}
	}
	GemmSplitOuter(&c.OuterSplit)
	sameBits(t, name, c.memory, want)
}

func abs64(x float64) float64 { return max(x, -x) }

// TestGemmSplitOuter takes numbers of strips and panels up to more than one call has, strips that begin at any
// row, and C at any place.
func TestGemmSplitOuter(t *testing.T) {
	sizes := []int{1, 2, 3, 9}
	if raceEnabled || testing.Short() {
		sizes = []int{1, 3}
	}
	eachLevel(t, func(t *testing.T) {
		sizes := sizes
		if !FastSplit() {
			sizes = []int{1, 2}
		}
		rng := rand.New(rand.NewPCG(6, 3))
		normal := func() float32 { return float32(rng.NormFloat64()) }
		for _, strips := range sizes {
			for _, panels := range sizes {
				for _, step := range []int{0, 1, 13, 16, 29} {
					for _, conjugate := range []bool{false, true} {
						c := newOuterCase(strips, panels, step, step%3, conjugate, normal)
						c.check(t, fmt.Sprintf("%d strips, %d rows apart, %d panels, conjugate %v", strips, step, panels, conjugate))
					}
				}
			}
		}
		GemmSplitOuter(&OuterSplit{Strips: 3, PartA: splitPart, LDC: splitTile})
	})
}

func TestGemmSplitOuterErrors(t *testing.T) {
	for name, change := range map[string]func(o *OuterSplit){
		"strips":  func(o *OuterSplit) { o.Strips = -1 },
		"panels":  func(o *OuterSplit) { o.Panels = -1 },
		"overlap": func(o *OuterSplit) { o.PartA = splitPart/2 - 1 },
		"rows":    func(o *OuterSplit) { o.LDC = splitTile - 1 },
		"A":       func(o *OuterSplit) { o.A = o.A[:2*o.PartA+o.StripA+splitPart/2-1] },
		"B":       func(o *OuterSplit) { o.B = o.B[:2*splitBlock-1] },
		"U":       func(o *OuterSplit) { o.U = o.U[:o.StripU+outerRows-1] },
		"V":       func(o *OuterSplit) { o.V = o.V[:2*splitTile-1] },
		"C":       func(o *OuterSplit) { o.C = o.C[:o.StripC+o.PanelC+(outerRows-1)*o.LDC+splitTile-1] },
	} {
		c := newOuterCase(2, 2, outerRows, 0, false, func() float32 { return 1 })
		change(&c.OuterSplit)
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("%s: no panic with *Error", name)
				}
			}()
			GemmSplitOuter(&c.OuterSplit)
		}()
	}
}

// FuzzGemmSplitOuter takes any sizes, and values of all magnitudes whose products are normal numbers.
func FuzzGemmSplitOuter(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(28), true, uint64(1))
	f.Add(uint8(0), uint8(70), uint8(0), false, uint64(2))
	f.Fuzz(func(t *testing.T, strips, panels, step uint8, conjugate bool, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		eachLevel(t, func(t *testing.T) {
			c := newOuterCase(1+int(strips)%9, 1+int(panels)%9, int(step)%70, rng.IntN(4), conjugate, func() float32 {
				return float32(rng.NormFloat64()) * float32(int(1)<<rng.IntN(30)) / (1 << 15)
			})
			c.check(t, "fuzzed")
		})
	})
}

// BenchmarkGemmSplitOuter makes 8 frequencies of 64 x 128 kernels of 8 elements.
func BenchmarkGemmSplitOuter(b *testing.B) {
	const rows, ld = 64, 128 + 16
	const size = rows*ld + 16
	c := newOuterCase(4, 8, outerRows, 0, true, func() float32 { return 1 })
	k := make([]float32, outerRows*size)
	o := c.OuterSplit
	o.LDC, o.StripC, o.PanelC = size, splitTile, 8*ld
	benchProducts(b, "64x128x8", 2*rows*128*outerRows*33, func() {
		for i := range 8 {
			o.C = k[i*ld:]
			GemmSplitOuter(&o)
		}
	})
}
