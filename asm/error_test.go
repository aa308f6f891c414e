package asm

import (
	"errors"
	"strings"
	"testing"
)

// TestLengths calls every function with slices that do not fit.
func TestLengths(t *testing.T) {
	v := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		name string // and in the message
		call func()
	}{
		{"Sin: x", func() { Sin(v(3), v(4)) }},
		{"Cos: x", func() { Cos(v(0), v(1)) }},
		{"SinCos: c", func() { SinCos(v(3), v(4), v(3)) }},
		{"SinAffine: x", func() { SinAffine(v(3), v(4), 1, 0) }},
		{"SinCosAffine: c", func() { SinCosAffine(v(3), v(4), v(3), 1, 0) }},
		{"SinCosAffine: x", func() { SinCosAffine(v(3), v(3), v(4), 1, 0) }},
		{"SinCos: x", func() { SinCos(v(3), v(3), v(4)) }},
		{"Exp: x", func() { Exp(v(3), nil) }},
		{"Log: x", func() { Log(v(3), v(2)) }},
		{"Add: x", func() { Add(v(3), v(2), v(3)) }},
		{"Add: y", func() { Add(v(3), v(3), v(2)) }},
		{"Sub: y", func() { Sub(v(3), v(3), v(2)) }},
		{"Mul: y", func() { Mul(v(3), v(3), v(2)) }},
		{"MulAdd: y", func() { MulAdd(v(3), v(3), v(2)) }},
		{"Axpy: x", func() { Axpy(v(3), 1, v(2)) }},
		{"Affine: x", func() { Affine(v(3), v(2), 1, 1) }},
		{"Combine: y", func() { Combine(v(3), v(3), v(2), 1, 1, 1) }},
		{"Relu: x", func() { Relu(v(3), v(2)) }},
		{"ReluGrad: dy", func() { ReluGrad(v(3), v(2), v(3)) }},
		{"ReluGrad: y", func() { ReluGrad(v(3), v(3), v(2)) }},
		{"Dot: y", func() { Dot(v(3), v(2)) }},
		{"ColSum: x", func() { ColSum(v(3), v(7)) }},
		{"ColSum: x", func() { ColSum(nil, v(7)) }},
		{"ColAffine: x", func() { ColAffine(v(7), v(7), v(3), v(3)) }},
		{"ColAffine: x", func() { ColAffine(v(3), v(6), v(3), v(3)) }},
		{"ColAffine: shift", func() { ColAffine(v(6), v(6), v(3), v(2)) }},
		{"ColMax: index", func() { ColMax(v(3), v(2), v(6)) }},
		{"ColMax: x", func() { ColMax(v(3), v(3), v(7)) }},
		{"Max4: d", func() { Max4(v(3), v(3), v(3), v(3), v(2)) }},
		{"Max4Grad: y", func() { Max4Grad(v(3), v(3), v(3), v(3), v(3), v(2), v(3), v(3), v(3), v(3)) }},
		{"Adam: m", func() { Adam(v(3), v(2), v(3), v(3), AdamStep{}) }},
		{"Adam: g", func() { Adam(v(3), v(3), v(3), v(2), AdamStep{}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("panic with %v, want an *Error", err)
				}
				if !strings.HasPrefix(e.Error(), "asm: "+c.name+" has ") {
					t.Errorf("message %q", e)
				}
			}()
			c.call()
			t.Error("no panic")
		})
	}
	if r := func() (r any) {
		defer func() { r = recover() }()
		ColMax(v(1), v(1), make([]float32, maxRows+1))
		return nil
	}(); r == nil {
		t.Error("ColMax of 2^24+1 rows: no panic")
	}
}

// TestElementwiseLengths makes each slice of each function one value too short, and one too long.
func TestElementwiseLengths(t *testing.T) {
	refuses := func(name string, slices, at int, run func(a [][]float32)) {
		for _, n := range []int{2, 4} {
			a := make([][]float32, slices)
			for i := range a {
				a[i] = make([]float32, 3)
			}
			a[at] = make([]float32, n)
			func() {
				defer func() {
					if _, ok := recover().(*Error); !ok {
						t.Errorf("%s: no *Error for slice %d of %d values and others of 3", name, at, n)
					}
				}()
				run(a)
			}()
		}
	}
	for _, op := range elementwises {
		for i := range op.args {
			if op.args > 1 {
				refuses(op.name, op.args, i, op.run)
			}
		}
	}
	for i := range 2 {
		refuses("Stream", 2, i, func(a [][]float32) { Stream(a[0], a[1]) })
	}
}

// TestEmpty: nothing to do is not an error.
func TestEmpty(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, op := range elementwises {
			op.run(make([][]float32, op.args))
		}
		if Sum(nil) != 0 || Dot(nil, nil) != 0 || SumSquares(nil, 1) != 0 {
			t.Error("a sum of nothing is not zero")
		}
		ColSum(nil, nil)
		ColAffine(nil, nil, nil, nil)
		ColMax(nil, nil, nil)
	})
}
