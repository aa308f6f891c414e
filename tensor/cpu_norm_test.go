package tensor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// TestStreamedGradients: a gradient that is so large that it is written past the
// caches has the bits that it has channel by channel.
func TestStreamedGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("needs large maps")
	}
	const rows, planes, h, w, b = 22, 12, 15, 16, 70
	const cols, narrow = planes * h * w * b, planes * (h / 2) * (w / 2) * b
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) tensor.Buffer {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32() - 0.4
		}
		return tensor.HostBuffer(x)
	}
	x, dy := draw(rows*cols), draw(rows*cols)
	weight, bias, mean, invStd := draw(rows), draw(rows), draw(rows*b), draw(rows*b)
	for i, v := range invStd.Host() {
		invStd.Host()[i] = 1 + v
	}
	dev := newCPU(t, 2)
	for name, run := range map[string]func(dx, dAddend tensor.Buffer, lo, hi int){
		"BatchNorm": func(dx, dAddend tensor.Buffer, lo, hi int) {
			dev.BatchNormGrad(&tensor.BatchNormArgs{Rows: hi - lo, Cols: cols, ReLU: true,
				X: x.Slice(lo*cols, hi*cols), DY: dy.Slice(lo*cols, hi*cols),
				DX: dx.Slice(lo*cols, hi*cols), DAddend: dAddend.Slice(lo*cols, hi*cols), AddDAddend: true,
				Weight: weight.Slice(lo, hi), Bias: bias.Slice(lo, hi), Mean: mean.Slice(lo, hi), InvStd: invStd.Slice(lo, hi),
				DWeight: draw(hi - lo), DBias: draw(hi - lo)})
		},
		"BatchNorm, pooled": func(dx, dAddend tensor.Buffer, lo, hi int) {
			dev.BatchNormGrad(&tensor.BatchNormArgs{Rows: hi - lo, Cols: cols, ReLU: true, Pool: true, H: h, W: w, B: b,
				X: x.Slice(lo*cols, hi*cols), DY: dy.Slice(lo*narrow, hi*narrow),
				DX: dx.Slice(lo*cols, hi*cols), DAddend: dAddend.Slice(lo*cols, hi*cols),
				Weight: weight.Slice(lo, hi), Bias: bias.Slice(lo, hi), Mean: mean.Slice(lo, hi), InvStd: invStd.Slice(lo, hi),
				DWeight: draw(hi - lo), DBias: draw(hi - lo)})
		},
		"Standardize": func(dx, _ tensor.Buffer, lo, hi int) {
			dev.StandardizeGrad(&tensor.StandardizeArgs{C: hi - lo, S: planes * h * w, B: b, ReLU: true,
				X: x.Slice(lo*cols, hi*cols), DY: dy.Slice(lo*cols, hi*cols), DX: dx.Slice(lo*cols, hi*cols),
				Mean: mean.Slice(lo*b, hi*b), InvStd: invStd.Slice(lo*b, hi*b)})
		},
	} {
		var got, want [2]tensor.Buffer
		for i := range got {
			got[i], want[i] = tensor.HostBuffer(make([]float32, rows*cols)), tensor.HostBuffer(make([]float32, rows*cols))
		}
		run(got[0], got[1], 0, rows)
		for i := range rows {
			run(want[0], want[1], i, i+1)
		}
		for i := range got {
			for j, v := range want[i].Host() {
				if math.Float32bits(v) != math.Float32bits(got[i].Host()[j]) {
					t.Fatalf("%s, gradient %d, value %d: %v, by channels %v", name, i, j, got[i].Host()[j], v)
				}
			}
		}
	}
}

// TestStreamedLayerNorm: such a gradient has the bits that it has where it is added to
// zeros.
func TestStreamedLayerNorm(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a large map")
	}
	const c, size, b = 9, 7500, 64
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) tensor.Buffer {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32() + 0.1
		}
		return tensor.HostBuffer(x)
	}
	a := tensor.LayerNormArgs{C: c, S: size, B: b, ReLU: true, X: draw(c * size * b), DY: draw(c * size * b),
		Weight: draw(c), Bias: draw(c), Mean: draw(b), InvStd: draw(b), DWeight: draw(c), DBias: draw(c)}
	dev := newCPU(t, 2)
	var got [2]tensor.Buffer
	for i := range got {
		got[i] = tensor.HostBuffer(make([]float32, c*size*b))
		a.DX, a.AddDX = got[i], i == 1
		dev.LayerNormGrad(&a)
	}
	for i, v := range got[0].Host() {
		if v != got[1].Host()[i] {
			t.Fatalf("value %d: %v, added to zero %v", i, v, got[1].Host()[i])
		}
	}
}

// TestNormRefuses: sizes and buffers that cannot be used panic with *Error.
func TestNormRefuses(t *testing.T) {
	dev := newCPU(t, 1)
	v := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	args := func(set func(a *tensor.BatchNormArgs)) *tensor.BatchNormArgs {
		a := &tensor.BatchNormArgs{Rows: 2, Cols: 24, Train: true, Pool: true, H: 3, W: 4, B: 2,
			X: v(48), Y: v(8), Weight: v(2), Bias: v(2), Mean: v(2), InvStd: v(2), RunningMean: v(2), RunningVar: v(2),
			DX: v(48), DY: v(8), DWeight: v(2), DBias: v(2)}
		set(a)
		return a
	}
	dev.BatchNorm(args(func(*tensor.BatchNormArgs) {}))
	dev.BatchNormGrad(args(func(*tensor.BatchNormArgs) {}))
	for name, set := range map[string]func(a *tensor.BatchNormArgs){
		"planes":       func(a *tensor.BatchNormArgs) { a.B = 5 },
		"one row":      func(a *tensor.BatchNormArgs) { a.H, a.W = 1, 12 },
		"no batch":     func(a *tensor.BatchNormArgs) { a.B = 0 },
		"short X":      func(a *tensor.BatchNormArgs) { a.X = v(47) },
		"short addend": func(a *tensor.BatchNormArgs) { a.Addend, a.DAddend = v(47), v(47) },
		"no bias":      func(a *tensor.BatchNormArgs) { a.Bias = tensor.Buffer{} },
		"lists": func(a *tensor.BatchNormArgs) {
			a.Measure = tensor.Measure{Elements: 1, Lists: 5, Weights: v(5), Moments: v(20)}
		},
		"no lists": func(a *tensor.BatchNormArgs) {
			a.Measure = tensor.Measure{Elements: 1, Weights: v(1), Moments: v(4)}
		},
		"elements within a plane": func(a *tensor.BatchNormArgs) {
			a.Measure = tensor.Measure{Elements: 2, Lists: 1, Weights: v(2), Moments: v(8)}
		},
		"short moments": func(a *tensor.BatchNormArgs) {
			a.Measure = tensor.Measure{Elements: 1, Lists: 2, Weights: v(2), Moments: v(7)}
		},
	} {
		if _, ok := panicOf(func() { dev.BatchNorm(args(set)) }).(*tensor.Error); !ok {
			t.Errorf("BatchNorm, %s: no *tensor.Error", name)
		}
		if _, ok := panicOf(func() { dev.BatchNormGrad(args(set)) }).(*tensor.Error); !ok {
			t.Errorf("BatchNormGrad, %s: no *tensor.Error", name)
		}
	}
	noMoments := args(func(a *tensor.BatchNormArgs) {
		a.Measure = tensor.Measure{Elements: 1, Lists: 1, Weights: v(1), Grad: v(1)}
	})
	if _, ok := panicOf(func() { dev.BatchNormGrad(noMoments) }).(*tensor.Error); !ok {
		t.Error("a gradient of weights without moments: no *tensor.Error")
	}
	each := &tensor.StandardizeArgs{C: 1, S: 6, B: 2, X: v(12), Y: v(12), Mean: v(2), InvStd: v(2),
		Measure: tensor.Measure{Elements: 3, Lists: 3, Weights: v(9)}}
	if _, ok := panicOf(func() { dev.Standardize(each) }).(*tensor.Error); !ok {
		t.Error("other lists than samples: no *tensor.Error")
	}
	for _, n := range []int{-1, 4, 2} {
		a := &tensor.StandardizeArgs{C: 1, N: n, S: 6, B: 2, X: v(12), Y: v(12), Mean: v(2), InvStd: v(2),
			Measure: tensor.Measure{Elements: 3, Lists: 1, Weights: v(3)}}
		if _, ok := panicOf(func() { dev.Standardize(a) }).(*tensor.Error); !ok {
			t.Errorf("6 rows and 3 weights of %d elements: no *tensor.Error", n)
		}
	}
	torn := tensor.Measure{Elements: 2, Lists: 1, Weights: v(2), Moments: v(16), Grad: v(2)}
	columns := &tensor.StandardizeArgs{C: 2, S: 3, B: 2, X: v(12), Y: v(12), DX: v(12), DY: v(12), Mean: v(4), InvStd: v(4), Measure: torn}
	samples := &tensor.LayerNormArgs{C: 2, S: 3, B: 2, X: v(12), Y: v(12), DX: v(12), DY: v(12), Mean: v(2), InvStd: v(2),
		Weight: v(2), Bias: v(2), DWeight: v(2), DBias: v(2), Measure: torn}
	for name, f := range map[string]func(){
		"Standardize":     func() { dev.Standardize(columns) },
		"StandardizeGrad": func() { dev.StandardizeGrad(columns) },
		"LayerNorm":       func() { dev.LayerNorm(samples) },
		"LayerNormGrad":   func() { dev.LayerNormGrad(samples) },
	} {
		if _, ok := panicOf(f).(*tensor.Error); !ok {
			t.Errorf("%s, elements that share a row: no *tensor.Error", name)
		}
	}
	same := args(func(a *tensor.BatchNormArgs) { a.Y, a.Train = a.X, false })
	if _, ok := panicOf(func() { dev.BatchNorm(same) }).(*tensor.Error); !ok {
		t.Error("pooling in place: no *tensor.Error")
	}
}

// TestVarianceBehindStep: the pivot that a variance is taken about comes from the first
// values, and the others lie far from it.
func TestVarianceBehindStep(t *testing.T) {
	const b = 3
	stepped := func(n, at int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i%7)/8 - 0.4
			if i >= at {
				x[i] += 1000
			}
		}
		return x
	}
	deviation := func(x []float32, first, step int) float64 {
		var n, sum, squares float64
		for i := first; i < len(x); i += step {
			n++
			sum += float64(x[i])
		}
		for i := first; i < len(x); i += step {
			d := float64(x[i]) - sum/n
			squares += d * d
		}
		return 1 / math.Sqrt(squares/n)
	}
	dev := newCPU(t, 1)
	buffer := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	check := func(what string, got float32, want float64) {
		t.Helper()
		if e := math.Abs(float64(got)/want - 1); e > 3e-6 {
			t.Errorf("%s: 1/deviation %v, want %v: relative error %.2g", what, got, want, e)
		}
	}
	const rows = 1500
	x := stepped(rows*b, 64*b)
	s := tensor.StandardizeArgs{C: 1, S: rows, B: b, X: tensor.HostBuffer(x), Y: buffer(rows * b), Mean: buffer(b), InvStd: buffer(b)}
	dev.Standardize(&s)
	for j, got := range s.InvStd.Host() {
		check("Standardize", got, deviation(x, j, b))
	}
	ones, invStd := buffer(b), buffer(1)
	dev.Fill(ones, 1)
	for _, c := range []struct {
		what    string
		n       int
		measure tensor.Measure
	}{
		{"BatchNorm", 300000 * b, tensor.Measure{}},
		{"BatchNorm with weights for each sample", 300000 * b, tensor.Measure{Elements: 1, Lists: b, Weights: ones}},
	} {
		x := stepped(c.n, 8<<10)
		v := func() tensor.Buffer { return buffer(1) }
		dev.BatchNorm(&tensor.BatchNormArgs{Rows: 1, Cols: c.n, Train: true, B: b, X: tensor.HostBuffer(x), Y: buffer(c.n),
			Weight: v(), Bias: v(), Mean: v(), InvStd: invStd, RunningMean: v(), RunningVar: v(), Measure: c.measure})
		check(c.what, invStd.Host()[0], deviation(x, 0, 1))
	}
}

// TestColumnsApart: a column whose pivot is off has its sums taken once more, and all bits of
// the others stay, forward and backward.
func TestColumnsApart(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		for threads := 1; threads <= 3; threads++ {
			dev := newCPU(t, threads)
			for name, norm := range map[string]func(*tensor.CPU, []float32) [][]float32{"Standardize": standardized, "LayerNorm": layerNormed} {
				want := norm(dev, apartMap(-1))
				for _, column := range []int{0, 7, apartB - 1} {
					if n := otherBits(norm(dev, apartMap(column)), want, column); n != 0 {
						t.Errorf("%s, %d threads: column %d changes %d values of the others", name, threads, column, n)
					}
				}
			}
		}
	})
}

// Channels for whole rows and for shared ones, two segments each, and columns that are more
// than a strip.
const apartC, apartS, apartB = 4, 2048, 19

// apartMap returns a map whose means are nothing but rounding, so that another pivot shows;
// that of one column is off, -1 for none.
func apartMap(column int) []float32 {
	x := gradcheck.Normal(apartC*apartS*apartB, 1)
	for i := range x {
		row, j := i/apartB%apartS, i%apartB
		if mirror := apartS - 1 - row; mirror < row {
			x[i] = -x[i-(row-mirror)*apartB]
		}
		if j == column {
			x[i] = 0
			if row%1024 >= 64 {
				x[i] = 5
			}
		}
	}
	return x
}

// standardized returns y and dx of x.
func standardized(dev *tensor.CPU, x []float32) [][]float32 {
	v := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	a := &tensor.StandardizeArgs{C: apartC, S: apartS, B: apartB, Eps: 1e-5, X: tensor.HostBuffer(x),
		Y: v(len(x)), DX: v(len(x)), DY: tensor.HostBuffer(gradcheck.Normal(len(x), 2)),
		Mean: v(apartC * apartB), InvStd: v(apartC * apartB)}
	dev.Standardize(a)
	dev.StandardizeGrad(a)
	return [][]float32{a.Y.Host(), a.DX.Host()}
}

// layerNormed returns y and dx of x.
func layerNormed(dev *tensor.CPU, x []float32) [][]float32 {
	v := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	a := &tensor.LayerNormArgs{C: apartC, S: apartS, B: apartB, Eps: 1e-5, X: tensor.HostBuffer(x),
		Y: v(len(x)), DX: v(len(x)), DY: tensor.HostBuffer(gradcheck.Normal(len(x), 2)),
		Weight: tensor.HostBuffer(gradcheck.Normal(apartC, 3)), Bias: tensor.HostBuffer(gradcheck.Normal(apartC, 4)),
		DWeight: v(apartC), DBias: v(apartC), Mean: v(apartB), InvStd: v(apartB)}
	dev.LayerNorm(a)
	dev.LayerNormGrad(a)
	return [][]float32{a.Y.Host(), a.DX.Host()}
}

// otherBits counts the values with other bits outside a column.
func otherBits(got, want [][]float32, column int) int {
	n := 0
	for k := range got {
		for i, v := range got[k] {
			if i%apartB != column && math.Float32bits(v) != math.Float32bits(want[k][i]) {
				n++
			}
		}
	}
	return n
}
