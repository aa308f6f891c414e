package asm

import (
	"math"
	"testing"
)

// transposeGroupsCase moves values to groups side by side and back again, and compares each with the
// definition, guard words and the gaps between rows and groups included.
func transposeGroupsCase(t *testing.T, groups, rows, cols, pad int) {
	t.Helper()
	ld := cols + pad
	stride := rows*ld + 2*pad
	value := func(g, i, j int) float32 { return math.Float32frombits(0x7fc00001 + uint32((g*rows+i)*cols+j)) }
	apart := newGuarded(1, groups*stride, groups*stride, 9)
	for g := range groups {
		for i := range rows {
			for j := range cols {
				apart.data()[g*stride+i*ld+j] = value(g, i, j)
			}
		}
	}
	aside := newGuarded(cols, groups*rows, groups*rows+pad, 7)
	TransposeGroups(aside.data(), aside.ld, apart.data(), ld, stride, groups, rows, cols)
	back := newGuarded(1, groups*stride, groups*stride, 9)
	TransposeToGroups(back.data(), ld, stride, aside.data(), aside.ld, cols, groups, rows)
	want := newGuarded(1, groups*stride, groups*stride, 9)
	for g := range groups {
		for i := range rows {
			for j := range cols {
				if x, y := math.Float32bits(aside.at(j, g*rows+i)), math.Float32bits(value(g, i, j)); x != y {
					t.Fatalf("%d groups of %dx%d, pad %d: element [%d][%d] of group %d is %#x, want %#x", groups, rows, cols, pad, i, j, g, x, y)
				}
				want.data()[g*stride+i*ld+j] = value(g, i, j)
			}
		}
	}
	if groups*rows*cols > 0 {
		aside.intact(t, cols, groups*rows)
	}
	for i, v := range want.buf {
		if x, y := math.Float32bits(back.buf[i]), math.Float32bits(v); x != y {
			t.Fatalf("%d groups of %dx%d, pad %d, back: value %d is %#x, want %#x", groups, rows, cols, pad, i-9, x, y)
		}
	}
}

func TestTransposeGroups(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, rows := range []int{0, 1, 3, 4, 7, 8, 12, 16, 20, 32} {
			for cols := range 35 {
				for groups := range 7 {
					transposeGroupsCase(t, groups, rows, cols, cols%3)
				}
			}
		}
	})
}

func FuzzTransposeGroups(f *testing.F) {
	f.Add(uint8(4), uint8(8), uint8(29), uint8(0))
	f.Add(uint8(5), uint8(12), uint8(17), uint8(3))
	f.Fuzz(func(t *testing.T, groups, rows, cols, pad uint8) {
		transposeGroupsCase(t, int(groups%20), int(rows%40), int(cols%70), int(pad%9))
	})
}

func TestTransposeGroupsErrors(t *testing.T) {
	x := make([]float32, 100)
	for name, call := range map[string]func(){
		"src too short":    func() { TransposeGroups(x, 8, x[:39], 5, 20, 2, 4, 5) },
		"dst too short":    func() { TransposeGroups(x[:39], 8, x, 5, 20, 2, 4, 5) },
		"groups":           func() { TransposeGroups(x, 8, x, 5, 20, -1, 4, 5) },
		"distance of dst":  func() { TransposeGroups(x, 7, x, 5, 20, 2, 4, 5) },
		"back, dst":        func() { TransposeToGroups(x[:39], 5, 20, x, 8, 5, 2, 4) },
		"back, src":        func() { TransposeToGroups(x, 5, 20, x[:39], 8, 5, 2, 4) },
		"back, stride":     func() { TransposeToGroups(x, 5, -20, x, 8, 5, 2, 4) },
		"beyond the slice": func() { TransposeGroups(x, 8, x, 5, 200, 2, 4, 5) },
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
