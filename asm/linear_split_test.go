package asm

import (
	"math/rand/v2"
	"testing"
)

// TestLinearSplit wants the bits of GemmSplit with the bias added, with and without
// streaming, around all edges of the blocks, and nothing else touched.
func TestLinearSplit(t *testing.T) {
	sizes := []int{1, 31, 32, 33, 64, 97, 160}
	if raceEnabled || testing.Short() {
		sizes = []int{1, 32, 97}
	}
	eachLevel(t, func(t *testing.T) {
		sizes := sizes
		if !FastSplit() {
			sizes = []int{1, 40}
		}
		rng := rand.New(rand.NewPCG(6, 1))
		normal := func() float32 { return float32(rng.NormFloat64()) }
		for _, m := range sizes {
			for _, n := range sizes {
				for _, k := range []int{1, 32, 33, 70} {
					for variant := range 4 { // leading dimension and alignment of C, streaming
						gap, shift, stream := 3, 1, variant&1 != 0
						if variant&2 != 0 {
							gap, shift = (n+15)&^15-n, 0
						}
						testLinearSplit(t, m, n, k, n+gap, shift, stream, normal)
						if t.Failed() {
							t.Fatalf("m=%d n=%d k=%d variant %d", m, n, k, variant)
						}
					}
				}
			}
		}
	})
}

// TestLinearSplitFar does the same where the results have more than fewResults values.
func TestLinearSplitFar(t *testing.T) {
	const m, n, k, ldc = 97, 96, 32, fewResults/96&^15 + 16
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(6, 2))
		testLinearSplit(t, m, n, k, ldc, 0, true, func() float32 { return float32(rng.NormFloat64()) })
	})
}

// testLinearSplit computes one product, shift values from the beginning of a cache line.
func testLinearSplit(t *testing.T, m, n, k, ldc, shift int, stream bool, normal func() float32) {
	t.Helper()
	s := newSplitCase(m, n, k, normal)
	bias := make([]float32, m)
	for i := range bias {
		bias[i] = normal()
	}
	memory := onLine(make([]float32, shift+m*ldc+64))
	for i := range memory {
		memory[i] = poison
	}
	want := append([]float32(nil), memory...)
	GemmSplit(m, n, k, s.a, s.b, want[shift:], ldc, false)
	for i := range m {
		row := want[shift+i*ldc:][:n]
		Affine(row, row, 1, bias[i])
	}
	LinearSplit(m, n, k, s.a, s.b, bias, memory[shift:], ldc, stream)
	Fence()
	sameBits(t, "C and its gaps", memory, want)
}

// BenchmarkLinearSplit computes blocks of a result much larger than the caches.
func BenchmarkLinearSplit(b *testing.B) {
	const m, n, k, ldc = 1024, 256, 32, 25088
	s := newSplitCase(m, n, k, func() float32 { return 1 })
	bias, c := make([]float32, m), onLine(make([]float32, m*ldc+16))
	for i := range c {
		c[i] = 1
	}
	at := 0
	for b.Loop() {
		LinearSplit(m, n, k, s.a, s.b, bias, c[at:], ldc, true)
		at = (at + n) % ldc
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/column")
}

func TestLinearSplitErrors(t *testing.T) {
	x := make([]float32, 4*splitBlock)
	for name, call := range map[string]func(){
		"m":    func() { LinearSplit(-1, 2, 2, x, x, x, x, 2, false) },
		"k":    func() { LinearSplit(2, 2, 0, x, x, x, x, 2, false) },
		"a":    func() { LinearSplit(33, 2, 2, x[:splitBlock], x, x, x, 2, false) },
		"b":    func() { LinearSplit(2, 33, 2, x, x[:splitBlock], x, x, 33, false) },
		"bias": func() { LinearSplit(2, 2, 2, x, x, x[:1], x, 2, false) },
		"c":    func() { LinearSplit(2, 2, 2, x, x, x, x[:3], 2, false) },
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
