package devicetest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/noether-go/noether/tensor"
)

// Array is an operand of a Case.
type Array struct {
	Name string
	Data []float32 // before the call
	Want []float64 // after it; nil: Data must be untouched
	Err  []float64 // largest allowed |result - Want|; nil: none
}

// Case is one operation at one size.
type Case struct {
	Op     string // the method of tensor.Device
	Size   string // such as "rows=3/cols=65/train"
	Arrays []Array

	// Call runs the operation; b holds one buffer for each of Arrays.
	Call func(dev tensor.Device, b []tensor.Buffer)
}

// Cases returns the table of the suite, sorted by operation. It is built once
// and must not be changed.
func Cases() []Case { return cases() }

var cases = sync.OnceValue(func() []Case {
	var s suite
	s.elementwise()
	s.reductions()
	s.batchNorm()
	s.standardize()
	s.layerNorm()
	s.fusedNorms()
	s.pooling()
	s.loss()
	s.optimisers()
	s.layout()
	s.gemm()
	slices.SortStableFunc(s.list, func(a, b Case) int { return strings.Compare(a.Op, b.Op) })
	return s.list
})

// suite collects cases.
type suite struct{ list []Case }

func (s *suite) add(op, size string, call func(tensor.Device, []tensor.Buffer), arrays ...Array) {
	s.list = append(s.list, Case{op, size, arrays, call})
}

// guard is the number of values on either side of every operand that an
// operation must leave alone; a multiple of the 16 to which buffers are
// aligned.
const guard = 32

// poison fills what is not an operand's.
const poison = -1.25e30

// poisoned fills the longest gap that bind leaves between operands.
var poisoned = filled(2*guard+16, poison)

// bound is a Case whose operands lie on a device.
type bound struct {
	c       *Case
	dev     tensor.Device
	memory  tensor.Buffer
	offsets []int
	buffers []tensor.Buffer
	image   []float32 // the whole memory before the call
}

// bind lays the operands of c out in one block, shift values away from the
// alignment of Alloc.
func (c *Case) bind(dev tensor.Device, shift int) (*bound, error) {
	b := &bound{c: c, dev: dev}
	size := guard
	for _, a := range c.Arrays {
		b.offsets = append(b.offsets, size+shift)
		size += (len(a.Data)+shift+15)/16*16 + guard
	}
	memory, err := dev.Alloc(size)
	if err != nil {
		return nil, err
	}
	b.memory = memory
	b.image = make([]float32, size)
	end := 0
	for i, a := range c.Arrays {
		at := b.offsets[i]
		copy(b.image[end:at], poisoned)
		end = at + copy(b.image[at:], a.Data)
		b.buffers = append(b.buffers, memory.Slice(at, end))
	}
	copy(b.image[end:], poisoned)
	dev.Upload(memory, b.image)
	return b, dev.Sync()
}

// run makes the call and returns the whole memory after it.
func (b *bound) run() ([]float32, error) {
	b.c.Call(b.dev, b.buffers)
	after := make([]float32, len(b.image))
	b.dev.Download(after, b.memory)
	return after, b.dev.Sync()
}

func (b *bound) free() { b.dev.Free(b.memory) }

// check compares the memory after the call with what the case wants.
func (b *bound) check(after []float32) error {
	untouched := func(lo, hi int, what string) error {
		if SameBits(after[lo:hi], b.image[lo:hi]) {
			return nil
		}
		for at := lo; at < hi; at++ {
			if math.Float32bits(after[at]) != math.Float32bits(b.image[at]) {
				return fmt.Errorf("wrote %v to %s, %d values from its start", after[at], what, at-lo)
			}
		}
		return nil
	}
	end := 0
	for i := range b.c.Arrays {
		a, lo := &b.c.Arrays[i], b.offsets[i]
		if err := untouched(end, lo, "the memory before "+a.Name); err != nil {
			return err
		}
		end = lo + len(a.Data)
		if a.Want == nil {
			if err := untouched(lo, end, a.Name+", which is only read"); err != nil {
				return err
			}
			continue
		}
		for j, got := range after[lo:end] {
			allowed := 0.0
			if a.Err != nil {
				allowed = a.Err[j]
			}
			if !within(float64(got), a.Want[j], allowed) {
				return fmt.Errorf("%s[%d] = %v, want %v within %.3g", a.Name, j, got, a.Want[j], allowed)
			}
		}
	}
	return untouched(end, len(after), "the memory behind the operands")
}

// SameBits reports whether x and y are the same, NaN by NaN and zero by zero.
func SameBits(x, y []float32) bool { return bytes.Equal(memory(x), memory(y)) }

// memory returns the bytes of x: comparing them takes one call, where a loop
// takes its time under a race detector.
func memory(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// within reports whether got equals want up to allowed. NaN equals NaN, and an
// infinity only itself.
func within(got, want, allowed float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return got == want || !math.IsInf(want, 0) && math.Abs(got-want) <= allowed
}

// values returns the number of values of all operands.
func (c *Case) values() int {
	n := 0
	for _, a := range c.Arrays {
		n += len(a.Data)
	}
	return n
}

// Name returns Op/Size.
func (c *Case) Name() string { return c.Op + "/" + c.Size }

// Run tests dev by all Cases, each with operands aligned to 64 bytes and, unless
// it is large, one value off, and by what cannot be put into a table: allocation
// and copies. The test is named after the operation.
func Run(t *testing.T, dev tensor.Device) {
	t.Run("Alloc", func(t *testing.T) { testAlloc(t, dev) })
	t.Run("Upload", func(t *testing.T) { testUpload(t, dev) })
	for _, group := range Groups() {
		t.Run(group[0].Op, func(t *testing.T) {
			for i := range group {
				for shift := range 2 {
					if shift != 0 && group[i].values() > 5*large {
						continue
					}
					if err := runCase(&group[i], dev, shift); err != nil {
						t.Errorf("%s, operands shifted by %d: %v", group[i].Size, shift, err)
					}
				}
			}
		})
	}
}

func runCase(c *Case, dev tensor.Device, shift int) error {
	b, err := c.bind(dev, shift)
	if err != nil {
		return err
	}
	defer b.free()
	after, err := b.run()
	if err != nil {
		return err
	}
	return b.check(after)
}

// Outputs runs c on dev and returns all operands and what lies between them,
// as they are afterwards.
func Outputs(dev tensor.Device, c *Case) ([]float32, error) {
	b, err := c.bind(dev, 0)
	if err != nil {
		return nil, err
	}
	defer b.free()
	return b.run()
}

// Allocs returns how many heap allocations the calls of list make together once
// they have run before.
func Allocs(dev tensor.Device, list []Case) (float64, error) {
	all := make([]*bound, len(list))
	for i := range list {
		b, err := list[i].bind(dev, 0)
		if err != nil {
			return 0, err
		}
		defer b.free()
		all[i] = b
	}
	n := testing.AllocsPerRun(1, func() {
		for _, b := range all {
			b.c.Call(dev, b.buffers)
		}
	})
	return n, dev.Sync()
}

// Groups returns the cases of each operation.
func Groups() [][]Case {
	var groups [][]Case
	list := Cases()
	for lo, hi := 0, 0; lo < len(list); lo = hi {
		for hi < len(list) && list[hi].Op == list[lo].Op {
			hi++
		}
		groups = append(groups, list[lo:hi])
	}
	return groups
}

func testAlloc(t *testing.T, dev tensor.Device) {
	for _, n := range []int{0, 1, 15, 16, 17, 1 << 19, 1<<19 + 1} {
		b, err := dev.Alloc(n)
		if err != nil {
			t.Fatalf("Alloc(%d): %v", n, err)
		}
		if b.Len() != n {
			t.Errorf("Alloc(%d) has %d values", n, b.Len())
		}
		got := make([]float32, n)
		dev.Download(got, b)
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != 0 {
				t.Fatalf("Alloc(%d): value %d is %v, want 0", n, i, v)
			}
		}
		dev.Fill(b, 1) // writable to the end
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		dev.Free(b)
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt / 4, math.MaxInt / 8} {
		if _, err := dev.Alloc(n); err == nil {
			t.Errorf("Alloc(%d): no error", n)
		}
	}
}

func testUpload(t *testing.T, dev tensor.Device) {
	r := random("Upload")
	for _, n := range []int{0, 1, 7, 100, 70001} {
		b, err := dev.Alloc(n + 5)
		if err != nil {
			t.Fatal(err)
		}
		src := normal(r, n)
		dev.Fill(b, poison)
		dev.Upload(b, src)
		got, head := make([]float32, n+5), make([]float32, n/2)
		dev.Download(got, b)
		dev.Download(head, b)
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			want := float32(poison)
			if i < n {
				want = src[i]
			}
			if v != want || i < len(head) && head[i] != want {
				t.Fatalf("%d values: value %d is %v, want %v", n, i, v, want)
			}
		}
		dev.Free(b)
	}
}

// random returns a source of its own for each name, the same in every run.
func random(name string) *rand.Rand {
	seed := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(name) {
		seed = (seed ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, 1))
}

// normal returns n standard normal values.
func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// filled returns n times v.
func filled(n int, v float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// in is an operand that must stay as it is.
func in(name string, data []float32) Array { return Array{Name: name, Data: data} }

// out is an operand that is only written.
func out(name string, want, err []float64) Array {
	return Array{name, filled(len(want), float32(math.NaN())), want, err}
}

// inout is an operand that is read and written.
func inout(name string, data []float32, want, err []float64) Array {
	return Array{name, data, want, err}
}

// bounded are results, each with a bound on its error.
type bounded struct{ want, err []float64 }

func newBounded(n int) bounded { return bounded{make([]float64, n), make([]float64, n)} }

// add appends a result.
func (b *bounded) add(want, err float64) {
	b.want, b.err = append(b.want, want), append(b.err, err)
}

// join appends the results of c.
func (b *bounded) join(c bounded) {
	b.want, b.err = append(b.want, c.want...), append(b.err, c.err...)
}

// set replaces result i.
func (b *bounded) set(i int, want, err float64) { b.want[i], b.err[i] = want, err }

// out is the operand that these are written to.
func (b bounded) out(name string) Array { return out(name, b.want, b.err) }

// inout is the operand that these replace.
func (b bounded) inout(name string, data []float32) Array { return inout(name, data, b.want, b.err) }

// added is an operand that these are added to.
func (b bounded) added(r *rand.Rand, name string) Array {
	before := normal(r, len(b.want))
	sum := newBounded(len(before))
	for i, v := range before {
		want := b.want[i] + float64(v)
		sum.set(i, want, b.err[i]+2*ulp*math.Abs(want))
	}
	return sum.inout(name, before)
}

// mapped returns f(i) for 0 <= i < n.
func mapped(n int, f func(i int) float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = f(i)
	}
	return y
}

// f64 widens x.
func f64(x []float32) []float64 { return mapped(len(x), func(i int) float64 { return float64(x[i]) }) }

// round rounds to float32.
func round(x float64) float64 { return float64(float32(x)) }

// ulp is half the distance from one to the next float32: the largest relative
// error of one rounding.
const ulp = 1.0 / (1 << 24)

// tiny is the smallest normal float32: results below it may be flushed to zero.
const tiny = 0x1p-126
