package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// panelLengths are the steps k of a panel: none, each remainder of an unrolled
// loop, the transposed blocks of 4 and 16 with every tail, and more than one
// call of a kernel holds.
func panelLengths(width int) []int {
	var ks []int
	for k := range 36 {
		ks = append(ks, k)
	}
	return append(ks, 67, 3*(32<<10)/width/2+5)
}

// TestPack packs every number of values a step, from sources with gaps and odd
// offsets. All values are distinct and sources end in NaN, so each value must
// come from its place.
func TestPack(t *testing.T) {
	type pack func(dst []float32, src *guarded, k, n int)
	for _, test := range []struct {
		name       string
		a          bool // the panel has mr values a step, else nr
		transposed bool // src is [n, k], else [k, n]
		pack       pack
	}{
		{"Panel", false, false, func(dst []float32, src *guarded, k, n int) { PackPanel(dst, src.data(), src.ld, k, n) }},
		{"Cols", false, true, func(dst []float32, src *guarded, k, n int) { PackCols(dst, src.data(), src.ld, k, n) }},
		{"A", true, true, func(dst []float32, src *guarded, k, n int) { PackA(dst, src.data(), src.ld, k, n) }},
		{"AT", true, false, func(dst []float32, src *guarded, k, n int) { PackAT(dst, src.data(), src.ld, k, n) }},
		{"Rows", false, false, func(dst []float32, src *guarded, k, n int) {
			offsets := make([]int, k)
			for p := range offsets {
				offsets[p] = src.off + p*src.ld
			}
			PackRows(dst, src.buf, offsets, n)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				mr, nr := GemmTile()
				width := nr
				if test.a {
					width = mr
				}
				for _, k := range panelLengths(width) {
					for n := 0; n <= width; n++ {
						if k > 100 && n != width && n != 1 && n != width/2 {
							continue
						}
						rows, cols := k, n
						if test.transposed {
							rows, cols = n, k
						}
						src := newGuarded(rows, cols, cols+3, 5)
						src.fill(func(i, j int) float32 { return float32(1 + i*cols + j) })
						dst := newGuarded(k, width, width, 3)
						test.pack(dst.data()[:k*width], src, k, n)
						for p := range k {
							for j := range width {
								want := float32(0)
								if j < n && test.transposed {
									want = src.at(j, p)
								} else if j < n {
									want = src.at(p, j)
								}
								if got := dst.at(p, j); got != want {
									t.Fatalf("k=%d n=%d: dst[%d][%d] = %v, want %v", k, n, p, j, got, want)
								}
							}
						}
						dst.intact(t, k, width)
					}
				}
			})
		})
	}
}

// TestPackNothing: a panel of no columns is zeros, and needs no source, whatever the distance of its rows.
func TestPackNothing(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		mr, nr := GemmTile()
		for name, c := range map[string]struct {
			width int
			pack  func(dst, src []float32, ldsrc, k, n int)
		}{"Panel": {nr, PackPanel}, "Cols": {nr, PackCols}, "A": {mr, PackA}, "AT": {mr, PackAT}} {
			for _, ld := range []int{0, 4, math.MaxInt} {
				const k = 3
				dst := newGuarded(k, c.width, c.width, 1)
				c.pack(dst.data()[:k*c.width], nil, ld, k, 0)
				sameBits(t, name, dst.data()[:k*c.width], make([]float32, k*c.width))
				dst.intact(t, k, c.width)
			}
		}
	})
}

// TestPackRowsAnywhere gathers rows out of order and more than once.
func TestPackRowsAnywhere(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		_, nr := GemmTile()
		rng := rand.New(rand.NewPCG(7, 8))
		src := make([]float32, 1000)
		for i := range src {
			src[i] = float32(i)
		}
		for _, n := range []int{1, nr - 1, nr} {
			offsets := make([]int, 77)
			for i := range offsets {
				offsets[i] = rng.IntN(len(src) - n + 1)
			}
			offsets[3] = len(src) - n // ends with the last value
			dst := newGuarded(len(offsets), nr, nr, 1)
			PackRows(dst.data(), src, offsets, n)
			for p, o := range offsets {
				for j := range nr {
					want := float32(0)
					if j < n {
						want = float32(o + j)
					}
					if got := dst.at(p, j); got != want {
						t.Fatalf("n=%d: dst[%d][%d] = %v, want %v", n, p, j, got, want)
					}
				}
			}
			dst.intact(t, len(offsets), nr)
		}
	})
}

// TestTranspose takes every size around the 8x4 and 16x16 blocks, tight and
// with gaps, and one larger than a call of the kernel holds. NaN keeps its bits.
func TestTranspose(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		check := func(rows, cols, pad int) {
			src := newGuarded(rows, cols, cols+pad, pad)
			src.fill(func(i, j int) float32 { return math.Float32frombits(0x7fc00001 + uint32(i*cols+j)) })
			dst := newGuarded(cols, rows, rows+2*pad, 3*pad)
			Transpose(dst.data(), dst.ld, src.data(), src.ld, rows, cols)
			for i := range rows {
				for j := range cols {
					if x, y := math.Float32bits(dst.at(j, i)), math.Float32bits(src.at(i, j)); x != y {
						t.Fatalf("%dx%d: element [%d][%d] is %#x, want %#x", rows, cols, i, j, x, y)
					}
				}
			}
			if rows > 0 && cols > 0 {
				dst.intact(t, cols, rows)
			}
		}
		for rows := range 35 {
			for cols := range 35 {
				check(rows, cols, 0)
				check(rows, cols, 3)
			}
		}
		check(20, 5003, 1)
		check(3001, 7, 1)
		check(9001, 3, 1)
	})
}

// TestPrefetch: a hint changes nothing and reads nothing, whatever the sizes.
func TestPrefetch(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for rows := range 5 {
			for cols := range 40 {
				x := newGuarded(rows, cols, cols+9, cols)
				Prefetch(x.data(), x.ld, rows, cols)
				x.intact(t, 0, 0)
			}
		}
		Prefetch(nil, 0, 0, 0)
	})
}

// FuzzTranspose: the transpose of the transpose is the matrix.
func FuzzTranspose(f *testing.F) {
	f.Add(uint8(16), uint8(16), uint8(0), uint8(1))
	f.Add(uint8(3), uint8(33), uint8(2), uint8(0))
	f.Fuzz(func(t *testing.T, r, c, pad1, pad2 uint8) {
		before := Active()
		defer func() { _ = SetLevel(before) }()
		rows, cols := int(r), int(c)
		for _, l := range Available() {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			x := newGuarded(rows, cols, max(1, cols+int(pad1)), 1)
			x.fill(func(i, j int) float32 { return float32(i*cols + j) })
			y := newGuarded(cols, rows, max(1, rows+int(pad2)), 2)
			z := newGuarded(rows, cols, max(1, cols+int(pad2)), 3)
			Transpose(y.data(), y.ld, x.data(), x.ld, rows, cols)
			Transpose(z.data(), z.ld, y.data(), y.ld, cols, rows)
			for i := range rows {
				for j := range cols {
					if z.at(i, j) != x.at(i, j) {
						t.Fatalf("%v %dx%d: element [%d][%d] is %v, want %v", l, rows, cols, i, j, z.at(i, j), x.at(i, j))
					}
				}
			}
			if rows > 0 && cols > 0 {
				y.intact(t, cols, rows)
				z.intact(t, rows, cols)
			}
		}
	})
}

// BenchmarkPack streams panels from a matrix that fits into the second-level
// cache.
func BenchmarkPack(b *testing.B) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	const k, ld = 384, 520
	src := make([]float32, k*ld)
	dst := make([]float32, k*ld)
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		mr, nr := GemmTile()
		for name, f := range map[string]func() int{
			"panel": func() int { PackPanel(dst, src, ld, k, nr); return nr },
			"cols":  func() int { PackCols(dst, src, ld, k, nr); return nr },
			"a":     func() int { PackA(dst, src, ld, k, mr); return mr },
			"at":    func() int { PackAT(dst, src, ld, k, mr); return mr },
			"turn":  func() int { Transpose(dst, nr, src, ld, nr, k); return nr },
		} {
			b.Run(fmt.Sprintf("impl=%v/op=%s", l, name), func(b *testing.B) {
				for b.Loop() {
					b.SetBytes(int64(4 * k * f()))
				}
			})
		}
	}
}
