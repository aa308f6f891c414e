package asm

import (
	"encoding/binary"
	"math"
	"testing"
)

// floats reads data as little-endian float32 values of any kind.
func floats(data []byte) []float32 {
	x := make([]float32, len(data)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return x
}

// bytesOf is the inverse of floats, for seeds.
func bytesOf(x ...float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func seeds(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytesOf(specials...))
	f.Add(bytesOf(append(around(65536, 8), around(expMin, 9)...)...))
	f.Add(bytesOf(append(append(specials, specials...), around(1, 20)...)...))
	f.Add(bytesOf(1e-3, 3, 12345.678, 1e5, 0.1, -7, 1e-30, 42))
}

// FuzzFunctions compares sine, cosine, exponential and logarithm of arbitrary
// values at every level with float64: within the stated ULP, infinities, zeros
// and NaN alike.
func FuzzFunctions(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			data = data[:1<<12]
		}
		x := floats(data)
		got := make([]float32, len(x))
		eachLevel(t, func(t *testing.T) {
			for _, fn := range functions() {
				fn.run(got, x)
				for i, v := range x {
					if e := ulpError(got[i], fn.ref(float64(v))); e > fn.ulp {
						t.Fatalf("%s(%v = %#08x) = %v, want %v, %g ULP", fn.name, v, math.Float32bits(v), got[i], fn.ref(float64(v)), e)
					}
				}
			}
		})
	})
}

// FuzzElementwise gives arbitrary values to the functions whose results all
// levels share bit by bit, and cuts them in two at an arbitrary place for all
// functions.
func FuzzElementwise(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			data = data[:1<<13]
		}
		x := floats(data)
		for _, op := range elementwises {
			n := len(x) / op.args
			args := make([][]float32, op.args)
			for i := range args {
				args[i] = x[i*n : (i+1)*n]
			}
			var portable [][]float32
			eachLevel(t, func(t *testing.T) {
				whole, cut := clone(args), clone(args)
				op.run(whole)
				if portable == nil {
					portable = whole
				}
				at := 0
				if n > 0 {
					at = len(data) * 7 % n
				}
				op.run(window(cut, 0, at))
				op.run(window(cut, at, n))
				for out := range op.outs {
					diff(t, op.name+" cut in two", cut[out], whole[out])
					if op.bound == nil {
						diff(t, op.name+" against the portable code", whole[out], portable[out])
					}
				}
			})
		}
	})
}

// FuzzReduce compares the reductions of arbitrary finite values with float64,
// where |error| <= 270*2^-24 * sum|term|, see docs/numerics.md; with an infinity or NaN among the values
// the kind of the result must be the portable code's.
func FuzzReduce(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			data = data[:1<<13]
		}
		x := floats(data)
		for i, v := range x { // room for squares
			if a := math.Abs(float64(v)); a > 1e15 && !math.IsInf(a, 0) {
				x[i] = float32(math.Mod(float64(v), 1e15))
			}
		}
		n := len(x) / 2
		x, y := x[:n], x[n:2*n]
		cols := 1 + len(data)%67
		rows := n / cols
		eachLevel(t, func(t *testing.T) {
			check := func(what string, got float32, terms func(i int) float64, n int) {
				t.Helper()
				var sum, size float64
				for i := range n {
					v := terms(i)
					sum += v
					size += math.Abs(v)
				}
				switch {
				case math.IsNaN(sum):
					if got == got {
						t.Fatalf("%s = %v, want NaN", what, got)
					}
				case math.IsInf(sum, 0):
					if float64(got) != sum {
						t.Fatalf("%s = %v, want %v", what, got, sum)
					}
				case !(math.Abs(float64(got)-sum) <= 270*eps*size+1e-30):
					t.Fatalf("%s = %v, want %v; terms add up to %v", what, got, sum, size)
				}
			}
			check("Sum", Sum(x), func(i int) float64 { return float64(x[i]) }, n)
			check("Dot", Dot(x, y), func(i int) float64 { return float64(x[i]) * float64(y[i]) }, n)
			check("SumSquares", SumSquares(x, 0), func(i int) float64 { return float64(x[i]) * float64(x[i]) }, n)
			sum := make([]float32, cols)
			ColSum(sum, x[:rows*cols])
			for c := range cols {
				check("ColSum", sum[c], func(i int) float64 { return float64(x[i*cols+c]) }, rows)
			}
		})
	})
}
