package tensor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noether-go/noether/tensor"
)

// planned is a random plan of buffers and when they matter.
type planned struct {
	arena tensor.Arena
	buf   []tensor.Buffer
	size  []int
	lives [][]tensor.Lifetime
}

// randomPlan plans layers of a network: maps with their gradients, scratch, and
// buffers that are alive always.
func randomPlan(seed uint64, layers int) *planned {
	r := rand.New(rand.NewPCG(seed, 1))
	count := layers * 5
	p := &planned{buf: make([]tensor.Buffer, count), size: make([]int, count), lives: make([][]tensor.Lifetime, count)}
	for layer := range layers {
		last := layer + r.IntN(min(4, layers-layer))
		forward, backward := tensor.ForwardOf(layer), tensor.BackwardOf(layer)
		for k := range 5 {
			i := 5*layer + k
			n := r.IntN(1000)
			if k == 2 {
				n = r.IntN(100)
			}
			p.size[i] = n
			switch k {
			case 0: // a value that the backward pass reads, or does not
				l := tensor.Lifetime{From: forward, To: tensor.ForwardOf(last)}
				if r.IntN(2) == 0 {
					l.To = tensor.BackwardOf(last)
				}
				p.lives[i] = []tensor.Lifetime{l}
				p.arena.ReserveFor(&p.buf[i], n, &p.lives[i][0])
			case 1: // a gradient
				p.lives[i] = []tensor.Lifetime{{From: tensor.BackwardOf(last), To: backward}}
				p.arena.ReserveFor(&p.buf[i], n, &p.lives[i][0])
			case 2:
				p.lives[i] = []tensor.Lifetime{{From: 0, To: tensor.End}}
				p.arena.Reserve(&p.buf[i], n)
			default: // scratch, which shares with the scratch of its layer
				p.lives[i] = []tensor.Lifetime{{From: forward, To: forward}, {From: backward, To: backward}}
				p.arena.Share(&p.buf[i], n)
			}
		}
		p.arena.Next()
	}
	return p
}

// scratch reports whether buffer i is scratch of its layer.
func (p *planned) scratch(i int) bool { return i%5 > 2 }

// TestArenaLifetimes: buffers that are alive at the same moment never overlap,
// and the plan needs little more than what is alive at once.
func TestArenaLifetimes(t *testing.T) {
	dev := newCPU(t, 1)
	worst := 0.0
	for seed := range uint64(40) {
		p := randomPlan(seed, 1+int(seed))
		size, live := p.arena.Size(), p.arena.Live()
		if again := randomPlan(seed, 1+int(seed)); again.arena.Size() != size {
			t.Fatalf("seed %d: the same plan needs %d values, then %d", seed, size, again.arena.Size())
		}
		if size < live {
			t.Fatalf("seed %d: %d values planned, %d alive at once", seed, size, live)
		}
		worst = max(worst, float64(size)/float64(live))
		if err := p.arena.Bind(dev); err != nil {
			t.Fatal(err)
		}
		if p.arena.Size() != size || p.arena.Live() != live {
			t.Fatalf("seed %d: %d values planned, %d bound", seed, size, p.arena.Size())
		}
		for i, b := range p.buf {
			if b.Len() != p.size[i] {
				t.Fatalf("seed %d: buffer %d has %d values, want %d", seed, i, b.Len(), p.size[i])
			}
			if b.Len() > 0 && tensor.Address(b)%64 != 0 {
				t.Fatalf("seed %d: buffer %d is not aligned", seed, i)
			}
			for j := range i {
				if i/5 == j/5 && p.scratch(i) && p.scratch(j) {
					if !overlap(b, p.buf[j]) && b.Len()*p.buf[j].Len() > 0 {
						t.Fatalf("seed %d: scratch memory %d and %d of a layer lie apart", seed, i, j)
					}
					continue
				}
				if meet(p.lives[i], p.lives[j]) && overlap(b, p.buf[j]) {
					t.Fatalf("seed %d: buffers %d and %d, alive %v and %v, overlap", seed, i, j, p.lives[i], p.lives[j])
				}
			}
		}
		p.arena.Release()
	}
	t.Logf("at most %.3f times what is alive at once", worst)
	if worst > 1.5 {
		t.Errorf("a plan needs %.2f times what is alive at once", worst)
	}
}

func meet(a, b []tensor.Lifetime) bool {
	for _, p := range a {
		for _, q := range b {
			if max(p.From, q.From) <= min(p.To, q.To) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b tensor.Buffer) bool {
	if a.Len() == 0 || b.Len() == 0 {
		return false
	}
	x, y := tensor.Address(a), tensor.Address(b)
	return x < y+4*uintptr(b.Len()) && y < x+4*uintptr(a.Len())
}

// TestArenaReuse: a chain of layers needs two maps forward, and not a map for
// each layer.
func TestArenaReuse(t *testing.T) {
	var a tensor.Arena
	var buf [10]tensor.Buffer
	var life [10]tensor.Lifetime
	for i := range buf {
		life[i] = tensor.Lifetime{From: tensor.ForwardOf(a.Layer()), To: tensor.ForwardOf(a.Layer() + 1)}
		a.ReserveFor(&buf[i], 160, &life[i])
		a.Next()
	}
	if a.Size() != 320 || a.Live() != 320 {
		t.Errorf("a chain needs %d values, of which %d are alive at once; want 320", a.Size(), a.Live())
	}
	life[0].To = tensor.End // found out later
	if a.Size() != 480 {
		t.Errorf("with a map that stays %d values, want 480", a.Size())
	}
}

// TestArenaPoison: what is alive stays, all else is overwritten.
func TestArenaPoison(t *testing.T) {
	dev := newCPU(t, 1)
	const layers = 7
	var moments []tensor.Moment
	for i := range layers {
		moments = append(moments, tensor.ForwardOf(i))
	}
	for i := layers - 1; i >= 0; i-- {
		moments = append(moments, tensor.BackwardOf(i))
	}
	for _, after := range moments {
		p := randomPlan(3, layers)
		if err := p.arena.Bind(dev); err != nil {
			t.Fatal(err)
		}
		alive := func(i int) bool {
			l := p.lives[i][0]
			return !p.scratch(i) && l.From <= after && l.To > after
		}
		for i, b := range p.buf {
			if alive(i) {
				dev.Fill(b, float32(i))
			}
		}
		p.arena.Poison(after, float32(math.NaN()))
		for i, b := range p.buf {
			for _, v := range b.Host() {
				if alive(i) && v != float32(i) {
					t.Fatalf("after %d: buffer %d, alive %v, holds %v", after, i, p.lives[i], v)
				}
				if !alive(i) && v == v {
					covered := false // by one that is alive
					for j, c := range p.buf {
						covered = covered || alive(j) && overlap(b, c)
					}
					if !covered {
						t.Fatalf("after %d: buffer %d, dead, holds %v", after, i, v)
					}
				}
			}
		}
		p.arena.Release()
	}
	var a tensor.Arena
	if _, ok := panicOf(func() { a.Poison(0, 1) }).(*tensor.Error); !ok {
		t.Error("poison before Bind: no *tensor.Error")
	}
}

// TestArenaWithoutDevice: an arena that no device was named for stays as it was.
func TestArenaWithoutDevice(t *testing.T) {
	var a tensor.Arena
	var b tensor.Buffer
	a.Reserve(&b, 3)
	if e, ok := panicOf(func() { a.Bind(nil) }).(*tensor.Error); !ok || e.Op != "Arena.Bind" {
		t.Errorf("Bind without a device: %v", e)
	}
	if err := a.Bind(newCPU(t, 1)); err != nil || b.Len() != 3 {
		t.Errorf("Bind then: %v, %d values", err, b.Len())
	}
}

// TestArenaAlias: an alias is the buffer that it was planned to be, also of another alias,
// and takes no memory.
func TestArenaAlias(t *testing.T) {
	dev := newCPU(t, 1)
	var a tensor.Arena
	var src, first, second tensor.Buffer
	a.Reserve(&src, 40)
	before := a.Size()
	a.Alias(&first, &src)
	a.Alias(&second, &first)
	if after := a.Size(); after != before {
		t.Errorf("%d values with aliases, %d without", after, before)
	}
	if err := a.Bind(dev); err != nil {
		t.Fatal(err)
	}
	dev.Fill(second, 3)
	if src.Len() != 40 || first.Len() != 40 || src.Host()[39] != 3 {
		t.Errorf("lengths %d and %d, last value %v", src.Len(), first.Len(), src.Host()[39])
	}
	defer func() {
		if _, ok := recover().(*tensor.Error); !ok {
			t.Error("planned in a bound arena")
		}
		a.Release()
		if !first.IsZero() || !second.IsZero() {
			t.Error("aliases stay after Release")
		}
	}()
	a.Alias(&first, &src)
}

// TestNoLifetime: a buffer that nobody needs has no memory.
func TestNoLifetime(t *testing.T) {
	var arena tensor.Arena
	var unneeded, needed tensor.Buffer
	life := tensor.Lifetime{From: 3, To: 4}
	arena.ReserveFor(&unneeded, 1000, &life)
	arena.ReserveFor(&needed, 16, &tensor.Lifetime{From: 0, To: tensor.End})
	life.To = 2 // it may change until Bind
	dev := newCPU(t, 1)
	if err := arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	defer arena.Release()
	arena.Poison(tensor.End, 1)
	if !unneeded.IsZero() || needed.Len() != 16 || arena.Size() != 16 {
		t.Errorf("buffers of %d and %d values, %d in all", unneeded.Len(), needed.Len(), arena.Size())
	}
}
