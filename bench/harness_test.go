package bench

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// threadCounts are the numbers of threads that benchmarks run with: the work of
// one, and what a second adds.
var threadCounts = []int{1, 2}

// run runs a benchmark under a name as package cases gives it. Every part of the
// name is a level that -bench can select.
func run(b *testing.B, name string, f func(b *testing.B)) {
	_, rest, _ := cut(name)
	b.Run(rest, f)
}

// cut splits "Conv/case=a/b" into "Conv" and "case=a/b".
func cut(name string) (bench, rest string, ok bool) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

func newCPU(b *testing.B, threads int) *tensor.CPU {
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Close() })
	return dev
}

// values returns n normal deviates, repeated where there are many.
func values(n int) []float32 {
	x := make([]float32, n)
	copy(x, gradcheck.Normal(min(n, 1<<16), 1))
	for i := 1 << 16; i < n; i *= 2 {
		copy(x[i:], x[:i])
	}
	return x
}

// deviceValues are values in the device's memory.
func deviceValues(b *testing.B, dev *tensor.CPU, n int) []float32 {
	buf, err := dev.Alloc(n)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dev.Free(buf) })
	x := buf.Host()[:n]
	copy(x, values(n))
	return x
}

// bind gives planned buffers and parameters their memory.
func bind(b *testing.B, dev tensor.Device, arena *tensor.Arena, params *nn.Parameters) {
	if err := arena.Bind(dev); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(arena.Release)
	if err := params.Bind(dev); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(params.Release)
}

// meeting is a job of as many items as there are workers, who wait for each other.
type meeting struct {
	workers int32
	met     atomic.Int32
}

func (m *meeting) Do(lo, hi, _ int) {
	m.met.Add(int32(hi - lo))
	for m.met.Load() < m.workers {
	}
}

// meetNs returns how many nanoseconds the workers of a team take from a dispatch until all have met, and back. It
// tells whether cores share a cache: where they do not, it takes several times as long, and so
// does reading what another worker wrote.
func meetNs(b *testing.B, threads int) float64 {
	const calls = 100
	team, m := newCPU(b, threads).Team(), meeting{workers: int32(threads)}
	var times []float64
	for range 50 {
		start := time.Now()
		for range calls {
			m.met.Store(0)
			team.For(threads, 1, &m)
		}
		times = append(times, float64(time.Since(start).Nanoseconds())/calls)
	}
	slices.Sort(times)
	return times[len(times)/2]
}
