package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// elementwise describes a function of equally long slices that treats each
// index alike.
type elementwise struct {
	name string
	args int  // number of slices
	outs int  // the first of them are written
	read bool // and read as well
	run  func(a [][]float32)
	// alias lists pairs (written, read) of slices that may be the same.
	alias [][2]int
	// bound returns how far the portable code may be from the value of output
	// out in exact arithmetic, with the arguments before the call; nil where all
	// levels agree on every bit. The levels that fuse are closer.
	bound func(a []float64, out int) float64
	// values draws an argument; nil for values in (-4, 4).
	values func(rng *rand.Rand, arg int) float32
}

var adamStep = AdamStep{Step: 1e-3, Beta1: 0.9, Beta2: 0.999, Correction2: 1.3, Eps: 1e-8, Decay: 0.9999}

const eps = 0x1p-24 // half a unit in the last place of 1

var elementwises = []elementwise{
	{name: "Add", args: 3, outs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		run: func(a [][]float32) { Add(a[0], a[1], a[2]) }},
	{name: "Sub", args: 3, outs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		run: func(a [][]float32) { Sub(a[0], a[1], a[2]) }},
	{name: "SumDiff", args: 4, outs: 2, alias: [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}},
		run: func(a [][]float32) { SumDiff(a[0], a[1], a[2], a[3]) }},
	{name: "Mul", args: 3, outs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		run: func(a [][]float32) { Mul(a[0], a[1], a[2]) }},
	{name: "MulAdd", args: 3, outs: 1, read: true, alias: [][2]int{{0, 1}, {0, 2}},
		run:   func(a [][]float32) { MulAdd(a[0], a[1], a[2]) },
		bound: func(a []float64, _ int) float64 { return 2 * eps * (math.Abs(a[1]*a[2]) + math.Abs(a[0])) }},
	{name: "Axpy", args: 2, outs: 1, read: true, alias: [][2]int{{0, 1}},
		run:   func(a [][]float32) { Axpy(a[0], 0.3, a[1]) },
		bound: func(a []float64, _ int) float64 { return 2 * eps * (0.3*math.Abs(a[1]) + math.Abs(a[0])) }},
	{name: "Affine", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run:   func(a [][]float32) { Affine(a[0], a[1], -1.7, 0.6) },
		bound: func(a []float64, _ int) float64 { return 2 * eps * (1.7*math.Abs(a[1]) + 0.6) }},
	{name: "Combine", args: 3, outs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		run: func(a [][]float32) { Combine(a[0], a[1], a[2], 1.3, -0.7, 0.4) },
		bound: func(a []float64, _ int) float64 {
			return 3 * eps * (1.3*math.Abs(a[1]) + 0.7*math.Abs(a[2]) + 0.4)
		}},
	{name: "Relu", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run: func(a [][]float32) { Relu(a[0], a[1]) }},
	{name: "ReluGrad", args: 3, outs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		run: func(a [][]float32) { ReluGrad(a[0], a[1], a[2]) }},
	{name: "Fill", args: 1, outs: 1, run: func(a [][]float32) { Fill(a[0], 2.5) }},
	{name: "Sin", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run:   func(a [][]float32) { Sin(a[0], a[1]) },
		bound: func(a []float64, _ int) float64 { return 3 * ulpOf(math.Sin(a[1])) }},
	{name: "Cos", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run:   func(a [][]float32) { Cos(a[0], a[1]) },
		bound: func(a []float64, _ int) float64 { return 3 * ulpOf(math.Cos(a[1])) }},
	{name: "SinCos", args: 3, outs: 2, alias: [][2]int{{0, 2}, {1, 2}},
		run: func(a [][]float32) { SinCos(a[0], a[1], a[2]) },
		bound: func(a []float64, out int) float64 {
			return 3 * ulpOf([]float64{math.Sin(a[2]), math.Cos(a[2])}[out])
		}},
	{name: "SinAffine", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run: func(a [][]float32) { SinAffine(a[0], a[1], 1.5, -0.4) },
		bound: func(a []float64, _ int) float64 {
			t := float64(float32(1.5))*a[1] + float64(float32(-0.4))
			return 3*ulpOf(math.Sin(t)) + 2*eps*(1.5*math.Abs(a[1])+0.4)
		}},
	{name: "SinCosAffine", args: 3, outs: 2, alias: [][2]int{{0, 2}, {1, 2}},
		run: func(a [][]float32) { SinCosAffine(a[0], a[1], a[2], 1.5, -0.4) },
		bound: func(a []float64, out int) float64 {
			t := float64(float32(1.5))*a[2] + float64(float32(-0.4))
			return 5*ulpOf([]float64{math.Sin(t), 1.5 * math.Cos(t)}[out]) + 4*eps*(1.5*math.Abs(a[2])+0.4)
		}},
	{name: "Exp", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run:   func(a [][]float32) { Exp(a[0], a[1]) },
		bound: func(a []float64, _ int) float64 { return 2 * ulpOf(math.Exp(a[1])) }},
	{name: "Log", args: 2, outs: 1, alias: [][2]int{{0, 1}},
		run:    func(a [][]float32) { Log(a[0], a[1]) },
		bound:  func(a []float64, _ int) float64 { return 2 * ulpOf(math.Log(a[1])) },
		values: func(rng *rand.Rand, _ int) float32 { return 4 * rng.Float32() }},
	{name: "Max4", args: 5, outs: 1, alias: [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}},
		run:    func(a [][]float32) { Max4(a[0], a[1], a[2], a[3], a[4]) },
		values: func(rng *rand.Rand, _ int) float32 { return float32(rng.IntN(5) - 2) }}, // ties
	{name: "Max4Grad", args: 10, outs: 4, alias: [][2]int{{0, 4}, {1, 5}, {0, 6}, {1, 7}, {2, 8}, {3, 9}, {0, 9}, {3, 6}},
		run: func(a [][]float32) {
			Max4Grad(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9])
		},
		values: func(rng *rand.Rand, arg int) float32 {
			if arg == 5 { // the maximum: often one of the four
				return 1 + float32(rng.IntN(2))
			}
			return float32(rng.IntN(5) - 2)
		}},
	{name: "Adam", args: 4, outs: 3, read: true,
		run: func(a [][]float32) { Adam(a[0], a[1], a[2], a[3], adamStep) },
		bound: func(a []float64, out int) float64 {
			s := adamStep
			p, m, v, g := a[0], a[1], a[2], a[3]
			switch out {
			case 0: // the moments cancel at worst to nothing, so bound the step by its terms
				terms := 0.9*math.Abs(m) + 0.1*math.Abs(g)
				root := math.Sqrt((0.999*v+0.001*g*g)*float64(s.Correction2)) + float64(s.Eps)
				return 4*eps*math.Abs(p) + 12*eps*float64(s.Step)*terms/root
			case 1:
				return 4 * eps * (math.Abs(m) + math.Abs(g))
			}
			return 4 * eps * (math.Abs(v) + g*g)
		},
		values: func(rng *rand.Rand, arg int) float32 {
			if arg == 2 { // v >= 0
				return rng.Float32()
			}
			return 2*rng.Float32() - 1
		}},
}

// ulpOf returns the distance of neighbouring float32 values around x.
func ulpOf(x float64) float64 {
	if x == 0 {
		return 0x1p-149
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-24, -149))
}

// draw returns the arguments of op, n values each.
func (op *elementwise) draw(rng *rand.Rand, n int) [][]float32 {
	a := make([][]float32, op.args)
	for i := range a {
		a[i] = make([]float32, n)
		for j := range a[i] {
			if op.values != nil {
				a[i][j] = op.values(rng, i)
			} else {
				a[i][j] = 8*rng.Float32() - 4
			}
		}
	}
	return a
}

func clone(a [][]float32) [][]float32 {
	b := make([][]float32, len(a))
	for i := range a {
		b[i] = slices.Clone(a[i])
	}
	return b
}

func window(a [][]float32, lo, hi int) [][]float32 {
	b := make([][]float32, len(a))
	for i := range a {
		b[i] = a[i][lo:hi]
	}
	return b
}

// alike reports equal bits, or NaN on both sides: a NaN's payload is not
// promised.
func alike(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func diff(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !alike(got[i], want[i]) {
			t.Fatalf("%s: [%d of %d] = %v (%#08x), want %v (%#08x)", what, i, len(want),
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// edges are lengths around every vector and block: 0..200 take each remainder
// of each loop, the rest crosses blocks of 256 and the chunk of an API call.
func edges(t *testing.T) []int {
	var n []int
	for i := 0; i <= 200; i++ {
		n = append(n, i)
	}
	n = append(n, 255, 256, 257, 511, 513, 1000)
	if !raceEnabled && runtime.GOARCH == "amd64" && !testing.Short() {
		n = append(n, chunk-1, chunk, chunk+1, 2*chunk+17)
	}
	return n
}

// oneByOne runs op on each index alone: what any way of cutting must give.
func (op *elementwise) oneByOne(a [][]float32) [][]float32 {
	b := clone(a)
	for i := range b[0] {
		op.run(window(b, i, i+1))
	}
	return b
}

// TestElementwise runs every function at every level on all the lengths and some
// offsets, in slices with poisoned words before and behind. The result must be
// that of one value at a time, bit by bit; nothing else may change; and it must
// be close to, or the same as, the portable code's.
func TestElementwise(t *testing.T) {
	lengths := edges(t)
	most := slices.Max(lengths)
	for _, op := range elementwises {
		t.Run(op.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 9))
			args := op.draw(rng, most)
			exact := clone(args)
			before := Active()
			if err := SetLevel(Generic); err != nil {
				t.Fatal(err)
			}
			op.run(exact)
			if err := SetLevel(before); err != nil {
				t.Fatal(err)
			}
			eachLevel(t, func(t *testing.T) {
				want := op.oneByOne(args)
				op.compare(t, args, want, exact)
				const room = 37
				bufs := make([][]float32, op.args)
				for i := range bufs {
					bufs[i] = make([]float32, most+2*room)
				}
				for _, n := range lengths {
					for _, off := range []int{0, 1, 5} {
						if n > 200 && off == 5 {
							continue
						}
						a := make([][]float32, op.args)
						for i := range bufs {
							// Each slice has another alignment.
							lo := room - i*off%room
							for j := range bufs[i] {
								if j > n+2*room {
									break
								}
								bufs[i][j] = poison
							}
							a[i] = bufs[i][lo : lo+n : lo+n]
							copy(a[i], args[i])
						}
						op.run(a)
						for i := range a {
							what := fmt.Sprintf("n=%d off=%d slice %d", n, off, i)
							if i < op.outs {
								diff(t, what, a[i], want[i][:n])
							} else {
								diff(t, what+", a source,", a[i], args[i][:n])
							}
							lo := room - i*off%room
							for j := range min(n+2*room, len(bufs[i])) {
								if (j < lo || j >= lo+n) && math.Float32bits(bufs[i][j]) != math.Float32bits(poison) {
									t.Fatalf("%s: wrote %v at %d, outside of the slice", what, bufs[i][j], j-lo)
								}
							}
						}
					}
				}
			})
		})
	}
}

// compare checks got, the slices after the call, against the portable result.
func (op *elementwise) compare(t *testing.T, args, got, exact [][]float32) {
	t.Helper()
	a := make([]float64, op.args)
	for out := range op.outs {
		for i := range got[out] {
			g, w := got[out][i], exact[out][i]
			if op.bound == nil {
				if !alike(g, w) {
					t.Fatalf("output %d [%d] = %v, want %v", out, i, g, w)
				}
				continue
			}
			for j := range a {
				a[j] = float64(args[j][i])
			}
			if d := math.Abs(float64(g) - float64(w)); !(d <= 2*op.bound(a, out)) {
				t.Fatalf("output %d [%d] = %v, portable %v, apart %g, allowed %g; arguments %v", out, i, g, w, d, 2*op.bound(a, out), a)
			}
		}
	}
}

// TestElementwiseAlias runs every function with a result in the place of a
// source.
func TestElementwiseAlias(t *testing.T) {
	for _, op := range elementwises {
		if len(op.alias) == 0 {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 1))
				for _, pair := range op.alias {
					for _, n := range []int{1, 7, 15, 16, 64, 65, 131, 300} {
						a := op.draw(rng, n)
						if op.read {
							copy(a[pair[0]], a[pair[1]])
						}
						apart := clone(a)
						op.run(apart)
						a[pair[0]] = a[pair[1]]
						op.run(a)
						for out := range op.outs {
							diff(t, fmt.Sprintf("slice %d is slice %d, n=%d, output %d", pair[0], pair[1], n, out), a[out], apart[out])
						}
					}
				}
			})
		})
	}
}

// specials are values at which arithmetic turns: signed zeros, denormals, the
// ends of the range, infinities and NaN.
var specials = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -3,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-127, 0x1p-126, -0x1p-126,
	math.MaxFloat32, -math.MaxFloat32,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
}

// TestElementwiseSpecials compares every level with the portable code, bit by
// bit, where both round the same exact values: the functions without products,
// on all pairs (and for four arguments, many tuples) of special values.
func TestElementwiseSpecials(t *testing.T) {
	for _, op := range elementwises {
		if op.bound != nil {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			const n = 5000
			args := make([][]float32, op.args)
			for i := range args {
				args[i] = make([]float32, n)
				for j := range args[i] {
					args[i][j] = specials[rng.IntN(len(specials))]
				}
			}
			var want [][]float32
			eachLevel(t, func(t *testing.T) {
				got := clone(args)
				op.run(got)
				if want == nil {
					want = got // the first level is Generic
				}
				for out := range op.outs {
					diff(t, fmt.Sprintf("output %d", out), got[out], want[out])
				}
			})
		})
	}
}

// TestFusedSpecials holds the functions with a product and a sum against
// float64 on special values, where infinities, NaN and zeros must come out
// alike and finite results within the roundings.
func TestFusedSpecials(t *testing.T) {
	type values = []float32
	var x, y, z values
	for _, a := range specials {
		for _, b := range specials {
			for _, c := range specials {
				x, y, z = append(x, a), append(y, b), append(z, c)
			}
		}
	}
	check := func(t *testing.T, got float32, terms ...float64) {
		t.Helper()
		var sum, size float64
		for _, v := range terms {
			if math.Abs(v) > math.MaxFloat32 && !math.IsInf(v, 0) {
				return // the product alone is infinite where it is rounded
			}
			sum += v
			size += math.Abs(v)
		}
		want := float32(sum)
		switch {
		case size > math.MaxFloat32 && !math.IsInf(size, 0):
			return // so may be a partial sum
		case math.IsNaN(sum):
			if got == got {
				t.Fatalf("%v = %v, want NaN", terms, got)
			}
		case math.IsInf(sum, 0):
			if got != want {
				t.Fatalf("%v = %v, want %v", terms, got, want)
			}
		case !(math.Abs(float64(got)-sum) <= 4*eps*size+0x1p-148):
			t.Fatalf("%v = %v, want %v", terms, got, want)
		}
	}
	eachLevel(t, func(t *testing.T) {
		d := slices.Clone(z)
		MulAdd(d, x, y)
		for i := range d {
			check(t, d[i], float64(x[i])*float64(y[i]), float64(z[i]))
		}
		for _, a := range specials {
			copy(d, z)
			Axpy(d, a, x)
			for i := range d {
				check(t, d[i], float64(a)*float64(x[i]), float64(z[i]))
			}
			for _, b := range specials {
				Affine(d[:len(specials)], specials, a, b)
				for i, v := range specials {
					check(t, d[i], float64(a)*float64(v), float64(b))
				}
			}
			Combine(d, x, y, a, 2, 1)
			for i := range d {
				check(t, d[i], float64(a)*float64(x[i]), 2*float64(y[i]), 1)
			}
		}
	})
}

// TestElementwiseCut cuts a long slice, with arguments of every kind, at random
// places: the bits must not change.
func TestElementwiseCut(t *testing.T) {
	n := chunk + 777
	if raceEnabled || runtime.GOARCH != "amd64" {
		n = 2777
	}
	for _, op := range elementwises {
		t.Run(op.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(3, 5))
				args := op.draw(rng, n)
				for _, a := range args {
					for range n / 50 {
						v := specials[rng.IntN(len(specials))]
						if rng.IntN(2) == 0 { // beyond the reach of the trigonometric kernels
							v = (rng.Float32() - 0.5) * 1e7
						}
						a[rng.IntN(n)] = v
					}
				}
				whole := clone(args)
				op.run(whole)
				for range 3 {
					cut := clone(args)
					for lo := 0; lo < n; {
						hi := min(n, lo+1+rng.IntN(1+rng.IntN(400)))
						op.run(window(cut, lo, hi))
						lo = hi
					}
					for out := range op.outs {
						diff(t, fmt.Sprintf("output %d", out), cut[out], whole[out])
					}
				}
			})
		})
	}
}

// TestLevelsOfAMD64 holds AVX2 and AVX-512 to the same bits in every
// elementwise function.
func TestLevelsOfAMD64(t *testing.T) {
	if !slices.Contains(Available(), AVX512) {
		t.Skipf("only %v here", Available())
	}
	before := Active()
	defer func() {
		if err := SetLevel(before); err != nil {
			t.Fatal(err)
		}
	}()
	for _, op := range elementwises {
		t.Run(op.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 12))
			args := op.draw(rng, 1<<16)
			for _, a := range args[op.outs:] {
				for j := range a {
					if rng.IntN(4) == 0 && op.name != "Adam" {
						a[j] = math.Float32frombits(rng.Uint32())
					}
				}
			}
			var got [2][][]float32
			for i, l := range []Level{AVX2, AVX512} {
				if err := SetLevel(l); err != nil {
					t.Fatal(err)
				}
				got[i] = clone(args)
				op.run(got[i])
			}
			for out := range op.outs {
				diff(t, fmt.Sprintf("output %d: avx2 against avx512", out), got[0][out], got[1][out])
			}
		})
	}
}

// TestKernelsAreUsed finds a difference between each level above Generic and
// the portable code, in functions that round differently: a dispatch that fell
// back to the portable code would pass every other test.
func TestKernelsAreUsed(t *testing.T) {
	const n = 4096
	rng := rand.New(rand.NewPCG(2, 2))
	for _, op := range elementwises {
		if op.bound == nil {
			continue
		}
		args := op.draw(rng, n)
		var portable [][]float32
		eachLevel(t, func(t *testing.T) {
			got := clone(args)
			op.run(got)
			if Active() == Generic {
				portable = got
				return
			}
			if slices.Equal(got[0], portable[0]) {
				t.Errorf("%s computes the same as the portable code", op.name)
			}
		})
	}
}

func TestElementwiseAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		for _, op := range elementwises {
			a := op.draw(rng, 100)
			a[op.args-1][50] = 1e6 // the precise path of the trigonometric functions
			if n := testing.AllocsPerRun(10, func() { op.run(a) }); n != 0 {
				t.Errorf("%s allocates %v times", op.name, n)
			}
		}
	})
}

// TestElementwisePreemption runs garbage collections beside a goroutine that
// computes sines of a long slice, cf. TestGemmPreemption.
func TestElementwisePreemption(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("needs GOMAXPROCS >= 2")
	}
	const bound = 0.05 // seconds
	eachLevel(t, func(t *testing.T) {
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			x := make([]float32, 1<<20)
			for {
				select {
				case <-stop:
					return
				default:
					Sin(x, x)
				}
			}
		}()
		defer func() {
			close(stop)
			<-done
		}()
		var worst float64
		for range 3 { // a busy machine may hold up one round
			before := stopping()
			for range 5 {
				runtime.GC()
			}
			if worst = longest(before, stopping()); worst <= bound {
				return
			}
		}
		t.Fatalf("stopping the world took %g s, want at most %g", worst, bound)
	})
}
