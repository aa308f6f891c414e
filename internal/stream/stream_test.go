package stream_test

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
)

// The numbers below are part of what a seed means: should they change, no run
// can be reproduced or resumed.
func TestStoredValues(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		name string
		step uint64
		want [2]uint64
	}{
		{0, "", 0, [2]uint64{0x5df4c4db367ee1e7, 0x56bc8b61617a10f9}},
		{1, "blocks.0.gconv1", 0, [2]uint64{0x424fbc23a17e4a84, 0x4e8013615ae249b1}},
		{1, "blocks.0.gconv1", 1, [2]uint64{0xdb779ec32b05c46e, 0x69a3e9a315b4dd6c}},
		{2, "blocks.0.gconv1", 0, [2]uint64{0x0fc54f6e6925e1f9, 0xcb7eff7ca426d5de}},
		{1, "1vnocg.0.skcolb", 0, [2]uint64{0xc5daf9592e43b851, 0xad8f3b5e3fabed53}},
	} {
		s := stream.New(c.seed, c.name, c.step)
		if got := [2]uint64{s.Uint64(), s.Uint64()}; got != c.want {
			t.Errorf("(%d, %q, %d) begins %#x, want %#x", c.seed, c.name, c.step, got, c.want)
		}
	}
	s := stream.New(1, "x", 2)
	if f, n := s.Float64(), s.IntN(1000); f != 0x1.8457c06248a6p-02 || n != 619 {
		t.Errorf("Float64, IntN(1000) = %x, %d", f, n)
	}
	// The logarithm and the cosine may differ by a rounding between processors.
	if x := s.Normal(); !(math.Abs(x - -0x1.0887bcd16dda3p+01) <= 1e-15) {
		t.Errorf("Normal = %x", x)
	}
}

// A stream depends on its key alone: not on what was read before Seed, from it or
// from another.
func TestStreamsAreIndependentOfReadingOrder(t *testing.T) {
	take := func(s *stream.Stream, n int) (x []uint64) {
		for range n {
			x = append(x, s.Uint64())
		}
		return x
	}
	want := map[uint64][]uint64{}
	for step := range uint64(8) {
		want[step] = take(stream.New(3, "order", step), 1000)
	}
	used := stream.New(99, "other", 99)
	for read := range 40 { // ChaCha8 keeps a block of numbers ahead
		for step := uint64(8); step > 0; step-- {
			take(used, read)
			used.Seed(3, "order", step-1)
			if got := take(used, 1000); !slices.Equal(got, want[step-1]) {
				t.Fatalf("step %d after %d other reads begins %#x, want %#x", step-1, read, got[:2], want[step-1][:2])
			}
		}
	}
	// Two streams read in turns.
	a, b := stream.New(3, "order", 0), stream.New(3, "order", 1)
	for i := range 1000 {
		if x, y := a.Uint64(), b.Uint64(); x != want[0][i] || y != want[1][i] {
			t.Fatalf("number %d changed when streams were read in turns", i)
		}
	}
	// A value read as bytes leaves no rest behind.
	used.Read(make([]byte, 3))
	used.Seed(3, "order", 0)
	if got := used.Uint64(); got != want[0][0] {
		t.Errorf("after Read and Seed: %#x, want %#x", got, want[0][0])
	}
}

// Streams of neighbouring keys share nothing: half of the bits differ.
func TestNeighboursDiffer(t *testing.T) {
	const n = 10000
	base := func() *stream.Stream { return stream.New(5, "layer.1", 7) }
	for name, other := range map[string]*stream.Stream{
		"seed":     stream.New(6, "layer.1", 7),
		"name":     stream.New(5, "layer.2", 7),
		"reversed": stream.New(5, "1.reyal", 7),
		"longer":   stream.New(5, "layer.11", 7),
		"step":     stream.New(5, "layer.1", 8),
		"swapped":  stream.New(7, "layer.1", 5),
	} {
		s, differ := base(), 0
		for range n {
			differ += bits.OnesCount64(s.Uint64() ^ other.Uint64())
		}
		// 64n coin flips: standard deviation 4 sqrt(n).
		if !(math.Abs(float64(differ-32*n)) <= 5*4*math.Sqrt(n)) {
			t.Errorf("%s: %d of %d bits differ", name, differ, 64*n)
		}
	}
}

func TestFloat64(t *testing.T) {
	const n = 200000
	s := stream.New(1, "float", 0)
	var m [5]float64 // raw moments: 1/(k+1)
	for range n {
		x := s.Float64()
		if x < 0 || x >= 1 || x*(1<<53) != math.Trunc(x*(1<<53)) {
			t.Fatalf("%v is no multiple of 2^-53 in [0, 1)", x)
		}
		for k, p := 1, x; k < len(m); k, p = k+1, p*x {
			m[k] += p / n
		}
	}
	for k := 1; k < len(m); k++ {
		f := float64(k)
		sd := math.Sqrt((1/(2*f+1) - 1/((f+1)*(f+1))) / n)
		if !(math.Abs(m[k]-1/(f+1)) <= 5*sd) {
			t.Errorf("moment %d is %v, want %v within %v", k, m[k], 1/(f+1), 5*sd)
		}
	}
}

func TestIntN(t *testing.T) {
	s := stream.New(1, "int", 0)
	for _, n := range []int{1, 2, 3, 7, 10, 64, 100} {
		const draws = 50000
		count := make([]int, n)
		for range draws {
			v := s.IntN(n)
			if v < 0 || v >= n {
				t.Fatalf("IntN(%d) = %d", n, v)
			}
			count[v]++
		}
		checkUniform(t, count)
	}
	// 3 * 2^61 where an int has 64 bits: taken modulo without rejection, 2^64 would favour
	// the lowest third of the range by half.
	const n, draws = 3 << (bits.UintSize - 3), 30000
	low := 0
	for range draws {
		v := s.IntN(n)
		if v < 0 || v >= n {
			t.Fatalf("IntN(%d) = %d", n, v)
		}
		if v < n/3 {
			low++
		}
	}
	if !(math.Abs(float64(low)-draws/3) <= 5*math.Sqrt(draws*2.0/9)) {
		t.Errorf("%d of %d draws lie in the lowest third", low, draws)
	}
	if v := s.IntN(math.MaxInt); v < 0 || v >= math.MaxInt {
		t.Errorf("IntN(MaxInt) = %d", v)
	}
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d) did not panic", n)
				}
			}()
			s.IntN(n)
		}()
	}
}

// checkUniform compares counts with equal ones by Pearson's chi-square, whose
// mean is k-1 and variance 2(k-1).
func checkUniform(t *testing.T, count []int) {
	t.Helper()
	total := 0
	for _, c := range count {
		total += c
	}
	want, chi := float64(total)/float64(len(count)), 0.0
	for _, c := range count {
		d := float64(c) - want
		chi += d * d / want
	}
	free := float64(len(count) - 1)
	if !(math.Abs(chi-free) <= 6*math.Sqrt(2*free)) {
		t.Errorf("chi-square %v over %d values, want about %v", chi, len(count), free)
	}
}

func TestShuffle(t *testing.T) {
	s := stream.New(1, "shuffle", 0)
	count := map[[4]int]int{}
	for range 48000 {
		x := [4]int{0, 1, 2, 3}
		s.Shuffle(4, func(i, j int) { x[i], x[j] = x[j], x[i] })
		count[x]++
	}
	if len(count) != 24 {
		t.Fatalf("%d of 24 permutations came up", len(count))
	}
	var all []int
	for p, c := range count {
		sorted := p
		slices.Sort(sorted[:])
		if sorted != [4]int{0, 1, 2, 3} {
			t.Fatalf("%v is no permutation", p)
		}
		all = append(all, c)
	}
	checkUniform(t, all)
	s.Shuffle(0, nil)
	s.Shuffle(1, nil)
}

func TestNormal(t *testing.T) {
	const n = 200000
	s := stream.New(1, "normal", 0)
	var m [5]float64
	inside := 0
	for range n {
		x := s.Normal()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("Normal = %v", x)
		}
		if math.Abs(x) < 1 {
			inside++
		}
		for k, p := 1, x; k < len(m); k, p = k+1, p*x {
			m[k] += p / n
		}
	}
	// Moments 0, 1, 0, 3; the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
	for k, want := range []float64{1: 0, 2: 1, 3: 0, 4: 3} {
		if sd := math.Sqrt([]float64{1, 1, 2, 15, 96}[k] / n); k > 0 && !(math.Abs(m[k]-want) <= 5*sd) {
			t.Errorf("moment %d is %v, want %v within %v", k, m[k], want, 5*sd)
		}
	}
	p := math.Erf(math.Sqrt2 / 2)
	if !(math.Abs(float64(inside)-n*p) <= 5*math.Sqrt(n*p*(1-p))) {
		t.Errorf("%d of %d lie within one standard deviation, want %v", inside, n, n*p)
	}
}

// Each Normal takes exactly two numbers, so that what follows does not depend on
// its value.
func TestNormalTakesTwo(t *testing.T) {
	a, b := stream.New(4, "two", 0), stream.New(4, "two", 0)
	for range 1000 {
		a.Normal()
		b.Uint64()
		b.Uint64()
	}
	if a.Uint64() != b.Uint64() {
		t.Error("Normal took another number of draws")
	}
}

func TestNoAllocations(t *testing.T) {
	var s stream.Stream
	x := 0.0
	swap := func(i, j int) {}
	if n := testing.AllocsPerRun(100, func() {
		s.Seed(1, "blocks.0.gconv1.probs", 17)
		x += s.Float64() + s.Normal() + float64(s.IntN(10))
		s.Shuffle(10, swap)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
