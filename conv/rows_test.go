package conv

import (
	"fmt"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/tensor"
)

// rowsProblems are the trials with an extent, and sizes around those of blocks, without the right results.
func rowsProblems() []problem {
	list := trials()
	for i, sizes := range [][2]int{{1, 1}, {16, 32}, {17, 33}, {33, 31}, {70, 65}} {
		side, b := []int{7, 5, 3}[i%3], []int{1, 2, 5}[i%3]
		c := trial{name: fmt.Sprintf("%d sources, %d targets", sizes[0], sizes[1])}
		c.largest = *newShape(sizes[0], sizes[1], 1, 1, 7+i%2, 8, b, grid(side), side, Padding(i%2))
		c.live = c.largest
		list = append(list, c)
	}
	list = slices.DeleteFunc(list, func(c trial) bool { return !inFrequency(&c.largest) })
	var problems []problem
	for _, c := range list {
		p, s := problem{trial: c}, &c.live
		src := stream.New(5, p.name, 0)
		p.x, p.kernel, p.bias = normal(src, s.Sources()*s.H*s.W*s.B), normal(src, s.KernelSize()), normal(src, s.Out)
		problems = append(problems, p)
	}
	return problems
}

// TestRows compares rows with the definition of a convolution.
func TestRows(t *testing.T) {
	problems := rowsProblems()
	for i := range problems {
		p, s := &problems[i], &problems[i].live
		p.want = definition(s, p.x, p.kernel, p.bias, make([]float32, s.Targets()*s.OutH*s.OutW*s.B))
	}
	asmtest.EachLevel(t, func(t *testing.T) {
		dev := newCPU(t, 2)
		for i := range problems {
			testFrozen(t, dev, newRows(&problems[i].largest), &problems[i], compareNorm)
		}
	})
}

// TestRowsThreads wants the same bits from one thread and from more than there are blocks.
func TestRowsThreads(t *testing.T) {
	for _, c := range rowsProblems() {
		var first []float32
		for _, threads := range []int{1, 2, 7} {
			p := newRows(&c.largest)
			prepared, scratch := p.Sizes(&c.largest, true)
			if err := p.Bind(newCPU(t, threads), &c.largest); err != nil {
				t.Fatal(err)
			}
			pre, tmp, y := poisoned(prepared), poisoned(scratch), poisoned(c.live.Targets()*c.live.OutH*c.live.OutW*c.live.B)
			p.Prepare(pre.buffer(), tensor.HostBuffer(c.kernel), tensor.HostBuffer(c.bias), tmp.buffer(), &c.live)
			p.Forward(y.buffer(), tensor.HostBuffer(c.x), pre.buffer(), tmp.buffer(), &c.live)
			if first == nil {
				first = y.values()
			} else if !slices.Equal(first, y.values()) {
				t.Errorf("%s: %d threads give other bits than one", c.name, threads)
			}
		}
	}
}

// TestRowsAllocate wants no allocation of a pass. When a worker first falls asleep, as it may while the caller is busy for
// milliseconds, the runtime allocates: many passes tell that from an allocation of each.
func TestRowsAllocate(t *testing.T) {
	for _, c := range rowsProblems() {
		p := newRows(&c.largest)
		prepared, scratch := p.Sizes(&c.largest, true)
		if err := p.Bind(newCPU(t, 2), &c.largest); err != nil {
			t.Fatal(err)
		}
		pre, tmp, y := poisoned(prepared), poisoned(scratch), poisoned(c.live.Targets()*c.live.OutH*c.live.OutW*c.live.B)
		p.Prepare(pre.buffer(), tensor.HostBuffer(c.kernel), tensor.HostBuffer(c.bias), tmp.buffer(), &c.live)
		if n := testing.AllocsPerRun(20, func() {
			p.Forward(y.buffer(), tensor.HostBuffer(c.x), pre.buffer(), tmp.buffer(), &c.live)
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

// TestRowsTraining wants a plan with a Backward refused.
func TestRowsTraining(t *testing.T) {
	s := newShape(32, 32, 1, 1, 7, 7, 1, grid(7), 7, Same)
	wantRefusal := func(what string, f func()) {
		t.Helper()
		defer func() {
			if _, ok := recover().(*Error); !ok {
				t.Errorf("%s: no *Error", what)
			}
		}()
		f()
	}
	wantRefusal("Sizes", func() { newRows(s).Sizes(s, false) })
	wantRefusal("Backward", func() {
		var none tensor.Buffer
		newRows(s).Backward(none, none, none, none, none, none, none, s, false)
	})
}
