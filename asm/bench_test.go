package asm

import (
	"fmt"
	"testing"
	"unsafe"
)

// benchSizes are, per slice, within L1, within L2, and beyond the last cache.
var benchSizes = []int{4096, 65536, 1 << 24}

// lined returns n values, small and positive, aligned to a cache line.
func lined(n int) []float32 {
	x := make([]float32, n+16)
	for i := range x {
		if uintptr(unsafe.Pointer(&x[i]))%64 == 0 {
			x = x[i : i+n : i+n]
			break
		}
	}
	for i := range x {
		x[i] = 0.1 + float32(i%5000)/1000
	}
	return x
}

// benchLevels runs f at each level under the name impl=L/suffix. elems is the
// number of elements of one call, bytes what it reads and writes for each.
func benchLevels(b *testing.B, suffix string, elems, bytes int, f func()) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("impl=%v/%s", l, suffix), func(b *testing.B) {
			b.SetBytes(int64(elems * bytes))
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(elems)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gelem/s")
		})
	}
}

// benchProducts runs f, which takes so many operations, at each level under the name impl=L/suffix.
func benchProducts(b *testing.B, suffix string, operations float64, f func()) {
	before := Active()
	defer func() { _ = SetLevel(before) }()
	for _, l := range Available() {
		if err := SetLevel(l); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("impl=%v/%s", l, suffix), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GFLOP/s")
		})
	}
}

// bench runs f on the first n values of slices for each size.
func bench(b *testing.B, slices, bytes int, f func(a [][]float32)) {
	for _, n := range benchSizes {
		a := make([][]float32, slices)
		for i := range a {
			a[i] = lined(n)
		}
		benchLevels(b, fmt.Sprintf("n=%d", n), n, bytes, func() { f(a) })
	}
}

func BenchmarkSin(b *testing.B) { bench(b, 2, 8, func(a [][]float32) { Sin(a[0], a[1]) }) }
func BenchmarkCos(b *testing.B) { bench(b, 2, 8, func(a [][]float32) { Cos(a[0], a[1]) }) }
func BenchmarkSinAffine(b *testing.B) {
	bench(b, 2, 8, func(a [][]float32) { SinAffine(a[0], a[1], 10, 0.1) })
}

func BenchmarkSinCosAffine(b *testing.B) {
	bench(b, 3, 12, func(a [][]float32) { SinCosAffine(a[0], a[1], a[2], 10, 0.1) })
}

func BenchmarkSinCos(b *testing.B) {
	bench(b, 3, 12, func(a [][]float32) { SinCos(a[0], a[1], a[2]) })
}
func BenchmarkExp(b *testing.B) { bench(b, 2, 8, func(a [][]float32) { Exp(a[0], a[1]) }) }
func BenchmarkLog(b *testing.B) { bench(b, 2, 8, func(a [][]float32) { Log(a[0], a[1]) }) }
func BenchmarkAdd(b *testing.B) { bench(b, 3, 12, func(a [][]float32) { Add(a[0], a[1], a[2]) }) }
func BenchmarkSumDiff(b *testing.B) {
	bench(b, 4, 16, func(a [][]float32) { SumDiff(a[0], a[1], a[2], a[3]) })
}
func BenchmarkAxpy(b *testing.B) { bench(b, 2, 12, func(a [][]float32) { Axpy(a[0], 1e-9, a[1]) }) }
func BenchmarkRelu(b *testing.B) { bench(b, 2, 8, func(a [][]float32) { Relu(a[0], a[1]) }) }
func BenchmarkSum(b *testing.B)  { bench(b, 1, 4, func(a [][]float32) { Sum(a[0]) }) }
func BenchmarkDot(b *testing.B)  { bench(b, 2, 8, func(a [][]float32) { Dot(a[0], a[1]) }) }
func BenchmarkMax4(b *testing.B) {
	bench(b, 5, 20, func(a [][]float32) { Max4(a[0], a[1], a[2], a[3], a[4]) })
}

func BenchmarkAdam(b *testing.B) {
	bench(b, 4, 28, func(a [][]float32) { Adam(a[0], a[1], a[2], a[3], adamStep) })
}

// benchColumns runs f on x, y [rows, cols] and four vectors [cols].
func benchColumns(b *testing.B, bytes int, f func(x, y []float32, v [4][]float32)) {
	for _, s := range [][2]int{{64, 64}, {8 * 28 * 28, 64}, {8 * 28 * 28, 10}} {
		rows, cols := s[0], s[1]
		x, y := lined(rows*cols), lined(rows*cols)
		var v [4][]float32
		for i := range v {
			v[i] = lined(cols)
		}
		benchLevels(b, fmt.Sprintf("rows=%d/cols=%d", rows, cols), rows*cols, bytes, func() { f(x, y, v) })
	}
}

func BenchmarkColSum(b *testing.B) {
	benchColumns(b, 4, func(x, _ []float32, v [4][]float32) { ColSum(v[0], x) })
}

func BenchmarkColAffine(b *testing.B) {
	benchColumns(b, 8, func(x, y []float32, v [4][]float32) { ColAffine(y, x, v[0], v[1]) })
}

func BenchmarkColMax(b *testing.B) {
	benchColumns(b, 4, func(x, _ []float32, v [4][]float32) { ColMax(v[0], v[1], x) })
}
